//! Bad times one after the other: a "Go on" that is itself cut off, a worker that is lost with a result or a pause, a file that
//! changes on disk, storage that does not answer or was full.

use serde_json::json;

use crate::browser::{Page, Setup, open, open_at, with_page};
use crate::hands::{array, clouds};
use crate::keep::LONG;
use crate::server::{KNOWN_WORKERS, LOSES_FIRST, NO_LOCKS};
use align::geometry::Dense;
use fantoccini::Locator;

/// Columns of a table whose networks are larger than what a browser takes as one value.
const WIDE: usize = 3000;

/// From now on the worker hears nothing more.
const DEAF: &str = "Worker.prototype.postMessage = () => {}";

impl Page {
    async fn crash(&self) {
        self.follow("diagnostics").await;
        self.click("drill-panic").await;
        self.wait_for("[data-testid=notice]").await;
        self.follow("").await;
    }

    async fn runs(&self) -> u64 {
        let runs =
            self.script("return Number(document.querySelector('[data-testid=status]').dataset.runs)").await;
        runs.as_u64().expect("a number")
    }

    /// Waits until this run has ended well.
    async fn done_with(&self, run: u64) {
        self.wait_for(&format!("[data-testid=status][data-state=done][data-runs='{run}']")).await;
    }
}

/// Files may take minutes to be read, and a page may end in each of them.
#[test]
fn what_is_taken_up_is_not_lost_while_it_is_read() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files(LONG).await;
        page.click("align").await;
        page.step_beyond(500).await;
        let kept = page.kept_step().await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        let files = page.keys("files").await;
        page.script(DEAF).await;
        page.click("kept-go-on").await;
        page.wait_for("[data-testid=status][data-state=loading]").await;
        page.sleep(1500).await;
        assert_eq!(page.keys("files").await, files, "neither gone nor written again");
        assert!(!page.keys("reached").await.is_empty());
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        let offer = page.text("kept-offer").await;
        assert!(offer.contains("cells.npy and latent.npy") && offer.contains("training"), "{offer}");
        page.click("kept-go-on").await;
        let first = page.step_beyond(0).await;
        assert!(first >= kept && kept > 100, "goes on from step {kept}, not at {first}");
        page.keeps("files", |keys| keys == files).await;
        page.click("stop").await;
        page.done().await;
    });
}

/// Laptops sleep, and their graphics devices are lost while nothing runs.
#[test]
fn a_result_whose_worker_is_lost_comes_back_without_training() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.aligned().await;
        page.click("show-candidate-1").await;
        page.wait_for("[data-testid=show-candidate-0]:not(:disabled)").await;
        let (_, matches) = page.take("download-matches").await;
        let run = page.runs().await;
        page.crash().await;
        assert!(page.text("notice").await.contains("computed again from what was kept"));
        page.click("dismiss").await;
        page.done_with(run + 1).await;
        // The candidate that was on show is again.
        page.wait_for("[data-testid=show-candidate-1]:disabled").await;
        page.wait_for("[data-testid=show-candidate-0]:not(:disabled)").await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches);
        assert_eq!(page.count("[data-testid=notice]").await, 0, "nothing was asked of a desk that is empty");

        // Not for ever: a result that ends its worker each time is left alone.
        for _ in 0..2 {
            let run = page.runs().await;
            page.crash().await;
            page.click("dismiss").await;
            page.done_with(run + 1).await;
        }
        let run = page.runs().await;
        page.crash().await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.wait_for("[data-testid=size-y]").await;
        page.sleep(1000).await;
        assert_eq!(page.runs().await, run);
        // Who asks for it gets it, from what is still kept.
        page.aligned().await;
        let (_, again) = page.take("download-matches").await;
        assert!(!again.is_empty());
    });
}

/// Whoever does not want to wait for it still has it on another visit.
#[test]
fn a_result_that_is_not_waited_for_is_still_kept() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.aligned().await;
        let (_, matches) = page.take("download-matches").await;
        page.keeps("reached", |keys| !keys.is_empty()).await;
        // The next worker never starts.
        page.script("window.Worker = class extends Worker { postMessage() {} }").await;
        page.crash().await;
        page.click("cancel-run").await;
        page.wait_for("[data-testid=status][data-state=idle]").await;
        page.sleep(1000).await;
        assert!(!page.keys("reached").await.is_empty());
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        assert!(page.text("kept-offer").await.contains("aligned"), "{}", page.text("kept-offer").await);
        page.click("kept-go-on").await;
        page.done().await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches);
    });
}

