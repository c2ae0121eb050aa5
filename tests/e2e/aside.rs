//! Work that is left for something else, a sample, another tab, another file, and is as it was when somebody comes back.

use serde_json::json;

use crate::browser::{Page, Setup, open, open_at, with_page};
use crate::hands::{array, clouds};
use crate::server::FORBIDDEN;

/// A few quick networks.
const SHORT: &str = "?executor=cpu&sample=none&set-encoder=mlp&set-steps=300&set-fits=1";

impl Page {
    async fn to_window(&self, window: &fantoccini::wd::WindowHandle) {
        self.client.switch_to_window(window.clone()).await.expect("goes there");
    }
}

/// A look at a sample costs neither a result nor a training, not even through a reload.
#[test]
fn a_sample_does_not_cost_the_training() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files(SHORT).await;
        page.aligned().await;
        let (_, matches) = page.take("download-matches").await;
        page.click("sample-swiss").await;
        page.wait_for("[data-testid=sample-swiss][aria-pressed=true]").await;
        page.done().await;
        page.click("back-to-files").await;
        page.says("name-x", "cells.npy").await;
        page.done().await;
        // What it took is not what the training took, and nobody says so.
        page.says("status", "taken up from what was kept").await;
        assert_eq!(page.take("download-matches").await.1, matches, "the same result");

        page.click("sample-swiss").await;
        page.done().await;
        page.keeps("reached", |keys| keys.iter().any(|key| key.contains("/aside/"))).await;
        page.all_kept().await;
        page.reload().await;
        page.click("kept-go-on").await;
        page.click("back-to-files").await;
        page.says("name-x", "cells.npy").await;
        page.done().await;
        assert_eq!(page.take("download-matches").await.1, matches, "the same result after a reload");
    });
}

/// A file for one side, while a sample is on show, does not cost what waits behind the sample.
#[test]
fn another_file_does_not_cost_what_a_sample_has_put_aside() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files(SHORT).await;
        page.click("sample-swiss").await;
        page.done().await;
        page.pick("file-x", "third.npy", &array(&clouds(9).0)).await;
        page.says("name-x", "third.npy").await;
        page.click("back-to-files").await;
        page.says("name-x", "cells.npy").await;
        page.says("name-y", "latent.npy").await;
        // And the other way round.
        page.click("back-to-files").await;
        page.says("name-x", "third.npy").await;
        // Two may wait, but not behind one sample.
        page.click("sample-swiss").await;
        page.says("kept-offer", "cells.npy and latent.npy").await;
        page.click("back-to-files").await;
        page.says("name-x", "third.npy").await;
    });
}

/// What a tab was offered long ago may be another tab's newer work by now.
#[test]
fn an_offer_that_has_grown_old_is_what_it_is_now() {
    with_page(Setup { size: (1280, 1200), ..Setup::default() }, async |page| {
        page.own_files(SHORT).await;
        page.keeps("files", |keys| keys.len() == 2).await;
        open(&page, SHORT).await;
        page.wait_for("[data-testid=kept-offer]").await;
        let first = page.client.window().await.expect("a window");
        let second = page.client.new_window(true).await.expect("another tab").handle;
        page.to_window(&second).await;
        open(&page, SHORT).await;
        page.click("kept-go-on").await;
        page.says("name-y", "latent.npy").await;
        page.pick("file-y", "newer.npy", &array(&clouds(9).1)).await;
        page.says("name-y", "newer.npy").await;
        page.all_kept().await;
        page.client.close_window().await.expect("closes");
        page.to_window(&first).await;
        // The other tab's lock ends with it.
        let locks = "const { held } = await navigator.locks.query();
                     return held.filter(lock => lock.name.startsWith('concord-work-')).length";
        while page.async_script(locks).await["value"] != json!(1) {
            page.sleep(50).await;
        }

        // Not forgotten unseen.
        page.click("kept-forget").await;
        page.says("kept-remark", "not forgotten").await;
        page.says("kept-offer", "newer.npy").await;
        page.sleep(600).await;
        page.click("kept-go-on").await;
        page.says("name-y", "newer.npy").await;
    });
}

