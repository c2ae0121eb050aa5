//! `cargo xtask bench inference`: how time and memory of a transport between all points grow with their number. Each
//! size is solved in a process of its own, so that the peak of its memory is its own as well.

mod agreement;
mod chart;
mod child;
mod clouds;
mod peers;
mod point;

use serde_json::{Value, json};

use super::Folder;
use crate::arguments::Arguments;
use crate::npy;
use point::{Point, exponent, table};

pub use agreement::agreement;
pub use child::child;

/// Points a side.
const SIZES: [usize; 8] = [1_000, 2_000, 5_000, 10_000, 20_000, 45_000, 100_000, 1_000_000];
const DIMS: [usize; 2] = [16, 32];
/// ε and the error at which everybody may stop.
const EPS: f32 = 0.05;
const TOLERANCE: f32 = 1e-3;
/// The growth is fitted to sizes from here on: below it, what is done once counts.
const LARGE: usize = 5_000;

/// Its iterations are not those of the others: each visits another share of the pairs.
const MULTISCALE: &str = "multi-scale";
/// So are those of a method with this in its name: each is a whole transport.
const GROMOV: &str = "entropic GW";

/// Whether an iteration of this method goes over all pairs once, so that one can be compared with another's.
fn goes_over_all_pairs(method: &str) -> bool {
    method != MULTISCALE && !method.contains(GROMOV)
}

/// Our solvers. Another one is a variant, its name and its line in [`child`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every pair of points in every iteration, none of them held.
    Streamed,
    /// From coarse to fine, between those points that matter to each other.
    Multiscale,
}

impl Method {
    const ALL: [Self; 2] = [Self::Streamed, Self::Multiscale];

    fn name(self) -> &'static str {
        match self {
            Self::Streamed => "streamed",
            Self::Multiscale => MULTISCALE,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Beyond this only the way that looks at some pairs is taken.
const EXACT: usize = 100_000;

/// `lab bench inference [--peers] [--least N] [--most N] [--dim D] [--method METHOD] [--json FILE] [--svg FILE]`
pub fn inference(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &["least", "most", "dim", "method", "json", "svg"], &["peers"])?;
    let most = arguments.number("most", 45_000)? as usize;
    let least = arguments.number("least", 0)? as usize;
    let only = arguments.number("dim", 0)? as usize;
    let methods = match arguments.get("method") {
        Some(name) => vec![Method::named(name).ok_or_else(|| format!("there is no method '{name}'"))?],
        None => Method::ALL.to_vec(),
    };
    let folder = Folder::new()?;
    let peers = if arguments.flag("peers") { peers::Peers::install(&folder.0) } else { None };
    let mut points = Vec::new();
    for dim in DIMS.into_iter().filter(|dim| only == 0 || *dim == only) {
        for n in SIZES.into_iter().filter(|n| (least..=most).contains(n)) {
            let clouds = clouds::clouds(n, dim);
            npy::write(&folder.0.join("x.npy"), &clouds.x)?;
            npy::write(&folder.0.join("y.npy"), &clouds.y)?;
            for method in methods.iter().copied().filter(|m| n <= EXACT || *m == Method::Multiscale) {
                eprintln!("{}, {n} points a side, {dim} dimensions", method.name());
                points.push(child::run(method, &folder.0, n, dim)?);
            }
            if let Some(peers) = &peers {
                points.extend(peers.run(&folder.0, n, dim));
            }
        }
    }
    let growth = growth(&points);
    println!("{}", table(&points));
    for (name, dim, exponent) in &growth {
        let what = if goes_over_all_pairs(name) { "an iteration" } else { "all of it" };
        println!("{name}, {dim} dimensions: {what} takes N^{exponent:.2}");
    }
    if let Some(file) = arguments.get("json") {
        let growth: Vec<Value> = growth
            .iter()
            .map(|(name, dim, e)| json!({ "method": name, "dim": dim, "exponent": e }))
            .collect();
        let rows: Vec<Value> = points.iter().map(Point::json).collect();
        let all = json!({ "eps": EPS, "tolerance": TOLERANCE, "points": rows, "growth": growth });
        save(file, &format!("{all:#}\n"))?;
    }
    if let Some(file) = arguments.get("svg") {
        save(file, &chart::svg(&points))?;
    }
    Ok(())
}

fn save(file: &str, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("{file} cannot be written: {error}"))
}

/// Every line of the chart: who, and in how many dimensions, each once.
fn lines(points: &[Point]) -> Vec<(String, usize)> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for point in points {
        let line = (point.method.clone(), point.dim);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// How the time of an iteration, or of the whole from coarse to fine, grows, where there are two large sizes or more.
fn growth(points: &[Point]) -> Vec<(String, usize, f64)> {
    let of = |(method, dim): (String, usize)| {
        let large = points.iter().filter(|p| p.method == method && p.dim == dim && p.n >= LARGE);
        let each = goes_over_all_pairs(&method);
        let taken = |p: &Point| if each { p.seconds_per_iteration() } else { p.seconds };
        let pairs: Vec<(f64, f64)> = large.map(|p| (p.n as f64, taken(p))).collect();
        exponent(&pairs).map(|exponent| (method, dim, exponent))
    };
    lines(points).into_iter().filter_map(of).collect()
}
