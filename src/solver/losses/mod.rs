//! The losses, one file each. A loss turns a plan into `G = ∂L/∂Π`.

pub mod classic;