#[test]
fn a_pause_outlives_the_worker() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.own_files(LONG).await;
        page.click("align").await;
        page.keeps_networks().await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=paused]").await;
        let run = page.runs().await;
        page.crash().await;
        assert!(page.text("notice").await.contains("stays paused"), "{}", page.text("notice").await);
        page.wait_for(&format!("[data-testid=status][data-runs='{}']", run + 1)).await;
        page.wait_for("[data-testid=status][data-state=paused]").await;
        page.sleep(1000).await;
        let step = page.step().await;
        page.sleep(1000).await;
        assert_eq!(page.count("[data-testid=status][data-state=paused]").await, 1);
        assert_eq!(page.step().await, step, "it stands still");
        page.click("pause").await;
        page.step_beyond(step + 50).await;
        page.click("stop").await;
        page.done().await;
    });
}

/// People go on editing a table while it is aligned; browsers then refuse to read it again.
#[test]
fn a_file_that_changes_on_disk_is_read_from_its_kept_copy() {
    let path = std::env::temp_dir().join(format!("concord-changing-{}.npy", std::process::id()));
    let (x, y, _) = clouds(5);
    std::fs::write(&path, array(&x)).expect("written");
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=file-x]").await;
        let input = page.client.find(Locator::Css("[data-testid=file-x]")).await.expect("an input");
        input.send_keys(path.to_str().expect("a path")).await.expect("is chosen");
        page.pick("file-y", "latent.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.aligned().await;
        let (_, matches) = page.take("download-matches").await;
        page.keeps("reached", |keys| !keys.is_empty()).await;
        std::fs::write(&path, b"something else altogether").expect("written");
        let run = page.runs().await;
        page.crash().await;
        page.done_with(run + 1).await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches);
        page.keeps("files", |keys| keys.len() == 2).await;
    });
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn storage_that_does_not_answer_is_told() {
    with_page(Setup::default(), async |page| {
        open_at(&page, "/silent-storage/", "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=keep-refused]").await;
        assert!(page.text("keep-refused").await.contains("it does not answer"));
    });
}

/// Storage that was full may hold what was written before.
#[test]
fn who_wants_nothing_kept_leaves_nothing_in_full_storage_either() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.script(
            "IDBObjectStore.prototype.put = () => { throw new DOMException('no room', 'QuotaExceededError'); }",
        )
        .await;
        page.aligned().await;
        page.wait_for("[data-testid=keep-refused]").await;
        page.click("keep-work").await;
        page.wait_for("[data-testid=keep-unwanted]").await;
        page.keeps("works", <[String]>::is_empty).await;
        page.keeps("files", <[String]>::is_empty).await;
        assert_eq!(page.script("return localStorage.getItem('concord-keeps-nothing')").await, json!("1"));
    });
}

/// A disk or a browser may fail once. What could not be read then is not thrown away.
#[test]
fn what_cannot_be_read_this_once_is_still_kept() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.keeps("works", |keys| keys.len() == 1).await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        page.script(
            "window.get = IDBObjectStore.prototype.get;
             IDBObjectStore.prototype.get = () => { throw new DOMException('not now', 'NotReadableError'); };",
        )
        .await;
        page.click("kept-go-on").await;
        page.says("kept-remark", "still kept").await;
        page.sleep(1000).await;
        assert_eq!(page.keys("files").await.len(), 2, "nothing is removed");
        page.script("IDBObjectStore.prototype.get = window.get").await;
        page.click("kept-go-on").await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        assert!(page.text("name-x").await.contains("cells.npy"));
    });
}

/// What a training has reached is large, and can be computed again: storage without room for it keeps all else.
#[test]
fn storage_without_room_for_a_training_keeps_the_rest() {
    with_page(Setup::default(), async |page| {
        page.own_files("?executor=cpu&sample=none").await;
        page.keeps("files", |keys| keys.len() == 2).await;
        page.script(
            "const put = IDBObjectStore.prototype.put;
             IDBObjectStore.prototype.put = function (...args) {
               if (this.name === 'reached') throw new DOMException('no room', 'QuotaExceededError');
               return put.apply(this, args);
             };",
        )
        .await;
        page.click("preset-quick").await;
        page.aligned().await;
        page.says("kept-remark", "not how far the training has come").await;
        assert_eq!(page.count("[data-testid=keep-refused]").await, 0);
        page.sleep(600).await;
        page.reload().await;
        page.wait_for("[data-testid=kept-offer]").await;
        page.click("kept-go-on").await;
        page.done().await;
        assert!(page.text("name-x").await.contains("cells.npy"));
    });
}

