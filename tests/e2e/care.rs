//! What the page takes care of by itself: new rows in another order, files that need another way of reading, data that
//! cannot be aligned, and files that would be lost.

use align::geometry::Dense;
use serde_json::json;

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{array, clouds, csv};

/// A table with these columns, in this order; some cells may be empty.
fn named(points: &Dense, names: &[(&str, usize)], gap: Option<(usize, usize)>) -> Vec<u8> {
    let head: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let mut text = head.join(",") + "\n";
    for i in 0..points.rows() {
        let cell = |(_, j): &(&str, usize)| match gap {
            Some(gap) if gap == (i, *j) => String::new(),
            _ => points.at(i, *j).to_string(),
        };
        text += &(names.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text.into_bytes()
}

const NAMES: [(&str, usize); 6] = [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 4), ("f", 5)];

/// Two clouds with named columns, aligned.
async fn aligned_clouds(page: &Page) {
    let (x, y, _) = clouds(5);
    open(page, "?executor=cpu&sample=none").await;
    page.pick("file-x", "x.csv", &named(&x, &NAMES, None)).await;
    page.pick("file-y", "y.npy", &array(&y)).await;
    page.wait_for("[data-testid=size-x]").await;
    page.wait_for("[data-testid=size-y]").await;
    page.click("preset-quick").await;
    page.aligned().await;
}

/// How many of the new rows are matched as they should be.
async fn right(page: &Page, places: &[usize]) -> usize {
    let (_, bytes) = page.take("download-matches").await;
    let text = String::from_utf8(bytes).expect("text");
    let row = |line: &str, at: usize| line.split(',').nth(at).and_then(|cell| cell.parse::<usize>().ok());
    let lines = text.lines().skip(1);
    lines.filter(|line| row(line, 0).map(|x| places[x]) == row(line, 2)).count()
}

#[test]
fn new_rows_are_matched_by_the_names_of_their_columns() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        aligned_clouds(&page).await;
        let (new_x, new_y, places) = clouds(6);
        page.pick("new-y", "new_y.npy", &array(&new_y)).await;
        // Lacking and unknown columns are named at the file, and nothing can be pressed.
        let renamed = NAMES.map(|(name, j)| if name == "c" { ("gamma", j) } else { (name, j) });
        page.pick("new-x", "renamed.csv", &named(&new_x, &renamed, None)).await;
        page.wait_for("[data-testid=misfit-new-x]").await;
        let said = page.text("misfit-new-x").await;
        assert!(said.contains("'c'") && said.contains("'gamma'"), "{said}");
        assert_eq!(page.count("[data-testid=apply]:disabled").await, 1);
        assert!(page.text("why-not-apply").await.contains("'c'"), "the reason is beside the button");
        page.shoot("new-rows-misfit").await;
        // The same columns in another order, and one more.
        let mut turned = NAMES.to_vec();
        turned.reverse();
        turned.insert(2, ("extra", 0));
        page.pick("new-x", "turned.csv", &named(&new_x, &turned, None)).await;
        page.wait_for("[data-testid=follows-new-x]").await;
        let said = page.script(
            "return [...document.querySelectorAll('[data-testid=follows-new-x]')].map(e => e.innerText).join(' ')",
        );
        let said = said.await.as_str().unwrap_or_default().to_owned();
        assert!(said.contains("matched by their names") && said.contains("'extra'"), "{said}");
        page.click("apply").await;
        page.wait_for("[data-testid=new-badge]").await;
        let right = right(&page, &places).await;
        assert!(right > 70, "{right} of 90 new rows are right");
    });
}

#[test]
fn missing_values_of_new_rows_are_asked_about_where_they_are() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        aligned_clouds(&page).await;
        let (new_x, new_y, places) = clouds(6);
        page.pick("new-y", "new_y.npy", &array(&new_y)).await;
        page.pick("new-x", "gaps.csv", &named(&new_x, &NAMES, Some((7, 2)))).await;
        page.wait_for("[data-testid=misfit-new-x]").await;
        assert!(page.text("misfit-new-x").await.contains("1 value is missing in 1 row"));
        assert_eq!(page.count("[data-testid=apply]:disabled").await, 1);
        page.click("missing-new-x-drop-rows").await;
        page.wait_for("[data-testid=follows-new-x]").await;
        assert!(page.text("follows-new-x").await.contains("1 row is left out"));
        page.shoot("new-rows-missing").await;
        page.click("apply").await;
        page.wait_for("[data-testid=new-badge]").await;
        assert_eq!(page.count("[data-testid=notice]").await, 0);
        let (_, bytes) = page.take("download-matches").await;
        assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 90, "a header and 89 rows");
        page.click("missing-new-x-mean").await;
        page.wait_for("[data-testid=missing-new-x-mean][aria-pressed=true]").await;
        page.click("apply").await;
        page.wait_for("[data-testid=apply][data-state=done]").await;
        let right = right(&page, &places).await;
        assert!(right > 70, "{right} of 90 new rows are right");
    });
}

