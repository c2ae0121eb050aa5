//! The JavaScript API is written down three times: in the code, in `www/concord.d.ts` and in `docs/api.md`. They agree.
#![cfg(not(target_arch = "wasm32"))]

use std::path::Path;

use analysis::options::defaults;
use engine::api::options::{BESIDE, names};
use serde_json::Value;

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("readable")
}

/// The fields of an interface.
fn fields(types: &str, interface: &str) -> Vec<String> {
    let start = types.find(&format!("interface {interface} ")).expect("declared");
    let body = types[start..].split_once('{').expect("a body").1.split("\n}").next().expect("its end");
    let lines =
        body.lines().filter(|line| line.starts_with("  ") && !line.trim_start().starts_with(['/', '|']));
    let name = |line: &str| line.trim().split([':', '?']).next().unwrap_or_default().to_owned();
    lines.map(name).collect()
}

/// The names in the first column of the tables below a heading, up to the next heading of any kind.
fn rows<'a>(text: &'a str, heading: &str) -> Vec<(Vec<&'a str>, &'a str)> {
    let below = text.split_once(&format!("{heading}\n")).expect("a heading").1;
    let below = below.split("\n#").next().unwrap_or_default();
    let line = |line: &'a str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let names = cells.next()?.split(", ").map(|name| name.trim_matches('`')).collect();
        Some((names, cells.next()?))
    };
    below.lines().filter_map(line).collect()
}

#[test]
fn every_option_is_typed_and_described() {
    let types = read("www/concord.d.ts");
    let mut known = [names(), BESIDE.map(str::to_owned).to_vec()].concat();
    known.sort();
    let mut typed = [fields(&types, "Options"), fields(&types, "ApplyOptions")].concat();
    typed.sort();
    assert_eq!(typed, known);
    let text = read("docs/api.md");
    let described = rows(&text, "### Options");
    let mut names: Vec<&str> = described.iter().flat_map(|(names, _)| names.clone()).collect();
    names.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn the_defaults_are_those_that_are_described() {
    let Ok(Value::Object(known)) = serde_json::to_value(defaults()) else { panic!("an object") };
    let text = read("docs/api.md");
    let mut compared = 0;
    for (names, values) in rows(&text, "### Options") {
        let mut values = values.split(", ").map(|value| value.trim_matches('`')).cycle();
        for name in names.into_iter().filter(|name| known.contains_key(*name)) {
            let said: Value = serde_json::from_str(values.next().expect("a value")).expect("a value of JSON");
            let same = match (said.as_f64(), known[name].as_f64()) {
                (Some(said), Some(known)) => (said - known).abs() <= 1e-6 * known.abs(),
                _ => said == known[name],
            };
            assert!(same, "{name}: {said} is said, {} is", known[name]);
            compared += 1;
        }
    }
    assert_eq!(compared, known.len());
}

#[test]
fn every_field_of_a_result_is_typed_described_and_there() {
    let types = read("www/concord.d.ts");
    let mut typed = [fields(&types, "Result"), fields(&types, "Matches")].concat();
    typed.sort();
    let text = read("docs/api.md");
    let mut described: Vec<&str> =
        rows(&text, "### The result").iter().flat_map(|(names, _)| names.clone()).collect();
    described.sort_unstable();
    assert_eq!(typed, described);
    let code = read("crates/engine/src/api/result.rs");
    for name in typed {
        assert!(
            code.contains(&format!("(\"{name}\", ")) || code.contains(&format!("\"{name}\",\n")),
            "{name}"
        );
    }
}

#[test]
fn the_module_exports_what_is_typed() {
    let exports = |text: &str| {
        let names = text.lines().filter_map(|line| {
            let rest =
                line.strip_prefix("export ")?.trim_start_matches("default ").trim_start_matches("async ");
            Some(rest.strip_prefix("function ")?.split('(').next()?.to_owned())
        });
        names.collect::<Vec<String>>()
    };
    assert_eq!(exports(&read("www/concord.js")), ["init", "align", "apply"]);
    assert_eq!(exports(&read("www/concord.d.ts")), ["init", "align", "apply"]);
}

#[test]
fn the_example_is_as_short_as_it_is_said_to_be() {
    let lines = read("www/example.html").lines().count();
    assert!(lines <= 30 && read("docs/api.md").contains(&format!("in {lines} lines")), "{lines}");
}
