//! Jobs that measure a GPU, and the device with the measured rates. The jobs are a copy, chains of
//! multiply-adds and of exponentials, a product of matrices, and launches that do nothing.

use super::LEAST_SHARE;
use super::failure::Failure;
use super::job::{Buffer, DRAWN_ELEMENTS, Job, Launch, Limits, ProgramJob};
use crate::interpret::{Budget, Reference, Setup};
use fuseline_core::ReshapeCost;
use fuseline_core::analysis::analyze_program;
use fuseline_core::model::day::Day;
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::model::options::Options;
use fuseline_core::notation::parse;

/// The means of measurement that the measured device states.
const MEASURED_WITH: &str = "WebGPU";
/// Threads of a workgroup.
const THREADS: u64 = 256;
/// Bytes that the copy reads, and writes again: more than caches hold.
const COPY_BYTES: u64 = 128 << 20;
/// Workgroups of the chains, enough to fill a large GPU.
const CHAIN_GROUPS: u32 = 256;
/// Rounds of links in a step. The loop and the checks of the browser cost as much as a round or
/// two: with one round a step an H100 reached 36 TFLOP/s in multiply-adds, with 16 rounds 61
/// TFLOP/s, its rate in CUDA.
const ROUNDS_OF_STEP: u32 = 16;
/// Steps of a chain: at first few enough for a software GPU, then many on a GPU that needs less
/// than [`SHORT_S`] for those.
pub const CHAIN_STEPS: [u32; 2] = [2, 512];
/// The time in seconds below which a chain is too short to measure a rate.
pub const SHORT_S: f64 = 0.5e-3;
/// Rows and columns of the product. The largest has 4096 tiles of 64 x 64, enough to fill a large
/// GPU.
const PRODUCT_SIZES: [u64; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// The longest time of the product in seconds, on a GPU that reaches [`LEAST_SHARE`] of its vector
/// rate.
const LONGEST_PRODUCT_S: f64 = 0.05;

const COPY: &str = "\
@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> copy: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&copy) {
        copy[id.x] = source[id.x];
    }
}
";

/// Four independent chains a thread, each of four lanes. The number of steps is read from a buffer,
/// so that no compiler evaluates the chains beforehand.
const CHAINS_BEGIN: &str = "\
@group(0) @binding(0) var<storage, read> steps: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let start = vec4<f32>(f32(id.x) * 1e-6);
    let by = vec4<f32>(0.999, 0.998, 0.997, 0.996);
    var a = start;
    var b = start + 1.0;
    var c = start + 2.0;
    var d = start + 3.0;
    for (var step = 0u; step < steps[0]; step += 1u) {
";
const CHAINS_ROUND: &str = "        \
        a = chained(a, by, start); b = chained(b, by, start); c = chained(c, by, start); d = chained(d, by, start);
";
const CHAINS_END: &str = "    }
    sums[id.x] = a + b + c + d;
}
";

/// The links of chains that [`CHAINS_ROUND`] calls.
const MULTIPLY_ADD: &str = "\
fn chained(x: vec4<f32>, by: vec4<f32>, add: vec4<f32>) -> vec4<f32> {
    return fma(x, by, add);
}
";
const EXPONENTIAL: &str = "\
fn chained(x: vec4<f32>, by: vec4<f32>, add: vec4<f32>) -> vec4<f32> {
    return exp(-x);
}
";

const NOTHING: &str = "\
@group(0) @binding(0) var<storage, read_write> count: array<f32>;
@compute @workgroup_size(1)
fn main() {
    count[0] += 1.0;
}
";

/// A job of one launch, and how much of what it measures one run of it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// What is run.
    pub job: Job,
    /// Bytes, FLOPs, exponentials or launches.
    pub amount: f64,
}

impl Probe {
    /// The amount in a second, where one run takes this long; `None` if the clock shows no time.
    pub fn per_s(&self, time_s: f64) -> Option<f64> {
        let per_s = self.amount / time_s;
        (per_s.is_finite() && per_s > 0.0).then_some(per_s)
    }

    /// The rate of [`Probe::per_s`], where no prediction is possible without it.
    ///
    /// # Errors
    /// If the clock shows no time.
    pub fn rate(&self, time_s: f64) -> Result<f64, Failure> {
        let name = self.job.launches.first().map(|launch| &*launch.name);
        let name = name.unwrap_or_default();
        self.per_s(time_s)
            .ok_or_else(|| Failure::NoRate(format!("the clock shows no time for {name}")))
    }
}

/// The rates that the probes measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Bytes read and written by a copy from buffer to buffer, in byte/s.
    pub memory_bytes_per_s: f64,
    /// Multiply-adds in f32, each two FLOPs, in FLOP/s.
    pub vector_flops_per_s: f64,
    /// A product of f32 matrices by a shader, in FLOP/s; `None` if the clock shows no time for it.
    pub shader_product_flops_per_s: Option<f64>,
    /// Exponentials of f32 numbers; `None` if the clock shows no time for them.
    pub exp_per_s: Option<f64>,
    /// Time of one of several consecutive launches, in seconds.
    pub launch_s: f64,
}

