//! Activations whose derivative is a function of their output; the twin of `shaders/shared/activation.wgsl`.

use super::at_least;

/// The slope of [`Activation::LeakyRelu`] below zero.
const LEAKY_SLOPE: f32 = 0.01;

/// The numbers are those of the WGSL constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    Identity = 0,
    Relu = 1,
    LeakyRelu = 2,
    Elu = 3,
    Tanh = 4,
}

impl Activation {
    pub const ALL: [Activation; 5] = [Self::Identity, Self::Relu, Self::LeakyRelu, Self::Elu, Self::Tanh];

    /// The value of the parameter `activation`.
    pub fn code(self) -> u32 {
        self as u32
    }

    pub fn from_code(code: u32) -> Self {
        Self::ALL[code as usize]
    }

    #[inline(always)]
    pub fn apply(self, x: f32) -> f32 {
        match self {
            Self::Identity => x,
            Self::Relu => at_least(0.0, x),
            Self::LeakyRelu => {
                if x > 0.0 {
                    x
                } else {
                    LEAKY_SLOPE * x
                }
            }
            Self::Elu => {
                if x > 0.0 {
                    x
                } else {
                    x.exp() - 1.0
                }
            }
            Self::Tanh => x.tanh(),
        }
    }

    /// The derivative, given the output `y`.
    #[inline(always)]
    pub fn grad(self, y: f32) -> f32 {
        match self {
            Self::Identity => 1.0,
            Self::Relu => f32::from(y > 0.0),
            Self::LeakyRelu => {
                if y > 0.0 {
                    1.0
                } else {
                    LEAKY_SLOPE
                }
            }
            Self::Elu => {
                if y > 0.0 {
                    1.0
                } else {
                    y + 1.0
                }
            }
            Self::Tanh => 1.0 - y * y,
        }
    }
}

/// `specialised!(activation, KIND => loop)`: the loop once for every activation, with `KIND` a constant in it, so
/// that the choice is made outside and what is left becomes SIMD.
macro_rules! specialised {
    ($activation:expr, $kind:ident => $body:expr) => {
        $crate::kernels::support::specialised!(@each $activation, $kind => $body, Identity Relu LeakyRelu Elu Tanh)
    };
    (@each $activation:expr, $kind:ident => $body:expr, $($variant:ident)+) => {
        match $activation {
            $($crate::kernels::Activation::$variant => {
                const $kind: $crate::kernels::Activation = $crate::kernels::Activation::$variant;
                $body
            })+
        }
    };
}
pub(in super::super) use specialised;

#[cfg(test)]
mod tests {
    use super::Activation;

    #[test]
    fn derivatives_match_central_differences() {
        for kind in Activation::ALL {
            for x in [-2.5f32, -0.7, -0.1, 0.1, 0.9, 3.0] {
                let h = 1e-3;
                let numeric = (kind.apply(x + h) - kind.apply(x - h)) / (2.0 * h);
                let analytic = kind.grad(kind.apply(x));
                assert!((numeric - analytic).abs() < 1e-3, "{kind:?} at {x}: {numeric} {analytic}");
            }
        }
    }
}
