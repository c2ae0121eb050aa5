//! One side of a model as ONNX: for any runtime, in any language, without us.
//!
//! The whole chain is exported, from the features as they are in the user's file to the embedding, so that nobody
//! has to know how they were prepared. Of the opsets the 17th is taken: later ones add nothing that is used here, and
//! older runtimes refuse them.

use super::model::{About, Activation, Cost, LEAKY_SLOPE, Model, Step};
use super::npy;
use super::protobuf::Message;
use crate::{Kind, Trouble};

/// The name of the input, `float[N, inputs]`, or `double[N, inputs]` where 32 bits do not hold the differences of a column.
pub const INPUT: &str = "features";
/// The name of the output, `float[N, outputs]`.
pub const OUTPUT: &str = "embedding";

const IR_VERSION: u64 = 8;
const OPSET: u64 = 17;

/// ONNX's numbers for element types.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const DOUBLE: u64 = 11;

/// The encoder of one side, the first being 0.
pub fn encoder(model: &Model, side: usize) -> Result<Vec<u8>, Trouble> {
    let chain = model.side(side)?;
    let outputs = chain.outputs()?;
    let mut graph = Graph { nodes: Vec::new(), tensors: Vec::new(), last: INPUT.to_owned() };
    let steps = match chain.steps.split_first() {
        Some((Step::Subtract(values), rest)) if chain.wide => {
            graph.subtract_wide(values);
            rest
        }
        _ => chain.steps.as_slice(),
    };
    let kind = if steps.len() < chain.steps.len() { DOUBLE } else { FLOAT };
    steps.iter().for_each(|step| graph.step(step));
    // The chain may be empty, and then the output still needs a name of its own.
    graph.nodes.push(node("Identity", &[&graph.last], OUTPUT));
    let body = Message::new()
        .messages(1, &graph.nodes)
        .text(2, &format!("side{side}"))
        .messages(5, &graph.tensors)
        .message(11, &value_info(INPUT, kind, chain.inputs))
        .message(12, &value_info(OUTPUT, FLOAT, outputs));
    let file = Message::new()
        .int(1, IR_VERSION)
        .text(2, "concord")
        .text(3, &model.about.version)
        .message(7, &body)
        .message(8, &Message::new().text(1, "").int(2, OPSET))
        .messages(14, &properties(&model.about, side))
        .finish();
    if i32::try_from(file.len()).is_err() {
        return Err(Trouble::new(
            Kind::TooLarge,
            "The model would have more than 2 GB, which ONNX does not allow in one file.",
            "Save it as safetensors instead.",
        ));
    }
    Ok(file)
}

/// What the file says about its origin.
fn properties(about: &About, side: usize) -> Vec<Message> {
    let cost = match about.cost {
        Cost::Sqm => "sqm",
        Cost::Cosine => "cosine",
    };
    [
        ("side", side.to_string()),
        ("cost", cost.to_owned()),
        ("eps", about.eps.to_string()),
        ("seed", about.seed.to_string()),
        ("settings", about.settings.clone()),
    ]
    .map(|(key, value)| Message::new().text(1, key).text(2, &value))
    .into()
}

/// A chain of nodes that grows at its end.
struct Graph {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
    /// The output of the last node, which the next is done to.
    last: String,
}

