//! The training step of the paper: two encoders, one entropic transport between them, and a loss that asks
//! whether the plan carries the distances of one side onto those of the other.
//!
//! `L(enc_x, enc_y) = loss(Π)`, `Π = Sinkhorn(C/ε)`, `C = cost(enc_x(X), enc_y(Y))`. Several fits, on
//! different subsamples or distances of the same size, train together as a stack.
//!
//! The marginals of the plan are met. Where the problem says how a loss depends on them, there is a second step, for the last
//! fifth of the training, whose marginals are relaxed: groups that only one side has then need not be matched. From the
//! start, relaxed marginals make alignments worse (a prototype on SNARE-seq: FOSCTTM 0.18, strict ones 0.15).

use super::annealing::Annealing;
use super::cost::{Cost, CostKind};
use super::implicit;
use super::losses::classic::{self, Distances};
use super::losses::rank_gw::{self, Ranks};
use super::losses::soft_rank::{self, SoftRank};
use super::losses::sums::Sums;
use super::losses::{Graded, Symmetry, frobenius, inner};
use super::mlp::{Arena, Mlp, MlpShape};
use super::sinkhorn::{Marginals, Relaxation, Sinkhorn, uniform};
use super::terms::{dirichlet, fused, pairs};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::{Activation, accumulate, adam, tick};
use compute::plan::{BufId, Mat, PassId, Plan};
use compute::rng::Rng;

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignSettings {
    pub hidden: u32,
    pub embedding: u32,
    pub activation: Activation,
    pub cost: CostKind,
    pub steps: u32,
    pub rate: f32,
    pub annealing: Annealing,
    /// Sinkhorn iterations a step, from where the last step ended.
    pub sinkhorn: u32,
    /// Conjugate-gradient iterations a step, at most.
    pub conjugate: u32,
    pub seed: u64,
}

impl Default for AlignSettings {
    fn default() -> Self {
        Self {
            hidden: 128,
            embedding: 16,
            activation: Activation::Relu,
            cost: CostKind::default(),
            steps: 300,
            rate: 2e-3,
            annealing: Annealing::default(),
            sinkhorn: 10,
            conjugate: 10,
            seed: 1,
        }
    }
}

/// What to align: for every fit of the stack n points of X, m of Y, and how their distances are at hand.
/// Recorded by the caller into the same plan.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Encoder inputs, one row a point.
    pub x: Mat,
    pub y: Mat,
    pub objective: Objective,
    pub terms: Terms,
    /// What a quadratic loss takes where marginals are relaxed: with it there is a relaxed step as well.
    pub sums: Option<Sums>,
}

/// The loss, with the matrices it compares.
#[derive(Clone, Copy, Debug)]
pub enum Objective {
    Classic(Distances),
    RankGw(Ranks),
    /// Distances `[DX, DY]`, symmetric.
    Frobenius([Mat; 2]),
    SoftRank(SoftRank),
}

/// Optional terms, each with its weight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// Laplacians `[LX, LY]` of both sides' neighbour graphs.
    pub dirichlet: Option<(f32, [Mat; 2])>,
    /// A cost between shared features, n×m.
    pub fused: Option<(f32, Mat)>,
    /// Known pairs (`terms::pairs::weights`), n×m.
    pub pairs: Option<(f32, Mat)>,
}

/// Statistics of a step, for every fit: `[loss, marginal error]`; of quadratic losses without their constant.
pub const STATS: u32 = 2;

/// Columns of the schedule.
const EPS: u32 = 0;
const RATE: u32 = 1;
const COLUMNS: u32 = 4;

/// λ of a relaxed step.
const RELAXED: f32 = 0.2;

/// The first of the last fifth of so many steps, from which marginals may be relaxed.
pub fn relaxed_from(steps: u32) -> u32 {
    steps - steps.div_ceil(5)
}

