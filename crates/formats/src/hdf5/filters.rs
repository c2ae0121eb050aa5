//! What was done to chunks when they were written, undone.

use super::broken;
use super::cursor::Cursor;
use crate::{Kind, Trouble};
use std::io::Read;

pub(crate) struct Filter {
    id: u16,
    name: String,
    values: Vec<u32>,
}

pub(crate) fn parse(body: &[u8]) -> Result<Vec<Filter>, Trouble> {
    let mut cursor = Cursor::new(body);
    let version = cursor.u8()?;
    let count = cursor.u8()?;
    cursor.skip(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let id = cursor.u16()?;
        let length = if version == 1 || id >= 256 { usize::from(cursor.u16()?) } else { 0 };
        cursor.skip(2)?;
        let values = usize::from(cursor.u16()?);
        let length = if version == 1 { length.next_multiple_of(8) } else { length };
        let name = super::datatype::fixed_text(cursor.take(length)?, false);
        let values = (0..values).map(|_| cursor.u32()).collect::<Result<Vec<_>, _>>()?;
        cursor.skip(if version == 1 { values.len() % 2 * 4 } else { 0 })?;
        filters.push(Filter { id, name, values });
    }
    Ok(filters)
}

/// Fails with the name of the first filter that cannot be undone, before anything is read.
pub(crate) fn check(filters: &[Filter]) -> Result<(), Trouble> {
    let Some(filter) = filters.iter().find(|filter| !matches!(filter.id, 1..=3 | 32000)) else {
        return Ok(());
    };
    let known = match filter.id {
        4 => "SZIP",
        5 => "N-bit",
        6 => "scale-offset",
        307 => "bzip2",
        32001 => "Blosc",
        32004 => "LZ4",
        32008 => "bitshuffle",
        32013 => "ZFP",
        32015 => "Zstandard",
        32026 => "Blosc2",
        _ => "",
    };
    let name = match (known, filter.name.trim()) {
        ("", "") => format!("filter number {}", filter.id),
        ("", stored) => format!("the filter '{stored}' (number {})", filter.id),
        (known, _) => known.to_owned(),
    };
    Err(Trouble::new(
        Kind::Unsupported,
        format!("The data are compressed with {name}; gzip and LZF can be read here."),
        "Write the file again with `adata.write_h5ad(path, compression=\"gzip\")`.",
    ))
}

/// Undoes the filters of one chunk, the last first. Each bit of `mask` says that one was not applied.
/// The result has no more than `size` bytes, or it is broken.
pub(crate) fn undo(filters: &[Filter], mask: u32, bytes: Vec<u8>, size: usize) -> Result<Vec<u8>, Trouble> {
    let most = size.saturating_add(4 * filters.len()); // A checksum may still be on it.
    let mut bytes = bytes;
    for (place, filter) in filters.iter().enumerate().rev() {
        if mask.checked_shr(place as u32).unwrap_or(0) & 1 != 0 {
            continue;
        }
        bytes = match filter.id {
            1 => inflate(&bytes, most)?,
            2 => unshuffle(&bytes, filter.values.first().map_or(1, |&size| size as usize)),
            3 => checked(bytes)?,
            32000 => lzf(&bytes, most)?,
            _ => return check(std::slice::from_ref(filter)).map(|()| bytes),
        };
    }
    Ok(bytes)
}

fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, Trouble> {
    let mut out = Vec::with_capacity(most.min(bytes.len().saturating_mul(8)));
    let read = flate2::read::ZlibDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut out);
    match read {
        Ok(length) if length <= most => Ok(out),
        Ok(_) => Err(broken("a chunk is larger than it should be")),
        Err(_) => Err(broken("a gzip-compressed chunk cannot be unpacked")),
    }
}

/// The shuffle filter stores the first bytes of all elements, then all second ones, and so on.
fn unshuffle(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len().checked_div(size).unwrap_or(0);
    if size < 2 || count < 2 {
        return bytes.to_vec();
    }
    let (shuffled, rest) = bytes.split_at(count * size);
    let mut out = vec![0; shuffled.len()];
    for (place, column) in shuffled.chunks_exact(count).enumerate() {
        for (slot, &byte) in out.iter_mut().skip(place).step_by(size).zip(column) {
            *slot = byte;
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Compares and removes a Fletcher checksum.
fn checked(mut bytes: Vec<u8>) -> Result<Vec<u8>, Trouble> {
    let length = bytes.len().checked_sub(4).ok_or_else(|| broken("a chunk has no checksum"))?;
    let stored = Cursor::new(bytes.get(length..).unwrap_or_default()).u32()?;
    bytes.truncate(length);
    let (mut first, mut second) = (0_u32, 0_u32);
    for pair in bytes.chunks(2) {
        let word = pair.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)) << (8 * (2 - pair.len()));
        first = (first + word) % 0xffff;
        second = (second + first) % 0xffff;
    }
    // The sums are modulo 65535, where the library may keep 65535 for 0.
    let same = |stored: u32, sum: u32| stored % 0xffff == sum;
    // Early versions of the library swapped the bytes of both halves.
    let swapped = stored.swap_bytes().rotate_left(16);
    let fits = |stored: u32| same(stored >> 16, second) && same(stored & 0xffff, first);
    if fits(stored) || fits(swapped) { Ok(bytes) } else { Err(broken("a chunk's checksum is wrong")) }
}

/// LZF: runs of bytes as they are, and references to what came before.
fn lzf(bytes: &[u8], most: usize) -> Result<Vec<u8>, Trouble> {
    let wrong = || broken("an LZF-compressed chunk cannot be unpacked");
    let mut cursor = Cursor::new(bytes);
    let mut out: Vec<u8> = Vec::with_capacity(most.min(bytes.len().saturating_mul(8)));
    while !cursor.rest().is_empty() {
        let control = usize::from(cursor.u8()?);
        if control < 32 {
            out.extend_from_slice(cursor.take(control + 1)?);
        } else {
            let length = match control >> 5 {
                7 => 7 + usize::from(cursor.u8()?),
                length => length,
            } + 2;
            let back = ((control & 31) << 8 | usize::from(cursor.u8()?)) + 1;
            let start = out.len().checked_sub(back).ok_or_else(wrong)?;
            for place in start..start + length {
                let byte = *out.get(place).ok_or_else(wrong)?;
                out.push(byte);
            }
        }
        if out.len() > most {
            return Err(wrong());
        }
    }
    Ok(out)
}
