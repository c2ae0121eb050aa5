//! What a visitor's hands do: give files, press, wait, take files away; and the data they bring.

use align::geometry::Dense;
use compute::rng::Rng;
use formats::write::npy;
use formats::{Bytes, Choices, NoWatch};
use serde_json::Value;

use crate::browser::{Page, open_at};
use crate::server::MOUNT;
use crate::{LOOK, PATIENCE};

pub(crate) const POINTS: usize = 90;

/// Three lumps in six dimensions, and the same rows rotated and in another order: `(x, y, the match of each x)`.
pub(crate) fn clouds(seed: u64) -> (Dense, Dense, Vec<usize>) {
    let mut rng = Rng::new(seed);
    let centres = Rng::new(77).fill(18, -3.0, 3.0);
    let x = Dense::from_fn(POINTS, 6, |i, j| {
        centres[(i % 3) * 6 + j] + (1.0 + j as f32) * 0.25 * rng.uniform(-1.0, 1.0)
    });
    let mut turned = x.clone();
    for (a, angle) in [0.7f32, -0.4, 1.1, 0.3, 0.9].into_iter().enumerate() {
        let (s, c) = angle.sin_cos();
        for i in 0..POINTS {
            let row = turned.row_mut(i);
            (row[a], row[a + 1]) = (c * row[a] - s * row[a + 1], s * row[a] + c * row[a + 1]);
        }
    }
    let order: Vec<usize> = (0..POINTS).map(|i| (i * 37 + 11) % POINTS).collect();
    let mut places = vec![0; POINTS];
    order.iter().enumerate().for_each(|(j, &i)| places[i] = j);
    (x, turned.picked(&order), places)
}

/// A table as a spreadsheet would save it: an index without a name, a column of words, numbers.
pub(crate) fn csv(points: &Dense, stem: &str) -> Vec<u8> {
    let mut text = String::from(",group,a,b,c,d,e,f\r\n");
    for i in 0..points.rows() {
        let numbers: Vec<String> = points.row(i).iter().map(f32::to_string).collect();
        text += &format!("{stem}{i},\"lump, {}\",{}\r\n", i % 3, numbers.join(","));
    }
    text.into_bytes()
}

pub(crate) fn array(points: &Dense) -> Vec<u8> {
    npy::matrix(points.rows(), points.cols(), points.data()).expect("written")
}

impl Page {
    /// Gives a file to an input, as the picker would.
    pub(crate) async fn pick(&self, testid: &str, name: &str, bytes: &[u8]) {
        self.give(
            testid,
            name,
            bytes,
            "target.files = files; target.dispatchEvent(new Event('change', { bubbles: true }));",
        )
        .await;
    }

    /// Drops a file.
    pub(crate) async fn drop_on(&self, testid: &str, name: &str, bytes: &[u8]) {
        let script = "for (const kind of ['dragenter', 'dragover', 'drop'])
            target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));";
        self.give(testid, name, bytes, script).await;
    }

    /// Both clouds as files of the visitor's own, read; returns the match of each x.
    pub(crate) async fn load_clouds(&self) -> Vec<usize> {
        self.load_clouds_at(MOUNT, "executor=cpu").await
    }

    /// The same, with the app from another folder of the host and with these words in its address.
    pub(crate) async fn load_clouds_at(&self, folder: &str, words: &str) -> Vec<usize> {
        let (x, y, places) = clouds(5);
        open_at(self, folder, &format!("?{words}&sample=none")).await;
        self.pick("file-x", "x.npy", &array(&x)).await;
        self.pick("file-y", "y.npy", &array(&y)).await;
        self.wait_for("[data-testid=size-x]").await;
        self.wait_for("[data-testid=size-y]").await;
        places
    }

    async fn give(&self, testid: &str, name: &str, bytes: &[u8], then: &str) {
        self.wait_for(&format!("[data-testid={testid}]")).await;
        let script = format!(
            "const target = document.querySelector('[data-testid={testid}]');
             const transfer = new DataTransfer();
             transfer.items.add(new File([new Uint8Array({bytes:?})], {name:?}));
             const files = transfer.files;
             {then}"
        );
        self.script(&script).await;
    }

    /// Opens a fold.
    pub(crate) async fn unfold(&self, testid: &str) {
        self.wait_for(&format!("[data-testid={testid}]")).await;
        self.script(&format!("document.querySelector('[data-testid={testid}]').open = true")).await;
    }

    /// Waits until these words stand there, whatever stood there before.
    pub(crate) async fn says(&self, testid: &str, words: &str) {
        let script = format!(
            "return document.querySelector('[data-testid={testid}]')?.innerText.includes({words:?}) ?? false"
        );
        for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
            if self.script(&script).await == true {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        let body = self.script("return document.body.innerText").await;
        panic!("{testid} did not say {words:?}\nThe page says: {body}");
    }

    pub(crate) async fn metric(&self, key: &str) -> f64 {
        let css = format!("[data-testid=metric-{key}]");
        self.wait_for(&css).await;
        let value = self.script(&format!("return document.querySelector('{css}').dataset.value")).await;
        value.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{key}: {value}"))
    }

    pub(crate) async fn aligned(&self) {
        self.begun("align").await;
        self.done().await;
    }

    /// Begins a run; a short one may be over when this returns.
    pub(crate) async fn begun(&self, button: &str) {
        self.wait_for("[data-testid=status]").await;
        let runs = "return Number(document.querySelector('[data-testid=status]').dataset.runs)";
        let before = self.script(runs).await.as_u64().expect("a number of runs");
        self.click(button).await;
        self.wait_for(&format!("[data-testid=status][data-runs='{}']", before + 1)).await;
    }

    pub(crate) async fn done(&self) {
        self.wait_for("[data-testid=status][data-state=done]").await;
    }

    /// The bytes of an export.
    pub(crate) async fn take(&self, button: &str) -> (String, Vec<u8>) {
        let before = self.exported().await;
        self.click(button).await;
        for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
            let now = self.exported().await;
            if now != before && now.is_array() {
                let url = now[0].as_str().expect("an address").to_owned();
                let name = now[1].as_str().expect("a name").to_owned();
                let script = format!(
                    "const bytes = new Uint8Array(await (await fetch('{url}')).arrayBuffer()); return Array.from(bytes);"
                );
                let wrapped = format!(
                    "const done = arguments[arguments.length - 1]; (async () => {{ {script} }})().then(done);"
                );
                let bytes = self.client.execute_async(&wrapped, Vec::new()).await.expect("is fetched");
                let bytes =
                    bytes.as_array().expect("bytes").iter().map(|b| b.as_u64().expect("a byte") as u8);
                return (name, bytes.collect());
            }
            self.sleep(50).await;
        }
        panic!("{button}: no file came");
    }

    async fn exported(&self) -> Value {
        self.script(
            "const links = document.querySelectorAll('[data-testid=exported]');
             const link = links[links.length - 1];
             return link ? [link.href, link.getAttribute('download')] : null;",
        )
        .await
    }
}

/// The table in a file, by our own reader.
pub(crate) fn table(name: &str, bytes: &[u8]) -> formats::Table {
    let read = pollster::block_on(formats::read(&Bytes::new(name, bytes), &Choices::default(), &mut NoWatch));
    read.unwrap_or_else(|trouble| panic!("{name}: {trouble}")).table
}
