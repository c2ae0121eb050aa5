//! A static file server of the plainest kind, as any host would be: no special headers, and the app
//! under a sub-path.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// The app must not care where it lives.
pub(crate) const MOUNT: &str = "/some/folder/";
/// The same app without its module, as after an interrupted upload.
pub(crate) const BROKEN: &str = "/some/broken/";

/// The same app in a browser that weighs it (`soak.rs`).
pub(crate) const WEIGHED: &str = "/weighed/";

/// The same app where its module does not start and service workers are forbidden.
pub(crate) const FORBIDDEN: &str = "/forbidden/";

/// The same app in a browser that lets the page's scripts know its workers.
pub(crate) const KNOWN_WORKERS: &str = "/known-workers/";
/// The same app, whose workers do not hold the lock that they should, as where workers have no locks.
pub(crate) const NO_LOCKS: &str = "/no-locks/";
/// The same app, whose first worker dies when a sample is to be aligned.
pub(crate) const LOSES_FIRST: &str = "/loses-first/";

/// The same app in other browsers, most of them with something wrong: the folder's name, and a script that runs before
/// the app's own, in page and worker.
const OTHERS: [(&str, &str); 13] = [
    (
        NO_LOCKS,
        "if (self.window && !self.workers) {
           self.workers = [];
           self.Worker = class extends Worker {
             constructor(...args) { super(...args); workers.push(this); }
             postMessage(message, ...rest) {
               if (message?.lock) message.lock = 'another';
               super.postMessage(message, ...rest);
             }
           };
         }",
    ),
    (
        KNOWN_WORKERS,
        "if (self.window && !self.workers) {
           self.workers = [];
           self.Worker = class extends Worker { constructor(...args) { super(...args); workers.push(this); } };
         }",
    ),
    (
        LOSES_FIRST,
        "if (self.window && !self.workers) {
           self.workers = [];
           self.Worker = class extends Worker {
             constructor(...args) {
               super(...args);
               workers.push(this);
               if (workers.length > 1) return;
               // As soon as it is about to align the sample.
               const post = this.postMessage;
               this.postMessage = (message, ...rest) => {
                 if (JSON.stringify(message)?.includes('Recall')) this.onerror(new ErrorEvent('error', { message: 'gone' }));
                 else post.call(this, message, ...rest);
               };
             }
           };
         }",
    ),
    (
        FORBIDDEN,
        "if (self.ServiceWorkerContainer) {
           ServiceWorkerContainer.prototype.getRegistration = () => Promise.reject(new Error('forbidden'));
           WebAssembly.instantiate = WebAssembly.instantiateStreaming = () => Promise.reject(new Error('no memory'));
         }",
    ),
    ("/silent-adapter/", "navigator.gpu.requestAdapter = () => new Promise(() => {});"),
    ("/silent-device/", "GPUAdapter.prototype.requestDevice = () => new Promise(() => {});"),
    ("/throwing-adapter/", "navigator.gpu.requestAdapter = () => { throw new Error('forbidden'); };"),
    (
        "/refused-device/",
        "GPUAdapter.prototype.requestDevice = () => Promise.reject(new DOMException('no', 'OperationError'));",
    ),
    (
        "/fading-device/",
        "const request = GPUAdapter.prototype.requestDevice;
         GPUAdapter.prototype.requestDevice = async function (...args) {
           const device = await request.apply(this, args);
           setTimeout(() => device.destroy(), 300);
           return device;
         };",
    ),
    ("/silent-storage/", "if (self.IDBFactory) IDBFactory.prototype.open = () => ({});"),
    (
        "/no-worker/",
        "if (self.window) self.Worker = class { constructor() { throw new Error('blocked'); } };",
    ),
    (
        "/slow-files/",
        "if (!self.window && !self.slow) {
           self.slow = Blob.prototype.arrayBuffer;
           Blob.prototype.arrayBuffer = function () {
             return new Promise(later => setTimeout(later, 1500)).then(() => slow.call(this));
           };
         }",
    ),
    (
        WEIGHED,
        // Once for each of page and worker, which load several scripts. Page and worker cannot reach into each other: what
        // is said on this channel is heard by all others on it.
        "if (!self.weigh) {
           let memory, channels = 0;
           for (const name of ['instantiate', 'instantiateStreaming']) {
             const own = WebAssembly[name];
             WebAssembly[name] = async (...args) => {
               const made = await own.apply(WebAssembly, args);
               memory = (made.instance ?? made).exports.memory;
               return made;
             };
           }
           self.MessageChannel = class extends MessageChannel { constructor() { super(); channels += 1; } };
           let device = 0, most = 0, devices = 0, opened = 0;
           const { requestDevice } = self.GPUAdapter?.prototype ?? {};
           if (requestDevice) GPUAdapter.prototype.requestDevice = async function (...args) {
             const given = await requestDevice.apply(this, args);
             const close = given.destroy;
             devices += 1;
             opened += 1;
             given.destroy = function () { devices -= 1; given.destroy = close; close.call(given); };
             return given;
           };
           const gone = new WeakSet();
           const { createBuffer } = self.GPUDevice?.prototype ?? {}, { destroy } = self.GPUBuffer?.prototype ?? {};
           if (createBuffer) GPUDevice.prototype.createBuffer = function (...args) {
             const buffer = createBuffer.apply(this, args);
             device += buffer.size;
             most = Math.max(most, device);
             return buffer;
           };
           if (destroy) GPUBuffer.prototype.destroy = function () {
             if (!gone.has(this)) device -= this.size;
             gone.add(this);
             destroy.call(this);
           };
           self.weigh = () => { gc(); return { module: memory.buffer.byteLength, channels, device, most, devices, opened }; };
           if (!self.window) {
             const scale = new BroadcastChannel('scale');
             scale.onmessage = () => scale.postMessage(weigh());
           }
         }",
    ),
];

