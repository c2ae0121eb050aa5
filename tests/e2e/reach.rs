//! Everything can be reached and read: on wide and narrow screens, by keyboard, by name.

use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{array, clouds};

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

/// What has the focus: its name for automation, else its id, else its tag.
async fn focused(page: &Page) -> String {
    let script = "const e = document.activeElement; return e.dataset.testid || e.id || e.getAttribute('aria-label') || e.tagName";
    page.script(script).await.as_str().unwrap_or_default().to_owned()
}

async fn focus(page: &Page, testid: &str) {
    page.script(&format!("document.querySelector('[data-testid={testid}]').focus()")).await;
    assert_eq!(focused(page).await, testid);
}

#[test]
fn a_wide_table_scrolls_in_its_place() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        let head: Vec<String> = (0..12).map(|j| format!("a_rather_long_name_{j}")).collect();
        let row = |i: usize| (0..12).map(|j| format!("{}.123456", i * j)).collect::<Vec<_>>().join(",");
        let text = format!("{}\n{}\n", head.join(","), (0..40).map(row).collect::<Vec<_>>().join("\n"));
        page.pick("file-x", "wide.csv", text.as_bytes()).await;
        page.wait_for("[data-testid=fold-x]").await;
        page.script("document.querySelector('[data-testid=fold-x]').open = true").await;
        page.sleep(200).await;
        let script = "const box = css => document.querySelector(css).getBoundingClientRect();
                      const table = document.querySelector('[data-testid=fold-x] .scroll');
                      return [box('.stage').left - box('[data-testid=drop-y]').right,
                              box('.stage').left - box('h1').right, table.scrollWidth - table.clientWidth]";
        let [drop, head, hidden] =
            [0, 1, 2].map(async |i: usize| page.script(script).await[i].as_f64().expect("a number"));
        let (drop, head, hidden) = (drop.await, head.await, hidden.await);
        assert!(drop > 0.0 && head > 0.0, "the columns lie side by side: {drop}, {head}");
        assert!(hidden > 0.0, "the table scrolls by itself");
        page.shoot("wide-table").await;
    });
}

#[test]
fn the_focus_is_handed_on_and_there_are_ways_past() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.script("document.activeElement.blur()").await;
        page.press(TAB).await;
        assert_eq!(focused(&page).await, "skip-data", "the first stop");
        page.press(TAB).await;
        assert_eq!(focused(&page).await, "skip-result");
        page.press(ENTER).await;
        assert_eq!(focused(&page).await, "result");
        assert_eq!(page.script("return location.hash").await, json!(""));

        // A run ends while its controls have the focus.
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        focus(&page, "pause").await;
        page.done().await;
        page.sleep(200).await;
        assert_eq!(focused(&page).await, "status");
        // So does one that is given up, and what is shown of a candidate.
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        focus(&page, "cancel-run").await;
        page.press(ENTER).await;
        page.wait_for("[data-testid=status][data-state=idle]").await;
        page.sleep(200).await;
        assert_eq!(focused(&page).await, "status");
        page.wait_for("[data-testid=show-candidate-1]:not(:disabled)").await;
        focus(&page, "show-candidate-1").await;
        page.press(ENTER).await;
        page.wait_for("[data-testid=show-candidate-0]:not(:disabled)").await;
        page.sleep(200).await;
        assert_eq!(focused(&page).await, "Candidates");
        // What is left on purpose is not brought back.
        focus(&page, "align").await;
        page.script("document.activeElement.blur()").await;
        page.sleep(100).await;
        assert_eq!(focused(&page).await, "BODY");
    });
}

#[test]
fn every_button_has_a_name_of_its_own() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.aligned().await;
        page.wait_for("[data-testid=confirm-3]").await;
        page.click("confirm-3").await;
        page.script("document.querySelectorAll('details').forEach(fold => fold.open = true)").await;
        let script = "const names = [...document.querySelectorAll('button')].filter(b => b.offsetParent)
                        .map(b => b.getAttribute('aria-label') || b.innerText.trim());
                      return names.filter((name, at) => !name || names.indexOf(name) !== at)";
        assert_eq!(page.script(script).await, json!([]), "named twice");
        let view = "const view = document.querySelector('[data-view=view-x]');
                    const about = view.getAttribute('aria-describedby').split(' ').map(id => document.getElementById(id).textContent);
                    return [view.getAttribute('aria-label'), about.join(' ')]";
        let named = page.script(view).await;
        assert_eq!(named[0], json!("X by itself"));
        assert!(named[1].as_str().is_some_and(|keys| keys.contains("zoom")), "{named}");
        // There is a nearest view.
        for _ in 0..20 {
            page.script("document.querySelector('[data-view=view-x] [data-testid=zoom-in]').click()").await;
        }
        page.wait_for("[data-view=view-x] [data-testid=zoom-in]:disabled").await;
        assert_eq!(page.zoom("view-x").await.0, 200.0);
    });
}

#[test]
fn defaults_clear_what_was_refused() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        page.script("document.querySelector('[data-testid=advanced]').open = true").await;
        let value = "return document.querySelector('[data-testid=set-steps]').value";
        let before = page.script(value).await;
        page.script(
            "const field = document.querySelector('[data-testid=set-steps]'); field.value = '-5';
             field.dispatchEvent(new Event('change', { bubbles: true }));",
        )
        .await;
        page.wait_for("[data-testid=reason-steps]").await;
        page.click("reset").await;
        assert_eq!(page.count("[data-testid=reason-steps]").await, 0);
        assert_eq!(page.script(value).await, before);
        assert_eq!(page.count("[data-testid=reset]:disabled").await, 1);
    });
}

