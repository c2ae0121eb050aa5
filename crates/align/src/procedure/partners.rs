//! Which points have no partner: a second transport, relaxed further than the one that matches, says what each keeps of
//! its weight.

use super::control::{Control, Failure, Watching};
use super::embedding::embed;
use super::reached::Marked;
use super::transport::{Coupling, Way, transport, transport_by};
use super::{Relaxation, Settings};
use crate::geometry::Dense;
use crate::geometry::nearest::{Neighbours, Search};
use crate::metrics::retained::{AVERAGED, Retained};
use crate::solver::infer::Encoders;
use compute::exec::Device;

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
    // Without encoders points have no place in a common space.
    if let (false, Some([x, y])) = (settings.relaxation.is_strict(), &coupling.embedded) {
        let there = Encoders::Embedded { dim: encoders.outputs() as u32, cost: encoders.cost() };
        let found = retained(device, &there, [x, y], coupling.way, settings, control).await?;
        coupling.retained = Some(found);
    }
    Ok(coupling)
}

/// The rows that keep their mass under encoders, so that they have a partner, whatever the settings say of the last
/// transport. For no more points than a plan is held for.
pub(super) async fn partnered(
    device: &Device,
    encoders: &Encoders,
    points: [&Dense; 2],
    settings: &Settings,
    control: &mut impl Control,
) -> Result<[Vec<usize>; 2], Failure> {
    let there = Encoders::Embedded { dim: encoders.outputs() as u32, cost: encoders.cost() };
    let x = embed(device, encoders, 0, points[0], control).await?;
    let y = embed(device, encoders, 1, points[1], control).await?;
    let relaxed = Settings { relaxation: Relaxation::both(super::TELLING), ..settings.clone() };
    let kept = retained(device, &there, [&x, &y], Way::Held, &relaxed, control).await?;
    Ok([0, 1].map(|side| (0..points[side].rows()).filter(|&row| !kept[side].alone(row)).collect()))
}

/// What embedded points of both sides keep of their weight.
pub(super) async fn retained(
    device: &Device,
    there: &Encoders,
    points: [&Dense; 2],
    way: Way,
    settings: &Settings,
    control: &mut impl Control,
) -> Result<[Retained; 2], Failure> {
    let relaxation = settings.telling();
    let control = &mut Marked::part(control, "partners");
    let relaxed = transport_by(way, device, there, points, settings.eps, relaxation, control).await?;
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
    Ok([0, 1].map(|side| Retained::new(&sums[side], &near[side])))
}
