//! `cargo xtask samples`: trains the encoders that the page's samples come with, as the page itself would with its
//! default settings, and saves them beside the data.

use std::path::Path;
use std::time::Instant;

use align::procedure::{self, NoControl, Sides};
use analysis::model::Taught;
use analysis::{model, options};
use compute::exec::Device;
use pollster::block_on;

use crate::npy;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../www/samples");

/// Trains for the samples that are named, or for all.
pub fn samples(named: &[String]) -> Result<(), String> {
    let entries = std::fs::read_dir(FOLDER).map_err(|error| format!("{FOLDER}: {error}"))?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    if let Some(unknown) = named.iter().find(|name| !names.contains(name)) {
        return Err(format!("there is no sample '{unknown}'; there are {}", names.join(", ")));
    }
    names.iter().filter(|name| named.is_empty() || named.contains(name)).try_for_each(|name| train(name))
}

fn train(name: &str) -> Result<(), String> {
    let start = Instant::now();
    let folder = Path::new(FOLDER).join(name);
    let (x, y) = (npy::read(&folder.join("x.npy"))?, npy::read(&folder.join("y.npy"))?);
    let taught = [&x, &y].map(|side| Taught::plain(side.cols(), &[]));
    let sides = Sides::new(x, y).map_err(|failure| failure.to_string())?;
    let options = options::defaults();
    let settings = options::settings(&options)?;
    let alignment = block_on(procedure::align(&Device::Cpu, &sides, &settings, &mut NoControl))
        .map_err(|failure| failure.to_string())?;
    let best = alignment.best();
    let model = model::of(best, &sides, [&taught[0], &taught[1]], model::about(&options));
    let bytes = model.save().map_err(|trouble| trouble.to_string())?;
    let path = folder.join("model.safetensors");
    std::fs::write(&path, &bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    let (seconds, size) = (start.elapsed().as_secs_f64(), bytes.len() / 1000);
    println!("{name}: {:?}, score {:.4}, {size} kB, in {seconds:.1} s", best.origin, best.score);
    Ok(())
}
