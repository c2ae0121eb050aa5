//! What a point looks like from the inside: a description that no rotation of the side changes, by which
//! points of two sides can be compared that share no features.

use super::Dense;
use super::eigen::symmetric_eigen_watched;
use super::normalise::Normalisation;
use super::products::product_watched;
use super::spectral::gram_watched;
use crate::watch::{Cancelled, Watch};
use compute::kernels::matmul::sgemm;
use compute::rng::Rng;

/// Values of a signature.
const QUANTILES: usize = 128;
/// Points each signature is taken against, at most. Quantiles from a part of the points differ from side to side,
/// and starts that rest on them fail together.
pub const REFERENCES: usize = 12_000;
/// Values that are sorted between two looks at who is watching.
const PATIENCE: usize = 1 << 18;

/// The signature of every point: quantiles of its row of `K = (AAᵀ)^½`, of length 1, without what all have
/// in common, and of length 1 again.
///
/// K is `hhᵀ` with `h = A V diag(s^−½)`, where `AᵀA = V diag(s²) Vᵀ`.
pub async fn signatures(points: &Dense, seed: u64, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    let d = points.cols();
    let (values, vectors) = symmetric_eigen_watched(gram_watched(points, watch).await?, d, watch).await?;
    let first = values.first().copied().unwrap_or(0.0).max(0.0).sqrt();
    // A direction without extent would divide by zero.
    let roots: Vec<f64> = values
        .iter()
        .map(|v| v.max(0.0).sqrt())
        .map(|s| if s > 1e-4 * first && s > 0.0 { s.powf(-0.5) } else { 0.0 })
        .collect();
    let turn = Dense::from_fn(d, d, |i, j| (vectors[i * d + j] * roots[j]) as f32);
    let h = product_watched(points, &turn, watch).await?;
    let references = Rng::new(seed).sample(h.rows(), REFERENCES);
    let reference = Dense::from_fn(references.len(), d, |i, j| h.at(references[i], j));
    let mut out = Dense::new(h.rows(), QUANTILES, vec![0.0; h.rows() * QUANTILES]);
    // A block of points at a time: the whole of K may not fit.
    let count = reference.rows();
    const BLOCK: usize = 256;
    let mut rows = vec![0.0; BLOCK * count];
    let every = PATIENCE / count.max(1) + 1;
    for first in (0..h.rows()).step_by(BLOCK) {
        let size = BLOCK.min(h.rows() - first);
        let block = &h.data()[first * d..][..size * d];
        sgemm([size, count, d], 1.0, (block, (d, 1)), (reference.data(), (1, d)), &mut rows[..size * count]);
        for (i, row) in rows[..size * count].chunks_exact_mut(count).enumerate() {
            row.sort_unstable_by(f32::total_cmp);
            for (q, value) in out.row_mut(first + i).iter_mut().enumerate() {
                *value = row[(2 * q + 1) * count / (2 * QUANTILES)];
            }
            if (first + i + 1) % every == 0 {
                watch.step((first + i + 1) as f64 / h.rows() as f64).await?;
            }
        }
    }
    Normalisation::L2Rows.apply(&mut out);
    Normalisation::Centre.apply(&mut out);
    Normalisation::L2Rows.apply(&mut out);
    Ok(out)
}

/// How alike the points of both sides look: inner products of signatures, with mean 0 and deviation 1.
pub fn likeness(x: &Dense, y: &Dense) -> Dense {
    let (n, m, k) = (x.rows(), y.rows(), x.cols());
    let mut values = vec![0.0; n * m];
    sgemm([n, m, k], 1.0, (x.data(), (k, 1)), (y.data(), (1, k)), &mut values);
    let count = values.len() as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / count;
    let deviation = (values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / count).sqrt();
    let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
    values.iter_mut().for_each(|v| *v = ((f64::from(*v) - mean) * scale) as f32);
    Dense::new(n, m, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{NoWatch, unwatched};

    #[test]
    fn a_rotation_does_not_change_signatures() {
        let mut rng = Rng::new(6);
        let x =
            Dense::from_fn(50, 3, |_, j| (j as f32 + 1.0) * rng.uniform(-1.0, 1.0) * rng.uniform(0.0, 1.0));
        let (s, c) = 0.7f32.sin_cos();
        let y = Dense::from_fn(50, 3, |i, j| match j {
            0 => c * x.at(i, 0) - s * x.at(i, 2),
            1 => -x.at(i, 1),
            _ => s * x.at(i, 0) + c * x.at(i, 2),
        });
        let [a, b] = [&x, &y].map(|side| unwatched(signatures(side, 1, &mut NoWatch)).expect("not given up"));
        assert!(a.data().iter().zip(b.data()).all(|(a, b)| (a - b).abs() < 2e-3));
        let alike = likeness(&a, &b);
        let right = (0..50).filter(|&i| (0..50).all(|j| alike.at(i, j) <= alike.at(i, i) + 1e-4)).count();
        assert_eq!(right, 50);
    }
}
