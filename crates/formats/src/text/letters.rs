//! Bytes become UTF-8: marks at the beginning go, UTF-16 is translated.
//!
//! Bytes that are not valid UTF-8 stay as they are here: whether they are Latin-1 is seen cell by cell.

use crate::chunks::Chunks;
use crate::{Kind, Source, Trouble, Watch, sniff};

/// How much of a text is looked at before it is read.
pub(crate) const SAMPLE: usize = 256 << 10;

pub(crate) struct Letters<'s, S> {
    chunks: Chunks<'s, S>,
    /// For UTF-16, whether the high byte comes first.
    wide: Option<bool>,
    /// Half a UTF-16 character.
    carry: Vec<u8>,
    /// Decoded and not yet handed out.
    ahead: Vec<u8>,
    /// The size of what is to come, as far as the file tells.
    pub(crate) size: Option<u64>,
    pub(crate) encoding: &'static str,
}

impl<'s, S: Source> Letters<'s, S> {
    pub(crate) async fn new(mut chunks: Chunks<'s, S>, watch: &mut impl Watch) -> Result<Self, Trouble> {
        let wide = sniff::wide(chunks.peek(sniff::HEAD, watch).await?);
        let size = chunks.size().map(|size| if wide.is_some() { size / 2 } else { size });
        let encoding = if wide.is_some() { "UTF-16" } else { "UTF-8" };
        let mut letters = Self { chunks, wide, carry: Vec::new(), ahead: Vec::new(), size, encoding };
        let mut first = letters.decode_next(watch).await?;
        if first.starts_with(b"\xef\xbb\xbf") {
            first.drain(..3);
        }
        letters.ahead = first;
        Ok(letters)
    }

    /// The beginning of the text, and whether that is all of it. Where lines are long, a few of them are wanted.
    pub(crate) async fn sample(&mut self, watch: &mut impl Watch) -> Result<(Vec<u8>, bool), Trouble> {
        const LINES: usize = 8;
        let mut size = SAMPLE;
        loop {
            if let Some(sample) = self.ahead.get(..size) {
                // Ends of lines before lines that are neither empty nor comments.
                let ends = |pair: &&[u8]| matches!(pair, [b'\n' | b'\r', next] if !b"\n\r#%".contains(next));
                if sample.windows(2).filter(ends).nth(LINES).is_some() {
                    return Ok((sample.to_vec(), false));
                }
                size *= 2;
                continue;
            }
            let more = self.decode_next(watch).await?;
            if more.is_empty() {
                return Ok((self.ahead.clone(), true));
            }
            // It is held twice, and once more while it is cut.
            if size > SAMPLE {
                watch.room((self.ahead.len() + more.len()) as u64 * 3)?;
            }
            self.ahead.extend_from_slice(&more);
        }
    }

    /// The next part of the text; nothing at the end.
    pub(crate) async fn next(&mut self, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
        if self.ahead.is_empty() {
            return self.decode_next(watch).await;
        }
        Ok(std::mem::take(&mut self.ahead))
    }

    async fn decode_next(&mut self, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
        let Some(high_first) = self.wide else { return self.chunks.next(watch).await };
        loop {
            let bytes = self.chunks.next(watch).await?;
            if bytes.is_empty() {
                if self.carry.is_empty() {
                    return Ok(Vec::new());
                }
                return Err(Trouble::new(
                    Kind::Truncated,
                    "The UTF-16 text ends in the middle of a character.",
                    "Copy the file again, or save it as UTF-8.",
                ));
            }
            self.carry.extend_from_slice(&bytes);
            let text = self.translate(high_first);
            if !text.is_empty() {
                return Ok(text.into_bytes());
            }
        }
    }

    /// All whole characters in `carry`.
    fn translate(&mut self, high_first: bool) -> String {
        let unit = |pair: &[u8]| match pair {
            [a, b] if high_first => u16::from_be_bytes([*a, *b]),
            [a, b] => u16::from_le_bytes([*a, *b]),
            _ => 0,
        };
        let mut whole = self.carry.len() / 2 * 2;
        // The first half of a pair that makes one character waits for its second.
        let tail = self.carry.get(whole.saturating_sub(2)..whole).map_or(0, unit);
        if (0xd800..0xdc00).contains(&tail) {
            whole -= 2;
        }
        let units = self.carry.get(..whole).unwrap_or_default().chunks_exact(2).map(unit);
        let text = char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .filter(|c| *c != '\u{feff}')
            .collect();
        self.carry.drain(..whole);
        text
    }
}
