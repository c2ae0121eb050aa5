//! The Adam optimiser (Kingma & Ba, arXiv 1412.6980, algorithm 1) over one flat arena of parameters.

use super::support::{Case, CaseBuilder, scheduled_row};
use super::wgsl;
use crate::plan::{Binding, BufId, Call, Clock, Kernel, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        beta1: f32, beta2: f32, epsilon: f32,
        columns: u32, steps: u32, rate_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "adam",
    summary: "optimiser step",
    wgsl: wgsl!("grid", "clock", => "adam"),
    bindings: &[
        Binding::read("grad"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("weights"),
        Binding::write("first"),
        Binding::write("second"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// The arenas of one optimiser, all of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Arenas {
    pub weights: BufId,
    pub grad: BufId,
    /// Running mean of the gradient.
    pub first: BufId,
    /// Running mean of its square.
    pub second: BufId,
}

/// What the schedule holds for Adam at step `t` (from 0): the learning rate and the two bias corrections
/// `1/(1−β₁^(t+1))` and `1/(1−β₂^(t+1))`, in neighbouring columns.
pub fn schedule_entry(t: u32, rate: f32) -> [f32; 3] {
    let correction = |beta: f32| (1.0 / (1.0 - f64::from(beta).powf(f64::from(t) + 1.0))) as f32;
    [rate, correction(BETA1), correction(BETA2)]
}

/// Records one step over the whole arena.
pub fn record(plan: &mut Plan, arenas: &Arenas, clock: Clock, rate_column: u32) {
    let Arenas { weights, grad, first, second } = *arenas;
    let len = plan.buffers()[weights.index()].len;
    assert!([grad, first, second].iter().all(|b| plan.buffers()[b.index()].len == len), "adam: arenas");
    assert!(rate_column + 3 <= clock.columns, "adam: three columns of the schedule");
    let params = Params {
        len: len as u32,
        beta1: BETA1,
        beta2: BETA2,
        epsilon: EPSILON,
        columns: clock.columns,
        steps: clock.steps,
        rate_column,
    };
    let buffers = [grad, clock.schedule, clock.step, weights, first, second];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(len, 256, 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([grad, schedule, step], [weights, first, second]) = call.buffers();
    let row = scheduled_row(schedule, step, p.steps, p.columns);
    let [rate, correct1, correct2] = std::array::from_fn(|c| row[p.rate_column as usize + c]);
    for (((w, g), m), v) in weights.iter_mut().zip(grad).zip(first).zip(second) {
        *m = p.beta1 * *m + (1.0 - p.beta1) * g;
        *v = p.beta2 * *v + (1.0 - p.beta2) * g * g;
        *w -= rate * (*m * correct1) / ((*v * correct2).sqrt() + p.epsilon);
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for len in [1u32, 255, 256, 1031] {
        let mut case = CaseBuilder::new(format!("{len} weights, five steps of a three-step schedule"));
        let mut arena = |label| {
            let mat = case.plan.mat(label, 1, len);
            (mat.buf, case.uniform(len as usize, -1.0, 1.0))
        };
        let [(weights, w), (grad, g), (first, m), (second, v)] =
            ["weights", "grad", "first", "second"].map(&mut arena);
        let values = case.plan.mat("values", 1, 1).buf;
        case.plan.set_initial(weights, &w);
        case.plan.set_initial(grad, &g);
        case.plan.set_initial(first, &m);
        case.plan.set_initial(second, &v.iter().map(|v| v.abs()).collect::<Vec<_>>());
        let rows: Vec<f32> = (0..3).flat_map(|t| [9.0].into_iter().chain(schedule_entry(t, 0.05))).collect();
        let clock = case.plan.set_schedule(4, &rows);
        let stats = case.plan.set_stats(1, 2);
        record(&mut case.plan, &Arenas { weights, grad, first, second }, clock, 1);
        super::tick::record(&mut case.plan, values, stats, clock);
        cases.push(case.compare_after(5, &[weights, first, second], 1e-5));
    }
    cases
}
