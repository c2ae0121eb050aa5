//! Multi-layer perceptrons: forward and backward passes as stages of a plan.
//!
//! `Z₀ = X`, `Z_l = act(Z_{l−1} W_l + b_l)`. All weights and biases of a network live in one flat arena
//! ([`Arena`]), so that one Adam dispatch updates everything; several networks of the same shape are a
//! stack and train together in the same dispatches.

use compute::kernels::adam::{self, Arenas};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::{Activation, act_backward};
use compute::plan::{BufId, Clock, Elem, Mat, Plan};
use compute::rng::Rng;

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct MlpShape {
    /// Sizes from input to output: `[in, hidden, hidden, out]` for three layers.
    pub sizes: Vec<u32>,
    /// After every layer but the last.
    pub hidden: Activation,
    /// After the last layer.
    pub output: Activation,
}

impl MlpShape {
    /// Weights and biases together.
    pub fn parameters(&self) -> usize {
        self.sizes.windows(2).map(|w| (w[0] as usize + 1) * w[1] as usize).sum()
    }

    /// First values of the parameters, in the arena's order: weights uniform within ±√(6/fan_in) (He et
    /// al., arXiv 1502.01852) for the hidden layers and ±√(3/fan_in) for the last, which has no
    /// rectifier to make up for; biases zero.
    pub fn initial(&self, rng: &mut Rng) -> Vec<f32> {
        let last = self.sizes.len() - 2;
        let mut values = Vec::with_capacity(self.parameters());
        for (l, pair) in self.sizes.windows(2).enumerate() {
            let gain: f32 = if l == last { 3.0 } else { 6.0 };
            let bound = (gain / pair[0] as f32).sqrt();
            values.extend(rng.fill((pair[0] * pair[1]) as usize, -bound, bound));
            values.extend(std::iter::repeat_n(0.0, pair[1] as usize));
        }
        values
    }

    fn activation(&self, layer: usize) -> Activation {
        if layer + 2 == self.sizes.len() { self.output } else { self.hidden }
    }
}

/// The parameters of a stack of networks, their gradients and Adam's moments.
pub struct Arena {
    arenas: Arenas,
    batch: u32,
    /// Elements of one network.
    stride: u32,
    used: u32,
}

impl Arena {
    /// Room for `parameters` values in each of `batch` stacks.
    pub fn new(plan: &mut Plan, batch: u32, parameters: usize) -> Self {
        let mut buffer = |label| plan.buffer(label, Elem::F32, u64::from(batch) * parameters as u64);
        let arenas = Arenas {
            weights: buffer("weights"),
            grad: buffer("weight gradients"),
            first: buffer("first moments"),
            second: buffer("second moments"),
        };
        Self { arenas, batch, stride: parameters as u32, used: 0 }
    }

    /// Sets the first values, all stacks one after the other.
    pub fn set_initial(&self, plan: &mut Plan, values: &[f32]) {
        plan.set_initial(self.arenas.weights, values);
    }

    /// Takes the next `rows × cols` parameters: their values and their gradients.
    fn take(&mut self, rows: u32, cols: u32) -> (Mat, Mat) {
        let offset = self.used;
        self.used += rows * cols;
        assert!(self.used <= self.stride, "the arena holds {} parameters", self.stride);
        let view = |buf| Mat { buf, offset, rows, cols, batch: self.batch, stride: self.stride };
        (view(self.arenas.weights), view(self.arenas.grad))
    }

    /// Records the optimiser step for everything in the arena.
    pub fn record_adam(&self, plan: &mut Plan, clock: Clock, rate_column: u32) {
        adam::record(plan, &self.arenas, clock, rate_column);
    }

    /// What the next step follows from: parameters and moments.
    pub fn state(&self) -> [BufId; 3] {
        [self.arenas.weights, self.arenas.first, self.arenas.second]
    }

    /// The parameters and their gradients.
    pub fn buffers(&self) -> (BufId, BufId) {
        (self.arenas.weights, self.arenas.grad)
    }
}

struct Layer {
    weight: Mat,
    bias: Mat,
    /// The gradient of the weight, and below it that of the bias.
    grad: Mat,
    activation: Activation,
}

/// A stack of networks whose parameters lie in an arena.
pub struct Mlp {
    layers: Vec<Layer>,
}

/// The outputs of every layer for one input, kept for the backward pass.
pub struct Activations {
    input: Mat,
    outputs: Vec<Mat>,
}

impl Activations {
    /// The network's output.
    pub fn output(&self) -> Mat {
        *self.outputs.last().unwrap_or(&self.input)
    }
}

impl Mlp {
    /// Lays a network out in the arena.
    pub fn new(arena: &mut Arena, shape: &MlpShape) -> Self {
        let layers = shape
            .sizes
            .windows(2)
            .enumerate()
            .map(|(l, pair)| {
                let (both, grad) = arena.take(pair[0] + 1, pair[1]);
                let weight = Mat { rows: pair[0], ..both };
                let bias = Mat { rows: 1, offset: both.offset + pair[0] * pair[1], ..both };
                Layer { weight, bias, grad, activation: shape.activation(l) }
            })
            .collect();
        Self { layers }
    }

    /// Records the forward pass for a stack of inputs, one row a point. One dispatch a layer.
    pub fn forward(&self, plan: &mut Plan, input: Mat) -> Activations {
        let mut outputs: Vec<Mat> = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let x = *outputs.last().unwrap_or(&input);
            let y = plan.mats("activations", x.batch, x.rows, layer.weight.cols);
            let epilogue = Epilogue::Bias(layer.bias, layer.activation);
            matmul::record(plan, Layout::NN, 1.0, [x, layer.weight, y], epilogue);
            outputs.push(y);
        }
        Activations { input, outputs }
    }

    /// Records the backward pass: from the gradient of the output to the gradients of all parameters,
    /// which replace what the arena held. `grad` is used up.
    ///
    /// With `δ_l` the gradient before the activation of layer `l`: `∂W_l = Z_{l−1}ᵀ δ_l`, `∂b_l = 1ᵀ δ_l`,
    /// `δ_{l−1} = (δ_l W_lᵀ) ∘ act′(Z_{l−1})`; two dispatches a layer, one for the first.
    pub fn backward(&self, plan: &mut Plan, pass: &Activations, grad: Mat) {
        let last = self.layers.len() - 1;
        if self.layers[last].activation != Activation::Identity {
            act_backward::record(plan, self.layers[last].activation, pass.outputs[last], grad);
        }
        let mut delta = grad;
        for l in (0..=last).rev() {
            let layer = &self.layers[l];
            let below = if l == 0 { pass.input } else { pass.outputs[l - 1] };
            matmul::record_bordered(plan, [below, delta, layer.grad]);
            if l > 0 {
                let next = plan.mats("deltas", below.batch, below.rows, below.cols);
                let gate = Epilogue::Gate(below, self.layers[l - 1].activation);
                matmul::record(plan, Layout::NT, 1.0, [delta, layer.weight, next], gate);
                delta = next;
            }
        }
    }
}
