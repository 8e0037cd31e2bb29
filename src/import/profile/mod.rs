//! Reads measurements: the kernels that a script or a profiler recorded on a GPU, from any of their
//! files into one [`Profile`].
//!
//! Files come in slices of any length, packed by gzip or not. A trace may have 500 MB, of which
//! only its kernels are kept.

mod averages;
mod csv;
mod error;
mod latest;
mod lines;
mod nsight;
mod packed;
mod reader;
mod recognise;
mod script;
mod sums;
mod trace;

pub use error::{ContentError, OtherDevice, ProfileError};
pub use packed::{is_packed, unpacked_start};
pub use reader::{Reader, read_profile};
pub use recognise::{Kind, Recognised, recognise};

use fuseline_core::Device;
use fuseline_core::model::device::{DeviceProbe, device_called};
use std::collections::HashSet;
use std::sync::Arc;

/// Most kernels of a file; one call launches far fewer. A longer trace keeps its last kernels, and
/// other longer files are refused.
pub const MAX_KERNELS: usize = 200_000;

/// Most bytes of all distinct kernel names. A thousand names of templates take some 2 MB.
const MAX_NAME_BYTES: usize = 64 << 20;

/// Ranges of a program with these names are its runs; a file without any is one run.
const VARIANTS: [&str; 3] = ["eager", "compiled", "max-autotune"];

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What wrote the file.
    pub kind: Kind,
    /// The name of the program, as the script has it.
    pub program: Option<String>,
    /// [`Graph::digest`](fuseline_core::Graph::digest) of the program that was run, in hexadecimal
    /// digits.
    pub digest: Option<String>,
    /// The program that was run, in the notation, where the script has it.
    pub text: Option<String>,
    /// The name of the GPU.
    pub device: Option<String>,
    /// The measured rates of the GPU, where the script has them.
    pub probe: Option<DeviceProbe>,
    /// The version of PyTorch.
    pub torch: Option<String>,
    /// The runs, in the order of the file; each has a kernel.
    pub runs: Vec<MeasuredRun>,
    /// How many kernels came before the last [`MAX_KERNELS`] of a trace. No run has any of them.
    pub passed_over: usize,
}

/// One call of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRun {
    /// What ran: `eager`, `compiled` or `max-autotune`, or a script's own name for it. `None` if
    /// the file does not name it.
    pub variant: Option<String>,
    /// Time of one call when calls follow each other in a CUDA graph.
    pub time_s: Option<f64>,
    /// Time of a call with the L2 overwritten before it.
    pub time_cold_s: Option<f64>,
    /// Its kernels, in the order in which they started.
    pub kernels: Vec<MeasuredKernel>,
    /// Whether kernels before these were passed over, so that the first ones may be the rest of a
    /// call.
    pub is_cut: bool,
    /// Whether its kernels were timed with a cold cache. Nsight Compute flushes it before each
    /// kernel by default, and its tables do not record the setting.
    pub is_cold: bool,
    /// Whether a table has summed all launches of each kernel: times are averages, and the order of
    /// the kernels is not known.
    pub is_summed: bool,
}

/// A kernel that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredKernel {
    /// Its name, demangled.
    pub name: Arc<str>,
    /// When it started, from the start of the first kernel of the run.
    pub start_s: Option<f64>,
    /// How long it ran.
    pub time_s: f64,
    /// Bytes that it read from DRAM.
    pub read_bytes: Option<u64>,
    /// Bytes that it wrote to DRAM.
    pub write_bytes: Option<u64>,
    /// Bytes that it read and wrote, also where only their sum was measured.
    pub moved_bytes: Option<u64>,
    /// Blocks along x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block along x, y and z.
    pub block: Option<[u32; 3]>,
}

impl Profile {
    /// The GPU with its measured rates, else as the table of devices has it; `None` if neither is
    /// known.
    pub fn measured_device(&self) -> Option<Device> {
        let probe = self.probe.as_ref().filter(|probe| probe.check().is_ok());
        match probe {
            Some(probe) => Some(probe.clone().device()),
            None => device_called(self.device.as_deref()?).cloned(),
        }
    }

    /// Adds another file about the same program. A file of the same kind replaces this one. Runs of
    /// another kind complete the runs with the same kernels, and other runs are added.
    /// `O(kernels * kernels)` at worst.
    ///
    /// # Errors
    /// If the two files name different GPUs. Then nothing is added.
    pub fn add(&mut self, mut other: Self) -> Result<(), OtherDevice> {
        if self.kind == other.kind {
            *self = other;
            return Ok(());
        }
        if let (Some(own), Some(others)) = (&self.device, &other.device)
            && own != others
        {
            return Err(OtherDevice {
                other: others.clone(),
                open: own.clone(),
            });
        }
        // Other files name all their runs, and a table has the bytes, so the table is added.
        if self.kind == Kind::Table {
            std::mem::swap(self, &mut other);
        }
        let Self {
            program,
            digest,
            text,
            device,
            probe,
            torch,
            runs,
            passed_over,
            ..
        } = other;
        self.passed_over += passed_over;
        self.program = self.program.take().or(program);
        self.digest = self.digest.take().or(digest);
        self.text = self.text.take().or(text);
        self.device = self.device.take().or(device);
        self.probe = self.probe.take().or(probe);
        self.torch = self.torch.take().or(torch);
        for run in runs {
            let mut is_known = false;
            for own in &mut self.runs {
                is_known |= own.complete_from(&run);
            }
            if !is_known {
                self.runs.push(run);
            }
        }
        Ok(())
    }
}

