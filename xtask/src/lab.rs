//! `cargo xtask evaluate`, `bench` and `samples`: builds the crate `lab` for measuring and runs it.

use crate::run::{Outcome, cargo, run, say};

/// Runs a command of the lab with its arguments, on this terminal.
pub fn lab(command: &str, arguments: &[String]) -> Outcome {
    say(&format!("building the lab for '{command}' (the first time takes a minute)"));
    let mut words = vec!["run", "--quiet", "--profile", "measure", "--package", "lab", "--", command];
    words.extend(arguments.iter().map(String::as_str));
    let mut lab = cargo(&words);
    // Files are meant where the person is, not where the repository is.
    if let Ok(here) = std::env::current_dir() {
        lab.current_dir(here);
    }
    run(lab)
}
