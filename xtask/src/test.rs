//! `cargo xtask test`: everything that is checked, stage by stage, with a summary at the end.

use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::run::{Outcome, cargo, root, run, run_seeing, say};
use crate::system::Program;
use crate::{build, system, tools};

const WASM: &str = "wasm32-unknown-unknown";

/// Members that are not compiled for a browser, or whose tests are not.
const NATIVE_ONLY: [&str; 3] = ["formats", "lab", "xtask"];

/// The tests that have one body for native Vulkan and for the browser: `tests/device/`.
const DEVICE_TESTS: &str = "device";

/// What is played for its figures only, by `cargo xtask bench inference --browser`.
pub const BROWSER_BENCH: &str = "inference_time";

struct Stage {
    name: &'static str,
    needs: &'static [Need],
    run: fn() -> Verdict,
}

/// What has to be there before a stage can run.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    /// The wasm target, Trunk, wasm-bindgen.
    BuildTools,
    Program(Program),
    /// axe-core, for what keeps people out.
    Axe,
}

/// How a stage ended.
enum Verdict {
    Passed,
    Failed(String),
    /// It could not even be tried.
    NotRun(String),
}

const BROWSER: [Need; 3] =
    [Need::BuildTools, Need::Program(Program::Chromium), Need::Program(Program::ChromeDriver)];

const BROWSER_AND_AXE: [Need; 4] = [BROWSER[0], BROWSER[1], BROWSER[2], Need::Axe];

const STAGES: &[Stage] = &[
    Stage { name: "format", needs: &[], run: format },
    Stage { name: "clippy native", needs: &[], run: clippy_native },
    Stage { name: "clippy wasm", needs: &[Need::BuildTools], run: clippy_wasm },
    Stage { name: "unit native", needs: &[], run: unit },
    Stage { name: "kernels on Vulkan", needs: &[Need::Program(Program::Vulkan)], run: vulkan },
    Stage { name: "kernels in Chromium", needs: &BROWSER, run: browser },
    Stage { name: "end to end in Chromium", needs: &BROWSER, run: end_to_end },
    Stage { name: "axe in Chromium", needs: &BROWSER_AND_AXE, run: axe },
];

/// Runs the stages whose names contain one of the words; without words, all.
pub fn test(words: &[String]) -> Outcome {
    let stages: Vec<&Stage> = STAGES
        .iter()
        .filter(|stage| words.is_empty() || words.iter().any(|word| stage.name.contains(word.as_str())))
        .collect();
    if stages.is_empty() {
        let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(format!("no stage has such a name; there are: {}", names.join(", ")));
    }
    // Everything is installed, or found to be missing, before the first long stage.
    let needed = |need: Need| stages.iter().any(|stage| stage.needs.contains(&need));
    if needed(Need::BuildTools) {
        tools::ensure_build_tools()?;
    }
    for program in system::PROGRAMS {
        if needed(Need::Program(program)) && !program.is_there() {
            program.install();
            if !program.is_there() {
                eprintln!("\nMISSING: {}", program.advice());
            }
        }
    }
    if needed(Need::Axe) && tools::axe().is_none() {
        eprintln!("\nMISSING: {}", tools::NO_AXE);
    }

    let mut results = Vec::new();
    for stage in stages {
        say(stage.name);
        let start = Instant::now();
        let verdict = match stage.needs.iter().find_map(lacking) {
            Some(advice) => Verdict::NotRun(advice),
            None => (stage.run)(),
        };
        results.push((stage.name, verdict, start.elapsed()));
    }
    summarise(&results, std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1"))
}

fn lacking(need: &Need) -> Option<String> {
    match need {
        Need::Program(program) if !program.is_there() => Some(program.advice().to_owned()),
        Need::Axe if tools::axe().is_none() => Some(tools::NO_AXE.to_owned()),
        _ => None,
    }
}

fn summarise(results: &[(&str, Verdict, Duration)], ci: bool) -> Outcome {
    eprintln!("\nSummary");
    for (name, verdict, time) in results {
        let (mark, words) = match verdict {
            Verdict::Passed => ("ok     ", String::new()),
            Verdict::Failed(why) => ("FAILED ", format!("  {why}")),
            Verdict::NotRun(why) => ("NOT RUN", format!("  {why}")),
        };
        eprintln!("  {mark} {name:<24} {:>6.1} s{words}", time.as_secs_f64());
    }
    let failed = results.iter().filter(|(_, v, _)| matches!(v, Verdict::Failed(_))).count();
    let skipped = results.iter().filter(|(_, v, _)| matches!(v, Verdict::NotRun(_))).count();
    match (failed, skipped) {
        (0, 0) => Ok(()),
        (0, n) if !ci => {
            eprintln!("\nWARNING: {n} of {} stages could NOT be run; see above.", results.len());
            Ok(())
        }
        (0, n) => Err(format!("{n} stages could not be run, which counts as a failure with CI=true")),
        (n, _) => Err(format!("{n} stages failed")),
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Ok(()) => Verdict::Passed,
        Err(why) => Verdict::Failed(why),
    }
}

/// All commands in order, up to the first failure.
fn all(commands: impl IntoIterator<Item = Command>) -> Verdict {
    verdict(commands.into_iter().try_for_each(run))
}

fn format() -> Verdict {
    all([cargo(&["fmt", "--all", "--check"])])
}

fn clippy_native() -> Verdict {
    all([
        cargo(&["clippy", "--workspace", "--all-targets", "--features", "e2e", "--", "-D", "warnings"]),
        // The CPU executor needs no GPU crate: it must build without any.
        cargo(&["clippy", "-p", "compute", "--lib", "--no-default-features", "--", "-D", "warnings"]),
    ])
}

fn clippy_wasm() -> Verdict {
    let mut arguments = vec!["clippy", "--workspace", "--all-targets", "--target", WASM];
    arguments.extend(NATIVE_ONLY.iter().flat_map(|name| ["--exclude", name]));
    all([cargo(&[&arguments[..], &["--", "-D", "warnings"]].concat())])
}

fn unit() -> Verdict {
    let plain = match plain_tests() {
        Ok(names) => names,
        Err(why) => return Verdict::Failed(why),
    };
    // One that fails does not hide what the others have to say.
    let mut arguments = vec!["test", "--no-fail-fast", "-p", "concord", "--features", "e2e", "--lib"];
    arguments.extend(plain.iter().flat_map(|name| ["--test", name]));
    let crates = ["test", "--no-fail-fast", "--workspace", "--exclude", "concord"];
    all([cargo(&arguments), cargo(&crates)])
}

/// Every file in `tests/` that needs neither a device nor a browser, so that a new one is not forgotten.
fn plain_tests() -> Outcome<Vec<String>> {
    let entries = std::fs::read_dir(root().join("tests")).map_err(|error| format!("tests/: {error}"))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry.ok()?.file_name().into_string().ok()?.strip_suffix(".rs").map(str::to_owned)
        })
        .filter(|name| name != BROWSER_BENCH)
        .collect();
    names.sort();
    Ok(names)
}

