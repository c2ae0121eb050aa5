// Starts the app in its own page, and loads the engine beside it. `cargo xtask finish` puts the names of this build in place of
// PAGE and ENGINE.
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
  const here = document.currentScript.src;
  const at = (name) => new URL(name, here).href;
  // Some hosts send a module with a type that browsers do not compile while it arrives.
  const compile = async (address) => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    const streams = response.headers.get("content-type")?.startsWith("application/wasm");
    return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
  };
  let compiled;
  const engine = () => {
    compiled ??= compile(at("ENGINE.wasm")).catch((error) => {
      compiled = undefined; // the next worker may have better luck
      throw error;
    });
    return compiled;
  };
  // Whoever needs the engine says what is wrong with it.
  engine().catch(() => {});
  import("./PAGE.js").then(async (page) => {
    await page.default({ module_or_path: at("PAGE.wasm") });
    page.run(at("ENGINE.js"), engine);
  });
}