impl Rates {
    /// The GPU as a device like others. WebGPU says nothing about matrix units, caches and the size
    /// of its memory; the memory of a workgroup is the largest that it admits.
    ///
    /// # Errors
    /// If no GPU can have one of the rates.
    pub fn device_probe(
        self,
        name: &str,
        measured_on: Day,
        limits: &Limits,
    ) -> Result<DeviceProbe, Failure> {
        let mut probe = DeviceProbe::new(
            name,
            measured_on,
            MEASURED_WITH,
            self.memory_bytes_per_s,
            self.vector_flops_per_s,
            self.launch_s,
        );
        probe.shader_product_flops_per_s = self.shader_product_flops_per_s;
        probe.exp_per_s = self.exp_per_s;
        probe.shared_bytes_per_block = Some(limits.max_workgroup_bytes);
        (probe.check()).map_err(|problem| Failure::NoRate(problem.to_string()))?;
        Ok(probe)
    }
}

/// Copies a buffer to another one; the amount is the bytes read and written.
#[allow(
    clippy::cast_possible_truncation,
    reason = "bounded by limits of 32 bits"
)]
pub fn copy(limits: &Limits) -> Probe {
    let bytes_of_group = THREADS * 16;
    let admitted = limits.max_tensor_bytes() / bytes_of_group;
    let groups = (COPY_BYTES / bytes_of_group)
        .min(admitted)
        .clamp(1, limits.max_workgroups.into());
    let bytes = groups * bytes_of_group;
    let buffer = |name: &str| Buffer {
        name: name.to_owned(),
        bytes,
        contents: Vec::new(),
    };
    Probe {
        job: Job {
            buffers: vec![buffer("source"), buffer("copy")],
            launches: vec![launch(
                "the measurement of the bandwidth",
                COPY,
                &[0, 1],
                groups as u32,
            )],
        },
        amount: 2.0 * bytes as f64,
    }
}

/// Multiply-adds in registers; the amount is their FLOPs.
pub fn chains(steps: u32) -> Probe {
    let flops = 2;
    chains_of(
        MULTIPLY_ADD,
        flops,
        steps,
        "the measurement of the vector rate",
    )
}

/// Exponentials of numbers in registers; the amount is their number.
pub fn exponentials(steps: u32) -> Probe {
    chains_of(EXPONENTIAL, 1, steps, "the measurement of exponentials")
}

fn chains_of(link: &str, amount_of_link: u64, steps: u32, name: &str) -> Probe {
    let threads = u64::from(CHAIN_GROUPS) * THREADS;
    let links_of_round = 4 * 4;
    let links_of_step = links_of_round * u64::from(ROUNDS_OF_STEP);
    let rounds = CHAINS_ROUND.repeat(ROUNDS_OF_STEP as usize);
    Probe {
        job: Job {
            buffers: vec![
                Buffer {
                    name: "steps".to_owned(),
                    bytes: 4,
                    contents: steps.to_le_bytes().to_vec(),
                },
                Buffer {
                    name: "sums".to_owned(),
                    bytes: threads * 16,
                    contents: Vec::new(),
                },
            ],
            launches: vec![launch(
                name,
                &format!("{CHAINS_BEGIN}{rounds}{CHAINS_END}{link}"),
                &[0, 1],
                CHAIN_GROUPS,
            )],
        },
        amount: (threads * u64::from(steps) * links_of_step * amount_of_link) as f64,
    }
}

/// A product of square matrices by the shader that a program would have for it; the amount is its
/// FLOPs. It has the largest size that a GPU with these limits and this vector rate computes
/// quickly.
///
/// # Errors
/// If it has no shader.
pub fn product(limits: &Limits, vector_flops_per_s: f64) -> Result<Probe, Failure> {
    let flops_of = |size: u64| (2 * size * size * size) as f64;
    let most_flops = vector_flops_per_s * LEAST_SHARE * LONGEST_PRODUCT_S;
    let fits =
        |size: &u64| 4 * size * size <= limits.max_tensor_bytes() && flops_of(*size) <= most_flops;
    let [smallest, ..] = PRODUCT_SIZES;
    let size = PRODUCT_SIZES.into_iter().rev().find(fits);
    let size = size.unwrap_or(smallest);
    let text =
        format!("input x : f32[{size}, {size}]\nweight w : f32[{size}, {size}]\ny = matmul(x, w)");
    let program = parse(&text).program;
    let analysis = analyze_program(&program, &Options::default()).analysis;
    let kernels = analysis
        .map(|analysis| analysis.partition)
        .unwrap_or_default();
    let reference = Reference::new(&program, &kernels, &Setup::default(), &Budget::ANY)?;
    let mut job = ProgramJob::new(&reference, &kernels, ReshapeCost::View, DRAWN_ELEMENTS)?.job;
    for launch in &mut job.launches {
        "the measurement of products".clone_into(&mut launch.name);
    }
    Ok(Probe {
        job,
        amount: flops_of(size),
    })
}

/// Adds 1 to one number, so that each launch waits for the one before; the amount is one launch.
pub fn launches() -> Probe {
    Probe {
        job: Job {
            buffers: vec![Buffer {
                name: "count".to_owned(),
                bytes: 4,
                contents: Vec::new(),
            }],
            launches: vec![launch("the measurement of a launch", NOTHING, &[0], 1)],
        },
        amount: 1.0,
    }
}

fn launch(name: &str, code: &str, buffers: &[usize], groups: u32) -> Launch {
    Launch {
        name: name.to_owned(),
        code: code.to_owned(),
        buffers: buffers.to_vec(),
        workgroups: [groups, 1, 1],
    }
}
