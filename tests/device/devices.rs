//! What a device refuses or suffers becomes an error with numbers and a way out, natively and in a
//! browser alike.

use crate::common::{block_on_test, gpu};
use compute::exec::{Device, ExecError, Executor, Preference, Reason};
use compute::kernels::reduce::{self, Operation};
use compute::plan::Plan;

fn row_sums(rows: u32, cols: u32) -> (Plan, compute::plan::PassId, compute::plan::Mat) {
    let mut plan = Plan::new();
    let x = plan.mat("x", rows, cols);
    let out = plan.mat("out", rows, 1);
    let pass = plan.begin_pass("sums");
    reduce::record(&mut plan, Operation::Sum, 1.0, x, out);
    (plan, pass, out)
}

block_on_test! {
    async fn a_plan_too_large_is_refused_before_allocating() {
        let (plan, ..) = row_sums(40_000, 40_000);
        if cfg!(target_arch = "wasm32") {
            let error = Device::Cpu.prepare(plan.clone()).await.err().expect("6.4 GB do not fit in a tab");
            assert!(matches!(error, ExecError::TooLarge { .. }), "{error}");
        }
        let error = gpu().await.prepare(plan).await.err().expect("6.4 GB do not fit");
        assert!(matches!(error, ExecError::TooLarge { needed: 6_400_000_000, .. }), "{error}");
        assert!(error.to_string().contains("6.40 GB"), "{error}");
        assert!(!error.hint().is_empty());
    }
}

block_on_test! {
    async fn a_lost_device_is_an_error_and_a_new_one_works() {
        let device = gpu().await;
        let (plan, pass, out) = row_sums(3, 5);
        let mut executor = device.prepare(plan.clone()).await.expect("prepares");
        executor.submit(pass, 1).expect("submits");
        assert_eq!(executor.read(out.buf).await.expect("reads"), [0.0; 3]);

        let Device::Gpu(inner) = &device else { unreachable!("gpu() returns a GPU") };
        inner.destroy();
        let outcome = async {
            executor.submit(pass, 1)?;
            executor.settle(0).await?;
            executor.read(out.buf).await
        };
        let error = outcome.await.expect_err("the device is gone");
        assert!(matches!(error, ExecError::DeviceLost { .. }), "{error:?}");

        let fresh = gpu().await;
        let mut executor = fresh.prepare(plan).await.expect("prepares");
        executor.submit(pass, 1).expect("submits");
        assert_eq!(executor.read(out.buf).await.expect("reads"), [0.0; 3]);
    }
}

block_on_test! {
    async fn written_contents_are_what_the_kernel_sees() {
        let (mut plan, pass, out) = row_sums(2, 3);
        let x = plan.passes()[0].stages[0].buffers[0];
        plan.set_initial(x, &[1.0; 6]);
        for device in [Device::Cpu, gpu().await] {
            let mut executor = device.prepare(plan.clone()).await.expect("prepares");
            executor.submit(pass, 1).expect("submits");
            assert_eq!(executor.read(out.buf).await.expect("reads"), [3.0, 3.0]);
            executor.write(x, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("writes");
            executor.submit(pass, 1).expect("submits");
            assert_eq!(executor.read(out.buf).await.expect("reads"), [6.0, 15.0]);
        }
    }
}

block_on_test! {
    async fn the_choice_of_executor_says_why() {
        let asked = Device::open(Preference::Cpu).await;
        assert!(matches!(asked.device, Device::Cpu));
        assert_eq!(asked.reason, Reason::Requested);

        // The tests run on a software adapter, where the CPU executor is the better choice.
        let auto = Device::open(Preference::Auto).await;
        let adapter = auto.adapter.expect("an adapter");
        if adapter.software {
            assert!(matches!(auto.device, Device::Cpu));
            assert_eq!(auto.reason, Reason::SoftwareAdapter);
        } else {
            assert!(matches!(auto.device, Device::Gpu(_)));
            assert_eq!(auto.reason, Reason::Hardware);
        }
        assert!(adapter.limits.iter().all(|(_, value)| *value > 0));
    }
}
