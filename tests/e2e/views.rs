//! The views by hand: zoomed, moved, pointed at; pairs made in them; the plan while it is being found.

use align::geometry::Dense;
use fantoccini::actions::KeyAction;
use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::colours;
use crate::hands::{array, clouds};
use crate::pointer::{CONTROL, RIGHT, SHIFT};

#[test]
fn views_are_zoomed_and_moved_by_buttons_wheel_keys_and_hands() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        page.load_clouds().await;
        page.aligned().await;
        let view = "view-aligned";
        let press = async |name: &str| {
            let script = format!("document.querySelector('[data-view={view}] [data-testid={name}]').click()");
            page.script(&script).await;
        };
        assert_eq!(page.zoom(view).await, (1.0, (0.5, 0.5)));
        press("zoom-in").await;
        press("zoom-in").await;
        assert_eq!(page.zoom(view).await, (2.25, (0.5, 0.5)));
        press("zoom-out").await;
        assert_eq!(page.zoom(view).await.0, 1.5);
        press("zoom-fit").await;
        assert_eq!(page.zoom(view).await, (1.0, (0.5, 0.5)));

        // What is under the pointer stays there, and is still what the tooltip names.
        let named = page.points_along(view, 0.5, 6.0).await;
        let (name, at) = named.get(named.len() / 2).expect("points lie across the middle").clone();
        let scrolled = "return window.scrollY";
        let before = page.script(scrolled).await;
        page.key(KeyAction::Down { value: CONTROL }).await;
        page.wheel(at, -100).await;
        page.wheel(at, -100).await;
        page.key(KeyAction::Up { value: CONTROL }).await;
        page.sleep(200).await;
        assert!(page.zoom(view).await.0 > 1.5, "{:?}", page.zoom(view).await);
        assert_eq!(page.script(scrolled).await, before, "the page stands");
        page.hover((at.0 + 1.0, at.1)).await;
        page.hover(at).await;
        page.sleep(100).await;
        assert_eq!(page.tooltip().await.as_ref(), Some(&name));
        page.shoot("zoomed").await;
        let zoomed = page.zoom(view).await;
        page.wheel(at, 100).await;
        page.sleep(300).await;
        assert_eq!(page.zoom(view).await, zoomed, "a plain wheel scrolls");
        assert_ne!(page.script(scrolled).await, before);

        // By keys, while the view has the focus.
        press("zoom-fit").await;
        page.script(&format!("document.querySelector('[data-view={view}]').focus()")).await;
        page.press('+').await;
        page.press(RIGHT).await;
        let (times, (x, y)) = page.zoom(view).await;
        assert!(times == 1.5 && x > 0.55 && y == 0.5, "{times} {x} {y}");
        page.press('-').await;
        page.press('0').await;
        assert_eq!(page.zoom(view).await, (1.0, (0.5, 0.5)));

        // A double click comes nearer; Shift and a drag move; a drag alone selects what is under it, zoomed or not.
        let [left, top, wide, high] = page.view(view).await;
        let middle = (left + wide / 2.0, top + high / 2.0);
        page.double_click_at(middle).await;
        let (times, _) = page.zoom(view).await;
        assert!(times > 2.0, "{times}");
        page.key(KeyAction::Down { value: SHIFT }).await;
        page.drag(middle, (60.0, 0.0)).await;
        page.key(KeyAction::Up { value: SHIFT }).await;
        let (_, (x, _)) = page.zoom(view).await;
        assert!((x - (0.5 - 60.0 / wide / times)).abs() < 0.02, "{x}: what is in the middle was left of it");
        assert_eq!(page.count("[data-testid=selection]").await, 0);
        press("zoom-move").await;
        page.drag(middle, (-60.0, 0.0)).await;
        assert!((page.zoom(view).await.1.0 - 0.5).abs() < 0.02, "and back");
        press("zoom-move").await;
        let few = async || -> f64 {
            page.drag((left + 6.0, top + 6.0), (wide - 70.0, high - 12.0)).await;
            page.wait_for("[data-testid=selection]").await;
            let script = "return Number(document.querySelector('[data-testid=selection]').dataset.x)";
            page.script(script).await.as_f64().expect("a number")
        };
        let near = few().await;
        press("zoom-fit").await;
        let all = few().await;
        assert!(near < all, "{near} of the points are in a part of the view, {all} in most of it");
    });
}