/// A recorded training run.
pub struct Align {
    pub step: PassId,
    /// The step with relaxed marginals, which goes on from where the other stands and the reverse.
    pub relaxed_step: Option<PassId>,
    steps: u32,
    /// The parameters of all fits: for each those of enc_x, then those of enc_y.
    pub weights: BufId,
    /// Their gradients, as the last step left them.
    pub gradients: BufId,
    pub shapes: [MlpShape; 2],
    /// Where the last step has put the points of both sides.
    pub embedded: [Mat; 2],
    /// The plan of the last step.
    pub plan: Mat,
    /// The potential from which the next step's transport starts.
    pub potential: Mat,
    /// From what the next step follows, besides the clock.
    pub state: [BufId; 4],
}

impl Align {
    /// The networks for inputs of these dimensions.
    pub fn shapes(settings: &AlignSettings, dims: [u32; 2]) -> [MlpShape; 2] {
        dims.map(|dim| MlpShape {
            sizes: vec![dim, settings.hidden, settings.hidden, settings.embedding],
            hidden: settings.activation,
            output: Activation::Identity,
        })
    }

    /// The first step that is taken by the last of the passes.
    pub fn last_pass_from(&self) -> u32 {
        self.relaxed_step.map_or(0, |_| relaxed_from(self.steps))
    }

    /// The pass that takes a step, and the first later step that it does not take.
    pub fn pass(&self, step: u32) -> (PassId, u32) {
        match self.relaxed_step {
            Some(_) if step < self.last_pass_from() => (self.step, self.last_pass_from()),
            Some(relaxed) => (relaxed, self.steps),
            None => (self.step, self.steps),
        }
    }

    /// Records the training step into a plan that holds the problem. Uniform marginals.
    pub fn record(plan: &mut Plan, settings: &AlignSettings, problem: &Problem) -> Self {
        let Problem { x, y, objective, terms, sums } = *problem;
        let batch = x.batch;
        let shapes = Self::shapes(settings, [x.cols, y.cols]);
        let schedule: Vec<f32> = (0..settings.steps)
            .flat_map(|t| {
                let eps = settings.annealing.eps(t, settings.steps);
                [eps].into_iter().chain(adam::schedule_entry(t, settings.rate))
            })
            .collect();
        let clock = plan.set_schedule(COLUMNS, &schedule);
        let ring = plan.set_stats(STATS * batch, settings.steps);

        let mut arena = Arena::new(plan, batch, shapes.iter().map(MlpShape::parameters).sum());
        let mut rng = Rng::new(settings.seed);
        let initial: Vec<f32> = (0..batch)
            .flat_map(|_| shapes.each_ref().map(|shape| shape.initial(&mut rng)))
            .flatten()
            .collect();
        arena.set_initial(plan, &initial);
        let [enc_x, enc_y] = shapes.each_ref().map(|shape| Mlp::new(&mut arena, shape));
        let (a, b) = (uniform(x.rows), uniform(y.rows));
        let sinkhorn = Sinkhorn::new(plan, batch, Marginals::strict(&a, &b), clock, EPS);

        let step = plan.begin_pass("training step");
        let [pass_x, pass_y] = [(&enc_x, x), (&enc_y, y)].map(|(enc, input)| enc.forward(plan, input));
        let cost = Cost::forward(plan, settings.cost, pass_x.output(), pass_y.output());
        let forward = plan.recorded(step);
        sinkhorn.record(plan, cost.cost(), settings.sinkhorn);
        let transported = plan.recorded(step);
        let loss = record_loss(plan, &objective, &terms, &sinkhorn);
        let lost = plan.recorded(step);
        let implicit = implicit::record(plan, &sinkhorn, loss.grad, settings.conjugate, (clock, EPS));
        let values = plan.mats("step statistics", batch, STATS, 1);
        let value = |offset| Mat { rows: 1, offset, ..values };
        // A quadratic loss is half the inner product of its gradient with the plan, which is at hand here.
        match loss.value {
            Some(total) => reduce::record(plan, Operation::Sum, 1.0, total, value(0)),
            None => reduce::record(plan, Operation::Sum, 0.5, implicit.s.reshaped(1, x.rows), value(0)),
        }
        let through = plan.recorded(step);
        if let Some((weight, laplacians)) = terms.dirichlet {
            let term = dirichlet::record(plan, laplacians, cost.cost());
            // Per pair of points, so that the weight does not depend on their number.
            let weight = weight / (x.rows * y.rows) as f32;
            accumulate::record(plan, weight, term.grad, implicit.cost_grad);
            accumulate::record(plan, weight, term.value, value(0));
        }
        let [dz, dw] = cost.backward(plan, implicit.cost_grad);
        enc_x.backward(plan, &pass_x, dz);
        enc_y.backward(plan, &pass_y, dw);
        arena.record_adam(plan, clock, RATE);
        let updated = plan.recorded(step);
        sinkhorn.record_error_of(plan, implicit.c, value(1));
        tick::record(plan, values.buf, ring, clock);

        let relaxed_step = sums.map(|sums| {
            let sinkhorn = sinkhorn.relaxed(plan, Relaxation::both(RELAXED));
            let relaxed = plan.begin_pass("relaxed training step");
            plan.repeat(step, 0..forward);
            sinkhorn.record(plan, cost.cost(), settings.sinkhorn);
            plan.repeat(step, transported..lost);
            let value_of_loss = loss.value.unwrap_or_else(|| inner(plan, 0.5, loss.grad, sinkhorn.plan));
            let of_rows = [sinkhorn.rows(), sinkhorn.a()];
            let of_columns = [sinkhorn.record_columns(plan), sinkhorn.b()];
            let graded = Graded { grad: loss.grad, value: value_of_loss };
            sums.add(plan, [of_rows, of_columns], &graded);
            let grads = [loss.grad, implicit.cost_grad];
            let implicit = implicit::record_into(plan, &sinkhorn, grads, settings.conjugate, (clock, EPS));
            reduce::record(plan, Operation::Sum, 1.0, value_of_loss, value(0));
            plan.repeat(step, through..updated);
            sinkhorn.record_error_of(plan, implicit.c, value(1));
            tick::record(plan, values.buf, ring, clock);
            relaxed
        });
        let (weights, gradients) = arena.buffers();
        let [parameters, first, second] = arena.state();
        Self {
            step,
            relaxed_step,
            steps: settings.steps,
            weights,
            gradients,
            shapes,
            embedded: [pass_x.output(), pass_y.output()],
            plan: sinkhorn.plan,
            potential: sinkhorn.g,
            state: [parameters, first, second, sinkhorn.g.buf],
        }
    }
}

