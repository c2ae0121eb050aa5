//! Chromium through ChromeDriver, and the few gestures the tests need.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use fantoccini::wd::TimeoutConfiguration;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::{LOOK, PATIENCE, WHOLE_TEST, server};

/// What kind of visitor it is.
pub(crate) struct Setup {
    pub(crate) size: (u32, u32),
    pub(crate) dark: bool,
    pub(crate) webgpu: Webgpu,
    /// Whether pages may store anything.
    pub(crate) storage: bool,
    /// Whether scripts may ask for what nobody holds to be freed, and how much is held.
    pub(crate) weighed: bool,
    /// The place that all requests go through, and that the app is opened from.
    pub(crate) host: Option<String>,
}

/// What the visitor's browser offers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Webgpu {
    /// A software adapter.
    Software,
    /// The interface, but no adapter behind it.
    NoAdapter,
    /// Not even the interface: browsers hide it on addresses that are neither https nor local.
    Insecure,
}

/// A name that is not local, mapped to this machine for [`Webgpu::Insecure`].
const INSECURE_HOST: &str = "concord.test";

/// Keeps the browser from requests of its own.
const QUIET: [&str; 9] = [
    "--disable-features=AutofillServerCommunication,NetworkTimeServiceQuerying,OptimizationHints,MediaRouter",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--allow-browser-signin=false",
    "--gaia-url=http://127.0.0.1:1",
];

impl Default for Setup {
    fn default() -> Self {
        Self {
            size: (1280, 1000),
            dark: false,
            webgpu: Webgpu::Software,
            storage: true,
            weighed: false,
            host: None,
        }
    }
}

/// A browser window on the app.
pub(crate) struct Page {
    pub(crate) client: Client,
    /// The process that the browser is a child of.
    pub(crate) driver: u32,
    address: String,
}

/// The driver, ended with the test that started it.
struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let program = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        let child = Command::new(&program)
            .arg(format!("--port={port}"))
            .process_group(0)
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        Self { child, port }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The whole group: a browser whose test failed must not live on. It may have ended already.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(server::start)
}

/// Runs a test in a fresh browser, which is closed whether it passes or not.
pub(crate) fn with_page(setup: Setup, test: impl AsyncFnOnce(Page)) {
    let driver = Driver::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // Tests run in threads that bear their names.
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    let whole = async {
        let client = connect(&driver, &setup).await;
        let address = match (&setup.host, setup.webgpu) {
            (Some(place), _) => format!("http://{place}"),
            (None, Webgpu::Insecure) => address().replace("127.0.0.1", INSECURE_HOST),
            (None, _) => address().to_owned(),
        };
        let page = Page { client: client.clone(), driver: driver.child.id(), address };
        test(page).await;
        // A failed test panicked before this; then the browser ends with its driver.
        client.close().await.expect("closes");
    };
    runtime.block_on(async {
        let ended = tokio::time::timeout(WHOLE_TEST, whole).await;
        assert!(ended.is_ok(), "{name} did not end within {} s", WHOLE_TEST.as_secs());
    });
}

async fn connect(driver: &Driver, setup: &Setup) -> Client {
    let mut capabilities: Value = serde_json::from_str(include_str!("../../webdriver.json")).expect("JSON");
    let args = capabilities["goog:chromeOptions"]["args"].as_array_mut().expect("arguments");
    if setup.dark {
        args.push(json!("--force-dark-mode"));
    }
    match setup.webgpu {
        Webgpu::Software => {}
        Webgpu::NoAdapter => args.retain(|arg| !arg.as_str().is_some_and(|a| a.contains("webgpu"))),
        Webgpu::Insecure => {
            args.push(json!(format!("--host-resolver-rules=MAP {INSECURE_HOST} 127.0.0.1")));
        }
    }
    if let Some(place) = &setup.host {
        args.push(json!(format!("--proxy-server=http://{place}")));
        // Otherwise what is local goes past it.
        args.push(json!("--proxy-bypass-list=<-loopback>"));
        // What the browser itself would ask for is not what is watched.
        args.extend(QUIET.map(|flag| json!(flag)));
    }
    args.push(json!(format!("--window-size={},{}", setup.size.0, setup.size.1)));
    if setup.weighed {
        args.push(json!("--js-flags=--expose-gc"));
        args.push(json!("--enable-precise-memory-info"));
    }
    if !setup.storage {
        capabilities["goog:chromeOptions"]["prefs"] =
            json!({ "profile.default_content_setting_values.cookies": 2 });
    }
    let capabilities = capabilities.as_object().expect("an object").clone();
    let mut attempts = 0;
    let client = loop {
        let connecting = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.clone())
            .connect(&format!("http://127.0.0.1:{}", driver.port))
            .await;
        match connecting {
            Ok(client) => break client,
            Err(error) if attempts > 50 => panic!("ChromeDriver: {error}"),
            Err(_) => attempts += 1,
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    // A script is waited for as long as everything else.
    let timeouts = TimeoutConfiguration::new(Some(PATIENCE), None, None);
    client.update_timeouts(timeouts).await.expect("waits");
    // The window's size is that of the view, not of the frame around it.
    client.set_window_size(setup.size.0, setup.size.1).await.expect("resizes");
    client
}

/// Loads the app with this end of the address.
pub(crate) async fn open(page: &Page, rest: &str) {
    open_at(page, server::MOUNT, rest).await;
}

/// Loads what is served in this folder.
pub(crate) async fn open_at(page: &Page, folder: &str, rest: &str) {
    // Leaving first: a changed fragment alone would not load the page again.
    page.client.goto("about:blank").await.expect("leaves");
    page.client.goto(&format!("{}{folder}{rest}", page.address)).await.expect("loads");
}

impl Page {
    pub(crate) async fn wait_for(&self, css: &str) {
        if let Err(error) =
            self.client.wait().at_most(PATIENCE).every(LOOK).for_element(Locator::Css(css)).await
        {
            let body = self.script("return document.body.innerText").await;
            panic!("{css} did not come: {error}\nThe page says: {body}");
        }
    }

    pub(crate) async fn text(&self, testid: &str) -> String {
        let css = format!("[data-testid={testid}]");
        let element = self.client.find(Locator::Css(&css)).await.unwrap_or_else(|e| panic!("{css}: {e}"));
        element.text().await.expect("has text")
    }

    pub(crate) async fn click(&self, testid: &str) {
        let css = format!("[data-testid={testid}]:not(:disabled)");
        self.wait_for(&css).await;
        let element = self.client.find(Locator::Css(&css)).await.unwrap_or_else(|e| panic!("{css}: {e}"));
        element.click().await.expect("can be clicked");
    }

    pub(crate) async fn count(&self, css: &str) -> usize {
        self.client.find_all(Locator::Css(css)).await.expect("can be counted").len()
    }

    pub(crate) async fn script(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.expect("the script runs")
    }

    /// Goes to another view of the page without loading it again.
    pub(crate) async fn follow(&self, fragment: &str) {
        self.script(&format!("location.hash = '{fragment}'")).await;
    }

    pub(crate) async fn sleep(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    /// Keeps a picture in `target/screenshots/`, for a person to look at.
    pub(crate) async fn shoot(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        std::fs::create_dir_all(&folder).expect("a folder");
        let picture = self.client.screenshot().await.expect("a picture");
        assert!(picture.len() > 5_000, "{name}: an empty picture");
        std::fs::write(folder.join(format!("{name}.png")), picture).expect("written");
    }
}
