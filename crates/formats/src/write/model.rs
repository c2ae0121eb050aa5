//! A trained alignment as plain data: what is done to the rows of either side until they can be compared.
//!
//! It knows nothing of how the encoders were trained, so that a saved model outlives the code that made it. Each
//! side is one chain of elementary steps, from the features as they are in the user's file to the embedding. That
//! makes the meaning of a file plain: [`Model::apply`] is all of it, and `write::onnx` exports the same chain.

mod apply;
mod file;

use serde::{Deserialize, Serialize};

use crate::{Kind, MissingChoice, Trouble};

/// A trained alignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub about: About,
    pub sides: [Side; 2],
}

/// Where a model comes from, and how its embeddings are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The version of the program that trained it.
    pub version: String,
    pub seed: u64,
    /// All settings of the run, as JSON.
    pub settings: String,
    /// Between an embedding of one side and one of the other.
    pub cost: Cost,
    /// The entropy of the transport between the embeddings.
    pub eps: f32,
}

/// How embeddings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Squared Euclidean distances, divided by their mean.
    Sqm,
    /// One minus the cosine. The chains end in [`Step::UnitRows`], so that it is one minus a plain product.
    Cosine,
}

/// The encoder of one side, with its preparation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// How many features a row has.
    pub inputs: usize,
    /// What happens to a row, in this order.
    pub steps: Vec<Step>,
    /// Names of the features, where the table of training had some: those of new rows may come in another order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Whether its first step, a subtraction, is to be done in 64 bits: the values of some column differ by less than 32
    /// bits hold at their size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
    /// What became of missing values in training, so that new rows are treated alike.
    #[serde(default)]
    pub missing: MissingChoice,
    /// The mean of each feature in training; none where nobody has told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub means: Option<Vec<f32>>,
}

/// What is done to every row. No step looks at other rows: all that was learned from them is part of the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// From each column its value: `v − m`.
    Subtract(Vec<f32>),
    /// Each column by its value: `v · s`.
    Scale(Vec<f32>),
    /// A product with a matrix given row by row, one row for each column so far: turns, projections, whitening.
    Matrix { rows: usize, cols: usize, values: Vec<f32> },
    /// Negative values become zero.
    Positive,
    /// Each value divided by the sum of its row. A row with a sum of zero or less becomes zero.
    RowShares,
    /// Each value to its square root.
    Sqrt,
    /// Each value v to log(1 + v).
    Log1p,
    /// Each row to Euclidean length 1. A row that is not longer than `least` becomes zero.
    UnitRows { least: f32 },
    /// A layer of a network: `act(v W + b)`, with W row by row.
    Dense { inputs: usize, outputs: usize, weights: Vec<f32>, bias: Vec<f32>, activation: Activation },
}

/// What a layer does to each of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    Identity,
    Relu,
    /// Below zero the slope is [`LEAKY_SLOPE`].
    LeakyRelu,
    /// Below zero it is `eˣ − 1`.
    Elu,
    Tanh,
}

pub const LEAKY_SLOPE: f32 = 0.01;

impl Model {
    /// The side with this index, the first being 0.
    pub fn side(&self, index: usize) -> Result<&Side, Trouble> {
        self.sides.get(index).ok_or_else(|| {
            let what = format!("An alignment has the sides 0 and 1, and side {index} was asked for.");
            Trouble::new(Kind::Mismatch, what, "Choose one of the two.")
        })
    }

    /// Whether every step fits the one before, and both sides end alike; then how many values an embedding has.
    pub fn check(&self) -> Result<usize, Trouble> {
        let [first, second] =
            [0, 1].map(|side| self.sides[side].outputs().map_err(|trouble| at(side, trouble)));
        let (first, second) = (first?, second?);
        if first != second {
            let what = format!("The embeddings of its sides have {first} and {second} values.");
            return Err(broken(what));
        }
        Ok(first)
    }
}

impl Side {
    /// Steps on features of which nothing else is known.
    pub fn new(inputs: usize, steps: Vec<Step>) -> Self {
        Self { inputs, steps, wide: false, columns: None, missing: MissingChoice::Keep, means: None }
    }

    /// How many values an embedding has, if all steps fit.
    pub fn outputs(&self) -> Result<usize, Trouble> {
        let known = [self.columns.as_ref().map(Vec::len), self.means.as_ref().map(Vec::len)];
        if let Some(count) = known.into_iter().flatten().find(|count| *count != self.inputs) {
            return Err(broken(format!("It describes {count} columns, but takes {}.", self.inputs)));
        }
        let mut cols = self.inputs;
        for (index, step) in self.steps.iter().enumerate() {
            step.check(cols).map_err(|trouble| trouble.at(format!("step {index}")))?;
            cols = step.outputs(cols);
        }
        Ok(cols)
    }
}

impl Step {
    /// How many columns there are afterwards.
    fn outputs(&self, cols: usize) -> usize {
        match self {
            Self::Matrix { cols, .. } => *cols,
            Self::Dense { outputs, .. } => *outputs,
            _ => cols,
        }
    }

    /// Whether it can be done to rows of so many columns.
    fn check(&self, cols: usize) -> Result<(), Trouble> {
        let (expected, fits) = match self {
            Self::Subtract(values) | Self::Scale(values) => (values.len(), true),
            Self::Matrix { rows, cols, values } => (*rows, rows.checked_mul(*cols) == Some(values.len())),
            Self::Dense { inputs, outputs, weights, bias, .. } => {
                (*inputs, inputs.checked_mul(*outputs) == Some(weights.len()) && bias.len() == *outputs)
            }
            Self::UnitRows { least } => (cols, *least >= 0.0),
            Self::Positive | Self::RowShares | Self::Sqrt | Self::Log1p => (cols, true),
        };
        if expected != cols {
            return Err(broken(format!("It is made for {expected} columns, but there are {cols} by then.")));
        }
        if !fits {
            return Err(broken("Its values do not fit its size."));
        }
        Ok(())
    }
}

/// Names the side a trouble is about.
fn at(side: usize, trouble: Trouble) -> Trouble {
    let place = [format!("side {side}"), trouble.place.clone()];
    trouble.at(place.join(", ").trim_end_matches(", "))
}

fn broken(what: impl Into<String>) -> Trouble {
    Trouble::new(Kind::Broken, what, "Save the model again from the run that made it.")
}
