//! Zip archives: what is in them, and where. Sizes are taken from the directory at the end, as files written in one
//! go know theirs only then.

use crate::chunks::{Packing, Stretch};
use crate::{Kind, Source, Trouble};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    method: u16,
    encrypted: bool,
    packed: u64,
    local: u64,
}

fn broken(what: &str) -> Trouble {
    Trouble::new(
        Kind::Broken,
        format!("The zip archive contradicts itself ({what})."),
        "Copy or download the file again, or save it again.",
    )
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The files in the archive. Directories are left out.
pub(crate) async fn entries<S: Source>(source: &S) -> Result<Vec<Entry>, Trouble> {
    /// The end record, and the longest comment that may follow it.
    const TAIL: u64 = 22 + 65_535;
    /// No table is in an archive with a longer directory.
    const LONGEST: u64 = 16 << 20;
    let from = source.len().saturating_sub(TAIL);
    let tail = source.read(from, TAIL as usize).await?;
    let end = tail.windows(4).rposition(|window| window == b"PK\x05\x06").ok_or_else(|| {
        Trouble::new(Kind::Truncated, "The zip archive has no end.", "Copy or download the file again.")
    })?;
    let record = tail.get(end..).unwrap_or_default();
    let mut size = u64::from(u32_at(record, 12).ok_or_else(|| broken("its end"))?);
    let mut start = u64::from(u32_at(record, 16).ok_or_else(|| broken("its end"))?);
    // Large archives have a longer end record as well, and a note on where that is.
    let locator =
        end.checked_sub(20).and_then(|at| tail.get(at..end)).filter(|l| l.starts_with(b"PK\x06\x07"));
    if let Some(at) = locator.and_then(|locator| u64_at(locator, 8)) {
        let long = source.read(at, 56).await?;
        if long.starts_with(b"PK\x06\x06") {
            size = u64_at(&long, 40).ok_or_else(|| broken("its long end"))?;
            start = u64_at(&long, 48).ok_or_else(|| broken("its long end"))?;
        }
    }
    if size > LONGEST || start.checked_add(size).is_none_or(|end| end > source.len()) {
        return Err(broken("the place of its directory"));
    }
    let directory = source.read(start, size as usize).await?;
    let mut entries = Vec::new();
    let mut rest = directory.as_slice();
    while rest.starts_with(b"PK\x01\x02") {
        let (entry, next) = entry(rest).ok_or_else(|| broken("its directory"))?;
        if !entry.name.ends_with('/') {
            entries.push(entry);
        }
        rest = rest.get(next..).unwrap_or_default();
    }
    Ok(entries)
}

fn entry(bytes: &[u8]) -> Option<(Entry, usize)> {
    let flags = u16_at(bytes, 8)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(bytes, at).map(usize::from));
    let (name, extra, comment) = (name?, extra?, comment?);
    let mut packed = u64::from(u32_at(bytes, 20)?);
    let mut local = u64::from(u32_at(bytes, 42)?);
    let mut fields = bytes.get(46 + name..46 + name + extra)?;
    while let (Some(id), Some(length)) = (u16_at(fields, 0), u16_at(fields, 2)) {
        let length = usize::from(length);
        if id == 1 {
            // Only the numbers that do not fit the usual place are here, in this order.
            let mut at = 4;
            let mut long = |short: u64| {
                if short != u64::from(u32::MAX) {
                    return Some(short);
                }
                at += 8;
                u64_at(fields, at - 8)
            };
            long(u64::from(u32_at(bytes, 24)?))?;
            packed = long(packed)?;
            local = long(local)?;
            break;
        }
        fields = fields.get(4 + length..)?;
    }
    let entry = Entry {
        name: crate::text::fields::text(bytes.get(46..46 + name)?),
        method: u16_at(bytes, 10)?,
        encrypted: flags & 1 == 1,
        packed,
        local,
    };
    Some((entry, 46 + name + extra + comment))
}

impl Entry {
    /// Where the entry's bytes are.
    pub(crate) async fn stretch<S: Source>(&self, source: &S) -> Result<Stretch, Trouble> {
        let unsupported = |what: &str| {
            let what = format!("'{}' in the archive is {what}.", self.name);
            Trouble::new(Kind::Unsupported, what, "Unpack the archive, or save it with numpy.savez().")
        };
        if self.encrypted {
            return Err(unsupported("encrypted"));
        }
        let packing = match self.method {
            0 => Packing::Plain,
            8 => Packing::Deflate,
            _ => return Err(unsupported("packed in a way that Concord does not read")),
        };
        let head = source.read(self.local, 30).await?;
        let lengths = u16_at(&head, 26).zip(u16_at(&head, 28)).filter(|_| head.starts_with(b"PK\x03\x04"));
        let (name, extra) = lengths.ok_or_else(|| broken("the place of an entry"))?;
        let at = self.local.saturating_add(30 + u64::from(name) + u64::from(extra));
        let end = at.checked_add(self.packed).filter(|end| *end <= source.len());
        Ok(Stretch { at, end: end.ok_or_else(|| broken("the size of an entry"))?, packing })
    }
}
