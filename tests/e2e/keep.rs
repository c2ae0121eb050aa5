//! Work that is not lost: after a reload, a crash, a lost device; with storage refused or full; in two tabs.

use serde_json::json;

use crate::browser::{Page, Setup, Webgpu, open, with_page};
use crate::hands::{array, clouds};

/// What the browser keeps: how many works, files, and what runs have reached.
const KEPT: &str = "
    const asked = indexedDB.open('concord');
    const base = await new Promise((ok, no) => { asked.onsuccess = () => ok(asked.result); asked.onerror = no; });
    const counts = {};
    for (const shelf of base.objectStoreNames) {
      const keys = base.transaction(shelf).objectStore(shelf).getAllKeys();
      counts[shelf] = await new Promise((ok) => { keys.onsuccess = () => ok(keys.result); });
    }
    base.close();
    return counts;";

/// Whether the browser is asked to hold a visitor who leaves.
const LEAVING: &str = "const event = new Event('beforeunload', { cancelable: true });
                       window.dispatchEvent(event); return event.defaultPrevented";

impl Page {
    pub(crate) async fn keys(&self, shelf: &str) -> Vec<String> {
        let counts = self.async_script(KEPT).await;
        let keys = counts["value"][shelf].as_array().unwrap_or_else(|| panic!("{counts}"));
        keys.iter().map(|key| key.as_str().expect("a key").to_owned()).collect()
    }

    /// Waits until so much is kept.
    pub(crate) async fn keeps(&self, shelf: &str, enough: impl Fn(&[String]) -> bool) {
        while !enough(&self.keys(shelf).await) {
            self.sleep(100).await;
        }
    }

    pub(crate) async fn own_files(&self, rest: &str) {
        let (x, y, _) = clouds(5);
        open(self, rest).await;
        self.pick("file-x", "cells.npy", &array(&x)).await;
        self.pick("file-y", "latent.npy", &array(&y)).await;
        self.wait_for("[data-testid=size-x]").await;
        self.wait_for("[data-testid=size-y]").await;
    }

    pub(crate) async fn step(&self) -> u32 {
        self.script("return +document.querySelector('[data-testid=step-count]').innerText")
            .await
            .as_f64()
            .map_or(0, |n| n as u32)
    }

    /// Waits until the training is beyond this step.
    pub(crate) async fn step_beyond(&self, least: u32) -> u32 {
        loop {
            match self.step().await {
                step if step > least => return step,
                _ => self.sleep(20).await,
            }
        }
    }

    /// Waits until everything is written.
    pub(crate) async fn all_kept(&self) {
        // What has just changed counts as unwritten from the next moment on.
        self.sleep(50).await;
        while self.script(LEAVING).await != false {
            self.sleep(50).await;
        }
    }

    pub(crate) async fn keeps_networks(&self) {
        self.keeps("reached", |keys| keys.iter().any(|key| key.ends_with("/networks"))).await;
    }

    /// The step that the kept training stands at. How far that is behind depends on how fast the machine is.
    pub(crate) async fn kept_step(&self) -> u32 {
        self.keeps_networks().await;
        let script = KEPT.replace("getAllKeys()", "getAll()").replace(
            "return counts;",
            // After whether it has ended comes the counter, as a word.
            "return Math.max(...counts.reached.map(values => new Uint32Array(values.buffer)[1]));",
        );
        let step = self.async_script(&script).await;
        step["value"].as_f64().unwrap_or_else(|| panic!("{step}")) as u32
    }

    /// Reads another file into the second slot, of the same size.
    async fn other_file(&self, name: &str) {
        let (_, y, _) = clouds(9);
        self.pick("file-y", name, &array(&y)).await;
        self.says("name-y", name).await;
    }

    pub(crate) async fn reload(&self) {
        self.client.refresh().await.expect("loads again");
    }
}

/// Networks only, and enough steps that there is a middle.
pub(crate) const LONG: &str = "?executor=cpu&sample=none&set-encoder=mlp&set-steps=4000";

