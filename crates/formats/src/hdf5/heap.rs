//! The three heaps: local (names in old groups), global (texts of variable length) and fractal (links and attributes
//! of large groups).

use super::broken;
use super::btree::bytes_for;
use super::cursor::Cursor;
use super::store::Store;
use crate::{Kind, Source, Trouble};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The bytes of a local heap; names are found in it by their offset.
pub(crate) async fn local<S: Source>(store: &Store<'_, S>, address: u64) -> Result<Vec<u8>, Trouble> {
    let bytes = store.read(address, 8 + 2 * store.length_size + store.offset_size).await?;
    let mut cursor = Cursor::new(&bytes);
    cursor.expect(b"HEAP")?;
    cursor.skip(4)?;
    let size = store.length(&mut cursor)?;
    store.length(&mut cursor)?;
    let data = store.address(&mut cursor)?.ok_or_else(|| broken("a heap has no data"))?;
    let size = usize::try_from(size).map_err(|_| broken("a heap is too large"))?;
    store.read(data, size).await
}

/// Where the objects of the global heap lie: for each collection, by index.
#[derive(Default)]
pub(crate) struct Global {
    collections: HashMap<u64, HashMap<u16, (u64, u64)>>,
}

impl Global {
    /// The bytes of one object, or of its first `length` bytes.
    pub(crate) async fn get<S: Source>(
        &mut self,
        store: &Store<'_, S>,
        address: u64,
        index: u32,
        length: u32,
    ) -> Result<Vec<u8>, Trouble> {
        let objects = match self.collections.entry(address) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Self::collection(store, address).await?),
        };
        let found = u16::try_from(index).ok().and_then(|index| objects.get(&index));
        let &(at, size) = found.ok_or_else(|| broken("a text is missing from its heap"))?;
        store.read(at, size.min(u64::from(length)) as usize).await
    }

    async fn collection<S: Source>(
        store: &Store<'_, S>,
        address: u64,
    ) -> Result<HashMap<u16, (u64, u64)>, Trouble> {
        let head = 8 + store.length_size;
        let bytes = store.read(address, head).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.expect(b"GCOL")?;
        cursor.skip(4)?;
        let size = store.length(&mut cursor)?;
        let size = usize::try_from(size).map_err(|_| broken("a heap is too large"))?;
        let bytes = store.read(address, size).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.skip(head)?;
        let mut objects = HashMap::new();
        while cursor.rest().len() >= head {
            let index = cursor.u16()?;
            cursor.skip(6)?;
            let size = store.length(&mut cursor)?;
            if index == 0 {
                break;
            }
            objects.insert(index, (address.saturating_add(cursor.position() as u64), size));
            let padded = size.checked_next_multiple_of(8).and_then(|size| usize::try_from(size).ok());
            let step = padded.ok_or_else(|| broken("a text is too large"))?;
            cursor.skip(step.min(cursor.rest().len()))?;
        }
        Ok(objects)
    }
}

/// The header of a fractal heap: what is needed to find an object by its id.
pub(crate) struct Fractal {
    offset_bytes: usize,
    length_bytes: usize,
    checksummed: bool,
    width: u64,
    start: u64,
    largest: u64,
    root: Option<u64>,
    /// 0 when the root is a direct block.
    rows: u64,
}

impl Fractal {
    pub(crate) async fn open<S: Source>(store: &Store<'_, S>, address: u64) -> Result<Self, Trouble> {
        let (offset, length) = (store.offset_size, store.length_size);
        let bytes = store.read(address, 22 + 12 * length + 3 * offset).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.expect(b"FRHP")?;
        cursor.skip(3)?;
        if cursor.u16()? != 0 {
            let fix = "Write the file again with h5py's or anndata's defaults.";
            return Err(Trouble::new(Kind::Unsupported, "The names in this HDF5 file are compressed.", fix));
        }
        let checksummed = cursor.u8()? & 2 != 0;
        let managed = u64::from(cursor.u32()?);
        cursor.skip(2 * (length + offset) + 8 * length)?;
        let width = u64::from(cursor.u16()?);
        let start = store.length(&mut cursor)?;
        let largest = store.length(&mut cursor)?;
        let bits = usize::from(cursor.u16()?);
        cursor.skip(2)?;
        let root = store.address(&mut cursor)?;
        let rows = u64::from(cursor.u16()?);
        if width == 0 || start == 0 || largest < start || bits > 64 {
            return Err(broken("a heap has impossible sizes"));
        }
        let offset_bytes = bits.div_ceil(8);
        let length_bytes = (largest.ilog2() as usize).div_ceil(8).min(bytes_for(managed));
        Ok(Self { offset_bytes, length_bytes, checksummed, width, start, largest, root, rows })
    }

    /// The bytes of the object with this id.
    pub(crate) async fn get<S: Source>(&self, store: &Store<'_, S>, id: &[u8]) -> Result<Vec<u8>, Trouble> {
        let mut cursor = Cursor::new(id);
        let first = cursor.u8()?;
        match first >> 4 & 3 {
            0 => {
                let offset = cursor.uint(self.offset_bytes)?;
                let length = cursor.size(self.length_bytes)?;
                let (block, within) = self.block(store, offset).await?;
                store.read(block.saturating_add(within), length).await
            }
            2 => Ok(cursor.take(usize::from(first & 15) + 1)?.to_vec()),
            _ => Err(Trouble::new(
                Kind::Unsupported,
                "An attribute or name in this HDF5 file is larger than 64 kB.",
                "Remove it (often something in `.uns`) and write the file again.",
            )),
        }
    }

    /// The direct block that holds an offset of the heap, and where in it.
    async fn block<S: Source>(&self, store: &Store<'_, S>, offset: u64) -> Result<(u64, u64), Trouble> {
        let lost = || broken("an object lies outside its heap");
        let mut address = self.root.ok_or_else(lost)?;
        let (mut rows, mut within) = (self.rows, offset);
        let head = (5 + store.offset_size + self.offset_bytes) as u64;
        while rows > 0 {
            // Rows of `width` blocks; from the second on, each row's blocks are twice as large as those before.
            let (mut row, mut size, mut passed) = (0, self.start, 0_u64);
            while row < rows && within >= size.saturating_mul(self.width) {
                within -= size.saturating_mul(self.width);
                passed += self.width;
                row += 1;
                size = if row > 1 { size.saturating_mul(2) } else { size };
            }
            if row >= rows {
                return Err(lost());
            }
            let entry = (passed + within / size).saturating_mul(store.offset_size as u64);
            within %= size;
            let bytes =
                store.read(address.saturating_add(head).saturating_add(entry), store.offset_size).await?;
            let child = store.address(&mut Cursor::new(&bytes))?.ok_or_else(lost)?;
            let above = rows;
            rows = if size <= self.largest {
                0
            } else {
                u64::from((size / self.start / self.width).max(1).ilog2()) + 1
            };
            if rows >= above {
                return Err(lost());
            }
            address = child;
        }
        let overhead = head + if self.checksummed { 4 } else { 0 };
        if within < overhead { Err(lost()) } else { Ok((address, within)) }
    }
}
