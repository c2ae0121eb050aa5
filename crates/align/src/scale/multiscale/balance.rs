//! What a whole plan shows of the slow part of Sinkhorn's algorithm.
//!
//! Mass that has to move from one end of the data to the other takes many iterations. But summed over many rows and
//! columns the plan is a small matrix, for which iterations cost nothing: its columns' scalings are the slow part.

use super::side::Side;
use compute::kernels::{dot, transposed_product};

/// Rows and columns of the small matrix, at most.
const MOST: usize = 256;
/// Iterations, at most, and the error at which they end.
const ITERATIONS: usize = 300;
const BALANCED: f32 = 1e-6;

/// A plan between sets of neighbouring leaves.
pub(super) struct Coarse {
    masses: Vec<f32>,
    weights: [Vec<f32>; 2],
    leaves: [usize; 2],
}

impl Coarse {
    pub(super) fn new(rows: &Side, cols: &Side) -> Self {
        let leaves = [rows, cols].map(Side::leaves);
        let weights = [rows, cols].map(|side| {
            let mut weights = vec![0.0; side.leaves().min(MOST)];
            for (leaf, ball) in side.balls.iter().enumerate() {
                weights[set(leaf, side.leaves())] += ball.weight;
            }
            weights
        });
        Self { masses: vec![0.0; weights[0].len() * weights[1].len()], weights, leaves }
    }

    /// A block of two leaves has this mass.
    pub(super) fn add(&mut self, row: usize, column: usize, mass: f32) {
        let (row, column) = (set(row, self.leaves[0]), set(column, self.leaves[1]));
        self.masses[row * self.weights[1].len() + column] += mass;
    }

    /// All of it.
    pub(super) fn mass(&self) -> f32 {
        self.masses.iter().sum()
    }

    /// Adds what another such plan has.
    pub(super) fn join(&mut self, other: &Self) {
        self.masses.iter_mut().zip(&other.masses).for_each(|(sum, mass)| *sum += mass);
    }

    /// A bound on all masses after the logarithms of rows and of columns have risen so far in each leaf.
    pub(super) fn risen(&self, rises: [&[f32]; 2]) -> f32 {
        let [u, v] = [0, 1].map(|s| {
            let mut tops = vec![f32::MIN; self.weights[s].len()];
            for (leaf, rise) in rises[s].iter().enumerate() {
                let top = &mut tops[set(leaf, self.leaves[s])];
                *top = top.max(*rise);
            }
            tops.iter().map(|top| top.exp()).collect::<Vec<f32>>()
        });
        u.iter().zip(self.masses.chunks_exact(v.len())).map(|(u, row)| u * dot(row, &v)).sum()
    }

    /// For each leaf of the columns how much more a step should do than one that only scales its sums: the
    /// logarithm of the scaling that balances the whole matrix, less the one that scales its columns.
    pub(super) fn corrections(&self) -> Vec<f32> {
        let [rows, cols] = &self.weights;
        let (mut u, mut v) = (vec![1.0; rows.len()], vec![1.0f32; cols.len()]);
        let mut sums = vec![0.0; cols.len()];
        let mut plain = Vec::new();
        for _ in 0..ITERATIONS {
            for ((u, row), weight) in u.iter_mut().zip(self.masses.chunks_exact(cols.len())).zip(rows) {
                *u = weight / dot(row, &v).max(f32::MIN_POSITIVE);
            }
            transposed_product(&self.masses, &u, &mut sums);
            let mut error = 0.0;
            for ((v, sum), weight) in v.iter_mut().zip(&sums).zip(cols) {
                error += (*v * sum - weight).abs();
                *v = weight / sum.max(f32::MIN_POSITIVE);
            }
            if plain.is_empty() {
                plain.clone_from(&v);
            }
            if error.is_nan() || error < BALANCED {
                break;
            }
        }
        let set = |leaf| set(leaf, self.leaves[1]);
        (0..self.leaves[1]).map(|leaf| (v[set(leaf)] / plain[set(leaf)]).ln()).collect()
    }
}

/// Into which set a leaf falls.
fn set(leaf: usize, leaves: usize) -> usize {
    leaf * leaves.min(MOST) / leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coarse(masses: Vec<f32>, weights: [Vec<f32>; 2]) -> Coarse {
        let leaves = [weights[0].len(), weights[1].len()];
        Coarse { masses, weights, leaves }
    }

    /// Two halves that hardly touch: what is missing on one side comes over in one correction.
    #[test]
    fn a_correction_balances_what_iterations_hardly_move() {
        let masses = vec![0.45, 0.001, 0.001, 0.548];
        let plan = coarse(masses.clone(), [vec![0.451, 0.549], vec![0.5, 0.5]]);
        let corrections = plan.corrections();
        let sums = [masses[0] + masses[2], masses[1] + masses[3]];
        let v: Vec<f32> = corrections.iter().zip(sums).map(|(c, sum)| c.exp() * 0.5 / sum).collect();
        let mut got = [0.0; 2];
        for (row, weight) in masses.chunks_exact(2).zip([0.451, 0.549]) {
            let u = weight / (row[0] * v[0] + row[1] * v[1]);
            got.iter_mut().zip(row.iter().zip(&v)).for_each(|(sum, (mass, v))| *sum += u * mass * v);
        }
        assert!(got.iter().all(|sum| (sum - 0.5).abs() < 1e-4), "{got:?}");
    }

    #[test]
    fn masses_rise_with_their_leaves() {
        let plan = coarse(vec![1.0, 2.0, 4.0, 8.0], [vec![0.5; 2], vec![0.5; 2]]);
        let ln2 = std::f32::consts::LN_2;
        assert!((plan.risen([&[0.0, ln2], &[-ln2, 0.0]]) - (0.5 + 2.0 + 4.0 + 16.0)).abs() < 1e-4);
    }
}
