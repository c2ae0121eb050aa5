//! From similarities of linearly mapped points to the cost their transport sees.

use super::support::{Case, CaseBuilder, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        start: u32,
        s_offset: u32, s_stride: u32,
        moments_offset: u32, moments_stride: u32,
        guide_offset: u32, guide_stride: u32,
        weight_offset: u32, weight_stride: u32,
        cost_offset: u32, cost_stride: u32,
        columns: u32, steps: u32, lambda_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "similarity",
    summary: "cost of the linear encoders",
    wgsl: wgsl!("grid", "clock", => "similarity"),
    bindings: &[
        Binding::read("s"),
        Binding::read("moments"),
        Binding::read("guide"),
        Binding::read("weight"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("cost"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct Similarity {
    /// Inner products of mapped points, n×m.
    pub s: Mat,
    /// The sums of S and of S², 2×1.
    pub moments: Mat,
    /// G: what is known about the similarities beforehand, n×m.
    pub guide: Mat,
    /// How much this fit listens to it during the run, 1×1.
    pub weight: Mat,
    pub cost: Mat,
    pub clock: Clock,
    /// The column of the schedule that holds λ.
    pub lambda_column: u32,
}

/// Records `C = −(S/std(S) + λ w G)`.
pub fn record(plan: &mut Plan, op: &Similarity) {
    record_kind(plan, op, 0);
}

/// Records `C = −G`, from which a run starts.
pub fn record_start(plan: &mut Plan, op: &Similarity) {
    record_kind(plan, op, 1);
}

fn record_kind(plan: &mut Plan, op: &Similarity, start: u32) {
    let Similarity { s, moments, guide, weight, cost, clock, lambda_column } = *op;
    for other in [guide, cost] {
        assert_eq!((s.rows, s.cols, s.batch), (other.rows, other.cols, other.batch), "similarity: sizes");
    }
    assert_eq!((moments.rows, weight.rows), (2, 1), "similarity: moments and weight");
    let params = Params {
        len: u32::try_from(s.len()).unwrap_or(u32::MAX),
        start,
        s_offset: s.offset,
        s_stride: s.stride,
        moments_offset: moments.offset,
        moments_stride: moments.stride,
        guide_offset: guide.offset,
        guide_stride: guide.stride,
        weight_offset: weight.offset,
        weight_stride: weight.stride,
        cost_offset: cost.offset,
        cost_stride: cost.stride,
        columns: clock.columns,
        steps: clock.steps,
        lambda_column,
    };
    let buffers = [s.buf, moments.buf, guide.buf, weight.buf, clock.schedule, clock.step, cost.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(s.len(), 256, s.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([s, moments, guide, weight, schedule, step], [cost]) = call.buffers();
    let lambda = scheduled_row(schedule, step, p.steps, p.columns)[p.lambda_column as usize];
    let len = p.len as usize;
    for z in 0..batch {
        let s = part(s, p.s_offset, p.s_stride, z, len);
        let moments = part(moments, p.moments_offset, p.moments_stride, z, 2);
        let guide = part(guide, p.guide_offset, p.guide_stride, z, len);
        let lambda = lambda * part(weight, p.weight_offset, p.weight_stride, z, 1)[0];
        let cost = part_mut(cost, p.cost_offset, p.cost_stride, z, len);
        if p.start == 1 {
            cost.iter_mut().zip(guide).for_each(|(cost, hint)| *cost = -hint);
            continue;
        }
        let [mean, square] = [moments[0] / len as f32, moments[1] / len as f32];
        let deviation = (square - mean * mean).max(1e-20).sqrt();
        for ((cost, s), hint) in cost.iter_mut().zip(s).zip(guide) {
            *cost = -(s / deviation + lambda * hint);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, m] in [[1, 1, 1], [2, 17, 31], [1, 65, 5]] {
        for start in [false, true] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}, start {start}"));
            let s = case.random("s", [batch, n, m], -1.0, 1.0);
            let moments = case.random("moments", [batch, 2, 1], 0.5, 1.5);
            let guide = case.random("guide", [batch, n, m], -1.0, 1.0);
            let weight = case.random("weight", [batch, 1, 1], 0.5, 1.0);
            let cost = case.gapped("cost", [batch, n, m]);
            let clock = case.plan.set_schedule(2, &[9.0, 0.4]);
            let op = Similarity { s, moments, guide, weight, cost, clock, lambda_column: 1 };
            if start {
                record_start(&mut case.plan, &op)
            } else {
                record(&mut case.plan, &op)
            }
            // The deviation of made-up moments may be that of nearly nothing.
            cases.push(case.compare(&[cost.buf], 1e-4));
        }
    }
    cases
}
