//! The built page in a real browser: what a visitor sees, on both executors, in good and in bad times.
//!
//! `cargo xtask test` builds `dist/` and runs this; the browser's flags are those of `webdriver.json`.
#![cfg(not(target_arch = "wasm32"))]

mod api;
mod app;
mod aside;
mod axe;
mod beside;
mod browser;
mod care;
mod first;
mod foretold;
mod hands;
mod honest;
mod host;
mod keep;
mod keyboard;
mod mend;
mod offline;
mod pictures;
mod pointer;
mod reach;
mod record;
mod server;
mod share;
mod soak;
mod views;

use std::time::Duration;

use browser::{Page, Setup, Webgpu, open, open_at, with_page};

/// Nothing asserts on time; these only end a wait, and a test, that would last for ever.
const PATIENCE: Duration = Duration::from_secs(300);
/// Between two looks of such a wait.
const LOOK: Duration = Duration::from_millis(50);
const WHOLE_TEST: Duration = Duration::from_secs(900);

/// The diagnostics page, where a network learns a picture, without any data on the first one.
const DIAGNOSTICS: &str = "&sample=none#diagnostics";

async fn open_diagnostics(page: &Page, executor: &str) {
    open(page, &format!("?executor={executor}{DIAGNOSTICS}")).await;
}

/// Starts the demonstration and waits for its end.
async fn demo(page: &Page) {
    page.click("demo-restart").await;
    demo_done(page).await;
}

async fn demo_done(page: &Page) {
    page.wait_for("[data-testid=demo-status][data-state=done]").await;
    assert_eq!(page.text("demo-step").await, "600");
    let loss: f32 = page.text("demo-loss").await.parse().expect("a number");
    // Predicting the mean gives 0.22; the loss of a single step jumps by some thousandths.
    assert!(loss < 0.01, "the network did not learn: {loss}");
}

/// How many different colours the canvas shows.
async fn colours(page: &Page, testid: &str) -> u64 {
    let script = format!(
        "const c = document.querySelector('[data-testid={testid}]');
         const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
         const seen = new Set();
         for (let i = 0; i < d.length; i += 4) seen.add(d[i] * 65536 + d[i + 1] * 256 + d[i + 2]);
         return seen.size;"
    );
    page.script(&script).await.as_u64().expect("a number")
}

#[test]
fn webgpu_kernels_train_in_the_worker() {
    with_page(Setup::default(), async |page| {
        open_diagnostics(&page, "gpu").await;
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        demo(&page).await;
        page.wait_for("[data-testid=demo-status][data-executor=gpu]").await;
        assert!(colours(&page, "demo-learned").await > 100, "the learned picture is drawn");
        assert!(colours(&page, "demo-chart").await > 5, "the loss curve is drawn");
    });
}

#[test]
fn the_same_plan_trains_on_the_cpu() {
    with_page(Setup::default(), async |page| {
        open_diagnostics(&page, "cpu").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        demo(&page).await;
        page.wait_for("[data-testid=demo-status][data-executor=cpu]").await;
        assert!(page.text("executor-reason").await.contains("?executor=cpu"));
    });
}

#[test]
fn a_software_adapter_is_named_and_passed_over() {
    with_page(Setup::default(), async |page| {
        open(&page, &format!("?a=b{DIAGNOSTICS}")).await;
        page.wait_for("[data-testid=executor-reason]").await;
        assert!(page.text("executor-reason").await.contains("software"));
        assert!(page.text("adapter").await.to_lowercase().contains("swiftshader"));
        assert!(page.text("limits").await.contains("maxStorageBufferBindingSize"));
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
    });
}