fn vulkan() -> Verdict {
    let mut tests = cargo(&["test", "-p", "concord", "--features", "e2e", "--test", DEVICE_TESTS]);
    // Without it some drivers complain on every start.
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        tests.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    all([tests])
}

/// Each test has a limit of its own there (`tests/device/common.rs`); the runner's is for a browser that does nothing at all.
fn browser() -> Verdict {
    let build = ["test", "-p", "concord", "--target", WASM, "--test", DEVICE_TESTS];
    // What is printed, tells which test has begun.
    let play = [build.as_slice(), &["--", "--nocapture"]].concat();
    verdict(run(cargo(&[build.as_slice(), &["--no-run"]].concat())).and_then(|()| {
        let mut running = None;
        let outcome = run_seeing(in_chromium(cargo(&play), 3600), |line| follow(&mut running, line));
        outcome.map_err(|why| match running {
            Some(test) => format!("{why}, while {test} was running"),
            None => why,
        })
    }))
}

/// Which test is running, after another line of what the runner prints.
fn follow(running: &mut Option<String>, line: &str) {
    if let Some(name) = line.strip_prefix("Invoking test: ") {
        *running = Some(name.trim().to_owned());
    } else if let Some(name) = running
        && line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_prefix(name.as_str()))
            .is_some_and(|rest| rest.starts_with(" ... "))
    {
        *running = None;
    }
}

/// A command whose tests are played in Chromium, for so many seconds at most.
pub fn in_chromium(mut tests: Command, seconds: u32) -> Command {
    tests
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner")
        .env("WASM_BINDGEN_TEST_TIMEOUT", seconds.to_string())
        // Five seconds are not enough for a driver to start on a busy machine.
        .env("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", "120");
    with_driver(tests)
}

/// Everything people do, but for what needs axe-core.
fn end_to_end() -> Verdict {
    on_the_built_page(&["--skip", AXE_TESTS])
}

/// Every screen, looked at by axe-core.
fn axe() -> Verdict {
    on_the_built_page(&[AXE_TESTS])
}

/// The module of `tests/e2e/` that needs axe-core.
const AXE_TESTS: &str = "axe::";

/// Builds what a visitor gets, optimised if it can be and once for all stages, and uses exactly that.
fn on_the_built_page(which: &[&str]) -> Verdict {
    static BUILT: OnceLock<Outcome> = OnceLock::new();
    if let Err(why) = BUILT.get_or_init(build::build) {
        return Verdict::Failed(why.clone());
    }
    let mut arguments =
        vec!["test", "-p", "concord", "--features", "e2e", "--test", "e2e", "--", "--test-threads=2"];
    arguments.extend(which);
    all([with_driver(cargo(&arguments))])
}

fn with_driver(mut command: Command) -> Command {
    if let Some(driver) = system::chromedriver() {
        command.env("CHROMEDRIVER", driver);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::follow;

    #[test]
    fn the_test_that_did_not_end_is_known() {
        let mut running = None;
        let mut after = |line: &str| {
            follow(&mut running, line);
            running.clone()
        };
        assert_eq!(after("running 2 tests"), None);
        assert_eq!(after("Invoking test: a::one"), Some("a::one".to_owned()));
        assert_eq!(after("test a::one_more ... ok"), Some("a::one".to_owned()));
        assert_eq!(after("test a::one ... FAIL"), None);
        assert_eq!(after("Invoking test: b::two"), Some("b::two".to_owned()));
        assert_eq!(
            after("Failed to detect test as having been run. It might have timed out."),
            Some("b::two".to_owned())
        );
    }
}
