//! Rules that no compiler holds.
#![cfg(not(target_arch = "wasm32"))]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Nothing that computes or chooses an alignment may know the truth.
#[test]
fn the_truth_is_for_scoring_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "crates/align/src", "crates/analysis/src", "crates/engine/src"] {
        sources(&root.join(folder), &mut paths);
    }
    let scoring = root.join("crates/align/src/metrics");
    let mut seen = 0;
    for path in paths.iter().filter(|path| !path.starts_with(&scoring)) {
        let text = std::fs::read_to_string(path).expect("readable");
        let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap_or("")).collect();
        assert!(!code.join("\n").contains("truth::"), "{} looks at the truth", path.display());
        seen += 1;
    }
    assert!(seen > 100, "the sources were not found");
}

/// A test that a browser plays has a limit only if it is declared by the macro that gives it one.
#[test]
fn every_device_test_has_a_limit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device");
    let mut paths = Vec::new();
    sources(&folder, &mut paths);
    let (mut declared, attributes) = (0, ["[test]", "wasm_bindgen_test]"]);
    for path in paths.iter().filter(|path| !path.ends_with("common.rs")) {
        let text = std::fs::read_to_string(path).expect("readable");
        declared += text.matches("block_on_test! {").count();
        assert!(
            attributes.iter().all(|attribute| !text.contains(attribute)),
            "{}: use block_on_test!",
            path.display()
        );
    }
    assert!(declared > 40, "the tests were not found");
}
