//! `cargo xtask bench`: how long the solver's parts and whole alignments take, and with `--peers` how long
//! others take for the same problem on the same machine.

mod data;
mod inference;
mod ladders;
mod parts;
mod peers;
mod row;
mod starts;
mod timing;
mod whole;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arguments::Arguments;
use data::Clouds;
use row::Row;

pub use inference::child as inference_child;
pub use whole::child;

/// A folder for the duration of a run.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("concord-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} could not be removed: {error}", self.0.display());
        }
    }
}

/// `lab bench [--peers] [--data DIR] [--json FILE] [--repeats N]`; whole alignments are run N times, the peers once.
/// `lab bench inference …` is about transport between many points instead, `lab bench agreement …` about its two ways,
/// `lab bench starts` about starts by third moments.
pub fn bench(words: &[String]) -> Result<(), String> {
    match words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        Some(("inference", rest)) => return inference::inference(rest),
        Some(("agreement", rest)) => return inference::agreement(rest),
        Some(("starts", rest)) => return starts::starts(rest),
        _ => {}
    }
    let arguments = Arguments::read(words, &["data", "json", "repeats"], &["peers"])?;
    let clouds = match arguments.get("data") {
        Some(folder) => Clouds::load(Path::new(folder))?,
        None => Clouds::synthetic(),
    };
    let repeats = arguments.number("repeats", 3)?.max(1);
    let folder = Folder::new()?;
    let mut rows = Vec::new();
    parts::training_steps(&clouds, &mut rows)?;
    parts::iterations(&clouds, &mut rows)?;
    parts::outer_iterations(&clouds, &mut rows)?;
    let parts = rows.len();
    whole::alignments(&clouds, &folder.0, repeats, &mut rows)?;
    if arguments.flag("peers") {
        let peers = peers::run(&clouds, &folder.0)?;
        let beside: Vec<Row> =
            rows[parts..].iter().flat_map(|ours| peers.iter().map(|peer| ours.beside(peer))).collect();
        // Each of ours stands once by itself only where there is no peer to stand beside.
        if !beside.is_empty() {
            rows.truncate(parts);
        }
        rows.extend(beside);
        rows.extend(peers);
    }
    println!("{}", row::table(&rows));
    if let Some(file) = arguments.get("json") {
        let all = Value::Array(rows.iter().map(Row::json).collect());
        std::fs::write(file, format!("{all:#}\n"))
            .map_err(|error| format!("{file} cannot be written: {error}"))?;
    }
    Ok(())
}