#[test]
fn files_that_cannot_be_read_as_they_are_offer_other_ways() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        let text = String::from_utf8(csv(&x, "c")).expect("text");
        let third = text.lines().nth(3).expect("a line").to_owned();
        let cells: Vec<&str> = third.rsplitn(2, ',').collect();
        let words = text.replacen(&third, &format!("{},many", cells[1]), 1);
        page.pick("file-x", "words.csv", words.as_bytes()).await;
        page.wait_for("[data-testid=failure-x]").await;
        page.shoot("ways").await;
        page.click("way-x-leave-out").await;
        page.wait_for("[data-testid=size-x]").await;
        assert!(page.text("size-x").await.replace(char::is_whitespace, "").contains("90×5"));
        assert_eq!(page.count("[data-testid=failure-x]").await, 0);
        // Points in columns, with a row of labels.
        let head: String = (0..90).map(|j| format!(",cell{j}")).collect();
        let kinds: String = (0..90).map(|j| format!(",kind {}", j % 3)).collect();
        let genes: String = (0..6)
            .map(|g| {
                let values: String = (0..90).map(|i| format!(",{}", x.at(i, g))).collect();
                format!("GENE{g}{values}\n")
            })
            .collect();
        let turned = format!("gene{head}\ncelltype{kinds}\n{genes}");
        page.pick("file-x", "turned.csv", turned.as_bytes()).await;
        page.wait_for("[data-testid=failure-x]").await;
        page.click("way-x-transpose").await;
        page.wait_for("[data-testid=card-x] [data-testid=size-x]").await;
        for _ in 0..2000 {
            if page.text("size-x").await.replace(char::is_whitespace, "").contains("90×6") {
                break;
            }
            page.sleep(50).await;
        }
        assert!(page.text("size-x").await.replace(char::is_whitespace, "").contains("90×6"));
        page.wait_for("[data-testid=align]:not(:disabled)").await;
    });
}

#[test]
fn data_that_cannot_be_aligned_is_told_at_the_file() {
    with_page(Setup::default(), async |page| {
        let (_, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        for (name, text, said) in [
            ("few.csv", "a,b\n1,2\n3,4\n5,7\n", "3 rows"),
            ("same.csv", "a,b\n1,2\n1,2\n1,2\n1,2\n1,2\n", "the same"),
        ] {
            page.pick("file-x", name, text.as_bytes()).await;
            for _ in 0..2000 {
                if page.count("[data-testid=unusable-x]").await == 1
                    && page.text("unusable-x").await.contains(said)
                {
                    break;
                }
                page.sleep(50).await;
            }
            assert!(page.text("unusable-x").await.contains(said), "{name}");
            assert_eq!(page.count("[data-testid=align]:disabled").await, 1, "{name}");
            eprintln!("{name}");
            page.says("why-not", said).await;
        }
        let odd = format!(
            "a,b\n{}",
            (0..40)
                .map(|i| format!("{},{}\n", i % 7, if i == 16 { 1e30 } else { 0.5 * f64::from(i % 9) }))
                .collect::<String>()
        );
        page.pick("file-x", "odd.csv", odd.as_bytes()).await;
        for _ in 0..2000 {
            if page.text("card-x").await.contains("Row 17, column 'b': 1e30") {
                break;
            }
            page.sleep(50).await;
        }
        assert!(page.text("card-x").await.contains("Row 17, column 'b': 1e30"));
        page.wait_for("[data-testid=align]:not(:disabled)").await;
    });
}

#[test]
fn own_files_and_their_pairs_come_back_after_a_sample() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        page.load_clouds().await;
        page.click("preset-quick").await;
        page.aligned().await;
        page.click("confirm-0").await;
        page.click("confirm-1").await;
        page.click("sample-words").await;
        page.done().await;
        let (_, bytes) = page.take("download-matches").await;
        let text = String::from_utf8(bytes).expect("text");
        let same = text.lines().skip(1).filter(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            !cells[1].is_empty() && cells[1] == cells[3]
        });
        let same = same.count();
        assert!(same > 40, "{same} words are matched with themselves, by name");
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("0,leg,")), "words are the ids");
        page.shoot("back-to-files").await;
        page.click("back-to-files").await;
        page.wait_for("[data-testid=size-y]").await;
        assert!(page.text("name-x").await.contains("x.npy"));
        let count = "return document.querySelector('[data-testid=pair-count]')?.dataset.count";
        for _ in 0..2000 {
            if page.script(count).await == json!("2") {
                break;
            }
            page.sleep(50).await;
        }
        assert_eq!(page.script(count).await, json!("2"));
        assert_eq!(page.count("[data-testid=back-to-files]").await, 0);
        // A file beside the boxes changes nothing.
        page.drop_on("nav-diagnostics", "astray.csv", b"1,2\n3,4\n").await;
        page.wait_for("[data-testid=stray]").await;
        assert!(page.text("stray").await.contains("astray.csv"));
        page.shoot("stray").await;
    });
}
