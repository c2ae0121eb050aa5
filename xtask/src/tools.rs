//! The build tools at the versions the project is locked to, installed once into `.tools/`. Everything
//! comes from package registries.

use std::path::PathBuf;

use crate::run::{Outcome, cargo, command, output, root, run, say, tools};

const TARGET: &str = "wasm32-unknown-unknown";

/// Older ones are known to write broken modules without a word.
const OLDEST_WASM_OPT: u32 = 116;

/// What building the app needs.
pub fn ensure_build_tools() -> Outcome {
    ensure_wasm_target()?;
    // Trunk runs cargo without network, so that Trunk itself never downloads anything.
    run(cargo(&["fetch", "--quiet", "--locked"]))?;
    let wasm_bindgen = locked_version("wasm-bindgen")?;
    let missing = [
        // Without its TLS features: it never downloads anything here.
        missing("trunk", &manifest_version("trunk")?, &["--locked", "--no-default-features"]),
        // Not --locked: its lock file names very new versions, which some registry mirrors do not have yet.
        missing("wasm-bindgen", &wasm_bindgen, &[]),
    ];
    for tool in missing.iter().flatten() {
        install(tool)?;
    }
    if missing.iter().any(Option::is_some) {
        // Intermediate files, a gigabyte of them. Leaving them behind is harmless.
        let _ = std::fs::remove_dir_all(tools().join("target"));
    }
    Ok(())
}

fn ensure_wasm_target() -> Outcome {
    let sysroot =
        output("rustc", &["--print", "sysroot"]).ok_or("rustc was not found; install Rust with rustup")?;
    if PathBuf::from(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir() {
        return Ok(());
    }
    say("adding the WebAssembly target to the Rust toolchain");
    run(command("rustup", &["target", "add", TARGET]))
        .map_err(|error| format!("{error}\nInstall Rust's {TARGET} target and try again."))
}

struct Missing {
    program: &'static str,
    version: String,
    options: &'static [&'static str],
}

/// The tool, if it is not there in exactly this version.
fn missing(program: &'static str, version: &str, options: &'static [&'static str]) -> Option<Missing> {
    let there = output(program, &["--version"])
        .is_some_and(|text| text.split_whitespace().any(|word| word == version));
    (!there).then(|| Missing { program, version: version.to_owned(), options })
}

fn install(tool: &Missing) -> Outcome {
    let package = if tool.program == "wasm-bindgen" { "wasm-bindgen-cli" } else { tool.program };
    say(&format!("installing {package} {} into .tools (once, a few minutes)", tool.version));
    let folder = tools().display().to_string();
    let mut arguments = vec!["install", package, "--version", &tool.version, "--root", &folder];
    // Unoptimised: it compiles three times faster, and the tools have little to do.
    arguments.extend(["--debug", "--force"]);
    arguments.extend(tool.options);
    let mut install = cargo(&arguments);
    install
        .env("CARGO_TARGET_DIR", tools().join("target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
    run(install).map_err(|error| format!("{package} could not be installed: {error}"))
}

/// A wasm-opt that is known to be good: one from the npm package, or a recent one on the search path.
pub fn wasm_opt() -> Option<PathBuf> {
    let version = manifest_version("binaryen").ok()?;
    let ours = tools().join("node_modules/.bin/wasm-opt");
    if is_good(&ours) {
        return Some(ours);
    }
    if output("npm", &["--version"]).is_some() {
        say(&format!("installing wasm-opt (npm package binaryen {version}) into .tools"));
        let package = format!("binaryen@{version}");
        if npm_install(&tools(), &package).is_some() && is_good(&ours) {
            return Some(ours);
        }
    }
    let system = PathBuf::from("wasm-opt");
    is_good(&system).then_some(system)
}

/// axe-core, which the browser tests give to the page to find what keeps people out. It ships with nothing.
pub fn axe() -> Option<PathBuf> {
    let version = manifest_version("axe-core").ok()?;
    // In a folder of its own: npm removes what it was not asked for.
    let folder = tools().join("axe");
    let package = folder.join("node_modules/axe-core");
    let is_there = || {
        let about = std::fs::read_to_string(package.join("package.json")).unwrap_or_default();
        about.contains(&format!("\"version\": \"{version}\"")) && package.join("axe.min.js").is_file()
    };
    if !is_there() && output("npm", &["--version"]).is_some() {
        say(&format!("installing axe-core {version} into .tools with npm"));
        npm_install(&folder, &format!("axe-core@{version}"))?;
    }
    is_there().then(|| package.join("axe.min.js"))
}

/// What to do when there is no axe-core and it could not be installed.
pub const NO_AXE: &str = "axe-core is missing; install Node.js with npm, and it is fetched into .tools/axe";

/// Installs a package of npm into a folder; none if that fails, which npm says why.
fn npm_install(folder: &std::path::Path, package: &str) -> Option<()> {
    let folder = folder.display().to_string();
    let npm = ["install", "--prefix", &folder, "--no-save", "--no-audit", "--no-fund", package];
    run(command("npm", &npm)).ok()
}

fn is_good(wasm_opt: &std::path::Path) -> bool {
    let text = output(&wasm_opt.display().to_string(), &["--version"]).unwrap_or_default();
    let number = text.split_whitespace().find_map(|word| word.parse::<u32>().ok());
    number.is_some_and(|number| number >= OLDEST_WASM_OPT)
}

/// The version of a crate in Cargo.lock.
pub fn locked_version(name: &str) -> Outcome<String> {
    let lock = read("Cargo.lock")?;
    find_locked(&lock, name).ok_or_else(|| format!("Cargo.lock names no {name}"))
}

fn find_locked(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|line| *line != wanted);
    quoted(lines.nth(1)?)
}

/// A version from `[workspace.metadata.tools]` in Cargo.toml.
fn manifest_version(name: &str) -> Outcome<String> {
    let manifest = read("Cargo.toml")?;
    let section = manifest.split("[workspace.metadata.tools]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    section
        .lines()
        .find(|line| line.starts_with(&format!("{name} =")))
        .and_then(quoted)
        .ok_or_else(|| format!("Cargo.toml names no version of {name} in [workspace.metadata.tools]"))
}

fn read(file: &str) -> Outcome<String> {
    std::fs::read_to_string(root().join(file)).map_err(|error| format!("{file} cannot be read: {error}"))
}

fn quoted(line: &str) -> Option<String> {
    line.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.1\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(find_locked(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(find_locked(lock, "trunk"), None);
        assert!(manifest_version("trunk").is_ok_and(|v| v.starts_with("0.21")));
        assert!(manifest_version("nothing").is_err());
    }
}
