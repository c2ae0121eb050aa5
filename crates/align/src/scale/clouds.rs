//! Both sides in the space where they are compared, and the plan between them as a function of potentials.

use std::borrow::Cow;

use crate::geometry::Dense;
use crate::solver::cost::CostKind;
use crate::solver::marginals::Relaxation;
use compute::kernels::matmul::sgemm;

/// Two embedded sides, moved and scaled so that the cost between them is `C_ij = |x_i − y_j|²`, whichever cost it was:
/// squared distances over their mean, or one minus the cosine, which is half the squared distance of unit vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Clouds {
    pub x: Dense,
    pub y: Dense,
    /// Squared lengths of their rows.
    pub x_squares: Vec<f32>,
    pub y_squares: Vec<f32>,
}

impl Clouds {
    /// Panics if the sides have different dimensions.
    pub fn new(embedded: [&Dense; 2], kind: CostKind) -> Self {
        let dim = embedded[0].cols();
        assert_eq!(dim, embedded[1].cols(), "both sides in one space");
        let unit = |row: &[f32]| {
            let length = row.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            if kind == CostKind::Cosine && length > 0.0 { 1.0 / length } else { 1.0 }
        };
        let lengths = embedded.map(|side| (0..side.rows()).map(|i| unit(side.row(i))).collect::<Vec<f64>>());
        // The common centre: products of points far from the origin would lose digits. The cost does not change.
        let mut sums = [vec![0.0; dim], vec![0.0; dim]];
        let mut squares = 0.0;
        for ((side, lengths), sums) in embedded.iter().zip(&lengths).zip(&mut sums) {
            let share = 1.0 / side.rows().max(1) as f64;
            for (i, length) in lengths.iter().enumerate() {
                for (sum, v) in sums.iter_mut().zip(side.row(i)) {
                    let v = f64::from(*v) * length;
                    *sum += share * v;
                    squares += share * v * v;
                }
            }
        }
        let [mean_x, mean_y] = &sums;
        let mean = squares - 2.0 * mean_x.iter().zip(mean_y).map(|(a, b)| a * b).sum::<f64>();
        let scale = match kind {
            CostKind::Sqm if mean > 0.0 => mean.sqrt().recip(),
            CostKind::Sqm => 1.0,
            CostKind::Cosine => 0.5f64.sqrt(),
        };
        let centre: Vec<f64> = mean_x.iter().zip(mean_y).map(|(a, b)| 0.5 * (a + b)).collect();
        let [x, y] = [0, 1].map(|s| {
            Dense::from_fn(embedded[s].rows(), dim, |i, j| {
                ((f64::from(embedded[s].at(i, j)) * lengths[s][i] - centre[j]) * scale) as f32
            })
        });
        let squares =
            |side: &Dense| (0..side.rows()).map(|i| side.row(i).iter().map(|v| v * v).sum()).collect();
        Self { x_squares: squares(&x), y_squares: squares(&y), x, y }
    }

    /// The cost between two points.
    pub fn cost(&self, i: usize, j: usize) -> f32 {
        self.x.row(i).iter().zip(self.y.row(j)).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// The cost between a point of a side, 0 or 1, and one of the other.
    pub fn cost_from(&self, side: usize, own: usize, other: usize) -> f32 {
        if side == 0 { self.cost(own, other) } else { self.cost(other, own) }
    }
}

/// A plan that is never held: `Π_ij = exp((f_i + g_j − |x_i − y_j|²)/ε)`, with uniform marginals. It sums to 1, also where
/// these are relaxed: f is then what follows from g but for a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Implicit {
    pub clouds: Clouds,
    pub eps: f32,
    pub relaxation: Relaxation,
    pub f: Vec<f32>,
    pub g: Vec<f32>,
}

impl Implicit {
    pub fn rows(&self) -> usize {
        self.clouds.x.rows()
    }

    pub fn cols(&self) -> usize {
        self.clouds.y.rows()
    }

    /// `log Π` between some rows and some columns, row by row.
    pub fn logs(&self, rows: &[u32], cols: &[u32]) -> Vec<f32> {
        let Clouds { x, y, x_squares, y_squares } = &self.clouds;
        let (n, m, d) = (rows.len(), cols.len(), x.cols());
        let own = |potential: &[f32], squares: &[f32], i: u32| {
            (potential[i as usize] - squares[i as usize]) / self.eps
        };
        let mut logs = vec![0.0; n * m];
        let (left, right) = (gathered(x, rows), gathered(y, cols));
        sgemm([n, m, d], 2.0 / self.eps, (&left, (d, 1)), (&right, (1, d)), &mut logs);
        let columns: Vec<f32> = cols.iter().map(|&j| own(&self.g, y_squares, j)).collect();
        for (row, &i) in logs.chunks_exact_mut(m.max(1)).zip(rows) {
            let own = own(&self.f, x_squares, i);
            row.iter_mut().zip(&columns).for_each(|(v, column)| *v += own + column);
        }
        logs
    }
}

/// The picked rows one after the other; all of them in order lie so already.
fn gathered<'a>(side: &'a Dense, picked: &[u32]) -> Cow<'a, [f32]> {
    if picked.len() == side.rows() && (0..).zip(picked).all(|(at, &row)| at == row) {
        return Cow::Borrowed(side.data());
    }
    picked.iter().flat_map(|&i| side.row(i as usize)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use compute::rng::Rng;

    #[test]
    fn a_whole_side_is_not_copied() {
        let side = Dense::new(3, 2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(matches!(gathered(&side, &[0, 1, 2]), Cow::Borrowed(_)));
        assert_eq!(*gathered(&side, &[0, 2, 1]), [0.0, 1.0, 4.0, 5.0, 2.0, 3.0]);
        assert_eq!(*gathered(&side, &[1]), [2.0, 3.0]);
    }

    /// The definition of both costs, entry by entry in float64.
    #[test]
    fn either_cost_is_a_squared_distance() {
        let mut rng = Rng::new(7);
        let side = |n, rng: &mut Rng| Dense::new(n, 3, rng.fill(n * 3, 4.0, 6.0));
        let (x, y) = (side(5, &mut rng), side(4, &mut rng));
        let row = |d: &Dense, i: usize| d.row(i).iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for kind in [CostKind::Sqm, CostKind::Cosine] {
            let plain = |i: usize, j: usize| {
                let (a, b) = (row(&x, i), row(&y, j));
                match kind {
                    CostKind::Sqm => a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>(),
                    CostKind::Cosine => 1.0 - dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt(),
                }
            };
            let all: f64 = (0..20).map(|e| plain(e / 4, e % 4)).sum::<f64>() / 20.0;
            let scale = if kind == CostKind::Sqm { all } else { 1.0 };
            let plan = Implicit {
                clouds: Clouds::new([&x, &y], kind),
                eps: 0.1,
                relaxation: Relaxation::STRICT,
                f: rng.fill(5, -1.0, 1.0),
                g: rng.fill(4, -1.0, 1.0),
            };
            let (rows, cols) = ([4, 1, 2], [3, 0]);
            let logs = plan.logs(&rows, &cols);
            for (at, got) in logs.iter().enumerate() {
                let (i, j) = (rows[at / 2] as usize, cols[at % 2] as usize);
                let want = (f64::from(plan.f[i]) + f64::from(plan.g[j]) - plain(i, j) / scale) / 0.1;
                assert!((f64::from(*got) - want).abs() < 1e-4, "{kind:?}");
            }
        }
    }
}
