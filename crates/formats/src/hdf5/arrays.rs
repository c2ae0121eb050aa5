//! The two arrays in which newer files list their chunks: one of fixed length, one that grows at its end.

use super::broken;
use super::cursor::Cursor;
use super::store::Store;
use crate::{Source, Trouble};

/// Where some of an array's elements lie one behind the other.
struct Stretch {
    first: u64,
    count: u64,
    address: u64,
}

/// Which pages were written: a bit each, from the bit `first`. Without bits all were.
struct Written<'a> {
    map: &'a [u8],
    first: u64,
}

impl Written<'_> {
    fn has(&self, page: u64) -> bool {
        let bit = self.first.saturating_add(page);
        let byte = usize::try_from(bit / 8).ok().and_then(|place| self.map.get(place));
        byte.map_or(self.map.is_empty(), |byte| byte & (0x80 >> (bit % 8)) != 0)
    }
}

/// Hands over the elements of a fixed array with their numbers.
pub(crate) async fn fixed<S: Source>(
    store: &Store<'_, S>,
    header: u64,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let bytes = store.read(header, 8 + store.length_size + store.offset_size).await?;
    let mut cursor = Cursor::new(&bytes);
    cursor.expect(b"FAHD")?;
    cursor.skip(2)?;
    let element = usize::from(cursor.u8()?);
    let page_bits = cursor.u8()?;
    let count = store.length(&mut cursor)?;
    let Some(block) = store.address(&mut cursor)? else { return Ok(()) };
    let page =
        1_u64.checked_shl(u32::from(page_bits)).ok_or_else(|| broken("an array's pages are too large"))?;
    let head = 6 + store.offset_size as u64;
    let start = store.read(block, 4).await?;
    Cursor::new(&start).expect(b"FADB")?;
    let after = block.saturating_add(head);
    if count <= page {
        return elements(store, &Stretch { first: 0, count, address: after }, element, &mut each).await;
    }
    let pages = count.div_ceil(page);
    let bitmap = bitmap(store, after, pages).await?;
    let data = after.saturating_add(bitmap.len() as u64 + 4);
    let written = Written { map: &bitmap, first: 0 };
    paged(store, Stretch { first: 0, count, address: data }, page, written, element, &mut each).await
}