#[test]
fn a_reload_in_mid_training_goes_on_where_it_was() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files(LONG).await;
        page.click("align").await;
        let before = page.step_beyond(1000).await;
        assert!(before < 4000, "in the midst of it: {before}");
        page.keeps("files", |keys| keys.len() == 2).await;
        let kept = page.kept_step().await;
        assert!((200..4000).contains(&kept), "{kept}");
        page.reload().await;

        page.wait_for("[data-testid=kept-offer]").await;
        let offer = page.text("kept-offer").await;
        assert!(offer.contains("cells.npy and latent.npy") && offer.contains("training"), "{offer}");
        page.shoot("kept-offer").await;
        page.click("kept-go-on").await;
        // The first steps that are told are those of before, and what follows.
        let mut first = 0;
        while first == 0 {
            page.sleep(20).await;
            first = page.step().await;
        }
        assert!(first >= kept, "goes on from step {kept}, not at {first}");
        assert!(page.text("name-x").await.contains("cells.npy"));
        assert_eq!(page.count("[data-testid=kept-offer]").await, 0);
        page.click("stop").await;
        page.done().await;
        assert!(page.metric("spearman").await > 0.5);
        // Nothing is asked of whoever leaves: it is all kept.
        page.keeps("works", |keys| keys.len() == 1).await;
        page.sleep(600).await;
        assert_eq!(page.script(LEAVING).await, json!(false));

        // And once more, now that it is done: the result comes back without any training.
        let (_, matches) = page.take("download-matches").await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        assert!(page.text("kept-offer").await.contains("aligned"), "{}", page.text("kept-offer").await);
        page.click("kept-go-on").await;
        page.done().await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches);

        // Forgotten is forgotten.
        page.reload().await;
        page.click("kept-forget").await;
        page.keeps("works", <[String]>::is_empty).await;
        page.keeps("files", <[String]>::is_empty).await;
        page.keeps("reached", <[String]>::is_empty).await;
    });
}

/// A sample that was looked at in between takes nothing away, not even through a reload.
#[test]
fn files_beside_a_sample_are_kept_as_well() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.click("sample-words").await;
        page.done().await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.sleep(600).await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        assert!(
            page.text("kept-offer").await.contains("your own files"),
            "{}",
            page.text("kept-offer").await
        );
        page.click("kept-go-on").await;
        page.click("back-to-files").await;
        page.wait_for("[data-testid=size-y]").await;
        assert!(page.text("name-x").await.contains("cells.npy"));
    });
}

#[test]
fn a_device_lost_in_mid_training_is_replaced_and_the_training_goes_on() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        let rest = "?executor=gpu&sample=none&set-encoder=mlp&set-steps=240&set-sample=40&set-hidden=16";
        page.own_files(rest).await;
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        page.click("align").await;
        page.step_beyond(100).await;
        let kept = page.kept_step().await;
        assert!((20..240).contains(&kept), "{kept}");
        page.follow("diagnostics").await;
        page.click("drill-device").await;
        page.wait_for("[data-testid=notice]").await;
        let notice = page.text("notice").await;
        assert!(notice.contains("graphics device was lost"), "{notice}");
        assert!(notice.contains("goes on by itself"), "{notice}");
        page.follow("").await;
        page.shoot("device-lost").await;
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        let mut first = 0;
        while first == 0 {
            page.sleep(20).await;
            first = page.step().await;
        }
        assert!(first >= kept, "goes on from step {kept}, not at {first}");
        page.done().await;
        assert!(page.metric("spearman").await > 0.5);
    });
}

/// Nothing fails then, and nothing ever comes.
#[test]
fn a_device_that_stops_answering_is_left_alone_and_the_training_goes_on_on_the_cpu() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        let rest = "?executor=gpu&sample=none&set-encoder=mlp&set-steps=240&set-sample=40&set-hidden=16";
        page.own_files(rest).await;
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        page.click("align").await;
        page.step_beyond(100).await;
        let kept = page.kept_step().await;
        assert!((20..240).contains(&kept), "{kept}");
        page.follow("diagnostics").await;
        page.click("drill-silence").await;
        page.wait_for("[data-testid=notice]").await;
        let notice = page.text("notice").await;
        assert!(notice.contains("graphics device stopped answering"), "{notice}");
        assert!(notice.contains("goes on by itself"), "{notice}");
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.wait_for("[data-testid=executor-reason]").await;
        let reason = page.text("executor-reason").await;
        assert!(reason.contains("stopped answering, so the CPU computes now"), "{reason}");
        page.follow("").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        let mut first = 0;
        while first == 0 {
            page.sleep(20).await;
            first = page.step().await;
        }
        assert!(first >= kept, "goes on from step {kept}, not at {first}");
        page.done().await;
        assert!(page.metric("spearman").await > 0.5);
    });
}

