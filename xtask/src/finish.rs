//! `cargo xtask finish`: what is done to Trunk's output before it is a folder for a web host. Trunk calls it after every
//! build, while the files lie in a folder of its own (Trunk.toml).
//!
//! It writes the files that have to name the others: `start.js`, which starts the app, `concord.js`, the API under a name
//! that stays, and `sw.js`, which keeps all of them for times without a network.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use sha2::{Digest, Sha256};

use crate::run::{Outcome, command, root, run, say};
use crate::tools;

/// Set by `cargo xtask build`. Without it the build is one of many during development: not optimised, and nothing is
/// kept by the browser.
pub const RELEASE: &str = "CONCORD_RELEASE";

const INDEX: &str = "index.html";
/// Never kept: it says what is.
const WORKER: &str = "sw.js";

/// Finishes the folder that Trunk names.
pub fn finish() -> Outcome {
    let folder = std::env::var_os("TRUNK_STAGING_DIR").map(PathBuf::from).ok_or(
        "`finish` is called by Trunk, which says where its files are; you may want `cargo xtask build`",
    )?;
    let release = std::env::var_os(RELEASE).is_some();
    let wasm_opt = if release { tools::wasm_opt() } else { None };
    if release && wasm_opt.is_none() {
        eprintln!(
            "No good wasm-opt is at hand: the modules work, but are larger than they could be. \
             Install Node.js with npm, or binaryen 116 or later, and build again."
        );
    }
    if let Some(wasm_opt) = &wasm_opt {
        optimise(&folder, wasm_opt)?;
    }
    for (own, ..) in MODULES {
        rename(&folder, &module(&folder, own)?, own)?;
    }
    name_files(&folder)?;
    let build = if release { identity(&folder)? } else { "development".to_owned() };
    change(&folder.join(INDEX), |text| text.replace("content=\"BUILD\"", &format!("content=\"{build}\"")))?;
    let script = if release {
        let kept = all_files(&folder)?.into_iter().map(|file| {
            let digest = digest(&folder, &file)?;
            Ok(format!("[{file:?}, {digest:?}]"))
        });
        let kept = kept.collect::<Outcome<Vec<String>>>()?;
        let template = read(&template("sw.js"))?;
        template.replace("\"BUILD\"", &format!("{build:?}")).replace("\"FILES\"", &kept.join(", "))
    } else {
        read(&template("sw-gone.js"))?
    };
    write(&folder.join(WORKER), &script)
}

/// The two modules: what Trunk calls them, what they are called in scripts, and how they are optimised.
pub const MODULES: [(&str, &str, &str); 2] = [("concord", "PAGE", "-Oz"), ("engine", "ENGINE", "-O3")];

/// The module of this name in a folder.
pub fn module(folder: &Path, name: &str) -> Outcome<PathBuf> {
    files(folder)?
        .into_iter()
        .find(|path| file_name(path).starts_with(name) && file_name(path).ends_with("_bg.wasm"))
        .ok_or_else(|| format!("Trunk left no {name}*_bg.wasm in {}", folder.display()))
}

/// Optimises both modules at once: each takes minutes of one core.
fn optimise(folder: &Path, wasm_opt: &Path) -> Outcome {
    let one = |own: &str, level: &str| {
        let module = module(folder, own)?;
        say(&format!("optimising {} with wasm-opt", file_name(&module)));
        let path = module.display().to_string();
        run(command(&wasm_opt.display().to_string(), &[level, &path, "-o", &path]))
    };
    std::thread::scope(|scope| {
        let running = MODULES.map(|(own, _, level)| scope.spawn(move || one(own, level)));
        running.into_iter().try_for_each(|run| {
            run.join().unwrap_or_else(|_| Err("wasm-opt could not be watched to its end".to_owned()))
        })
    })
}

/// Renames a module and its script after the module's contents, so that caches never mix two builds.
fn rename(folder: &Path, module: &Path, own: &str) -> Outcome {
    let name = file_name(module);
    let old = name.trim_end_matches("_bg.wasm").to_owned();
    let bytes = fs::read(module).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let new = format!("{own}-{:016x}", fnv1a(&bytes));
    // The scripts of both modules are named alike, and `engine` is a word of its own elsewhere.
    let endings = [".js", "_bg.wasm"];
    for path in files(folder)? {
        let name = file_name(&path);
        if name.ends_with(".js") || name.ends_with(".html") {
            change(&path, |text| {
                endings
                    .iter()
                    .fold(text, |text, end| text.replace(&format!("{old}{end}"), &format!("{new}{end}")))
            })?;
        }
        if endings.iter().any(|end| name == format!("{old}{end}")) {
            let target = folder.join(name.replacen(&old, &new, 1));
            fs::rename(&path, target).map_err(|error| format!("{name} cannot be renamed: {error}"))?;
        }
    }
    Ok(())
}

