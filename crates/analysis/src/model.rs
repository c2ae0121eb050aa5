//! Trained encoders as a model that outlives this program, and back: what `formats` saves and exports.

use formats::write::model::{About, Activation as Saved, Cost, Model, Side, Step};
use formats::{MissingChoice, Table};

use super::options;
use super::prepare::{Raw, follow, means};
use align::geometry::Dense;
use align::procedure::{Candidate, Failure, Settings, Sides};
use align::scale::Watch;
use align::solver::cost::CostKind;
use align::solver::infer::Encoders;
use align::solver::marginals::Relaxation;
use align::solver::mlp::MlpShape;
use compute::kernels::Activation;
use schema::AlignOptions;

/// Rows that are not longer than this have no direction; as in the kernel `unit_rows`.
const NO_DIRECTION: f32 = 1e-12;

/// Where a model of a run with these settings comes from. The cost is that of its candidate, see [`of`].
pub fn about(options: &AlignOptions) -> About {
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: options.seed.into(),
        settings: serde_json::to_string(options).unwrap_or_default(),
        cost: Cost::Sqm,
        eps: options.eps,
    }
}

/// A table that encoders are trained on, as far as rows that come later have to follow it.
#[derive(Clone, Debug, Default)]
pub struct Taught {
    inputs: usize,
    /// What was done to its columns.
    chain: Vec<Step>,
    columns: Option<Vec<String>>,
    missing: MissingChoice,
    means: Option<Vec<f32>>,
    /// Whether its chain begins with what needs 64 bits.
    wide: bool,
}

impl Taught {
    /// By columns of which nothing else is known.
    pub fn plain(inputs: usize, chain: &[Step]) -> Self {
        Self { inputs, chain: chain.to_vec(), ..Self::default() }
    }

    /// By a table whose missing values were treated in this way.
    pub fn new(table: &Table, chain: &[Step], missing: MissingChoice) -> Self {
        let finite = |mean: &f64| if mean.is_finite() { *mean as f32 } else { 0.0 };
        let points = table.values.chunks_exact(table.cols.max(1));
        Self {
            inputs: table.cols,
            chain: chain.to_vec(),
            columns: table.columns.clone(),
            missing,
            wide: !table.remainders.is_empty() && matches!(chain.first(), Some(Step::Subtract(_))),
            means: Some(means(points, table.cols).iter().map(finite).collect()),
        }
    }
}

/// The model of a candidate that was trained on these tables.
pub fn of(candidate: &Candidate, sides: &Sides, taught: [&Taught; 2], about: About) -> Model {
    let preparations = candidate.origin.preparations();
    let mut weights = match &candidate.encoders {
        Encoders::Networks { weights, .. } => weights.as_slice(),
        _ => &[],
    };
    let sides = [0, 1].map(|side| {
        let Taught { inputs, chain, columns, missing, means, wide } = taught[side].clone();
        let mut steps = chain;
        // New rows come in the unit of the file, like those of training.
        let width = sides.points()[side].cols();
        steps.extend(sides.unit(side).factors().into_iter().map(|factor| Step::Scale(vec![factor; width])));
        if let Some(features) = sides.features(side, preparations[side]) {
            let unit = Step::UnitRows { least: 0.0 };
            steps.extend(features.unit_rows.then(|| unit.clone()));
            steps.push(Step::Subtract(features.mean.clone()));
            steps.push(Step::Scale(features.scale.clone()));
            if let Some(axes) = &features.axes {
                steps.push(matrix(axes));
                steps.extend(features.unit_rows.then_some(unit));
            }
        }
        match &candidate.encoders {
            Encoders::Networks { shapes, cost, .. } => {
                let (own, rest) = weights.split_at(shapes[side].parameters().min(weights.len()));
                weights = rest;
                steps.extend(layers(&shapes[side], own));
                steps.extend((*cost == CostKind::Cosine).then_some(Step::UnitRows { least: NO_DIRECTION }));
            }
            Encoders::Linear { x, y } => {
                let map = if side == 0 { Some(x) } else { y.as_ref() };
                steps.extend(map.map(|map| Step::Matrix {
                    rows: map.rows as usize,
                    cols: map.cols as usize,
                    values: map.values.clone(),
                }));
            }
            Encoders::Embedded { .. } => {}
        }
        Side { inputs, steps, columns, missing, means, wide }
    });
    let cost = match cost(&candidate.encoders) {
        CostKind::Sqm => Cost::Sqm,
        CostKind::Cosine => Cost::Cosine,
    };
    Model { about: About { cost, ..about }, sides }
}

