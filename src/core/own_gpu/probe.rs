//! Jobs that measure a GPU: a copy, chains of multiply-adds, and launches that do nothing.

use super::job::{Buffer, Job, Launch, Limits};

/// Threads of a workgroup.
const THREADS: u64 = 256;
/// Bytes that the copy reads, and writes again: more than caches hold.
const COPY_BYTES: u64 = 128 << 20;
/// Workgroups of the chains, enough to fill a large GPU.
const CHAIN_GROUPS: u32 = 256;
/// Steps of a chain at first, and on a GPU that needs less than [`SHORT_S`] for them.
pub const CHAIN_STEPS: [u32; 2] = [256, 8192];
/// In seconds.
pub const SHORT_S: f64 = 0.5e-3;

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

/// Four chains a thread, each of four lanes, that do not wait for each other. The number of steps is read, so that no compiler
/// computes them beforehand.
const CHAINS: &str = "\
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
        a = fma(a, by, start);
        b = fma(b, by, start);
        c = fma(c, by, start);
        d = fma(d, by, start);
    }
    sums[id.x] = a + b + c + d;
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
    /// Bytes, FLOPs or launches.
    pub amount: f64,
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
    let threads = u64::from(CHAIN_GROUPS) * THREADS;
    let flops_of_step = 4 * 4 * 2;
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
                "the measurement of the vector rate",
                CHAINS,
                &[0, 1],
                CHAIN_GROUPS,
            )],
        },
        amount: (threads * u64::from(steps) * flops_of_step) as f64,
    }
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
