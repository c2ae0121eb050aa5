//! One page for a long day: it trains and exports again and again, and takes no more memory in the end.
//!
//! Looked at is what is held. Garbage is collected first, in the page and in the worker: when a browser does that by itself
//! is its own affair, and a worker that throws little away is left alone for hours.

use std::process::Command;

use serde_json::Value;

use crate::PATIENCE;
use crate::browser::{Page, Setup, open_at, with_page};
use crate::server::WEIGHED;

/// Runs of the soak, and those in which browser and page settle.
const RUNS: usize = 50;
const SETTLING: usize = 20;
/// Runs that are averaged, so that a moment does not count.
const MEAN: usize = 10;
/// The processes' memory may grow by so much between the first runs after settling and the last: a run holds some megabytes,
/// there are twenty runs in between, and the browser's own share of it goes up and down by several.
const PROCESSES_MB: f64 = 16.0;
/// So much may be added to the memory of a module, which grows in steps, and to the page's heap. A tenth of a megabyte that each
/// export leaves behind is seen.
const HELD_MB: f64 = 2.0;

/// What a page and its worker take, in MB; garbage is not counted.
#[derive(Clone, Copy, Debug)]
struct Weight {
    processes: f64,
    page_module: f64,
    worker_module: f64,
    page_heap: f64,
}

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

/// Everything that is done again and again, as functions of the page: a driver that sends a script for every click leaves
/// each of them in the page's heap, five kilobytes at a time, and that would be weighed as well.
const HANDS: &str = "
    const find = name => document.querySelector(`[data-testid=${name}]`);
    const until = async (what, met) => {
      for (const end = Date.now() + PATIENCE; Date.now() < end;) {
        const found = met();
        if (found) return found;
        await new Promise(later => setTimeout(later, 50));
      }
      throw new Error(`waited in vain: ${what}`);
    };
    const press = async name => (await until(name, () => find(name)?.disabled === false && find(name))).click();
    const align = async () => {
      const runs = Number(find('status').dataset.runs);
      await press('align');
      await until('the end of a run', () => {
        const { runs: begun, state } = find('status').dataset;
        return Number(begun) === runs + 1 && state === 'done';
      });
    };
    const take = async name => {
      const before = find('exported')?.href;
      await press(name);
      const link = await until(`the file of ${name}`, () => find('exported')?.href !== before && find('exported'));
      const { byteLength } = await (await fetch(link.href)).arrayBuffer();
      if (byteLength < 1000) throw new Error(`${name}: ${byteLength} bytes`);
    };
    window.round = async () => {
      await align();
      for (const name of ['download-matches', 'download-everything', 'download-figures']) await take(name);
    };
    window.weighAll = () => new Promise(done => {
      const scale = new BroadcastChannel('scale');
      scale.onmessage = ({ data }) => {
        scale.close();
        done({ page: weigh(), worker: data, heap: performance.memory.usedJSHeapSize });
      };
      scale.postMessage('weigh');
    });";

/// A run with its exports, and what page and worker say of their weight then.
async fn round(page: &Page) -> Value {
    let script = "const done = arguments[arguments.length - 1];
        round().then(weighAll).then(done, error => done(String(error)));";
    page.client.execute_async(script, Vec::new()).await.expect("an answer")
}

/// Loads files in a browser that weighs, for short runs.
async fn prepare(page: &Page, words: &str) {
    page.load_clouds_at(WEIGHED, &format!("{words}&set-steps=30")).await;
    learn(page).await;
}

/// Teaches a page the gestures.
async fn learn(page: &Page) {
    page.script(&HANDS.replace("PATIENCE", &PATIENCE.as_millis().to_string())).await;
}

/// What was said, with the memory of all processes.
fn weight(page: &Page, said: &Value) -> Weight {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("not weighed: {said}"));
    let mb = |value: &Value| number(value) / f64::from(1 << 20);
    // What is collected for this test may stay for hours otherwise: channels weigh much, but next to nothing of it is what
    // makes a browser collect.
    assert!(number(&said["worker"]["channels"]) <= 1.0, "a channel for every breath: {said}");
    Weight {
        processes: renderers(page.driver),
        page_module: mb(&said["page"]["module"]),
        worker_module: mb(&said["worker"]["module"]),
        page_heap: mb(&said["heap"]),
    }
}

#[test]
fn fifty_runs_and_exports_leave_memory_level() {
    with_page(Setup { weighed: true, ..Setup::default() }, async |page| {
        prepare(&page, "executor=cpu").await;
        let mut weights = Vec::new();
        for _ in 0..RUNS {
            weights.push(weight(&page, &round(&page).await));
        }
        let part = |name: &str, most: f64, part: fn(&Weight) -> f64| {
            let mean = |weights: &[Weight]| weights.iter().map(part).sum::<f64>() / weights.len() as f64;
            let (first, last) = (mean(&weights[SETTLING..SETTLING + MEAN]), mean(&weights[RUNS - MEAN..]));
            eprintln!(
                "soak: {name} {first:.2} MB after settling, {last:.2} MB in the end; every fifth run {:.2?}",
                { weights.iter().step_by(5).map(part).collect::<Vec<_>>() }
            );
            assert!(first > 0.5, "{name}: was it weighed? {first} MB");
            (last > first + most).then(|| format!("{name}: {first:.2} MB have grown to {last:.2} MB"))
        };
        let grown: Vec<String> = [
            part("processes", PROCESSES_MB, |weight| weight.processes),
            part("module of the page", HELD_MB, |weight| weight.page_module),
            part("module of the worker", HELD_MB, |weight| weight.worker_module),
            part("heap of the page", HELD_MB, |weight| weight.page_heap),
        ]
        .into_iter()
        .flatten()
        .collect();
        assert!(grown.is_empty(), "{}", grown.join("\n"));
    });
}

/// In a browser a buffer that is merely dropped stays on the device until the worker's garbage is collected.
#[test]
fn runs_give_back_the_memory_of_their_device() {
    with_page(Setup { weighed: true, ..Setup::default() }, async |page| {
        prepare(&page, "executor=gpu&set-encoder=mlp&set-fits=1&set-distance_x=cosine&set-distance_y=cosine")
            .await;
        let said = round(&page).await;
        let [most, left] = ["most", "device"].map(|name| said["worker"][name].as_f64());
        assert!(most.is_some_and(|most| most > 1e5), "not on a device? {said}");
        assert_eq!(left, Some(0.0), "bytes are left on the device: {said}");
    });
}

/// The same goes for devices: one that was found to be too slow, and one that was opened to be checked only.
#[test]
fn devices_that_are_not_used_are_given_back() {
    with_page(Setup { weighed: true, ..Setup::default() }, async |page| {
        open_at(&page, WEIGHED, "?sample=none#diagnostics").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        learn(&page).await;
        page.click("self-check").await;
        page.wait_for("[data-testid=check-status][data-state=done]").await;
        let said =
            page.client.execute_async("weighAll().then(arguments[0])", Vec::new()).await.expect("an answer");
        let [opened, left] = ["opened", "devices"].map(|name| said["worker"][name].as_u64());
        assert_eq!((opened, left), (Some(2), Some(0)), "{said}");
    });
}