/// The gradient of a loss, and its value where that takes extra work.
struct Loss {
    grad: Mat,
    value: Option<Mat>,
}

/// Records the loss and the terms on the plan.
fn record_loss(plan: &mut Plan, objective: &Objective, terms: &Terms, sinkhorn: &Sinkhorn) -> Loss {
    let (pi, a) = (sinkhorn.plan, sinkhorn.a());
    let alone = terms.fused.is_none() && terms.pairs.is_none();
    let graded = match objective {
        Objective::Classic(distances) if alone => {
            return Loss { grad: classic::record(plan, distances, pi), value: None };
        }
        Objective::RankGw(ranks) if alone => {
            return Loss { grad: rank_gw::record(plan, ranks, pi), value: None };
        }
        Objective::Classic(distances) => classic::graded(plan, distances, pi),
        Objective::RankGw(ranks) => rank_gw::graded(plan, ranks, pi),
        Objective::Frobenius(distances) => frobenius::record(plan, *distances, Symmetry::Symmetric, pi, a),
        Objective::SoftRank(constants) => soft_rank::record(plan, constants, pi, a),
    };
    if let Some((weight, shared_cost)) = terms.fused {
        let term = fused::record(plan, shared_cost, pi);
        graded.add(plan, weight, &term);
    }
    if let Some((weight, known)) = terms.pairs {
        let term = pairs::record(plan, known, pi, a);
        graded.add(plan, weight, &term);
    }
    Loss { grad: graded.grad, value: Some(graded.value) }
}

#[cfg(test)]
mod tests {
    use super::relaxed_from;

    #[test]
    fn the_last_fifth_is_relaxed_and_never_nothing() {
        assert_eq!([300, 20, 7, 5, 2, 1].map(relaxed_from), [240, 16, 5, 4, 1, 0]);
    }
}
