//! An alignment against the truth.

use concord::geometry::Dense;
use concord::geometry::features::Preparation;
use concord::geometry::normalise::Normalisation;
use concord::geometry::panel::{Measure, POSITIONS};
use concord::metrics::plan::{barycentric, gw_loss, independent};
use concord::metrics::truth::{exact_matches, foscttm, label_transfer};
use concord::procedure::{Coupling, Sides};

use super::data::{Case, picked};

/// Neighbours that vote on a label.
const VOTES: usize = 5;

pub struct Score {
    /// FOSCTTM and label transfer of x carried over to y's space, and of y carried over to x's.
    pub foscttm: [f64; 2],
    pub labels: [f64; 2],
    pub exact: f64,
    pub gw_loss: f64,
    pub null_gw_loss: f64,
}

/// Scores a plan between all points of a case; projections are compared in the coordinates of `preparations`.
pub fn score(case: &Case, coupling: &Coupling, preparations: [Preparation; 2], measure: Measure) -> Score {
    let plan = &coupling.plan;
    let back = Dense::from_fn(plan.cols(), plan.rows(), |i, j| plan.at(j, i));
    let [x, y] = views(&case.sides, preparations);
    let (x_there, y_there) = (barycentric(plan, &y), barycentric(&back, &x));
    let there = foscttm(&x_there, &y, &case.pairs);
    let here = foscttm(&x, &y_there, &case.pairs);
    let [lx, ly] = &case.labels;
    // Figures over all pairs of pairs: on all rows, up to 2000 a side.
    let [rows_x, rows_y] = case.sides.judged(0);
    let [px, py] = case.sides.points();
    let (dx, dy) =
        (halved(measure.x.matrix(&picked(px, &rows_x))), halved(measure.y.matrix(&picked(py, &rows_y))));
    let part = Dense::from_fn(rows_x.len(), rows_y.len(), |i, j| plan.at(rows_x[i], rows_y[j]));
    let mass: f32 = part.data().iter().sum();
    let part = Dense::from_fn(part.rows(), part.cols(), |i, j| part.at(i, j) / mass);
    Score {
        foscttm: [(there.xy + there.yx) / 2.0, (here.xy + here.yx) / 2.0],
        labels: [label_transfer(&x_there, lx, &y, ly, VOTES), label_transfer(&y_there, ly, &x, lx, VOTES)],
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

/// Both sides in the coordinates the encoders saw them in: rows of length 1 for profiles, positions as they are.
fn views(sides: &Sides, preparations: [Preparation; 2]) -> [Dense; 2] {
    [0, 1].map(|side| {
        let mut points = sides.points()[side].clone();
        let profile = match preparations[side] {
            Preparation::Unit => true,
            Preparation::Linear => points.cols() > POSITIONS,
            Preparation::Plain | Preparation::Standardised => false,
        };
        if profile {
            Normalisation::L2Rows.apply(&mut points);
        }
        points
    })
}
