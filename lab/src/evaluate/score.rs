//! An alignment against the truth.

use concord::geometry::distance::halved;
use concord::geometry::panel::Measure;
use concord::metrics::report::{Report, Truth, Within};
use concord::procedure::Coupling;
use concord::solver::sinkhorn::uniform;

use super::data::Case;

/// Neighbours that vote on a label.
const VOTES: usize = 5;

/// Scores a plan between all points of a case.
pub fn score(case: &Case, coupling: &Coupling, measure: Measure) -> Result<Report, String> {
    // Figures over all pairs of pairs: on all rows, up to 2000 a side.
    let rows = case.sides.judged(0);
    let [x, y] = case.sides.points();
    let within = |side: usize, distance| {
        let distances = case.sides.within(side, distance, &rows[side]);
        distances.map(|distances| halved(&distances)).map_err(|error| error.to_string())
    };
    let (dx, dy) = (within(0, measure.x)?, within(1, measure.y)?);
    let [a, b] = [x, y].map(|side| uniform(side.rows() as u32));
    let within = Within { rows: [&rows[0], &rows[1]], distances: [&dx, &dy] };
    let [lx, ly] = &case.labels;
    let truth = Truth { pairs: &case.pairs, labels: [lx, ly], votes: VOTES };
    Ok(Report::new(&coupling.plan, [&a, &b], &within, Some(&truth)))
}
