//! The arrows of ARCHITECTURE.md: which module may use which. A forbidden `use` fails here.
#![cfg(not(target_arch = "wasm32"))]

use std::path::{Path, PathBuf};

/// Each module of `src/` with the modules it may name as `crate::MODULE`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("rng", &[]),
    ("watch", &[]),
    ("timeout", &[]),
    ("plan", &[]),
    ("protocol", &[]),
    ("kernels", &["plan", "rng"]),
    ("exec", &["plan", "timeout"]),
    ("geometry", &["kernels", "rng", "watch"]),
    ("scale", &["geometry", "kernels", "rng", "solver", "watch"]),
    ("metrics", &["geometry", "kernels", "rng", "scale"]),
    ("solver", &["plan", "kernels", "rng"]),
    ("procedure", &["baseline", "exec", "geometry", "metrics", "plan", "rng", "scale", "solver", "watch"]),
    ("baseline", &["plan", "kernels", "solver", "exec"]),
    ("check", &["plan", "kernels", "exec", "protocol"]),
    (
        "worker",
        &[
            "baseline",
            "check",
            "exec",
            "geometry",
            "kernels",
            "metrics",
            "plan",
            "procedure",
            "protocol",
            "rng",
            "scale",
            "solver",
            "study",
        ],
    ),
    (
        "study",
        &[
            "exec",
            "geometry",
            "kernels",
            "metrics",
            "plan",
            "procedure",
            "protocol",
            "rng",
            "scale",
            "solver",
        ],
    ),
    ("link", &["protocol", "timeout"]),
    ("app", &["link", "protocol", "timeout"]),
    ("api", &["link", "protocol"]),
];

/// Crates that only some places may name, with those places.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("wgpu", &["src/exec/gpu"]),
    ("leptos", &["src/app"]),
    ("plotters", &["src/app"]),
    ("matrixmultiply", &["src/kernels/matmul.rs"]),
    ("web_sys", &["src/api", "src/app", "src/link.rs", "src/worker"]),
];

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

/// Every source file: its path from the root, its module, its text without comments.
fn files() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    sources(&root.join("src"), &mut paths);
    assert!(paths.len() > 20, "the sources were not found");
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("readable");
            let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap_or("")).collect();
            let relative = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            let parts: Vec<&str> = relative.split('/').collect();
            let module = parts[1].trim_end_matches(".rs").to_owned();
            (relative.clone(), module, code.join("\n"))
        })
        .collect()
}

/// The first names of a path's continuation: `exec::X` gives `exec`, `{plan::{A, B}, exec}` both.
fn first_names(rest: &str) -> Vec<String> {
    let name =
        |item: &str| item.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let Some(inner) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut names, mut depth, mut item) = (Vec::new(), 0, String::new());
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&std::mem::take(&mut item))),
            _ if depth == 0 => item.push(c),
            _ => {}
        }
    }
    names.push(name(&item));
    names
}

/// The modules of this crate that a text names from the root.
fn named_modules(code: &str) -> Vec<String> {
    code.match_indices("crate::").flat_map(|(at, found)| first_names(&code[at + found.len()..])).collect()
}

/// The top-level modules reached by climbing with `super::super::…`.
fn named_by_super(path: &str, code: &str) -> Vec<String> {
    // src/a.rs and src/a/mod.rs are one level below the root, src/a/b.rs two, and so on.
    let depth = path.trim_end_matches("/mod.rs").split('/').count() - 1;
    let climb = "super::".repeat(depth);
    code.match_indices(&climb)
        .flat_map(|(at, _)| first_names(code[at..].trim_start_matches("super::")))
        .collect()
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let known: Vec<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    for (path, module, code) in files() {
        if module == "lib" || module == "main" {
            continue;
        }
        let (_, allowed) = MAY_USE
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("{path}: module '{module}' has no place in the layering; give it one"));
        let named = [named_modules(&code), named_by_super(&path, &code)].concat();
        for used in named.iter().filter(|name| known.contains(&name.as_str())) {
            assert!(
                *used == module || allowed.contains(&used.as_str()),
                "{path} uses crate::{used}; '{module}' may use only {allowed:?}"
            );
        }
    }
}

#[test]
fn crates_stay_where_they_belong() {
    for (path, _, code) in files() {
        for (name, places) in ONLY_IN {
            let named = code.match_indices(name).any(|(at, _)| {
                let before = code[..at].chars().next_back().unwrap_or(' ');
                let after = code[at + name.len()..].chars().next().unwrap_or(' ');
                !before.is_alphanumeric()
                    && !"_\"".contains(before)
                    && (after == ':' || after == ';' || code[at..].starts_with(&format!("{name} as ")))
            });
            let allowed = places.iter().any(|place| path.starts_with(place));
            assert!(!named || allowed, "{path} names {name}, which belongs in {places:?}");
        }
    }
}

#[test]
fn the_layering_test_sees_a_forbidden_use() {
    assert_eq!(named_modules("use crate::exec::Executor;"), ["exec"]);
    assert_eq!(named_by_super("src/plan/call.rs", "use super::super::exec::Executor;"), ["exec"]);
    assert!(named_by_super("src/exec/gpu/device.rs", "use super::super::ExecError;").is_empty());
    assert_eq!(named_modules("use crate::{plan::{A, B}, exec::X};"), ["plan", "exec"]);
    assert_eq!(named_by_super("src/plan/call.rs", "use super::super::{rng, exec::E};"), ["rng", "exec"]);
    assert_eq!(named_modules("use crate::{plan::Plan, exec};\ncrate::rng::Rng"), ["plan", "exec", "rng"]);
}

/// Nothing that computes or chooses an alignment may know the truth.
#[test]
fn the_truth_is_for_scoring_only() {
    for (path, module, code) in files() {
        if module != "metrics" {
            assert!(!code.contains("truth::"), "{path} looks at the truth");
        }
    }
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
