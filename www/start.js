// Starts the app in its own page. `cargo xtask finish` puts the names of this build in place of SHIM.js and MODULE.wasm.
{
  // Until the app runs, somebody has to say why it does not.
  const explain = (reason) => {
    const place = document.getElementById("loading");
    if (!place) return;
    place.setAttribute("role", "alert");
    place.textContent =
      `Concord could not start (${reason}). It needs a browser with WebAssembly SIMD and module workers: Chrome or Edge 98, ` +
      "Firefox 114, Safari 16.4 or later. If yours is newer, reload the page; the download may have been cut short.";
    // A mended version may be waiting behind the one that does not start; then a reload brings it. Some browsers forbid to
    // ask, which is no reason of its own.
    try {
      const asked = navigator.serviceWorker?.getRegistration();
      asked?.then((found) => found?.waiting?.postMessage("activate")).catch(() => {});
    } catch {}
  };
  addEventListener("error", (event) => explain(event.message || "a file could not be loaded"), true);
  addEventListener("unhandledrejection", (event) => explain(event.reason?.message ?? event.reason));
  const module = new URL("MODULE.wasm", document.currentScript.src);
  import("./SHIM.js").then(async (shim) => {
    await shim.default({ module_or_path: module });
    shim.run();
  });
}
