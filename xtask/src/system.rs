//! Programs of the operating system that the tests need: a browser, its driver, software Vulkan.

use std::path::Path;

use crate::run::{Outcome, command, output, run, say};

/// Something the tests need, how to see whether it is there, and Debian's package for it.
struct Need {
    what: &'static str,
    there: fn() -> bool,
    package: &'static str,
}

const NEEDS: [Need; 3] = [
    Need { what: "Chromium", there: || chromium().is_some(), package: "chromium" },
    Need { what: "ChromeDriver", there: || chromedriver().is_some(), package: "chromium-driver" },
    Need { what: "a Vulkan driver", there: has_vulkan, package: "mesa-vulkan-drivers" },
];

/// Installs what is missing where that is allowed. What is still missing afterwards is reported by the
/// test stages that need it.
pub fn ensure_test_programs() {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.there)()).collect();
    if missing.is_empty() {
        return;
    }
    let names: Vec<&str> = missing.iter().map(|need| need.what).collect();
    if !may_use_apt() {
        return;
    }
    say(&format!("installing {} with apt", names.join(", ")));
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(missing.iter().map(|need| need.package));
    let outcome = apt(&["update", "-qq"]).and_then(|()| apt(&install));
    if let Err(error) = outcome {
        eprintln!("apt could not install everything: {error}");
    }
}

/// Why a stage that needs the browser cannot run, or its driver's path.
pub fn browser() -> Outcome<String> {
    match (chromium(), chromedriver()) {
        (Some(_), Some(driver)) => Ok(driver),
        (None, _) => {
            Err("Chromium is missing; install it (Debian: apt install chromium chromium-driver)".into())
        }
        (_, None) => Err("ChromeDriver is missing; install it (Debian: apt install chromium-driver), \
                          or name it in the variable CHROMEDRIVER"
            .into()),
    }
}

/// Why a stage that needs Vulkan cannot run.
pub fn vulkan() -> Outcome {
    if has_vulkan() {
        Ok(())
    } else {
        Err("no Vulkan driver was found; a software one will do (Debian: apt install mesa-vulkan-drivers)"
            .into())
    }
}

fn apt(arguments: &[&str]) -> Outcome {
    let mut apt = command("apt-get", arguments);
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    run(apt)
}

fn may_use_apt() -> bool {
    Path::new("/etc/debian_version").exists() && output("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}

fn chromium() -> Option<String> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(on_path)
}

fn chromedriver() -> Option<String> {
    std::env::var("CHROMEDRIVER").ok().or_else(|| on_path("chromedriver"))
}

fn on_path(program: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .map(|file| file.display().to_string())
}

/// A loader finds drivers by the description files in these folders.
fn has_vulkan() -> bool {
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let described =
        folders.iter().any(|folder| Path::new(folder).read_dir().is_ok_and(|mut d| d.next().is_some()));
    described || cfg!(not(target_os = "linux"))
}
