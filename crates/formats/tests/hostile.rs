//! Files that lie, and files that are noise: each is refused with a reason, and none ends the program.

use formats::write::model::{About, Activation, Cost, Model, Side, Step};
use formats::write::record::Record;
use formats::write::safetensors::{Tensor, Tensors};
use formats::{Kind, Trouble};
use proptest::prelude::*;

/// A file with this header and this many bytes of values.
fn file(header: &str, data: usize) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(std::iter::repeat_n(0, data));
    file
}

fn refused(bytes: &[u8]) -> Option<Kind> {
    Tensors::read(bytes).err().map(|trouble| trouble.kind)
}

fn sample() -> Model {
    let about = About { version: "1".into(), seed: 1, settings: "{}".into(), cost: Cost::Sqm, eps: 0.1 };
    let dense = Step::Dense {
        inputs: 2,
        outputs: 1,
        weights: vec![1.0, 2.0],
        bias: vec![0.5],
        activation: Activation::Tanh,
    };
    let x = Side::new(2, vec![Step::Subtract(vec![1.0, 2.0]), dense]);
    let y = Side::new(1, vec![Step::UnitRows { least: 1e-12 }]);
    Model { about, sides: [x, y] }
}

#[test]
fn tensors_that_contradict_the_file_are_refused() {
    let entry = |shape: &str, from: &str, to: &str| {
        format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":[{from},{to}]}}"#)
    };
    let one = |shape: &str, from: &str, to: &str| format!(r#"{{"a":{}}}"#, entry(shape, from, to));
    let two = |a: String, b: String| format!(r#"{{"a":{a},"b":{b}}}"#);
    let huge = "18446744073709551615";
    let half = "4611686018427387904";
    let broken = [
        ("past the end", one("[2]", "0", "8"), 4),
        ("bytes left over", one("[1]", "0", "4"), 8),
        ("a shape of another size", one("[3]", "0", "8"), 8),
        ("a hole in front", one("[1]", "4", "8"), 8),
        ("the end before the start", one("[1]", "8", "4"), 8),
        ("a shape that overflows", one(&format!("[{huge}, {huge}]"), "0", "4"), 4),
        ("a shape that overflows in bytes to nothing", one(&format!("[{half}]"), "0", "0"), 0),
        ("offsets that overflow", one("[1]", huge, huge), 4),
        ("an offset below zero", one("[1]", "-4", "0"), 0),
        ("an overlap", two(entry("[2]", "0", "8"), entry("[2]", "4", "12")), 12),
        ("the same place twice", two(entry("[1]", "0", "4"), entry("[1]", "0", "4")), 4),
        ("a hole between", two(entry("[1]", "0", "4"), entry("[1]", "8", "12")), 12),
        ("a name twice", format!(r#"{{"a":{0},"a":{0}}}"#, entry("[0]", "0", "0")), 0),
        ("metadata that is not text", r#"{"__metadata__":{"a":1}}"#.to_owned(), 0),
        ("no JSON", "{".to_owned(), 0),
        ("more after the JSON", "{} {}".to_owned(), 0),
        ("a list", "[]".to_owned(), 0),
        ("space in front", " {}".to_owned(), 0),
        ("nothing", String::new(), 0),
        ("an entry that is a number", r#"{"a":1}"#.to_owned(), 0),
    ];
    for (what, header, data) in broken {
        assert_eq!(refused(&file(&header, data)), Some(Kind::Broken), "{what}");
    }
    let doubles = one("[1]", "0", "8").replace("F32", "F64");
    assert_eq!(refused(&file(&doubles, 8)), Some(Kind::Unsupported));
    assert_eq!(refused(&file(&one("[2]", "0", "8"), 8)), None);
    assert_eq!(refused(&file(&two(entry("[1]", "4", "8"), entry("[1]", "0", "4")), 8)), None);
    assert_eq!(refused(&file("{}   ", 0)), None);
}

#[test]
fn header_lengths_that_are_not_there_are_refused() {
    assert_eq!(refused(b""), Some(Kind::Truncated));
    assert_eq!(refused(&[1, 0, 0, 0, 0, 0, 0]), Some(Kind::Truncated));
    assert_eq!(refused(&[9, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']), Some(Kind::Truncated));
    assert_eq!(refused(&[255; 16]), Some(Kind::Broken));
    // Deeply nested, which a reader that calls itself would not survive.
    assert_eq!(refused(&file(&"{\"a\":".repeat(1 << 16), 0)), Some(Kind::Broken));
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let kind = |name: &str, tensor: Tensor| {
        let tensors = Tensors { tensors: [(name.to_owned(), tensor)].into(), ..Tensors::default() };
        tensors.write().err().map(|trouble| trouble.kind)
    };
    assert_eq!(kind("a", Tensor { shape: vec![], values: vec![1.0] }), None);
    assert_eq!(kind("a", Tensor { shape: vec![2], values: vec![1.0] }), Some(Kind::Mismatch));
    assert_eq!(kind("__metadata__", Tensor { shape: vec![0], values: vec![] }), Some(Kind::Unsupported));
}

#[test]
fn models_that_do_not_fit_themselves_are_refused() -> Result<(), Trouble> {
    let whole = Tensors::read(&sample().save()?)?;
    let kind = |tensors: Tensors| -> Result<Option<Kind>, Trouble> {
        Ok(Model::load(&tensors.write()?).err().map(|trouble| trouble.kind))
    };
    let with_header = |from: &str, to: &str| {
        let mut changed = whole.clone();
        for header in changed.metadata.values_mut() {
            assert!(header.contains(from), "{header}");
            *header = header.replace(from, to);
        }
        kind(changed)
    };
    assert_eq!(kind(whole.clone())?, None);

    let mut missing = whole.clone();
    missing.tensors.remove("side0.step1.bias");
    assert_eq!(kind(missing)?, Some(Kind::Broken));
    let mut more = whole.clone();
    more.tensors.insert("other".to_owned(), Tensor { shape: vec![0], values: Vec::new() });
    assert_eq!(kind(more)?, Some(Kind::Broken));
    let mut turned = whole.clone();
    turned.tensors.entry("side0.step1.weights".to_owned()).and_modify(|tensor| tensor.shape.reverse());
    assert_eq!(kind(turned)?, Some(Kind::Broken));
    let bare = Tensors { metadata: Default::default(), ..whole.clone() };
    assert_eq!(kind(bare)?, Some(Kind::Format));

    assert_eq!(with_header("\"format\":1", "\"format\":2")?, Some(Kind::Unsupported));
    assert_eq!(with_header("\"inputs\":2,\"steps\"", "\"inputs\":3,\"steps\"")?, Some(Kind::Broken));
    assert_eq!(with_header("\"outputs\":1", "\"outputs\":18446744073709551615")?, Some(Kind::Broken));
    assert_eq!(with_header("tanh", "sine")?, Some(Kind::Broken));
    assert_eq!(with_header("1e-12", "-1.0")?, Some(Kind::Broken));
    Ok(())
}

#[test]
fn records_that_are_none_are_refused() {
    let kind = |text: &str| Record::read(text.as_bytes()).err().map(|trouble| trouble.kind);
    let good = r#"{"format":1,"versions":{},"seed":1,"settings":{},"executor":"cpu","inputs":[
        {"name":"a","bytes":1,"sha256":"SHA","rows":1,"cols":1,"choices":null}],"timings":[
        {"name":"fit","seconds":1.5}],"metrics":{"score":null}}"#;
    let good = good.replace("SHA", &"0f".repeat(32));
    assert_eq!(kind(&good), None);
    assert_eq!(kind(" \n"), Some(Kind::Empty));
    assert_eq!(kind("id,value"), Some(Kind::Format));
    assert_eq!(kind("[]"), Some(Kind::Broken));
    assert_eq!(kind(&good.replace("\"format\":1", "\"format\":2")), Some(Kind::Unsupported));
    assert_eq!(kind(&good.replace("\"seed\":1,", "")), Some(Kind::Broken));
    assert_eq!(kind(&good.replace("0f0f", "0F0F")), Some(Kind::Broken));
    assert_eq!(kind(&good.replace("0f0f", "")), Some(Kind::Broken));
    assert_eq!(kind(&good.replace("1.5", "-1.5")), Some(Kind::Broken));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in ".{0,80}") {
        prop_assert!(Tensors::read(&bytes).is_err());
        prop_assert!(Model::load(&bytes).is_err());
        prop_assert!(Record::read(&bytes).is_err());
        prop_assert!(Record::read(text.as_bytes()).is_err());
        let _ = Tensors::read(&file(&text, 8));
    }

    /// A byte changed anywhere, and an end anywhere: whatever is still a model can be applied.
    #[test]
    fn damaged_models_are_refused_or_usable(place in any::<prop::sample::Index>(), byte: u8, cut: bool) {
        let mut bytes = sample().save()?;
        let place = place.index(bytes.len());
        if cut {
            bytes.truncate(place);
            prop_assert!(Model::load(&bytes).is_err());
        } else {
            bytes[place] = byte;
            if let Ok(model) = Model::load(&bytes) {
                prop_assert_eq!(model.apply(0, 1, &[1.0, 2.0])?.len(), 1);
            }
        }
    }
}
