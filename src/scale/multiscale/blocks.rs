//! Which blocks of the plan matter, and proof that the others do not.
//!
//! A block is a leaf of the rows and a leaf of the columns. Its *density* is its mass over what it would have if rows
//! and columns were independent. Blocks whose density is below θ can be left out together: all of them hold at most θ
//! of the mass.

use super::pace::{Cancelled, Pace, Watch};
use super::side::{Ball, Side};

/// For each leaf of the rows the leaves of the columns that are visited, as runs of neighbours.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocks {
    /// Where the runs of each leaf start, and where the last one's end.
    starts: Vec<usize>,
    runs: Vec<[u32; 2]>,
}

impl Blocks {
    pub(super) fn none() -> Self {
        Self { starts: vec![0], runs: Vec::new() }
    }

    /// The runs of a leaf of the rows: the first leaf and the one after the last.
    pub(super) fn of(&self, leaf: usize) -> &[[u32; 2]] {
        &self.runs[self.starts[leaf]..self.starts[leaf + 1]]
    }

    /// Column leaves of a leaf of the rows, one by one.
    pub(super) fn leaves(&self, leaf: usize) -> impl Iterator<Item = usize> {
        self.of(leaf).iter().flat_map(|run| run[0] as usize..run[1] as usize)
    }

    /// Adds the next leaf of the rows with its column leaves, which ascend.
    pub(super) fn push(&mut self, leaves: impl IntoIterator<Item = usize>) {
        let first = self.runs.len();
        for leaf in leaves {
            let leaf = leaf as u32;
            match self.runs[first..].last_mut() {
                Some(run) if run[1] == leaf => run[1] += 1,
                _ => self.runs.push([leaf, leaf + 1]),
            }
        }
        self.starts.push(self.runs.len());
    }

    /// The same blocks by leaves of the columns.
    pub(super) fn transposed(&self, column_leaves: usize) -> Self {
        let mut lists = vec![Vec::new(); column_leaves];
        for leaf in 0..self.starts.len() - 1 {
            self.leaves(leaf).for_each(|column| lists[column].push(leaf));
        }
        let mut transposed = Self::none();
        lists.into_iter().for_each(|list| transposed.push(list));
        transposed
    }

    /// Pairs of points in all blocks.
    pub(super) fn pairs(&self, rows: &Side, cols: &Side) -> usize {
        let width = |run: &[u32; 2]| cols.range(run[0] as usize..run[1] as usize).len();
        let of = |leaf: usize| rows.leaf(leaf).len() * self.of(leaf).iter().map(width).sum::<usize>();
        (0..rows.leaves()).map(of).sum()
    }
}

/// Two sides with potentials φ and γ: a pair's density is `exp((φ_i + γ_j − |x_i − y_j|²)/ε)`.
pub(super) struct Scene<'a> {
    pub(super) rows: &'a Side,
    pub(super) cols: &'a Side,
    pub(super) phi: &'a [f32],
    pub(super) gamma: &'a [f32],
}

impl Scene<'_> {
    /// All blocks that may have a pair with `φ_i + γ_j − |x_i − y_j|² ≥ least`. What is left out has none.
    pub(super) async fn blocks<W: Watch>(
        &self,
        least: f32,
        pace: &mut Pace<'_, W>,
    ) -> Result<Blocks, Cancelled> {
        let (phi_tops, gamma_tops) = (self.rows.tops(self.phi), self.cols.tops(self.gamma));
        let mut blocks = Blocks::none();
        for (row, row_ball) in self.rows.balls.iter().enumerate() {
            let mut points = 0;
            let list: Vec<usize> = (0..self.cols.leaves())
                .filter(|&column| {
                    let column_ball = &self.cols.balls[column];
                    let most = phi_tops[row] + gamma_tops[column];
                    let apart = row_ball.distance(&column_ball.centre) - row_ball.radius - column_ball.radius;
                    if !reaches(most, apart, least) {
                        return false;
                    }
                    // What is near by its ball may be far by its points.
                    points += self.rows.leaf(row).len() + self.cols.leaf(column).len();
                    any_reaches((self.rows, row, self.phi), (column_ball, gamma_tops[column]), least)
                        && any_reaches((self.cols, column, self.gamma), (row_ball, phi_tops[row]), least)
                })
                .collect();
            // Rows that nothing reaches have a potential that is far too low: only a visit can raise it.
            if list.is_empty() {
                blocks.push(0..self.cols.leaves());
            } else {
                blocks.push(list);
            }
            pace.spend(self.cols.leaves() + points).await?;
        }
        Ok(blocks)
    }
}

/// Whether potentials that sum to `most` reach `least` over a distance. Half a thousandth is for rounding.
fn reaches(most: f32, apart: f32, least: f32) -> bool {
    let apart = 0.9995 * apart.max(0.0);
    most - apart * apart >= least
}

/// Whether any point of a leaf reaches `least` somewhere in a ball where the other potential is at most `top`.
fn any_reaches(
    (side, leaf, potential): (&Side, usize, &[f32]),
    (ball, top): (&Ball, f32),
    least: f32,
) -> bool {
    side.leaf(leaf).any(|i| {
        let apart = ball.distance(side.rows(i..i + 1)) - ball.radius;
        reaches(potential[i] + top, apart, least)
    })
}
