//! An alignment against the truth.

use concord::geometry::Dense;
use concord::geometry::panel::Measure;
use concord::metrics::plan::{gw_loss, independent};
use concord::metrics::truth::{BothWays, exact_matches, foscttm_of_plan, label_transfer_of_plan};
use concord::procedure::Coupling;

use super::data::{Case, picked};

/// Neighbours that vote on a label.
const VOTES: usize = 5;

pub struct Score {
    pub foscttm: BothWays,
    pub labels: BothWays,
    pub exact: f64,
    pub gw_loss: f64,
    pub null_gw_loss: f64,
}

/// Scores a plan between all points of a case.
pub fn score(case: &Case, coupling: &Coupling, measure: Measure) -> Score {
    let plan = &coupling.plan;
    let back = Dense::from_fn(plan.cols(), plan.rows(), |i, j| plan.at(j, i));
    let [lx, ly] = &case.labels;
    // Figures over all pairs of pairs: on all rows, up to 2000 a side.
    let [rows_x, rows_y] = case.sides.judged(0);
    let [x, y] = case.sides.points();
    let (dx, dy) =
        (halved(measure.x.matrix(&picked(x, &rows_x))), halved(measure.y.matrix(&picked(y, &rows_y))));
    let part = Dense::from_fn(rows_x.len(), rows_y.len(), |i, j| plan.at(rows_x[i], rows_y[j]));
    let mass: f32 = part.data().iter().sum();
    let part = Dense::from_fn(part.rows(), part.cols(), |i, j| part.at(i, j) / mass);
    Score {
        foscttm: foscttm_of_plan(plan, &case.pairs),
        labels: BothWays {
            xy: label_transfer_of_plan(plan, lx, ly, VOTES),
            yx: label_transfer_of_plan(&back, ly, lx, VOTES),
        },
        exact: exact_matches(&coupling.matches(), &case.pairs),
        gw_loss: gw_loss(&dx, &dy, &part),
        null_gw_loss: gw_loss(&dx, &dy, &independent(&part)),
    }
}

/// Distances scaled so that their mean is ½.
fn halved(distances: Dense) -> Dense {
    let mean = distances.data().iter().map(|&v| f64::from(v)).sum::<f64>() / distances.data().len() as f64;
    let scale = if mean > 0.0 { (0.5 / mean) as f32 } else { 0.0 };
    Dense::from_fn(distances.rows(), distances.cols(), |i, j| scale * distances.at(i, j))
}
