//! Chunked data: the grid that the chunks form, and the places in the file where they lie.

use super::arrays;
use super::broken;
use super::btree;
use super::cursor::Cursor;
use super::store::Store;
use crate::{Source, Trouble};

/// A chunk that was written. `place` counts the grid's cells row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) place: u64,
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// The filters that were not applied, one bit each.
    pub(crate) mask: u32,
}

/// How the places are written down.
pub(crate) enum Index {
    Nothing,
    Tree1(u64),
    Single { address: u64, filtered: Option<(u64, u32)> },
    Implicit(u64),
    FixedArray(u64),
    ExtensibleArray(u64),
    Tree2(u64),
}

impl Index {
    pub(crate) fn of_tree(address: Option<u64>) -> Self {
        address.map_or(Self::Nothing, Self::Tree1)
    }

    pub(crate) fn parse<S: Source>(
        store: &Store<'_, S>,
        cursor: &mut Cursor<'_>,
        filtered: bool,
    ) -> Result<Self, Trouble> {
        let sort = cursor.u8()?;
        let mut single = None;
        match sort {
            1 if filtered => single = Some((store.length(cursor)?, cursor.u32()?)),
            1 | 2 => {}
            3 => cursor.skip(1)?,
            4 => cursor.skip(5)?,
            5 => cursor.skip(6)?,
            _ => return Err(broken("a chunk index is unknown")),
        }
        let Some(address) = store.address(cursor)? else { return Ok(Self::Nothing) };
        Ok(match sort {
            1 => Self::Single { address, filtered: single },
            2 => Self::Implicit(address),
            3 => Self::FixedArray(address),
            4 => Self::ExtensibleArray(address),
            _ => Self::Tree2(address),
        })
    }
}

/// The data set's shape cut into chunks.
pub(crate) struct Grid {
    dims: Vec<u64>,
    most: Vec<Option<u64>>,
    chunk: Vec<u64>,
    /// How many chunks lie along each side.
    cells: Vec<u64>,
}

impl Grid {
    pub(crate) fn new(dims: Vec<u64>, most: Vec<Option<u64>>, chunk: Vec<u64>) -> Result<Self, Trouble> {
        if chunk.len() != dims.len() || most.len() != dims.len() || chunk.is_empty() || chunk.contains(&0) {
            return Err(broken("a chunk's shape does not fit its data set"));
        }
        let cells = dims.iter().zip(&chunk).map(|(&length, &step)| length.div_ceil(step)).collect();
        Ok(Self { dims, most, chunk, cells })
    }

    /// The bytes of a chunk, unless it, or all of them together, are absurdly many for so little data.
    pub(crate) fn check(&self, element: usize) -> Result<usize, Trouble> {
        let wrong = || broken("its chunks are far larger than its data");
        let product =
            |lengths: &[u64]| lengths.iter().try_fold(1_u64, |all, &length| all.checked_mul(length));
        let elements = product(&self.dims).ok_or_else(wrong)?;
        let chunk = product(&self.chunk).ok_or_else(wrong)?;
        let unpacked = product(&self.cells).and_then(|cells| cells.checked_mul(chunk)).ok_or_else(wrong)?;
        if unpacked > elements.saturating_mul(64).saturating_add(1 << 26) {
            return Err(wrong());
        }
        let bytes = chunk.checked_mul(element as u64).and_then(|bytes| usize::try_from(bytes).ok());
        bytes.ok_or_else(wrong)
    }

    /// How many chunks there can be.
    pub(crate) fn count(&self) -> u64 {
        self.cells.iter().fold(1, |all, &cells| all.saturating_mul(cells))
    }

    /// A cell's number from its place along each side, if it is inside.
    fn place(&self, cell: &[u64]) -> Option<u64> {
        let mut place = 0_u64;
        for (&at, &cells) in cell.iter().zip(&self.cells) {
            if at >= cells {
                return None;
            }
            place = place.checked_mul(cells)?.checked_add(at)?;
        }
        Some(place)
    }

    fn cell(&self, place: u64) -> Vec<u64> {
        split(place, &self.cells)
    }

    /// Whether a chunk reaches over the data set's edge.
    pub(crate) fn is_partial(&self, place: u64) -> bool {
        let cell = self.cell(place);
        let sides = cell.iter().zip(&self.chunk).zip(&self.dims);
        sides.into_iter().any(|((&at, &step), &length)| (at + 1).saturating_mul(step) > length)
    }

    /// For each row of a chunk: where it starts in the chunk, where in the data set, and its length.
    pub(crate) fn runs(
        &self,
        place: u64,
        mut each: impl FnMut(usize, usize, usize) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let cell = self.cell(place);
        let start: Vec<u64> =
            cell.iter().zip(&self.chunk).map(|(&at, &step)| at.saturating_mul(step)).collect();
        let sides = start.iter().zip(&self.chunk).zip(&self.dims);
        let inside: Vec<u64> =
            sides.map(|((&start, &step), &length)| step.min(length.saturating_sub(start))).collect();
        let Some((&length, outer)) = inside.split_last() else { return Ok(()) };
        let rows = outer.iter().fold(1_u64, |all, &length| all.saturating_mul(length));
        for row in 0..if length > 0 { rows } else { 0 } {
            let mut at = split(row, outer);
            at.push(0);
            let (mut from, mut to) = (0_u64, 0_u64);
            for (((&at, &start), &step), &length) in at.iter().zip(&start).zip(&self.chunk).zip(&self.dims) {
                from = from * step + at;
                to = to * length + start + at;
            }
            each(from as usize, to as usize, length as usize)?;
        }
        Ok(())
    }

