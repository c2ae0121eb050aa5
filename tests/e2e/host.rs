//! A web host of a test's own, which is also the browser's proxy: it sees every request that the browser makes, to itself
//! or to anywhere else, from the page, from its worker and from its service worker. It can go away, and it can be given a
//! newer version of the app.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::server::{MOUNT, dist, read};

/// What is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// `dist/` as it is.
    Built,
    /// The same under other names, and none of the old ones.
    Newer,
    /// In the midst of an upload, on a host that answers with its front page where a file is missing.
    Halfway,
    /// As a build during development.
    Developed,
    /// The host is gone.
    None,
}

struct Inner {
    version: Version,
    seen: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Host {
    inner: Arc<Mutex<Inner>>,
    /// `127.0.0.1:port`.
    pub(crate) place: String,
}

/// The browser's own updater, which no flag silences. That no page of ours gets that far, the policy sees to.
const UPDATER: &str = "update.googleapis.com";

/// A file that is not there halfway, and that the page does not need to start.
pub(crate) const MISSING: &str = "samples/digits/x.npy";

/// Appended to every name that has a hash in the newer version.
const NEWER: &str = "newer";

/// Keeps what the Content-Security-Policy refuses, for the test to look at. Runs before the app.
const WATCH: &str = "window.refused = [];
  addEventListener('securitypolicyviolation', e => refused.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
";

impl Host {
    /// Serves the app from a thread for as long as the tests run.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let place = listener.local_addr().expect("an address").to_string();
        let inner = Arc::new(Mutex::new(Inner { version: Version::Built, seen: Vec::new() }));
        let host = Self { inner, place };
        let own = host.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let host = own.clone();
                std::thread::spawn(move || host.answer(stream));
            }
        });
        host
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn serve(&self, version: Version) {
        self.lock().version = version;
    }

    /// All requests so far, `METHOD address`.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.lock().seen.clone()
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(&stream);
        let (mut request, mut header) = (String::new(), String::new());
        if reader.read_line(&mut request).is_err() {
            return;
        }
        while reader.read_line(&mut header).is_ok_and(|n| n > 2) {
            header.clear();
        }
        let mut words = request.split_whitespace();
        let (method, address) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let version = {
            let mut inner = self.lock();
            if !address.contains(UPDATER) {
                inner.seen.push(format!("{method} {address}"));
            }
            inner.version
        };
        if version == Version::None {
            return; // Hung up: as without a network.
        }
        let ours = format!("http://{}", self.place);
        let path = address.strip_prefix(&ours).unwrap_or(address);
        let named = path.split('?').next().and_then(|path| path.strip_prefix(MOUNT));
        if named == Some("index.html") {
            // As many hosts do.
            let head = "HTTP/1.1 301 Moved Permanently\r\nLocation: ./\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
            return;
        }
        let found = named.filter(|file| !file.contains("..")).and_then(|file| file_of(file, version));
        let (status, kind, body) = match found {
            Some((kind, body)) => ("200 OK", kind, body),
            None => ("404 Not Found", "text/plain", Vec::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        // A browser that went away is no failure of the host.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }
}

/// The hash that is in the names of the module and its script.
fn hash() -> String {
    let names = std::fs::read_dir(dist()).expect("dist/").flatten().map(|entry| entry.file_name());
    let mut names = names.filter_map(|name| name.into_string().ok());
    let module =
        names.find(|name| name.starts_with("concord-") && name.ends_with("_bg.wasm")).expect("a module");
    module.trim_start_matches("concord-").trim_end_matches("_bg.wasm").to_owned()
}

/// The name of the build, as the page tells it.
pub(crate) fn build() -> String {
    let index = std::fs::read_to_string(dist().join("index.html")).expect("readable");
    let (_, rest) = index.split_once("name=\"concord-build\" content=\"").expect("names its build");
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn file_of(file: &str, version: Version) -> Option<(&'static str, Vec<u8>)> {
    let name = if file.is_empty() { "index.html" } else { file };
    let (hash, build) = (hash(), build());
    let name = match version {
        // Old names are gone, as after an upload into an emptied folder.
        Version::Newer if name.contains(&hash) && !name.contains(NEWER) => return None,
        Version::Newer => name.replace(NEWER, ""),
        _ => name.to_owned(),
    };
    if version == Version::Developed && name == "sw.js" {
        return read(Path::new(env!("CARGO_MANIFEST_DIR")).join("www/sw-gone.js"));
    }
    let name = if version == Version::Halfway && name == MISSING { "index.html".to_owned() } else { name };
    let (kind, mut body) = read(dist().join(&name))?;
    if kind.starts_with("text/")
        && let Ok(mut text) = String::from_utf8(body.clone())
    {
        if version == Version::Developed {
            text = text.replace(&build, "development");
        }
        if version == Version::Newer {
            text = text.replace(&hash, &format!("{hash}{NEWER}"));
            text = text.replace(&build, &format!("{build}{NEWER}"));
        }
        if name.starts_with("start-") {
            text.insert_str(0, WATCH);
        }
        if name == "sw.js" {
            text = without_digests_of_texts(&text);
        }
        body = text.into_bytes();
    }
    Some((kind, body))
}

/// The service worker without the digests of files that are changed here on their way.
fn without_digests_of_texts(script: &str) -> String {
    let (before, rest) = script.split_once("const FILES = ").expect("the files");
    let (files, after) = rest.split_once(";\n").expect("their end");
    let mut files: Vec<(String, String)> = serde_json::from_str(files).expect("names and digests");
    assert!(files.iter().any(|(name, digest)| name == MISSING && digest.starts_with("sha256-")));
    for (name, digest) in &mut files {
        if name.ends_with(".js") || name.ends_with(".css") {
            digest.clear();
        }
    }
    format!("{before}const FILES = {};\n{after}", serde_json::to_string(&files).expect("JSON"))
}