/// Writes the scripts that name the modules: the API as it is called by others, and the app's start under a name with its
/// hash.
fn name_files(folder: &Path) -> Outcome {
    let mut names = Vec::new();
    for (own, place, _) in MODULES {
        names.push((place, file_name(&module(folder, own)?)));
    }
    let filled = |name: &str| -> Outcome<String> {
        let text = read(&template(name))?;
        Ok(names.iter().fold(text, |text, (place, module)| {
            let script = module.replace("_bg.wasm", ".js");
            text.replace(&format!("{place}.wasm"), module).replace(&format!("{place}.js"), &script)
        }))
    };
    write(&folder.join("concord.js"), &filled("concord.js")?)?;
    let start = filled("start.js")?;
    let name = format!("start-{:016x}.js", fnv1a(start.as_bytes()));
    write(&folder.join(&name), &start)?;
    let index = folder.join(INDEX);
    if !read(&index)?.contains("./start.js") {
        return Err(format!("{INDEX} does not start anything: Trunk.toml should make it name ./start.js"));
    }
    change(&index, |text| text.replace("./start.js", &format!("./{name}")))
}

/// Names a build by the names and contents of all its files, and by how its service worker works.
fn identity(folder: &Path) -> Outcome<String> {
    let mut bytes = read(&template(WORKER))?.into_bytes();
    for file in all_files(folder)? {
        let content =
            fs::read(folder.join(&file)).map_err(|error| format!("{file} cannot be read: {error}"))?;
        bytes.extend(file.as_bytes());
        bytes.extend(fnv1a(&content).to_le_bytes());
    }
    Ok(format!("{:016x}", fnv1a(&bytes)))
}

/// What the service worker checks a file by. Pages have none: some hosts add to them, and they name their build.
fn digest(folder: &Path, file: &str) -> Outcome<String> {
    if file.ends_with(".html") {
        return Ok(String::new());
    }
    let content = fs::read(folder.join(file)).map_err(|error| format!("{file} cannot be read: {error}"))?;
    Ok(format!("sha256-{}", STANDARD.encode(Sha256::digest(content))))
}

/// Every file that a visitor may need, by its path within the folder, sorted.
fn all_files(folder: &Path) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let entries = fs::read_dir(folder.join(&inner))
            .map_err(|error| format!("{} cannot be read: {error}", inner.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = inner.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.retain(|file| file != WORKER && !file.ends_with(".d.ts"));
    found.sort();
    Ok(found)
}

fn template(name: &str) -> PathBuf {
    root().join("www").join(name)
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn change(path: &Path, how: impl FnOnce(String) -> String) -> Outcome {
    write(path, &how(read(path)?))
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
    Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|p| p.is_file()).collect())
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
    use super::*;

    /// Published test vectors of 64-bit FNV-1a.
    #[test]
    fn hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_templates_have_the_places_that_are_filled_in() {
        let has = |file: &str, words: &[&str]| {
            let text = read(&root().join(file)).expect("readable");
            words.iter().for_each(|word| assert!(text.contains(word), "{file}: {word}"));
        };
        has("www/start.js", &["PAGE.wasm", "PAGE.js", "ENGINE.wasm", "ENGINE.js"]);
        has("www/concord.js", &["ENGINE.wasm", "ENGINE.js"]);
        has("www/sw.js", &["\"BUILD\"", "\"FILES\""]);
        has(INDEX, &["content=\"BUILD\"", "Content-Security-Policy"]);
        has("Trunk.toml", &["./start.js", "\"finish\""]);
    }

    #[test]
    fn a_build_is_named_by_all_its_files_except_the_one_that_says_so() {
        let folder = std::env::temp_dir().join(format!("concord-finish-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).expect("a folder");
        write(&folder.join("a.txt"), "a").expect("written");
        write(&folder.join("inner/b.txt"), "b").expect("written");
        write(&folder.join(WORKER), "first").expect("written");
        assert_eq!(all_files(&folder).expect("listed"), ["a.txt", "inner/b.txt"]);
        let before = identity(&folder).expect("named");
        // Of the empty file it is known: printf '' | openssl dgst -sha256 -binary | base64
        write(&folder.join("empty.js"), "").expect("written");
        let known = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(digest(&folder, "empty.js").as_deref(), Ok(known));
        write(&folder.join("page.html"), "").expect("written");
        assert_eq!(digest(&folder, "page.html").as_deref(), Ok(""));
        fs::remove_file(folder.join("empty.js"))
            .and(fs::remove_file(folder.join("page.html")))
            .expect("removed");
        write(&folder.join(WORKER), "second").expect("written");
        assert_eq!(identity(&folder).expect("named"), before);
        write(&folder.join("inner/b.txt"), "c").expect("written");
        assert_ne!(identity(&folder).expect("named"), before);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
