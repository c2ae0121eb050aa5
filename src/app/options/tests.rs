use super::*;

#[test]
fn every_field_can_be_read_and_written() {
    let mut options = AlignOptions::default();
    for field in FIELDS {
        let text = match field.kind {
            Kind::Choice(choices) => choices[0].0.to_owned(),
            Kind::Whole(low, _) => low.to_string(),
            Kind::Number(low, _) => low.to_string(),
        };
        assert_eq!(set(&mut options, field.name, &text), Ok(()), "{}", field.name);
        assert_eq!(get(&options, field.name), text, "{}", field.name);
    }
}

#[test]
fn a_refused_value_says_why_and_changes_nothing() {
    let mut options = AlignOptions { steps: 100, rate: 0.1, ..AlignOptions::default() };
    let before = options.clone();
    for (name, text) in [("steps", "0"), ("steps", "many"), ("rate", "-1"), ("rate", "NaN"), ("nothing", "1")]
    {
        let reason = set(&mut options, name, text).unwrap_err();
        assert!(reason.ends_with('.'), "{reason}");
    }
    assert_eq!(options, before);
}

#[test]
fn settings_are_looked_at_together() {
    let mut options =
        AlignOptions { eps_start: 0.1, eps_end: 0.5, annealing: "linear".into(), ..AlignOptions::default() };
    assert_eq!(conflict(&options).map(|(name, _)| name), Some("eps_end"));
    options.annealing = "constant".into();
    assert_eq!(conflict(&options), None);
    options.distance_x = "cosine".into();
    assert_eq!(conflict(&options).map(|(name, _)| name), Some("distance_y"));
}

#[test]
fn objectives_that_networks_cannot_relax_are_refused_in_the_form() {
    let at = |loss: &str, encoder: &str, all_points: bool| {
        let (loss, encoder) = (loss.into(), encoder.into());
        let options = AlignOptions {
            marginals: "relaxed-all".into(),
            annealing: "constant".into(),
            loss,
            encoder,
            all_points,
            ..AlignOptions::default()
        };
        conflict(&options).map(|(name, _)| name)
    };
    assert_eq!((at("rank-gw", "both", false), at("classic", "mlp", false)), (None, None));
    assert_eq!((at("frobenius", "mlp", false), at("soft-rank", "both", false)), (Some("loss"), Some("loss")));
    assert_eq!(at("soft-rank", "linear", false), None);
    assert_eq!(at("classic", "both", true), Some("marginals"));
}

#[test]
fn presets_differ_and_keep_the_distances() {
    let defaults = AlignOptions {
        encoder: "both".into(),
        loss: "rank-gw".into(),
        steps: 300,
        ..AlignOptions::default()
    };
    let mine = AlignOptions { distance_x: "cosine".into(), distance_y: "given".into(), ..defaults.clone() };
    let all: Vec<_> = PRESETS.iter().map(|p| preset(p.name, &mine, &defaults)).collect();
    for (i, one) in all.iter().enumerate() {
        assert_eq!(one.distance_y, "given");
        assert!(all[..i].iter().all(|other| other != one));
    }
}
