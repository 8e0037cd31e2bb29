//! A job on the device: its buffers filled, its kernels compiled.

use super::Gpu;
use super::clock::Clock;
use crate::clock::now_ms;
use fuseline_codegen::your_gpu::repeats::LONGEST_COMPILATION_S;
use fuseline_codegen::your_gpu::{Buffer, Failure, Job};
use wgpu::{BufferUsages, ErrorFilter};

/// Bytes that the page sends to fill a buffer, which the GPU repeats in a larger one.
const CHUNK_BYTES: usize = 4 << 20;

/// A job that is ready to be launched.
pub struct Prepared {
    buffers: Vec<wgpu::Buffer>,
    launches: Vec<PreparedLaunch>,
}

struct PreparedLaunch {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: [u32; 3],
}

impl Drop for Prepared {
    fn drop(&mut self) {
        for buffer in &self.buffers {
            buffer.destroy();
        }
    }
}

impl Gpu {
    /// Brings a job to the device.
    ///
    /// # Errors
    /// If it exceeds a limit or the memory, or a kernel is not valid.
    pub async fn prepare(&self, job: &Job) -> Result<Prepared, Failure> {
        job.within(&self.limits)?;
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let buffers = job.buffers.iter().map(|buffer| self.filled(buffer));
        let mut prepared = Prepared {
            buffers: buffers.collect(),
            launches: Vec::with_capacity(job.launches.len()),
        };
        if self
            .waited("the upload", LONGEST_COMPILATION_S, memory.pop())
            .await?
            .is_some()
        {
            return Err(Failure::OutOfMemory);
        }
        for launch in &job.launches {
            let internal = self.device.push_error_scope(ErrorFilter::Internal);
            let invalid = self.device.push_error_scope(ErrorFilter::Validation);
            let pipeline = self.compiled(&launch.code);
            let bound = launch
                .buffers
                .iter()
                .filter_map(|&buffer| prepared.buffers.get(buffer));
            let entries = (0..)
                .zip(bound)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                });
            let bind_group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries.collect::<Vec<_>>(),
            });
            let errors = [invalid.pop(), internal.pop()];
            for error in errors {
                if let Some(error) = self
                    .waited(&launch.name, LONGEST_COMPILATION_S, error)
                    .await?
                {
                    return Err(Failure::Kernel {
                        name: launch.name.clone(),
                        message: error.to_string(),
                    });
                }
            }
            let code = launch.code.clone();
            self.pipelines.borrow_mut().insert(code, pipeline.clone());
            prepared.launches.push(PreparedLaunch {
                pipeline,
                bind_group,
                workgroups: launch.workgroups,
            });
        }
        Ok(prepared)
    }

    /// A kernel; those that were compiled before are known to be valid.
    fn compiled(&self, code: &str) -> wgpu::ComputePipeline {
        if let Some(known) = self.pipelines.borrow().get(code) {
            return known.clone();
        }
        let source = wgpu::ShaderSource::Wgsl(code.into());
        let module = wgpu::ShaderModuleDescriptor {
            label: None,
            source,
        };
        let module = self.device.create_shader_module(module);
        let descriptor = wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        };
        self.device.create_compute_pipeline(&descriptor)
    }

    fn filled(&self, of: &Buffer) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(&of.name),
            size: of.bytes,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        if of.contents.is_empty() {
            return buffer;
        }
        let repeated = (CHUNK_BYTES / of.contents.len()).max(1);
        let chunk = of.contents.repeat(repeated);
        let chunk_bytes = chunk.len() as u64;
        if chunk_bytes >= of.bytes {
            let whole = usize::try_from(of.bytes)
                .ok()
                .and_then(|all| chunk.get(..all));
            self.queue
                .write_buffer(&buffer, 0, whole.unwrap_or_default());
            return buffer;
        }
        // The GPU copies within its own memory some hundred times as fast as the page sends bytes
        // to it.
        let sent = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: chunk_bytes,
            usage: BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&sent, 0, &chunk);
        let mut encoder = self
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut offset = 0;
        while offset < of.bytes {
            let part = chunk_bytes.min(of.bytes - offset);
            encoder.copy_buffer_to_buffer(&sent, 0, &buffer, offset, part);
            offset += part;
        }
        self.queue.submit([encoder.finish()]);
        sent.destroy();
        buffer
    }
}

impl Prepared {
    /// Runs all launches once.
    ///
    /// # Errors
    /// If the device fails or takes too long.
    pub async fn run(&self, gpu: &Gpu) -> Result<(), Failure> {
        self.submit(gpu, None, 1, None);
        gpu.done("the program").await
    }

    /// What a buffer holds.
    ///
    /// # Errors
    /// If the device fails.
    pub async fn read(&self, gpu: &Gpu, buffer: usize) -> Result<Vec<u8>, Failure> {
        let Some(buffer) = self.buffers.get(buffer) else {
            return Ok(Vec::new());
        };
        let readable = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &readable, 0, buffer.size());
        gpu.queue.submit([encoder.finish()]);
        let bytes = gpu.mapped(&readable, "the result").await;
        readable.destroy();
        bytes
    }

    /// The time of `count` runs of one launch or of all, in seconds.
    pub(super) async fn timed(
        &self,
        gpu: &Gpu,
        launch: Option<usize>,
        count: u32,
        name: &str,
    ) -> Result<f64, Failure> {
        if let Some(clock) = &gpu.clock {
            self.submit(gpu, launch, count, Some(clock));
            let bytes = gpu.mapped(&clock.readable, name).await?;
            return Ok(Clock::seconds(&bytes));
        }
        let began_ms = now_ms();
        self.submit(gpu, launch, count, None);
        gpu.done(name).await?;
        Ok((now_ms() - began_ms) / 1e3)
    }

    fn submit(&self, gpu: &Gpu, launch: Option<usize>, count: u32, clock: Option<&Clock>) {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: clock.map(Clock::of_pass),
        });
        let launches = match launch {
            Some(launch) => self.launches.get(launch..=launch).unwrap_or_default(),
            None => &self.launches,
        };
        for _ in 0..count {
            for launch in launches {
                let [x, y, z] = launch.workgroups;
                pass.set_pipeline(&launch.pipeline);
                pass.set_bind_group(0, &launch.bind_group, &[]);
                pass.dispatch_workgroups(x, y, z);
            }
        }
        drop(pass);
        if let Some(clock) = clock {
            clock.resolve(&mut encoder);
        }
        gpu.queue.submit([encoder.finish()]);
    }
}
