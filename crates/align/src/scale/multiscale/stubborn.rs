//! Columns that scaling hardly moves.
//!
//! Two rows far out that want the same column give it twice its weight, and to the last digit the same in every sweep: it has
//! to become dearer by the whole difference of their costs before one of them lets go, and a sweep makes it dearer by the
//! logarithm of two. So a column that does not answer is moved twice as far each time, until it does.

use super::side::Side;

/// How far off a column is, as a logarithm, if it counts; and how little of that changes if it does not answer.
const OFF: f32 = 0.4;
const SAME: f32 = 0.02;
/// Few columns at a time: where many are off by the same, it is their rows that have to move.
const FEW: usize = 100;
const FARTHEST: f32 = 4096.0;

/// For each column how far off it was in the sweep before, and how many times farther it was moved.
#[derive(Default)]
pub(super) struct Stubborn(Vec<(f32, f32)>);

impl Stubborn {
    /// Moves columns that did not answer farther; whether there are any.
    pub(super) fn hurry(&mut self, sums: &[f64], cols: &Side, eps: f32, residual: &mut [f32]) -> bool {
        self.0.resize(cols.len(), (0.0, 1.0));
        let mut slow = Vec::new();
        for (j, (before, times)) in self.0.iter_mut().enumerate() {
            let off = (cols.weights[j] / (sums[j] as f32).max(f32::MIN_POSITIVE)).ln();
            let unmoved = off.abs() > OFF && (off - *before).abs() < SAME * off.abs();
            *times = if unmoved { (2.0 * *times).min(FARTHEST) } else { 1.0 };
            *before = off;
            if unmoved {
                slow.push((j, eps * off * *times));
            }
        }
        if slow.is_empty() || slow.len() > cols.len().div_ceil(FEW) {
            return false;
        }
        slow.iter().for_each(|(j, move_by)| residual[*j] = *move_by);
        true
    }
}