#[test]
fn a_crash_in_mid_training_is_told_and_the_training_goes_on() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none&set-encoder=mlp&set-steps=1500").await;
        page.click("align").await;
        page.keeps_networks().await;
        page.follow("diagnostics").await;
        page.click("drill-panic").await;
        page.wait_for("[data-testid=notice]").await;
        assert!(page.text("notice").await.contains("goes on by itself"));
        page.follow("").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.done().await;
    });
}

#[test]
fn a_browser_that_stores_nothing_is_told_so_and_works() {
    with_page(Setup { storage: false, size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=keep-refused]").await;
        assert!(page.text("keep-refused").await.contains("a reload loses"));
        page.shoot("storage-refused").await;
        page.aligned().await;
        assert!(page.metric("spearman").await > 0.5);
        assert_eq!(page.script(LEAVING).await, json!(true), "whoever leaves is asked");
        // What the page itself has kept in memory still mends a crash in mid-training.
        page.follow("diagnostics").await;
        page.click("drill-panic").await;
        page.follow("").await;
        page.wait_for("[data-testid=notice]").await;
        page.wait_for("[data-testid=size-y]").await;
    });
}

#[test]
fn full_storage_is_told_and_nothing_else_changes() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.script(
            "IDBObjectStore.prototype.put = () => { throw new DOMException('no room', 'QuotaExceededError'); }",
        )
        .await;
        page.aligned().await;
        page.wait_for("[data-testid=keep-refused]").await;
        assert!(page.text("keep-refused").await.contains("storage is full"));
        assert!(page.metric("spearman").await > 0.5);
        assert_eq!(page.script(LEAVING).await, json!(true));
    });
}

#[test]
fn two_tabs_keep_their_own_and_leave_each_other_alone() {
    with_page(Setup { size: (1280, 1200), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        let first = page.client.window().await.expect("a window");
        let second = page.client.new_window(true).await.expect("another tab").handle;
        page.client.switch_to_window(second).await.expect("goes there");
        // A tab that lives is not offered to another.
        page.own_files("?executor=cpu&sample=none&set-seed=9").await;
        page.keeps("works", |keys| keys.len() == 2).await;
        page.keeps("files", |keys| keys.len() == 4).await;
        page.sleep(1500).await;
        assert_eq!(page.count("[data-testid=kept-offer]").await, 0);
        page.aligned().await;
        page.client.close_window().await.expect("closes");
        // What it has left is offered to the next tab, and the first one is where it was.
        page.client.switch_to_window(first).await.expect("goes back");
        assert!(page.text("name-x").await.contains("cells.npy"));
        assert_eq!(page.count("[data-testid=status][data-state=done]").await, 0);
        let third = page.client.new_window(true).await.expect("another tab").handle;
        page.client.switch_to_window(third).await.expect("goes there");
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=kept-offer]").await;
        assert_eq!(page.count("[data-testid=kept-offer]").await, 1);
        page.click("kept-go-on").await;
        page.done().await;
        page.unfold("advanced").await;
        let seed = "return document.querySelector('[data-testid=set-seed]').value";
        assert_eq!(page.script(seed).await, json!("9"));
    });
}

