// The JavaScript API of Concord under a name that stays; see concord.d.ts and docs/api.md.
// `cargo xtask finish` puts the names of this build in place of SHIM.js and MODULE.wasm.
import load, { align as alignLoaded, apply as applyLoaded } from "./SHIM.js";

let loading;
let loaded = false;

// Loads the module, once.
export default function init() {
  loading ??= load({ module_or_path: new URL("MODULE.wasm", import.meta.url) }).then(
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

// Once the module is there, what is passed is read before these return.
export function align(...passed) {
  return loaded ? alignLoaded(...passed) : init().then(() => alignLoaded(...passed));
}

export function apply(...passed) {
  return loaded ? applyLoaded(...passed) : init().then(() => applyLoaded(...passed));
}
