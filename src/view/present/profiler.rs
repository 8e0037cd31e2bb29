//! What profilers would show of the kernels: a sentence about the timeline, and the table of Nsight
//! Compute as predicted.

use crate::present::format::{format_digits, format_exact, format_percent};
use crate::present::quantity::{Figure, Quantity, Subject};
use fuseline_core::analysis::device_model::{cold_time, device_count};
use fuseline_core::analysis::launches::{LaunchTimeline, Launcher};
use fuseline_core::analysis::limits::{KernelLimits, limits};
use fuseline_core::cost::roofline::peaks;
use fuseline_core::{Analysis, Kernel, KernelId};

/// The share of idle time below which a GPU counts as busy.
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

/// The name of who launches kernels, as a choice.
pub const fn launcher_name(launcher: Launcher) -> &'static str {
    match launcher {
        Launcher::Python => "Python, one by one",
        Launcher::CudaGraph => "a CUDA graph",
    }
}

/// A command line, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub shows: &'static str,
    pub line: &'static str,
}

/// How to profile a script, in order: first which kernels, then one of them, then the files that
/// this page opens.
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
    /// Its name in Nsight Compute.
    pub name: &'static str,
    /// What to look for in it.
    pub reading: &'static str,
    pub metrics: Vec<Metric>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name in Nsight Compute.
    pub name: &'static str,
    /// Its unit in Nsight Compute.
    pub unit: &'static str,
    /// Its predicted value; `None` where the model has none.
    pub value: Option<String>,
    /// The figure of the page with the same value, which has the explanation.
    pub figure: Option<Figure>,
}

impl Metric {
    const fn new(name: &'static str, unit: &'static str, value: Option<String>) -> Self {
        Self {
            name,
            unit,
            value,
            figure: None,
        }
    }

    /// The metric, with the figure of the page that has its value.
    fn of_quantity(self, of: Subject, quantity: Quantity) -> Self {
        let figure = Some(Figure::fused(of, quantity));
        Self { figure, ..self }
    }
}

/// Nsight Compute's table of a kernel, as predicted: it flushes the cache before each kernel.
/// `None` if the multiprocessors of the device are unknown. `O(ops + reads)`.
pub fn sections(analysis: &Analysis, id: KernelId) -> Option<Vec<Section>> {
    let limits = limits(analysis)?;
    let limits = limits.get(id)?;
    let kernel = analysis.fused.kernels.get(id)?;
    let of = Subject::kernel(analysis, id)?;
    let cold = Cold::new(analysis, id, kernel);
    Some(vec![
        speed_of_light(analysis, kernel, &cold),
        memory(&cold),
        launch(analysis, limits, of),
        occupancy(limits, of),
    ])
}

/// A kernel that starts with a cold cache.
struct Cold {
    /// Its time where it is predicted, else the lower bound.
    time_s: Option<f64>,
    /// Bytes that it reads from DRAM.
    read_bytes: f64,
    /// Bytes that it writes.
    write_bytes: f64,
}

impl Cold {
    fn new(analysis: &Analysis, id: KernelId, kernel: &Kernel) -> Self {
        let time_s = cold_time(analysis, id).or_else(|| analysis.kernel_time_s(id));
        let counted = device_count(analysis).and_then(|count| count.kernels.get(id).copied());
        Self {
            time_s: time_s.filter(|&time_s| time_s > 0.0),
            read_bytes: counted.unwrap_or(kernel.traffic.bytes_read() as f64),
            write_bytes: kernel.traffic.bytes_written() as f64,
        }
    }

    /// An amount per second.
    fn per_s(&self, amount: f64) -> Option<f64> {
        Some(amount / self.time_s?)
    }

    fn bytes_per_s(&self) -> Option<f64> {
        self.per_s(self.read_bytes + self.write_bytes)
    }
}

