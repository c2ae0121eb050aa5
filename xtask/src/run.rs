//! Running other programs, and where things are.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What went wrong, in words.
pub type Outcome<T = ()> = Result<T, String>;

/// The repository.
pub fn root() -> PathBuf {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The folder for tools, which git ignores.
pub fn tools() -> PathBuf {
    root().join(".tools")
}

/// A command that runs in the repository, with the project's tools first on the search path.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut path = vec![tools().join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    if let Ok(joined) = std::env::join_paths(path) {
        command.env("PATH", joined);
    }
    command
}

pub fn cargo(arguments: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), arguments)
}

/// Runs to the end, with its output on the terminal.
pub fn run(mut command: Command) -> Outcome {
    let shown = format!("{:?}", command.get_program()).trim_matches('"').to_owned();
    let status = command.status().map_err(|error| format!("{shown} could not be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown} ended with {status}")) }
}

/// The same, and passes on each line of what it prints as its result.
pub fn run_seeing(mut command: Command, mut see: impl FnMut(&str)) -> Outcome {
    let shown = format!("{:?}", command.get_program()).trim_matches('"').to_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{shown} could not be started: {error}"))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|error| format!("{shown} could not be read: {error}"))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            see(&line);
        }
    }
    let status = child.wait().map_err(|error| format!("{shown} could not be waited for: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown} ended with {status}")) }
}

/// Runs quietly and returns what it printed, or `None` if it is missing or failed.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = command(program, arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Says what is being done.
pub fn say(text: &str) {
    eprintln!("\n▸ {text}");
}
