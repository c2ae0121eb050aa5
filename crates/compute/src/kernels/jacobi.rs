//! Singular value decomposition by one-sided Jacobi rotations, and a power of the spectrum: what the
//! linear encoders' step needs of `XᵀΠY`.
//!
//! The rotations go on from where the last step ended: the caller multiplies the new matrix by the old V
//! first, and then one or two sweeps are enough, because the matrix changes little from step to step.

use super::support::{Case, CaseBuilder, dot, scheduled_row};
use super::{part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        sweeps: u32,
        a_offset: u32, a_stride: u32,
        v_offset: u32, v_stride: u32,
        out_offset: u32, out_stride: u32,
        columns: u32, steps: u32, power_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "jacobi",
    summary: "singular values by Jacobi rotations",
    wgsl: wgsl!("clock", => "jacobi"),
    bindings: &[
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("a"),
        Binding::write("v"),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct Jacobi {
    /// `M·V` with the V of the last step; its columns become orthogonal.
    pub a: Mat,
    /// Square; gets the same rotations, so that `M = A·Vᵀ` throughout.
    pub v: Mat,
    /// `U (s/s₁)^p`, of the size of `a`.
    pub out: Mat,
    pub sweeps: u32,
    pub clock: Clock,
    /// The column of the schedule that holds p.
    pub power_column: u32,
}

/// Records the sweeps and the power.
pub fn record(plan: &mut Plan, op: &Jacobi) {
    let Jacobi { a, v, out, sweeps, clock, power_column } = *op;
    assert_eq!((v.rows, v.cols, v.batch), (a.cols, a.cols, a.batch), "jacobi: rotations");
    assert_eq!((out.rows, out.cols, out.batch), (a.rows, a.cols, a.batch), "jacobi: result");
    assert!(power_column < clock.columns);
    let params = Params {
        rows: a.rows,
        cols: a.cols,
        sweeps,
        a_offset: a.offset,
        a_stride: a.stride,
        v_offset: v.offset,
        v_stride: v.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        columns: clock.columns,
        steps: clock.steps,
        power_column,
    };
    let buffers = [clock.schedule, clock.step, a.buf, v.buf, out.buf];
    plan.record(&KERNEL, &params, &[], &buffers, [1, 1, a.batch]);
}

/// Columns closer to orthogonal than this are left alone.
const TOLERANCE: f32 = 1e-6;
/// Directions this far below the largest count as absent.
const LEAST: f32 = 1e-6;

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([schedule, step], [a, v, out]) = call.buffers();
    let power = scheduled_row(schedule, step, p.steps, p.columns)[p.power_column as usize];
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let a = part_mut(a, p.a_offset, p.a_stride, z, rows * cols);
        let v = part_mut(v, p.v_offset, p.v_stride, z, cols * cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows * cols);
        // Columns side by side in memory.
        let mut at = transposed(a, cols);
        let mut vt = transposed(v, cols);
        (0..p.sweeps).for_each(|_| sweep(&mut at, &mut vt, rows, cols));
        let sizes: Vec<f32> = at.chunks_exact(rows).map(|column| dot(column, column).sqrt()).collect();
        let first = sizes.iter().copied().fold(0.0, f32::max);
        for (j, (column, s)) in at.chunks_exact(rows).zip(&sizes).enumerate() {
            let there = *s > LEAST * first && *s > 1e-30;
            let scale = if there { (s / first).powf(power) / s } else { 0.0 };
            for (i, value) in column.iter().enumerate() {
                a[i * cols + j] = *value;
                out[i * cols + j] = scale * value;
            }
        }
        for (j, column) in vt.chunks_exact(cols).enumerate() {
            column.iter().enumerate().for_each(|(i, value)| v[i * cols + j] = *value);
        }
    }
}

fn transposed(matrix: &[f32], cols: usize) -> Vec<f32> {
    (0..cols).flat_map(|j| matrix.iter().skip(j).step_by(cols)).copied().collect()
}

/// Every pair of columns once, in the order of a round-robin tournament.
fn sweep(at: &mut [f32], vt: &mut [f32], rows: usize, cols: usize) {
    let players = cols + cols % 2;
    let circle = players - 1;
    for round in 0..circle {
        for pair in 0..players / 2 {
            let (i, j) = match pair {
                0 => (circle, round),
                _ => ((round + pair) % circle, (round + circle - pair) % circle),
            };
            if i.max(j) >= cols {
                continue;
            }
            let (x, y) = two(at, i, j, rows);
            let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
            if xy.abs() <= TOLERANCE * xx.sqrt() * yy.sqrt() || xy.abs() <= 1e-30 {
                continue;
            }
            let zeta = (yy - xx) / (2.0 * xy);
            let t = if zeta >= 0.0 { 1.0 } else { -1.0 } / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            rotate(x, y, c, c * t);
            let (x, y) = two(vt, i, j, cols);
            rotate(x, y, c, c * t);
        }
    }
}

/// Two different columns of length `len`, for writing.
fn two(columns: &mut [f32], i: usize, j: usize, len: usize) -> (&mut [f32], &mut [f32]) {
    let (low, high) = columns.split_at_mut(i.max(j) * len);
    let (low, high) = (&mut low[i.min(j) * len..][..len], &mut high[..len]);
    if i < j { (low, high) } else { (high, low) }
}

fn rotate(x: &mut [f32], y: &mut [f32], c: f32, s: f32) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [1, 5, 2], [2, 9, 7], [1, 12, 12]];
    shapes
        .into_iter()
        .map(|[batch, rows, cols]| {
            let mut case = CaseBuilder::new(format!("{batch} × {rows}×{cols}"));
            let a = case.random("a", [batch, rows, cols], -1.0, 1.0);
            let v = case.random("v", [batch, cols, cols], -1.0, 1.0);
            let out = case.gapped("out", [batch, rows, cols]);
            let clock = case.plan.set_schedule(2, &[9.0, 0.4]);
            record(&mut case.plan, &Jacobi { a, v, out, sweeps: 2, clock, power_column: 1 });
            case.compare(&[a.buf, v.buf, out.buf], 1e-4)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A = U·diag(s): orthogonal columns; A·Vᵀ is the matrix one began with; V is orthogonal.
    #[test]
    fn columns_become_orthogonal_and_the_product_stays() {
        for (rows, cols) in [(7, 7), (20, 11), (5, 9)] {
            let start = Rng::new(5).fill(rows * cols, -1.0, 1.0);
            let mut at = transposed(&start, cols);
            let mut vt = vec![0.0; cols * cols];
            (0..cols).for_each(|j| vt[j * cols + j] = 1.0);
            (0..12).for_each(|_| sweep(&mut at, &mut vt, rows, cols));
            let column = |of: &[f32], j: usize, len: usize| of[j * len..][..len].to_vec();
            for i in 0..cols {
                for j in 0..cols {
                    let want = if i == j { 1.0 } else { 0.0 };
                    assert!((dot(&column(&vt, i, cols), &column(&vt, j, cols)) - want).abs() < 1e-5);
                    if i != j {
                        assert!(dot(&column(&at, i, rows), &column(&at, j, rows)).abs() < 1e-5);
                    }
                }
            }
            for r in 0..rows {
                for c in 0..cols {
                    let got: f32 = (0..cols).map(|k| at[k * rows + r] * vt[k * cols + c]).sum();
                    assert!((got - start[r * cols + c]).abs() < 1e-5);
                }
            }
        }
    }
}
