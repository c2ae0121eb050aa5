//! One draw of a data set: which rows take part and in which order, what is given to the solver, and what only the
//! scoring sees.

use align::geometry::Dense;
use align::metrics::report::UNKNOWN;
use align::procedure::Sides;
use compute::rng::Rng;

use super::data::Data;
use super::variant::Variant;

/// How a case is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Draw {
    pub seed: u64,
    /// Rows a side, at most.
    pub most: usize,
    /// True pairs that are given to the solver.
    pub pairs: usize,
    /// The share of labelled rows whose labels may guide.
    pub labels: f64,
    pub variant: Option<Variant>,
}

/// What the procedure sees of a data set, and what only the scoring sees.
pub struct Case {
    pub sides: Sides,
    /// The true pairs that score: neither row was given away.
    pub pairs: Vec<(usize, usize)>,
    /// Whether a row has a partner. None: that is not known, or the row's partner was given away.
    pub partnered: [Vec<Option<bool>>; 2],
    /// The label of every row; [`UNKNOWN`] where it has none.
    pub labels: [Vec<u32>; 2],
    /// Rows whose pair or label guides: they do not score.
    pub given: [Vec<bool>; 2],
    /// Whether both sides have labels.
    pub labelled: bool,
    /// Labels that may guide, [`UNKNOWN`] elsewhere. The solver does not take labels yet; when it does, this is what it is
    /// to be given.
    pub guide: [Vec<u32>; 2],
}

/// Rows that take part: numbers of rows, and points that are in no file.
pub struct Chosen {
    pub rows: [Vec<usize>; 2],
    /// Rows that are added to X and belong to nothing.
    pub foreign: Option<Dense>,
}

impl Data {
    /// Both sides are in orders of their own, so that nothing can be learned from the order.
    pub fn case(&self, draw: &Draw) -> Result<Case, String> {
        let mut rng = Rng::new(draw.seed ^ 0x0065_7661_6c75);
        let Chosen { rows: [ix, iy], foreign } = match draw.variant {
            Some(variant) => variant.rows(self, draw, &mut rng)?,
            None => Chosen { rows: self.rows(draw.most, &mut rng), foreign: None },
        };
        let sizes = self.sizes();
        // A foreign row is numbered beyond those of the file.
        let foreign_rows = foreign.as_ref().map_or(0, Dense::rows);
        let ix: Vec<usize> = ix.into_iter().chain(sizes[0]..sizes[0] + foreign_rows).collect();
        let shuffled = |rows: Vec<usize>, rng: &mut Rng| -> Vec<usize> {
            rng.sample(rows.len(), rows.len()).into_iter().map(|i| rows[i]).collect()
        };
        let rows = [shuffled(ix, &mut rng), shuffled(iy, &mut rng)];
        let sides = self.sides(&rows, foreign.as_ref())?;
        let all = self.paired(&rows);
        let labels = [0, 1].map(|side| self.labels_of(side, &rows[side]));

        // Guidance has a draw of its own: the rows are the same with and without.
        let mut rng = Rng::new(draw.seed ^ 0x0067_7569_6465);
        let drawn = rng.sample(all.len(), draw.pairs);
        if drawn.len() < draw.pairs {
            return Err(format!("--pairs {}: there are {} true pairs", draw.pairs, all.len()));
        }
        let known: Vec<(usize, usize)> = drawn.into_iter().map(|at| all[at]).collect();
        let mut given = rows.each_ref().map(|rows| vec![false; rows.len()]);
        for (i, j) in &known {
            (given[0][*i], given[1][*j]) = (true, true);
        }
        let mut guide = labels.each_ref().map(|labels| vec![UNKNOWN; labels.len()]);
        for side in 0..2 {
            let labelled: Vec<usize> = (0..rows[side].len())
                .filter(|&row| labels[side][row] != UNKNOWN && rows[side][row] < sizes[side])
                .collect();
            let count = (draw.labels * labelled.len() as f64).round() as usize;
            for at in rng.sample(labelled.len(), count) {
                let row = labelled[at];
                (guide[side][row], given[side][row]) = (labels[side][row], true);
            }
        }
        let pairs: Vec<(usize, usize)> =
            all.iter().copied().filter(|(i, j)| !given[0][*i] && !given[1][*j]).collect();
        let mut partnered = rows.each_ref().map(|rows| vec![self.pairs.as_ref().map(|_| false); rows.len()]);
        for (i, j) in &all {
            let counts = (!given[0][*i] && !given[1][*j]).then_some(true);
            (partnered[0][*i], partnered[1][*j]) = (counts, counts);
        }
        let sides = if known.is_empty() { sides } else { sides.knowing(known).map_err(|e| e.to_string())? };
        let labelled = self.labels.iter().all(Option::is_some);
        Ok(Case { sides, pairs, partnered, labels, given, labelled, guide })
    }