fn cost(encoders: &Encoders) -> CostKind {
    match encoders {
        Encoders::Networks { cost, .. } | Encoders::Embedded { cost, .. } => *cost,
        Encoders::Linear { .. } => CostKind::Sqm,
    }
}

/// What the transport needs to know about points that a model has embedded.
pub fn embedded(model: &Model) -> Result<Encoders, String> {
    let dim = model.check().map_err(|trouble| trouble.to_string())?;
    let cost = match model.about.cost {
        Cost::Sqm => CostKind::Sqm,
        Cost::Cosine => CostKind::Cosine,
    };
    Ok(Encoders::Embedded { dim: dim as u32, cost })
}

/// How far the transport between points that a model has embedded may depart from equal weights, in a run with these
/// settings: a model without a layer of a network is a linear candidate's. Networks say themselves how they were trained,
/// whatever this run would do.
pub fn relaxed(model: &Model, settings: &Settings) -> Relaxation {
    let layer = |step: &Step| matches!(step, Step::Dense { .. });
    let networks = model.sides.iter().any(|side| side.steps.iter().any(layer));
    if networks && !trained_relaxed(model) { Relaxation::STRICT } else { settings.relaxation }
}

/// Whether the networks of a model were trained with relaxed marginals.
fn trained_relaxed(model: &Model) -> bool {
    let own = serde_json::from_str(&model.about.settings).ok().and_then(|own| options::saved(&own).ok());
    own.and_then(|own| options::settings(&own).ok()).is_some_and(|settings| settings.relaxed_networks)
}

/// Where a model puts the rows of one side.
pub async fn embed(
    model: &Model,
    side: usize,
    points: &Dense,
    watch: &mut impl Watch,
) -> Result<Dense, Failure> {
    embed_raw(model, side, points.clone().into(), watch).await
}

/// Where a model puts the rows of one side, as they come from a file.
pub async fn embed_raw(
    model: &Model,
    side: usize,
    raw: Raw,
    watch: &mut impl Watch,
) -> Result<Dense, Failure> {
    model.check().map_err(|trouble| Failure::Input(trouble.to_string()))?;
    let (inputs, cols) = (model.sides[side].inputs, raw.points.cols());
    if cols != inputs {
        return Err(Failure::Input(format!(
            "The new {} data set has {cols} columns, the model was trained on {inputs}. Give the same columns, in the same order.",
            ["first", "second"][side]
        )));
    }
    let (chain, points) = raw.begun(&model.sides[side]);
    follow(&chain, &points, watch).await
}

fn matrix(dense: &Dense) -> Step {
    Step::Matrix { rows: dense.rows(), cols: dense.cols(), values: dense.data().to_vec() }
}

/// The layers of a network whose parameters lie one after the other, the weights of a layer before its bias.
fn layers(shape: &MlpShape, mut parameters: &[f32]) -> Vec<Step> {
    let last = shape.sizes.len() - 2;
    let mut steps = Vec::new();
    for (l, pair) in shape.sizes.windows(2).enumerate() {
        let [inputs, outputs] = [pair[0] as usize, pair[1] as usize];
        let (weights, rest) = parameters.split_at(inputs * outputs);
        let (bias, rest) = rest.split_at(outputs);
        parameters = rest;
        let activation = match if l == last { shape.output } else { shape.hidden } {
            Activation::Identity => Saved::Identity,
            Activation::Relu => Saved::Relu,
            Activation::LeakyRelu => Saved::LeakyRelu,
            Activation::Elu => Saved::Elu,
            Activation::Tanh => Saved::Tanh,
        };
        let (weights, bias) = (weights.to_vec(), bias.to_vec());
        steps.push(Step::Dense { inputs, outputs, weights, bias, activation });
    }
    steps
}
