//! Anderson's acceleration of a fixed-point iteration: the next point is the combination of the last ones whose
//! residual would be the least if the map were linear.

use std::collections::VecDeque;

/// Differences that are combined.
const DEPTH: usize = 5;

/// The last points and residuals.
#[derive(Default)]
pub(super) struct Mixing {
    last: Option<(Vec<f32>, Vec<f32>)>,
    /// Differences of successive points, and of their residuals.
    steps: VecDeque<(Vec<f32>, Vec<f32>)>,
}

impl Mixing {
    /// The point after `point`, whose image under the map is `point + residual`; no farther from that image than `reach`.
    pub(super) fn next(&mut self, point: &[f32], residual: &[f32], weights: &[f32], reach: f32) -> Vec<f32> {
        if let Some((last, last_residual)) = self.last.take() {
            let step = |new: &[f32], old: &[f32]| new.iter().zip(old).map(|(a, b)| a - b).collect();
            if self.steps.len() == DEPTH {
                self.steps.pop_front();
            }
            self.steps.push_back((step(point, &last), step(residual, &last_residual)));
        }
        self.last = Some((point.to_vec(), residual.to_vec()));
        let plain: Vec<f32> = point.iter().zip(residual).map(|(p, r)| p + r).collect();
        let mut next = plain.clone();
        for ((moved, change), share) in self.steps.iter().zip(self.shares(residual, weights)) {
            let share = share as f32;
            let parts = moved.iter().zip(change);
            next.iter_mut().zip(parts).for_each(|(n, (m, c))| *n -= share * (m + c));
        }
        // Not `clamp`, which ends the program where a number is none: whoever iterates sees that by the error.
        next.iter_mut().zip(&plain).for_each(|(n, p)| *n = n.max(p - reach).min(p + reach));
        next
    }

    /// Goes back to the last point, forgets the others, and takes one plain step.
    pub(super) fn restart(&mut self) -> Option<Vec<f32>> {
        self.steps.clear();
        let (point, residual) = self.last.as_ref()?;
        Some(point.iter().zip(residual).map(|(p, r)| p + r).collect())
    }

    /// Whether the last step was more than a plain one.
    pub(super) fn mixed(&self) -> bool {
        !self.steps.is_empty()
    }

    /// How much of each difference of residuals makes up the residual, by least squares.
    fn shares(&self, residual: &[f32], weights: &[f32]) -> Vec<f64> {
        let count = self.steps.len();
        let inner = |a: &[f32], b: &[f32]| -> f64 {
            a.iter()
                .zip(b)
                .zip(weights)
                .map(|((a, b), w)| f64::from(*a) * f64::from(*b) * f64::from(*w))
                .sum()
        };
        let mut matrix = vec![vec![0.0; count + 1]; count];
        for (i, row) in matrix.iter_mut().enumerate() {
            for (value, step) in row.iter_mut().zip(&self.steps) {
                *value = inner(&self.steps[i].1, &step.1);
            }
            row[count] = inner(&self.steps[i].1, residual);
        }
        solve(matrix)
    }
}

/// Solves a small symmetric positive system, given with its right-hand side as the last column. A little is added to
/// the diagonal, for differences that say the same.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] = row[i] * (1.0 + 1e-6) + f64::MIN_POSITIVE;
    }
    for pivot in 0..n {
        let (above, below) = rows.split_at_mut(pivot + 1);
        let line = &above[pivot];
        for row in below {
            let share = row[pivot] / line[pivot];
            row.iter_mut().zip(line).for_each(|(v, l)| *v -= share * l);
        }
    }
    let mut solution = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * solution[j]).sum();
        solution[i] = (rows[i][n] - known) / rows[i][i];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear map of five slow directions is solved in six steps, where plain steps would take thousands.
    #[test]
    fn slow_directions_are_seen() {
        let rates = [0.999, 0.99, 0.9, 0.5, -0.5];
        let residual = |point: &[f32]| -> Vec<f32> {
            point.iter().zip(rates).map(|(p, rate)| (rate - 1.0) * (p - 3.0)).collect()
        };
        let mut mixing = Mixing::default();
        let mut point = vec![0.0; 5];
        for _ in 0..12 {
            point = mixing.next(&point, &residual(&point), &[0.2; 5], 10.0);
        }
        assert!(point.iter().all(|p| (p - 3.0).abs() < 0.05), "{point:?}");
        let back = mixing.restart().expect("a last point");
        assert!(!mixing.mixed() && back.iter().all(|p| (p - 3.0).abs() < 0.05), "{back:?}");
    }

    /// A combination stays near the plain step, and numbers that are none end nothing here.
    #[test]
    fn combinations_do_not_go_far() {
        let mut mixing = Mixing::default();
        mixing.next(&[0.0, 0.0], &[1.0, f32::NAN], &[0.5; 2], 0.25);
        let mut mixing = Mixing::default();
        mixing.next(&[0.0], &[1.0], &[1.0], 0.25);
        // A residual that hardly falls: the line through both would go to a hundred.
        let next = mixing.next(&[1.0], &[0.99], &[1.0], 0.25);
        assert!((next[0] - (1.99 + 0.25)).abs() < 1e-5, "{next:?}");
    }
}
