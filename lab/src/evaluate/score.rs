//! An alignment against the truth.

use concord::geometry::distance::halved;
use concord::geometry::nearest::SearchChoice;
use concord::geometry::panel::Measure;
use concord::metrics::readout::Readout;
use concord::metrics::report::{Report, Truth, Within};
use concord::procedure::Coupling;
use concord::scale::NoWatch;
use pollster::block_on;

use super::data::Case;

/// Neighbours that vote on a label.
const VOTES: usize = 5;

/// Scores a plan between all points of a case.
pub fn score(case: &Case, coupling: &Coupling, measure: Measure) -> Result<Report, String> {
    // Figures over all pairs of pairs: on all rows, up to 2000 a side.
    let rows = case.sides.judged(0);
    let within = |side: usize, distance| {
        let distances =
            block_on(case.sides.within(side, distance, &rows[side], SearchChoice::Auto, &mut NoWatch));
        distances.map(|distances| halved(&distances)).map_err(|error| error.to_string())
    };
    let (dx, dy) = (within(0, measure.x)?, within(1, measure.y)?);
    let within = Within { rows: [&rows[0], &rows[1]], distances: [&dx, &dy] };
    let [lx, ly] = &case.labels;
    let truth = Truth { pairs: &case.pairs, labels: [lx, ly], votes: VOTES };
    let there = coupling.embedded.as_ref().map_or(case.sides.points()[1], |embedded| &embedded[1]);
    let reported = async {
        let readout = Readout::new(&coupling.plan, there, &mut NoWatch).await?;
        Report::new(&coupling.plan, &readout, &within, Some(&truth), &mut NoWatch).await
    };
    block_on(reported).map_err(|cancelled| cancelled.to_string())
}
