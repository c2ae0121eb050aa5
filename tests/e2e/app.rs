//! The application as people use it: own files, training held and ended, results taken away, bad files.

use align::geometry::Dense;
use serde_json::json;

use crate::browser::{Setup, open, with_page};
use crate::hands::{POINTS, array, clouds, csv, table};

#[test]
fn own_files_by_picker_and_by_drop_are_aligned_and_taken_away() {
    with_page(Setup { size: (1280, 1400), ..Setup::default() }, async |page| {
        let (x, y, places) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "cells.csv", &csv(&x, "c")).await;
        page.drop_on("drop-y", "latent.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        assert!(
            page.text("size-x").await.replace(char::is_whitespace, "").contains("90×6"),
            "ids and words are no numbers"
        );
        page.shoot("own-files").await;
        page.aligned().await;
        page.shoot("own-result").await;

        let (name, bytes) = page.take("download-matches").await;
        assert_eq!(name, "matches.csv");
        let text = String::from_utf8(bytes).expect("text");
        let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!(lines.len(), POINTS);
        assert_eq!(lines[4][1], "c4", "ids are those of the file");
        let right = lines.iter().enumerate().filter(|(i, line)| line[2] == places[*i].to_string()).count();
        assert!(right > 80, "{right} of 90 are right");

        let (name, bytes) = page.take("download-plan-dense").await;
        let plan = table(&name, &bytes);
        assert_eq!((plan.rows, plan.cols), (POINTS, POINTS));
        assert!((plan.values.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        let (name, bytes) = page.take("download-embeddings-x").await;
        assert_eq!(table(&name, &bytes).rows, POINTS);
        let (name, bytes) = page.take("download-record").await;
        let record = formats::write::record::Record::read(&bytes).unwrap_or_else(|t| panic!("{name}: {t}"));
        assert_eq!(record.inputs.len(), 2);
        assert_eq!(record.inputs[0].bytes, csv(&x, "c").len() as u64);
        // Settings come back from the record.
        page.script("document.querySelectorAll('[data-testid=more-files], [data-testid=advanced]').forEach(fold => fold.open = true)")
            .await;
        let changed = String::from_utf8(bytes).expect("text").replace("\"steps\": 300", "\"steps\": 123");
        page.pick("record", "run.json", changed.as_bytes()).await;
        let script = "return document.querySelector('[data-testid=set-steps]').value";
        for _ in 0..2000 {
            if page.script(script).await == json!("123") {
                break;
            }
            page.sleep(50).await;
        }
        assert_eq!(page.script(script).await, json!("123"));
        let (_, bytes) = page.take("download-everything").await;
        assert_eq!(&bytes[..2], b"PK");
        let (_, bytes) = page.take("download-onnx-x").await;
        assert!(bytes.len() > 100);

        // The model goes on to new points, here and after a reload.
        let (name, model) = page.take("download-model").await;
        assert_eq!(name, "model.safetensors");
        let (new_x, new_y, new_places) = clouds(6);
        // Of an archive with several arrays one is taken, and the others are offered.
        let mut archive = formats::write::zip::Zip::new();
        archive.add("first.npy", &array(&x)).expect("added");
        archive.add("second.npy", &array(&x.picked(&[0, 1, 2, 3, 4]))).expect("added");
        page.pick("file-x", "both.npz", &archive.finish().expect("written")).await;
        page.wait_for("[data-testid=part-x]").await;
        for reload in [false, true] {
            if reload {
                open(&page, "?executor=cpu&sample=none").await;
                page.pick("model", "model.safetensors", &model).await;
            }
            page.pick("new-x", "new.npy", &array(&new_x)).await;
            page.pick("new-y", "new.npy", &array(&new_y)).await;
            page.click("apply").await;
            page.wait_for("[data-testid=new-badge]").await;
            let (_, bytes) = page.take("download-matches").await;
            let text = String::from_utf8(bytes).expect("text");
            let right = text.lines().skip(1).enumerate();
            let right =
                right.filter(|(i, line)| line.split(',').nth(2) == Some(&new_places[*i].to_string())).count();
            assert!(right > 75, "{right} of 90 new points are right, reload: {reload}");
        }
    });
}

#[test]
fn a_run_can_be_held_stepped_and_ended_early() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.click("align").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=paused]").await;
        page.sleep(400).await;
        let held = page.text("count").await;
        page.sleep(400).await;
        assert_eq!(page.text("count").await, held, "a held run stands still");
        page.click("step").await;
        page.click("pause").await;
        page.wait_for("[data-testid=status][data-state=training]").await;
        page.click("stop").await;
        page.done().await;
        assert!(page.metric("spearman").await > 0.2, "what was learned is kept");
    });
}

#[test]
fn entropic_gromov_wasserstein_is_one_click_away() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.aligned().await;
        page.click("compare").await;
        page.wait_for("[data-testid=compared-spearman]").await;
        let script = "return Number(document.querySelector('[data-testid=compared-gw-loss]').dataset.value)";
        assert!(page.script(script).await.as_f64().is_some_and(|loss| loss > 0.0));
    });
}

