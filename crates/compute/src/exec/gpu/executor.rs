//! One plan, prepared for one device.

use std::collections::{HashMap, VecDeque};

use super::buffer::Buffer;
use super::device::{GpuDevice, rejected};
use super::limits;
use super::signal::Signal;
use super::staging::StagingRing;
use crate::exec::{ExecError, Executor, Stats, StatsCursor};
use crate::plan::{BufId, PassId, Plan, Stage};

/// A plan with its buffers, pipelines and bind groups on a device.
pub struct GpuExecutor {
    gpu: GpuDevice,
    plan: Plan,
    buffers: Vec<Buffer>,
    /// The parameters of all dispatches.
    _uniforms: Buffer,
    /// For each pass, what to set and dispatch.
    passes: Vec<Vec<Dispatch>>,
    staging: Option<StagingRing>,
    cursor: StatsCursor,
    collected: Option<Stats>,
    /// The last submit found all staging buffers busy: its statistics are still to be fetched.
    unseen: bool,
    in_flight: VecDeque<Signal<()>>,
}

struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    grid: [u32; 3],
}

impl GpuExecutor {
    /// Checks the limits, allocates, uploads the initial contents and compiles every pipeline.
    pub async fn prepare(gpu: &GpuDevice, mut plan: Plan) -> Result<Self, ExecError> {
        gpu.check()?;
        limits::check(&plan, &gpu.limits, gpu.name())?;
        let device = &gpu.device;

        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffers: Vec<Buffer> = plan
            .buffers()
            .iter()
            .map(|desc| {
                let usage =
                    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
                Buffer::new(device, desc.label, desc.bytes(), usage)
            })
            .collect();
        let staging =
            plan.stats().map(|ring| StagingRing::new(device, plan.buffers()[ring.buf.index()].bytes()));
        if gpu.caught("memory", memory).await?.is_some() {
            return Err(ExecError::OutOfMemory { needed: plan.bytes(), device: gpu.name().into() });
        }

        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        for (buffer, initial) in buffers.iter().zip(plan.take_initial()) {
            if !initial.is_empty() {
                gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(&initial));
            }
        }
        let mut maker = DispatchMaker::new(gpu, &plan, &buffers);
        let passes = plan
            .passes()
            .iter()
            .map(|pass| pass.stages.iter().map(|stage| maker.dispatch(stage)).collect())
            .collect();
        let uniforms = maker.uniforms;
        if let Some(error) = gpu.caught("kernels to be compiled", validation).await? {
            return Err(rejected(error));
        }

        Ok(Self {
            gpu: gpu.clone(),
            plan,
            buffers,
            _uniforms: uniforms,
            passes,
            staging,
            cursor: StatsCursor::default(),
            collected: None,
            unseen: false,
            in_flight: VecDeque::new(),
        })
    }
}

impl GpuExecutor {
    /// Submits what was encoded, with a snapshot of the statistics if a staging buffer is free.
    fn finish(&mut self, mut encoder: wgpu::CommandEncoder) {
        let slot = match (&self.staging, self.plan.clock(), self.plan.stats()) {
            (Some(staging), Some(clock), Some(ring)) => {
                let [step, ring] = [clock.step, ring.buf].map(|buf| &*self.buffers[buf.index()]);
                let slot = staging.encode(&mut encoder, step, ring);
                self.unseen = slot.is_none();
                slot
            }
            _ => None,
        };
        self.gpu.queue.submit([encoder.finish()]);
        if let (Some(staging), Some(slot)) = (&mut self.staging, slot) {
            staging.map(slot, &self.gpu.health);
        }
        let (signal, done) = self.gpu.health.signal();
        self.gpu.queue.on_submitted_work_done(move || done(()));
        self.in_flight.push_back(signal);
    }

    /// Waits for the snapshots under way and collects them, which frees their buffers.
    async fn fetch(&mut self) -> Result<(), ExecError> {
        if let Some(staging) = &self.staging {
            self.gpu.answer("statistics", staging.arrived()).await?;
        }
        self.collect();
        self.gpu.check()
    }

    /// Adds what has arrived to what the host has not asked for yet.
    fn collect(&mut self) {
        let (Some(staging), Some(ring)) = (&mut self.staging, self.plan.stats()) else { return };
        let Some(words) = staging.newest() else { return };
        let contents: &[f32] = bytemuck::cast_slice(&words[1..]);
        if let Some(news) = self.cursor.advance(contents, ring.columns, ring.rows, words[0]) {
            self.collected = Some(match self.collected.take() {
                Some(before) => before.followed_by(news),
                None => news,
            });
        }
    }

    /// Waits until at most `in_flight` submits are unfinished.
    async fn drain(&mut self, in_flight: u32) -> Result<(), ExecError> {
        while self.in_flight.len() > in_flight as usize {
            self.gpu.check()?;
            if let Some(signal) = self.in_flight.pop_front() {
                self.gpu.answer("submitted work", signal).await?;
            }
        }
        Ok(())
    }
}