/// What is tested: the built app.
pub(crate) fn dist() -> PathBuf {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist");
    assert!(dist.join("index.html").exists(), "dist/ is missing: run `cargo xtask build` first");
    dist
}

/// Serves `dist/` from a thread for as long as the tests run; returns the address of the server.
pub(crate) fn start() -> String {
    let dist = dist();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let dist = dist.clone();
            std::thread::spawn(move || answer(stream, &dist));
        }
    });
    format!("http://127.0.0.1:{port}")
}

fn answer(mut stream: TcpStream, dist: &Path) {
    let mut request = String::new();
    let mut reader = BufReader::new(&stream);
    let mut header = String::new();
    if reader.read_line(&mut request).is_err() {
        return;
    }
    while reader.read_line(&mut header).is_ok_and(|n| n > 2) {
        header.clear();
    }
    let path = request.split_whitespace().nth(1).unwrap_or("/").split('?').next().unwrap_or("/");
    let broken = path.strip_prefix(BROKEN).filter(|name| !name.ends_with(".wasm"));
    let other =
        OTHERS.iter().find_map(|(folder, script)| path.strip_prefix(folder).map(|name| (name, *script)));
    let file = path
        .strip_prefix(MOUNT)
        .or(broken)
        .or(other.map(|(name, _)| name))
        .map(|name| if name.is_empty() { "index.html" } else { name });
    let found = file.filter(|f| !f.contains("..")).map(|f| dist.join(f)).and_then(read);
    let (status, kind, body) = match found {
        Some((kind, body)) => match other {
            Some((_, script)) if kind == "text/javascript" => {
                ("200 OK", kind, [format!("{script}\n").as_bytes(), &body].concat())
            }
            _ => ("200 OK", kind, body),
        },
        None => ("404 Not Found", "text/plain", b"There is no such file.".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A browser that went away is no failure of the server.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

pub(crate) fn read(path: PathBuf) -> Option<(&'static str, Vec<u8>)> {
    let kind = match path.extension().unwrap_or_default().to_str()? {
        "html" => "text/html",
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    };
    Some((kind, std::fs::read(path).ok()?))
}
