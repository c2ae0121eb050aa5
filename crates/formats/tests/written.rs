//! What is written comes back the same.

use std::collections::BTreeMap;

use formats::write::model::{About, Activation, Cost, Model, Side, Step};
use formats::write::record::{Input, Record, Timing};
use formats::write::safetensors::{Tensor, Tensors};
use formats::{MissingChoice, Trouble};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Any bits at all, because saving must not change them.
fn floats(count: usize) -> impl Strategy<Value = Vec<f32>> {
    vec(any::<u32>().prop_map(f32::from_bits), count)
}

fn tensor() -> impl Strategy<Value = Tensor> {
    vec(0usize..4, 0..4).prop_flat_map(|shape| {
        floats(shape.iter().product()).prop_map(move |values| Tensor { shape: shape.clone(), values })
    })
}

fn tensors() -> impl Strategy<Value = Tensors> {
    (btree_map(any::<String>(), any::<String>(), 0..3), btree_map(any::<String>(), tensor(), 0..5))
        .prop_map(|(metadata, tensors)| Tensors { metadata, tensors })
}

fn activation() -> impl Strategy<Value = Activation> {
    prop_oneof![
        Just(Activation::Identity),
        Just(Activation::Relu),
        Just(Activation::LeakyRelu),
        Just(Activation::Elu),
        Just(Activation::Tanh),
    ]
}

/// A step for so many columns that leaves as many.
fn step(cols: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        floats(cols).prop_map(Step::Subtract),
        floats(cols).prop_map(Step::Scale),
        floats(cols * cols).prop_map(move |values| Step::Matrix { rows: cols, cols, values }),
        Just(Step::Positive),
        Just(Step::RowShares),
        Just(Step::Sqrt),
        Just(Step::Log1p),
        (0f32..1e-6).prop_map(|least| Step::UnitRows { least }),
        (floats(cols * cols), floats(cols), activation()).prop_map(move |(weights, bias, activation)| {
            Step::Dense { inputs: cols, outputs: cols, weights, bias, activation }
        }),
    ]
}

/// Any steps, and at the end a matrix that makes two columns.
fn side() -> impl Strategy<Value = Side> {
    (1usize..5).prop_flat_map(|inputs| {
        (vec(step(inputs), 0..6), floats(inputs * 2)).prop_map(move |(mut steps, values)| {
            steps.push(Step::Matrix { rows: inputs, cols: 2, values });
            let columns = (inputs > 1).then(|| (0..inputs).map(|j| format!("column, {j}")).collect());
            let means = (inputs > 2).then(|| (0..inputs).map(|j| 0.1 * j as f32).collect());
            Side { columns, means, missing: MissingChoice::Mean, ..Side::new(inputs, steps) }
        })
    })
}

fn model() -> impl Strategy<Value = Model> {
    let about = (any::<String>(), any::<u64>(), any::<String>(), any::<bool>(), 1e-6f32..1.0).prop_map(
        |(version, seed, settings, cosine, eps)| {
            let cost = if cosine { Cost::Cosine } else { Cost::Sqm };
            About { version, seed, settings, cost, eps }
        },
    );
    (about, side(), side()).prop_map(|(about, x, y)| Model { about, sides: [x, y] })
}

fn record() -> impl Strategy<Value = Record> {
    let finite = || any::<f64>().prop_filter("finite", |v| v.is_finite());
    let input = (any::<String>(), any::<u64>(), "[0-9a-f]{64}", any::<u64>()).prop_map(
        |(name, bytes, sha256, rows)| {
            let choices = serde_json::json!({ "missing": name, "columns": [bytes, null] });
            let found = serde_json::json!({ "format": name });
            Input { used_as: name.clone(), name, bytes, sha256, rows, cols: 3, choices, found }
        },
    );
    let timing = (any::<String>(), finite()).prop_map(|(name, v)| Timing { name, seconds: v.abs() });
    let metrics = btree_map(any::<String>(), proptest::option::of(finite()), 0..4);
    let pairs = vec((any::<u64>(), any::<u64>()), 0..3);
    (any::<u64>(), finite(), any::<String>(), vec(input, 0..3), pairs, vec(timing, 0..3), metrics).prop_map(
        |(seed, eps, executor, inputs, pairs, timings, metrics)| Record {
            format: Record::FORMAT,
            versions: BTreeMap::from([("concord".to_owned(), "0.1.0".to_owned())]),
            date: "2026-01-31T12:00:00.000Z".into(),
            seed,
            settings: serde_json::json!({ "eps": eps, "loss": "gw" }),
            chosen: serde_json::json!({ "origin": executor, "score": eps }),
            executor,
            inputs,
            pairs,
            timings,
            metrics,
        },
    )
}

