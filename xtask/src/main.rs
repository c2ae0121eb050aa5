//! The developer commands. `cargo xtask serve` and `cargo xtask test` are all a newcomer needs: they
//! install what is missing, or say exactly what to install.

mod build;
mod finish;
mod fuzz;
mod lab;
mod run;
mod serve;
mod system;
mod test;
mod tools;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask serve          build the app and serve it on localhost
cargo xtask build          build the static folder dist/ for any web host
cargo xtask test [WORD…]   run all tests, or only the stages whose names contain a WORD
cargo xtask fuzz …         feed the readers bytes that nobody would write; SECONDS and READERS may follow
cargo xtask evaluate …     how good alignments are, on data with known pairs
cargo xtask bench …        how long the solver takes; --peers also times others, --json FILE keeps the numbers
cargo xtask samples        train the encoders that the samples in www/samples come with, again
cargo xtask bench inference …  how a transport grows with its points; --most N, --peers, --json FILE, --svg FILE;
                           --browser [--sizes 10000x32,45000x16] measures the same in Chromium instead
cargo xtask bench agreement …  whether both ways to match many points come to the same; --points N, --dim D
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let outcome = match command {
        "serve" => serve::serve(),
        "build" => build::build(),
        "finish" => finish::finish(),
        "test" => test::test(rest),
        "fuzz" => fuzz::fuzz(rest),
        "bench" if lab::in_browser(rest) => lab::browser(rest),
        "evaluate" | "bench" | "samples" => lab::lab(command, rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("there is no command '{other}'\n\n{HELP}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nxtask: {message}");
            ExitCode::FAILURE
        }
    }
}