#[test]
fn without_webgpu_everything_works_on_the_cpu_and_says_so() {
    for (webgpu, words) in
        [(Webgpu::NoAdapter, "found no graphics adapter"), (Webgpu::Insecure, "only on https addresses")]
    {
        with_page(Setup { webgpu, ..Setup::default() }, async |page| {
            open_diagnostics(&page, "gpu").await;
            page.wait_for("[data-testid=executor][data-executor=cpu]").await;
            demo(&page).await;
            page.wait_for("[data-testid=executor-reason]").await;
            let reason = page.text("executor-reason").await;
            assert!(reason.contains("WebGPU was asked for, but") && reason.contains(words), "{reason}");
            page.click("self-check").await;
            page.wait_for("[data-testid=check-status][data-state=failed]").await;
            let notice = page.text("notice").await;
            assert!(notice.contains("no WebGPU device to check") && notice.contains(words), "{notice}");
        });
    }
}

#[test]
fn a_page_that_cannot_start_says_why() {
    with_page(Setup::default(), async |page| {
        open_at(&page, server::BROKEN, "").await;
        page.wait_for("#loading[role=alert]").await;
        let text = page.script("return document.body.innerText").await.to_string();
        assert!(text.contains("could not start") && text.contains("reload"), "{text}");
    });
}

#[test]
fn a_browser_with_a_broken_webgpu_computes_on_the_cpu() {
    for (folder, words) in [
        ("/silent-adapter/", "did not answer"),
        ("/silent-device/", "did not answer"),
        ("/throwing-adapter/", "found no graphics adapter"),
        ("/refused-device/", "gave no device"),
    ] {
        with_page(Setup::default(), async |page| {
            open_at(&page, folder, &format!("?executor=gpu{DIAGNOSTICS}")).await;
            page.wait_for("[data-testid=executor][data-executor=cpu]").await;
            demo(&page).await;
            page.wait_for("[data-testid=executor-reason]").await;
            let reason = page.text("executor-reason").await;
            assert!(reason.contains(words), "{folder}: {reason}");
        });
    }
}

#[test]
fn a_device_that_is_lost_again_and_again_is_left_alone() {
    with_page(Setup::default(), async |page| {
        open_at(&page, "/fading-device/", &format!("?executor=gpu{DIAGNOSTICS}")).await;
        page.wait_for("[data-testid=notice]").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        demo(&page).await;
        page.wait_for("[data-testid=demo-status][data-executor=cpu]").await;
        page.wait_for("[data-testid=executor-reason]").await;
        assert!(page.text("executor-reason").await.contains("failed repeatedly"));
    });
}

#[test]
fn a_browser_that_forbids_workers_is_told_so() {
    with_page(Setup::default(), async |page| {
        open_at(&page, "/no-worker/", "").await;
        page.wait_for("[data-testid=notice]").await;
        page.wait_for("[data-testid=status][data-state=failed]").await;
        let notice = page.text("notice").await;
        assert!(notice.contains("could not be started") && notice.contains("blocked"), "{notice}");
        assert!(notice.contains("another browser"), "{notice}");
    });
}

#[test]
fn the_self_check_passes_on_webgpu() {
    with_page(Setup { size: (1280, 1800), ..Setup::default() }, async |page| {
        // The CPU computes here, by choice; the adapter can be checked nevertheless.
        open(&page, &format!("?a=b{DIAGNOSTICS}")).await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.click("self-check").await;
        page.wait_for("[data-testid=check-status][data-state=done]").await;
        let passed = page.count("[data-testid=check-row][data-passed=true]").await;
        assert_eq!(passed, compute::kernels::ALL.len(), "{}", page.text("check-table").await);
        page.shoot("self-check").await;
    });
}

#[test]
fn a_crash_of_the_worker_is_told_and_mended() {
    with_page(Setup::default(), async |page| {
        open_diagnostics(&page, "cpu").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.click("drill-panic").await;
        page.wait_for("[data-testid=notice]").await;
        let notice = page.text("notice").await;
        assert!(notice.contains("stopped unexpectedly (this crash was asked for)"), "{notice}");
        assert!(notice.contains("restarted"), "{notice}");
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.shoot("notice").await;
        page.click("dismiss").await;
        assert_eq!(page.count("[data-testid=notice]").await, 0);

        // The new worker works.
        page.wait_for("[data-testid=demo-status][data-state=failed]").await;
        demo(&page).await;
    });
}

