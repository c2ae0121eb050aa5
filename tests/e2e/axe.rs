//! No screen has anything that axe-core finds fault with, in light and dark, wide and narrow; and what it cannot tell of
//! the contrast of texts is computed here.
//!
//! `cargo xtask test` installs axe-core into `.tools/`. The driver hands it to the page: it ships with nothing.

use std::path::Path;

use serde_json::{Value, json};

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{array, clouds, csv};
use crate::host::{Host, Version};

fn axe() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/axe/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}\n`cargo xtask test axe` installs axe-core with npm.", path.display())
    })
}

/// All faults: the rule, what it says, and where.
const FAULTS: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(found => done(found.violations.map(fault =>
        `${fault.id}: ${fault.help}: ` + fault.nodes.map(n => n.target.join(' ')).slice(0, 5).join(', '))),
        error => done([String(error)]));";

/// Texts with too little contrast to what is behind them. Unlike axe it sees through the shadows of wide tables, which
/// are gradients; what is disabled or greyed as the result of other data is exempt, as in WCAG 1.4.3.
const FAINT: &str = "
    const parse = text => {
        const n = text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
        const [r, g, b] = text.startsWith('color(') ? n.slice(0, 3).map(v => 255 * v) : n;
        return { rgb: [r, g, b], alpha: n[3] ?? 1 };
    };
    const over = (top, below) => top.rgb.map((v, i) => top.alpha * v + (1 - top.alpha) * below[i]);
    const ground = element => {
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
            const colour = parse(getComputedStyle(e).backgroundColor);
            layers.push(colour);
            if (colour.alpha === 1) break;
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const faint = [];
    let seen = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; node = walker.nextNode();) {
        const e = node.parentElement;
        if (!node.data.trim() || !e.checkVisibility() || e.closest(':disabled, .foreign, .unseen')) continue;
        const style = getComputedStyle(e), size = parseFloat(style.fontSize), below = ground(e);
        const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
        const [a, b] = [light(over(parse(style.color), below)), light(below)].sort((p, q) => q - p);
        const ratio = (a + 0.05) / (b + 0.05);
        seen++;
        if (ratio < least) faint.push(`${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)} (${e.className})`);
    }
    return [seen, faint];";

/// Looks at the screen as it is.
async fn look(page: &Page, screen: &str) {
    page.sleep(300).await; // Colours change within moments.
    let faults = page.client.execute_async(FAULTS, Vec::new()).await.expect("axe runs");
    assert_eq!(faults, json!([]), "{screen}");
    let Value::Array(faint) = page.script(FAINT).await else { panic!("{screen}: no texts were looked at") };
    assert!(faint[0].as_u64().is_some_and(|seen| seen > 10), "{screen}: {} texts were seen", faint[0]);
    assert_eq!(faint[1], json!([]), "{screen}: too little contrast");
}

/// Hands axe-core to a page that was loaded.
async fn arm(page: &Page, axe: &str) {
    page.script(axe).await;
}

async fn unfold_all(page: &Page) {
    page.script("document.querySelectorAll('details').forEach(fold => fold.open = true)").await;
}

fn every_screen(size: (u32, u32), dark: bool) {
    let axe = axe();
    let name = |screen: &str| format!("{screen}, {} wide, {}", size.0, if dark { "dark" } else { "light" });
    let setup = || Setup { size, dark, ..Setup::default() };
    with_page(setup(), async |page| {
        // What everybody sees first, and all that is folded away in it.
        open(&page, "?executor=cpu").await;
        page.done().await;
        arm(&page, &axe).await;
        look(&page, &name("landing")).await;
        unfold_all(&page).await;
        look(&page, &name("landing, with more files, settings and the link unfolded")).await;

        // Nothing, files, a file that cannot be read, a setting that cannot be.
        let (x, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        arm(&page, &axe).await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        look(&page, &name("nothing loaded")).await;
        page.pick("file-x", "x.csv", &csv(&x, "c")).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        unfold_all(&page).await;
        look(&page, &name("files loaded")).await;
        page.pick("file-x", "photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").await;
        page.wait_for("[data-testid=failure-x]").await;
        page.script(
            "const field = document.querySelector('[data-testid=set-steps]'); field.value = '-5';
             field.dispatchEvent(new Event('change', { bubbles: true }));",
        )
        .await;
        page.wait_for("[data-testid=reason-steps]").await;
        look(&page, &name("errors on show")).await;
        page.click("reset").await;

        // Training, held so that it stays.
        page.click("align").await;
        page.wait_for("[data-testid=chart-loss]").await;
        page.click("pause").await;
        look(&page, &name("training")).await;
        page.click("pause").await;
        page.done().await;
        look(&page, &name("result")).await;

        // With everything that can be on show at once.
        page.click("compare").await;
        page.wait_for("[data-testid=compared-spearman]").await;
        page.click("confirm-0").await;
        page.click("matches-select").await;
        page.click("pair-mode").await;
        page.script("document.querySelector('[data-view=view-aligned]').focus()").await;
        page.press('\u{e007}').await;
        page.wait_for("[data-testid=tooltip]").await;
        look(&page, &name("comparison, pairs, selection, tooltip")).await;
        page.pick("new-x", "new.npy", &array(&x)).await;
        page.pick("new-y", "new.npy", &array(&y)).await;
        page.click("apply").await;
        page.wait_for("[data-testid=new-badge]").await;
        look(&page, &name("new data")).await;

        // Diagnostics, measured; and the notice of a crash.
        page.follow("#diagnostics").await;
        page.click("meter-measure").await;
        page.wait_for("[data-testid=meter-scatter-pointed]").await;
        look(&page, &name("diagnostics")).await;
        page.click("drill-panic").await;
        page.wait_for("[data-testid=notice]").await;
        look(&page, &name("a notice")).await;

        // What earlier visits have left, a link that asks for too much, a file beside the boxes.
        open(&page, "?executor=cpu&sample=none&set-steps=-3").await;
        page.wait_for("[data-testid=link-refused]").await;
        page.wait_for("[data-testid=kept-offer]").await;
        page.drop_on("status", "stray.csv", b"a,b").await;
        page.wait_for("[data-testid=stray]").await;
        arm(&page, &axe).await;
        look(&page, &name("offers")).await;

        // What a class sees, and the page of the API.
        open(&page, "?executor=cpu&hide=data,settings,training,downloads,new").await;
        page.done().await;
        arm(&page, &axe).await;
        look(&page, &name("for a class")).await;
        open(&page, "example.html").await;
        page.wait_for("#matches li:nth-child(12)").await;
        arm(&page, &axe).await;
        look(&page, &name("example")).await;
    });
    // A browser that keeps nothing.
    with_page(Setup { storage: false, ..setup() }, async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=keep-refused]").await;
        arm(&page, &axe).await;
        look(&page, &name("storage refused")).await;
    });
    // A new version that waits for its moment.
    let host = Host::start();
    with_page(Setup { host: Some(host.place.clone()), ..setup() }, async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        page.kept().await;
        host.serve(Version::Newer);
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=update]").await;
        arm(&page, &axe).await;
        look(&page, &name("a new version")).await;
    });
}

#[test]
fn wide_and_light() {
    every_screen((1280, 1000), false);
}

#[test]
fn wide_and_dark() {
    every_screen((1280, 1000), true);
}

#[test]
fn narrow_and_light() {
    every_screen((390, 844), false);
}

#[test]
fn narrow_and_dark() {
    every_screen((390, 844), true);
}
