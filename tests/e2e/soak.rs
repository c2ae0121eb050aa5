//! One page for a long day: it trains and exports again and again, and takes no more memory in the end.

use std::process::Command;

use crate::browser::{Page, Setup, with_page};

/// Runs of the soak, and those in which browser and page settle.
const RUNS: usize = 50;
const SETTLING: usize = 20;
/// Runs that are averaged, so that a moment does not count.
const MEAN: usize = 10;
/// What the mean of the last runs may be above the mean of the first ones after settling. A run of this size holds some
/// megabytes, there are twenty runs in between: if each left four of them, it would be beyond this. Two a run were seen and are not explained yet.
const GROWTH_MB: f64 = 64.0;

/// Memory of all renderers of this test's browser, in MB. Page and worker live in one of them.
fn renderers(driver: u32) -> f64 {
    let output =
        Command::new("ps").args(["-A", "-o", "pid=,ppid=,rss=,args="]).output().expect("ps is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<(u32, u32, f64, bool)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let mut number = || words.next()?.parse::<f64>().ok();
            let (pid, parent, rss) = (number()? as u32, number()? as u32, number()?);
            Some((pid, parent, rss / 1024.0, line.contains("--type=renderer")))
        })
        .collect();
    let parent = |pid: u32| rows.iter().find(|row| row.0 == pid).map(|row| row.1);
    let ours = |pid: u32| std::iter::successors(Some(pid), |pid| parent(*pid)).any(|pid| pid == driver);
    rows.iter().filter(|row| row.3 && ours(row.0)).map(|row| row.2).sum()
}

async fn round(page: &Page) {
    page.aligned().await;
    for button in ["download-matches", "download-everything"] {
        let (_, bytes) = page.take(button).await;
        assert!(bytes.len() > 1000, "{button}: {} bytes", bytes.len());
    }
}

#[test]
fn fifty_runs_and_exports_leave_memory_level() {
    with_page(Setup { gc: true, ..Setup::default() }, async |page| {
        page.load_clouds().await;
        page.unfold("advanced").await;
        page.script(
            "const field = document.querySelector('[data-testid=set-steps]'); field.value = '30';
             field.dispatchEvent(new Event('input', { bubbles: true }));
             field.dispatchEvent(new Event('change', { bubbles: true }));",
        )
        .await;
        let mut memory = Vec::new();
        for _ in 0..RUNS {
            round(&page).await;
            // What nobody holds any more is not what is looked for.
            page.script("gc()").await;
            memory.push(renderers(page.driver));
        }
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, last) = (mean(&memory[SETTLING..SETTLING + MEAN]), mean(&memory[RUNS - MEAN..]));
        eprintln!("soak: {first:.0} MB after settling, {last:.0} MB in the end; every fifth run {:.0?}", {
            memory.iter().step_by(5).collect::<Vec<_>>()
        });
        assert!(first > 20.0, "the browser was found: {first} MB");
        assert!(last < first + GROWTH_MB, "{first:.0} MB has grown to {last:.0}: {memory:.0?}");
    });
}
