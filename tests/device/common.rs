//! How a test is declared for both worlds, its limit, and the device it runs on.

use compute::exec::{Device, Preference};

/// Declares an async test for both worlds. In a browser, where nothing else would end one that hangs, it has a limit.
macro_rules! block_on_test {
    (async fn $name:ident() $body:block) => {
        #[cfg(not(target_arch = "wasm32"))]
        #[test]
        fn $name() {
            pollster::block_on(async $body);
        }

        #[cfg(target_arch = "wasm32")]
        #[wasm_bindgen_test::wasm_bindgen_test]
        async fn $name() {
            let name = concat!(module_path!(), "::", stringify!($name));
            crate::common::limited(name, async $body).await;
        }
    };
}
pub(crate) use block_on_test;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// How long a test may take in a browser. The longest takes well under a minute on an idle machine; this is for a machine
/// that is busy with ten other things.
#[cfg(target_arch = "wasm32")]
pub(crate) const LIMIT_MS: i32 = 300_000;

/// Runs a test, or fails with its name when it takes longer.
#[cfg(target_arch = "wasm32")]
pub(crate) async fn limited(name: &str, test: impl Future<Output = ()>) {
    if let Err(hangs) = within(name, LIMIT_MS, test).await {
        panic!("{hangs}");
    }
}

#[cfg(target_arch = "wasm32")]
pub(crate) async fn within(name: &str, ms: i32, test: impl Future<Output = ()>) -> Result<(), String> {
    use std::pin::pin;
    use std::task::Poll;

    let (mut test, mut timer) = (pin!(test), pin!(sleep(ms)));
    std::future::poll_fn(|context| match test.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(Ok(())),
        Poll::Pending => timer
            .as_mut()
            .poll(context)
            .map(|()| Err(format!("{name} did not end within {} s", f64::from(ms) / 1000.0))),
    })
    .await
}

/// Waits for so many milliseconds.
#[cfg(target_arch = "wasm32")]
pub(crate) async fn sleep(ms: i32) {
    use js_sys::{Function, Promise, Reflect};
    use wasm_bindgen::JsCast;

    let timer = Promise::new(&mut |resolve, _| {
        let global = js_sys::global();
        let set: Function = Reflect::get(&global, &"setTimeout".into()).expect("exists").unchecked_into();
        set.call2(&global, &resolve, &ms.into()).expect("sets a timer");
    });
    drop(wasm_bindgen_futures::JsFuture::from(timer).await);
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn sleep(ms: u64) {
    std::thread::sleep(std::time::Duration::from_millis(ms));
}

/// A WebGPU device. Missing is a failure, never a silent skip.
pub(crate) async fn gpu() -> Device {
    let opened = Device::open(Preference::Gpu).await;
    assert!(
        matches!(opened.device, Device::Gpu(_)),
        "no WebGPU device ({:?}); natively install mesa-vulkan-drivers, or run `cargo xtask test`",
        opened.reason
    );
    opened.device
}