    /// Arrays count the cells of the grid as large as it may become, the side without end first.
    fn array_order(&self) -> (Vec<u64>, Option<usize>) {
        let endless = self.most.iter().position(Option::is_none);
        let mut cells: Vec<u64> = (self.most.iter().zip(&self.chunk))
            .map(|(most, &step)| most.map_or(u64::MAX, |most| most.div_ceil(step)))
            .collect();
        if let Some(side) = endless {
            let cell = cells.remove(side);
            cells.insert(0, cell);
        }
        (cells, endless)
    }
}

/// A number as places along sides of the given lengths, the last running fastest. What is too much for the sides
/// stays in the first.
fn split(number: u64, sides: &[u64]) -> Vec<u64> {
    let mut left = number;
    let mut places: Vec<u64> = (sides.iter().skip(1).rev())
        .map(|&length| {
            let place = left.checked_rem(length).unwrap_or(0);
            left = left.checked_div(length).unwrap_or(0);
            place
        })
        .collect();
    if !sides.is_empty() {
        places.push(left);
    }
    places.reverse();
    places
}

/// All chunks that were written, in the order of their places.
pub(crate) async fn list<S: Source>(
    store: &Store<'_, S>,
    grid: &Grid,
    index: &Index,
    filtered: bool,
    size: usize,
) -> Result<Vec<Chunk>, Trouble> {
    let rank = grid.chunk.len();
    let size = size as u64;
    let most = grid.count();
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut keep = |cell: &[u64], address: u64, size: u64, mask: u32| {
        chunks.extend(grid.place(cell).map(|place| Chunk { place, address, size, mask }));
        if chunks.len() as u64 > most { Err(broken("a chunk is listed twice")) } else { Ok(()) }
    };
    match *index {
        Index::Nothing => {}
        Index::Single { address, filtered } => {
            let (stored, mask) = filtered.unwrap_or((size, 0));
            keep(&vec![0; rank], address, stored, mask)?;
        }
        Index::Implicit(address) => {
            let (order, _) = grid.array_order();
            for place in 0..most {
                let cell = grid.cell(place);
                let number = (cell.iter().zip(&order))
                    .fold(0_u64, |all, (&at, &cells)| all.saturating_mul(cells).saturating_add(at));
                store.spend(1)?;
                keep(&cell, address.saturating_add(number.saturating_mul(size)), size, 0)?;
            }
        }
        Index::Tree1(root) => {
            btree::version1(store, root, 1, 8 + 8 * (rank + 1), |key, address| {
                let mut cursor = Cursor::new(key);
                let (stored, mask) = (cursor.u32()?, cursor.u32()?);
                let offsets = (0..rank).map(|_| cursor.uint(8)).collect::<Result<Vec<_>, _>>()?;
                let cell: Vec<u64> = offsets.iter().zip(&grid.chunk).map(|(&at, &step)| at / step).collect();
                keep(&cell, address, u64::from(stored), mask)
            })
            .await?;
        }
        Index::Tree2(root) => {
            btree::version2(store, root, |record| {
                let mut cursor = Cursor::new(record);
                let address = store.address(&mut cursor)?;
                let (mut stored, mut mask) = (size, 0);
                if filtered {
                    stored = cursor.uint(record.len().saturating_sub(store.offset_size + 4 + 8 * rank))?;
                    mask = cursor.u32()?;
                }
                let cell = (0..rank).map(|_| cursor.uint(8)).collect::<Result<Vec<_>, _>>()?;
                address.map_or(Ok(()), |address| keep(&cell, address, stored, mask))
            })
            .await?;
        }
        Index::FixedArray(header) | Index::ExtensibleArray(header) => {
            let (order, endless) = grid.array_order();
            let fixed = matches!(index, Index::FixedArray(_));
            let each = |number: u64, element: &[u8]| {
                let mut cursor = Cursor::new(element);
                let Some(address) = store.address(&mut cursor)? else { return Ok(()) };
                let (mut stored, mut mask) = (size, 0);
                if filtered {
                    stored = cursor.uint(element.len().saturating_sub(store.offset_size + 4))?;
                    mask = cursor.u32()?;
                }
                let mut cell = split(number, &order);
                if let Some(side) = endless {
                    let first = cell.remove(0);
                    cell.insert(side, first);
                }
                keep(&cell, address, stored, mask)
            };
            if fixed {
                arrays::fixed(store, header, each).await?;
            } else {
                arrays::extensible(store, header, each).await?;
            }
        }
    }
    chunks.sort_by_key(|chunk| chunk.place);
    chunks.dedup_by_key(|chunk| chunk.place);
    Ok(chunks)
}
