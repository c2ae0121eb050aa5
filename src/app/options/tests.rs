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

/// What the form and links take, the worker takes as well: nobody should hear only at the start that a value is refused.
#[test]
fn both_ends_of_every_range_can_be_used() {
    for field in FIELDS {
        let ends = match field.kind {
            Kind::Whole(low, high) => [low.to_string(), high.to_string()],
            Kind::Number(low, high) => [low.to_string(), high.to_string()],
            Kind::Choice(_) => continue,
        };
        for end in ends {
            let mut options =
                AlignOptions { annealing: "constant".into(), ..crate::study::options::defaults() };
            assert_eq!(set(&mut options, field.name, &end), Ok(()), "{} {end}", field.name);
            let used = crate::study::options::settings(&options);
            assert!(used.is_ok(), "{} {end}: {:?}", field.name, used.err());
        }
    }
}