#[test]
fn tooltips_stay_inside_of_their_view() {
    for size in [(1280, 1000), (390, 844)] {
        with_page(Setup { size, ..Setup::default() }, async |page| {
            let (x, y, _) = clouds(5);
            open(&page, "?executor=cpu&sample=none").await;
            page.pick("file-x", "x.csv", &crate::hands::csv(&x, "a rather long name of a cell with number "))
                .await;
            page.pick(
                "file-y",
                "y.csv",
                &crate::hands::csv(&y, "the long name of another cell with number "),
            )
            .await;
            page.wait_for("[data-testid=size-x]").await;
            page.wait_for("[data-testid=size-y]").await;
            page.click("preset-quick").await;
            page.aligned().await;
            page.sleep(300).await;
            let mut seen = 0;
            let [left, top, wide, high] = page.view("view-aligned").await;
            for (across, down) in (0..11).flat_map(|i| (0..11).map(move |j| (i, j))) {
                let at = (
                    left + wide * f64::from(2 + 10 * across) / 104.0,
                    top + high * f64::from(2 + 10 * down) / 104.0,
                );
                page.hover(at).await;
                let script =
                    "const tip = document.querySelector('[data-view=view-aligned] [data-testid=tooltip]');
                    if (!tip) return null;
                    const [t, v] = [tip, tip.parentElement].map(e => e.getBoundingClientRect());
                    return Math.max(v.left - t.left, t.right - v.right, v.top - t.top, t.bottom - v.bottom)";
                if let Some(out) = page.script(script).await.as_f64() {
                    assert!(out <= 0.5, "{size:?}: {out} pixels stick out at {at:?}");
                    seen += 1;
                }
            }
            assert!(seen > 3, "{seen} tooltips were seen");
        });
    }
}

#[test]
fn a_phone_reaches_every_button_of_a_table() {
    with_page(Setup { size: (390, 844), ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "x.csv", &crate::hands::csv(&x, "a rather long name of a cell with number "))
            .await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        let line = "const [a, b] = ['size-x', 'remove-x'].map(n => document.querySelector(`[data-testid=${n}]`).getBoundingClientRect());
                    return b.top < a.bottom && a.top < b.bottom";
        assert_eq!(page.script(line).await, json!(true), "the button is beside what it removes");
        // With networks, so that there is more than one candidate.
        page.aligned().await;
        for (button, picture) in [("confirm-0", "phone-matches"), ("show-candidate-1", "phone-candidates")] {
            page.wait_for(&format!("[data-testid={button}]")).await;
            let script = format!(
                "const button = document.querySelector('[data-testid={button}]');
                 button.closest('.card').scrollIntoView();
                 const [b, s] = [button, button.closest('.scroll')].map(e => e.getBoundingClientRect());
                 return b.left >= s.left && b.right <= Math.min(s.right, innerWidth) + 0.5"
            );
            assert_eq!(page.script(&script).await, json!(true), "{button} is in sight");
            page.shoot(picture).await;
        }
        let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(page.script(overflow).await, json!(0), "nothing sticks out");
    });
}

/// What is to be confirmed is in sight of the button that does.
#[test]
fn a_phone_shows_a_match_beside_its_button() {
    for width in [360, 320] {
        with_page(Setup { size: (width, 800), ..Setup::default() }, async |page| {
            matches_are_in_sight(&page).await
        });
    }
}

async fn matches_are_in_sight(page: &Page) {
    open(page, "?executor=cpu&sample=words").await;
    page.done().await;
    page.wait_for("[data-testid=match-row]").await;
    page.script("document.querySelector('[data-testid=match-row]').scrollIntoView({ block: 'center' })")
        .await;
    let script = "const row = document.querySelector('[data-testid=match-row]');
            const seen = [...row.children].map(cell => cell.getBoundingClientRect()).filter(box => box.width > 0);
            const buttons = [...document.querySelectorAll('.pager > *')].map(part => part.getBoundingClientRect());
            const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
            const together = boxes => boxes.some((a, i) => boxes.some((b, j) => i < j && !apart(a, b)));
            const { scrollWidth, clientWidth } = document.documentElement;
            return [seen.length, together(seen), together(buttons), scrollWidth - clientWidth]";
    let said = page.script(script).await;
    page.shoot("match-on-a-phone").await;
    assert_eq!(said, json!([4, false, false, 0]), "point, match, confidence and button");
}

/// Paper is light: what was drawn for the dark is turned while it is printed, and only then.
#[test]
fn what_was_drawn_for_the_dark_is_turned_for_paper() {
    for dark in [true, false] {
        with_page(Setup { dark, ..Setup::default() }, async |page| {
            open(&page, "?executor=cpu&sample=swiss").await;
            page.done().await;
            let script = "const marked = () => document.documentElement.hasAttribute('data-drawn-dark');
                const ground = getComputedStyle(document.documentElement).getPropertyValue('--card').trim();
                const all = [ground === '#ffffff', marked()];
                dispatchEvent(new Event('beforeprint'));
                all.push(marked());
                dispatchEvent(new Event('afterprint'));
                return [...all, marked()]";
            assert_eq!(page.script(script).await, json!([!dark, false, dark, false]));
        });
    }
}
