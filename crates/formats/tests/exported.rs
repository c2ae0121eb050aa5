//! Exported encoders, read by a reader of their format that is just large enough. Whether runtimes agree with
//! `Model::apply` is for `check_onnx.py` to say.

use formats::write::model::{About, Activation, Cost, Model, Side, Step};
use formats::write::onnx::{INPUT, OUTPUT, encoder};
use formats::{Kind, Trouble};

/// A field of a message: its number and its bytes, or those of its number.
type Field = (u64, Vec<u8>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).expect("an end") + 1;
    let (number, rest) = bytes.split_at(length);
    *bytes = rest;
    number.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}

fn fields(mut bytes: &[u8]) -> Vec<Field> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => varint(&mut bytes).to_le_bytes().to_vec(),
            kind => {
                let length = if kind == 5 { 4 } else { varint(&mut bytes) as usize };
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                value.to_vec()
            }
        };
        all.push((tag >> 3, value));
    }
    all
}

fn all(message: &[Field], number: u64) -> Vec<Vec<u8>> {
    message.iter().filter(|field| field.0 == number).map(|field| field.1.clone()).collect()
}

fn texts(message: &[Field], number: u64) -> Vec<String> {
    all(message, number).into_iter().map(|bytes| String::from_utf8(bytes).expect("text")).collect()
}

fn model(inputs: usize, steps: Vec<Step>) -> Model {
    let about = About { version: "1".into(), seed: 9, settings: "{}".into(), cost: Cost::Sqm, eps: 0.1 };
    Model { about, sides: [Side::new(inputs, steps), Side::new(1, Vec::new())] }
}

/// The operations of an exported chain, after a check that each has what it needs.
fn operations(model: &Model, side: usize) -> Result<Vec<String>, Trouble> {
    let file = fields(&encoder(model, side)?);
    let graph = fields(&all(&file, 7)[0]);
    let mut known = vec![INPUT.to_owned()];
    for constant in all(&graph, 5) {
        let constant = fields(&constant);
        let sizes = all(&constant, 1).into_iter().map(|size| size[0] as usize);
        let width = if all(&constant, 2)[0][0] == 1 { 4 } else { 8 };
        assert_eq!(all(&constant, 9)[0].len(), sizes.product::<usize>() * width);
        known.extend(texts(&constant, 8));
    }
    let mut operations = Vec::new();
    for node in all(&graph, 1) {
        let node = fields(&node);
        assert!(texts(&node, 1).iter().all(|input| known.contains(input)), "{node:?}");
        assert!(texts(&node, 2).iter().all(|output| !known.contains(output)), "names are used once");
        known.extend(texts(&node, 2));
        operations.extend(texts(&node, 4));
    }
    assert_eq!(known.last().map(String::as_str), Some(OUTPUT));
    Ok(operations)
}

#[test]
fn every_step_becomes_operations_that_are_connected() -> Result<(), Trouble> {
    let dense = |activation| Step::Dense {
        inputs: 2,
        outputs: 2,
        weights: vec![1.0; 4],
        bias: vec![0.0; 2],
        activation,
    };
    let divided = ["Greater", "Where", "Div", "Cast"];
    let cases = [
        (Step::Subtract(vec![1.0; 2]), vec!["Sub"]),
        (Step::Scale(vec![1.0; 2]), vec!["Mul"]),
        (Step::Matrix { rows: 2, cols: 2, values: vec![1.0; 4] }, vec!["MatMul"]),
        (Step::Positive, vec!["Relu"]),
        (Step::Sqrt, vec!["Sqrt"]),
        (Step::Log1p, vec!["Add", "Log"]),
        (Step::RowShares, [&["Cast", "ReduceSum"][..], &divided].concat()),
        (Step::UnitRows { least: 0.0 }, [&["Cast", "ReduceL2"][..], &divided].concat()),
        (dense(Activation::Identity), vec!["Gemm"]),
        (dense(Activation::Relu), vec!["Gemm", "Relu"]),
        (dense(Activation::LeakyRelu), vec!["Gemm", "LeakyRelu"]),
        (dense(Activation::Elu), vec!["Gemm", "Elu"]),
        (dense(Activation::Tanh), vec!["Gemm", "Tanh"]),
    ];
    let (steps, mut expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    expected.push(vec!["Identity"]);
    assert_eq!(operations(&model(2, steps), 0)?, expected.concat());
    assert_eq!(operations(&model(2, Vec::new()), 1)?, ["Identity"]);
    Ok(())
}

/// Where 32 bits do not hold the differences of a column, the input has 64, and so has the first step.
#[test]
fn a_side_that_needs_them_takes_numbers_of_64_bits() -> Result<(), Trouble> {
    let chain = vec![Step::Subtract(vec![1.7e9, 0.0]), Step::Scale(vec![1.0; 2])];
    let narrow = model(2, chain);
    let mut wide = narrow.clone();
    wide.sides[0].wide = true;
    let input = |model: &Model| -> Result<u8, Trouble> {
        let graph = fields(&all(&fields(&encoder(model, 0)?), 7)[0]);
        let kind = fields(&fields(&all(&graph, 11)[0]).iter().find(|field| field.0 == 2).expect("a type").1);
        Ok(all(&fields(&all(&kind, 1)[0]), 1)[0][0])
    };
    assert_eq!([input(&narrow)?, input(&wide)?], [1, 11], "ONNX's float and double");
    assert_eq!(operations(&narrow, 0)?, ["Sub", "Mul", "Identity"]);
    assert_eq!(operations(&wide, 0)?, ["Sub", "Cast", "Mul", "Identity"]);
    wide.sides[1] = wide.sides[0].clone();
    assert_eq!(Model::load(&wide.save()?)?, wide);
    Ok(())
}

#[test]
fn the_origin_comes_along() -> Result<(), Trouble> {
    let file = fields(&encoder(&model(1, Vec::new()), 0)?);
    let entries = all(&file, 14).into_iter().map(|entry| fields(&entry));
    let entries: Vec<String> =
        entries.map(|entry| [texts(&entry, 1), texts(&entry, 2)].concat().join("=")).collect();
    assert_eq!(entries, ["side=0", "cost=sqm", "eps=0.1", "seed=9", "settings={}"]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_not_exported() {
    let kind =
        |side| encoder(&model(2, vec![Step::Scale(vec![1.0])]), side).err().map(|trouble| trouble.kind);
    assert_eq!([kind(0), kind(1), kind(2)], [Some(Kind::Broken), None, Some(Kind::Mismatch)]);
}
