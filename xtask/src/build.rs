//! `cargo xtask build`: the static folder `dist/`.

use std::fs;

use crate::finish;
use crate::run::{Outcome, command, output, root, run, say};
use crate::tools;

/// Builds with Trunk, which calls `cargo xtask finish` for what is not Trunk's to do.
pub fn build() -> Outcome {
    tools::ensure_build_tools()?;
    say("building dist/ with Trunk");
    let mut trunk = command("trunk", &["build", "--offline"]);
    trunk.env(finish::RELEASE, "1");
    run(trunk)?;
    report()
}

/// Says how much a visitor downloads.
fn report() -> Outcome {
    let commit = output("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_default();
    eprintln!("\ndist/ is ready (at commit {}):", commit.trim());
    for (name, ..) in finish::MODULES {
        let module = finish::module(&root().join("dist"), name)?;
        let bytes = fs::metadata(&module).map_or(0, |data| data.len());
        let zipped = command("gzip", &["-9", "-c", &module.display().to_string()])
            .output()
            .ok()
            .filter(|output| output.status.success())
            .map(|output| format!(", {} kB gzipped", output.stdout.len() / 1000))
            .unwrap_or_default();
        eprintln!("  {name:<8} {} kB{zipped}", bytes / 1000);
    }
    Ok(())
}
