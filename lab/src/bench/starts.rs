//! `lab bench starts`: how long the rotations of leading coordinates by third moments take, on one thread.

use std::time::Instant;

use concord::geometry::Dense;
use concord::geometry::skew::{COARSE, FINE, MOST, Moments};
use concord::rng::Rng;
use concord::watch::{NoWatch, unwatched};

use crate::arguments::Arguments;

/// `lab bench starts [--points N]`: moments of both sides and both ladders.
pub fn starts(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &["points"], &[])?;
    let points = arguments.number("points", 2400)? as usize;
    let side = |seed: u64| {
        let mut rng = Rng::new(seed);
        Dense::from_fn(points, 64, |_, j| {
            rng.uniform(0.0, 1.0).powi(2 + j as i32 % 4) / (1.0 + 0.1 * j as f32)
        })
    };
    let begun = Instant::now();
    let moments = |side: &Dense| unwatched(Moments::new(side, MOST, &mut NoWatch)).map_err(|e| e.to_string());
    let (x, y) = (moments(&side(1))?, moments(&side(2))?);
    println!("moments of {points} points a side: {:.2} s", begun.elapsed().as_secs_f64());
    for (name, ladder) in [("fine", FINE), ("coarse", COARSE)] {
        let begun = Instant::now();
        let found = unwatched(ladder.search(&x, &y, 1, &mut NoWatch)).map_err(|error| error.to_string())?;
        let best = found.first().map_or(f32::NAN, |one| one.objective);
        println!("the {name} ladder: {:.2} s, best {best:.4}", begun.elapsed().as_secs_f64());
    }
    Ok(())
}
