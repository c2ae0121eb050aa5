//! The solver run natively. `cargo xtask evaluate`, `bench` and `samples` build and run this.

mod arguments;
mod bench;
mod evaluate;
mod npy;
mod samples;

use std::process::ExitCode;

fn main() -> ExitCode {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match all.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", [].as_slice()),
    };
    let outcome = match command {
        "bench" => bench::bench(rest),
        "bench-child" => bench::child(rest),
        "inference-child" => bench::inference_child(rest),
        "evaluate" => evaluate::evaluate(rest),
        "samples" => samples::samples(rest),
        other => Err(format!("there is no command '{other}'")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\n{message}");
            ExitCode::FAILURE
        }
    }
}