impl Graph {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Subtract(values) => self.then_with("Sub", &[values.len()], values),
            Step::Scale(values) => self.then_with("Mul", &[values.len()], values),
            Step::Matrix { rows, cols, values } => self.then_with("MatMul", &[*rows, *cols], values),
            Step::Positive => self.then("Relu", None),
            Step::Sqrt => self.then("Sqrt", None),
            Step::Log1p => {
                self.then_with("Add", &[1], &[1.0]);
                self.then("Log", None);
            }
            Step::RowShares => {
                let rows = self.widened();
                let axes = self.constant(&[1], INT64, &1i64.to_le_bytes());
                let sums = self.add("ReduceSum", &[&rows, &axes], None);
                self.divide(&rows, &sums, 0.0);
            }
            Step::UnitRows { least } => {
                let rows = self.widened();
                let lengths = self.add("ReduceL2", &[&rows], Some(ints_attribute("axes", 1)));
                self.divide(&rows, &lengths, *least);
            }
            Step::Dense { inputs, outputs, weights, bias, activation } => {
                let weights = self.floats(&[*inputs, *outputs], weights);
                let bias = self.floats(&[*outputs], bias);
                self.last = self.add("Gemm", &[&self.last.clone(), &weights, &bias], None);
                self.activate(*activation);
            }
        }
    }

    /// A subtraction from values of 64 bits, whose differences then fit into 32.
    fn subtract_wide(&mut self, values: &[f32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect();
        let constant = self.constant(&[values.len()], DOUBLE, &bytes);
        self.last = self.add("Sub", &[&self.last.clone(), &constant], None);
        self.then("Cast", Some(int_attribute("to", FLOAT)));
    }

    fn activate(&mut self, activation: Activation) {
        match activation {
            Activation::Identity => {}
            Activation::Relu => self.then("Relu", None),
            Activation::LeakyRelu => self.then("LeakyRelu", Some(float_attribute("alpha", LEAKY_SLOPE))),
            Activation::Elu => self.then("Elu", Some(float_attribute("alpha", 1.0))),
            Activation::Tanh => self.then("Tanh", None),
        }
    }

    /// What there is, in double precision: in single precision sums of squares overflow from 10¹⁹ on and vanish
    /// below 10⁻²³.
    fn widened(&mut self) -> String {
        self.add("Cast", &[&self.last.clone()], Some(int_attribute("to", DOUBLE)))
    }

    /// Divides rows by their sizes, or by infinity where these are not more than `least`.
    fn divide(&mut self, rows: &str, sizes: &str, least: f32) {
        let least = self.constant(&[], DOUBLE, &f64::from(least).to_le_bytes());
        let infinity = self.constant(&[], DOUBLE, &f64::INFINITY.to_le_bytes());
        let enough = self.add("Greater", &[sizes, &least], None);
        let sizes = self.add("Where", &[&enough, sizes, &infinity], None);
        self.last = self.add("Div", &[rows, &sizes], None);
        self.then("Cast", Some(int_attribute("to", FLOAT)));
    }

    /// An operation on what there is.
    fn then(&mut self, operation: &str, attribute: Option<Message>) {
        self.last = self.add(operation, &[&self.last.clone()], attribute);
    }

    /// An operation on what there is and a constant.
    fn then_with(&mut self, operation: &str, shape: &[usize], values: &[f32]) {
        let constant = self.floats(shape, values);
        self.last = self.add(operation, &[&self.last.clone(), &constant], None);
    }

    /// Adds a node and says what its output is called.
    fn add(&mut self, operation: &str, inputs: &[&str], attribute: Option<Message>) -> String {
        let name = format!("{operation}{}", self.nodes.len());
        self.nodes.push(node(operation, inputs, &name).messages(5, attribute.as_ref()));
        name
    }

    fn floats(&mut self, shape: &[usize], values: &[f32]) -> String {
        let mut bytes = Vec::new();
        npy::push(&mut bytes, values);
        self.constant(shape, FLOAT, &bytes)
    }

    /// Adds a constant and says what it is called.
    fn constant(&mut self, shape: &[usize], kind: u64, bytes: &[u8]) -> String {
        let name = format!("constant{}", self.tensors.len());
        let sizes = shape.iter().fold(Message::new(), |message, size| message.int(1, *size as u64));
        self.tensors.push(sizes.int(2, kind).text(8, &name).bytes(9, bytes));
        name
    }
}

fn node(operation: &str, inputs: &[&str], output: &str) -> Message {
    let with_inputs = inputs.iter().fold(Message::new(), |message, input| message.text(1, input));
    with_inputs.text(2, output).text(3, output).text(4, operation)
}

/// A matrix with any number of rows.
fn value_info(name: &str, kind: u64, cols: usize) -> Message {
    let rows = Message::new().text(2, "N");
    let cols = Message::new().int(1, cols as u64);
    let shape = Message::new().messages(1, [&rows, &cols]);
    let tensor = Message::new().int(1, kind).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}

fn float_attribute(name: &str, value: f32) -> Message {
    Message::new().text(1, name).float(2, value).int(20, 1)
}

fn int_attribute(name: &str, value: u64) -> Message {
    Message::new().text(1, name).int(3, value).int(20, 2)
}

/// A list of one integer.
fn ints_attribute(name: &str, value: u64) -> Message {
    Message::new().text(1, name).int(8, value).int(20, 7)
}
