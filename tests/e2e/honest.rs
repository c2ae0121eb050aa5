//! What is shown is what is: labels and colours of a run under way, results of something else, runs that end early.

use serde_json::{Value, json};

use crate::browser::{Page, Setup, open, with_page};
use crate::colours;
use crate::hands::{POINTS, array, clouds};

/// A column of labels, one a row.
fn labels(of: impl Fn(usize) -> &'static str) -> Vec<u8> {
    let rows: Vec<&str> = (0..POINTS).map(of).collect();
    format!("kind\n{}\n", rows.join("\n")).into_bytes()
}

/// Whether a view has dots of this colour, but for rounding.
async fn has_colour(page: &Page, testid: &str, [r, g, b]: [u8; 3]) -> bool {
    let script = format!(
        "const c = document.querySelector('[data-testid={testid}]');
         const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
         for (let i = 0; i < d.length; i += 4)
           if (d[i + 3] > 150 && Math.abs(d[i] - {r}) + Math.abs(d[i + 1] - {g}) + Math.abs(d[i + 2] - {b}) < 8) return true;
         return false;"
    );
    page.script(&script).await == json!(true)
}

async fn legend(page: &Page) -> Vec<String> {
    let script = "return [...document.querySelectorAll('[data-testid=legend] li')].map(li => li.innerText)";
    let Value::Array(items) = page.script(script).await else { panic!("no legend") };
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

async fn pressed(page: &Page) -> String {
    let script = "return document.querySelector('[data-testid^=colour-][aria-pressed=true]').dataset.testid";
    page.script(script).await.as_str().unwrap_or_default().to_owned()
}

/// The words sample aligned, then files of one's own in its place.
async fn own_after_words(page: &Page) {
    open(page, "?executor=cpu&sample=words").await;
    page.done().await;
    let (x, y, _) = clouds(5);
    page.pick("file-x", "mine.npy", &array(&x)).await;
    page.pick("file-y", "yours.npy", &array(&y)).await;
    page.wait_for("[data-testid=size-x]").await;
    page.wait_for("[data-testid=stale]").await;
    page.wait_for("[data-testid=align]:not(:disabled)").await;
}

async fn set(page: &Page, name: &str, value: &str) {
    let script = format!(
        "const field = document.querySelector('[data-testid=set-{name}]'); field.value = '{value}';
         field.dispatchEvent(new Event('change', {{ bubbles: true }}));"
    );
    page.script(&script).await;
}

#[test]
fn a_run_under_way_has_its_own_labels_in_the_colours_of_its_result() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        open(&page, "?executor=cpu&sample=words").await;
        page.done().await;
        assert_eq!(pressed(&page).await, "colour-label");
        assert!(legend(&page).await.iter().any(|name| name == "animal"), "{:?}", legend(&page).await);
        // The sample comes with its encoders: nobody has made fresh fits.
        assert_eq!(page.count("[data-testid=colour-confidence]:disabled[title]").await, 1);
        page.click("colour-share").await;
        page.click("show-lines").await;
        let (x, y, _) = clouds(5);
        page.pick("file-x", "mine.npy", &array(&x)).await;
        page.pick("file-y", "yours.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        page.unfold("more-files").await;
        // The sides number their labels differently: "flower" is the first of Y.
        page.pick("labels-x", "kinds.csv", &labels(|i| ["root", "leaf"][i % 2])).await;
        page.pick("labels-y", "kinds.csv", &labels(|i| ["flower", "leaf", "flower"][i % 3])).await;
        page.wait_for("[data-testid=remove-labels-x]").await;
        page.wait_for("[data-testid=remove-labels-y]").await;
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=paused]").await;
        page.wait_for("[data-view=view-live][aria-label*='being aligned']").await;
        page.sleep(300).await;
        let flower = concord::app::palette::label(2.0, false); // the third colour
        let during = legend(&page).await;
        assert_eq!(during[..3], ["flower", "leaf", "root"], "the labels of this run");
        assert!(has_colour(&page, "view-live", flower).await, "a label of Y alone has a colour of its own");
        // Nothing is known of matches yet, and nothing claims to be.
        assert_eq!(pressed(&page).await, "colour-label");
        for measured in ["confidence", "share"] {
            let button = format!("[data-testid=colour-{measured}]:disabled[title]");
            assert_eq!(page.count(&button).await, 1, "{measured}");
        }
        assert_eq!(page.count("[data-testid=show-lines]:disabled").await, 1);
        assert_eq!(page.count("label[title] > [data-testid=show-lines]").await, 1, "and it is said why");
        page.shoot("labels-training").await;
        let said = page.text("standing").await;
        assert!(said.contains("earlier run, on the Words sample"), "{said}");
        page.click("pause").await;
        page.done().await;
        assert_eq!(pressed(&page).await, "colour-share", "what was chosen comes back");
        assert_eq!(page.count("[data-testid=colour-confidence]:not(:disabled)").await, 1, "it was measured");
        assert_eq!(page.count("[data-testid=show-lines]:checked:not(:disabled)").await, 1);
        page.click("colour-label").await;
        page.sleep(300).await;
        assert_eq!(legend(&page).await, during, "and labels are what they were");
        assert!(has_colour(&page, "view-live", flower).await);
        assert_eq!(page.count("[data-testid=standing]").await, 0);
    });
}

