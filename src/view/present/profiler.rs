//! What profilers would show of the kernels: a sentence about the timeline, and the table of Nsight Compute as predicted.

use crate::present::figure::{Figure, Of, Quantity, Resource};
use crate::present::format::{format_digits, format_exact, format_percent};
use fuseline_core::analysis::device_model::{cold_time, device_count};
use fuseline_core::analysis::launches::{LaunchTimeline, Launcher};
use fuseline_core::analysis::limits::{KernelLimits, limits};
use fuseline_core::cost::roofline::peaks;
use fuseline_core::{Analysis, Kernel, KernelId};

/// Below this share of idle time a GPU counts as busy.
const LITTLE_IDLE: f64 = 0.1;

/// What the timeline shows, in a sentence.
pub fn claim(timeline: &LaunchTimeline, launcher: Launcher) -> String {
    let idle = timeline.idle_share();
    if timeline.kernels.is_empty() {
        return "No kernel is launched.".to_owned();
    }
    let share = |share: f64| format_percent(share * 100.0);
    if idle < LITTLE_IDLE {
        return format!("The GPU is busy {} of the time", share(1.0 - idle));
    }
    match launcher {
        Launcher::Python => format!("The GPU waits for Python {} of the time", share(idle)),
        Launcher::CudaGraph => format!(
            "Between kernels the GPU does nothing for {} of the time",
            share(idle)
        ),
    }
}

/// A command line, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it shows.
    pub shows: &'static str,
    /// The line.
    pub line: &'static str,
}

/// How to profile a script, in order: first which kernels, then one of them, then the files that this page opens.
pub const COMMANDS: [Command; 4] = [
    Command {
        shows: "Nsight Systems: kernels, launches and gaps over time",
        line: "nsys profile -o report python script.py",
    },
    Command {
        shows: "Nsight Compute: all sections of one kernel",
        line: "ncu --set full -k regex:NAME -c 1 python script.py",
    },
    Command {
        shows: "A table of all kernels, which this page opens",
        line: "ncu --csv --page raw --metrics dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum python script.py > kernels.csv",
    },
    Command {
        shows: "The kernels of a timeline, which this page opens",
        line: "nsys stats -r cuda_gpu_trace -f csv report.nsys-rep > trace.csv",
    },
];

/// A section of Nsight Compute's table.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name there.
    pub name: &'static str,
    /// What to look for in it.
    pub reading: &'static str,
    /// Its metrics.
    pub metrics: Vec<Metric>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name there.
    pub name: &'static str,
    /// Its unit there.
    pub unit: &'static str,
    /// Its predicted value; `None` where the model has none.
    pub value: Option<String>,
    /// The figure of the page that it is, which explains itself.
    pub figure: Option<Figure>,
}

/// Nsight Compute's table of a kernel, as predicted: it flushes the cache before each kernel. `None` if the multiprocessors of
/// the device are unknown. `O(ops + reads)`.
pub fn sections(analysis: &Analysis, id: KernelId) -> Option<Vec<Section>> {
    let limits = limits(analysis)?;
    let limits = limits.get(id)?;
    let kernel = analysis.fused.kernels.get(id)?;
    let of = Of::kernel(analysis, id)?;
    Some(vec![
        speed_of_light(analysis, id, kernel),
        memory(analysis, id, kernel),
        launch(analysis, limits, of),
        occupancy(limits, of),
    ])
}

fn speed_of_light(analysis: &Analysis, id: KernelId, kernel: &Kernel) -> Section {
    let options = &analysis.options;
    let time_s = measured_time_s(analysis, id);
    let of_peak = |amount: f64, per_s: f64| {
        let share = amount / time_s? / per_s;
        Some(format_digits((share * 100.0).min(100.0), 4))
    };
    let (read, written) = dram_bytes(analysis, id, kernel);
    let bandwidth = options.device.memory_bytes_per_s.value;
    // Which instructions other kernels have is not modelled, and Nsight counts them all.
    let matrix = peaks(options, kernel.work)
        .matrix
        .and_then(|peak| of_peak(kernel.work.matrix_flops as f64, peak.figure.value));
    Section {
        name: "GPU Speed Of Light Throughput",
        reading: "The larger percentage is the bottleneck. Both low: latency or too few blocks.",
        metrics: vec![
            Metric {
                name: "Duration",
                unit: "us",
                value: time_s.map(|time_s| format_digits(time_s * 1e6, 4)),
                figure: None,
            },
            Metric {
                name: "DRAM Throughput",
                unit: "%",
                value: of_peak(read + written, bandwidth),
                figure: None,
            },
            Metric {
                name: "Compute (SM) Throughput",
                unit: "%",
                value: matrix,
                figure: None,
            },
        ],
    }
}

