//! What a model means, in plain Rust: short rather than fast. Sums are taken in double precision.

use super::{Activation, LEAKY_SLOPE, Model, Side, Step, at};
use crate::{Kind, Trouble};

impl Model {
    /// The embeddings of some rows of one side, row by row.
    pub fn apply(&self, side: usize, rows: usize, values: &[f32]) -> Result<Vec<f32>, Trouble> {
        self.side(side)?.apply(rows, values).map_err(|trouble| at(side, trouble))
    }
}

impl Side {
    /// What the chain makes of some rows.
    pub fn apply(&self, rows: usize, values: &[f32]) -> Result<Vec<f32>, Trouble> {
        let outputs = self.outputs()?;
        if rows.checked_mul(self.inputs) != Some(values.len()) {
            let what = format!("{} values are not {rows} rows of {} columns.", values.len(), self.inputs);
            let fix = "Give all the columns it was trained on, in the same order.";
            return Err(Trouble::new(Kind::Mismatch, what, fix));
        }
        let mut embeddings = Vec::with_capacity(rows * outputs);
        for i in 0..rows {
            let row = values[i * self.inputs..][..self.inputs].to_vec();
            embeddings.extend(self.steps.iter().fold(row, |row, step| step.apply(row)));
        }
        Ok(embeddings)
    }
}

impl Step {
    /// Does it to one row, which [`Step::check`] found to fit.
    fn apply(&self, row: Vec<f32>) -> Vec<f32> {
        match self {
            Self::Subtract(values) => row.iter().zip(values).map(|(v, m)| v - m).collect(),
            Self::Scale(values) => row.iter().zip(values).map(|(v, s)| v * s).collect(),
            Self::Matrix { cols, values, .. } => {
                product(&row, values, &vec![0.0; *cols]).map(|sum| sum as f32).collect()
            }
            Self::Positive => row.iter().map(|v| v.max(0.0)).collect(),
            Self::RowShares => divided(&row, row.iter().map(|v| f64::from(*v)).sum(), 0.0),
            Self::Sqrt => row.iter().map(|v| v.sqrt()).collect(),
            Self::Log1p => row.iter().map(|v| (1.0 + v).ln()).collect(),
            Self::UnitRows { least } => {
                let square: f64 = row.iter().map(|v| f64::from(*v).powi(2)).sum();
                divided(&row, square.sqrt(), f64::from(*least))
            }
            Self::Dense { weights, bias, activation, .. } => {
                product(&row, weights, bias).map(|sum| activation.apply(sum as f32)).collect()
            }
        }
    }
}

/// The row divided by its size, or by infinity if that is not more than `least`.
fn divided(row: &[f32], size: f64, least: f64) -> Vec<f32> {
    let by = if size > least { size } else { f64::INFINITY };
    row.iter().map(|v| (f64::from(*v) / by) as f32).collect()
}

/// `vM + b`.
fn product(row: &[f32], matrix: &[f32], bias: &[f32]) -> impl Iterator<Item = f64> {
    let mut sums: Vec<f64> = bias.iter().map(|b| f64::from(*b)).collect();
    if !bias.is_empty() {
        for (v, line) in row.iter().zip(matrix.chunks_exact(bias.len())) {
            sums.iter_mut().zip(line).for_each(|(sum, m)| *sum += f64::from(*v) * f64::from(*m));
        }
    }
    sums.into_iter()
}