    /// At most `most` rows a side. Of a part of the rows as many keep their partners as can; rows without one keep their
    /// share.
    pub fn rows(&self, most: usize, rng: &mut Rng) -> [Vec<usize>; 2] {
        let pairs = self.pairs.as_deref().unwrap_or_default();
        let order = rng.sample(pairs.len(), pairs.len());
        let sizes = self.sizes();
        let largest = sizes[0].max(sizes[1]);
        let paired = if most < largest { pairs.len() * most / largest } else { pairs.len() };
        let paired = if sizes.iter().all(|size| *size == pairs.len()) { most } else { paired };
        [0, 1].map(|side| {
            let of = |p: &usize| if side == 0 { pairs[*p].0 } else { pairs[*p].1 };
            let mut alone = vec![true; sizes[side]];
            order.iter().for_each(|p| alone[of(p)] = false);
            let first = order.iter().take(paired).map(of);
            let mut alone: Vec<usize> = (0..sizes[side]).filter(|i| alone[*i]).collect();
            if most < sizes[side] && !alone.is_empty() {
                alone = rng.sample(alone.len(), alone.len()).into_iter().map(|at| alone[at]).collect();
            }
            let last = order.iter().skip(paired).map(of);
            first.chain(alone).chain(last).take(most).collect()
        })
    }

    /// The true pairs among the chosen rows, as places among them.
    fn paired(&self, rows: &[Vec<usize>; 2]) -> Vec<(usize, usize)> {
        let place = [0, 1].map(|side| {
            let mut place = vec![None; self.sizes()[side]];
            for (at, &row) in rows[side].iter().enumerate() {
                if let Some(place) = place.get_mut(row) {
                    *place = Some(at);
                }
            }
            place
        });
        let pairs = self.pairs.iter().flatten();
        pairs.filter_map(|&(i, j)| place[0][i].zip(place[1][j])).collect()
    }

    /// The labels of the chosen rows. Foreign rows have one that no other row has.
    fn labels_of(&self, side: usize, rows: &[usize]) -> Vec<u32> {
        let label = |&row: &usize| match &self.labels[side] {
            Some(labels) => labels.get(row).copied().unwrap_or(self.kinds),
            None => UNKNOWN,
        };
        rows.iter().map(label).collect()
    }

