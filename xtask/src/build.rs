//! `cargo xtask build`: the static folder `dist/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Outcome, command, output, root, run, say};
use crate::tools;

/// Builds with Trunk, then optimises the module when a good wasm-opt is at hand.
pub fn build() -> Outcome {
    tools::ensure_build_tools()?;
    say("building dist/ with Trunk");
    run(command("trunk", &["build", "--offline"]))?;
    match tools::wasm_opt() {
        Some(wasm_opt) => optimise(&wasm_opt)?,
        None => eprintln!(
            "No good wasm-opt is at hand: the module works, but is larger than it could be. \
             Install Node.js with npm, or binaryen 116 or later, and build again."
        ),
    }
    report()
}

/// Optimises the module and renames it after its new contents, so that caches never mix two builds.
fn optimise(wasm_opt: &Path) -> Outcome {
    let dist = root().join("dist");
    let module = find(&dist, "_bg.wasm")?;
    say("optimising the module with wasm-opt");
    let path = module.display().to_string();
    run(command(&wasm_opt.display().to_string(), &["-O3", &path, "-o", &path]))?;

    let name = file_name(&module);
    let old = name.trim_end_matches("_bg.wasm").to_owned();
    let bytes = fs::read(&module).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let new = format!("concord-{:016x}", fnv1a(&bytes));
    for path in files(&dist)? {
        let name = file_name(&path);
        if name.ends_with(".js") || name.ends_with(".html") {
            let text =
                fs::read_to_string(&path).map_err(|error| format!("{name} cannot be read: {error}"))?;
            fs::write(&path, text.replace(&old, &new)).map_err(|error| format!("{name}: {error}"))?;
        }
        if name.starts_with(&old) {
            let target = dist.join(name.replace(&old, &new));
            fs::rename(&path, target).map_err(|error| format!("{name} cannot be renamed: {error}"))?;
        }
    }
    Ok(())
}

/// Says how much a visitor downloads.
fn report() -> Outcome {
    let module = find(&root().join("dist"), "_bg.wasm")?;
    let bytes = fs::metadata(&module).map_or(0, |data| data.len());
    let zipped = command("gzip", &["-9", "-c", &module.display().to_string()])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map(|output| format!(", {} kB gzipped", output.stdout.len() / 1000))
        .unwrap_or_default();
    let commit = output("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_default();
    eprintln!("\ndist/ is ready: module {} kB{zipped} (at commit {})", bytes / 1000, commit.trim());
    Ok(())
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
    Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|p| p.is_file()).collect())
}

fn find(folder: &Path, ending: &str) -> Outcome<PathBuf> {
    files(folder)?
        .into_iter()
        .find(|path| file_name(path).ends_with(ending))
        .ok_or_else(|| format!("Trunk left no *{ending} in {}", folder.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Names a file by its contents; not meant to resist an attacker.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    /// Published test vectors of 64-bit FNV-1a.
    #[test]
    fn hash_is_fnv1a() {
        assert_eq!(super::fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