/// A tab that nobody looks at computes on, and shows it when somebody comes back.
#[test]
fn a_tab_in_the_background_goes_on() {
    with_page(Setup { size: (1280, 1200), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none&set-encoder=mlp&set-steps=600").await;
        page.script("addEventListener('visibilitychange', () => { window.hid ||= document.hidden; })").await;
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        let first = page.client.window().await.expect("a window");
        let second = page.client.new_window(true).await.expect("another tab").handle;
        page.client.switch_to_window(second).await.expect("goes there");
        open(&page, "?executor=cpu&sample=none").await;
        // What it keeps says how far it is.
        let done = format!(
            "const all = await (async () => {{ {} }})();
             return JSON.parse(all[0]).run?.done ?? false;",
            KEPT.replace("getAllKeys()", "getAll()").replace("return counts;", "return counts.works;")
        );
        while page.async_script(&done).await["value"] != true {
            page.sleep(200).await;
        }
        page.client.switch_to_window(first).await.expect("comes back");
        page.done().await;
        assert_eq!(page.script("return window.hid").await, json!(true), "it was in the background");
        assert!(page.step().await > 100, "{}", page.step().await);
    });
}

#[test]
fn who_wants_nothing_kept_leaves_nothing() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.click("keep-work").await;
        page.wait_for("[data-testid=keep-unwanted]").await;
        page.keeps("works", <[String]>::is_empty).await;
        page.keeps("files", <[String]>::is_empty).await;
        assert_eq!(page.script(LEAVING).await, json!(true));
        page.aligned().await;
        assert!(page.keys("reached").await.is_empty());
        // The choice is kept, and can be changed.
        page.reload().await;
        page.wait_for("[data-testid=keep-unwanted]").await;
        page.click("keep-work").await;
        let (x, _, _) = clouds(5);
        page.pick("file-x", "cells.npy", &array(&x)).await;
        page.keeps("files", |keys| keys.len() == 1).await;
    });
}

/// What was learned on one file is nothing to another, even if it has the same size.
#[test]
fn another_file_is_not_given_the_result_of_the_one_before() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.aligned().await;
        page.keeps("reached", |keys| !keys.is_empty()).await;
        page.other_file("other.npy").await;
        page.keeps("reached", <[String]>::is_empty).await;
        assert_eq!(page.script(LEAVING).await, json!(true), "the result on show is of files that are gone");
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        let offer = page.text("kept-offer").await;
        assert!(offer.contains("other.npy") && !offer.contains("aligned"), "{offer}");
        page.click("kept-go-on").await;
        page.says("name-y", "other.npy").await;
        page.wait_for("[data-testid=size-y]").await;
        page.sleep(1000).await;
        assert_eq!(page.count("[data-testid=status][data-state=idle]").await, 1, "nothing starts by itself");
        assert_eq!(page.count("[data-testid=metric-spearman]").await, 0);
    });
}

/// Taking up an earlier work does not cost the present one: each is offered in turn.
#[test]
fn going_on_elsewhere_leaves_what_is_here() {
    with_page(Setup { size: (1280, 1200), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("works", |keys| keys.len() == 1).await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        let (x, y, _) = clouds(6);
        page.pick("file-x", "second-x.npy", &array(&x)).await;
        page.pick("file-y", "second-y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        page.aligned().await;
        let (_, matches) = page.take("download-matches").await;
        page.click("kept-go-on").await;
        page.says("name-x", "cells.npy").await;
        page.wait_for("[data-testid=kept-offer]").await;
        page.says("kept-offer", "second-x.npy and second-y.npy, aligned").await;
        page.shoot("kept-in-turn").await;
        // Nobody has read it sooner: it would be taken for the second half of a double click.
        page.sleep(600).await;
        page.click("kept-go-on").await;
        page.says("name-x", "second-x.npy").await;
        page.done().await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches);
        page.says("kept-offer", "cells.npy and latent.npy").await;
    });
}

