//! The settings of a run as fields of a form: what each is called, what it may be, and why a value is refused.
//!
//! No component and no signal here, so that the rules can be tested natively.

use schema::AlignOptions;

/// What a field may hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One of these: the value and its name.
    Choice(&'static [(&'static str, &'static str)]),
    /// A whole number in this range.
    Whole(u32, u32),
    /// A number in this range.
    Number(f32, f32),
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name for automation, `set-…`.
    pub name: &'static str,
    pub label: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    pub kind: Kind,
}

const fn field(name: &'static str, label: &'static str, about: &'static str, kind: Kind) -> Field {
    Field { name, label, about, kind }
}

/// The ways to measure how far apart two rows of one side are.
pub const DISTANCES: &[(&str, &str)] = &[
    ("", "try several (recommended)"),
    ("cosine", "cosine: angle between rows"),
    ("centred", "centred: cosine after centring"),
    ("standardised", "standardised: every column counts alike"),
    ("correlation", "correlation between rows"),
    ("euclidean", "Euclidean"),
    ("squared-euclidean", "squared Euclidean"),
    ("geodesic", "geodesic: along the neighbour graph"),
    ("given", "given: a distance file"),
];

/// Everything but the two distances, in the order of the form.
pub const FIELDS: &[Field] = &[
    field(
        "encoder",
        "Encoders",
        "Linear maps are quick and steady, networks bend; both are tried and the best is kept.",
        Kind::Choice(&[("both", "both"), ("linear", "linear maps only"), ("mlp", "networks only")]),
    ),
    field(
        "loss",
        "Objective",
        "What training makes agree between the sides: the order of distances, or the distances themselves.",
        Kind::Choice(&[
            ("rank-gw", "ranks of distances"),
            ("soft-rank", "soft ranks"),
            ("classic", "distances (classic)"),
            ("frobenius", "distances (Frobenius)"),
        ]),
    ),
    field(
        "sample",
        "Points trained on",
        "Rows a side that each network sees; more is slower and steadier.",
        Kind::Whole(4, 4000),
    ),
    field(
        "all_points",
        "Trained on",
        "All points at once needs the classic objective and distances by angles or squared ones; slow without a good graphics card, and past what a subsample can show.",
        Kind::Choice(&[("no", "a subsample"), ("yes", "all points at once")]),
    ),
    field("steps", "Training steps", "How long each network is trained.", Kind::Whole(1, 20_000)),
    field(
        "fits",
        "Fits per measure",
        "How many networks are trained from different subsamples for each distance.",
        Kind::Whole(1, 16),
    ),
    field(
        "redraw",
        "Redraw after",
        "Steps after which new rows are drawn for training; 0 keeps the same rows throughout, empty does so unless there are very many.",
        Kind::Whole(0, 100_000),
    ),
    field("hidden", "Hidden width", "Width of the layers between input and embedding.", Kind::Whole(2, 1024)),
    field("embedding", "Embedding width", "Dimensions of the common space.", Kind::Whole(2, 256)),
    field(
        "activation",
        "Activation",
        "What bends the networks between their layers.",
        Kind::Choice(&[("relu", "ReLU"), ("leaky-relu", "leaky ReLU"), ("elu", "ELU"), ("tanh", "tanh")]),
    ),
    field(
        "cost",
        "Cost between embeddings",
        "How far apart two embedded points are when the plan is computed.",
        Kind::Choice(&[("sqm", "squared distance, relative to its mean"), ("cosine", "cosine")]),
    ),
    field("rate", "Learning rate", "Size of each training step.", Kind::Number(1e-7, 1.0)),
    field(
        "eps_start",
        "ε at the start",
        "Softness of the plan when training begins.",
        Kind::Number(1e-5, 100.0),
    ),
    field(
        "eps_end",
        "ε at the end",
        "Softness of the plan when training ends; smaller is sharper.",
        Kind::Number(1e-5, 100.0),
    ),
    field(
        "annealing",
        "Annealing",
        "How ε goes from its start to its end.",
        Kind::Choice(&[("exponential", "exponential"), ("linear", "linear"), ("constant", "constant")]),
    ),
    field("sinkhorn", "Sinkhorn rounds", "Rounds that balance the plan in every step.", Kind::Whole(1, 200)),
    field(
        "conjugate",
        "Conjugate-gradient rounds",
        "Rounds that solve for the gradient through the plan.",
        Kind::Whole(1, 200),
    ),
    field(
        "neighbours",
        "Neighbours",
        "How the neighbours are found that geodesic distances go through; random trees are quicker and miss a few of a hundred.",
        Kind::Choice(&[
            ("auto", "as many points suggest"),
            ("exact", "exactly"),
            ("approximate", "by random trees"),
        ]),
    ),
    field(
        "dirichlet",
        "Smoothness",
        "Weight of keeping neighbours together in the cost; 0 for none.",
        Kind::Number(0.0, 1000.0),
    ),
    field(
        "fused",
        "Weight of shared features",
        "How much the columns that both sides share count; only with such files.",
        Kind::Number(0.0, 1000.0),
    ),
    field(
        "pairs",
        "Weight of known pairs",
        "How much known pairs count in training; only with such a file.",
        Kind::Number(0.0, 1000.0),
    ),
    field(
        "eps",
        "ε of the final plan",
        "Softness of the transport between all points at the end.",
        Kind::Number(1e-5, 10.0),
    ),
    field(
        "marginals",
        "Unequal groups",
        "Whether rows of a group that only one side has may stay without a partner. For linear maps, and for networks if chosen.",
        Kind::Choice(&[
            ("relaxed", "rows of both sides may"),
            ("relaxed-all", "rows of both sides may, also with networks"),
            ("strict-x", "only rows of the second may"),
            ("strict-y", "only rows of the first may"),
            ("strict", "every row is matched in full"),
        ]),
    ),
    field(
        "groups",
        "Leave groups out",
        "Whether to align without one group at a time, in case the other side lacks it.",
        Kind::Choice(&[
            ("auto", "where another alignment fits as well"),
            ("try", "always (slower)"),
            ("off", "never"),
        ]),
    ),
    field("seed", "Seed", "The same seed on the same data gives the same result.", Kind::Whole(0, u32::MAX)),
];

