//! NumPy's `.npz`: a zip archive of arrays. One of them is the table, others of its length may be labels.

use super::columns;
use super::header::{self, Header};
use super::npy::{self, Array};
use super::zip::{self, Entry};
use crate::chunks::{Chunks, Packing};
use crate::finish::Opened;
use crate::sniff::{self, Format};
use crate::{Choices, Decision, Kind, Part, Source, Trouble, Watch, text};

/// An array that could be the table, or labels.
struct Found<'e> {
    name: &'e str,
    entry: &'e Entry,
    header: Header,
    rows: usize,
    cols: usize,
}

struct Contents<'e> {
    found: Vec<Found<'e>>,
    parts: Vec<Part>,
    /// Why some arrays cannot be read.
    reasons: Vec<(&'e str, Trouble)>,
}

pub(crate) async fn read<S: Source, W: Watch>(
    source: &S,
    choices: &Choices,
    watch: &mut W,
) -> Result<Opened, Trouble> {
    let entries = zip::entries(source).await?;
    if let Some(trouble) = sniff::zip_trouble(entries.iter().map(|entry| entry.name.as_str())) {
        return Err(trouble);
    }
    if !entries.iter().any(|entry| entry.name.ends_with(".npy")) {
        return single(source, &entries, choices, watch).await;
    }
    if ["indptr.npy", "indices.npy", "shape.npy"].iter().all(|name| entries.iter().any(|e| e.name == *name)) {
        return Err(Trouble::new(
            Kind::Unsupported,
            "The file holds a sparse matrix of SciPy.",
            "Save it as Matrix Market: scipy.io.mmwrite('table.mtx', matrix); or as .npy: numpy.save(file, matrix.toarray()).",
        ));
    }
    let Contents { found, parts, reasons } = contents(source, &entries, watch).await?;
    let (table, decision) = choose(&found, &reasons, choices)?;
    let mut chunks = Chunks::new(source, table.entry.stretch(source).await?);
    let array = npy::array(&table.header, &mut chunks, watch).await.map_err(|t| within(t, table.name))?;
    let Array::Numbers(mut numbers) = array else {
        return Err(Trouble::new(
            Kind::NotANumber,
            format!("The array '{}' holds texts, not numbers.", table.name),
            "Choose another array.",
        ));
    };
    let fields = columns::assign(&mut numbers, choices)?;
    let mut decisions = vec![decision];
    for other in &found {
        let codes = other.header.element.is_text() || other.header.element.is_code();
        let labels = codes && other.cols == 1 && other.rows == table.rows && table.rows > 1;
        if other.name == table.name || !labels {
            continue;
        }
        let mut chunks = Chunks::new(source, other.entry.stretch(source).await?);
        let texts: Vec<String> = match npy::array(&other.header, &mut chunks, watch).await? {
            Array::Texts(texts) => texts,
            Array::Numbers(numbers) => numbers.values.iter().map(f32::to_string).collect(),
        };
        let labels = npy::label(other.name, texts.into_iter());
        // A text of its own for each row is the row's name.
        let free = numbers.ids.is_none() && choices.ids.is_none();
        if other.header.element.is_text() && labels.names.len() == table.rows && free {
            decisions.push(Decision::new(
                "ids",
                other.name,
                "Its texts are all different, one for each row.",
            ));
            numbers.ids = Some(labels.names);
        } else if labels.names.len() < table.rows {
            decisions.push(Decision::new("labels", other.name, "It has one text or code for each row."));
            numbers.labels.push(labels);
        }
    }
    let format = "NumPy archive".into();
    Ok(Opened { table: numbers, format, parts, decisions, fields, ..Opened::default() })
}

/// What the archive's arrays are. Those that cannot be read do not matter as long as another one is the table.
async fn contents<'e, S: Source, W: Watch>(
    source: &S,
    entries: &'e [Entry],
    watch: &mut W,
) -> Result<Contents<'e>, Trouble> {
    let (mut found, mut parts, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".npy")) {
        let name = entry.name.trim_end_matches(".npy");
        let mut chunks = Chunks::new(source, entry.stretch(source).await?);
        let header = Header::read(chunks.peek(header::LONGEST, watch).await?);
        match header.and_then(|header| Ok((header.table()?, header))) {
            Ok(((rows, cols), header)) => {
                parts.push(Part { name: name.into(), rows, cols, kind: header.element.words() });
                found.push(Found { name, entry, header, rows, cols });
            }
            Err(trouble) => {
                parts.push(Part { name: name.into(), rows: 0, cols: 0, kind: "unreadable".into() });
                reasons.push((name, trouble));
            }
        }
    }
    Ok(Contents { found, parts, reasons })
}