/// On addresses that are neither https nor local there are no locks: tabs ask each other.
#[test]
fn two_tabs_without_locks_leave_each_other_alone() {
    let setup = Setup { webgpu: Webgpu::Insecure, size: (1280, 1200), ..Setup::default() };
    with_page(setup, async |page| {
        page.own_files("?sample=none").await;
        assert_eq!(page.script("return typeof navigator.locks").await, json!("undefined"));
        page.keeps("files", |keys| keys.len() == 2).await;
        let first = page.client.window().await.expect("a window");
        let second = page.client.new_window(true).await.expect("another tab").handle;
        page.client.switch_to_window(second).await.expect("goes there");
        page.own_files("?sample=none&set-seed=9").await;
        page.keeps("files", |keys| keys.len() == 4).await;
        page.sleep(6000).await;
        assert_eq!(page.count("[data-testid=kept-offer]").await, 0, "a tab that lives is not offered");
        page.client.close_window().await.expect("closes");
        page.client.switch_to_window(first).await.expect("goes back");
        let third = page.client.new_window(true).await.expect("another tab").handle;
        page.client.switch_to_window(third).await.expect("goes there");
        open(&page, "?sample=none").await;
        page.wait_for("[data-testid=kept-offer]").await;
        assert_eq!(page.count("[data-testid=kept-offer]").await, 1, "what was left is");
        page.click("kept-go-on").await;
        page.wait_for("[data-testid=size-y]").await;
        page.unfold("advanced").await;
        let seed = "return document.querySelector('[data-testid=set-seed]').value";
        assert_eq!(page.script(seed).await, json!("9"));
    });
}

/// A browser may close the connection to what it keeps, and may find room again.
#[test]
fn a_connection_that_is_closed_is_opened_again() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        // As after a sleep, or when somebody clears what sites have stored: the next transaction finds it closed, and empty.
        page.script(
            "const { transaction } = IDBDatabase.prototype;
             IDBDatabase.prototype.transaction = function (...asked) {
               IDBDatabase.prototype.transaction = transaction;
               this.close();
               window.severed = true;
               return transaction.apply(this, asked);
             };",
        )
        .await;
        page.other_file("other.npy").await;
        page.until("return window.severed ?? null").await;
        page.keeps("works", |keys| keys.len() == 1).await;
        let kept = format!(
            "const all = await (async () => {{ {} }})();
             return all[0].includes('other.npy');",
            KEPT.replace("getAllKeys()", "getAll()").replace("return counts;", "return counts.works;")
        );
        while page.async_script(&kept).await["value"] != true {
            page.sleep(100).await;
        }
        assert_eq!(page.count("[data-testid=keep-refused]").await, 0);

        // Full, and then not any more: who asks again gets it.
        page.script(
            "window.put = IDBObjectStore.prototype.put;
             IDBObjectStore.prototype.put = () => { throw new DOMException('no room', 'QuotaExceededError'); }",
        )
        .await;
        page.other_file("third.npy").await;
        page.wait_for("[data-testid=keep-refused]").await;
        page.script("IDBObjectStore.prototype.put = window.put").await;
        page.click("keep-work").await;
        page.wait_for("[data-testid=keep-unwanted]").await;
        page.click("keep-work").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        assert_eq!(page.count("[data-testid=keep-refused]").await, 0);
        page.sleep(800).await;
        assert_eq!(page.script(LEAVING).await, json!(false), "everything is kept again");
    });
}

/// Files that are removed are not kept, and what is given up is not offered.
#[test]
fn what_is_removed_or_cancelled_is_not_kept() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none&set-encoder=mlp&set-steps=3000").await;
        page.click("align").await;
        page.keeps_networks().await;
        page.click("cancel-run").await;
        page.keeps("reached", <[String]>::is_empty).await;
        page.click("remove-y").await;
        page.keeps("files", |keys| keys.len() == 1).await;
        page.click("remove-x").await;
        page.keeps("files", <[String]>::is_empty).await;
        page.keeps("works", <[String]>::is_empty).await;
    });
}

/// A run that is given up leaves the one before it as it was, through a reload too.
#[test]
fn a_run_that_is_given_up_takes_nothing_with_it() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.aligned().await;
        let (_, matches) = page.take("download-matches").await;
        page.unfold("advanced").await;
        page.script(
            "const field = document.querySelector('[data-testid=set-steps]'); field.value = '5000';
             field.dispatchEvent(new Event('input', { bubbles: true }));
             field.dispatchEvent(new Event('change', { bubbles: true }));",
        )
        .await;
        page.click("align").await;
        page.keeps_networks().await;
        page.click("cancel-run").await;
        page.wait_for("[data-testid=status][data-state=idle]").await;
        page.sleep(1000).await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        assert!(page.text("kept-offer").await.contains("aligned"), "{}", page.text("kept-offer").await);
        page.click("kept-go-on").await;
        page.done().await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches);
    });
}
