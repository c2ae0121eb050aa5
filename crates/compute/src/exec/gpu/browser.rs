//! What a browser tells about its adapter, which wgpu does not pass on.

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// The adapter's name (empty if the browser hides it), or in plain words why there is no adapter.
pub(super) async fn describe_adapter() -> Result<String, String> {
    let gpu = get(&get(&js_sys::global(), "navigator"), "gpu");
    if gpu.is_undefined() || gpu.is_null() {
        let secure = get(&js_sys::global(), "isSecureContext").as_bool().unwrap_or(true);
        return Err(if secure {
            "this browser has no WebGPU".into()
        } else {
            "browsers offer WebGPU only on https addresses and on localhost".into()
        });
    }
    let request = get(&gpu, "requestAdapter").dyn_into::<Function>();
    // The same wish as in `GpuDevice::open`, so that it is the same adapter.
    let options = js_sys::Object::new();
    let _ = Reflect::set(&options, &"powerPreference".into(), &"high-performance".into());
    let promise = request.and_then(|f| f.call1(&gpu, &options)).and_then(|p| p.dyn_into::<Promise>());
    let adapter = match promise {
        Ok(promise) => JsFuture::from(promise).await.unwrap_or(JsValue::NULL),
        Err(_) => JsValue::NULL,
    };
    if adapter.is_null() || adapter.is_undefined() {
        return Err(
            "the browser's WebGPU found no graphics adapter (it may be blocked, or a driver may be missing)"
                .into(),
        );
    }
    let info = get(&adapter, "info");
    let text = |key| get(&info, key).as_string().filter(|s| !s.is_empty());
    let parts =
        || ["vendor", "architecture", "device"].into_iter().filter_map(text).collect::<Vec<_>>().join(" ");
    Ok(text("description").unwrap_or_else(parts))
}

fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(key)).unwrap_or(JsValue::UNDEFINED)
}