fn memory(analysis: &Analysis, id: KernelId, kernel: &Kernel) -> Section {
    let (read, written) = dram_bytes(analysis, id, kernel);
    let rate = measured_time_s(analysis, id).map(|time_s| (read + written) / time_s);
    let megabytes = |bytes: f64| Some(format_digits(bytes / 1e6, 4));
    Section {
        name: "Memory Workload Analysis",
        reading: "More bytes than the operands have: the kernel reads something twice.",
        metrics: vec![
            Metric {
                name: "Memory Throughput",
                unit: "Gbyte/s",
                value: rate.map(|rate| format_digits(rate / 1e9, 4)),
                figure: None,
            },
            Metric {
                name: "dram__bytes_read.sum",
                unit: "Mbyte",
                value: megabytes(read),
                figure: None,
            },
            Metric {
                name: "dram__bytes_write.sum",
                unit: "Mbyte",
                value: megabytes(written),
                figure: None,
            },
        ],
    }
}

fn launch(analysis: &Analysis, limits: &KernelLimits, of: Of) -> Section {
    let resource = |resource| Some(Figure::fused(of, Quantity::Resource(resource)));
    let multiprocessors = analysis.options.device.hardware.multiprocessors;
    let waves = multiprocessors.map(|count| {
        let at_once = limits.resident.blocks() as f64 * count.value;
        format_digits(limits.blocks as f64 / at_once, 3)
    });
    Section {
        name: "Launch Statistics",
        reading: "Fewer blocks than multiprocessors: most of the GPU has nothing to do.",
        metrics: vec![
            Metric {
                name: "Grid Size",
                unit: "",
                value: Some(format_exact(limits.blocks.into())),
                figure: resource(Resource::Blocks),
            },
            Metric {
                name: "Block Size",
                unit: "",
                value: Some(format_exact(limits.threads_per_block.into())),
                figure: None,
            },
            Metric {
                name: "Registers Per Thread",
                unit: "register/thread",
                value: Some(limits.registers_per_thread.to_string()),
                figure: resource(Resource::Registers),
            },
            Metric {
                name: "Shared Memory Per Block",
                unit: "Kbyte/block",
                value: Some(format_digits(limits.on_chip_bytes as f64 / 1e3, 4)),
                figure: resource(Resource::OnChip),
            },
            Metric {
                name: "Waves Per SM",
                unit: "",
                value: waves,
                figure: None,
            },
        ],
    }
}

fn occupancy(limits: &KernelLimits, of: Of) -> Section {
    let resident = limits.resident;
    let limit = |name, blocks: u64| Metric {
        name,
        unit: "block",
        value: Some(blocks.to_string()),
        figure: None,
    };
    Section {
        name: "Occupancy",
        reading: "The smallest block limit sets it. Read it last: a matmul needs little of it.",
        metrics: vec![
            limit("Block Limit SM", resident.by_blocks),
            limit("Block Limit Registers", resident.by_registers),
            // A block that needs none is limited by the others alone.
            limit(
                "Block Limit Shared Mem",
                resident.by_shared_memory.min(resident.by_blocks),
            ),
            limit("Block Limit Warps", resident.by_threads),
            Metric {
                name: "Theoretical Occupancy",
                unit: "%",
                value: Some(format_digits(limits.occupancy * 100.0, 4)),
                figure: Some(Figure::fused(of, Quantity::Resource(Resource::Occupancy))),
            },
        ],
    }
}

/// The time with a cold cache where it is predicted, else the lower bound.
fn measured_time_s(analysis: &Analysis, id: KernelId) -> Option<f64> {
    let time_s = cold_time(analysis, id).or_else(|| analysis.kernel_time_s(id));
    time_s.filter(|&time_s| time_s > 0.0)
}

/// Bytes that a kernel reads from DRAM with a cold cache, and those that it writes.
fn dram_bytes(analysis: &Analysis, id: KernelId, kernel: &Kernel) -> (f64, f64) {
    let counted = device_count(analysis).and_then(|count| count.kernels.get(id).copied());
    let read = counted.unwrap_or(kernel.traffic.bytes_read() as f64);
    (read, kernel.traffic.bytes_written() as f64)
}