impl Activation {
    fn apply(self, x: f32) -> f32 {
        match self {
            Self::Identity => x,
            Self::Relu => x.max(0.0),
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
}

#[cfg(test)]
mod tests {
    use super::super::{About, Cost};
    use super::*;

    fn applied(steps: Vec<Step>, row: &[f32]) -> Result<Vec<f32>, Trouble> {
        Side::new(row.len(), steps).apply(1, row)
    }

    #[test]
    fn every_step_does_what_it_says() -> Result<(), Trouble> {
        let row = [3.0, -4.0];
        assert_eq!(applied(vec![Step::Subtract(vec![1.0, 2.0])], &row)?, [2.0, -6.0]);
        assert_eq!(applied(vec![Step::Scale(vec![0.5, -1.0])], &row)?, [1.5, 4.0]);
        let values = vec![1.0, 0.0, 2.0, 0.0, 1.0, 1.0];
        assert_eq!(applied(vec![Step::Matrix { rows: 2, cols: 3, values }], &row)?, [3.0, -4.0, 2.0]);
        assert_eq!(applied(vec![Step::Positive], &row)?, [3.0, 0.0]);
        assert_eq!(applied(vec![Step::RowShares, Step::Sqrt], &[1.0, 3.0])?, [0.5, 0.75f32.sqrt()]);
        assert_eq!(applied(vec![Step::RowShares], &row)?, [0.0, 0.0]);
        assert_eq!(applied(vec![Step::UnitRows { least: 0.0 }], &row)?, [0.6, -0.8]);
        assert_eq!(applied(vec![Step::UnitRows { least: 5.0 }], &row)?, [0.0, 0.0]);
        let large = row.map(|v| v * 2f32.powi(100));
        assert_eq!(applied(vec![Step::UnitRows { least: 0.0 }], &large)?, [0.6, -0.8]);
        Ok(())
    }

    #[test]
    fn layers_add_their_bias_and_bend() -> Result<(), Trouble> {
        let layer = |activation| Step::Dense {
            inputs: 1,
            outputs: 2,
            weights: vec![2.0, -1.0],
            bias: vec![0.5, 0.0],
            activation,
        };
        let tanh = |x: f32| x.tanh();
        assert_eq!(applied(vec![layer(Activation::Identity)], &[1.0])?, [2.5, -1.0]);
        assert_eq!(applied(vec![layer(Activation::Relu)], &[1.0])?, [2.5, 0.0]);
        assert_eq!(applied(vec![layer(Activation::LeakyRelu)], &[1.0])?, [2.5, -0.01]);
        assert_eq!(applied(vec![layer(Activation::Elu)], &[1.0])?, [2.5, (-1f32).exp() - 1.0]);
        assert_eq!(applied(vec![layer(Activation::Tanh)], &[1.0])?, [tanh(2.5), tanh(-1.0)]);
        Ok(())
    }

    #[test]
    fn steps_that_do_not_fit_their_columns_or_themselves_are_refused() {
        let matrix = |rows, cols, count| Step::Matrix { rows, cols, values: vec![1.0; count] };
        let dense = |inputs, outputs, count, bias| Step::Dense {
            inputs,
            outputs,
            weights: vec![1.0; count],
            bias: vec![0.0; bias],
            activation: Activation::Tanh,
        };
        let fit = [matrix(2, 3, 6), matrix(2, 0, 0), dense(2, 3, 6, 3), Step::UnitRows { least: 0.0 }];
        for step in fit {
            assert!(applied(vec![step.clone()], &[1.0, 2.0]).is_ok(), "{step:?}");
        }
        let unfit = [
            Step::Subtract(vec![1.0]),
            Step::Scale(vec![1.0; 3]),
            matrix(1, 2, 2),
            matrix(3, 2, 6),
            matrix(2, 3, 5),
            matrix(2, usize::MAX, 6),
            dense(3, 2, 6, 2),
            dense(2, 2, 3, 2),
            dense(2, 2, 4, 1),
            Step::UnitRows { least: -1.0 },
            Step::UnitRows { least: f32::NAN },
        ];
        for step in unfit {
            assert!(applied(vec![step.clone()], &[1.0, 2.0]).is_err(), "{step:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let side = |inputs, steps| Side::new(inputs, steps);
        let about = About { version: "1".into(), seed: 1, settings: "{}".into(), cost: Cost::Sqm, eps: 0.1 };
        let wrong = side(2, vec![Step::Sqrt, Step::Scale(vec![1.0])]);
        let model = Model { about, sides: [side(2, Vec::new()), wrong] };
        let text = |trouble: Trouble| trouble.to_string();
        assert!(
            model.apply(1, 1, &[1.0, 2.0]).map_err(text).is_err_and(|why| why.contains("side 1, step 1"))
        );
        assert!(model.apply(0, 2, &[1.0, 2.0]).map_err(text).is_err_and(|why| why.contains("2 rows of 2")));
        assert!(model.apply(2, 1, &[1.0]).is_err());
        assert!(model.check().is_err());
    }
}