/// Files are hashed after they were read. Another way of reading that is tried meanwhile, and given up, does not end that.
#[test]
fn a_file_is_hashed_whatever_is_tried_meanwhile() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.load_clouds_at("/slow-files/", "executor=cpu").await;
        // The last of both is being hashed now.
        page.script("document.querySelector('[data-testid=transpose-y]').click()").await;
        page.click("cancel-y").await;
        page.click("preset-quick").await;
        page.aligned().await;
        let (_, record) = page.take("download-record").await;
        let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
        let inputs = record["inputs"].as_array().expect("inputs");
        assert_eq!(inputs.len(), 2, "{record}");
        assert!(inputs.iter().all(|input| input["sha256"].as_str().is_some_and(|text| text.len() == 64)));
    });
}

/// The address of a file ends with the worker that has made it.
#[test]
fn a_file_of_a_lost_worker_is_not_offered_any_more() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.click("preset-quick").await;
        page.aligned().await;
        page.take("download-matches").await;
        let run = page.runs().await;
        page.crash().await;
        page.done_with(run + 1).await;
        assert_eq!(page.count("[data-testid=exported]").await, 0);
        page.take("download-matches").await;
    });
}

/// A browser that ends a worker without a word: that is noticed, and the training goes on in another.
#[test]
fn a_worker_that_ends_without_a_word_is_replaced() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.load_clouds_at(KNOWN_WORKERS, "executor=cpu&set-encoder=mlp&set-steps=20000&set-fits=1").await;
        page.click("align").await;
        page.step_beyond(300).await;
        let kept = page.kept_step().await;
        page.script("workers[0].terminate()").await;
        page.until("return workers.length > 1 || null").await;
        page.wait_for("[data-testid=notice]").await;
        assert!(page.text("notice").await.contains("has ended it"), "{}", page.text("notice").await);
        let beyond = page.step_beyond(kept).await;
        assert!(beyond > kept, "{kept} {beyond}");
        page.click("stop").await;
        page.done().await;
    });
}

/// A worker that is lost while it aligns a sample by itself: the next one does.
#[test]
fn a_sample_is_aligned_by_the_next_worker() {
    with_page(Setup::default(), async |page| {
        open_at(&page, LOSES_FIRST, "?executor=cpu&sample=swiss").await;
        page.until("return self.workers?.length > 1 || null").await;
        page.done().await;
        assert!(page.metric("spearman").await > 0.5);
    });
}

/// Networks of very wide tables are more than a browser takes as one value.
#[test]
fn what_is_too_large_for_one_value_is_kept_all_the_same() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        let wide = |points: &Dense| {
            let value = |row: usize, at: usize| {
                points.row(row)[at % points.cols()] + 1e-3 * ((row * 31 + at) % 17) as f32
            };
            array(&Dense::from_fn(points.rows(), WIDE, value))
        };
        let asked = "?executor=cpu&sample=none&set-encoder=mlp&set-steps=20000&set-fits=1&set-sample=20&set-hidden=1024";
        open(&page, &format!("{asked}&set-distance_x=cosine&set-distance_y=cosine")).await;
        page.pick("file-x", "wide-x.npy", &wide(&x)).await;
        page.pick("file-y", "wide-y.npy", &wide(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        // A browser's own limit is some 120 MB; this one takes no value beyond 20.
        page.script(
            "const { put } = IDBObjectStore.prototype;
             IDBObjectStore.prototype.put = function (value, ...rest) {
               if (value.byteLength > 20e6) throw new DOMException('too large', 'DataError');
               if (value instanceof Blob && !(value instanceof File)) window.asContents = true;
               return put.call(this, value, ...rest);
             };",
        )
        .await;
        page.click("align").await;
        page.until("return window.asContents ?? document.querySelector('[data-testid=kept-remark]')?.innerText ?? null")
            .await;
        page.keeps_networks().await;
        page.click("stop").await;
        page.done().await;
        assert_eq!(page.count("[data-testid=keep-refused], [data-testid=kept-remark]").await, 0);
        let (_, matches) = page.take("download-matches").await;
        page.all_kept().await;
        page.reload().await;
        page.click("kept-go-on").await;
        page.done().await;
        assert_eq!(page.take("download-matches").await.1, matches);
    });
}

/// Where a worker holds no lock, nobody can tell its end by it: it is not taken for dead.
#[test]
fn a_worker_without_a_lock_is_left_alone() {
    with_page(Setup::default(), async |page| {
        open_at(&page, NO_LOCKS, "?executor=cpu&sample=swiss").await;
        page.done().await;
        page.sleep(500).await;
        assert_eq!(page.script("return workers.length").await, json!(1));
        assert_eq!(page.count("[data-testid=notice]").await, 0);
    });
}
