//! Writes one file of every format, with what should be read from them, for `tests/check_onnx.py`.
//!
//! `cargo run -p formats --example make_model -- <folder>`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use formats::write::csv::{self, Cell};
use formats::write::model::{About, Activation, Cost, Model, Side, Step};
use formats::write::zip::Zip;
use formats::write::{npy, onnx};

/// How many rows the sample inputs have.
const ROWS: usize = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = env::args_os().nth(1).ok_or("which folder?")?.into();
    fs::create_dir_all(&folder)?;
    let mut numbers = Numbers(7);
    for (name, model) in models(&mut numbers) {
        write_model(&folder, name, &model, &mut numbers)?;
    }
    write_others(&folder)
}

/// Numbers that look random and are always the same (SplitMix64).
struct Numbers(u64);

impl Numbers {
    /// Between −1 and 1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn some(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| size * self.next()).collect()
    }
}

/// One model for each preparation and activation that a run can choose, and one with every other step.
fn models(numbers: &mut Numbers) -> Vec<(&'static str, Model)> {
    let mut models = Vec::new();
    let activations = [Activation::Tanh, Activation::Relu, Activation::LeakyRelu, Activation::Elu];
    for (name, activation) in ["tanh", "relu", "leaky_relu", "elu"].into_iter().zip(activations) {
        let sides = [(17, true), (50, false)].map(|(inputs, unit)| {
            let mut steps = prepared(numbers, inputs, unit);
            steps.extend([
                dense(numbers, inputs, 64, activation),
                dense(numbers, 64, 64, activation),
                dense(numbers, 64, 16, Activation::Identity),
            ]);
            if activation == Activation::Relu {
                steps.push(Step::UnitRows { least: 1e-12 });
            }
            Side::new(inputs, steps)
        });
        let cost = if activation == Activation::Relu { Cost::Cosine } else { Cost::Sqm };
        models.push((name, model(cost, sides)));
    }
    let sides = [(30, 12), (12, 12)].map(|(inputs, outputs)| {
        let mut steps = prepared(numbers, inputs, true);
        steps.push(Step::Matrix { rows: inputs, cols: inputs, values: numbers.some(inputs * inputs, 0.3) });
        steps.push(Step::UnitRows { least: 0.0 });
        if inputs != outputs {
            let values = numbers.some(inputs * outputs, 0.5);
            steps.push(Step::Matrix { rows: inputs, cols: outputs, values });
        }
        Side::new(inputs, steps)
    });
    models.push(("linear", model(Cost::Sqm, sides)));
    let short = || Side::new(3, vec![Step::UnitRows { least: 2.0 }]);
    models.push(("short", model(Cost::Cosine, [short(), short()])));
    let shares = Side::new(9, vec![Step::Positive, Step::RowShares, Step::Sqrt, Step::Log1p]);
    models.push(("shares", model(Cost::Sqm, [shares, Side::new(9, Vec::new())])));
    models
}

fn model(cost: Cost, sides: [Side; 2]) -> Model {
    let settings = r#"{"note":"a sample, not trained","ε":0.05}"#.to_owned();
    Model { about: About { version: "0.1.0".into(), seed: 7, settings, cost, eps: 0.05 }, sides }
}

fn prepared(numbers: &mut Numbers, inputs: usize, unit: bool) -> Vec<Step> {
    let first = unit.then_some(Step::UnitRows { least: 0.0 });
    let rest = [Step::Subtract(numbers.some(inputs, 0.2)), Step::Scale(numbers.some(inputs, 3.0))];
    first.into_iter().chain(rest).collect()
}

fn dense(numbers: &mut Numbers, inputs: usize, outputs: usize, activation: Activation) -> Step {
    let weights = numbers.some(inputs * outputs, (3.0 / inputs as f32).sqrt());
    Step::Dense { inputs, outputs, weights, bias: numbers.some(outputs, 0.5), activation }
}

/// The model in both formats, with inputs and the embeddings that [`Model::apply`] makes of them.
fn write_model(
    folder: &Path,
    name: &str,
    model: &Model,
    numbers: &mut Numbers,
) -> Result<(), Box<dyn Error>> {
    fs::write(folder.join(format!("{name}.safetensors")), model.save()?)?;
    for (index, side) in model.sides.iter().enumerate() {
        let path = |what: &str| folder.join(format!("{name}.{index}.{what}"));
        let mut features = numbers.some(ROWS * side.inputs, 2.0);
        // Rows that are zero, and rows whose squares are out of single precision.
        features[..side.inputs].fill(0.0);
        if matches!(side.steps.first(), Some(Step::UnitRows { .. })) {
            features[side.inputs..][..side.inputs].iter_mut().for_each(|v| *v *= 1e30);
            features[2 * side.inputs..][..side.inputs].iter_mut().for_each(|v| *v *= 1e-30);
        }
        let embeddings = model.apply(index, ROWS, &features)?;
        fs::write(path("onnx"), onnx::encoder(model, index)?)?;
        fs::write(path("features.npy"), npy::matrix(ROWS, side.inputs, &features)?)?;
        fs::write(path("embedding.npy"), npy::matrix(ROWS, side.outputs()?, &embeddings)?)?;
    }
    Ok(())
}

/// A table as text, and arrays in an archive.
fn write_others(folder: &Path) -> Result<(), Box<dyn Error>> {
    let names = ["plain", "a,b", "say \"no\"", "two\nlines", " padded ", "Zürich", "007"];
    let mut text = Vec::new();
    csv::row(&mut text, ["id", "value", "count"].map(Cell::Text));
    let values = [0.1, -1e-30, 3.402_823_5e38, f32::NAN, 16_777_216.0, f32::MIN_POSITIVE, -0.0];
    for (count, (name, value)) in names.into_iter().zip(values).enumerate() {
        csv::row(&mut text, [Cell::Text(name), Cell::Number(value), Cell::Whole(count as u64)]);
    }
    fs::write(folder.join("table.csv"), &text)?;
    fs::write(folder.join("values.npy"), npy::vector(&values))?;
    let mut zip = Zip::new();
    zip.add("Zürich/table.csv", &text)?;
    zip.add("zeros.npy", &npy::matrix(100, 50, &[0i64; 5000])?)?;
    zip.add_stored("rows.npy", &npy::vector(&[0u32, 7, u32::MAX]))?;
    fs::write(folder.join("results.zip"), zip.finish()?)?;
    Ok(())
}
