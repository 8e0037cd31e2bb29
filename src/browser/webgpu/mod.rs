//! The GPU of the visitor, by WebGPU: it opens a device, runs jobs on it and takes their times.
//!
//! Whatever goes wrong comes back as a [`Failure`]; the device is given up with the [`Gpu`] that
//! holds it.

mod clock;
mod prepared;
mod wait;

pub use prepared::Prepared;

use crate::clock::now_ms;
use clock::Clock;
use fuseline_codegen::your_gpu::repeats::{
    COLD_AFTER_S, LONGEST_WAIT_S, Repeats, WANTED_S, WANTED_WITHOUT_CLOCK_S, WARM_UP_S,
};
use fuseline_codegen::your_gpu::{Failure, Job, Limits};
use fuseline_core::model::device::DeviceProbe;
use js_sys::{Function, Promise, Reflect};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use wait::{answer, within};
use wasm_bindgen::{JsCast, JsValue};

/// Whether the visitor has asked to stop.
pub type Stop = Rc<Cell<bool>>;

/// An open device.
pub struct Gpu {
    /// The name of the adapter: vendor, architecture and description as far as the browser reports
    /// them.
    pub name: String,
    pub limits: Limits,
    device: wgpu::Device,
    queue: wgpu::Queue,
    clock: Option<Clock>,
    /// Compiled kernels by their code: a comparison often times the same kernel at the same sizes.
    pipelines: RefCell<HashMap<String, wgpu::ComputePipeline>>,
    /// When the last time was taken. Compilations and uploads leave the GPU idle.
    timed_at_ms: Cell<Option<f64>>,
    /// The first thing that went wrong outside of an error scope.
    trouble: Arc<Mutex<Option<Failure>>>,
    stop: Stop,
}

impl Drop for Gpu {
    /// Frees the memory at once, and not when the browser collects garbage.
    fn drop(&mut self) {
        self.device.destroy();
    }
}

impl Gpu {
    /// Opens the fastest adapter with all that it admits.
    ///
    /// # Errors
    /// If there is no WebGPU, no adapter or no device.
    pub async fn open(stop: Stop) -> Result<Self, Failure> {
        let gpu = navigator_gpu().ok_or(Failure::NoWebGpu)?;
        let name = adapter_name(&gpu).await?;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance.request_adapter(&options).await;
        let adapter = adapter.map_err(|_| Failure::NoAdapter)?;
        let has_clock = adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let descriptor = wgpu::DeviceDescriptor {
            required_features: if has_clock {
                wgpu::Features::TIMESTAMP_QUERY
            } else {
                wgpu::Features::empty()
            },
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let opened = adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|error| Failure::NoDevice(error.to_string()))?;
        let trouble = Arc::new(Mutex::new(None));
        let note = {
            let trouble = Arc::clone(&trouble);
            move |failure| {
                if let Ok(mut trouble) = trouble.lock() {
                    trouble.get_or_insert(failure);
                }
            }
        };
        device.set_device_lost_callback({
            let note = note.clone();
            move |_, message| note(Failure::Lost(message))
        });
        device.on_uncaptured_error(Arc::new(move |error| note(failure_of(&error))));
        let limits = device.limits();
        Ok(Self {
            name,
            limits: Limits {
                max_buffer_bytes: limits.max_buffer_size,
                max_binding_bytes: limits.max_storage_buffer_binding_size,
                max_bindings: limits.max_storage_buffers_per_shader_stage,
                max_workgroups: limits.max_compute_workgroups_per_dimension,
                max_workgroup_bytes: limits.max_compute_workgroup_storage_size,
            },
            clock: has_clock.then(|| Clock::new(&device)),
            pipelines: RefCell::default(),
            timed_at_ms: Cell::default(),
            device,
            queue,
            trouble,
            stop,
        })
    }

    /// Whether the GPU takes times itself.
    pub const fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// The time of one run of all launches, or of one of them, in seconds: the median of rounds of
    /// repetitions.
    ///
    /// # Errors
    /// If the device fails or takes too long.
    pub async fn time_s(
        &self,
        prepared: &Prepared,
        job: &Job,
        launch: Option<usize>,
    ) -> Result<f64, Failure> {
        let (launches, name) = match launch.and_then(|launch| job.launches.get(launch)) {
            Some(launch) => (1, launch.name.as_str()),
            None => (job.launches.len(), "the program"),
        };
        let wanted_s = if self.has_clock() {
            WANTED_S
        } else {
            WANTED_WITHOUT_CLOCK_S
        };
        let search = Repeats::new(u32::try_from(launches).unwrap_or(u32::MAX), wanted_s);
        if self.is_cold() {
            let mut repeats = search.clone();
            let warm_at_ms = now_ms() + WARM_UP_S * 1e3;
            while now_ms() < warm_at_ms {
                let time_s = self.submitted_s(prepared, launch, repeats.count, name);
                repeats.measured(time_s.await?);
            }
        }
        // At a low clock fewer repetitions seemed enough, so the search begins anew.
        let mut repeats = search;
        loop {
            let time_s = self.submitted_s(prepared, launch, repeats.count, name);
            if let Some(time_s) = repeats.measured(time_s.await?) {
                return Ok(time_s);
            }
        }
    }

