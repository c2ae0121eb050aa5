//! Settings in the address of the page: what a link carries to somebody else, and what it hides from a class. Never data.

use super::options::{self, FIELDS};
use super::samples;
use schema::AlignOptions;

/// What stands before the name of a setting in the address.
const PREFIX: &str = "set-";

/// Parts of the page that a link can hide, by the name in `hide=`, and what they are called.
pub const PARTS: [(&str, &str); 5] = [
    ("data", "files and samples"),
    ("settings", "settings"),
    ("training", "curves of training"),
    ("downloads", "downloads"),
    ("new", "new data"),
];

/// The part that a page without a sample cannot do without.
pub const DATA: &str = PARTS[0].0;
/// Where it may be computed, as in `executor=`.
const EXECUTORS: [&str; 3] = ["auto", "cpu", "gpu"];
/// What stands for no sample in `sample=`.
const NO_SAMPLE: &str = "none";

/// Everything that can be set, by name.
fn names() -> impl Iterator<Item = &'static str> {
    ["distance_x", "distance_y"].into_iter().chain(FIELDS.iter().map(|field| field.name))
}

/// Whether a word of the address is a setting.
pub fn is_setting((name, _): &(String, String)) -> bool {
    name.starts_with(PREFIX)
}

/// The settings that are not the defaults, as words of an address.
pub fn words(now: &AlignOptions, defaults: &AlignOptions) -> Vec<(String, String)> {
    names()
        .map(|name| (name, options::get(now, name), options::get(defaults, name)))
        .filter(|(_, now, usual)| now != usual)
        .map(|(name, now, _)| (format!("{PREFIX}{name}"), now))
        .collect()
}

/// The defaults with the settings of an address, and what of it could not be taken, in words.
pub fn read(words: &[(String, String)], defaults: &AlignOptions) -> (AlignOptions, Vec<String>) {
    let mut taken = defaults.clone();
    let mut refused = Vec::new();
    for (word, value) in words {
        let Some(wanted) = word.strip_prefix(PREFIX) else {
            refused.extend(misspelt(word, value));
            continue;
        };
        let outcome = match names().find(|name| *name == wanted) {
            Some(name) => match choices(name).filter(|all| all.iter().all(|(choice, _)| choice != value)) {
                Some(all) => {
                    let all: Vec<&str> =
                        all.iter().map(|(choice, _)| *choice).filter(|choice| !choice.is_empty()).collect();
                    Err(format!("There is no such choice; there are {}.", all.join(", ")))
                }
                None => options::set(&mut taken, name, value),
            },
            None => Err("There is no such setting.".into()),
        };
        if let Err(why) = outcome {
            refused.push(format!("{wanted} = {value}: {why}"));
        }
    }
    if let Some((field, why)) = options::conflict(&taken) {
        refused.push(format!("{field}: {why}"));
    }
    (taken, refused)
}

/// What of a word that is no setting means nothing.
fn misspelt(word: &str, value: &str) -> Option<String> {
    let (known, what): (Vec<&str>, &str) = match word {
        "hide" => (PARTS.iter().map(|(name, _)| *name).collect(), "part"),
        "executor" => (EXECUTORS.to_vec(), "executor"),
        "sample" => (samples::ALL.iter().map(|sample| sample.name).chain([NO_SAMPLE]).collect(), "sample"),
        _ => return None,
    };
    // Only parts can be several, or none.
    let unknown: Vec<&str> = match word {
        "hide" => {
            value.split(',').map(str::trim).filter(|part| !part.is_empty() && !known.contains(part)).collect()
        }
        _ => [value].into_iter().filter(|value| !known.contains(value)).collect(),
    };
    (!unknown.is_empty()).then(|| {
        format!("{word} = {}: There is no such {what}; there are {}.", unknown.join(", "), known.join(", "))
    })
}

/// What can be chosen, where that can be counted.
fn choices(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    match (name, FIELDS.iter().find(|field| field.name == name).map(|field| field.kind)) {
        ("distance_x" | "distance_y", _) => Some(options::DISTANCES),
        (_, Some(options::Kind::Choice(choices))) => Some(choices),
        _ => None,
    }
}

/// Which parts a word of the address hides; those it does not know are left out, and without a sample the place where data
/// comes from.
pub fn hidden(word: &str, has_sample: bool) -> Vec<&'static str> {
    let wanted: Vec<&str> = word.split(',').map(str::trim).collect();
    let names = PARTS.iter().map(|(name, _)| *name).filter(|name| has_sample || *name != DATA);
    names.filter(|name| wanted.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> AlignOptions {
        AlignOptions {
            encoder: "both".into(),
            loss: "rank-gw".into(),
            sample: 300,
            steps: 300,
            fits: 1,
            hidden: 128,
            embedding: 16,
            activation: "relu".into(),
            cost: "sqm".into(),
            rate: 2e-3,
            eps_start: 20.0,
            eps_end: 0.05,
            annealing: "exponential".into(),
            sinkhorn: 10,
            conjugate: 10,
            eps: 0.05,
            seed: 1,
            ..AlignOptions::default()
        }
    }

    #[test]
    fn a_link_brings_back_every_setting() {
        let changed = AlignOptions {
            loss: "classic".into(),
            distance_x: "cosine".into(),
            distance_y: "squared-euclidean".into(),
            steps: 123,
            all_points: true,
            rate: 0.0125,
            eps_end: 0.02,
            redraw: Some(0),
            neighbours: "approximate".into(),
            seed: 77,
            ..defaults()
        };
        let link = words(&changed, &defaults());
        assert_eq!(link.len(), 10, "only what differs: {link:?}");
        assert_eq!(read(&link, &defaults()), (changed, Vec::new()));
        assert_eq!(read(&[], &defaults()), (defaults(), Vec::new()));
    }

    #[test]
    fn what_makes_no_sense_is_said_and_the_rest_taken() {
        let word = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let link = [
            word("set-steps", "-3"),
            word("set-loss", "magic"),
            word("set-colour", "red"),
            word("set-seed", "5"),
            word("sample", "words"),
        ];
        let (taken, refused) = read(&link, &defaults());
        assert_eq!(taken, AlignOptions { seed: 5, ..defaults() });
        assert_eq!(refused.len(), 3, "{refused:?}");
        assert!(refused[0].starts_with("steps = -3") && refused[1].contains("no such choice"));

        let link = [
            word("hide", "setting,new"),
            word("sample", "nope"),
            word("executor", "quantum"),
            word("utm_source", "mail"),
        ];
        let (_, refused) = read(&link, &defaults());
        assert_eq!(refused.len(), 3, "{refused:?}");
        assert!(refused[0].starts_with("hide = setting: There is no such part"), "{refused:?}");
        let link = [word("sample", "words,digits"), word("sample", ""), word("executor", "cpu,gpu")];
        assert_eq!(read(&link, &defaults()).1.len(), 3);
        let link = [word("hide", "new, data"), word("sample", "none"), word("executor", "gpu")];
        assert!(read(&link, &defaults()).1.is_empty());
    }

    #[test]
    fn only_parts_that_exist_are_hidden() {
        assert_eq!(hidden("settings, downloads,everything", true), ["settings", "downloads"]);
        assert!(hidden("", true).is_empty());
        assert_eq!(hidden("data,new", true), ["data", "new"]);
        assert_eq!(hidden("data,new", false), ["new"], "there would be nothing to do");
    }
}
