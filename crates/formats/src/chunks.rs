//! Bytes in order, a piece at a time, unpacked on the way.
//!
//! Packed data is never believed about its size: what comes out is counted as it comes, and the watch is asked
//! whether there is room.

use std::io::Write;

use flate2::write::{DeflateDecoder, MultiGzDecoder};

use crate::{Kind, Source, Trouble, Watch};

/// About how much [`Chunks::next`] returns.
pub(crate) const CHUNK: usize = 1 << 20;
/// Packed bytes are unpacked in pieces this small, as each may become a thousand times as many.
const PIECE: usize = 4 << 10;
/// A table takes at least a sixteenth of what its file takes unpacked, so asking for that much refuses no table
/// that would be allowed in the end, but does refuse a small file that unpacks into endless nothing.
const LEAST: u64 = 16;

/// How a stretch of a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Deflate,
}

/// A stretch of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) at: u64,
    pub(crate) end: u64,
    pub(crate) packing: Packing,
}

enum Unpack {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Deflate(DeflateDecoder<Vec<u8>>),
}

/// Reads a [`Stretch`] from its beginning to its end.
pub(crate) struct Chunks<'s, S> {
    source: &'s S,
    stretch: Stretch,
    /// Nothing for bytes that are not packed.
    unpack: Option<Unpack>,
    /// Packed bytes that were read and not yet unpacked, and how many of them are done.
    packed: Vec<u8>,
    packed_done: usize,
    /// Bytes that were looked at and are still to be read.
    ahead: Vec<u8>,
    total: u64,
    ended: bool,
}

impl<'s, S: Source> Chunks<'s, S> {
    pub(crate) fn new(source: &'s S, stretch: Stretch) -> Self {
        let unpack = match stretch.packing {
            Packing::Plain => None,
            Packing::Gzip => Some(Unpack::Gzip(MultiGzDecoder::new(Vec::new()))),
            Packing::Deflate => Some(Unpack::Deflate(DeflateDecoder::new(Vec::new()))),
        };
        let (packed, ahead) = (Vec::new(), Vec::new());
        Self { source, stretch, unpack, packed, packed_done: 0, ahead, total: 0, ended: false }
    }

    pub(crate) fn whole(source: &'s S, packing: Packing) -> Self {
        Self::new(source, Stretch { at: 0, end: source.len(), packing })
    }

    /// How many bytes are still to come, if that is known.
    pub(crate) fn size(&self) -> Option<u64> {
        let left = self.stretch.end.saturating_sub(self.stretch.at);
        self.unpack.is_none().then(|| self.ahead.len() as u64 + left)
    }

    /// The next bytes; none at the end, and only there.
    pub(crate) async fn next(&mut self, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
        if !self.ahead.is_empty() {
            return Ok(std::mem::take(&mut self.ahead));
        }
        let bytes = match self.unpack.take() {
            None => self.fetch(CHUNK).await?,
            Some(mut unpack) => {
                let bytes = self.inflate(&mut unpack, watch).await?;
                self.unpack = Some(unpack);
                bytes
            }
        };
        self.total = self.total.saturating_add(bytes.len() as u64);
        let left = (self.packed.len() - self.packed_done) as u64;
        watch.passed(self.stretch.at.saturating_sub(left), self.source.len()).await?;
        Ok(bytes)
    }

    /// The first `count` bytes, or all if there are fewer. They stay to be read.
    pub(crate) async fn peek(&mut self, count: usize, watch: &mut impl Watch) -> Result<&[u8], Trouble> {
        let mut head = std::mem::take(&mut self.ahead);
        while head.len() < count {
            let more = self.next(watch).await?;
            if more.is_empty() {
                break;
            }
            head.extend_from_slice(&more);
        }
        self.ahead = head;
        Ok(self.ahead.get(..count).unwrap_or(&self.ahead))
    }

    /// Everything that is left, as far as there is room.
    pub(crate) async fn rest(&mut self, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
        let mut all = Vec::new();
        loop {
            let more = self.next(watch).await?;
            if more.is_empty() {
                return Ok(all);
            }
            // A vector that grows is copied, so for a moment there are two.
            watch.room((all.len() + more.len()) as u64 * 2)?;
            all.extend_from_slice(&more);
        }
    }

    async fn fetch(&mut self, most: usize) -> Result<Vec<u8>, Trouble> {
        let left = self.stretch.end.saturating_sub(self.stretch.at);
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(most);
        if length == 0 {
            return Ok(Vec::new());
        }
        let bytes = self.source.read(self.stretch.at, length).await?;
        if bytes.is_empty() {
            return Err(Trouble::new(
                Kind::Unreadable,
                format!("The file ends after {} of {} bytes.", self.stretch.at, self.stretch.end),
                "Choose the file again: it has changed since it was chosen.",
            ));
        }
        self.stretch.at += bytes.len() as u64;
        Ok(bytes)
    }

    async fn inflate(&mut self, unpack: &mut Unpack, watch: &impl Watch) -> Result<Vec<u8>, Trouble> {
        while !self.ended {
            if self.packed_done >= self.packed.len() {
                self.packed = self.fetch(CHUNK / 4).await?;
                self.packed_done = 0;
            }
            let piece = self.packed.get(self.packed_done..).unwrap_or_default();
            let piece = piece.get(..PIECE).unwrap_or(piece);
            self.packed_done += piece.len();
            let out = if piece.is_empty() {
                self.ended = true;
                finish(unpack)?
            } else {
                push(unpack, piece)?
            };
            watch.room(self.total.saturating_add(out.len() as u64) / LEAST)?;
            if out.len() >= CHUNK || self.ended {
                return Ok(std::mem::take(out));
            }
        }
        Ok(Vec::new())
    }
}

fn push<'u>(unpack: &'u mut Unpack, piece: &[u8]) -> Result<&'u mut Vec<u8>, Trouble> {
    let broken = |error: std::io::Error| {
        Trouble::new(
            Kind::Broken,
            format!("The packed data cannot be unpacked ({error})."),
            "Download or copy the file again, or pack it again.",
        )
    };
    match unpack {
        Unpack::Gzip(decoder) => decoder.write_all(piece).map_err(broken)?,
        // After the end of the stream nothing more is accepted, and nothing more is wanted.
        Unpack::Deflate(decoder) => {
            let mut piece = piece;
            while !piece.is_empty() {
                match decoder.write(piece).map_err(broken)? {
                    0 => break,
                    taken => piece = piece.get(taken..).unwrap_or_default(),
                }
            }
        }
    }
    Ok(output(unpack))
}

fn finish(unpack: &mut Unpack) -> Result<&mut Vec<u8>, Trouble> {
    let ended = match unpack {
        Unpack::Gzip(decoder) => decoder.try_finish(),
        Unpack::Deflate(decoder) => decoder.try_finish(),
    };
    ended.map_err(|_| {
        Trouble::new(Kind::Truncated, "The packed data ends early.", "Download or copy the file again.")
    })?;
    Ok(output(unpack))
}

fn output(unpack: &mut Unpack) -> &mut Vec<u8> {
    match unpack {
        Unpack::Gzip(decoder) => decoder.get_mut(),
        Unpack::Deflate(decoder) => decoder.get_mut(),
    }
}
