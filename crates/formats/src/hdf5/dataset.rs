//! A data set: its shape, its type, where its bytes lie, and how to get at them piece by piece.

use super::chunks::{self, Chunk, Grid, Index};
use super::cursor::Cursor;
use super::datatype::Datatype;
use super::filters::{self, Filter};
use super::object::{Object, kind};
use super::store::Store;
use super::{Meter, broken};
use crate::{Kind, Source, Trouble, Watch};

/// Contiguous data are read in pieces of about this many bytes.
const PIECE: usize = 1 << 20;

pub(crate) struct Dataset {
    pub(crate) dims: Vec<u64>,
    pub(crate) datatype: Datatype,
    layout: Layout,
    filters: Vec<Filter>,
    /// The bytes of an element that was never written; zeros where the file says nothing.
    fill: Option<Vec<u8>>,
}

enum Layout {
    Compact(Vec<u8>),
    Contiguous(Option<u64>),
    Chunked { grid: Grid, index: Index, partial_unfiltered: bool },
    Elsewhere(&'static str),
}

/// How many elements: the product of the lengths. A scalar is one.
pub(crate) struct Space {
    pub(crate) dims: Vec<u64>,
    /// The lengths to which it may grow; none means without end.
    pub(crate) most: Vec<Option<u64>>,
}

impl Space {
    pub(crate) fn parse<S: Source>(store: &Store<'_, S>, body: &[u8]) -> Result<Self, Trouble> {
        let mut cursor = Cursor::new(body);
        let version = cursor.u8()?;
        let rank = usize::from(cursor.u8()?);
        let flags = cursor.u8()?;
        let sort = cursor.u8()?;
        cursor.skip(if version == 1 { 4 } else { 0 })?;
        if version >= 2 && sort == 2 {
            return Ok(Self { dims: vec![0], most: vec![Some(0)] });
        }
        let dims = (0..rank).map(|_| store.length(&mut cursor)).collect::<Result<Vec<_>, _>>()?;
        let most = match flags & 1 {
            0 => dims.iter().copied().map(Some).collect(),
            _ => (0..rank).map(|_| cursor.address(store.length_size)).collect::<Result<_, _>>()?,
        };
        Ok(Self { dims, most })
    }
}

impl Dataset {
    /// The data set that an object is, if it is one.
    pub(crate) fn of<S: Source>(
        store: &Store<'_, S>,
        object: &Object,
        datatype: Datatype,
    ) -> Result<Option<Self>, Trouble> {
        let (Some(space), Some(layout)) = (object.message(kind::DATASPACE), object.message(kind::LAYOUT))
        else {
            return Ok(None);
        };
        let space = Space::parse(store, &space.body)?;
        let layout = if object.message(kind::EXTERNAL).is_some() {
            Layout::Elsewhere("other files")
        } else {
            Layout::parse(store, &layout.body, &space)?
        };
        let filters = match object.message(kind::FILTERS) {
            Some(message) => filters::parse(&message.body)?,
            None => Vec::new(),
        };
        let fill = match (object.message(kind::FILL), object.message(kind::OLD_FILL)) {
            (Some(message), _) => fill(&message.body).unwrap_or_default(),
            (None, Some(message)) => sized(&mut Cursor::new(&message.body)).unwrap_or_default(),
            (None, None) => None,
        };
        let fill = fill.filter(|fill| fill.len() == datatype.size());
        Ok(Some(Self { dims: space.dims, datatype, layout, filters, fill }))
    }

    /// The number of elements, which may be more than memory has addresses.
    pub(crate) fn len(&self) -> u64 {
        self.dims.iter().fold(1, |product, &length| product.saturating_mul(length))
    }

    /// The bytes of all elements, unpacked.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.len().saturating_mul(self.datatype.size() as u64)
    }

    /// The number of elements, if all of them, and their bytes, can be counted in memory.
    pub(crate) fn count(&self) -> Result<usize, Trouble> {
        match (usize::try_from(self.len()), usize::try_from(self.len_bytes())) {
            (Ok(count), Ok(bytes)) if bytes < isize::MAX as usize && count < isize::MAX as usize => Ok(count),
            _ => Err(Trouble::new(
                Kind::TooLarge,
                format!("An array has {} elements, more than memory can hold.", self.len()),
                "Choose another table of the file, or take fewer rows or columns.",
            )),
        }
    }

    /// The bytes of an element that was never written.
    pub(crate) fn fill(&self) -> Option<&[u8]> {
        self.fill.as_deref()
    }