/// Trains on the words sample, from the beginning.
async fn words(page: &Page) {
    open(page, "?executor=cpu&sample=none").await;
    page.click("sample-words").await;
    page.click("align").await;
    page.wait_for("[data-testid=status][data-state=training]").await;
}

/// A line is as good forwards as backwards, and hands decide which.
#[test]
fn pairs_made_by_hand_turn_an_alignment_round() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        let wave = |i: usize, step: f32| (i as f32 * step).sin() * 0.01;
        let x = Dense::from_fn(30, 2, |i, j| [i as f32 / 29.0, wave(i, 0.7)][j]);
        let y = Dense::from_fn(30, 2, |i, j| [i as f32 / 29.0 + 3.0, wave(i, 1.3)][j]);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "x.npy", &array(&x)).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        page.aligned().await;
        let forwards = async || -> bool {
            let (_, bytes) = page.take("download-matches").await;
            let text = String::from_utf8(bytes).expect("text");
            let near = text.lines().skip(1).enumerate().filter(|(i, line)| {
                let j: usize = line.split(',').nth(2).and_then(|j| j.parse().ok()).expect("a row");
                j.abs_diff(*i) < j.abs_diff(29 - i)
            });
            near.count() > 15
        };
        let before = forwards().await;

        page.click("pair-mode").await;
        let points = [("view-x", "X"), ("view-y", "Y")];
        let [xs, ys] =
            [page.points_along(points[0].0, 0.5, 4.0).await, page.points_along(points[1].0, 0.5, 4.0).await];
        assert!(xs.len() > 20 && ys.len() > 20, "{} and {} are named", xs.len(), ys.len());
        // A point without an id is named by its row: counted from 1 in words, from 0 as in files.
        let row = |name: &str| -> usize {
            let number: usize = name.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a row");
            if name.contains("row") { number - 1 } else { number }
        };
        for i in [2usize, 9, 20, 27] {
            let j = if before { 29 - i } else { i };
            for (view, wanted, named) in [("view-x", i, &xs), ("view-y", j, &ys)] {
                let (_, at) = named.iter().find(|(name, _)| row(name) == wanted).expect("is somewhere");
                page.view(view).await;
                page.click_at(*at).await;
            }
        }
        assert_eq!(page.text("pair-count").await, "4");
        let pair = "const li = document.querySelector('[data-testid=pair-list] li'); return [li.dataset.x, li.dataset.y]";
        assert_eq!(page.script(pair).await, json!(["2", if before { "27" } else { "2" }]));
        page.shoot("pairs").await;
        page.click("undo-pair").await;
        assert_eq!(page.text("pair-count").await, "3");
        page.click("redo-pair").await;
        page.click("remove-pair-1").await;
        assert_eq!(page.text("pair-count").await, "3");
        page.click("undo-pair").await;

        page.begun("align-pairs").await;
        page.done().await;
        assert_ne!(forwards().await, before, "the pairs have decided");
        assert_eq!(page.text("pair-count").await, "4", "and are still there");

        // They are part of the record, and come back with it.
        let (_, record) = page.take("download-record").await;
        let pairs = formats::write::record::Record::read(&record).expect("a record").pairs;
        assert_eq!(pairs.len(), 4);
        page.click("clear-pairs").await;
        assert_eq!(page.text("pair-count").await, "0");
        page.unfold("more-files").await;
        page.pick("record", "run.json", &record).await;
        page.wait_for("[data-testid=pair-count][data-count='4']").await;

        // Rows of another file are other rows.
        page.pick("file-y", "other.npy", &array(&y.picked(&[1, 2, 3, 4, 5, 6, 7]))).await;
        page.wait_for("[data-testid=pairs-dropped]").await;
        assert!(page.text("pairs-dropped").await.contains("rows of Y"));
        assert_eq!(page.text("pair-count").await, "0");
        assert_eq!(page.count("[data-testid=pair-mode]:disabled").await, 1, "until they are aligned");
    });
}