#[test]
fn known_pairs_decide_where_the_data_cannot() {
    with_page(Setup::default(), async |page| {
        // A line is as good forwards as backwards.
        let x = Dense::from_fn(60, 2, |i, j| [i as f32 / 59.0, (i as f32 * 0.7).sin() * 0.01][j]);
        let y =
            Dense::from_fn(60, 2, |i, j| [(59 - i) as f32 / 59.0 + 3.0, (i as f32 * 1.3).cos() * 0.01][j]);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "x.npy", &array(&x)).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-y]").await;
        page.unfold("more-files").await;
        for forwards in [true, false] {
            let pair = |i: usize| if forwards { i } else { 59 - i };
            let text: String = [3, 10, 17, 28, 45, 55].map(|i| format!("{i},{}\n", pair(i))).concat();
            page.pick("pairs", "pairs.csv", text.as_bytes()).await;
            page.sleep(500).await;
            page.aligned().await;
            let (_, bytes) = page.take("download-matches").await;
            let text = String::from_utf8(bytes).expect("text");
            let near = text.lines().skip(1).enumerate().filter(|(i, line)| {
                let j: usize = line.split(',').nth(2).and_then(|j| j.parse().ok()).expect("a row");
                j.abs_diff(pair(*i)) <= 6
            });
            let near = near.count();
            assert!(near > 45, "forwards: {forwards}: {near} of 60 lie near");
        }
    });
}

#[test]
fn bad_files_say_what_is_wrong_and_nothing_is_lost() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        let (x, y, _) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "good.csv", &csv(&x, "c")).await;
        page.pick("file-y", "y.npy", &array(&y)).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        let cut = &array(&x)[..500];
        let text = String::from_utf8(csv(&x, "c")).expect("text");
        let third = text.lines().nth(3).expect("a line").to_owned();
        let cells: Vec<&str> = third.rsplitn(2, ',').collect();
        let words = text.replacen(&third, &format!("{},many", cells[1]), 1);
        let ragged = text.replacen(&third, cells[1], 1);
        let cases: [(&str, &[u8], &str); 8] = [
            ("empty.csv", b"", "empty"),
            ("cut.npy", cut, "ends early"),
            ("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
            ("table.xlsx", b"PK\x03\x04 xl/workbook.xml", "zip"),
            ("words.csv", words.as_bytes(), "many"),
            ("ragged.csv", ragged.as_bytes(), "cut_is_named_below"),
            ("data.rds", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x8b\xe0\x02\0", ""),
            (
                "pickled.npy",
                b"\x93NUMPY\x01\0\x36\0{'descr': '|O', 'fortran_order': False, 'shape': (3,)}\n",
                "bject",
            ),
        ];
        for (name, bytes, expected) in cases {
            page.pick("file-x", name, bytes).await;
            page.wait_for("[data-testid=failure-x]").await;
            let said = page.text("failure-x").await;
            assert!(said.contains(name), "{name} is named: {said}");
            if !expected.is_empty() && expected != "cut_is_named_below" {
                assert!(said.to_lowercase().contains(&expected.to_lowercase()), "{name}: {said}");
            }
            assert!(page.text("name-x").await.contains("good.csv"), "{name}: what was loaded stays");
        }
        page.shoot("bad-file").await;
        page.aligned().await;
        // Missing values have to be decided about first.
        let missing = text.replacen(&third, &format!("{},", cells[1]), 1);
        page.pick("file-x", "gaps.csv", missing.as_bytes()).await;
        page.wait_for("[data-testid=missing-x]").await;
        assert_eq!(page.count("[data-testid=align]:disabled").await, 1, "not before that is decided");
        page.click("missing-x-mean").await;
        page.wait_for("[data-testid=align]:not(:disabled)").await;
        page.aligned().await;
    });
}

#[test]
fn a_small_alignment_runs_on_webgpu() {
    with_page(Setup::default(), async |page| {
        let (x, y, places) = clouds(5);
        let some: Vec<usize> = (0..40).collect();
        let others: Vec<usize> = some.iter().map(|&i| places[i]).collect();
        open(&page, "?executor=gpu&sample=none").await;
        page.wait_for("[data-testid=executor][data-executor=gpu]").await;
        page.pick("file-x", "x.npy", &array(&x.picked(&some))).await;
        page.pick("file-y", "y.npy", &array(&y.picked(&others))).await;
        page.wait_for("[data-testid=size-y]").await;
        page.click("preset-quick").await;
        page.aligned().await;
        page.wait_for("[data-testid=status][data-executor=gpu]").await;
        assert!(page.metric("spearman").await > 0.3);
    });
}

#[test]
fn distance_matrices_are_enough() {
    with_page(Setup::default(), async |page| {
        let (x, y, places) = clouds(5);
        let distances = |points: &Dense| {
            Dense::from_fn(POINTS, POINTS, |i, j| {
                let square = |(a, b): (&f32, &f32)| (a - b).powi(2);
                points.row(i).iter().zip(points.row(j)).map(square).sum::<f32>().sqrt()
            })
        };
        open(&page, "?executor=cpu&sample=none").await;
        page.unfold("more-files").await;
        page.pick("distances-x", "dx.npy", &array(&distances(&x))).await;
        page.pick("distances-y", "dy.npy", &array(&distances(&y))).await;
        // Pairs are of the rows of these matrices.
        let pairs: String = places.iter().enumerate().map(|(i, j)| format!("{i},{j}\n")).collect();
        page.pick("truth", "truth.csv", format!("x,y\n{pairs}").as_bytes()).await;
        page.aligned().await;
        assert!(page.metric("foscttm").await < 0.1, "the truth is known as well");
        let (_, bytes) = page.take("download-matches").await;
        let text = String::from_utf8(bytes).expect("text");
        let right = text.lines().skip(1).enumerate();
        let right = right.filter(|(i, line)| line.split(',').nth(2) == Some(&places[*i].to_string())).count();
        assert!(right > 60, "{right} of 90 are right");
    });
}

#[test]
fn the_same_file_on_both_sides_is_allowed_and_said() {
    with_page(Setup::default(), async |page| {
        let (x, ..) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "x.npy", &array(&x)).await;
        page.pick("file-y", "x.npy", &array(&x)).await;
        page.wait_for("[data-testid=same-file]").await;
        page.aligned().await;
        assert!(page.metric("spearman").await > 0.8);
    });
}
