//! `cargo xtask fuzz`: coverage-guided fuzzing of every reader, on the pinned stable toolchain. LLVM's counters are
//! asked for by stable compiler options, and libFuzzer is compiled from the crate `libfuzzer-sys`.

use std::path::PathBuf;

use crate::run::{Outcome, cargo, output, root, run, say};
use crate::system::Program;

/// One for each `[[bin]]` in fuzz/Cargo.toml.
const TARGETS: &[&str] = &["front", "lists", "saved", "hdf5", "mtx"];

const SECONDS: u32 = 60;

/// What makes rustc count edges and comparisons for libFuzzer.
const FLAGS: [&str; 8] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Clink-dead-code",
    "-Cforce-frame-pointers=yes",
];

/// Fuzzes each target, or only those that are named, for a minute or the given number of seconds.
pub fn fuzz(words: &[String]) -> Outcome {
    let (mut seconds, mut chosen) = (SECONDS, Vec::new());
    for word in words {
        match (word.parse(), TARGETS.iter().find(|target| *target == word)) {
            (Ok(number), _) => seconds = number,
            (Err(_), Some(target)) => chosen.push(*target),
            (Err(_), None) => {
                return Err(format!("there is no target '{word}'; there are: {}", TARGETS.join(", ")));
            }
        }
    }
    if chosen.is_empty() {
        chosen.extend(TARGETS);
    }
    if !Program::Compiler.is_there() {
        Program::Compiler.install();
    }
    if !Program::Compiler.is_there() {
        return Err(Program::Compiler.advice().to_owned());
    }
    let programs = build()?;
    let mut failed = Vec::new();
    for target in chosen {
        say(&format!("fuzzing {target} for {seconds} seconds"));
        if let Err(error) = fuzz_one(&programs, target, seconds) {
            eprintln!("{error}");
            failed.push(target);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "found something in: {}. The input is in {}; run the program beside it with that file to see it again.",
        failed.join(", "),
        work().display()
    ))
}

/// The folder of what is built and found, which git ignores.
fn work() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("fuzz")
}

/// Builds all targets and returns the folder they are in.
fn build() -> Outcome<PathBuf> {
    let version = output("rustc", &["-vV"]).ok_or("rustc was not found; install Rust with rustup")?;
    let host =
        version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name its host")?;
    say("building the fuzz targets");
    // With a target named, build scripts and macros are compiled without the counters.
    let mut build = cargo(&[
        "build",
        "--release",
        "--locked",
        "--bins",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        host,
    ]);
    build.env("CARGO_TARGET_DIR", work()).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    run(build)?;
    Ok(work().join(host).join("release"))
}

fn fuzz_one(programs: &std::path::Path, target: &str, seconds: u32) -> Outcome {
    // libFuzzer adds what it finds to the first folder; the seeds in the repository stay as they are.
    let found = work().join("corpus").join(target);
    let artifacts = work().join(format!("found-{target}-"));
    std::fs::create_dir_all(&found)
        .map_err(|error| format!("{} cannot be made: {error}", found.display()))?;
    let mut fuzzer = crate::run::command(&programs.join(target).display().to_string(), &[]);
    fuzzer.arg(&found).arg(root().join("fuzz/corpus").join(target));
    fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-artifact_prefix={}", artifacts.display()));
    fuzzer.args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1"]);
    // It says a lot. All of it is kept; shown is how far it came, or how it ended.
    let log = work().join(format!("{target}.log"));
    let file =
        std::fs::File::create(&log).map_err(|error| format!("{} cannot be made: {error}", log.display()))?;
    fuzzer.stderr(file);
    let outcome = run(fuzzer);
    let text =
        std::fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    eprintln!("{}", summary(&text, outcome.is_ok()));
    outcome
}

/// The last word on coverage and the statistics; of a failure, the last lines too.
fn summary(log: &str, good: bool) -> String {
    let coverage = log.lines().rfind(|line| line.contains(" cov: "));
    let statistics = log.lines().filter(|line| line.starts_with("stat::"));
    let mut shown: Vec<&str> = coverage.into_iter().chain(statistics).collect();
    if !good {
        let lines: Vec<&str> = log.lines().collect();
        shown.extend(&lines[lines.len().saturating_sub(40)..]);
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_program_and_seeds() {
        let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("the manifest");
        for target in TARGETS {
            assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
            assert!(root().join("fuzz/corpus").join(target).is_dir(), "{target}");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }

    #[test]
    fn a_summary_is_short() {
        let log = "#1 INITED cov: 2\n#9 DONE cov: 7 ft: 8\nnoise\nstat::number_of_executed_units: 9\n";
        assert_eq!(summary(log, true), "#9 DONE cov: 7 ft: 8\nstat::number_of_executed_units: 9");
        assert!(summary(log, false).contains("noise"));
    }
}
