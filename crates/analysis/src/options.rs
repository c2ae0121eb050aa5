//! Settings as the page names them, and as the solver takes them.

use align::geometry::nearest::SearchChoice;
use align::geometry::panel::{Distance, Measure};
use align::procedure::{EncoderChoice, GroupChoice, LossChoice, RELAXED, Settings, suits_relaxed_networks};
use align::solver::align::AlignSettings;
use align::solver::annealing::{Annealing, Shape};
use align::solver::cost::CostKind;
use align::solver::marginals::Relaxation;
use compute::kernels::Activation;
use schema::AlignOptions;

const ENCODERS: [(&str, EncoderChoice); 3] =
    [("both", EncoderChoice::Both), ("mlp", EncoderChoice::Networks), ("linear", EncoderChoice::Linear)];
const ACTIVATIONS: [(&str, Activation); 4] = [
    ("relu", Activation::Relu),
    ("leaky-relu", Activation::LeakyRelu),
    ("elu", Activation::Elu),
    ("tanh", Activation::Tanh),
];
const COSTS: [(&str, CostKind); 2] = [("sqm", CostKind::Sqm), ("cosine", CostKind::Cosine)];
const SHAPES: [(&str, Shape); 3] =
    [("exponential", Shape::Exponential), ("linear", Shape::Linear), ("constant", Shape::Constant)];

const SEARCHES: [(&str, SearchChoice); 3] = [
    ("auto", SearchChoice::Auto),
    ("exact", SearchChoice::Exact),
    ("approximate", SearchChoice::Approximate),
];

const LAMBDA: Option<f32> = Some(RELAXED);
/// Whose rows may end without a partner: of both sides, of one, or of none; and whether networks are trained for it.
const MARGINALS: [(&str, (Relaxation, bool)); 5] = [
    ("relaxed", (Relaxation { x: LAMBDA, y: LAMBDA }, false)),
    ("relaxed-all", (Relaxation { x: LAMBDA, y: LAMBDA }, true)),
    ("strict-x", (Relaxation { x: None, y: LAMBDA }, false)),
    ("strict-y", (Relaxation { x: LAMBDA, y: None }, false)),
    ("strict", (Relaxation::STRICT, false)),
];

const GROUPS: [(&str, GroupChoice); 3] =
    [("auto", GroupChoice::Auto), ("try", GroupChoice::Try), ("off", GroupChoice::Off)];

