//! Does a plan fit a device? Answered from numbers alone, before anything is allocated.

use super::super::ExecError;
use crate::plan::Plan;

/// What to ask the adapter for: as much buffer as it grants, everything else as every WebGPU device has
/// it, so that a kernel that works here works everywhere.
pub(super) fn wanted(granted: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: granted.max_buffer_size,
        max_storage_buffer_binding_size: granted.max_storage_buffer_binding_size,
        ..wgpu::Limits::default()
    }
}

/// The most one buffer may take and still be bound.
pub(super) fn largest_buffer(limits: &wgpu::Limits) -> u64 {
    limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
}

/// Refuses a plan that the device could not hold or dispatch.
pub(super) fn check(plan: &Plan, limits: &wgpu::Limits, device: &str) -> Result<(), ExecError> {
    let largest = largest_buffer(limits);
    if let Some(desc) = plan.buffers().iter().find(|desc| desc.bytes() > largest) {
        return Err(ExecError::TooLarge {
            what: format!("the buffer '{}'", desc.label),
            needed: desc.bytes(),
            limit: largest,
            device: device.to_owned(),
        });
    }
    for stage in plan.passes().iter().flat_map(|pass| &pass.stages) {
        let bound = stage.kernel.bindings.len() as u64;
        let groups = u64::from(stage.grid.into_iter().max().unwrap_or(0));
        for (unit, needed, limit) in [
            ("storage buffers", bound, limits.max_storage_buffers_per_shader_stage),
            ("workgroups along one axis", groups, limits.max_compute_workgroups_per_dimension),
        ] {
            if needed > limit.into() {
                let name = stage.kernel.name;
                let details = format!("the kernel '{name}' needs {needed} {unit}, {limit} are allowed");
                return Err(ExecError::LimitExceeded { device: device.to_owned(), details });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Binding, Kernel, Params, params};

    params! { struct Nothing { len: u32 } }

    #[test]
    fn a_buffer_beyond_the_binding_limit_is_refused_with_the_numbers() {
        let mut plan = Plan::new();
        plan.mat("cost", 6000, 6000);
        let error = check(&plan, &wgpu::Limits::default(), "TestGPU").expect_err("144 MB > 128 MiB");
        let text = error.to_string();
        assert!(text.contains("144.0 MB") && text.contains("134.2 MB") && text.contains("'cost'"), "{text}");
        assert!(text.contains("TestGPU"), "{text}");
    }

    #[test]
    fn a_dispatch_beyond_the_grid_limit_is_refused_with_the_numbers() {
        static WIDE: Kernel = Kernel {
            name: "wide",
            summary: "",
            wgsl: "",
            bindings: &[Binding::write("out")],
            params: Nothing::FIELDS,
            constants: &[],
            twin: |_| {},
        };
        let mut plan = Plan::new();
        let out = plan.mat("out", 1, 1);
        plan.begin_pass("pass");
        plan.record(&WIDE, &Nothing { len: 0 }, &[], &[out.buf], [1, 93_750, 1]);
        let error = check(&plan, &wgpu::Limits::default(), "TestGPU").expect_err("93,750 workgroups");
        assert_eq!(
            error.details(),
            "the kernel 'wide' needs 93750 workgroups along one axis, 65535 are allowed"
        );
    }

    #[test]
    fn a_plan_within_the_limits_passes() {
        let mut plan = Plan::new();
        plan.mat("cost", 5700, 5700);
        assert_eq!(check(&plan, &wgpu::Limits::default(), "TestGPU"), Ok(()));
    }
}