impl MeasuredKernel {
    /// A kernel of which only name and time are known.
    pub fn new(name: impl Into<Arc<str>>, time_s: f64) -> Self {
        Self {
            name: name.into(),
            start_s: None,
            time_s,
            read_bytes: None,
            write_bytes: None,
            moved_bytes: None,
            grid: None,
            block: None,
        }
    }
}

impl MeasuredRun {
    /// Sorts kernels by starts, and counts times from the first start. Changes nothing if any start
    /// is unknown.
    pub(crate) fn start_at_zero(&mut self) {
        if self.kernels.iter().any(|kernel| kernel.start_s.is_none()) {
            return;
        }
        let start = |kernel: &MeasuredKernel| kernel.start_s.unwrap_or(0.0);
        self.kernels.sort_by(|a, b| start(a).total_cmp(&start(b)));
        let first_s = self.kernels.first().map_or(0.0, start);
        for kernel in &mut self.kernels {
            kernel.start_s = Some(start(kernel) - first_s);
        }
    }

    /// The sum of the times of its kernels.
    pub fn kernels_s(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.time_s).sum()
    }

    /// For each kernel how long the GPU waited before it; `None` for the first one, and where
    /// starts are not known. Kernels that overlap have no gap.
    pub fn gaps_s(&self) -> Vec<Option<f64>> {
        let mut end_s: Option<f64> = None;
        let gap = |kernel: &MeasuredKernel| {
            let gap =
                (kernel.start_s.zip(end_s)).map(|(start_s, end_s)| (start_s - end_s).max(0.0));
            let own_end_s = kernel.start_s.map(|start_s| start_s + kernel.time_s);
            end_s = own_end_s.map(|own| end_s.map_or(own, |end_s| end_s.max(own)));
            gap
        };
        self.kernels.iter().map(gap).collect()
    }

    /// Takes the name, times, starts, bytes, grids and blocks from another measurement of the same
    /// kernels, where this one lacks them: the first kernels in a row of `other` with the names of
    /// these. Returns whether there are any. `O(kernels * kernels)` at worst.
    pub fn complete_from(&mut self, other: &Self) -> bool {
        if self.variant.is_some() && other.variant.is_some() && self.variant != other.variant {
            return false;
        }
        let names: Vec<&str> = self.kernels.iter().map(|k| base_name(&k.name)).collect();
        let others: Vec<&str> = other.kernels.iter().map(|k| base_name(&k.name)).collect();
        let start = others
            .windows(names.len().max(1))
            .position(|window| window == names);
        let Some(start) = start else { return false };
        self.variant = self.variant.take().or_else(|| other.variant.clone());
        self.time_s = self.time_s.or(other.time_s);
        self.time_cold_s = self.time_cold_s.or(other.time_cold_s);
        for (own, from) in self
            .kernels
            .iter_mut()
            .zip(other.kernels.iter().skip(start))
        {
            own.start_s = own.start_s.or(from.start_s);
            own.read_bytes = own.read_bytes.or(from.read_bytes);
            own.write_bytes = own.write_bytes.or(from.write_bytes);
            own.moved_bytes = own.moved_bytes.or(from.moved_bytes);
            own.grid = own.grid.or(from.grid);
            own.block = own.block.or(from.block);
        }
        true
    }
}

/// The name of a kernel's function without namespaces, template arguments and parameters, in which
/// profilers differ: `elementwise_kernel` of
/// `void at::native::elementwise_kernel<128, 4, ...>(int, ...)`.
pub fn base_name(name: &str) -> &str {
    const UNNAMED: [&str; 2] = ["(anonymous namespace)", "<unnamed>"];
    let mut rest = name.strip_prefix("void ").unwrap_or(name);
    loop {
        let end = rest.find(['<', '(']).unwrap_or(rest.len());
        let (path, arguments) = rest.split_at(end);
        match UNNAMED.iter().find_map(|word| arguments.strip_prefix(word)) {
            Some(behind) => rest = behind,
            None => return path.rsplit("::").next().unwrap_or(path),
        }
    }
}

/// Names of kernels, each once: a file repeats a few, which may have a thousand characters.
#[derive(Default)]
struct Names {
    known: HashSet<Arc<str>>,
    bytes: usize,
}

impl Names {
    fn intern(&mut self, name: &str) -> Result<Arc<str>, ContentError> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        self.bytes += name.len();
        if self.bytes > MAX_NAME_BYTES {
            return Err(ContentError::LongNames);
        }
        let name: Arc<str> = name.into();
        self.known.insert(name.clone());
        Ok(name)
    }
}
