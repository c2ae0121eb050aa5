//! The front door: a file comes in, by its content it goes to the reader that understands it.

use crate::chunks::{Chunks, Packing};
use crate::finish::{self, Opened};
use crate::sniff::{self, Format};
use crate::{Bytes, Choices, Decision, Kind, Loaded, Part, Source, Trouble, Watch, arrays, h5ad, mtx, text};

/// Reads a table from a file of any format that Concord knows.
pub async fn read<S: Source, W: Watch>(
    source: &S,
    choices: &Choices,
    watch: &mut W,
) -> Result<Loaded, Trouble> {
    open(source, choices, watch).await.map_err(|trouble| trouble.of(source.name()))
}

/// What a file of several tables holds, to choose from; nothing for a file of a single one.
pub async fn parts<S: Source, W: Watch>(source: &S, watch: &mut W) -> Result<Vec<Part>, Trouble> {
    let inner = async {
        match format(source).await? {
            Format::Zip => arrays::npz::parts(source, watch).await,
            Format::Hdf5 => Ok(h5ad::parts(&Either::AsItIs(source)).await?.into_iter().map(listed).collect()),
            _ => Ok(Vec::new()),
        }
    };
    inner.await.map_err(|trouble| trouble.of(source.name()))
}

async fn open<S: Source, W: Watch>(source: &S, choices: &Choices, watch: &mut W) -> Result<Loaded, Trouble> {
    let opened = match format(source).await? {
        Format::Gzip => {
            let mut opened = unpacked(source, choices, watch).await?;
            opened.format.push_str(", gzipped");
            opened
        }
        Format::Zip => arrays::npz::read(source, choices, watch).await?,
        Format::Npy => arrays::npy::read(Chunks::whole(source, Packing::Plain), choices, watch).await?,
        Format::Text => text::read(Chunks::whole(source, Packing::Plain), choices, watch).await?,
        format @ (Format::Hdf5 | Format::MatrixMarket) => {
            elsewhere(format, &Either::AsItIs(source), choices, watch).await?
        }
    };
    finish::finish(opened, choices, watch).await
}

pub(crate) async fn format<S: Source>(source: &S) -> Result<Format, Trouble> {
    if source.is_empty() {
        return Err(Trouble::new(Kind::Empty, "The file is empty.", "Choose a file with a table."));
    }
    sniff::format(&source.read(0, sniff::HEAD).await?)
}

/// What a gzipped file holds.
async fn unpacked<S: Source, W: Watch>(
    source: &S,
    choices: &Choices,
    watch: &mut W,
) -> Result<Opened, Trouble> {
    let mut chunks = Chunks::whole(source, Packing::Gzip);
    let head = chunks.peek(sniff::HEAD, watch).await?;
    if head.is_empty() {
        return Err(Trouble::new(Kind::Empty, "The gzipped file is empty.", "Choose a file with a table."));
    }
    match sniff::format(head)? {
        Format::Text => text::read(chunks, choices, watch).await,
        Format::Npy => arrays::npy::read(chunks, choices, watch).await,
        format @ (Format::Hdf5 | Format::MatrixMarket) => {
            let bytes = chunks.rest(watch).await?;
            let unpacked = Either::Unpacked::<S>(Bytes::new(source.name(), &bytes));
            elsewhere(format, &unpacked, choices, watch).await
        }
        Format::Gzip | Format::Zip => Err(Trouble::new(
            Kind::Unsupported,
            "The file is packed twice.",
            "Unpack it once and choose the file inside.",
        )),
    }
}

/// A file, or what was inside of it: one type, so that the large readers are compiled once.
enum Either<'a, S> {
    AsItIs(&'a S),
    Unpacked(Bytes<'a>),
}

impl<S: Source> Source for Either<'_, S> {
    fn name(&self) -> &str {
        match self {
            Self::AsItIs(source) => source.name(),
            Self::Unpacked(bytes) => bytes.name(),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::AsItIs(source) => source.len(),
            Self::Unpacked(bytes) => bytes.len(),
        }
    }

    async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble> {
        match self {
            Self::AsItIs(source) => source.read(at, length).await,
            Self::Unpacked(bytes) => bytes.read(at, length).await,
        }
    }
}

/// Formats whose readers look up and down the file, so that a packed one has to be unpacked whole.
async fn elsewhere<S: Source, W: Watch>(
    format: Format,
    source: &Either<'_, S>,
    choices: &Choices,
    watch: &mut W,
) -> Result<Opened, Trouble> {
    if format == Format::MatrixMarket {
        let table = mtx::read(source, watch).await?;
        return Ok(Opened { table, format: "Matrix Market".into(), ..Opened::default() });
    }
    let h5ad::H5ad { table, parts, chosen, why } = h5ad::read(source, choices.part.as_deref(), watch).await?;
    Ok(Opened {
        table,
        format: "HDF5".into(),
        parts: parts.into_iter().map(listed).collect(),
        decisions: vec![Decision::new("part", chosen, why)],
        ..Opened::default()
    })
}

fn listed(part: h5ad::Part) -> Part {
    let h5ad::Part { name, rows, cols, kind } = part;
    Part { name, rows, cols, kind: kind.to_string() }
}
