//! From landing to a result: samples come with their encoders, and everything works from there.

use formats::write::model::Model;
use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::colours;

/// Waits until what is on show is of encoders that were trained before.
async fn recalled(page: &Page) {
    page.done().await;
    page.wait_for("[data-testid=trained-before]").await;
}

#[test]
fn the_first_screen_is_aligned_before_anything_is_trained() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        open(&page, "?executor=cpu").await;
        recalled(&page).await;
        assert_eq!(page.text("step-count").await, "0", "nothing was trained");
        assert!(page.text("trained-before").await.contains("trained before"));
        assert!(page.metric("foscttm").await < 0.1, "words meet");
        assert!(page.metric("label-transfer").await > 0.8, "and so do their categories");
        for canvas in ["view-live", "view-x", "view-y", "view-aligned", "plan"] {
            assert!(colours(&page, canvas).await > 2, "{canvas} is drawn");
        }
        page.shoot("first-screen").await;
        // A look at another view loses nothing.
        page.follow("#diagnostics").await;
        page.wait_for("[data-testid=executor-reason]").await;
        page.follow("#").await;
        assert!(page.metric("foscttm").await < 0.1);

        // What can be done with a result can be done with this one.
        let (name, model) = page.take("download-model").await;
        assert_eq!(name, "model.safetensors");
        let saved =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/www/samples/words/model.safetensors"));
        let [model, saved] =
            [model, saved.expect("a model")].map(|bytes| Model::load(&bytes).expect("loads"));
        assert!(model == saved, "the encoders are those of the sample");
        let (_, record) = page.take("download-record").await;
        let record = formats::write::record::Record::read(&record).expect("a record");
        assert!(record.timings.iter().all(|timing| timing.name != "train"), "no training is claimed");
        let (_, bytes) = page.take("download-everything").await;
        assert_eq!(&bytes[..2], b"PK");

        // One click trains it, and then nothing is said of before.
        page.begun("align").await;
        assert_eq!(page.count("[data-testid=trained-before]").await, 0);
        page.done().await;
        eprintln!("words trained live; {}", page.text("status").await.replace('\n', " "));
        assert_eq!(page.count("[data-testid=trained-before]").await, 0);
        assert!(colours(&page, "chart-loss").await > 2, "the curves are those of this run");
        assert!(page.metric("foscttm").await < 0.1);
    });
}

#[test]
fn samples_are_exchanged_whole() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=swiss").await;
        recalled(&page).await;
        assert!(page.metric("foscttm").await < 0.05, "the roll is laid flat");
        assert_eq!(page.count("[data-testid^=sample-]").await, 4);
        for (sample, rows, least) in [("digits", "600", 0.05), ("assays", "500", 0.4), ("words", "351", 0.1)]
        {
            page.click(&format!("sample-{sample}")).await;
            page.wait_for(
                "[data-testid=status][data-state=loading], [data-testid=status][data-state=training]",
            )
            .await;
            recalled(&page).await;
            assert!(page.metric("foscttm").await < least, "{sample}");
            page.wait_for("[data-testid=size-x]").await;
            assert!(page.text("size-x").await.starts_with(rows), "{sample}");
            assert_eq!(
                page.count("[data-testid=pair-mode]:disabled").await,
                0,
                "{sample}: its rows can be paired"
            );
            assert_eq!(
                page.count("[data-testid^=failure-]").await,
                0,
                "{sample}: labels and pairs are its own"
            );
        }
        // In a hurry: the last one counts, with nothing of the others.
        for sample in ["digits", "assays", "swiss"] {
            page.click(&format!("sample-{sample}")).await;
        }
        recalled(&page).await;
        assert_eq!(
            page.script(
                "return document.querySelector('[aria-pressed=true][data-testid^=sample-]').dataset.testid"
            )
            .await,
            json!("sample-swiss")
        );
        assert!(page.metric("foscttm").await < 0.05);
        assert_eq!(page.count("[data-testid^=failure-]").await, 0);
        // Under a file of one's own the result of the sample says that it is of something else.
        let (x, ..) = crate::hands::clouds(5);
        page.pick("file-x", "mine.npy", &crate::hands::array(&x)).await;
        page.wait_for("[data-testid=stale]").await;
        assert_eq!(page.count("[data-testid=trained-before]").await, 0);
    });
}

#[test]
fn unseen_points_of_a_sample_are_scored() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=digits").await;
        recalled(&page).await;
        page.click("sample-new").await;
        page.wait_for("[data-testid=apply]:not(:disabled)").await;
        page.click("apply").await;
        page.wait_for("[data-testid=new-badge]").await;
        assert!(page.metric("foscttm").await < 0.02, "unseen pairs are found");
        assert!(page.metric("label-transfer").await > 0.9, "and their labels carried over");
        page.shoot("unseen").await;
        page.click("back-from-new").await;
        page.wait_for("[data-testid=trained-before]").await;
        assert_eq!(page.count("[data-testid=new-badge]").await, 0);
        assert!(page.metric("foscttm").await < 0.02);
    });
}