impl Executor for GpuExecutor {
    fn write(&mut self, buf: BufId, data: &[f32]) -> Result<(), ExecError> {
        assert_eq!(data.len() as u64, self.plan.buffers()[buf.index()].len, "the whole buffer is written");
        self.gpu.queue.write_buffer(&self.buffers[buf.index()], 0, bytemuck::cast_slice(data));
        self.gpu.check()
    }

    fn submit(&mut self, pass: PassId, repeats: u32) -> Result<(), ExecError> {
        self.gpu.check()?;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        {
            let mut compute = encoder.begin_compute_pass(&Default::default());
            for _ in 0..repeats {
                for dispatch in &self.passes[pass.index()] {
                    compute.set_pipeline(&dispatch.pipeline);
                    compute.set_bind_group(0, &dispatch.bind_group, &[]);
                    let [x, y, z] = dispatch.grid;
                    compute.dispatch_workgroups(x, y, z);
                }
            }
        }
        self.finish(encoder);
        Ok(())
    }

    async fn settle(&mut self, in_flight: u32) -> Result<(), ExecError> {
        self.drain(in_flight).await?;
        if in_flight == 0 {
            self.fetch().await?;
            if self.unseen {
                let encoder = self.gpu.device.create_command_encoder(&Default::default());
                self.finish(encoder);
                self.drain(0).await?;
                self.fetch().await?;
            }
        }
        self.gpu.check()
    }

    fn stats(&mut self) -> Result<Option<Stats>, ExecError> {
        self.gpu.poll();
        self.gpu.check()?;
        self.collect();
        Ok(self.collected.take())
    }

    async fn read(&mut self, buf: BufId) -> Result<Vec<f32>, ExecError> {
        self.gpu.check()?;
        let source = &self.buffers[buf.index()];
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let memory = self.gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let target = Buffer::new(&self.gpu.device, "read back", source.size(), usage);
        if self.gpu.caught("memory", memory).await?.is_some() {
            return Err(ExecError::OutOfMemory { needed: source.size(), device: self.gpu.name().into() });
        }
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(source, 0, &target, 0, source.size());
        self.gpu.queue.submit([encoder.finish()]);
        let (signal, done) = self.gpu.health.signal();
        target.map_async(wgpu::MapMode::Read, .., done);
        let mapped = self.gpu.answer("the contents of a buffer", signal).await?;
        self.gpu.check()?;
        let lost = |details: String| ExecError::DeviceLost { details, silent: false };
        mapped.map_err(|error| lost(error.to_string()))?;
        let view = target.get_mapped_range(..).map_err(|error| lost(format!("{error:?}")))?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }
}

/// Makes dispatches, each bind group only once.
struct DispatchMaker<'a> {
    gpu: &'a GpuDevice,
    buffers: &'a [Buffer],
    /// The uniform blocks of all stages, one after the other.
    uniforms: Buffer,
    offsets: HashMap<Vec<u32>, u64>,
    bind_groups: HashMap<(&'static str, Vec<u32>, Vec<BufId>), wgpu::BindGroup>,
}

impl<'a> DispatchMaker<'a> {
    fn new(gpu: &'a GpuDevice, plan: &Plan, buffers: &'a [Buffer]) -> Self {
        let align = gpu.limits.min_uniform_buffer_offset_alignment as usize;
        let mut contents: Vec<u8> = Vec::new();
        let mut offsets = HashMap::new();
        for stage in plan.passes().iter().flat_map(|pass| &pass.stages) {
            offsets.entry(stage.params.clone()).or_insert_with(|| {
                contents.resize(contents.len().next_multiple_of(align), 0);
                let offset = contents.len() as u64;
                contents.extend_from_slice(bytemuck::cast_slice(&stage.params));
                offset
            });
        }
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let uniforms = Buffer::new(&gpu.device, "parameters", contents.len().max(align) as u64, usage);
        gpu.queue.write_buffer(&uniforms, 0, &contents);
        Self { gpu, buffers, uniforms, offsets, bind_groups: HashMap::new() }
    }

    fn dispatch(&mut self, stage: &Stage) -> Dispatch {
        let name = stage.kernel.name;
        let compiled = {
            let mut pipelines = self.gpu.pipelines.borrow_mut();
            let known = pipelines.len();
            let compiled = pipelines.get(&self.gpu.device, stage);
            if pipelines.len() > known {
                self.gpu.ask_for_a_sign();
            }
            compiled
        };
        let bind_group = self
            .bind_groups
            .entry((name, stage.params.clone(), stage.buffers.clone()))
            .or_insert_with(|| {
                let uniform = wgpu::BufferBinding {
                    buffer: &self.uniforms,
                    offset: self.offsets[&stage.params],
                    size: std::num::NonZeroU64::new(4 * stage.params.len() as u64),
                };
                let storage = stage.buffers.iter().map(|buf| self.buffers[buf.index()].as_entire_binding());
                let entries: Vec<_> = std::iter::once(wgpu::BindingResource::Buffer(uniform))
                    .chain(storage)
                    .enumerate()
                    .map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource })
                    .collect();
                self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some(name),
                    layout: &compiled.layout,
                    entries: &entries,
                })
            })
            .clone();
        Dispatch { pipeline: compiled.pipeline, bind_group, grid: stage.grid }
    }
}
