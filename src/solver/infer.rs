//! Inference: trained encoders applied to any points, and one entropic transport between the results.

use super::annealing::Annealing;
use super::cost::SqmCost;
use super::mlp::{Arena, Mlp, MlpShape};
use super::sinkhorn::{Marginals, Sinkhorn, uniform};
use crate::kernels::tick;
use crate::plan::{Mat, PassId, Plan};

/// ε falls from this while the potentials converge, because cold iterations at a small ε need thousands.
const START: f32 = 1.0;
/// Sinkhorn iterations for each value of ε.
const PER_STEP: u32 = 20;

/// A recorded inference, with the whole plan in memory.
pub struct Infer {
    pub plan: Plan,
    /// Embeds both sides; played once.
    pub embed: PassId,
    /// Goes on with the transport; played [`Infer::steps`] times. Its statistic is the marginal error.
    pub transport: PassId,
    pub steps: u32,
    pub x_embedded: Mat,
    pub y_embedded: Mat,
    /// Π.
    pub coupling: Mat,
}

impl Infer {
    /// Records the inference for points given row by row, with the parameters of one fit (enc_x, then
    /// enc_y), at this ε.
    pub fn record(
        shapes: &[MlpShape; 2],
        weights: &[f32],
        [x, y]: [&[f32]; 2],
        eps: f32,
        steps: u32,
    ) -> Self {
        let mut plan = Plan::new();
        let [x, y] = [(x, &shapes[0]), (y, &shapes[1])].map(|(data, shape)| {
            let cols = shape.sizes[0];
            let mat = plan.mat("points", data.len() as u32 / cols, cols);
            plan.set_initial(mat.buf, data);
            mat
        });
        let annealing = Annealing { start: START.max(eps), end: eps, share: 0.5 };
        let schedule: Vec<f32> = (0..steps).map(|t| annealing.eps(t, steps)).collect();
        let clock = plan.set_schedule(1, &schedule);
        let ring = plan.set_stats(1, steps);
        let mut arena = Arena::new(&mut plan, 1, shapes.iter().map(MlpShape::parameters).sum());
        arena.set_initial(&mut plan, weights);
        let [enc_x, enc_y] = shapes.each_ref().map(|shape| Mlp::new(&mut arena, shape));
        let (a, b) = (uniform(x.rows), uniform(y.rows));
        let sinkhorn = Sinkhorn::new(&mut plan, 1, Marginals { a: &a, b: &b }, clock, 0);

        let embed = plan.begin_pass("embed");
        let [x_embedded, y_embedded] =
            [(&enc_x, x), (&enc_y, y)].map(|(enc, points)| enc.forward(&mut plan, points).output());
        let cost = SqmCost::forward(&mut plan, x_embedded, y_embedded);

        let transport = plan.begin_pass("transport");
        sinkhorn.record(&mut plan, cost.cost(), PER_STEP);
        let error = plan.mat("marginal error", 1, 1);
        sinkhorn.record_error(&mut plan, error);
        tick::record(&mut plan, error.buf, ring, clock);
        Self { plan, embed, transport, steps, x_embedded, y_embedded, coupling: sinkhorn.plan }
    }
}
