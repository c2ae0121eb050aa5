// The JavaScript API of Concord under a name that stays; see concord.d.ts and docs/api.md.
// `cargo xtask finish` puts the names of this build in place of ENGINE.
import load, { align as alignLoaded, apply as applyLoaded } from "./ENGINE.js";

let loading;
let loaded = false;

// Loads the module, once.
export default function init() {
  loading ??= load({ module_or_path: new URL("ENGINE.wasm", import.meta.url) }).then(
    () => {
      loaded = true;
    },
    (error) => {
      loading = undefined; // the next call may have better luck
      throw error;
    },
  );
  return loading;
}

// Once the module is there, what is passed is read before these return: an async function runs to its first await.
export async function align(...passed) {
  if (!loaded) await initUnlessAborted(passed[2]?.signal);
  return alignLoaded(...passed);
}

export async function apply(...passed) {
  if (!loaded) await initUnlessAborted(passed[3]?.signal);
  return applyLoaded(...passed);
}

// What is no signal is refused later, in words.
async function initUnlessAborted(signal) {
  if (typeof signal?.addEventListener !== "function") return init();
  let stop;
  const aborted = new Promise((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
  try {
    await Promise.race([aborted, init()]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