/// Hands over the elements of an extensible array with their numbers.
pub(crate) async fn extensible<S: Source>(
    store: &Store<'_, S>,
    header: u64,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let wrong = || broken("an array has impossible sizes");
    let bytes = store.read(header, 12 + 6 * store.length_size + store.offset_size).await?;
    let mut cursor = Cursor::new(&bytes);
    cursor.expect(b"EAHD")?;
    cursor.skip(2)?;
    let element = usize::from(cursor.u8()?);
    let bits = u32::from(cursor.u8()?);
    let in_index = u64::from(cursor.u8()?);
    let smallest = u64::from(cursor.u8()?);
    let pointers = u64::from(cursor.u8()?);
    let page = 1_u64.checked_shl(u32::from(cursor.u8()?)).ok_or_else(wrong)?;
    cursor.skip(4 * store.length_size)?;
    let end = store.length(&mut cursor)?;
    cursor.skip(store.length_size)?;
    let Some(index) = store.address(&mut cursor)? else { return Ok(()) };
    if !smallest.is_power_of_two() || !pointers.is_power_of_two() || bits > 64 || bits < smallest.ilog2() {
        return Err(wrong());
    }
    let offset_bytes = u64::from(bits.div_ceil(8));
    let head = 6 + store.offset_size as u64;

    // The index block: the first elements, then addresses of data blocks, then of blocks of such addresses.
    let start = store.read(index, 4).await?;
    Cursor::new(&start).expect(b"EAIB")?;
    let mut at = index.saturating_add(head);
    elements(store, &Stretch { first: 0, count: in_index.min(end), address: at }, element, &mut each).await?;
    at = at.saturating_add(in_index * element as u64);
    let supers = u64::from(1 + bits - smallest.ilog2());
    let direct = u64::from(2 * pointers.ilog2());
    let mut first = in_index;
    for level in 0..supers {
        if first >= end {
            break;
        }
        let blocks = 1_u64.checked_shl((level / 2) as u32).ok_or_else(wrong)?;
        let width = 1_u64.checked_shl(level.div_ceil(2) as u32).and_then(|step| step.checked_mul(smallest));
        let width = width.ok_or_else(wrong)?;
        let pages = if width > page { width.div_ceil(page) } else { 0 };
        let (list, map) = if level < direct {
            let list = at;
            at = at.saturating_add(blocks.saturating_mul(store.offset_size as u64));
            (list, Vec::new())
        } else {
            let pointer = store.read(at, store.offset_size).await?;
            at = at.saturating_add(store.offset_size as u64);
            let Some(block) = store.address(&mut Cursor::new(&pointer))? else {
                first = first.saturating_add(blocks.saturating_mul(width));
                continue;
            };
            let start = store.read(block, 4).await?;
            Cursor::new(&start).expect(b"EASB")?;
            // One bit for each page of each data block, without gaps; its room is that of whole bytes a block.
            let start = block.saturating_add(head + offset_bytes);
            let map =
                bitmap(store, start, pages.div_ceil(8).saturating_mul(8).saturating_mul(blocks)).await?;
            (start.saturating_add(map.len() as u64), map)
        };
        for number in 0..blocks {
            if first >= end {
                break;
            }
            let place = list.saturating_add(number * store.offset_size as u64);
            let pointer = store.read(place, store.offset_size).await?;
            if let Some(block) = store.address(&mut Cursor::new(&pointer))? {
                let start = store.read(block, 4).await?;
                Cursor::new(&start).expect(b"EADB")?;
                let address = block.saturating_add(head + offset_bytes);
                let count = width.min(end - first);
                if pages == 0 {
                    elements(store, &Stretch { first, count, address }, element, &mut each).await?;
                } else {
                    let stretch = Stretch { first, count, address: address.saturating_add(4) };
                    let written = Written { map: &map, first: number.saturating_mul(pages) };
                    paged(store, stretch, page, written, element, &mut each).await?;
                }
            }
            first = first.saturating_add(width);
        }
    }
    Ok(())
}

/// One bit a page that says whether it was written.
async fn bitmap<S: Source>(store: &Store<'_, S>, address: u64, pages: u64) -> Result<Vec<u8>, Trouble> {
    let size = usize::try_from(pages.div_ceil(8)).map_err(|_| broken("an array is too long"))?;
    store.read(address, size).await
}

/// Elements in pages, each with a checksum behind it.
async fn paged<S: Source>(
    store: &Store<'_, S>,
    stretch: Stretch,
    page: u64,
    written: Written<'_>,
    element: usize,
    each: &mut impl FnMut(u64, &[u8]) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let step = page.saturating_mul(element as u64).saturating_add(4);
    for number in 0..stretch.count.div_ceil(page) {
        if written.has(number) {
            let passed = number * page;
            let part = Stretch {
                first: stretch.first.saturating_add(passed),
                count: page.min(stretch.count - passed),
                address: stretch.address.saturating_add(number.saturating_mul(step)),
            };
            elements(store, &part, element, each).await?;
        } else {
            store.spend(1)?;
        }
    }
    Ok(())
}

async fn elements<S: Source>(
    store: &Store<'_, S>,
    stretch: &Stretch,
    element: usize,
    each: &mut impl FnMut(u64, &[u8]) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let size = usize::try_from(stretch.count).ok().and_then(|count| count.checked_mul(element));
    let size = size.ok_or_else(|| broken("an array is too long"))?;
    let bytes = store.read(stretch.address, size).await?;
    for (number, bytes) in (stretch.first..).zip(bytes.chunks_exact(element.max(1))) {
        each(number, bytes)?;
    }
    Ok(())
}
