//! The search for rotations of leading coordinates by third moments, timed part by part. The same natively and in a
//! browser, which has another clock.

use align::geometry::Dense;
use align::geometry::skew::{COARSE, FINE, MOST, Moments};
use align::watch::{Cancelled, NoWatch};
use compute::rng::Rng;

/// Times the moments of both sides and both ladders, between so many points a side, with a clock of seconds.
pub(crate) async fn ladders(
    points: usize,
    now: impl Fn() -> f64,
    mut tell: impl FnMut(String),
) -> Result<(), Cancelled> {
    let side = |seed: u64| {
        let mut rng = Rng::new(seed);
        Dense::from_fn(points, 64, |_, j| {
            rng.uniform(0.0, 1.0).powi(2 + j as i32 % 4) / (1.0 + 0.1 * j as f32)
        })
    };
    let begun = now();
    let x = Moments::new(&side(1), MOST, &mut NoWatch).await?;
    let y = Moments::new(&side(2), MOST, &mut NoWatch).await?;
    tell(format!("moments of {points} points a side: {:.2} s", now() - begun));
    for (name, ladder) in [("fine", FINE), ("coarse", COARSE)] {
        let begun = now();
        let found = ladder.search(&x, &y, 1, &mut NoWatch).await?;
        let best = found.first().map_or(f32::NAN, |one| one.objective);
        tell(format!("the {name} ladder: {:.2} s, best {best:.4}", now() - begun));
    }
    Ok(())
}
