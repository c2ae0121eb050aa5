//! Options as a caller writes them: those of the page, by the same names, over the defaults that the worker knows.

use serde_json::{Map, Value};

use schema::AlignOptions;

/// Options of a call that are no settings of a run.
pub const BESIDE: [&str; 4] = ["executor", "known_pairs", "signal", "true_pairs"];

/// The names of all settings of a run.
pub fn names() -> Vec<String> {
    whole(&AlignOptions::default()).into_iter().map(|(name, _)| name).collect()
}

/// Refuses a name that no option of this call has.
pub fn known(name: &str, call: &str, settings: &[String]) -> Result<(), String> {
    let all =
        || settings.iter().map(String::as_str).chain(BESIDE.into_iter().filter(|own| of_call(own, call)));
    if all().any(|known| known == name) {
        return Ok(());
    }
    let mut list: Vec<&str> = all().collect();
    list.sort_unstable();
    Err(format!("{call} has no option called “{name}”. There are: {}.", list.join(", ")))
}

/// Encoders that are only applied know their pairs from training.
fn of_call(name: &str, call: &str) -> bool {
    name != "known_pairs" || call == "align"
}

/// The defaults with what is given in their place, or what is wrong with it. Whether a value is in its range is for the
/// worker to say, who knows the solver.
pub fn merged(defaults: &AlignOptions, given: &[(String, Value)]) -> Result<AlignOptions, String> {
    let mut all = whole(defaults);
    for (name, value) in given {
        known(name, "align", &names())?;
        let Some(default) = all.get_mut(name) else { continue };
        let wanted = match &*default {
            Value::Bool(_) if !value.is_boolean() => "true or false",
            Value::String(_) if !value.is_string() => "a text",
            Value::Number(number) if number.is_f64() && !value.is_number() => "a number",
            Value::Number(number) if !number.is_f64() && !is_whole(value) => {
                "a whole number from 0 to 4294967295"
            }
            // The one that may be left open.
            Value::Null if !value.is_null() && !is_whole(value) => {
                "a whole number from 0 to 4294967295, or null"
            }
            _ => {
                *default = value.clone();
                continue;
            }
        };
        return Err(format!("options.{name} is {value}. Give {wanted}."));
    }
    serde_json::from_value(Value::Object(all))
        .map_err(|error| format!("The options cannot be used: {error}."))
}

fn is_whole(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| u32::try_from(number).is_ok())
}

fn whole(options: &AlignOptions) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(all)) => all,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn defaults() -> AlignOptions {
        AlignOptions { steps: 300, rate: 0.01, encoder: "both".into(), ..AlignOptions::default() }
    }

    fn given(name: &str, value: Value) -> Result<AlignOptions, String> {
        merged(&defaults(), &[(name.to_owned(), value)])
    }

    #[test]
    fn what_is_given_takes_the_place_of_its_default_and_nothing_else_does() {
        let steps = given("steps", json!(120)).expect("usable");
        assert_eq!(steps, AlignOptions { steps: 120, ..defaults() });
        assert_eq!(given("rate", json!(1)).expect("a whole number is a number").rate, 1.0);
        assert_eq!(given("redraw", json!(40)).expect("usable").redraw, Some(40));
        assert_eq!(given("redraw", json!(null)).expect("usable").redraw, None);
        assert!(given("all_points", json!(true)).expect("usable").all_points);
        assert_eq!(merged(&defaults(), &[]).expect("usable"), defaults());
    }

    #[test]
    fn what_cannot_be_taken_is_named_with_what_could_be() {
        let refused = |name: &str, value: Value| given(name, value).expect_err("refused");
        assert!(refused("steps", json!("many")).contains("options.steps is \"many\". Give a whole number"));
        assert!(refused("steps", json!(1.5)).contains("1.5"));
        assert!(refused("steps", json!(-1)).contains("from 0 to 4294967295"));
        assert!(refused("seed", json!(5_000_000_000u64)).contains("whole number"));
        assert!(refused("rate", json!("fast")).contains("a number"));
        assert!(refused("encoder", json!(3)).contains("a text"));
        assert!(refused("all_points", json!("yes")).contains("true or false"));
        assert!(refused("redraw", json!("often")).contains("null"));
        let unknown = refused("step", json!(3));
        assert!(unknown.contains("no option called “step”") && unknown.contains("steps"), "{unknown}");
        assert!(unknown.contains("known_pairs") && unknown.contains("signal"), "{unknown}");
    }

    #[test]
    fn applying_has_fewer_options() {
        assert!(known("executor", "apply", &[]).is_ok());
        assert!(known("true_pairs", "apply", &[]).is_ok());
        for name in ["known_pairs", "steps"] {
            let words = known(name, "apply", &[]).expect_err("refused");
            assert!(words.contains("There are: executor, signal, true_pairs."), "{words}");
        }
    }
}