/// All values of a model or of tensors as bits, because NaN is not equal to itself.
fn bits<'a>(values: impl IntoIterator<Item = &'a Vec<f32>>) -> Vec<Vec<u32>> {
    values.into_iter().map(|values| values.iter().map(|v| v.to_bits()).collect()).collect()
}

fn arrays(model: &Model) -> Vec<&Vec<f32>> {
    let steps = model.sides.iter().flat_map(|side| &side.steps);
    steps
        .flat_map(|step| match step {
            Step::Subtract(values) | Step::Scale(values) | Step::Matrix { values, .. } => vec![values],
            Step::Dense { weights, bias, .. } => vec![weights, bias],
            _ => Vec::new(),
        })
        .collect()
}

/// Others read these files by the names and shapes of their arrays.
#[test]
fn arrays_have_names_and_shapes_that_stay() -> Result<(), Trouble> {
    let about = About { version: "1".into(), seed: 1, settings: "{}".into(), cost: Cost::Sqm, eps: 0.1 };
    let matrix = Step::Matrix { rows: 2, cols: 3, values: vec![1.0; 6] };
    let (weights, bias) = (vec![1.0; 3], vec![1.0]);
    let dense = Step::Dense { inputs: 3, outputs: 1, weights, bias, activation: Activation::Elu };
    let x = Side::new(2, vec![Step::Subtract(vec![1.0; 2]), matrix, Step::Sqrt, dense]);
    let y = Side::new(1, vec![Step::Scale(vec![1.0])]);
    let read = Tensors::read(&Model { about, sides: [x, y] }.save()?)?;
    let arrays: Vec<_> =
        read.tensors.iter().map(|(name, tensor)| (name.as_str(), &tensor.shape[..])).collect();
    let expected: [(&str, &[usize]); 5] = [
        ("side0.step0.subtract", &[2]),
        ("side0.step1.matrix", &[2, 3]),
        ("side0.step3.bias", &[1]),
        ("side0.step3.weights", &[3, 1]),
        ("side1.step0.scale", &[1]),
    ];
    assert_eq!(arrays, expected);
    assert!(read.metadata["concord"].starts_with(r#"{"format":1,"about":{"version":"1","seed":1,"#));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tensors_come_back_with_all_their_bits(written in tensors()) {
        let file = written.write()?;
        let read = Tensors::read(&file)?;
        prop_assert_eq!(&read.metadata, &written.metadata);
        prop_assert!(read.tensors.keys().eq(written.tensors.keys()));
        for (a, b) in read.tensors.values().zip(written.tensors.values()) {
            prop_assert_eq!(&a.shape, &b.shape);
            prop_assert_eq!(bits([&a.values]), bits([&b.values]));
        }
        prop_assert_eq!(read.write()?, file);
    }

    #[test]
    fn models_come_back_with_all_their_bits(written in model()) {
        let file = written.save()?;
        let read = Model::load(&file)?;
        prop_assert_eq!(&read.about, &written.about);
        prop_assert_eq!(read.about.eps.to_bits(), written.about.eps.to_bits());
        prop_assert_eq!(bits(arrays(&read)), bits(arrays(&written)));
        prop_assert_eq!(format!("{read:?}"), format!("{written:?}"));
        prop_assert_eq!(read.save()?, file);
    }

    #[test]
    fn records_come_back(written in record()) {
        let file = written.write()?;
        prop_assert_eq!(Record::read(&file)?, written);
    }
}
