//! Whether there is memory for what is about to be made: asked before anything is allocated.

use formats::{Kind, Step, Trouble};

use super::estimate::{Machine, Size, estimate};
use align::geometry::spectral::MOST_AXES;
use align::procedure::{EncoderChoice, Settings};
use align::solver::align::AlignSettings;

/// The most a single table may take: a tab has four gigabytes at best, and the solver needs some of it.
pub const TABLE: u64 = 1200 << 20;

/// The memory of a tab, and how much of it is taken by what lies there already.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub memory: u64,
    pub held: u64,
}

impl Room {
    /// Refuses a table that is too large, or that has no place beside what lies there.
    pub fn table(&self, bytes: u64) -> Result<(), Trouble> {
        if bytes > TABLE {
            return Err(Trouble::new(
                Kind::TooLarge,
                format!(
                    "This needs {} MB of memory; a browser tab has room for {} MB of data.",
                    bytes >> 20,
                    TABLE >> 20
                ),
                "Take fewer rows or columns, or reduce the columns first (for example by PCA to 50).",
            ));
        }
        self.beside(bytes)
    }

    /// Refuses to prepare a table of this size for which there is a place, but not for what is made of it.
    pub fn preparing(&self, rows: usize, cols: usize, steps: &[Step]) -> Result<(), Trouble> {
        self.beside(preparing(rows as u64, cols as u64, steps))
    }

    fn beside(&self, bytes: u64) -> Result<(), Trouble> {
        if self.held.saturating_add(bytes) <= self.memory {
            return Ok(());
        }
        Err(Trouble::new(
            Kind::TooLarge,
            format!(
                "This needs {} MB of memory; of the {} MB that there are here, {} MB are taken by what is loaded already.",
                bytes >> 20,
                self.memory >> 20,
                self.held >> 20
            ),
            "Remove a data set that you no longer need, or take fewer rows or columns.",
        ))
    }
}

/// Bytes that are held at the worst moment while a table of this size is prepared: it, and what is made of it.
fn preparing(rows: u64, cols: u64, steps: &[Step]) -> u64 {
    let copy = rows.saturating_mul(cols).saturating_mul(4);
    let axes = rows.saturating_mul(cols.min(MOST_AXES as u64)).saturating_mul(4);
    let more = steps.iter().map(|step| match step {
        // The points before and after.
        Step::Log1pNormalise | Step::SqrtShares | Step::ZScore => copy,
        // The points as they were and centred, and their places along the axes.
        Step::Pca(_) => copy.saturating_add(axes),
        Step::UseAsDistances | Step::Transpose => 0,
    });
    copy.saturating_mul(2).saturating_add(more.max().unwrap_or(0))
}

/// Why encoders that were trained before cannot match rows of this number, which they put into `dim` dimensions.
pub fn matching(size: &Size, dim: usize, machine: &Machine) -> Option<String> {
    // Nothing is trained: what counts are the tables and the plan.
    let train = AlignSettings { hidden: 1, embedding: dim as u32, ..AlignSettings::default() };
    let settings = Settings { encoder: EncoderChoice::Networks, sample: 1, train, ..Settings::default() };
    estimate(size, &settings, machine).refusal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Pace;
    use schema::ExecutorKind;

    #[test]
    fn rows_that_are_only_matched_are_refused_with_what_would_fit() {
        let pace = Pace { product: 0.0, host: 0.0, entry: 0.0, dispatch: 0.0, correction: 1.0 };
        let refused = |rows: usize, cols: usize, dim: usize, memory: u64| {
            let machine = Machine { executor: ExecutorKind::Cpu, pace, buffer: 1 << 34, memory };
            matching(&Size { rows: [rows; 2], cols: [cols; 2], measures: 3 }, dim, &machine)
        };
        assert_eq!(refused(90, 5, 4, 64 * MB), None);
        // Many columns, but few dimensions to be compared in.
        assert_eq!(refused(30_000, 2000, 16, 3584 * MB), None);
        let why = refused(400_000, 20, 20, 768 * MB).expect("more than there is");
        assert!(why.contains("GB of memory") && why.contains("rows a side would fit"), "{why}");
    }

    const MB: u64 = 1 << 20;

    #[test]
    fn what_lies_there_already_counts() {
        let refused = |room: Room, megabytes: u64| room.table(megabytes * MB).err().map(|t| t.to_string());
        let empty = Room { memory: 3584 * MB, held: 0 };
        assert_eq!(refused(empty, 1200), None);
        assert!(refused(empty, 1201).is_some_and(|why| why.contains("1201 MB") && why.contains("1200 MB")));
        let full = Room { held: 2900 * MB, ..empty };
        assert_eq!(refused(full, 600), None);
        let why = refused(full, 900).expect("no place");
        assert!(why.contains("900 MB") && why.contains("3584 MB") && why.contains("2900 MB"), "{why}");
        // As on a small phone.
        assert!(refused(Room { memory: 512 * MB, held: 0 }, 600).is_some());
    }

    /// A table of 1000 MB, beside an empty desk and beside another such table.
    #[test]
    fn copies_are_counted_before_they_are_made() {
        let (rows, cols) = (131_072, 2000);
        let fits = |held: u64, steps: &[Step]| {
            Room { memory: 3584 * MB, held: held * MB }.preparing(rows, cols, steps).is_ok()
        };
        assert!(fits(0, &[]) && fits(1500, &[]) && !fits(1600, &[]), "it and its points");
        assert!(fits(500, &[Step::ZScore]) && !fits(600, &[Step::ZScore]), "and the points before");
        assert!(fits(400, &[Step::Pca(20)]) && !fits(500, &[Step::ZScore, Step::Pca(20)]), "and the axes");
        let none = Room { memory: u64::MAX - 1, held: 0 };
        assert!(none.preparing(usize::MAX, usize::MAX, &[Step::ZScore]).is_err(), "no number is too large");
    }
}
