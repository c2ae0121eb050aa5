//! A Sinkhorn half-step for a few points of one side, over all points of the other and without any bound on exponents: what
//! points far out are lifted by, and what a plan is checked against.

use super::{Cancelled, Clouds, Watch};
use crate::geometry::Dense;
use compute::kernels::matmul::sgemm;

/// Points of either side that are multiplied at once.
const TILE: [usize; 2] = [32, 2048];
/// Multiplications between two looks at who is watching, and what an exponential takes beside them.
const PIECE: usize = 60_000_000;
const EXPONENTIAL: usize = 24;

/// What the half-step gives a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// The potential with which it has its weight.
    pub potential: f32,
    /// The point of the other side with which it then shares most; of equals the first.
    pub partner: u32,
}

impl Clouds {
    /// For some points of a side, 0 or 1, given the potentials of the other: `f_i = −ε log(n Σ_j exp((g_j − C_ij)/ε))`.
    pub async fn update(
        &self,
        side: usize,
        points: &[u32],
        eps: f32,
        potentials: &[f32],
        watch: &mut impl Watch,
    ) -> Result<Vec<Update>, Cancelled> {
        let both = [(&self.x, &self.x_squares), (&self.y, &self.y_squares)];
        let ((own, own_squares), (other, squares)) = (both[side], both[1 - side]);
        let dim = own.cols();
        let terms: Vec<f32> = potentials.iter().zip(squares).map(|(v, square)| (v - square) / eps).collect();
        let mut updates = Vec::with_capacity(points.len());
        let (mut since, mut products) = (0, Vec::new());
        for few in points.chunks(TILE[0]) {
            let left: Vec<f32> = few.iter().flat_map(|&i| own.row(i as usize)).copied().collect();
            let mut sums = vec![Sum::default(); few.len()];
            for (at, terms) in terms.chunks(TILE[1]).enumerate() {
                let first = at * TILE[1];
                let right = rows(other, first, terms.len());
                products.resize(few.len() * terms.len(), 0.0);
                sgemm(
                    [few.len(), terms.len(), dim],
                    2.0 / eps,
                    (&left, (dim, 1)),
                    (right, (1, dim)),
                    &mut products,
                );
                for (sum, row) in sums.iter_mut().zip(products.chunks_exact(terms.len())) {
                    sum.add(first, row, terms);
                }
                since += few.len() * terms.len() * (dim + EXPONENTIAL);
                if since >= PIECE {
                    since = 0;
                    watch.step(updates.len() as f64 / points.len() as f64).await?;
                }
            }
            let weight = (own.rows() as f64).ln();
            updates.extend(few.iter().zip(&sums).map(|(&i, sum)| Update {
                potential: own_squares[i as usize] - (f64::from(eps) * (weight + sum.log())) as f32,
                partner: sum.partner,
            }));
        }
        Ok(updates)
    }
}

fn rows(side: &Dense, first: usize, count: usize) -> &[f32] {
    &side.data()[first * side.cols()..][..count * side.cols()]
}

/// A log-sum-exp on its way.
#[derive(Clone, Copy)]
struct Sum {
    top: f32,
    partner: u32,
    /// Relative to the largest so far.
    sum: f64,
}

impl Default for Sum {
    fn default() -> Self {
        Self { top: f32::MIN, partner: 0, sum: 0.0 }
    }
}

impl Sum {
    /// Takes the logarithms `row + terms` of entries from `first` on.
    fn add(&mut self, first: usize, row: &[f32], terms: &[f32]) {
        let logs = || row.iter().zip(terms).map(|(product, term)| product + term);
        let before = self.top;
        for (at, log) in logs().enumerate() {
            if log > self.top {
                (self.top, self.partner) = (log, (first + at) as u32);
            }
        }
        let new: f64 = logs().map(|log| f64::from((log - self.top).exp())).sum();
        self.sum = self.sum * f64::from(before - self.top).exp() + new;
    }

    fn log(&self) -> f64 {
        f64::from(self.top) + self.sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::{CostKind, NoWatch};
    use crate::watch::unwatched;
    use compute::rng::Rng;

    /// The definition in float64, on either side, with a point far out and more points than a tile holds.
    #[test]
    fn it_is_what_the_definition_says() {
        let mut rng = Rng::new(3);
        let mut side =
            |n: usize| Dense::from_fn(n, 3, |i, _| rng.uniform(-1.0, 1.0) * if i == 1 { 300.0 } else { 1.0 });
        let clouds = Clouds::new([&side(2500), &side(70)], CostKind::Sqm);
        let eps = 0.05;
        let potentials = [rng.fill(2500, -0.3, 0.3), rng.fill(70, -0.3, 0.3)];
        for own in [0, 1] {
            let (mine, theirs) = if own == 0 { (&clouds.x, &clouds.y) } else { (&clouds.y, &clouds.x) };
            let other = &potentials[1 - own];
            let points: Vec<u32> = (0..60).collect();
            let got =
                unwatched(clouds.update(own, &points, eps, other, &mut NoWatch)).expect("nobody cancels");
            for (&i, got) in points.iter().zip(&got) {
                let log = |j: usize| {
                    let pairs = mine.row(i as usize).iter().zip(theirs.row(j));
                    let cost: f64 = pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
                    (f64::from(other[j]) - cost) / f64::from(eps)
                };
                let best = (0..theirs.rows()).max_by(|a, b| log(*a).total_cmp(&log(*b))).expect("some");
                let sum: f64 = (0..theirs.rows()).map(|j| (log(j) - log(best)).exp()).sum();
                let want = -f64::from(eps) * ((mine.rows() as f64).ln() + log(best) + sum.ln());
                assert!((f64::from(got.potential) - want).abs() < 1e-5 * want.abs().max(1.0), "{own} {i}");
                assert_eq!(got.partner as usize, best, "{own} {i}");
            }
        }
    }
}