/// The second half of a double click is no answer to the offer that takes the first one's place.
#[test]
fn a_double_click_forgets_one_work() {
    with_page(Setup { size: (1280, 1200), ..Setup::default() }, async |page| {
        for _ in 0..2 {
            page.own_files(SHORT).await;
            page.all_kept().await;
            open(&page, SHORT).await;
        }
        page.keeps("works", |keys| keys.len() == 2).await;
        while page.count("[data-testid=kept-offer]").await < 2 {
            page.sleep(50).await;
        }
        page.script(
            "const press = () => document.querySelector('[data-testid=kept-forget]')?.click();
             // As soon as the next one is there.
             press(); Promise.resolve().then(press); requestAnimationFrame(press);",
        )
        .await;
        page.keeps("works", |keys| keys.len() == 1).await;
        page.sleep(800).await;
        assert_eq!(page.keys("works").await.len(), 1, "one of two");
        assert_eq!(page.count("[data-testid=kept-offer]").await, 1);
    });
}

/// A training that was ended early is told to have been, whoever restores it.
#[test]
fn a_restored_training_that_was_stopped_says_so() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none&set-encoder=mlp&set-steps=20000&set-fits=1").await;
        page.click("align").await;
        page.step_beyond(300).await;
        page.click("stop").await;
        page.done().await;
        page.says("status", "Stopped early").await;
        page.all_kept().await;
        page.reload().await;
        page.click("kept-go-on").await;
        page.done().await;
        page.says("status", "Stopped early").await;
    });
}

/// The record of a run names what the run was made of, whatever lies there when it is saved.
#[test]
fn a_record_names_the_files_of_its_run() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files(SHORT).await;
        page.aligned().await;
        let (_, then) = page.take("download-record").await;
        page.pick("file-y", "other.npy", &array(&clouds(9).1)).await;
        page.says("name-y", "other.npy").await;
        let (_, now) = page.take("download-record").await;
        let files = |bytes: &[u8]| {
            let record = formats::write::record::Record::read(bytes).expect("a record");
            record.inputs.into_iter().map(|input| (input.name, input.sha256)).collect::<Vec<_>>()
        };
        assert_eq!(files(&now), files(&then));
        assert_eq!(files(&then).len(), 2);
        assert!(files(&then).iter().any(|(name, _)| name == "latent.npy"));
    });
}

/// Forgetting works where the browser had no room before, and makes some.
#[test]
fn who_forgets_makes_room() {
    with_page(Setup { size: (1280, 1200), ..Setup::default() }, async |page| {
        page.own_files(SHORT).await;
        page.keeps("files", |keys| keys.len() == 2).await;
        open(&page, SHORT).await;
        page.wait_for("[data-testid=kept-offer]").await;
        page.script(
            "window.put = IDBObjectStore.prototype.put;
             IDBObjectStore.prototype.put = () => { throw new DOMException('no room', 'QuotaExceededError'); }",
        )
        .await;
        page.pick("file-x", "new-x.npy", &array(&clouds(6).0)).await;
        page.wait_for("[data-testid=keep-refused]").await;
        page.script("IDBObjectStore.prototype.put = window.put").await;
        page.click("kept-forget").await;
        page.keeps("files", |keys| keys.len() == 1).await;
        assert_eq!(page.count("[data-testid=keep-refused]").await, 0, "kept again");
    });
}

/// A browser that forbids service workers, and a module that does not start: the reason is said, once.
#[test]
fn a_page_that_cannot_start_says_why_where_service_workers_are_forbidden() {
    with_page(Setup::default(), async |page| {
        open_at(&page, FORBIDDEN, "").await;
        page.until("return document.getElementById('loading')?.textContent.includes('no memory') || null")
            .await;
        page.script(
            "window.times = 0;
             new MutationObserver(() => { window.times += 1; })
               .observe(document.getElementById('loading'), { childList: true, characterData: true, subtree: true });",
        )
        .await;
        page.sleep(500).await;
        assert_eq!(page.script("return window.times").await, json!(0), "not again and again");
        assert_eq!(
            page.script("return document.getElementById('loading').textContent.includes('no memory')").await,
            json!(true)
        );
    });
}
