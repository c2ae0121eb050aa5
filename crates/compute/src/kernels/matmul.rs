//! Matrix product with an epilogue: the kernel that most of the arithmetic goes through.

use super::support::{Activation, Case, CaseBuilder, specialised};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        m: u32, n: u32, k: u32,
        alpha: f32,
        epilogue: u32,
        activation: u32,
        border: u32,
        a_offset: u32, a_stride: u32,
        b_offset: u32, b_stride: u32,
        aux_offset: u32, aux_stride: u32,
        c_offset: u32, c_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "matmul",
    summary: "matrix product, bias and activation",
    wgsl: wgsl!("activation", => "matmul"),
    bindings: &[Binding::read("a"), Binding::read("b"), Binding::read("aux"), Binding::write("c")],
    params: Params::FIELDS,
    constants: &["LAYOUT", "EDGE"],
    twin,
};

/// Which operand is stored transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A·B
    NN = 0,
    /// A·Bᵀ
    NT = 1,
    /// Aᵀ·B
    TN = 2,
}

/// Values of the parameter `epilogue`.
const PLAIN: u32 = 0;
const ADD_BIAS: u32 = 1;
const GATE: u32 = 2;

/// What happens to an element of the product before it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Epilogue {
    None,
    /// `activation(c_ij + bias_j)`: the forward pass of a layer. The bias is a row vector.
    Bias(Mat, Activation),
    /// `c_ij · activation′(y_ij)`: the backward pass into a layer whose output was `y`.
    Gate(Mat, Activation),
}

/// Records `C = epilogue(alpha · op(A) · op(B))` for every matrix of the stack.
pub fn record(plan: &mut Plan, layout: Layout, alpha: f32, [a, b, c]: [Mat; 3], epilogue: Epilogue) {
    let ((m, k), (kb, n)) = match layout {
        Layout::NN => ((a.rows, a.cols), (b.rows, b.cols)),
        Layout::NT => ((a.rows, a.cols), (b.cols, b.rows)),
        Layout::TN => ((a.cols, a.rows), (b.rows, b.cols)),
    };
    record_product(plan, layout, alpha, ([m, n, k], kb), 0, [a, b, c], epilogue);
}

/// Records `C = [A | 1]ᵀ·B`: the gradient of a layer's weights, and below it that of its bias, which are the
/// column sums of B.
pub fn record_bordered(plan: &mut Plan, [a, b, c]: [Mat; 3]) {
    let sizes = ([a.cols + 1, b.cols, a.rows], b.rows);
    record_product(plan, Layout::TN, 1.0, sizes, 1, [a, b, c], Epilogue::None);
}

