//! The vector part of conjugate gradients on the Schur complement of the implicit backward pass.
//!
//! The system is `(diag c − Πᵀ diag(1/a) Π) β = t − Πᵀ(s/a)`, scaled by `D = diag(c)^−½`, with c and a divided by τ where
//! marginals are relaxed; see
//! `solver::implicit` for where it comes from and `shaders/cg.wgsl` for the iteration.

use super::support::{Case, CaseBuilder, dot, sum};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        start: u32,
        m: u32,
        singular: u32,
        tolerance: f32,
        c_offset: u32, c_stride: u32,
        product_offset: u32, product_stride: u32,
        work_offset: u32, work_stride: u32,
        probe_offset: u32, probe_stride: u32,
        beta_offset: u32, beta_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "cg",
    summary: "conjugate-gradient step",
    wgsl: wgsl!("row_sum", => "cg"),
    bindings: &[
        Binding::read("c"),
        Binding::read("product"),
        Binding::write("work"),
        Binding::write("probe"),
        Binding::write("beta"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Below this a right-hand side counts as zero, and a curvature is not divided by.
const LEAST: f32 = 1e-30;

/// The operands of a step, all column vectors of length m but `work`.
#[derive(Clone, Copy, Debug)]
pub struct Cg {
    /// The plan's column sums.
    pub c: Mat,
    /// The right-hand side at the start, then `Πᵀ diag(1/a) Π · probe`.
    pub product: Mat,
    /// 3m + 3 values between steps; [`work`] makes it.
    pub work: Mat,
    /// What the next product is to be taken with.
    pub probe: Mat,
    /// The solution so far.
    pub beta: Mat,
    /// Relative size of the residual at which to stop.
    pub tolerance: f32,
    /// Whether √c is a null vector, which it is where both marginals are met: it is then projected out.
    pub singular: bool,
}

/// The memory a solver of `m` unknowns needs between steps.
pub fn work(plan: &mut Plan, batch: u32, m: u32) -> Mat {
    plan.mats("conjugate gradients", batch, 3 * m + 3, 1)
}

/// Records the start, from the right-hand side.
pub fn record_start(plan: &mut Plan, op: &Cg) {
    record(plan, op, 1);
}

/// Records one iteration.
pub fn record_step(plan: &mut Plan, op: &Cg) {
    record(plan, op, 0);
}

fn record(plan: &mut Plan, op: &Cg, start: u32) {
    let Cg { c, product, work, probe, beta, tolerance, singular } = *op;
    let m = c.rows;
    assert!([product, probe, beta].iter().all(|v| v.rows == m && v.batch == c.batch), "cg: vectors");
    assert_eq!(work.rows, 3 * m + 3, "cg: work");
    let params = Params {
        start,
        m,
        singular: singular.into(),
        tolerance,
        c_offset: c.offset,
        c_stride: c.stride,
        product_offset: product.offset,
        product_stride: product.stride,
        work_offset: work.offset,
        work_stride: work.stride,
        probe_offset: probe.offset,
        probe_stride: probe.stride,
        beta_offset: beta.offset,
        beta_stride: beta.stride,
    };
    let buffers = [c.buf, product.buf, work.buf, probe.buf, beta.buf];
    plan.record(&KERNEL, &params, &[], &buffers, [1, 1, c.batch]);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([c, product], [work, probe, beta]) = call.buffers();
    let m = p.m as usize;
    for z in 0..batch {
        let c = part(c, p.c_offset, p.c_stride, z, m);
        let product = part(product, p.product_offset, p.product_stride, z, m);
        let work = part_mut(work, p.work_offset, p.work_stride, z, 3 * m + 3);
        let probe = part_mut(probe, p.probe_offset, p.probe_stride, z, m);
        let beta = part_mut(beta, p.beta_offset, p.beta_stride, z, m);
        let root: Vec<f32> = c.iter().map(|c| c.sqrt()).collect();
        let mass = sum(c);
        if p.start == 1 {
            start(&root, mass, product, work, p.singular > 0);
            beta.fill(0.0);
        } else {
            iterate(&root, mass, product, work, (p.tolerance, p.singular > 0));
            let length = work[3 * m + 1];
            for ((beta, x), root) in beta.iter_mut().zip(&work[..m]).zip(&root) {
                *beta = length * x / root;
            }
        }
        for ((probe, d), root) in probe.iter_mut().zip(&work[2 * m..3 * m]).zip(&root) {
            *probe = d / root;
        }
    }
}

/// Residual and direction from the right-hand side, scaled by D, without its part along a null vector √c and of length 1.
fn start(root: &[f32], mass: f32, right: &[f32], work: &mut [f32], singular: bool) {
    let m = root.len();
    let along = if singular { sum(right) / mass } else { 0.0 };
    let mut right: Vec<f32> =
        right.iter().zip(root).map(|(value, root)| value / root - along * root).collect();
    let length = dot(&right, &right).sqrt();
    let scale = if length > LEAST { 1.0 / length } else { 0.0 };
    right.iter_mut().for_each(|v| *v *= scale);
    work[..m].fill(0.0);
    work[m..2 * m].copy_from_slice(&right);
    work[2 * m..3 * m].copy_from_slice(&right);
    work[3 * m..].copy_from_slice(&[1.0, length, f32::from(length <= LEAST)]);
}

/// One step of conjugate gradients. An exact permutation makes the matrix zero, so a direction without
/// curvature ends the iteration.
fn iterate(root: &[f32], mass: f32, product: &[f32], work: &mut [f32], (tolerance, singular): (f32, bool)) {
    let m = root.len();
    let (vectors, state) = work.split_at_mut(3 * m);
    let (solution, rest) = vectors.split_at_mut(m);
    let (residual, direction) = rest.split_at_mut(m);
    let along = if singular { (dot(root, direction) - sum(product)) / mass } else { 0.0 };
    let applied: Vec<f32> =
        (direction.iter().zip(product).zip(root)).map(|((d, q), root)| d - q / root - along * root).collect();
    let curvature = dot(direction, &applied);
    let stop = state[2] > 0.5 || curvature <= 1e-7 * dot(direction, direction);
    if !stop {
        let alpha = state[0] / curvature.max(LEAST);
        for ((x, r), (d, a)) in
            solution.iter_mut().zip(residual.iter_mut()).zip(direction.iter().zip(&applied))
        {
            *x += alpha * d;
            *r -= alpha * a;
        }
        let next = dot(residual, residual);
        let turn = next / state[0].max(LEAST);
        for (d, r) in direction.iter_mut().zip(residual.iter()) {
            *d = r + turn * *d;
        }
        state[0] = next;
    }
    if stop || state[0] <= tolerance * tolerance {
        state[2] = 1.0;
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (batch, m) in [(1, 1), (2, 37), (1, 300)] {
        // One step: the product is not that of a matrix, so a second would magnify rounding.
        for (steps, singular) in [(0, true), (1, true), (0, false), (1, false)] {
            let kind = if singular { "singular" } else { "definite" };
            let mut case = CaseBuilder::new(format!("{batch} × {m}, {steps} steps, {kind}"));
            let shape = [batch, m, 1];
            let c = case.random("c", shape, 0.5, 1.0);
            // A product small against √c·direction keeps the matrix positive.
            let product = case.random("product", shape, -0.01, 0.01);
            let [probe, beta] = ["probe", "beta"].map(|label| case.gapped(label, shape));
            let work = case.gapped("work", [batch, 3 * m + 3, 1]);
            let op = Cg { c, product, work, probe, beta, tolerance: 1e-3, singular };
            record_start(&mut case.plan, &op);
            (0..steps).for_each(|_| record_step(&mut case.plan, &op));
            cases.push(case.compare(&[work.buf, probe.buf, beta.buf], 1e-4));
        }
    }
    cases
}
