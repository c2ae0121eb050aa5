//! What lies beside a run: how a file is read, files that do not fit, work that is given up.

use serde_json::json;

use crate::browser::{Setup, open, with_page};
use crate::hands::{array, clouds, csv};

#[test]
fn the_decimal_sign_and_the_columns_are_ones_own_choice() {
    with_page(Setup { size: (1280, 1600), ..Setup::default() }, async |page| {
        let (x, ..) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "cells.csv", &csv(&x, "c")).await;
        page.wait_for("[data-testid=size-x]").await;
        page.script("document.querySelectorAll('[data-testid=fold-x], [data-testid=ignored-columns-x]').forEach(f => f.open = true)").await;
        let size = async || page.text("size-x").await.replace(char::is_whitespace, "");
        assert_eq!(size().await, "90×6");
        page.click("ignore-x-3").await;
        page.wait_for("[data-testid=ignore-x-3]:checked").await;
        for _ in 0..2000 {
            if size().await == "90×5" {
                break;
            }
            page.sleep(50).await;
        }
        assert_eq!(size().await, "90×5", "a column is left out");

        // A comma may be a decimal sign or nothing of the kind: that is told by hand where the file leaves it open.
        let text: String =
            (0..30).map(|i| format!("{},{};{},{}\n", i, i % 7 + 1, 2 * i, i % 3 + 1)).collect();
        page.pick("file-y", "komma.csv", text.as_bytes()).await;
        page.wait_for("[data-testid=decimal-y]").await;
        assert!(page.text("size-y").await.replace(char::is_whitespace, "").starts_with("30×2"));
        let choose = |value: &str| {
            format!(
                "const list = document.querySelector('[data-testid=decimal-y]'); list.value = '{value}';
                 list.dispatchEvent(new Event('change', {{ bubbles: true }}));"
            )
        };
        page.script(&choose("point")).await;
        page.wait_for("[data-testid=failure-y]").await;
        page.script(&choose("comma")).await;
        page.wait_for("[data-testid=size-y]").await;
        for _ in 0..2000 {
            if page.count("[data-testid=failure-y]").await == 0 {
                break;
            }
            page.sleep(50).await;
        }
        assert_eq!(page.count("[data-testid=failure-y]").await, 0);
        page.shoot("switches").await;
    });
}

#[test]
fn files_that_do_not_fit_are_told_before_aligning() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.wait_for("[data-testid=align]:not(:disabled)").await;
        let (x, ..) = clouds(5);
        page.unfold("more-files").await;
        page.pick("shared-x", "shared.npy", &array(&x)).await;
        page.says("why-not", "for X only").await;
        page.click("remove-shared-x").await;
        page.wait_for("[data-testid=align]:not(:disabled)").await;
        page.pick("distances-y", "d.npy", &array(&x)).await;
        page.says("why-not", "square").await;
        page.click("remove-distances-y").await;
        page.wait_for("[data-testid=align]:not(:disabled)").await;

        // Pairs are read again when a table has changed, and say so if they no longer fit.
        page.pick("truth", "truth.csv", b"80,1\n81,2\n82,3\n83,4\n").await;
        page.wait_for("[data-testid=remove-truth]").await;
        let some: Vec<usize> = (0..50).collect();
        page.pick("file-x", "part.npy", &array(&x.picked(&some))).await;
        page.wait_for("[data-testid=failure-truth]").await;
    });
}

#[test]
fn a_comparison_is_given_up_and_nothing_is_lost() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=digits").await;
        page.done().await;
        page.wait_for("[data-testid=compare]:not(:disabled)").await;
        page.click("compare").await;
        page.wait_for("[data-testid=progress-compare][aria-valuenow]").await;
        // The result is there all the while.
        let (name, _) = page.take("download-matches").await;
        assert_eq!(name, "matches.csv");
        assert_eq!(page.count("[data-testid=notice]").await, 0);
        page.click("cancel-compare").await;
        page.wait_for("[data-testid=compare][data-state=idle]").await;
        assert_eq!(page.count("[data-testid=progress-compare]").await, 0);
        assert_eq!(page.count("[data-testid=view-compared]").await, 0);
        page.click("compare").await;
        page.wait_for("[data-testid=compared-spearman]").await;
        let script =
            "return Number(document.querySelector('[data-testid=compared-gw-loss]').dataset.value) > 0";
        assert_eq!(page.script(script).await, json!(true));
    });
}