#[test]
fn a_result_of_something_else_is_not_taken_for_ones_own() {
    with_page(Setup { size: (390, 844), ..Setup::default() }, async |page| {
        own_after_words(&page).await;
        let words = "This result is of the Words sample, not of the files now loaded. Align to replace it.";
        assert_eq!(page.text("standing").await, words);
        assert_eq!(page.text("standing-downloads").await, words, "also beside the files");
        assert_eq!(page.count("[data-testid=result].foreign").await, 1);
        assert_eq!(page.count(".stage-view.foreign").await, 1, "and so is the picture");
        assert!(!page.text("status").await.contains("Aligned"), "these files are not");
        assert_eq!(page.text("align").await, "Align");
        let seen = "return document.querySelector('[data-testid=stale]').getBoundingClientRect().width > 40";
        assert_eq!(page.script(seen).await, json!(true), "also on a phone");
        let (name, _) = page.take("download-matches").await;
        assert_eq!(name, "matches.csv", "it can still be taken");
        page.script("document.querySelector('#result').scrollIntoView()").await;
        page.shoot("foreign-phone").await;
        page.click("preset-quick").await;
        page.aligned().await;
        assert_eq!(page.count("[data-testid^=standing]").await, 0);
        assert_eq!(page.count("[data-testid=result].foreign").await, 0);
        // Settings are part of what a result is of.
        assert_eq!(page.count("[data-testid=settings-changed]").await, 0);
        page.click("undo").await;
        page.wait_for("[data-testid=settings-changed]").await;
        page.click("redo").await;
        assert_eq!(page.count("[data-testid=settings-changed]").await, 0);
        // A file of the same name, read in another way.
        let (x, ..) = clouds(6);
        page.pick("file-x", "mine.npy", &array(&x)).await;
        page.wait_for("[data-testid=standing]").await;
        let said = page.text("standing").await;
        assert!(said.contains("mine.npy and yours.npy as they were before"), "{said}");
    });
}

#[test]
fn a_run_is_not_started_over_by_a_single_click() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        assert_eq!(page.text("align").await, "Align");
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=paused]").await;
        assert_eq!(page.text("align").await, "Start over");
        assert_eq!(page.count("[data-testid=align].big").await, 0, "not what is to be pressed");
        page.click("align").await;
        page.click("align").await; // the second half of a double click
        assert_eq!(page.text("align").await, "Really start over?");
        page.click("colour-domain").await;
        assert_eq!(page.text("align").await, "Start over", "a change of mind");
        page.sleep(700).await;
        page.click("align").await;
        page.sleep(700).await;
        assert_eq!(page.count("[data-testid=status][data-state=paused]").await, 1, "still the same run");
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        assert_eq!(page.text("align").await, "Start over");
        page.click("stop").await;
        page.done().await;
        assert_eq!(page.text("align").await, "Align again");
    });
}

#[test]
fn the_end_of_a_training_is_told_and_its_curves_are_kept() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.script("document.querySelector('[data-testid=advanced]').open = true").await;
        set(&page, "encoder", "mlp").await;
        set(&page, "steps", "5000").await;
        let start = std::time::Instant::now();
        page.click("align").await;
        page.wait_for("[data-testid=chart-loss]").await;
        page.click("pause").await;
        let held = 8;
        page.sleep(1000 * held).await;
        page.click("stop").await;
        page.done().await;
        let said = page.text("status").await.replace('\n', " ");
        assert!(said.starts_with("Stopped early, at step ") && said.contains(" of 5000"), "{said}");
        let most = start.elapsed().as_secs().saturating_sub(held) + 1;
        let seconds = said.split("trained in ").nth(1).and_then(|rest| rest.split(' ').next());
        let seconds: u64 = seconds.expect("a time").parse().unwrap_or(0);
        assert!(seconds <= most, "a pause is no training: {said}, at most {most} s");
        let steps = page.text("step-count").await;
        assert!(steps.parse::<u32>().is_ok_and(|steps| steps > 0 && steps < 5000), "{steps}");

        // What is kept of a run that was given up is the result before, with its curves.
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.sleep(500).await;
        page.click("cancel-run").await;
        page.wait_for("[data-testid=status][data-state=idle]").await;
        assert_eq!(page.text("step-count").await, steps);
        page.sleep(300).await;
        assert!(colours(&page, "chart-loss").await > 2);

        // Without annealing it converges long before.
        set(&page, "annealing", "constant").await;
        set(&page, "rate", "0.003").await;
        page.aligned().await;
        let said = page.text("status").await;
        assert!(said.contains("converged at step ") && said.contains(" of 5000"), "{said}");
        let training = page.script("return document.querySelector('#training .head').innerText").await;
        assert!(training.as_str().is_some_and(|words| words.contains("converged at step")), "{training}");
    });
}