    /// The time of one submission, in seconds.
    async fn submitted_s(
        &self,
        prepared: &Prepared,
        launch: Option<usize>,
        count: u32,
        name: &str,
    ) -> Result<f64, Failure> {
        let time_s = prepared.timed(self, launch, count, name).await?;
        self.timed_at_ms.set(Some(now_ms()));
        Ok(time_s)
    }

    /// Whether the GPU may have lowered its clock.
    fn is_cold(&self) -> bool {
        let timed_at_ms = self.timed_at_ms.get();
        timed_at_ms.is_none_or(|timed_at_ms| now_ms() - timed_at_ms > COLD_AFTER_S * 1e3)
    }

    /// Fails with the first failure so far, or if the visitor wants to stop.
    fn checked(&self) -> Result<(), Failure> {
        if self.stop.get() {
            return Err(Failure::Stopped);
        }
        match self.trouble.lock() {
            Ok(mut trouble) => trouble.take().map_or(Ok(()), Err),
            Err(_) => Ok(()),
        }
    }

    /// Waits for an answer of the GPU about `name`.
    async fn waited<T: 'static>(
        &self,
        name: &str,
        limit_s: f64,
        future: impl Future<Output = T> + 'static,
    ) -> Result<T, Failure> {
        let answer = within(limit_s, future).await;
        self.checked()?;
        answer.ok_or_else(|| Failure::TooLong {
            name: name.to_owned(),
            waited_s: limit_s,
        })
    }

    /// Waits until all that was submitted has run.
    async fn done(&self, name: &str) -> Result<(), Failure> {
        let (send, receive) = answer();
        self.queue.on_submitted_work_done(move || send(()));
        self.waited(name, LONGEST_WAIT_S, receive).await.map(|_| ())
    }

    /// The bytes of a buffer that can be mapped.
    async fn mapped(&self, buffer: &wgpu::Buffer, name: &str) -> Result<Vec<u8>, Failure> {
        let (send, receive) = answer();
        let slice = buffer.slice(..);
        slice.map_async(wgpu::MapMode::Read, send);
        let lost = || Failure::Lost(String::new());
        let mapped = self.waited(name, LONGEST_WAIT_S, receive).await?;
        mapped.and_then(Result::ok).ok_or_else(lost)?;
        let bytes = slice.get_mapped_range().map_err(|_| lost())?.to_vec();
        buffer.unmap();
        Ok(bytes)
    }
}

fn failure_of(error: &wgpu::Error) -> Failure {
    match error {
        wgpu::Error::OutOfMemory { .. } => Failure::OutOfMemory,
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            Failure::Other(description.clone())
        }
    }
}

/// `navigator.gpu`; `None` in a browser without WebGPU.
fn navigator_gpu() -> Option<JsValue> {
    let navigator = web_sys::window()?.navigator();
    let gpu = Reflect::get(&navigator, &"gpu".into()).ok()?;
    gpu.is_object().then_some(gpu)
}

/// The browser's description of the adapter, of which wgpu passes on the description alone.
async fn adapter_name(gpu: &JsValue) -> Result<String, Failure> {
    let adapter = adapter(gpu).await.ok_or(Failure::NoAdapter)?;
    let info = Reflect::get(&adapter, &"info".into()).unwrap_or_default();
    let word = |key: &str| Reflect::get(&info, &key.into()).ok()?.as_string();
    let words = ["vendor", "architecture", "description"].map(word);
    let words: Vec<String> = words
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .collect();
    Ok(DeviceProbe::name_of(&words.join(" ")))
}

/// The fastest adapter; `None` if there is none.
async fn adapter(gpu: &JsValue) -> Option<JsValue> {
    let request = Reflect::get(gpu, &"requestAdapter".into()).ok()?;
    let options = js_sys::Object::new();
    let (key, value) = ("powerPreference", "high-performance");
    Reflect::set(&options, &key.into(), &value.into()).ok()?;
    let request = request.dyn_into::<Function>().ok()?;
    let promise = request.call1(gpu, &options).ok()?;
    let promise = promise.dyn_into::<Promise>().ok()?;
    let adapter = js_sys::futures::JsFuture::from(promise).await.ok()?;
    adapter.is_object().then_some(adapter)
}