fn speed_of_light(analysis: &Analysis, kernel: &Kernel, cold: &Cold) -> Section {
    let options = &analysis.options;
    let percent = |share: f64| format_digits((share * 100.0).min(100.0), 4);
    let bandwidth = options.device.memory_bytes_per_s.value;
    let memory = cold.bytes_per_s().map(|rate| rate / bandwidth);
    // Which instructions other kernels have is not modelled, and Nsight counts them all.
    let matrix = peaks(options, kernel.work).matrix.and_then(|peak| {
        let rate = cold.per_s(kernel.work.matrix_flops as f64)?;
        Some(rate / peak.figure.value)
    });
    let duration = cold.time_s.map(|time_s| format_digits(time_s * 1e6, 4));
    Section {
        name: "GPU Speed Of Light Throughput",
        reading: "The larger percentage is the bottleneck. Both low: latency or too few blocks.",
        metrics: vec![
            Metric::new("Duration", "us", duration),
            Metric::new("DRAM Throughput", "%", memory.map(percent)),
            Metric::new("Compute (SM) Throughput", "%", matrix.map(percent)),
        ],
    }
}

fn memory(cold: &Cold) -> Section {
    let rate = cold.bytes_per_s();
    let megabytes = |bytes: f64| Some(format_digits(bytes / 1e6, 4));
    Section {
        name: "Memory Workload Analysis",
        reading: "More bytes than the operands have: the kernel reads something twice.",
        metrics: vec![
            Metric::new(
                "Memory Throughput",
                "Gbyte/s",
                rate.map(|rate| format_digits(rate / 1e9, 4)),
            ),
            Metric::new("dram__bytes_read.sum", "Mbyte", megabytes(cold.read_bytes)),
            Metric::new(
                "dram__bytes_write.sum",
                "Mbyte",
                megabytes(cold.write_bytes),
            ),
        ],
    }
}

fn launch(analysis: &Analysis, limits: &KernelLimits, of: Subject) -> Section {
    let multiprocessors = analysis.options.device.hardware.multiprocessors;
    let waves = multiprocessors.map(|count| {
        let at_once = limits.launch.resident_blocks::<f64>() * count.value;
        format_digits(limits.blocks as f64 / at_once, 3)
    });
    let count = |count: u64| Some(format_exact(count.into()));
    let shared = Some(format_digits(limits.on_chip_bytes as f64 / 1e3, 4));
    Section {
        name: "Launch Statistics",
        reading: "Fewer blocks than multiprocessors: most of the GPU has nothing to do.",
        metrics: vec![
            Metric::new("Grid Size", "", count(limits.blocks)).of_quantity(of, Quantity::Blocks),
            Metric::new("Block Size", "", count(limits.threads_per_block)),
            Metric::new(
                "Registers Per Thread",
                "register/thread",
                count(limits.registers_per_thread),
            )
            .of_quantity(of, Quantity::Registers),
            Metric::new("Shared Memory Per Block", "Kbyte/block", shared)
                .of_quantity(of, Quantity::OnChip),
            Metric::new("Waves Per SM", "", waves),
        ],
    }
}

fn occupancy(limits: &KernelLimits, of: Subject) -> Section {
    let launch = limits.launch;
    let most = launch.multiprocessor.blocks.into();
    let limit = |name, blocks: u64| Metric::new(name, "block", Some(blocks.to_string()));
    let share = Some(format_digits(limits.occupancy * 100.0, 4));
    Section {
        name: "Occupancy",
        reading: "The smallest block limit sets it. Read it last: a matmul needs little of it.",
        metrics: vec![
            limit("Block Limit SM", most),
            limit("Block Limit Registers", launch.blocks_by_registers()),
            // Without shared memory, the most blocks of a multiprocessor are the limit.
            limit(
                "Block Limit Shared Mem",
                (launch.blocks_by_shared_memory()).map_or(most, |blocks: u64| blocks.min(most)),
            ),
            limit("Block Limit Warps", launch.blocks_by_threads()),
            Metric::new("Theoretical Occupancy", "%", share).of_quantity(of, Quantity::Occupancy),
        ],
    }
}
