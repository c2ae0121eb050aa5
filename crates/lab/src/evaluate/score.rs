//! An alignment against the truth.

use align::geometry::distance::halved;
use align::geometry::nearest::SearchChoice;
use align::geometry::panel::Measure;
use align::metrics::readout::{Partners, Readout};
use align::metrics::report::{Report, Truth, UNKNOWN, Within};
use align::metrics::truth::label_transfer_of_plan;
use align::procedure::Coupling;
use align::scale::NoWatch;
use pollster::block_on;

use super::calibration::{Reliability, confidence, no_partner, no_partner_auc};
use super::case::Case;

/// Neighbours that vote on a label.
const VOTES: usize = 5;

/// What a plan is worth. What cannot be known of a case is none.
pub struct Score {
    pub gw_loss: f64,
    pub null_gw_loss: f64,
    /// Over the pairs that score, from X and from Y.
    pub foscttm: Option<[f64; 2]>,
    /// Over the rows whose kind the other side has.
    pub label_transfer: Option<[f64; 2]>,
    pub exact: Option<f64>,
    pub no_partner_auc: [Option<f64>; 2],
    pub reliability: Option<Reliability>,
}

/// Scores a plan between all points of a case.
pub fn score(case: &Case, coupling: &Coupling, measure: Measure) -> Result<Score, String> {
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
        let report = Report::new(&coupling.plan, &readout, &within, Some(&truth), &mut NoWatch).await?;
        Ok((readout, report))
    };
    let (readout, report) =
        block_on(reported).map_err(|cancelled: align::scale::Cancelled| cancelled.to_string())?;
    let known = report.known.as_ref().filter(|_| !case.pairs.is_empty());
    let matches: Vec<Option<usize>> = (0..lx.len()).map(|row| readout.partners[0].strongest(row)).collect();
    let alone = |side: usize| no_partner_auc(&no_partner(coupling, &readout, side), &case.partnered[side]);
    Ok(Score {
        gw_loss: report.gw_loss.value,
        null_gw_loss: report.gw_loss.null,
        foscttm: known.map(|known| known.foscttm.map(|figure| figure.value)),
        label_transfer: case.labelled.then(|| [0, 1].map(|side| transferred(case, &readout.partners, side))),
        exact: known.map(|known| known.exact.value),
        no_partner_auc: [alone(0), alone(1)],
        reliability: Reliability::new(case, &confidence(coupling, &readout), &matches),
    })
}

/// The share of a side's rows that get their label by the vote of their partners. Rows that guide are not asked, nor are
/// those whose kind the other side does not have: they cannot be right. All labels vote.
fn transferred(case: &Case, partners: &[Partners; 2], side: usize) -> f64 {
    let [own, other] = [&case.labels[side], &case.labels[1 - side]];
    let asked: Vec<u32> = own
        .iter()
        .zip(&case.given[side])
        .map(|(label, given)| if *given || !other.contains(label) { UNKNOWN } else { *label })
        .collect();
    label_transfer_of_plan(&partners[side], &asked, other, VOTES)
}