#[test]
fn a_lost_device_is_told_and_replaced() {
    with_page(Setup::default(), async |page| {
        open_diagnostics(&page, "gpu").await;
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        page.click("drill-device").await;
        page.wait_for("[data-testid=notice]").await;
        let notice = page.text("notice").await;
        assert!(notice.contains("graphics device was lost"), "{notice}");
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        demo(&page).await;
    });
}

#[test]
fn pausing_holds_the_run_and_starting_over_replaces_it() {
    with_page(Setup::default(), async |page| {
        open_diagnostics(&page, "cpu").await;
        page.click("demo-restart").await;
        page.wait_for("[data-testid=demo-status][data-state=training]").await;
        page.click("demo-pause").await;
        page.wait_for("[data-testid=demo-status][data-state=paused]").await;
        page.sleep(500).await; // what was under way arrives
        let held = page.text("demo-step").await;
        page.sleep(500).await;
        assert_eq!(page.text("demo-step").await, held, "a paused run does not go on");
        assert_ne!(held, "600");
        page.click("demo-pause").await;
        page.wait_for("[data-testid=demo-status][data-state=training]").await;

        // Replaced in mid-run three times: only the last run's steps count.
        for _ in 0..3 {
            page.click("demo-restart").await;
            page.sleep(150).await;
        }
        demo_done(&page).await;
    });
}

#[test]
fn the_page_draws_frames_while_the_worker_computes() {
    with_page(Setup::default(), async |page| {
        open_diagnostics(&page, "cpu").await;
        demo(&page).await;
        page.script(
            "window.seen = { frames: 0, long: 0, longest: 0 };
             const tick = () => { seen.frames++; requestAnimationFrame(tick); };
             requestAnimationFrame(tick);
             new PerformanceObserver(list => {
               for (const e of list.getEntries()) { seen.long++; seen.longest = Math.max(seen.longest, e.duration); }
             }).observe({ type: 'longtask' });",
        )
        .await;
        let take = "const taken = { ...seen, at: performance.now() }; \
                    Object.assign(seen, { frames: 0, long: 0, longest: 0 }); return taken;";
        let idle_from = page.script(take).await;
        page.sleep(3000).await;
        let idle = page.script(take).await;
        demo(&page).await;
        let busy = page.script(take).await;
        let number = |value: &serde_json::Value, key: &str| value[key].as_f64().expect("a number");
        let rate =
            |from, to: &serde_json::Value| number(to, "frames") / (number(to, "at") - number(from, "at"));
        let share = rate(&idle, &busy) / rate(&idle_from, &idle);
        eprintln!(
            "frames while computing: {:.0} % of those while idle; tasks above 50 ms on the page: {} (longest {:.0} ms)",
            100.0 * share,
            busy["long"],
            number(&busy, "longest")
        );
        assert!(
            share > 0.3,
            "the page stands still while the worker computes: {share:.2} of the idle frames"
        );
    });
}

#[test]
fn nothing_is_loaded_from_anywhere_else() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=swiss").await;
        page.wait_for("[data-testid=status][data-state=done]").await;
        let script = "return performance.getEntriesByType('resource').map(e => e.name)
                        .filter(name => !name.startsWith(location.origin) && !name.startsWith('blob:'))";
        assert_eq!(page.script(script).await, serde_json::json!([]));
        assert_eq!(page.script("return document.getElementById('loading')").await, serde_json::Value::Null);
    });
}

#[test]
fn pictures_are_taken_of_every_look() {
    for (name, width, height, dark) in
        [("wide", 1280, 1000, false), ("narrow", 400, 1500, false), ("dark", 1280, 1000, true)]
    {
        with_page(Setup { size: (width, height), dark, ..Setup::default() }, async |page| {
            open(&page, "?executor=cpu").await;
            page.wait_for("[data-testid=status][data-state=done]").await;
            page.shoot(name).await;
            let overflow =
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(page.script(overflow).await, serde_json::json!(0), "{name}: scrolls sideways");
        });
    }
}
