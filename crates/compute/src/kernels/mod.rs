//! Every kernel, once: `shaders/NAME.wgsl` and here `NAME.rs` with its CPU twin, the function that records
//! it into a plan, and the cases on which executors are compared.
//!
//! The twin is the readable statement of the formula and at the same time production code: it is what
//! runs where WebGPU does not exist.

pub mod absorb;
pub mod accumulate;
pub mod act_backward;
pub mod adam;
pub mod cg;
pub mod change;
pub mod col_lse;
pub mod gibbs;
pub mod implicit_grad;
pub mod implicit_right;
pub mod jacobi;
pub mod log_ratio;
pub mod mat_t_vec;
pub mod mat_vec;
pub mod matmul;
pub mod miss;
pub mod mse_grad;
pub mod normalise;
pub mod outer_add;
pub mod outer_divide;
pub mod over_tau;
pub mod pair_apply;
pub mod pair_rows;
pub mod pair_sinkhorn;
pub mod panels;
pub mod place;
pub mod reduce;
pub mod relax;
pub mod relaxed_scaling;
pub mod row_dots;
pub mod row_lse;
pub mod similarity;
pub mod soft_rank;
pub mod soft_rank_grad;
pub mod sort_rows;
pub mod sqm_grad;
pub mod sqm_moments;
pub mod sqm_sides;
pub mod target;
pub mod tick;
pub mod unit_rows;
pub mod unit_rows_grad;

mod support;

pub use support::has_fma;
pub use support::{Activation, Case, Potential, Quotient};
pub use support::{at_least, dot, exp, exp2, max_of, sum_of, transposed_product};

use crate::plan::Kernel;

/// A kernel together with the cases that exercise it.
pub struct Entry {
    pub kernel: &'static Kernel,
    /// Random and ragged inputs, seeded; [`crate::check`] plays them on two executors.
    pub cases: fn() -> Vec<Case>,
}

/// The registry. A test compares it with the files in `shaders/` and in this folder.
pub static ALL: &[Entry] = &[
    Entry { kernel: &matmul::KERNEL, cases: matmul::cases },
    Entry { kernel: &act_backward::KERNEL, cases: act_backward::cases },
    Entry { kernel: &adam::KERNEL, cases: adam::cases },
    Entry { kernel: &reduce::KERNEL, cases: reduce::cases },
    Entry { kernel: &row_lse::KERNEL, cases: row_lse::cases },
    Entry { kernel: &col_lse::KERNEL, cases: col_lse::cases },
    Entry { kernel: &mse_grad::KERNEL, cases: mse_grad::cases },
    Entry { kernel: &tick::KERNEL, cases: tick::cases },
    Entry { kernel: &gibbs::KERNEL, cases: gibbs::cases },
    Entry { kernel: &mat_vec::KERNEL, cases: mat_vec::cases },
    Entry { kernel: &mat_t_vec::KERNEL, cases: mat_t_vec::cases },
    Entry { kernel: &absorb::KERNEL, cases: absorb::cases },
    Entry { kernel: &sqm_moments::KERNEL, cases: sqm_moments::cases },
    Entry { kernel: &sqm_sides::KERNEL, cases: sqm_sides::cases },
    Entry { kernel: &sqm_grad::KERNEL, cases: sqm_grad::cases },
    Entry { kernel: &row_dots::KERNEL, cases: row_dots::cases },
    Entry { kernel: &implicit_right::KERNEL, cases: implicit_right::cases },
    Entry { kernel: &cg::KERNEL, cases: cg::cases },
    Entry { kernel: &implicit_grad::KERNEL, cases: implicit_grad::cases },
    Entry { kernel: &jacobi::KERNEL, cases: jacobi::cases },
    Entry { kernel: &similarity::KERNEL, cases: similarity::cases },
    Entry { kernel: &accumulate::KERNEL, cases: accumulate::cases },
    Entry { kernel: &outer_divide::KERNEL, cases: outer_divide::cases },
    Entry { kernel: &pair_rows::KERNEL, cases: pair_rows::cases },
    Entry { kernel: &unit_rows::KERNEL, cases: unit_rows::cases },
    Entry { kernel: &unit_rows_grad::KERNEL, cases: unit_rows_grad::cases },
    Entry { kernel: &sort_rows::KERNEL, cases: sort_rows::cases },
    Entry { kernel: &soft_rank::KERNEL, cases: soft_rank::cases },
    Entry { kernel: &soft_rank_grad::KERNEL, cases: soft_rank_grad::cases },
    Entry { kernel: &change::KERNEL, cases: change::cases },
    Entry { kernel: &pair_sinkhorn::KERNEL, cases: pair_sinkhorn::cases },
    Entry { kernel: &relax::KERNEL, cases: relax::cases },
    Entry { kernel: &place::KERNEL, cases: place::cases },
    Entry { kernel: &panels::KERNEL, cases: panels::cases },
    Entry { kernel: &pair_apply::KERNEL, cases: pair_apply::cases },
    Entry { kernel: &over_tau::KERNEL, cases: over_tau::cases },
    Entry { kernel: &target::KERNEL, cases: target::cases },
    Entry { kernel: &relaxed_scaling::KERNEL, cases: relaxed_scaling::cases },
    Entry { kernel: &miss::KERNEL, cases: miss::cases },
    Entry { kernel: &normalise::KERNEL, cases: normalise::cases },
    Entry { kernel: &outer_add::KERNEL, cases: outer_add::cases },
    Entry { kernel: &log_ratio::KERNEL, cases: log_ratio::cases },
];

/// Glues the shared pieces named in front to the shader itself, at compile time.
macro_rules! wgsl {
    ($($shared:literal,)* => $own:literal) => {
        concat!(
            $(include_str!(concat!("../../../../shaders/shared/", $shared, ".wgsl")), "\n",)*
            include_str!(concat!("../../../../shaders/", $own, ".wgsl"))
        )
    };
}
pub(crate) use wgsl;

/// Slices matrix `b` of a stack out of a buffer: `len` elements from `offset + b·stride`.
fn part(data: &[f32], offset: u32, stride: u32, b: usize, len: usize) -> &[f32] {
    let start = offset as usize + b * stride as usize;
    &data[start..start + len]
}

/// As [`part`], for writing.
fn part_mut(data: &mut [f32], offset: u32, stride: u32, b: usize, len: usize) -> &mut [f32] {
    let start = offset as usize + b * stride as usize;
    &mut data[start..start + len]
}
