//! Second and third moments of a cloud: what a rotation turns along, and what tells a cloud with groups from its mirror
//! image.

use crate::geometry::Dense;
use crate::watch::{Cancelled, Watch};
use compute::kernels::matmul::sgemm;
use compute::rng::Rng;

/// Second and third moments of the first `k` coordinates, centred: `C = ZᵀZ/n`, `T_abc = mean z_a z_b z_c`.
#[derive(Clone, Debug)]
pub struct Moments {
    k: usize,
    c: Vec<f64>,
    t: Vec<f64>,
}

/// Rows whose products are summed in float32 before they are added up in float64.
const BLOCK: usize = 256;

impl Moments {
    /// Of the first `k` coordinates; all of them if there are fewer.
    pub async fn new(points: &Dense, k: usize, watch: &mut impl Watch) -> Result<Self, Cancelled> {
        let k = k.min(points.cols());
        let all: Vec<usize> = (0..points.rows()).collect();
        Self::of_rows(points, &all, k, watch).await
    }

    async fn of_rows(
        points: &Dense,
        rows: &[usize],
        k: usize,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let n = rows.len().max(1) as f64;
        let mut mean = vec![0f64; k];
        for &i in rows {
            mean.iter_mut().zip(points.row(i)).for_each(|(sum, v)| *sum += f64::from(*v) / n);
        }
        let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
        let mut c = vec![0f64; k * k];
        let mut sums = vec![0f64; k * pairs.len()];
        let mut of_block = vec![0f32; k * pairs.len()];
        for (done, block) in rows.chunks(BLOCK).enumerate() {
            let centred = |&i: &usize| {
                let row = points.row(i)[..k].iter().zip(&mean);
                row.map(|(v, mean)| (f64::from(*v) - mean) as f32).collect::<Vec<f32>>()
            };
            let z: Vec<f32> = block.iter().flat_map(centred).collect();
            let squares: Vec<f32> =
                z.chunks_exact(k).flat_map(|z| pairs.iter().map(|&(a, b)| z[a] * z[b])).collect();
            for squares in squares.chunks_exact(pairs.len()) {
                for (&(a, b), v) in pairs.iter().zip(squares) {
                    c[a * k + b] += f64::from(*v) / n;
                }
            }
            let width = pairs.len();
            sgemm([k, width, block.len()], 1.0, (&z, (1, k)), (&squares, (width, 1)), &mut of_block);
            sums.iter_mut().zip(&of_block).for_each(|(sum, v)| *sum += f64::from(*v) / n);
            watch.step(((done + 1) * BLOCK).min(rows.len()) as f64 / n).await?;
        }
        let mut t = vec![0f64; k * k * k];
        for (first, sums) in sums.chunks_exact(pairs.len()).enumerate() {
            for (&(a, b), sum) in pairs.iter().zip(sums) {
                t[(first * k + a) * k + b] = *sum;
                t[(first * k + b) * k + a] = *sum;
            }
        }
        for &(a, b) in &pairs {
            c[b * k + a] = c[a * k + b];
        }
        Ok(Self { k, c, t })
    }

    /// How many coordinates these are of.
    pub fn len(&self) -> usize {
        self.k
    }

    pub fn is_empty(&self) -> bool {
        self.k == 0
    }

    /// Those of the first `k` coordinates, each of length 1, filled up with zeros to `padded` coordinates.
    pub(super) fn leading(&self, k: usize, padded: usize) -> (Vec<f32>, Vec<f32>) {
        let mut c = vec![0f64; padded * padded];
        let mut t = vec![0f64; padded * padded * padded];
        for a in 0..k {
            for b in 0..k {
                c[a * padded + b] = self.c[a * self.k + b];
                for d in 0..k {
                    t[(a * padded + b) * padded + d] = self.t[(a * self.k + b) * self.k + d];
                }
            }
        }
        (unit(&c), unit(&t))
    }

    /// The correlation of the third moments of two clouds in the same coordinates: 1 for the same cloud, about 0 for
    /// unrelated ones.
    pub fn third_correlation(&self, other: &Self) -> f64 {
        assert_eq!(self.k, other.k, "the same coordinates");
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let size = (dot(&self.t, &self.t) * dot(&other.t, &other.t)).sqrt();
        if size > 0.0 { dot(&self.t, &other.t) / size } else { 0.0 }
    }
}

/// The correlation of the third moments of two random halves of a cloud: near 0 where it has no skewness beyond noise, and
/// then nothing can be learned from it.
pub async fn split_half(
    points: &Dense,
    k: usize,
    seed: u64,
    watch: &mut impl Watch,
) -> Result<f64, Cancelled> {
    let n = points.rows();
    let order = Rng::new(seed ^ 0x6861_6c66).sample(n, n);
    let (one, other) = order.split_at(n / 2);
    let k = k.min(points.cols());
    let one = Moments::of_rows(points, one, k, watch).await?;
    let other = Moments::of_rows(points, other, k, watch).await?;
    Ok(one.third_correlation(&other))
}

fn unit(values: &[f64]) -> Vec<f32> {
    let size = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    let scale = if size > 0.0 { 1.0 / size } else { 0.0 };
    values.iter().map(|v| (v * scale) as f32).collect()
}
