//! A run is repeated from its record: settings, seed, pairs and candidate come back, and files that differ or are missing
//! are named.

use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{array, clouds};

/// How the record's files stand, by name.
async fn standings(page: &Page, wanted: &[(&str, &str)]) {
    for (file, standing) in wanted {
        page.wait_for(&format!(
            "[data-testid=record-files] li[data-file='{file}'][data-standing={standing}]"
        ))
        .await;
    }
}

#[test]
fn a_run_is_repeated_from_its_record() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        page.load_clouds().await;
        page.click("preset-quick").await;
        page.unfold("advanced").await;
        page.script(
            "const field = document.querySelector('[data-testid=set-seed]'); field.value = '9';
             field.dispatchEvent(new Event('change', { bubbles: true }));",
        )
        .await;
        page.aligned().await;
        page.click("confirm-0").await;
        page.click("confirm-3").await;
        page.begun("align-pairs").await;
        page.done().await;
        page.click("show-candidate-1").await;
        page.wait_for("[data-testid=show-candidate-0]:not(:disabled)").await;
        let (_, record) = page.take("download-record").await;
        let (_, matches) = page.take("download-matches").await;
        let kept = formats::write::record::Record::read(&record).expect("a record");
        assert_eq!((kept.seed, kept.pairs.len()), (9, 2));
        assert_eq!((&kept.chosen["candidate"], kept.inputs[0].used_as.as_str()), (&json!(2), "data set X"));

        // Somebody else, with nothing but the record at first.
        open(&page, "?executor=cpu&sample=none").await;
        page.unfold("more-files").await;
        page.pick("record", "run.json", &record).await;
        standings(&page, &[("x.npy", "missing"), ("y.npy", "missing")]).await;
        let seed = "return document.querySelector('[data-testid=set-seed]').value";
        assert_eq!(page.script(seed).await, json!("9"));
        page.wait_for("[data-testid=preset-quick]:checked").await;

        // The right name with the wrong content, and the right content in the wrong place.
        page.pick("file-x", "x.npy", &array(&clouds(6).0)).await;
        standings(&page, &[("x.npy", "differs")]).await;
        assert!(page.text("record-files").await.contains("x.npy (data set X) is not the same file"));
        page.pick("file-y", "first.npy", &array(&x)).await;
        standings(&page, &[("x.npy", "elsewhere"), ("y.npy", "differs")]).await;
        let said = page.text("record-files").await;
        assert!(said.contains("y.npy (data set Y) is missing: first.npy is in its place."), "{said}");
        assert!(said.contains("2 pairs made by hand come back with the files"), "{said}");
        page.shoot("record").await;

        page.pick("file-x", "renamed.npy", &array(&x)).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        standings(&page, &[("x.npy", "same"), ("y.npy", "same")]).await;
        page.says("record-files", "2 pairs made by hand were taken over.").await;
        page.aligned().await;
        page.wait_for("[data-testid=show-candidate-1]:disabled").await;
        page.wait_for("[data-testid=show-candidate-0]:not(:disabled)").await;
        assert_eq!(page.text("show-candidate-1").await, "Shown");
        page.wait_for("[data-testid=pair-count][data-count='2']").await;
        let (_, again) = page.take("download-matches").await;
        assert_eq!(again, matches, "the same bytes");
    });
}

#[test]
fn a_file_that_was_read_otherwise_is_read_as_then() {
    with_page(Setup::default(), async |page| {
        let (x, y, _) = clouds(5);
        page.load_clouds().await;
        page.click("preset-quick").await;
        page.aligned().await;
        let (_, record) = page.take("download-record").await;
        page.unfold("fold-x").await;
        page.click("transpose-x").await;
        page.says("size-x", "6 × 90").await;
        page.unfold("more-files").await;
        page.pick("record", "run.json", &record).await;
        standings(&page, &[("x.npy", "read-otherwise"), ("y.npy", "same")]).await;
        page.script("document.querySelector('[data-testid=\"read-as-then-x.npy\"]').click()").await;
        standings(&page, &[("x.npy", "same")]).await;
        assert!(page.text("size-x").await.contains("90"), "{} × {}", x.rows(), y.rows());
    });
}
