//! Which points have no partner: a second transport, relaxed further than the one that matches, says what each keeps of
//! its weight.

use super::control::{Control, Failure, Watching};
use super::reached::Marked;
use super::transport::{Coupling, transport, transport_by};
use super::{Relaxation, Settings};
use crate::exec::Device;
use crate::geometry::Dense;
use crate::geometry::nearest::{Neighbours, Search};
use crate::metrics::retained::{AVERAGED, Retained};
use crate::solver::infer::Encoders;

/// λ of this transport: it tells points without a partner from others best.
const TELLING: f32 = 0.2;

/// Embeds the points, solves the transport between them, and finds out which of them have no partner. Where the settings
/// ask for strict marginals, every row is matched in full, and nothing is looked for.
pub async fn matched(
    device: &Device,
    encoders: &Encoders,
    points: [&Dense; 2],
    settings: &Settings,
    relaxation: Relaxation,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    let mut coupling = transport(device, encoders, points, settings.eps, relaxation, control).await?;
    if !settings.relaxation.is_strict() {
        coupling.retained = retained(device, encoders, &coupling, settings, control).await?;
    }
    Ok(coupling)
}

/// What the points of both sides keep of their weight; none where they have no place in a common space.
async fn retained(
    device: &Device,
    encoders: &Encoders,
    coupling: &Coupling,
    settings: &Settings,
    control: &mut impl Control,
) -> Result<Option<[Retained; 2]>, Failure> {
    let Some(both) = &coupling.embedded else { return Ok(None) };
    let there = Encoders::Embedded { dim: encoders.outputs() as u32, cost: encoders.cost() };
    let telling = |lambda: Option<f32>| lambda.map(|_| TELLING);
    let relaxation = Relaxation { x: telling(settings.relaxation.x), y: telling(settings.relaxation.y) };
    let control = &mut Marked::part(control, "partners");
    let points = [&both[0], &both[1]];
    let relaxed =
        transport_by(coupling.way, device, &there, points, settings.eps, relaxation, control).await?;
    let mut sums = points.map(|side| vec![0.0; side.rows()]);
    let watch = &mut Watching::new(control, "reading the plan");
    relaxed
        .plan
        .visit(watch, |tile| {
            for (row, masses) in tile.rows.iter().zip(tile.mass.chunks_exact(tile.cols.len().max(1))) {
                sums[0][*row as usize] += masses.iter().map(|mass| f64::from(*mass)).sum::<f64>();
                for (col, mass) in tile.cols.iter().zip(masses) {
                    sums[1][*col as usize] += f64::from(*mass);
                }
            }
        })
        .await?;
    let [x, y] = points;
    let near = [
        Neighbours::find(x, AVERAGED - 1, Search::of(x.rows(), settings.seed), watch).await?,
        Neighbours::find(y, AVERAGED - 1, Search::of(y.rows(), settings.seed), watch).await?,
    ];
    Ok(Some([0, 1].map(|side| Retained::new(&sums[side], &near[side]))))
}
