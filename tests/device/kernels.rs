//! Every kernel on WebGPU against its CPU twin, on random and ragged sizes. The same bodies run natively
//! on Vulkan and in a browser.

use crate::common::{block_on_test, gpu};
use compute::{check, kernels};

/// One test per kernel, and a check that none was forgotten.
macro_rules! kernel_tests {
    ($($name:ident),+ $(,)?) => {
        $(block_on_test! {
            async fn $name() {
                agrees(stringify!($name)).await;
            }
        })+

        block_on_test! {
            async fn every_registered_kernel_has_a_test() {
                let tested = [$(stringify!($name)),+];
                let registered: Vec<&str> = kernels::ALL.iter().map(|e| e.kernel.name).collect();
                assert_eq!(tested.to_vec(), registered);
            }
        }
    };
}

kernel_tests!(
    matmul,
    act_backward,
    adam,
    reduce,
    row_lse,
    col_lse,
    mse_grad,
    tick,
    gibbs,
    mat_vec,
    mat_t_vec,
    absorb,
    sqm_moments,
    sqm_sides,
    sqm_grad,
    row_dots,
    implicit_right,
    cg,
    implicit_grad,
    jacobi,
    similarity,
    accumulate,
    outer_divide,
    pair_rows,
    unit_rows,
    unit_rows_grad,
    sort_rows,
    soft_rank,
    soft_rank_grad,
    change,
    pair_sinkhorn,
    relax,
    place,
    panels,
    pair_apply,
    over_tau,
    target,
    relaxed_scaling,
    miss,
    normalise,
    outer_add,
    log_ratio
);

async fn agrees(name: &str) {
    let index = kernels::ALL.iter().position(|e| e.kernel.name == name).expect("registered");
    let report = check::check_kernel(&gpu().await, index).await.expect("the device lives");
    assert!(report.cases > 0);
    assert!(
        report.passed(),
        "{name}: error {} is {} times what '{}' allows",
        report.worst_error,
        report.worst_ratio,
        report.worst_case
    );
}