    /// Hands over the bytes of all elements that were written, in runs: the place of the first (row by row), and
    /// the bytes of it and those after it.
    pub(crate) async fn runs<S: Source, W: Watch>(
        &self,
        store: &Store<'_, S>,
        meter: &mut Meter<'_, W>,
        mut each: impl FnMut(usize, &[u8]) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let count = self.count()?;
        let size = self.datatype.size();
        if count == 0 || size == 0 {
            return Ok(());
        }
        match &self.layout {
            Layout::Elsewhere(place) => Err(Trouble::new(
                Kind::Unsupported,
                format!("The data lie in {place}, not in this file."),
                "Write them into one file, for example with `adata.write_h5ad(path)`.",
            )),
            Layout::Compact(bytes) => {
                let whole = bytes.get(..count * size).ok_or_else(|| broken("a data set lacks its end"))?;
                each(0, whole)
            }
            Layout::Contiguous(None) => Ok(()),
            Layout::Contiguous(Some(address)) => {
                let piece = (PIECE / size).max(1);
                let mut first = 0;
                while first < count {
                    let length = piece.min(count - first);
                    let at = address.saturating_add((first * size) as u64);
                    each(first, &store.read(at, length * size).await?)?;
                    first += length;
                    meter.tick((length * size) as u64).await?;
                }
                Ok(())
            }
            Layout::Chunked { grid, index, partial_unfiltered } => {
                filters::check(&self.filters)?;
                let chunk_bytes = grid.check(size)?;
                let listed = grid.count().saturating_mul(size_of::<Chunk>() as u64);
                meter.room((chunk_bytes as u64).saturating_mul(2).saturating_add(listed))?;
                for chunk in chunks::list(store, grid, index, !self.filters.is_empty(), chunk_bytes).await? {
                    let skip = *partial_unfiltered && grid.is_partial(chunk.place);
                    let bytes = self.unpack(store, &chunk, chunk_bytes, skip).await?;
                    let mut written = 0;
                    grid.runs(chunk.place, |from, to, length| {
                        let run = bytes.get(from * size..(from + length) * size);
                        written += length * size;
                        each(to, run.ok_or_else(|| broken("a chunk is smaller than it should be"))?)
                    })?;
                    meter.tick(written as u64).await?;
                }
                Ok(())
            }
        }
    }

    async fn unpack<S: Source>(
        &self,
        store: &Store<'_, S>,
        chunk: &Chunk,
        size: usize,
        skip: bool,
    ) -> Result<Vec<u8>, Trouble> {
        let stored = usize::try_from(chunk.size).map_err(|_| broken("a chunk is too large"))?;
        let bytes = store.read(chunk.address, stored).await?;
        if skip { Ok(bytes) } else { filters::undo(&self.filters, chunk.mask, bytes, size) }
    }
}

/// Bytes after their number.
fn sized(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, Trouble> {
    let size = cursor.u32()? as usize;
    Ok(Some(cursor.take(size)?.to_vec()))
}

fn fill(body: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
    let mut cursor = Cursor::new(body);
    let version = cursor.u8()?;
    let given = match version {
        1 | 2 => {
            cursor.skip(2)?;
            cursor.u8()? != 0 || version == 1
        }
        _ => cursor.u8()? & 0x20 != 0,
    };
    if given { sized(&mut cursor) } else { Ok(None) }
}

impl Layout {
    fn parse<S: Source>(store: &Store<'_, S>, body: &[u8], space: &Space) -> Result<Self, Trouble> {
        let mut cursor = Cursor::new(body);
        match cursor.u8()? {
            1 | 2 => {
                let rank = usize::from(cursor.u8()?);
                let class = cursor.u8()?;
                cursor.skip(5)?;
                let address = if class == 0 { None } else { store.address(&mut cursor)? };
                let lengths = (0..rank).map(|_| cursor.uint(4)).collect::<Result<Vec<_>, _>>()?;
                Ok(match class {
                    0 => Self::Compact(sized(&mut cursor)?.unwrap_or_default()),
                    1 => Self::Contiguous(address),
                    _ => {
                        // In these versions the element's size is not among the lengths counted by the rank's field.
                        let lengths =
                            lengths.get(..space.dims.len()).ok_or_else(|| broken("a chunk has no shape"))?;
                        Self::chunked(space, lengths.to_vec(), Index::of_tree(address), false)?
                    }
                })
            }
            3 => match cursor.u8()? {
                0 => {
                    let size = usize::from(cursor.u16()?);
                    Ok(Self::Compact(cursor.take(size)?.to_vec()))
                }
                1 => Ok(Self::Contiguous(store.address(&mut cursor)?)),
                2 => {
                    let rank = usize::from(cursor.u8()?).saturating_sub(1);
                    let address = store.address(&mut cursor)?;
                    let lengths = (0..rank).map(|_| cursor.uint(4)).collect::<Result<Vec<_>, _>>()?;
                    Self::chunked(space, lengths, Index::of_tree(address), false)
                }
                _ => Err(broken("a data set's layout is unknown")),
            },
            4 | 5 => match cursor.u8()? {
                0 => {
                    let size = usize::from(cursor.u16()?);
                    Ok(Self::Compact(cursor.take(size)?.to_vec()))
                }
                1 => Ok(Self::Contiguous(store.address(&mut cursor)?)),
                2 => {
                    let flags = cursor.u8()?;
                    let rank = usize::from(cursor.u8()?).saturating_sub(1);
                    let width = usize::from(cursor.u8()?);
                    let lengths = (0..rank).map(|_| cursor.uint(width)).collect::<Result<Vec<_>, _>>()?;
                    cursor.skip(width)?; // The element's size.
                    let index = Index::parse(store, &mut cursor, flags & 2 != 0)?;
                    Self::chunked(space, lengths, index, flags & 1 != 0)
                }
                _ => Ok(Self::Elsewhere("other data sets (it is a virtual one)")),
            },
            _ => Err(broken("a data set's layout is unknown")),
        }
    }

    fn chunked(
        space: &Space,
        lengths: Vec<u64>,
        index: Index,
        partial_unfiltered: bool,
    ) -> Result<Self, Trouble> {
        let grid = Grid::new(space.dims.clone(), space.most.clone(), lengths)?;
        Ok(Self::Chunked { grid, index, partial_unfiltered })
    }
}
