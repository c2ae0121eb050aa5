//! A linear cost on features that both sides share (fused Gromov-Wasserstein): `⟨M, Π⟩`.

use super::super::losses::{Graded, inner};
use compute::plan::{Mat, Plan};

/// Records the term; its gradient is `M` itself, which must not be added to. Two dispatches.
pub fn record(plan: &mut Plan, shared_cost: Mat, pi: Mat) -> Graded {
    Graded { grad: shared_cost, value: inner(plan, 1.0, shared_cost, pi) }
}

/// M from shared features given row by row, `dim` a point: squared distances between the points of both sides,
/// divided by their mean, so that the term's weight means the same whatever the units.
pub fn shared_cost([x, y]: [&[f32]; 2], dim: usize) -> Vec<f32> {
    let square = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
    let squares: Vec<f64> = x
        .chunks_exact(dim)
        .flat_map(|p| y.chunks_exact(dim).map(move |q| p.iter().zip(q).map(square).sum()))
        .collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    // Features that are all the same say nothing.
    let scale = if mean > 0.0 { 1.0 / mean } else { 0.0 };
    squares.into_iter().map(|s| (s * scale) as f32).collect()
}
