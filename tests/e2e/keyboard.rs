//! A whole alignment by keyboard alone: nothing here moves a pointer, and wherever the focus goes it can be seen.

use fantoccini::actions::KeyAction;
use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{array, clouds, csv};
use crate::pointer::{RIGHT, SHIFT};

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';
const UP: char = '\u{e013}';
const LEFT: char = '\u{e012}';
const PAGE_DOWN: char = '\u{e00f}';

/// What has the focus, whether that is outlined, and whether it is in sight. A file input is outlined by its box.
const STOP: &str = "
    const e = document.activeElement, box = e.closest('.drop, .drop-line') ?? e;
    const name = e.tagName === 'SUMMARY' ? `fold ${e.parentElement.dataset.testid}`
        : e.dataset.testid ?? e.dataset.view ?? (e.id || e.getAttribute('aria-label') || e.innerText || e.tagName);
    const style = getComputedStyle(box), r = box.getBoundingClientRect();
    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    return [name, outlined, r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < innerHeight];";

impl Page {
    /// Presses Tab, or with Shift, until this has the focus. Every stop on the way has to be seen.
    async fn tab_to(&self, wanted: &str, back: bool) {
        let mut passed = Vec::new();
        for _ in 0..300 {
            if back {
                self.key(KeyAction::Down { value: SHIFT }).await;
            }
            self.press(TAB).await;
            if back {
                self.key(KeyAction::Up { value: SHIFT }).await;
            }
            let mut stop = self.script(STOP).await;
            // A page that is still being laid out comes to rest first.
            for _ in 0..40 {
                if stop[2] == json!(true) {
                    break;
                }
                self.sleep(50).await;
                stop = self.script(STOP).await;
            }
            let name = stop[0].as_str().unwrap_or_default().to_owned();
            assert_eq!(
                (&stop[1], &stop[2]),
                (&json!(true), &json!(true)),
                "{name} is outlined, and in sight; passed: {passed:?}"
            );
            if name == wanted {
                return;
            }
            passed.push(name);
        }
        panic!("{wanted} cannot be reached; passed: {passed:?}");
    }

    async fn said(&self, view: &str) -> String {
        let script = format!("return document.querySelector('[data-testid=said-{view}]').textContent");
        self.script(&script).await.as_str().unwrap_or_default().to_owned()
    }

    async fn type_in(&self, words: &str) {
        for letter in words.chars() {
            self.press(letter).await;
        }
    }
}

#[test]
fn an_alignment_from_files_to_download() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;

        // The picker is the browser's own; what it would bring is given to the input that has the focus.
        page.tab_to("file-x", false).await;
        page.pick("file-x", "x.csv", &csv(&x, "c")).await;
        page.wait_for("[data-testid=size-x]").await;
        page.tab_to("file-y", false).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;

        page.tab_to("preset-standard", false).await;
        page.press(UP).await;
        page.wait_for("[data-testid=preset-quick]:checked").await;
        page.tab_to("fold advanced", false).await;
        page.press(ENTER).await;
        page.wait_for("[data-testid=advanced][open]").await;
        page.tab_to("set-seed", false).await;
        page.type_in("7").await;
        page.tab_to("align", false).await;
        assert_eq!(
            page.script("return document.querySelector('[data-testid=set-seed]').value").await,
            json!("7")
        );
        page.press(ENTER).await;
        page.done().await;

        // From point to point: each is said, and shown.
        page.tab_to("view-x", false).await;
        page.press(ENTER).await;
        page.wait_for("[data-view=view-x] [data-testid=tooltip]").await;
        let mut said = vec![page.said("view-x").await];
        assert!(said[0].starts_with("X: c") && said[0].contains("matched with Y: row"), "{}", said[0]);
        for key in [RIGHT, RIGHT, UP, PAGE_DOWN, LEFT] {
            page.press(key).await;
            let words = page.said("view-x").await;
            if words.starts_with("X: ") && !said.contains(&words) {
                said.push(words);
            }
        }
        assert!(said.len() >= 4, "{said:?}");
        assert_eq!(page.zoom("view-x").await, (1.0, (0.5, 0.5)), "the view stands meanwhile");
        page.press(ESCAPE).await;
        assert_eq!(page.count("[data-testid=tooltip]").await, 0);
        page.press(RIGHT).await;
        assert!(page.zoom("view-x").await.1.0 > 0.55, "now arrows move the view");

        page.tab_to("view-aligned", false).await;
        page.press(ENTER).await;
        page.press(ENTER).await;
        page.wait_for("[data-testid=selection][data-x='1'][data-y='1']").await;
        page.press(ESCAPE).await;
        assert_eq!(
            page.count("[data-testid=selection]").await,
            1,
            "leaving the points keeps what is selected"
        );
        page.press(ESCAPE).await;
        assert_eq!(page.count("[data-testid=selection]").await, 0);

        // A pair of a point and one of the other side.
        page.tab_to("pair-mode", false).await;
        page.press(' ').await;
        page.wait_for("[data-testid=pair-mode][aria-pressed=true]").await;
        page.tab_to("view-aligned", true).await;
        page.press(ENTER).await;
        let first = page.said("view-aligned").await;
        page.press(ENTER).await;
        for key in [RIGHT, LEFT, UP, PAGE_DOWN].into_iter().cycle().take(40) {
            page.press(key).await;
            let now = page.said("view-aligned").await;
            if now.get(..2) != first.get(..2) && now.contains("matched") {
                break;
            }
        }
        page.press(ENTER).await;
        page.wait_for("[data-testid=pair-count][data-count='1']").await;

        page.tab_to("matches-search", false).await;
        page.type_in("c7").await;
        page.wait_for("[data-testid=matches-table][data-total='11']").await;
        page.tab_to("confirm-7", false).await;
        page.press(' ').await;
        page.wait_for("[data-testid=pair-count][data-count='2']").await;

        page.tab_to("show-candidate-1", false).await;
        page.press(ENTER).await;
        page.wait_for("[data-testid=show-candidate-0]:not(:disabled)").await;
        page.tab_to("download-matches", false).await;
        page.press(ENTER).await;
        page.wait_for("[data-testid=exported]").await;
        assert_eq!(page.text("exported").await, "matches.csv");
    });
}

#[test]
fn what_changes_all_the_time_is_not_read_aloud() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.click("align").await;
        page.wait_for("[data-testid=chart-loss]").await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=paused]").await;
        for name in ["count", "step-count", "chart-loss", "view-live", "heat-live"] {
            page.wait_for(&format!("[data-testid={name}]")).await;
            let script = format!(
                "const live = document.querySelector('[data-testid={name}]')
                    .closest('[aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log]');
                 return live && live.outerHTML.slice(0, 200)"
            );
            assert_eq!(page.script(&script).await, json!(null), "{name}");
        }
        // The phase is: it changes a few times a run.
        let phase = "return document.querySelector('[data-testid=status] [aria-live=polite]').innerText";
        assert_eq!(page.script(phase).await, json!("Paused"));
    });
}
