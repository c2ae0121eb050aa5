//! What a run will take is said before it starts.

use crate::browser::{Page, Setup, open, with_page};

/// The estimate's data, once it is another than before.
async fn estimate(page: &Page, before: Option<[f64; 3]>) -> [f64; 3] {
    page.wait_for("[data-testid=estimate]").await;
    for _ in 0..2000 {
        let data = page
            .script("const e = document.querySelector('[data-testid=estimate]'); return e ? [e.dataset.seconds, e.dataset.bytes, e.dataset.sample].map(Number) : null")
            .await;
        let number = |at: usize| data[at].as_f64();
        if let (Some(seconds), Some(bytes), Some(sample)) = (number(0), number(1), number(2))
            && before != Some([seconds, bytes, sample])
        {
            return [seconds, bytes, sample];
        }
        page.sleep(50).await;
    }
    panic!("the estimate did not change");
}

async fn set(page: &Page, name: &str, value: &str) {
    page.script(&format!(
        "document.querySelector('[data-testid=advanced]').open = true;
         const field = document.querySelector('[data-testid=set-{name}]');
         field.value = '{value}';
         field.dispatchEvent(new Event('change', {{ bubbles: true }}));"
    ))
    .await;
}

#[test]
fn time_memory_and_points_are_told_and_follow_the_settings() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        assert_eq!(page.count("[data-testid=estimate]").await, 0, "nothing to align, nothing to say");
        page.load_clouds().await;
        let first = estimate(&page, None).await;
        assert!(first[0] > 0.0 && first[1] > 90.0 * 90.0 * 4.0, "{first:?}");
        assert_eq!(first[2], 60.0, "a third is left to score networks on");
        assert!(page.text("estimate").await.contains("matched in one go"));

        set(&page, "sample", "40").await;
        let fewer = estimate(&page, Some(first)).await;
        assert!(fewer[2] == 40.0 && fewer[0] < first[0], "{fewer:?} after {first:?}");
        set(&page, "steps", "6000").await;
        let longer = estimate(&page, Some(fewer)).await;
        assert!(longer[0] > 2.0 * fewer[0] && longer[1] == fewer[1], "{longer:?} after {fewer:?}");
        page.click("undo").await;
        assert_eq!(estimate(&page, Some(longer)).await, fewer, "undone");
        page.click("redo").await;
        assert_eq!(estimate(&page, Some(fewer)).await, longer, "and done again");
        page.click("undo").await;

        page.aligned().await;
        let learned = estimate(&page, Some(fewer)).await;
        let took = page.text("status").await;
        eprintln!("foretold {:.1} s, then {:.1} s; it said: {took}", fewer[0], learned[0]);
        assert!(learned[0] != fewer[0], "a run teaches how long the next one takes");
    });
}
