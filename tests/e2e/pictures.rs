//! Pictures to take away and pictures in words: every one is saved, read back and looked at.

use std::path::Path;

use serde_json::{Value, json};

use crate::browser::{Page, Setup, open, with_page};
use crate::hands::{POINTS, clouds, csv};

/// Reads an SVG file in the browser: whether it is well-formed, its points, texts and lines.
const READ: &str = "
    const file = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');
    if (file.querySelector('parsererror')) return { broken: file.querySelector('parsererror').textContent };
    const all = css => [...file.querySelectorAll(css)];
    const root = file.documentElement;
    return {
        size: [root.getAttribute('width'), root.getAttribute('height')].map(Number),
        discs: all('[data-part=points] circle').length,
        diamonds: all('[data-part=points] path').length,
        lines: all('[data-part=points] polyline').length,
        curves: all('[data-part=curves] polyline').length,
        shades: all('[data-part=plan] path').length,
        images: all('image').length,
        texts: all('text').map(t => t.textContent),
        title: file.querySelector('title').textContent,
        words: file.querySelector('desc').textContent,
    };";

/// Decodes a PNG file in the browser: its size, how many colours it has, and the share of its most common one.
const DECODE: &str = "
    const done = arguments[arguments.length - 1];
    createImageBitmap(new Blob([new Uint8Array(arguments[0])], { type: 'image/png' })).then(image => {
        const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext('2d');
        pen.drawImage(image, 0, 0);
        const data = pen.getImageData(0, 0, image.width, image.height).data, seen = new Map();
        for (let i = 0; i < data.length; i += 4) {
            const colour = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
            seen.set(colour, (seen.get(colour) ?? 0) + 1);
        }
        done([image.width, image.height, seen.size, Math.max(...seen.values()) / (image.width * image.height)]);
    }, error => done(String(error)));";

/// Leaves a file beside the screenshots, for a person to look at.
fn keep(name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots/pictures");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(name), bytes).expect("written");
}

impl Page {
    /// Saves a picture as SVG, and tells what is in it and what the file is called.
    async fn vectors(&self, picture: &str) -> (Value, String) {
        let (name, bytes) = self.take(&format!("save-svg-{picture}")).await;
        keep(&name, &bytes);
        let text = String::from_utf8(bytes).expect("text");
        let read = self.client.execute(READ, vec![json!(text)]).await.expect("is read");
        assert_eq!(read["broken"], json!(null), "{name}");
        (read, name)
    }
}

fn texts(read: &Value) -> Vec<&str> {
    read["texts"].as_array().expect("texts").iter().filter_map(Value::as_str).collect()
}

