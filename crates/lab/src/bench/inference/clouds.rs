//! Points that inference is measured on, natively and in a browser.

use align::geometry::Dense;
use align::scale::Clouds;
use align::solver::cost::CostKind;
use compute::rng::Rng;

const CLUSTERS: usize = 12;
/// Dimensions that matter; the others are a linear image of them, and noise.
const HIDDEN: usize = 6;

/// Embeddings as encoders give them: clusters of unequal size, the same on both sides and filled differently.
pub(crate) fn clouds(n: usize, dim: usize) -> Clouds {
    let mut rng = Rng::new(31);
    let centres = Dense::new(CLUSTERS, HIDDEN, rng.fill(CLUSTERS * HIDDEN, -2.0, 2.0));
    let map = Dense::new(HIDDEN, dim, rng.fill(HIDDEN * dim, -1.0, 1.0));
    let [x, y] = [2, 1].map(|unevenness| {
        let mut points = Dense::from_fn(n, dim, |_, _| rng.uniform(-0.1, 0.1));
        for i in 0..n {
            let cluster = rng.uniform(0.0, 1.0).powi(unevenness) * CLUSTERS as f32;
            let centre = centres.row((cluster as usize).min(CLUSTERS - 1));
            let hidden: Vec<f32> = centre.iter().map(|c| c + rng.uniform(-0.6, 0.6)).collect();
            for (j, v) in points.row_mut(i).iter_mut().enumerate() {
                *v += hidden.iter().enumerate().map(|(k, h)| h * map.at(k, j)).sum::<f32>();
            }
        }
        points
    });
    Clouds::new([&x, &y], CostKind::Sqm)
}
