//! How far masses are from what they are to be, where only their shares count.

use super::support::{Case, CaseBuilder, at_least, sum, sum_of};
use super::{part, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        len: u32,
        c_offset: u32, c_stride: u32,
        t_offset: u32, t_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "miss",
    summary: "distance of marginals from their target",
    wgsl: wgsl!("row_sum", => "miss"),
    bindings: &[Binding::read("c"), Binding::read("t"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Less mass than this counts as this.
const LEAST: f32 = 1e-37;

/// Records `Σ_j |c_j/Σc − t_j/Σt|` for `[c, t, out]`; `out` is 1×1. A transport of relaxed marginals whose mass is kept
/// at 1 does not feel a constant factor of either.
pub fn record(plan: &mut Plan, [c, t, out]: [Mat; 3]) {
    assert_eq!((c.len(), c.batch), (t.len(), t.batch), "miss: sizes");
    assert_eq!((out.len(), out.batch), (1, c.batch), "miss: result");
    let params = Params {
        len: c.len() as u32,
        c_offset: c.offset,
        c_stride: c.stride,
        t_offset: t.offset,
        t_stride: t.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    plan.record(&KERNEL, &params, &[], &[c.buf, t.buf, out.buf], [1, 1, c.batch]);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([c, t], [out]) = call.buffers();
    let len = p.len as usize;
    for z in 0..batch {
        let c = part(c, p.c_offset, p.c_stride, z, len);
        let t = part(t, p.t_offset, p.t_stride, z, len);
        let (masses, targets) = (at_least(LEAST, sum(c)), at_least(LEAST, sum(t)));
        out[p.out_offset as usize + z * p.out_stride as usize] =
            sum_of(c, t, |c, t| (c / masses - t / targets).abs());
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1], [2, 700], [1, 5]];
    shapes
        .into_iter()
        .map(|[batch, len]| {
            let mut case = CaseBuilder::new(format!("{batch} × {len}"));
            let c = case.random("c", [batch, len, 1], 0.1, 1.0);
            let t = case.random("t", [batch, len, 1], 2.0, 9.0);
            let out = case.gapped("out", [batch, 1, 1]);
            record(&mut case.plan, [c, t, out]);
            case.compare(&[out.buf], 1e-5)
        })
        .collect()
}