/// The value of a field as text.
pub fn get(options: &AlignOptions, name: &str) -> String {
    match name {
        "encoder" => options.encoder.clone(),
        "loss" => options.loss.clone(),
        "distance_x" => options.distance_x.clone(),
        "distance_y" => options.distance_y.clone(),
        "activation" => options.activation.clone(),
        "cost" => options.cost.clone(),
        "annealing" => options.annealing.clone(),
        "sample" => options.sample.to_string(),
        "all_points" => if options.all_points { "yes" } else { "no" }.to_owned(),
        "steps" => options.steps.to_string(),
        "fits" => options.fits.to_string(),
        "redraw" => options.redraw.map(|every| every.to_string()).unwrap_or_default(),
        "hidden" => options.hidden.to_string(),
        "embedding" => options.embedding.to_string(),
        "sinkhorn" => options.sinkhorn.to_string(),
        "conjugate" => options.conjugate.to_string(),
        "seed" => options.seed.to_string(),
        "rate" => options.rate.to_string(),
        // Settings that were kept before this could be chosen say nothing of it.
        "neighbours" if options.neighbours.is_empty() => "auto".to_owned(),
        "neighbours" => options.neighbours.clone(),
        "eps_start" => options.eps_start.to_string(),
        "eps_end" => options.eps_end.to_string(),
        "dirichlet" => options.dirichlet.to_string(),
        "fused" => options.fused.to_string(),
        "pairs" => options.pairs.to_string(),
        "eps" => options.eps.to_string(),
        "marginals" if options.marginals.is_empty() => "relaxed".to_owned(),
        "marginals" => options.marginals.clone(),
        "groups" if options.groups.is_empty() => "auto".to_owned(),
        "groups" => options.groups.clone(),
        _ => String::new(),
    }
}

/// Puts a text into a field, or says why not.
pub fn set(options: &mut AlignOptions, name: &str, text: &str) -> Result<(), String> {
    let kind = FIELDS.iter().find(|field| field.name == name).map(|field| field.kind);
    let whole = || match kind {
        Some(Kind::Whole(low, high)) => whole_number(text, low, high),
        _ => Err("There is no such setting.".into()),
    };
    let number = || match kind {
        Some(Kind::Number(low, high)) => a_number(text, low, high),
        _ => Err("There is no such setting.".into()),
    };
    let word = text.to_owned();
    match name {
        "encoder" => options.encoder = word,
        "loss" => options.loss = word,
        "distance_x" => options.distance_x = word,
        "distance_y" => options.distance_y = word,
        "activation" => options.activation = word,
        "cost" => options.cost = word,
        "annealing" => options.annealing = word,
        "neighbours" => options.neighbours = word,
        "marginals" => options.marginals = word,
        "groups" => options.groups = word,
        "sample" => options.sample = whole()?,
        "all_points" => options.all_points = text == "yes",
        "steps" => options.steps = whole()?,
        "fits" => options.fits = whole()?,
        "redraw" => options.redraw = if text.trim().is_empty() { None } else { Some(whole()?) },
        "hidden" => options.hidden = whole()?,
        "embedding" => options.embedding = whole()?,
        "sinkhorn" => options.sinkhorn = whole()?,
        "conjugate" => options.conjugate = whole()?,
        "seed" => options.seed = whole()?,
        "rate" => options.rate = number()?,
        "eps_start" => options.eps_start = number()?,
        "eps_end" => options.eps_end = number()?,
        "dirichlet" => options.dirichlet = number()?,
        "fused" => options.fused = number()?,
        "pairs" => options.pairs = number()?,
        "eps" => options.eps = number()?,
        _ => return Err("There is no such setting.".into()),
    }
    Ok(())
}

