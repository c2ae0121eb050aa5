//! Two data sets and a plan between them: what is looked at and taken away, whether it was trained on these rows or applied
//! to new ones.

use super::labels::Coded;
use super::rows::Rows;
use align::geometry::Dense;
use align::geometry::distance::halved;
use align::metrics::exactness::Exactness;
use align::metrics::readout::Readout;
use align::metrics::report::{Report, Truth, UNKNOWN, Within};
use align::metrics::retained::Retained;
use align::procedure::{Control, Coupling, Failure, Settings, Sides, Watching};
use align::scale::Matching;

/// Neighbours that vote on a label.
pub(super) const VOTES: usize = 5;

/// Both data sets, and how they were aligned.
pub struct Subject {
    pub sides: Sides,
    pub rows: [Rows; 2],
    /// True pairs, for scoring only.
    pub truth: Vec<(usize, usize)>,
    pub settings: Settings,
}

/// A plan between them, and what was read off it.
pub struct Looked {
    pub coupling: Coupling,
    pub readout: Readout,
    pub report: Report,
    /// How the plan compares with the exact one, where it was found on a shorter way.
    pub exactness: Option<Exactness>,
    /// Distances within the rows that the report is about.
    pub distances: [Dense; 2],
}

impl Subject {
    /// Reads a plan. What that takes is in proportion to the plan, so it can be watched and given up.
    pub async fn look(&self, coupling: Coupling, control: &mut impl Control) -> Result<Looked, Failure> {
        let Self { sides, truth, .. } = self;
        let plan = &coupling.plan;
        let watch = &mut Watching::new(control, "reading the plan");
        let readout = Readout::new(plan, self.there(&coupling), watch).await?;
        let measure = self.settings.panel(sides)[0];
        // Figures over all pairs of pairs: on all rows, up to 2000 a side.
        let judged = sides.judged(0);
        let search = self.settings.neighbours;
        let watch = &mut Watching::new(control, "measuring distances");
        let distances = [
            sides.within(0, measure.x, &judged[0], search, watch).await?,
            sides.within(1, measure.y, &judged[1], search, watch).await?,
        ];
        let [dx, dy] = distances.each_ref().map(halved);
        let known = |code: f32| if code < 0.0 { UNKNOWN } else { code as u32 };
        let codes = self.coded().codes.map(|codes| codes.into_iter().map(known).collect::<Vec<u32>>());
        let known = Truth { pairs: truth, labels: [&codes[0], &codes[1]], votes: VOTES };
        let within = Within { rows: [&judged[0], &judged[1]], distances: [&dx, &dy] };
        let knows = !truth.is_empty() || self.labelled();
        let watch = &mut Watching::new(control, "taking figures");
        let mut report = Report::new(plan, &readout, &within, knows.then_some(&known), watch).await?;
        if !coupling.relaxation.is_strict() {
            // Points that keep less than their share are no error.
            report.marginal_error.value = coupling.error.into();
        }
        let exactness = match plan {
            Matching::Near { plan, .. } => {
                let watch = &mut Watching::new(control, "checking the plan");
                Some(Exactness::new(plan, &readout.partners, watch).await?)
            }
            Matching::Held(_) | Matching::Computed(_) => None,
        };
        Ok(Looked { coupling, readout, report, exactness, distances })
    }

    /// Where X is compared with Y: among the embeddings of Y or, without any, its features.
    pub fn there<'a>(&'a self, coupling: &'a Coupling) -> &'a Dense {
        coupling.embedded.as_ref().map_or(self.sides.points()[1], |embedded| &embedded[1])
    }

    /// Whether both sides have labels.
    pub fn labelled(&self) -> bool {
        self.rows.iter().all(|rows| rows.labels.is_some())
    }

    /// Labels of both sides under one numbering.
    pub fn coded(&self) -> Coded {
        let [x, y] = self.sides.points();
        Coded::new(&self.rows, [x.rows(), y.rows()])
    }
}

impl Looked {
    /// How sure each row of a side is of its match, as new fits tell; empty where none were made.
    pub fn confidence(&self, side: usize) -> Vec<f32> {
        self.coupling.confidence.as_ref().map(|both| both[side].clone()).unwrap_or_default()
    }

    /// The share of each row's mass that its match gets.
    pub fn share(&self, side: usize) -> Vec<f32> {
        self.readout.share(side)
    }

    /// The typical confidence of the rows of X that have a partner; none where it was not measured.
    pub fn stability(&self) -> Option<f32> {
        let [confidence, _] = self.coupling.confidence.as_ref()?;
        stability(confidence, self.coupling.retained.as_ref().map(|[x, _]| x))
    }
}

/// The median confidence of the rows that have a partner.
fn stability(confidence: &[f32], retained: Option<&Retained>) -> Option<f32> {
    let partnered = |row: usize| retained.is_none_or(|retained| !retained.alone(row));
    let rows = confidence.iter().enumerate().filter(|(row, _)| partnered(*row));
    let mut sure: Vec<f32> = rows.map(|(_, sure)| *sure).collect();
    let middle = sure.len() / 2;
    if sure.is_empty() { None } else { Some(*sure.select_nth_unstable_by(middle, f32::total_cmp).1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use align::geometry::nearest::{Neighbours, Search};
    use align::metrics::retained::AVERAGED;
    use align::scale::{NoWatch, unwatched};

    #[test]
    fn rows_without_a_partner_do_not_count_for_the_typical_confidence() {
        // Forty rows far from sixty others keep little.
        let points = Dense::from_fn(100, 1, |i, _| if i < 40 { 50.0 } else { 0.0 } + 0.01 * i as f32);
        let watch = &mut NoWatch;
        let found = Neighbours::find(&points, AVERAGED - 1, Search::Exact, watch);
        let near = unwatched(found).expect("nobody cancels");
        let sums: Vec<f64> = (0..100).map(|i| if i < 40 { 0.002 } else { 0.015 }).collect();
        let retained = Retained::new(&sums, &near);
        assert_eq!(retained.count(), 40);
        let sure: Vec<f32> = (0..100)
            .map(|i| match i {
                0..40 => 0.0,
                40..60 => 0.4,
                _ => 0.8,
            })
            .collect();
        assert_eq!(stability(&sure, Some(&retained)), Some(0.8));
        assert_eq!(stability(&sure, None), Some(0.4), "where all rows have partners, all count");
        assert_eq!(stability(&[], None), None);
    }
}
