//! Hard ranks of distances within each row: what is left of a distance when only its order counts.

use super::Dense;
use crate::watch::{Cancelled, Watch};

/// Weighted mid-ranks: `R_ij = Σ_k w_k [D_ik < D_ij] + ½ Σ_k w_k [D_ik = D_ij]`, within [0, 1] for
/// weights that sum to 1. Any monotone warp of a row leaves them as they are.
pub fn mid_ranks(distances: &Dense, weights: &[f32]) -> Dense {
    let mut ranking = Ranking::new(distances, weights);
    (0..distances.rows()).for_each(|i| ranking.row(i));
    ranking.ranks
}

/// Entries that are ranked between two looks at who is watching.
const PATIENCE: usize = 1 << 18;

/// As [`mid_ranks`], which takes its time where there are many points.
pub async fn mid_ranks_watched(
    distances: &Dense,
    weights: &[f32],
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    let mut ranking = Ranking::new(distances, weights);
    let every = PATIENCE / distances.cols().max(1) + 1;
    for i in 0..distances.rows() {
        ranking.row(i);
        if (i + 1) % every == 0 {
            watch.step((i + 1) as f64 / distances.rows() as f64).await?;
        }
    }
    Ok(ranking.ranks)
}

/// Ranks in the making.
struct Ranking<'a> {
    distances: &'a Dense,
    weights: &'a [f32],
    order: Vec<usize>,
    ranks: Dense,
}

impl<'a> Ranking<'a> {
    fn new(distances: &'a Dense, weights: &'a [f32]) -> Self {
        let (n, m) = (distances.rows(), distances.cols());
        assert_eq!(weights.len(), m, "a weight for every column");
        Self { distances, weights, order: (0..m).collect(), ranks: Dense::new(n, m, vec![0.0; n * m]) }
    }

    fn row(&mut self, i: usize) {
        let row = self.distances.row(i);
        self.order.sort_unstable_by(|&a, &b| row[a].total_cmp(&row[b]));
        let mut below = 0f64;
        for tied in self.order.chunk_by(|&a, &b| row[a] == row[b]) {
            let weight: f64 = tied.iter().map(|&j| f64::from(self.weights[j])).sum();
            for &j in tied {
                self.ranks.row_mut(i)[j] = (below + 0.5 * weight) as f32;
            }
            below += weight;
        }
    }
}