#[test]
fn a_match_is_confirmed_by_keyboard_and_a_tap_names_a_point() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        page.load_clouds().await;
        page.aligned().await;
        page.wait_for("[data-testid=confirm-3]").await;
        page.script("document.querySelector('[data-testid=confirm-3]').focus()").await;
        page.press(' ').await;
        page.wait_for("[data-testid=pair-count][data-count='1']").await;
        let same = "const row = document.querySelector('[data-testid=confirm-3]').closest('tr').dataset;
                    const li = document.querySelector('[data-testid=pair-list] li').dataset;
                    return row.x === li.x && row.y === li.y";
        assert_eq!(page.script(same).await, json!(true));
        assert_eq!(page.count("[data-testid=confirm-3][aria-pressed=true]").await, 1);
        page.press(' ').await;
        page.wait_for("[data-testid=pair-count][data-count='0']").await;

        let named = page.points_along("view-x", 0.5, 6.0).await;
        let (name, at) = named.first().expect("a point").clone();
        page.hover((5.0, 5.0)).await;
        page.sleep(100).await;
        assert_eq!(page.tooltip().await, None);
        page.tap(at).await;
        page.sleep(200).await;
        assert_eq!(page.tooltip().await, Some(name), "it stays when the finger is gone");
    });
}

#[test]
fn the_plan_and_the_points_move_while_they_are_found() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        words(&page).await;
        page.wait_for("[data-testid=heat-live]").await;
        let picture = "const status = document.querySelector('[data-testid=status]');
                       return [status.dataset.state, status.innerText,
                               document.querySelector('[data-testid=view-live]').toDataURL()]";
        let first = page.script(picture).await;
        loop {
            page.sleep(100).await;
            let next = page.script(picture).await;
            let words = next[1].as_str().unwrap_or_default();
            assert!(
                next[0] == "training" && !words.starts_with("Training networks"),
                "linear maps stood still: {words:?}"
            );
            if next[2] != first[2] {
                break;
            }
        }
        assert!(colours(&page, "heat-live").await > 5, "the plan is drawn");
        page.shoot("training").await;
        page.done().await;
        assert_eq!(page.count("[data-testid=heat-live]").await, 0, "the whole plan takes its place");
    });
}

#[test]
fn the_frame_meter_counts_and_measures() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        words(&page).await;
        page.done().await;
        page.follow("#diagnostics").await;
        page.click("meter-measure").await;
        page.wait_for("[data-testid=meter-scatter-pointed]").await;
        let rows = [
            "meter-charts",
            "meter-points",
            "meter-frames",
            "meter-chart-5000",
            "meter-scatter-first",
            "meter-scatter-moved",
            "meter-scatter-pointed",
        ];
        for row in rows {
            let script = format!(
                "const d = document.querySelector('[data-testid={row}]').dataset; return [d.count, d.typical, d.worst]"
            );
            let figures = page.script(&script).await;
            eprintln!("{row}: {figures}");
            let number =
                |i: usize| figures[i].as_str().and_then(|v| v.parse::<f64>().ok()).expect("a number");
            assert!(number(0) > 0.0 && number(2) >= 0.0, "{row}: {figures}");
        }
        page.shoot("meter").await;
    });
}

#[test]
fn a_phone_has_room_for_all_of_it() {
    with_page(Setup { size: (390, 844), dark: true, ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "x.npy", &array(&x)).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        page.aligned().await;
        page.view("view-live").await;
        page.shoot("phone-stage").await;
        page.click("confirm-3").await;
        page.view("view-aligned").await;
        page.shoot("phone-views").await;
        page.script("document.querySelector('#pairs').scrollIntoView()").await;
        page.shoot("phone-pairs").await;
        let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(page.script(overflow).await, json!(0), "nothing sticks out");
    });
}