/// The name of a choice.
fn name<T: PartialEq + Copy>(table: &[(&'static str, T)], value: T) -> String {
    table.iter().find(|(_, v)| *v == value).map_or("", |(name, _)| name).to_owned()
}

/// The choice of a name.
fn named<T: Copy>(table: &[(&'static str, T)], what: &str, name: &str) -> Result<T, String> {
    table.iter().find(|(n, _)| *n == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        format!("There is no {what} called \u{201c}{name}\u{201d}. Choose one of: {}.", names.join(", "))
    })
}

/// The settings a run has unless told otherwise.
pub fn defaults() -> AlignOptions {
    let Settings {
        encoder,
        loss,
        fits,
        sample,
        all_points,
        train,
        redraw,
        neighbours,
        dirichlet,
        fused,
        pairs,
        eps,
        relaxation,
        relaxed_networks,
        groups,
        seed,
        ..
    } = Settings::default();
    let AlignSettings {
        hidden,
        embedding,
        activation,
        cost,
        steps,
        rate,
        annealing,
        sinkhorn,
        conjugate,
        ..
    } = train;
    AlignOptions {
        encoder: name(&ENCODERS, encoder),
        loss: loss.name().to_owned(),
        distance_x: String::new(),
        distance_y: String::new(),
        sample: sample as u32,
        all_points,
        steps,
        fits,
        redraw,
        hidden,
        embedding,
        activation: name(&ACTIVATIONS, activation),
        cost: name(&COSTS, cost),
        rate,
        eps_start: annealing.start,
        eps_end: annealing.end,
        annealing: name(&SHAPES, annealing.shape),
        sinkhorn,
        conjugate,
        neighbours: name(&SEARCHES, neighbours),
        dirichlet,
        fused,
        pairs,
        eps,
        marginals: name(&MARGINALS, (relaxation, relaxed_networks)),
        groups: name(&GROUPS, groups),
        seed: seed as u32,
    }
}

/// Options that were saved as JSON; those that are not there are the defaults.
pub fn saved(settings: &serde_json::Value) -> Result<AlignOptions, serde_json::Error> {
    let mut whole = serde_json::to_value(defaults())?;
    if let (Some(whole), Some(own)) = (whole.as_object_mut(), settings.as_object()) {
        whole.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    serde_json::from_value(whole)
}

/// The solver's settings, or what is wrong with the options.
pub fn settings(options: &AlignOptions) -> Result<Settings, String> {
    let within = |what: &str, value: u32, low: u32, high: u32| {
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        Err(format!("{what} is {value}. It has to be between {low} and {high}."))
    };
    let positive = |what: &str, value: f32, high: f32| {
        if value.is_finite() && value > 0.0 && value <= high {
            return Ok(value);
        }
        Err(format!("{what} is {value}. It has to be above 0 and at most {high}."))
    };
    let weight = |what: &str, value: f32| {
        if value.is_finite() && (0.0..=1000.0).contains(&value) {
            return Ok(value);
        }
        Err(format!("{what} is {value}. It has to be between 0 and 1000."))
    };
    let losses = LossChoice::ALL.map(|loss| (loss.name(), loss));
    let loss = named(&losses, "loss", &options.loss)?;
    let shape = named(&SHAPES, "annealing", &options.annealing)?;
    let (start, end) =
        (positive("The first ε", options.eps_start, 1e4)?, positive("The last ε", options.eps_end, 1e4)?);
    if shape != Shape::Constant && start < end {
        return Err(format!("ε starts at {start} and ends at {end}. It has to fall: exchange them."));
    }
    let train = AlignSettings {
        hidden: within("The width of the networks", options.hidden, 2, 1024)?,
        embedding: within("The size of the embedding", options.embedding, 2, 256)?,
        activation: named(&ACTIVATIONS, "activation", &options.activation)?,
        cost: named(&COSTS, "cost", &options.cost)?,
        steps: within("The number of steps", options.steps, 1, 20_000)?,
        rate: positive("The learning rate", options.rate, 1.0)?,
        annealing: Annealing { shape, start, end, ..Annealing::default() },
        sinkhorn: within("The number of Sinkhorn iterations", options.sinkhorn, 1, 200)?,
        conjugate: within("The number of conjugate gradient iterations", options.conjugate, 1, 200)?,
        seed: options.seed.into(),
    };
    let (relaxation, relaxed_networks) = marginals(&options.marginals)?;
    let settings = Settings {
        encoder: named(&ENCODERS, "encoder", &options.encoder)?,
        loss,
        measures: measures(&options.distance_x, &options.distance_y)?,
        fits: within("The number of fits", options.fits, 1, 16)?,
        sample: within("The subsample", options.sample, 4, 4000)? as usize,
        all_points: options.all_points,
        train,
        redraw: options.redraw,
        neighbours: searched(&options.neighbours)?,
        dirichlet: weight("The weight of the smoothness", options.dirichlet)?,
        fused: weight("The weight of the shared features", options.fused)?,
        pairs: weight("The weight of the known pairs", options.pairs)?,
        eps: positive("ε of the transport", options.eps, 10.0)?,
        relaxation,
        relaxed_networks,
        groups: groups(&options.groups)?,
        seed: options.seed.into(),
        ..Settings::default()
    };
    suits_relaxed_networks(&settings).map_err(|why| why.to_string())?;
    Ok(settings)
}

/// How neighbours are looked for. Settings that were kept before this could be chosen say nothing of it.
fn searched(name: &str) -> Result<SearchChoice, String> {
    if name.is_empty() { Ok(SearchChoice::Auto) } else { named(&SEARCHES, "search for neighbours", name) }
}

/// Whose weights are relaxed. Settings that were kept before this could be chosen say nothing of it.
fn marginals(name: &str) -> Result<(Relaxation, bool), String> {
    if name.is_empty() {
        let Settings { relaxation, relaxed_networks, .. } = Settings::default();
        Ok((relaxation, relaxed_networks))
    } else {
        named(&MARGINALS, "kind of marginals", name)
    }
}

/// Whether groups are left out. Settings that were kept before this could be chosen say nothing of it.
fn groups(name: &str) -> Result<GroupChoice, String> {
    if name.is_empty() {
        Ok(Settings::default().groups)
    } else {
        named(&GROUPS, "way to leave groups out", name)
    }
}

/// The measures that are asked for; none for the panel.
fn measures(x: &str, y: &str) -> Result<Vec<Measure>, String> {
    let distance = |name: &str, side: &str| {
        Distance::named(name).ok_or_else(|| {
            let names = Distance::ALL.map(Distance::name).join(", ");
            format!(
                "There is no distance called \u{201c}{name}\u{201d} for the {side} data set. Choose one of: {names}."
            )
        })
    };
    match (x, y) {
        ("", "") => Ok(Vec::new()),
        // One that is left open follows the other.
        (x, "") => Ok(vec![Measure::same(distance(x, "first")?)]),
        ("", y) => Ok(vec![Measure::same(distance(y, "second")?)]),
        (x, y) => Ok(vec![Measure { x: distance(x, "first")?, y: distance(y, "second")? }]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_solver() {
        let back = settings(&defaults()).expect("usable");
        assert_eq!(format!("{back:?}"), format!("{:?}", Settings::default()));
    }

    #[test]
    fn wrong_settings_are_refused_in_words() {
        let refused = |change: fn(&mut AlignOptions)| {
            let mut options = defaults();
            change(&mut options);
            settings(&options).expect_err("refused")
        };
        assert!(refused(|o| o.loss = "kind".into()).contains("kind"));
        assert!(refused(|o| o.steps = 0).contains("between 1 and 20000"));
        assert!(refused(|o| o.rate = f32::NAN).contains("learning rate"));
        assert!(refused(|o| o.eps_start = 0.01).contains("has to fall"));
        assert!(refused(|o| o.distance_y = "far".into()).contains("second"));
        assert!(refused(|o| o.embedding = 1).contains("embedding"));
        assert!(refused(|o| o.fused = -1.0).contains("shared"));
        assert!(refused(|o| o.neighbours = "all".into()).contains("auto, exact, approximate"));
    }

    #[test]
    fn neighbours_are_looked_for_as_asked() {
        let search = |name: &str| settings(&AlignOptions { neighbours: name.into(), ..defaults() });
        for (name, want) in SEARCHES.into_iter().chain([("", SearchChoice::Auto)]) {
            assert_eq!(search(name).expect("usable").neighbours, want);
        }
    }

    #[test]
    fn marginals_are_relaxed_as_asked() {
        let relaxed = |name: &str| {
            settings(&AlignOptions { marginals: name.into(), ..defaults() }).expect("usable").relaxation
        };
        assert_eq!(relaxed(""), Relaxation::both(0.5));
        assert_eq!(relaxed("relaxed"), Relaxation::both(0.5));
        assert_eq!(relaxed("strict"), Relaxation::STRICT);
        assert_eq!((relaxed("strict-x").x, relaxed("strict-x").y), (None, Some(0.5)));
        assert_eq!((relaxed("strict-y").x, relaxed("strict-y").y), (Some(0.5), None));
        let refused =
            settings(&AlignOptions { marginals: "loose".into(), ..defaults() }).expect_err("refused");
        assert!(refused.contains("relaxed, relaxed-all, strict-x, strict-y, strict"), "{refused}");
    }

    #[test]
    fn networks_are_relaxed_only_where_all_are_and_their_loss_allows_it() {
        let chosen = |marginals: &str, loss: &str| AlignOptions {
            marginals: marginals.into(),
            loss: loss.into(),
            ..defaults()
        };
        for name in ["", "relaxed", "strict-x", "strict-y", "strict"] {
            assert!(!settings(&chosen(name, "soft-rank")).expect("usable").relaxed_networks, "{name}");
        }
        for loss in ["rank-gw", "classic"] {
            let all = settings(&chosen("relaxed-all", loss)).expect("usable");
            assert!(all.relaxed_networks && all.relaxation == Relaxation::both(0.5));
        }
        for loss in ["frobenius", "soft-rank"] {
            let why = settings(&chosen("relaxed-all", loss)).expect_err("refused");
            assert!(why.contains(loss) && why.contains("Choose one of these"), "{why}");
            let linear = AlignOptions { encoder: "linear".into(), ..chosen("relaxed-all", loss) };
            assert!(settings(&linear).is_ok(), "no network is trained");
        }
        let whole = AlignOptions { all_points: true, ..chosen("relaxed-all", "classic") };
        let why = settings(&whole).expect_err("refused");
        assert!(why.contains("all points at once"), "{why}");
    }

    #[test]
    fn groups_are_left_out_as_asked() {
        let chosen = |name: &str| settings(&AlignOptions { groups: name.into(), ..defaults() });
        for (name, want) in GROUPS.into_iter().chain([("", GroupChoice::Auto)]) {
            assert_eq!(chosen(name).expect("usable").groups, want);
        }
        assert!(chosen("some").expect_err("refused").contains("auto, try, off"));
    }

    #[test]
    fn a_distance_for_one_side_is_taken_for_both() {
        let one = AlignOptions { distance_x: "geodesic".into(), ..defaults() };
        assert_eq!(settings(&one).expect("usable").measures, [Measure::same(Distance::Geodesic)]);
        let two = AlignOptions { distance_y: "cosine".into(), ..one };
        let want = Measure { x: Distance::Geodesic, y: Distance::Cosine };
        assert_eq!(settings(&two).expect("usable").measures, [want]);
    }
}
