//! Compiled pipelines, kept for as long as the device: every plan that uses a kernel shares them.

use std::collections::HashMap;

use crate::plan::{Access, Kernel, Stage};

/// A pipeline and the layout its bind groups must have.
#[derive(Clone)]
pub(super) struct Compiled {
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) pipeline: wgpu::ComputePipeline,
}

/// One entry per kernel and set of constants.
#[derive(Default)]
pub(super) struct PipelineCache(HashMap<(&'static str, Vec<u32>), Compiled>);

impl PipelineCache {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&mut self, device: &wgpu::Device, stage: &Stage) -> Compiled {
        let key = (stage.kernel.name, stage.constants.clone());
        self.0.entry(key).or_insert_with(|| compile(device, stage)).clone()
    }
}

fn compile(device: &wgpu::Device, stage: &Stage) -> Compiled {
    let kernel = stage.kernel;
    let layout = layout(device, kernel);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(kernel.name),
        source: wgpu::ShaderSource::Wgsl(kernel.wgsl.into()),
    });
    let constants: Vec<(&str, f64)> =
        kernel.constants.iter().copied().zip(stage.constants.iter().map(|&c| c.into())).collect();
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(kernel.name),
        layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(kernel.name),
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        })),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() },
        cache: None,
    });
    Compiled { layout, pipeline }
}

/// Binding 0 is the uniform block, then the storage bindings as the kernel declares them.
fn layout(device: &wgpu::Device, kernel: &Kernel) -> wgpu::BindGroupLayout {
    let storage = kernel
        .bindings
        .iter()
        .map(|b| wgpu::BufferBindingType::Storage { read_only: b.access == Access::Read });
    let entries: Vec<_> = std::iter::once(wgpu::BufferBindingType::Uniform)
        .chain(storage)
        .enumerate()
        .map(|(i, ty)| wgpu::BindGroupLayoutEntry {
            binding: i as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(kernel.name),
        entries: &entries,
    })
}
