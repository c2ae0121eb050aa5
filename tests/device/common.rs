//! How a test is declared for both worlds, and the device it runs on.

use concord::exec::{Device, Preference};

/// Declares an async test for both worlds.
macro_rules! block_on_test {
    (async fn $name:ident() $body:block) => {
        #[cfg(not(target_arch = "wasm32"))]
        #[test]
        fn $name() {
            pollster::block_on(async $body);
        }

        #[cfg(target_arch = "wasm32")]
        #[wasm_bindgen_test::wasm_bindgen_test]
        async fn $name() $body
    };
}
pub(crate) use block_on_test;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

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