fn record_product(
    plan: &mut Plan,
    layout: Layout,
    alpha: f32,
    ([m, n, k], kb): ([u32; 3], u32),
    border: u32,
    [a, b, c]: [Mat; 3],
    epilogue: Epilogue,
) {
    assert_eq!(k, kb, "matmul {layout:?}: inner sizes of {a:?} and {b:?}");
    assert_eq!((c.rows, c.cols), (m, n), "matmul {layout:?}: size of the result");
    assert!(a.batch == c.batch && b.batch == c.batch, "matmul: stacks of different depth");
    // Without an epilogue the auxiliary binding is not read; it still has to be bound to something.
    let (epilogue, aux, activation) = match epilogue {
        Epilogue::None => (PLAIN, a, Activation::Identity),
        Epilogue::Bias(bias, activation) => {
            assert_eq!((bias.rows, bias.cols, bias.batch), (1, n, c.batch), "matmul: bias");
            (ADD_BIAS, bias, activation)
        }
        Epilogue::Gate(y, activation) => {
            assert_eq!((y.rows, y.cols, y.batch), (m, n, c.batch), "matmul: gate");
            (GATE, y, activation)
        }
    };
    // Large tiles reuse more; small ones give a small product enough workgroups to fill a device.
    let edge = if m.min(n) >= 256 { 16 } else { 8 };
    let params = Params {
        m,
        n,
        k,
        alpha,
        epilogue,
        activation: activation.code(),
        border,
        a_offset: a.offset,
        a_stride: a.stride,
        b_offset: b.offset,
        b_stride: b.stride,
        aux_offset: aux.offset,
        aux_stride: aux.stride,
        c_offset: c.offset,
        c_stride: c.stride,
    };
    let constants = [layout as u32, edge];
    let grid = [n.div_ceil(4 * edge), m.div_ceil(4 * edge), c.batch];
    plan.record(&KERNEL, &params, &constants, &[a.buf, b.buf, aux.buf, c.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let layout = call.constant(0);
    let activation = Activation::from_code(p.activation);
    let batch = call.batch();
    let ([a, b, aux], [c]) = call.buffers();
    let (m, n, k) = (p.m as usize, p.n as usize, p.k as usize);
    let stored = m - p.border as usize;
    let a_strides = if layout == Layout::TN as u32 { (1, stored) } else { (k, 1) };
    let b_strides = if layout == Layout::NT as u32 { (1, k) } else { (n, 1) };
    for z in 0..batch {
        let c = part_mut(c, p.c_offset, p.c_stride, z, m * n);
        let a = part(a, p.a_offset, p.a_stride, z, stored * k);
        let b = part(b, p.b_offset, p.b_stride, z, k * n);
        let (product, border) = c.split_at_mut(stored * n);
        sgemm([stored, n, k], p.alpha, (a, a_strides), (b, b_strides), product);
        if p.border == 1 {
            border.fill(0.0);
            for row in b.chunks_exact(n) {
                border.iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
            }
        }
        match p.epilogue {
            ADD_BIAS => {
                let bias = part(aux, p.aux_offset, p.aux_stride, z, n);
                specialised!(activation, KIND => for row in c.chunks_exact_mut(n) {
                    for (value, bias) in row.iter_mut().zip(bias) {
                        *value = KIND.apply(*value + bias);
                    }
                });
            }
            GATE => {
                let y = part(aux, p.aux_offset, p.aux_stride, z, m * n);
                specialised!(activation, KIND => for (value, y) in c.iter_mut().zip(y) {
                    *value *= KIND.grad(*y);
                });
            }
            _ => {}
        }
    }
}

/// `C = alpha·A·B` with SIMD, for operands given as a slice and its (row, column) strides.
#[cfg(target_arch = "wasm32")]
pub fn sgemm(
    [m, n, k]: [usize; 3],
    alpha: f32,
    a: (&[f32], (usize, usize)),
    b: (&[f32], (usize, usize)),
    c: &mut [f32],
) {
    assert!(a.0.len() == m * k && b.0.len() == k * n && c.len() == m * n);
    super::support::gemm([m, n, k], alpha, a, b, c);
}

/// `C = alpha·A·B` with SIMD, for operands given as a slice and its (row, column) strides.
#[cfg(not(target_arch = "wasm32"))]
#[allow(unsafe_code)]
pub fn sgemm(
    [m, n, k]: [usize; 3],
    alpha: f32,
    (a, a_strides): (&[f32], (usize, usize)),
    (b, b_strides): (&[f32], (usize, usize)),
    c: &mut [f32],
) {
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n);
    let signed = |s: usize| s as isize;
    // SAFETY: the slices hold exactly m·k, k·n and m·n elements, and either pair of strides is that of a
    // dense matrix of that size, so every address computed lies inside its slice. `c` is exclusive.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            alpha,
            a.as_ptr(),
            signed(a_strides.0),
            signed(a_strides.1),
            b.as_ptr(),
            signed(b_strides.0),
            signed(b_strides.1),
            0.0,
            c.as_mut_ptr(),
            signed(n),
            1,
        );
    }
}

pub fn cases() -> Vec<Case> {
    // Every kind of raggedness: single elements, below and above a register block, a tile, a panel.
    let shapes = [
        [1, 1, 1, 1],
        [1, 3, 5, 2],
        [2, 7, 4, 17],
        [1, 33, 31, 16],
        [3, 32, 32, 32],
        [1, 65, 130, 47],
        [1, 1, 200, 3],
        [1, 257, 270, 20],
    ];
    let mut cases = Vec::new();
    for (i, [batch, m, n, k]) in shapes.into_iter().enumerate() {
        for layout in [Layout::NN, Layout::NT, Layout::TN] {
            let activation = Activation::ALL[i % Activation::ALL.len()];
            for kind in ["plain", "bias", "gate"] {
                let label = format!("{layout:?} {batch} × {m}×{n}×{k}, {kind} {activation:?}");
                let mut case = CaseBuilder::new(label);
                let a_shape = if layout == Layout::TN { [batch, k, m] } else { [batch, m, k] };
                let b_shape = if layout == Layout::NT { [batch, n, k] } else { [batch, k, n] };
                let a = case.random("a", a_shape, -1.0, 1.0);
                let b = case.random("b", b_shape, -1.0, 1.0);
                let c = case.gapped("c", [batch, m, n]);
                let epilogue = match kind {
                    "bias" => Epilogue::Bias(case.random("bias", [batch, 1, n], -1.0, 1.0), activation),
                    "gate" => Epilogue::Gate(case.random("y", [batch, m, n], -1.0, 1.0), activation),
                    _ => Epilogue::None,
                };
                record(&mut case.plan, layout, 0.5, [a, b, c], epilogue);
                // WGSL lets tanh be off by 1e-5.
                let tolerance = if activation == Activation::Tanh { 3e-5 } else { 1e-5 };
                cases.push(case.compare(&[c.buf], tolerance));
            }
        }
        let mut case = CaseBuilder::new(format!("bordered {batch} × {m}×{n}×{k}"));
        let a = case.random("a", [batch, k, m], -1.0, 1.0);
        let b = case.random("b", [batch, k, n], -1.0, 1.0);
        let c = case.gapped("c", [batch, m + 1, n]);
        record_bordered(&mut case.plan, [a, b, c]);
        cases.push(case.compare(&[c.buf], 1e-5));
    }
    cases
}