#[test]
fn every_picture_is_saved_as_vectors_and_as_pixels() {
    with_page(Setup { size: (1280, 1000), ..Setup::default() }, async |page| {
        let (x, y, places) = clouds(5);
        open(&page, "?executor=cpu&sample=none").await;
        page.pick("file-x", "cells.csv", &csv(&x, "c")).await;
        page.pick("file-y", "other.csv", &csv(&y, "d")).await;
        page.wait_for("[data-testid=size-x]").await;
        page.wait_for("[data-testid=size-y]").await;
        let pairs: String = places.iter().enumerate().map(|(i, j)| format!("c{i},d{j}\n")).collect();
        page.unfold("more-files").await;
        page.pick("truth", "truth.csv", format!("x,y\n{pairs}").as_bytes()).await;
        page.wait_for("[data-testid=remove-truth]").await;
        page.aligned().await;

        for picture in ["x", "y", "aligned", "loss", "eps", "marginal", "entropy", "plan", "closer"] {
            let (read, name) = page.vectors(picture).await;
            assert_eq!(name, format!("cells-csv-and-other-csv_{picture}.svg"));
            let number = |key: &str| read[key].as_u64().expect("a number") as usize;
            let (n, m) = match picture {
                "x" => (POINTS, 0),
                "y" => (0, POINTS),
                "aligned" => (POINTS, POINTS),
                _ => (0, 0),
            };
            assert_eq!((number("discs"), number("diamonds"), number("images")), (n, m, 0), "{picture}");
            let words = texts(&read);
            assert!(words.contains(&read["title"].as_str().expect("a title")), "{picture}: {words:?}");
            assert!(
                words.iter().any(|text| text.contains("cells.csv and other.csv")),
                "{picture}: {words:?}"
            );
            assert!(read["words"].as_str().is_some_and(|told| told.len() > 20), "{picture} is told in words");
            match picture {
                "x" | "y" | "aligned" => {
                    for label in ["lump, 0", "lump, 1", "lump, 2"] {
                        assert!(words.contains(&label), "{picture}: {words:?}");
                    }
                }
                "plan" => assert!(number("shades") > 5, "{read}"),
                "closer" => assert_eq!(number("curves"), 2, "and chance"),
                _ => {
                    let fits = page.count("#training .legend li").await;
                    assert!(
                        fits > 0 && number("curves") == fits,
                        "{picture}: {} of {fits}",
                        number("curves")
                    );
                    assert!(
                        words.contains(&"300") && words.contains(&"training step"),
                        "{picture}: {words:?}"
                    );
                }
            }

            let (name, bytes) = page.take(&format!("save-png-{picture}")).await;
            assert_eq!(name, format!("cells-csv-and-other-csv_{picture}.png"));
            assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
            keep(&name, &bytes);
            let decoded = page.client.execute_async(DECODE, vec![json!(bytes)]).await.expect("is decoded");
            let [wide, high] = [0, 1].map(|i| read["size"][i].as_f64().expect("a size"));
            assert_eq!((decoded[0].as_f64(), decoded[1].as_f64()), (Some(2.0 * wide), Some(2.0 * high)));
            let (colours, most) =
                (decoded[2].as_u64().expect("a number"), decoded[3].as_f64().expect("a share"));
            assert!(colours > 20 && most < 0.995, "{picture}: {colours} colours, {most} of one");
        }

        let (name, bytes) = page.take("download-figures").await;
        assert_eq!((name.as_str(), &bytes[..2]), ("cells-csv-and-other-csv_figures.zip", &b"PK"[..]));
        let listed = String::from_utf8_lossy(&bytes);
        for picture in ["x", "aligned", "loss", "plan", "closer"] {
            assert!(listed.contains(&format!("cells-csv-and-other-csv_{picture}.svg")), "{picture}");
        }
        assert!(!listed.contains("_compared.svg"), "there is none");

        // The words on the page are those of what is drawn.
        let about = page
            .script("return document.querySelector('[data-testid=about-view-aligned]').textContent")
            .await;
        let about = about.as_str().expect("words");
        assert!(about.starts_with("90 points of X, as discs, and 90 of Y, as diamonds"), "{about}");
        assert!(about.contains("3 labels: lump, 0 30, lump, 1 30, lump, 2 30."), "{about}");
        let loss = page.text("told-loss").await;
        // It may have converged a little earlier.
        assert!(loss.contains("300 steps") && loss.contains("fell from"), "{loss}");
        assert!(page.text("told-plan").await.contains("of the mass lies within a twentieth of the diagonal"));
        assert!(
            page.text("told-closer").await.starts_with("Of 90 true pairs"),
            "{}",
            page.text("told-closer").await
        );
        page.unfold("curves-table").await;
        page.wait_for("[data-testid=curves-table] tbody tr").await;
        let fits = page.count("#training .legend li").await;
        assert_eq!(page.count("[data-testid=curves-table] tbody tr").await, fits);
        page.script("document.querySelector('#training').scrollIntoView()").await;
        page.shoot("curves-in-words").await;
        page.script("document.querySelector('.views').scrollIntoView()").await;
        page.shoot("views-to-save").await;
    });
}

#[test]
fn pictures_are_for_paper_or_as_on_the_page() {
    with_page(Setup { size: (1280, 1000), dark: true, ..Setup::default() }, async |page| {
        open(&page, "?executor=cpu&sample=words").await;
        page.done().await;
        let ground = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.split("fill=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
        };
        let (_, bytes) = page.take("save-svg-aligned").await;
        assert_eq!(ground(&bytes).as_deref(), Some("#ffffff"));
        page.click("pictures-as-shown").await;
        page.click("show-lines").await;
        page.script("document.querySelector('[data-view=view-aligned] [data-testid=zoom-in]').click()").await;
        page.sleep(300).await;
        let (_, bytes) = page.take("save-svg-aligned").await;
        assert_eq!(ground(&bytes).as_deref(), Some("#10191e"));
        keep("dark-and-near.svg", &bytes);
        let text = String::from_utf8(bytes).expect("text");
        let read = page.client.execute(READ, vec![json!(text)]).await.expect("is read");
        assert!(
            read["lines"].as_u64().is_some_and(|lines| lines > 50),
            "lines between matches are drawn too"
        );
        let discs = read["discs"].as_u64().expect("a number");
        assert!(discs > 20 && discs < 351, "nearer, fewer points are in sight: {discs}");
        assert!(texts(&read).contains(&"animal"), "{:?}", texts(&read));
        let (name, bytes) = page.take("save-png-aligned").await;
        keep(&format!("dark-{name}"), &bytes);
    });
}