/// What a zip archive holds: arrays, or else files.
pub(crate) async fn parts<S: Source, W: Watch>(source: &S, watch: &mut W) -> Result<Vec<Part>, Trouble> {
    let entries = zip::entries(source).await?;
    let arrays = contents(source, &entries, watch).await?.parts;
    if !arrays.is_empty() {
        return Ok(arrays);
    }
    let file = |entry: &Entry| Part { name: entry.name.clone(), rows: 0, cols: 0, kind: "file".into() };
    Ok(entries.iter().filter(|entry| !hidden(&entry.name)).map(file).collect())
}

/// Files that some systems add to archives.
fn hidden(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

fn within(trouble: Trouble, name: &str) -> Trouble {
    let place = if trouble.place.is_empty() { String::new() } else { format!(", {}", trouble.place) };
    trouble.at(format!("array '{name}'{place}"))
}

/// The array that is the table: the one that was chosen, or the only one that can be.
fn choose<'f>(
    found: &'f [Found<'f>],
    reasons: &[(&str, Trouble)],
    choices: &Choices,
) -> Result<(&'f Found<'f>, Decision), Trouble> {
    let names = |list: &[&Found<'_>]| {
        list.iter().map(|f| format!("'{}' ({} × {})", f.name, f.rows, f.cols)).collect::<Vec<_>>().join(", ")
    };
    if let Some(part) = &choices.part {
        if let Some(chosen) = found.iter().find(|f| f.name == part) {
            return Ok((chosen, Decision::new("part", part, "You chose it.")));
        }
        if let Some((name, trouble)) = reasons.iter().find(|(name, _)| name == part) {
            return Err(within(trouble.clone(), name));
        }
        let all: Vec<&Found<'_>> = found.iter().collect();
        return Err(Trouble::new(
            Kind::Mismatch,
            format!("There is no array '{part}' in the file; it holds {}.", names(&all)),
            "Choose one of these.",
        ));
    }
    let numbers: Vec<&Found<'_>> = found.iter().filter(|f| !f.header.element.is_text()).collect();
    let tables: Vec<&Found<'_>> = numbers.iter().copied().filter(|f| f.cols > 1).collect();
    match (&tables[..], &numbers[..]) {
        ([table], _) => Ok((table, Decision::new("part", table.name, "It is the only table of numbers."))),
        ([], [column]) => {
            Ok((column, Decision::new("part", column.name, "It is the only array of numbers.")))
        }
        ([], []) => Err(match reasons.first() {
            Some((name, trouble)) => within(trouble.clone(), name),
            None => Trouble::new(
                Kind::Empty,
                "The file holds no array of numbers.",
                "Choose a file with a table.",
            ),
        }),
        (several, _) => {
            let list = names(if several.is_empty() { &numbers } else { several });
            Err(Trouble::new(
                Kind::Ambiguous,
                format!("The file holds several arrays: {list}."),
                "Choose one of them.",
            ))
        }
    }
}

/// An archive without arrays: if it holds one file, that is the table.
async fn single<S: Source, W: Watch>(
    source: &S,
    entries: &[Entry],
    choices: &Choices,
    watch: &mut W,
) -> Result<Opened, Trouble> {
    let files: Vec<&Entry> = entries.iter().filter(|entry| !hidden(&entry.name)).collect();
    let chosen = match &choices.part {
        Some(part) => files.iter().find(|entry| entry.name == *part),
        None if files.len() == 1 => files.first(),
        None => None,
    };
    let Some(entry) = chosen else {
        let names: Vec<String> = files.iter().take(10).map(|entry| format!("'{}'", entry.name)).collect();
        return Err(match names.len() {
            0 => Trouble::new(Kind::Empty, "The zip archive is empty.", "Choose a file with a table."),
            _ => Trouble::new(
                Kind::Ambiguous,
                format!("The zip archive holds several files: {}.", names.join(", ")),
                "Choose one of them, or unpack the archive.",
            ),
        });
    };
    let stretch = entry.stretch(source).await?;
    let mut chunks = Chunks::new(source, stretch);
    let format =
        sniff::format(chunks.peek(sniff::HEAD, watch).await?).map_err(|t| within_file(t, &entry.name))?;
    let opened = match format {
        Format::Text => text::read(chunks, choices, watch).await,
        _ => Err(Trouble::new(
            Kind::Unsupported,
            if stretch.packing == Packing::Plain {
                "It is an archive in an archive."
            } else {
                "It is packed twice."
            },
            "Unpack the archive and choose the file inside.",
        )),
    };
    let mut opened = opened.map_err(|t| within_file(t, &entry.name))?;
    opened.format.push_str(", zipped");
    Ok(opened)
}

fn within_file(trouble: Trouble, name: &str) -> Trouble {
    let place = if trouble.place.is_empty() { String::new() } else { format!(", {}", trouble.place) };
    trouble.at(format!("'{name}'{place}"))
}
