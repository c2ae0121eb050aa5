//! Hard ranks of distances within each row: what is left of a distance when only its order counts.

use super::Dense;

/// Weighted mid-ranks: `R_ij = Σ_k w_k [D_ik < D_ij] + ½ Σ_k w_k [D_ik = D_ij]`, within [0, 1] for
/// weights that sum to 1. Any monotone warp of a row leaves them as they are.
pub fn mid_ranks(distances: &Dense, weights: &[f32]) -> Dense {
    let (n, m) = (distances.rows(), distances.cols());
    assert_eq!(weights.len(), m, "a weight for every column");
    let mut ranks = Dense::new(n, m, vec![0.0; n * m]);
    let mut order: Vec<usize> = (0..m).collect();
    for i in 0..n {
        let row = distances.row(i);
        order.sort_unstable_by(|&a, &b| row[a].total_cmp(&row[b]));
        let mut below = 0f64;
        for tied in order.chunk_by(|&a, &b| row[a] == row[b]) {
            let weight: f64 = tied.iter().map(|&j| f64::from(weights[j])).sum();
            for &j in tied {
                ranks.row_mut(i)[j] = (below + 0.5 * weight) as f32;
            }
            below += weight;
        }
    }
    ranks
}
