//! What the solver is compared with: entropic Gromov-Wasserstein without encoders, as other libraries have
//! it, on the same kernels and executors, so that a comparison is one of methods and not of programs.

pub mod entropic_gw;
