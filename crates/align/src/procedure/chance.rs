//! What data without any relation would score: candidates are the best of many, and the best of many fits unrelated data
//! as well. A score means something only beside this.

use super::control::{Control, Failure, Quiet, Watching};
use super::selection::Scorer;
use super::{EncoderChoice, Settings, Sides, Start, linear};
use crate::geometry::Dense;
use crate::geometry::panel::{Distance, Measure};
use crate::watch::Watch;
use compute::exec::Device;
use compute::rng::Rng;

/// Rows a side that this is found out on. With fewer, chance scores higher.
pub const ROWS: usize = 1000;

/// The rank agreement that the same search reaches when one side keeps its columns, but each of them in another order of
/// rows: the same shape, and nothing left of what belongs together. None where there are no columns to take apart, and
/// where somebody wants the run to end.
pub async fn chance(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    control: &mut impl Control,
) -> Result<Option<f64>, Failure> {
    let taken_apart = match sides.dims() {
        _ if settings.panel(sides).contains(&Measure::same(Distance::Given)) => return Ok(None),
        [_, y] if y > 1 => 1,
        [x, _] if x > 1 => 0,
        _ => return Ok(None),
    };
    if control.finish() {
        return Ok(None);
    }
    let quiet = &mut Quiet::new(control, PHASE, CHECKPOINTS);
    let watch = &mut Watching::new(quiet, PHASE);
    let Some(unrelated) = unrelated(sides, taken_apart, settings.seed, watch).await? else { return Ok(None) };
    let search = Settings {
        encoder: EncoderChoice::Linear,
        starts: vec![Start::Fused, Start::Noise],
        more_starts: 0,
        refined: 1,
        ..settings.clone()
    };
    let scorer = Scorer::new(&unrelated, &search, quiet).await?;
    let mut maps = linear::Search::new(device, &unrelated, &search, &scorer);
    maps.start(quiet).await?;
    let found = maps.finish(quiet).await?;
    Ok(found.iter().map(super::Candidate::rank_agreement).max_by(f64::total_cmp))
}

/// Some rows of both sides, the columns of one of them taken apart; none if they cannot be aligned, because then there is no
/// chance to be compared with.
async fn unrelated(
    sides: &Sides,
    taken_apart: usize,
    seed: u64,
    watch: &mut impl Watch,
) -> Result<Option<Sides>, Failure> {
    let mut rng = Rng::new(seed ^ 0x6368_616e);
    let mut points = sides.points().map(|side| side.picked(&rng.sample(side.rows(), ROWS)));
    points[taken_apart] = disordered(&points[taken_apart], &mut rng);
    let [x, y] = points;
    match Sides::watched(x, y, watch).await {
        Ok(unrelated) => Ok(Some(unrelated)),
        Err(Failure::Cancelled) => Err(Failure::Cancelled),
        Err(_) => Ok(None),
    }
}

/// The same columns, each in an order of its own.
fn disordered(points: &Dense, rng: &mut Rng) -> Dense {
    let orders: Vec<Vec<usize>> =
        (0..points.cols()).map(|_| rng.sample(points.rows(), points.rows())).collect();
    Dense::from_fn(points.rows(), points.cols(), |i, j| points.at(orders[j][i], j))
}

/// What all of it is called, and checkpoints, about, that it takes.
const PHASE: &str = "comparing with chance";
const CHECKPOINTS: u32 = 40;

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::procedure::NoControl;
    use pollster::block_on;

    #[test]
    fn columns_stay_and_rows_fall_apart() {
        let points = Dense::from_fn(50, 3, |i, j| (i * (j + 1)) as f32);
        let apart = disordered(&points, &mut Rng::new(1));
        let column = |dense: &Dense, j: usize| {
            let mut column: Vec<f32> = (0..50).map(|i| dense.at(i, j)).collect();
            column.sort_by(f32::total_cmp);
            column
        };
        assert!((0..3).all(|j| column(&points, j) == column(&apart, j)));
        let whole = (0..50).filter(|&i| 2.0 * apart.at(i, 0) == apart.at(i, 1)).count();
        assert!(whole < 10, "{whole} rows are still whole");
    }

    #[test]
    fn taking_many_columns_apart_is_looked_at() {
        let side = |seed| Dense::new(900, 300, Rng::new(seed).fill(270_000, -1.0, 1.0));
        let sides = Sides::new(side(1), side(2)).expect("usable");
        let looks = crate::watch::Count::looks(async |watch| {
            unrelated(&sides, 1, 7, watch).await.map(|found| found.is_some())
        });
        assert!(looks >= 8 + 6, "{looks} looks: every preparation of either side, and its axes");
    }

    /// Unrelated clouds score what chance scores; a cloud and its turned copy far more.
    #[test]
    fn chance_tells_noise_from_structure() {
        let noise = |seed: u64| {
            let mut rng = Rng::new(seed);
            Dense::from_fn(150, 8, |_, _| (0..6).map(|_| rng.uniform(-1.0, 1.0)).sum())
        };
        let bent = |turn: f32| {
            let mut rng = Rng::new(3);
            Dense::from_fn(150, 1, |_, _| rng.uniform(0.0, 6.0))
                .data()
                .iter()
                .flat_map(|t| {
                    [t.cos() + 0.3 * t, (t + turn).sin(), 0.2 * t * t, (2.0 * t).cos(), t + turn, 1.0]
                })
                .collect::<Vec<f32>>()
        };
        let bent = |turn: f32| Dense::new(150, 6, bent(turn));
        let settings = Settings { encoder: EncoderChoice::Linear, ..Settings::default() };
        let beside = |x: Dense, y: Dense| {
            let sides = Sides::new(x, y).expect("usable");
            let device = Device::Cpu;
            let found = block_on(crate::procedure::align(&device, &sides, &settings, &mut NoControl));
            let chance = block_on(chance(&device, &sides, &settings, &mut NoControl));
            (found.expect("aligns").best().rank_agreement(), chance.expect("searches").expect("has columns"))
        };
        let (score, by_chance) = beside(noise(1), noise(2));
        eprintln!("noise {score:.3} beside {by_chance:.3}");
        assert!((score - by_chance).abs() < 0.08, "noise: {score} beside {by_chance}");
        let (score, by_chance) = beside(bent(0.0), bent(0.4));
        eprintln!("structure {score:.3} beside {by_chance:.3}");
        assert!(score > by_chance + 0.15, "structure: {score} beside {by_chance}");
        let line = |seed| Dense::new(40, 1, Rng::new(seed).fill(40, 0.0, 1.0));
        let sides = Sides::new(line(1), line(2)).expect("usable");
        assert_eq!(block_on(chance(&Device::Cpu, &sides, &settings, &mut NoControl)).expect("ends"), None);
    }
}
