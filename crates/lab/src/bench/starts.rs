//! `lab bench starts`: how long the rotations of leading coordinates by third moments take, on one thread.

use std::time::Instant;

use align::watch::unwatched;

use super::ladders::ladders;
use crate::arguments::Arguments;

/// `lab bench starts [--points N]`: moments of both sides and both ladders.
pub fn starts(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &["points"], &[])?;
    let points = arguments.number("points", 2400)? as usize;
    let begun = Instant::now();
    let timed = ladders(points, || begun.elapsed().as_secs_f64(), |line| println!("{line}"));
    unwatched(timed).map_err(|error| error.to_string())
}