/// What is wrong with the settings taken together: the field it is said at, and the reason.
pub fn conflict(options: &AlignOptions) -> Option<(&'static str, String)> {
    if options.annealing != "constant" && options.eps_end > options.eps_start {
        return Some(("eps_end", "ε has to shrink: make its end smaller than its start.".into()));
    }
    if options.all_points && options.encoder != "linear" {
        if options.loss != "classic" {
            return Some(("loss", "Training on all points at once needs the classic objective.".into()));
        }
        for (field, distance) in [("distance_x", &options.distance_x), ("distance_y", &options.distance_y)] {
            if ["euclidean", "geodesic", "given"].contains(&distance.as_str()) {
                let why =
                    "Training on all points at once needs a distance by angles or the squared Euclidean one.";
                return Some((field, why.into()));
            }
        }
        if options.dirichlet > 0.0 {
            return Some((
                "dirichlet",
                "Training on all points at once has no smoothness: set it to 0.".into(),
            ));
        }
    }
    if options.marginals == "relaxed-all" && options.encoder != "linear" {
        if ["frobenius", "soft-rank"].contains(&options.loss.as_str()) {
            let why = "Unequal groups with networks need the objective of ranks or the classic one.";
            return Some(("loss", why.into()));
        }
        if options.all_points {
            let why = "Unequal groups with networks need training on a subsample, not on all points at once.";
            return Some(("marginals", why.into()));
        }
    }
    if options.distance_x.is_empty() != options.distance_y.is_empty() {
        let open = if options.distance_x.is_empty() { "distance_x" } else { "distance_y" };
        return Some((open, "Choose a distance for both sides, or let several be tried for both.".into()));
    }
    None
}

fn whole_number(text: &str, low: u32, high: u32) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        Ok(_) => Err(range(&low, &high)),
        Err(_) => Err(format!("A whole number is needed here. {}", range(&low, &high))),
    }
}

fn a_number(text: &str, low: f32, high: f32) -> Result<f32, String> {
    match text.trim().replace(',', ".").parse::<f32>() {
        Ok(value) if value.is_finite() && (low..=high).contains(&value) => Ok(value),
        Ok(_) => Err(range(&low, &high)),
        Err(_) => Err(format!("A number is needed here. {}", range(&low, &high))),
    }
}

fn range(low: &dyn std::fmt::Display, high: &dyn std::fmt::Display) -> String {
    format!("It has to be between {low} and {high}.")
}

/// Settings for a purpose, in plain words.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name for automation, `preset-…`.
    pub name: &'static str,
    pub label: &'static str,
    pub about: &'static str,
}

pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        label: "Quick look",
        about: "Linear maps only: seconds instead of minutes, a first impression.",
    },
    Preset {
        name: "standard",
        label: "Standard",
        about: "Linear maps and networks over several distances. Right for most data.",
    },
    Preset {
        name: "ranks",
        label: "Non-metric / ranks",
        about: "Compares soft ranks of distances. For scales that are distorted, not merely different.",
    },
    Preset {
        name: "shared",
        label: "Shared features",
        about: "Both sides have a few columns in common; load them under More files.",
    },
    Preset {
        name: "pairs",
        label: "Some pairs known",
        about: "A few rows are known to belong together; load them under More files.",
    },
];

/// The weight that shared features or known pairs get where the defaults give them none.
const WEIGHT: f32 = 0.5;

/// The settings of a preset. The distances and the seed stay as they are.
pub fn preset(name: &str, current: &AlignOptions, defaults: &AlignOptions) -> AlignOptions {
    let mut options = AlignOptions {
        distance_x: current.distance_x.clone(),
        distance_y: current.distance_y.clone(),
        seed: current.seed,
        ..defaults.clone()
    };
    let weight = |default: f32| if default > 0.0 { 2.0 * default } else { WEIGHT };
    match name {
        "quick" => {
            options.encoder = "linear".into();
            options.steps = (defaults.steps / 3).max(1);
        }
        "ranks" => options.loss = "soft-rank".into(),
        "shared" => options.fused = weight(defaults.fused),
        "pairs" => options.pairs = weight(defaults.pairs),
        _ => {}
    }
    options
}

#[cfg(test)]
mod tests;