    fn sides(&self, rows: &[Vec<usize>; 2], foreign: Option<&Dense>) -> Result<Sides, String> {
        let [x, y] = [0, 1].map(|side| {
            let (points, own) = (&self.points[side], self.sizes()[side]);
            let data = rows[side].iter().flat_map(|&row| match foreign {
                Some(foreign) if row >= own => foreign.row(row - own).to_vec(),
                _ => points.row(row).to_vec(),
            });
            Dense::new(rows[side].len(), points.cols(), data.collect())
        });
        let sides = Sides::new(x, y).map_err(|error| error.to_string())?;
        let Some(distances) = &self.distances else { return Ok(sides) };
        let [dx, dy] = [0, 1].map(|side| {
            let (whole, rows) = (&distances[side], &rows[side]);
            Dense::from_fn(rows.len(), rows.len(), |i, j| whole.at(rows[i], rows[j]))
        });
        sides.measured(dx, dy).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::tests::Folder;
    use super::*;

    const ALL: Draw = Draw { seed: 3, most: 6000, pairs: 0, labels: 0.0, variant: None };

    fn missing() -> Data {
        let x = "a\na\nb\nb\nc\nc\n";
        let y = "b\na\na\nb\nd\n";
        let files = [("truth.txt", "1\n2\n0\n3\n-1\n-1\n"), ("labels_x.txt", x), ("labels_y.txt", y)];
        Folder::new([6, 5], &files).read().expect("read")
    }

    #[test]
    fn rows_follow_their_partners_whatever_the_order() {
        let case = missing().case(&ALL).expect("drawn");
        assert_eq!(case.pairs.len(), 4);
        assert!(case.pairs.iter().all(|&(i, j)| case.labels[0][i] == case.labels[1][j]));
        let alone = |side: usize| case.partnered[side].iter().filter(|p| **p == Some(false)).count();
        assert_eq!([alone(0), alone(1)], [2, 1]);
        for (row, partner) in case.partnered[0].iter().enumerate() {
            assert_eq!(*partner == Some(false), case.labels[0][row] == 2, "row {row}");
        }
    }

    #[test]
    fn pairs_that_are_given_away_do_not_score() {
        let case = missing().case(&Draw { pairs: 1, ..ALL }).expect("drawn");
        let (known, free) = (case.sides.known().to_vec(), missing().case(&ALL).expect("drawn"));
        assert_eq!((known.len(), case.pairs.len()), (1, 3));
        assert_eq!(case.sides.points()[0], free.sides.points()[0], "guidance changes no rows");
        let (i, j) = known[0];
        assert!(free.pairs.contains(&(i, j)) && !case.pairs.contains(&(i, j)));
        assert!(case.given[0][i] && case.given[1][j]);
        assert_eq!((case.partnered[0][i], case.partnered[1][j]), (None, None));
        let refused = missing().case(&Draw { pairs: 5, ..ALL }).err();
        assert_eq!(refused.as_deref(), Some("--pairs 5: there are 4 true pairs"));
    }

    #[test]
    fn labels_that_are_given_away_do_not_score() {
        let case = missing().case(&Draw { labels: 0.5, ..ALL }).expect("drawn");
        for (side, count) in [3, 3].into_iter().enumerate() {
            let given: Vec<usize> =
                (0..case.given[side].len()).filter(|&row| case.given[side][row]).collect();
            assert_eq!(given.len(), count);
            assert!(given.iter().all(|&row| case.guide[side][row] == case.labels[side][row]));
        }
        assert!(case.pairs.iter().all(|&(i, j)| !case.given[0][i] && !case.given[1][j]));
    }

    #[test]
    fn a_part_of_the_rows_keeps_the_share_that_has_no_partner() {
        let truth: String =
            (0..300).map(|i| if i % 3 == 0 { "-1\n".into() } else { format!("{i}\n") }).collect();
        let data = Folder::new([300, 300], &[("truth.txt", &truth)]).read().expect("read");
        let case = data.case(&Draw { most: 60, ..ALL }).expect("drawn");
        assert_eq!(case.sides.points().map(Dense::rows), [60, 60]);
        assert_eq!(case.pairs.len(), 40);
        let labels = (0..300).map(|i| format!("{}\n", i % 4)).collect::<String>();
        let data = Folder::new([300, 300], &[("labels.txt", &labels)]).read().expect("read");
        assert_eq!(data.case(&Draw { most: 60, ..ALL }).expect("drawn").pairs.len(), 60);
    }
}
