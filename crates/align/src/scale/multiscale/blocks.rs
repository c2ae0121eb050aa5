//! Which blocks of the plan matter, and proof that the others do not.
//!
//! A block is a leaf of the rows and a leaf of the columns. Its *density* is its mass over what it would have if rows
//! and columns were independent. Blocks whose density is below θ can be left out together: all of them hold at most θ
//! of the mass.

use super::balance::Coarse;
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
    /// All blocks that may have a pair whose density is `least` or more, and what the others may hold at most.
    pub(super) async fn blocks<W: Watch>(
        &self,
        eps: f32,
        least: f32,
        pace: &mut Pace<'_, W>,
    ) -> Result<(Blocks, Coarse), Cancelled> {
        let (phi_tops, gamma_tops) = (self.rows.tops(self.phi), self.cols.tops(self.gamma));
        let mut blocks = Blocks::none();
        let mut left_out = Coarse::new(self.rows, self.cols);
        let height = eps * least.ln();
        let mut others = Vec::new();
        for (row, row_ball) in self.rows.balls.iter().enumerate() {
            let mut points = 0;
            others.clear();
            let list: Vec<usize> = (0..self.cols.leaves())
                .filter(|&column| {
                    let column_ball = &self.cols.balls[column];
                    let most = phi_tops[row] + gamma_tops[column];
                    let apart = row_ball.distance(&column_ball.centre) - row_ball.radius - column_ball.radius;
                    let mut matters = reaches(most, apart, height);
                    if matters {
                        // What is near by its ball may be far by its points.
                        points += self.rows.leaf(row).len() + self.cols.leaf(column).len();
                        matters = any_reaches(
                            (self.rows, row, self.phi),
                            (column_ball, gamma_tops[column]),
                            height,
                        ) && any_reaches(
                            (self.cols, column, self.gamma),
                            (row_ball, phi_tops[row]),
                            height,
                        );
                    }
                    if !matters {
                        others.push(column);
                    }
                    matters
                })
                .collect();
            // Rows that nothing reaches have a potential that is far too low: only a visit can raise it.
            if list.is_empty() {
                blocks.push(0..self.cols.leaves());
            } else {
                blocks.push(list);
                for &column in &others {
                    left_out.add(row, column, least * row_ball.weight * self.cols.balls[column].weight);
                }
            }
            pace.spend(self.cols.leaves() + points).await?;
        }
        Ok((blocks, left_out))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dense;
    use crate::scale::multiscale::pace::tests::at_once;
    use crate::scale::multiscale::tree::Tree;
    use compute::rng::Rng;

    fn side(n: usize, dim: usize, spread: f32, rng: &mut Rng) -> Side {
        let centres = rng.fill(5 * dim, -2.0, 2.0);
        let points =
            Dense::from_fn(n, dim, |i, j| centres[i % 5 * dim + j] + spread * rng.uniform(-1.0, 1.0));
        let tree = at_once(async |pace| Tree::grow(&points, pace).await);
        Side::new(&points, &tree, 1, rng)
    }

    /// Every pair that reaches the least value is in a block that is visited, whatever the data; and blocks are left out.
    #[test]
    fn no_pair_that_matters_is_left_out() {
        let mut rng = Rng::new(8);
        let mut left_out = 0;
        for round in 0..30 {
            let (dim, spread) = ([1, 2, 5, 16][round % 4], [0.0, 0.1, 1.0][round % 3]);
            let (rows, cols) = (side(700, dim, spread, &mut rng), side(500, dim, spread, &mut rng));
            let (phi, gamma) = (rng.fill(700, -1.0, 1.0), rng.fill(500, -2.0, 0.0));
            let least = rng.uniform(-6.0, 1.0);
            let scene = Scene { rows: &rows, cols: &cols, phi: &phi, gamma: &gamma };
            let (blocks, _) = at_once(async |pace| scene.blocks(1.0, least.exp(), pace).await);
            for row in 0..rows.leaves() {
                let visited: Vec<usize> = blocks.leaves(row).collect();
                for column in (0..cols.leaves()).filter(|column| !visited.contains(column)) {
                    left_out += 1;
                    for (i, j) in rows.leaf(row).flat_map(|i| cols.leaf(column).map(move |j| (i, j))) {
                        let (a, b) = (rows.rows(i..i + 1), cols.rows(j..j + 1));
                        let cost: f64 =
                            a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
                        let value = f64::from(phi[i]) + f64::from(gamma[j]) - cost;
                        assert!(value < f64::from(least), "{i}, {j}: {value}, least {least}");
                    }
                }
            }
        }
        assert!(left_out > 200, "{left_out} blocks were left out");
    }

    #[test]
    fn transposed_twice_is_the_same() {
        let mut rng = Rng::new(9);
        let mut blocks = Blocks::none();
        for _ in 0..20 {
            blocks.push((0..30).filter(|_| rng.unit() < 0.4));
        }
        let transposed = blocks.transposed(30);
        for (row, column) in (0..20).flat_map(|row| (0..30).map(move |column| (row, column))) {
            let both = [blocks.leaves(row).any(|c| c == column), transposed.leaves(column).any(|r| r == row)];
            assert_eq!(both[0], both[1]);
        }
        assert_eq!(transposed.transposed(20), blocks);
    }
}
