//! Distances within a side, a tile at a time: between many points they cannot all be held.

use super::Dense;
use super::distance::column_means;
use compute::kernels::matmul::sgemm;

/// Rows and columns of a tile: large enough for a fast product, small enough for a cache.
pub const TILE: [usize; 2] = [128, 512];

/// Where the distances within a side come from.
pub trait Lengths {
    fn points(&self) -> usize;

    /// What orders the pairs of some points and others, row by row: their distances, or a monotone function of them.
    fn tile(&self, rows: &[u32], cols: &[u32], order: &mut Vec<f32>);

    fn distance(&self, i: u32, j: u32) -> f32;
}

/// A matrix of distances, which counts as it is above its diagonal.
impl Lengths for Dense {
    fn points(&self) -> usize {
        self.rows()
    }

    fn tile(&self, rows: &[u32], cols: &[u32], order: &mut Vec<f32>) {
        order.clear();
        order.extend(rows.iter().flat_map(|&i| cols.iter().map(move |&j| self.distance(i, j))));
    }

    fn distance(&self, i: u32, j: u32) -> f32 {
        self.at(i.min(j) as usize, i.max(j) as usize)
    }
}

/// Points whose Euclidean distances are computed where they are looked at.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Around the origin, so that products keep their digits.
    centred: Dense,
    squares: Vec<f32>,
}

impl Cloud {
    pub fn new(points: &Dense) -> Self {
        let mean = column_means(points);
        let mut centred = points.clone();
        for i in 0..centred.rows() {
            centred.row_mut(i).iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
        }
        let squares = (0..centred.rows()).map(|i| centred.row(i).iter().map(|v| v * v).sum()).collect();
        Self { centred, squares }
    }

    /// How far along a direction a point lies.
    pub(super) fn along(&self, i: u32, direction: &[f32]) -> f32 {
        self.centred.row(i as usize).iter().zip(direction).map(|(v, d)| v * d).sum()
    }

    /// The way from one point to another.
    pub(super) fn way(&self, i: u32, j: u32) -> Vec<f32> {
        let [from, to] = [i, j].map(|i| self.centred.row(i as usize));
        from.iter().zip(to).map(|(from, to)| to - from).collect()
    }
}

impl Lengths for Cloud {
    fn points(&self) -> usize {
        self.centred.rows()
    }

    /// Squared distances, by `|x−y|² = |x|² + |y|² − 2⟨x, y⟩`.
    fn tile(&self, rows: &[u32], cols: &[u32], order: &mut Vec<f32>) {
        let d = self.centred.cols();
        let gathered = |picked: &[u32]| -> Vec<f32> {
            picked.iter().flat_map(|&i| self.centred.row(i as usize)).copied().collect()
        };
        order.clear();
        order.resize(rows.len() * cols.len(), 0.0);
        let (left, right) = (gathered(rows), gathered(cols));
        sgemm([rows.len(), cols.len(), d], -2.0, (&left, (d, 1)), (&right, (1, d)), order);
        let squares: Vec<f32> = cols.iter().map(|&j| self.squares[j as usize]).collect();
        for (row, &i) in order.chunks_exact_mut(cols.len().max(1)).zip(rows) {
            let own = self.squares[i as usize];
            row.iter_mut().zip(&squares).for_each(|(v, other)| *v += own + other);
        }
    }

    /// Coordinate by coordinate, which loses no digits between points that are close to each other.
    fn distance(&self, i: u32, j: u32) -> f32 {
        let [from, to] = [i, j].map(|i| self.centred.row(i as usize));
        from.iter().zip(to).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt() as f32
    }
}
