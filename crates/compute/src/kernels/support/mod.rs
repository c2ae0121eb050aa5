//! What several kernels share, the Rust side of `shaders/shared/`.

mod activation;
mod applied;
mod case;
mod clock;
mod exp;
#[cfg(any(test, target_arch = "wasm32"))]
mod gemm;
mod given;
mod lanes;
mod mat_vec;
mod pairs;
mod potential;

pub use activation::Activation;
pub(super) use activation::specialised;
pub(super) use applied::Applied;
pub use case::Case;
pub(super) use case::CaseBuilder;
pub(super) use clock::scheduled_row;
pub use exp::exp;
pub(super) use exp::exp_within;
pub use exp::exp2;
#[cfg(target_arch = "wasm32")]
pub(super) use gemm::gemm;
pub(super) use given::{MOST, given};
pub(super) use lanes::sum;
pub use lanes::{at_least, dot, max_of, sum_of, transposed_product};
pub use mat_vec::Quotient;
pub(super) use mat_vec::{
    BINDINGS as MAT_VEC_BINDINGS, MatVecParams, mat_vec_cases, quotient, record_mat_vec,
};
pub use pairs::has_fma;
pub(super) use pairs::{Given, PANEL, Rows, panels};
pub use potential::Potential;
pub(super) use potential::{LseParams, potential_cases, record_potential};
