//! Programs of the operating system that the tests need: a browser, its driver, software Vulkan.

use std::path::Path;

use crate::run::{Outcome, command, output, run, say};

/// Something the tests need and cargo cannot provide.
#[derive(Clone, Copy, PartialEq)]
pub enum Program {
    Chromium,
    ChromeDriver,
    Vulkan,
    /// For C++: libFuzzer is compiled with it. Only `cargo xtask fuzz` needs it.
    Compiler,
}

pub const PROGRAMS: [Program; 3] = [Program::Chromium, Program::ChromeDriver, Program::Vulkan];

impl Program {
    pub fn is_there(self) -> bool {
        match self {
            Self::Chromium => ["chromium", "chromium-browser", "google-chrome"]
                .into_iter()
                .any(|name| on_path(name).is_some()),
            Self::ChromeDriver => chromedriver().is_some(),
            Self::Vulkan => has_vulkan(),
            Self::Compiler => on_path("c++").is_some(),
        }
    }

    /// What to do when it is missing and could not be installed.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium is missing; install it (Debian: apt install chromium)",
            Self::ChromeDriver => {
                "ChromeDriver is missing; install it (Debian: apt install chromium-driver), or name it in the \
                 variable CHROMEDRIVER"
            }
            Self::Vulkan => {
                "no Vulkan driver was found; a software one will do (Debian: apt install mesa-vulkan-drivers)"
            }
            Self::Compiler => "a C++ compiler named c++ is missing; install one (Debian: apt install g++)",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::ChromeDriver => "chromium-driver",
            Self::Vulkan => "mesa-vulkan-drivers",
            Self::Compiler => "g++",
        }
    }

    /// Installs it with apt where that is allowed: as root on Debian.
    pub fn install(self) {
        if !may_use_apt() {
            return;
        }
        let package = self.package();
        say(&format!("installing {package} with apt"));
        // An update that fails for one source may still have succeeded for the one that counts.
        if let Err(error) = apt(&["update", "-qq"]) {
            eprintln!("apt-get update: {error}");
        }
        if let Err(error) = apt(&["install", "-y", "-qq", "--no-install-recommends", package]) {
            eprintln!("apt-get install: {error}");
        }
    }
}

pub fn chromedriver() -> Option<String> {
    std::env::var("CHROMEDRIVER").ok().or_else(|| on_path("chromedriver"))
}

fn apt(arguments: &[&str]) -> Outcome {
    let mut apt = command("apt-get", arguments);
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    run(apt)
}

fn may_use_apt() -> bool {
    Path::new("/etc/debian_version").exists() && output("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}

fn on_path(program: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .map(|file| file.display().to_string())
}

/// On Linux a loader finds drivers by the description files in these folders. Elsewhere there is no such
/// convention, and no Vulkan unless somebody made it so.
fn has_vulkan() -> bool {
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let described =
        folders.iter().any(|folder| Path::new(folder).read_dir().is_ok_and(|mut d| d.next().is_some()));
    described || std::env::var_os("VK_DRIVER_FILES").is_some()
}
