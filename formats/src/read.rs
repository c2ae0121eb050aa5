//! The front door: a file comes in, by its content it goes to the reader that understands it.

use crate::chunks::{Chunks, Packing};
use crate::finish::{self, Opened};
use crate::sniff::{self, Format};
use crate::{Choices, Kind, Loaded, Part, Source, Trouble, Watch, arrays, text};

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
        Format::Hdf5 | Format::MatrixMarket => return elsewhere(source, choices, watch).await,
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
        // MERGE: `crate::mtx::read` and `crate::h5ad::read` over `Bytes::new(source.name(), &chunks.rest(watch).await?)`.
        Format::Hdf5 | Format::MatrixMarket => Err(not_yet()),
        Format::Gzip | Format::Zip => Err(Trouble::new(
            Kind::Unsupported,
            "The file is packed twice.",
            "Unpack it once and choose the file inside.",
        )),
    }
}

// MERGE: `crate::h5ad::read(source, choices, watch)` and `crate::mtx::read(source, choices, watch)`.
async fn elsewhere<S: Source, W: Watch>(_: &S, _: &Choices, _: &mut W) -> Result<Loaded, Trouble> {
    Err(not_yet())
}

fn not_yet() -> Trouble {
    Trouble::new(
        Kind::Unsupported,
        "HDF5 and Matrix Market files are not read yet.",
        "Save the table as CSV or .npy.",
    )
}
