//! What the columns of a profiler's table are.

use super::fields::factor;
use crate::profile::ProfileError;

/// Metrics of Nsight Compute, each by the names that it has: on the raw page, by its label, or on
/// another GPU.
pub(in crate::profile) const DURATION: [&str; 2] = ["gpu__time_duration.sum", "Duration"];
/// GPUs since Blackwell count bytes for each kind of access.
pub(super) const READ: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_op_read.sum"];
pub(super) const WRITTEN: [&str; 2] = ["dram__bytes_write.sum", "dram__bytes_op_write.sum"];
/// Bytes read and written for each second, which the base page has in the place of bytes.
pub(super) const THROUGHPUT: [&str; 2] = ["dram__bytes.sum.per_second", "Memory Throughput"];

/// Which column holds what.
pub(in crate::profile) enum Header {
    /// `ncu --page raw`: a column for each metric, and the units in the first line below.
    Raw {
        common: Common,
        duration: usize,
        read: Option<usize>,
        written: Option<usize>,
        throughput: Option<usize>,
        device: Option<usize>,
    },
    /// `ncu` by default: a line for each metric.
    Base {
        common: Common,
        metric: usize,
        unit: usize,
        value: usize,
    },
    /// A line for each launch: `nsys stats --report cuda_gpu_trace`, rocprof and rocprofv3.
    Trace {
        name: usize,
        start: usize,
        length: Length,
        /// Of the start and of the length.
        to_s: [f64; 2],
        grid: [Option<usize>; 3],
        block: [Option<usize>; 3],
        /// Whether the grid counts threads, as that of AMD does.
        is_grid_of_threads: bool,
        device: Option<usize>,
    },
    /// A line for each kernel with all its launches: `nsys stats --report cuda_gpu_kern_sum`, and
    /// the statistics of rocprof and rocprofv3.
    Sums {
        name: usize,
        launches: usize,
        total: usize,
        to_s: f64,
    },
}

/// The column that says how long a kernel ran.
#[derive(Clone, Copy)]
pub(in crate::profile) enum Length {
    Duration(usize),
    End(usize),
}

/// Columns of both pages of Nsight Compute.
#[derive(Clone, Copy)]
pub(in crate::profile) struct Common {
    pub(super) id: usize,
    pub(super) process: Option<usize>,
    pub(super) name: usize,
    pub(super) block: Option<usize>,
    pub(super) grid: Option<usize>,
    /// The ranges that the program names with NVTX.
    pub(super) range: Option<usize>,
}

impl Header {
    /// The header that these fields are; `None` if they are none.
    pub(in crate::profile) fn find(fields: &[String]) -> Option<Result<Self, ProfileError>> {
        let column = |name: &str| fields.iter().position(|field| field.trim() == name);
        let one_of = |names: &[&str]| names.iter().find_map(|name| column(name));
        let starting = |start: &str| {
            fields
                .iter()
                .position(|field| field.trim().starts_with(start))
        };
        // The tables of its window have other names than those of the command line.
        let kernel_name = one_of(&["Kernel Name", "Demangled Name", "Function Name"]);
        if let (Some(id), Some(name)) = (column("ID"), kernel_name) {
            let common = Common {
                id,
                process: one_of(&["Process ID", "Process"]),
                name,
                block: column("Block Size"),
                grid: column("Grid Size"),
                range: starting("thread Domain:Push/Pop_Range"),
            };
            // `Duration [us]` in the window.
            let metric = |names: &[&str]| {
                let mut fields = fields.iter().map(|field| name_and_unit(field.trim()).0);
                fields.position(|field| names.contains(&field))
            };
            if let (Some(metric), Some(value)) = (column("Metric Name"), column("Metric Value")) {
                let unit = column("Metric Unit").unwrap_or(metric);
                return Some(Ok(Self::Base {
                    common,
                    metric,
                    unit,
                    value,
                }));
            }
            return Some(
                metric(&DURATION)
                    .map(|duration| Self::Raw {
                        common,
                        duration,
                        read: metric(&READ),
                        written: metric(&WRITTEN),
                        throughput: metric(&THROUGHPUT),
                        device: one_of(&["device__attribute_display_name", "Device Name"]),
                    })
                    .ok_or(ProfileError::NoTimes),
            );
        }
        if let Some(sums) = Self::sums(&column, &starting, fields) {
            return Some(Ok(sums));
        }
        Self::of_rocm(&column)
            .or_else(|| {
                let (start, duration) = (starting("Start (")?, starting("Duration (")?);
                Some(Self::Trace {
                    name: column("Name")?,
                    start,
                    length: Length::Duration(duration),
                    to_s: [unit_in_s(fields, start)?, unit_in_s(fields, duration)?],
                    grid: ["GrdX", "GrdY", "GrdZ"].map(&column),
                    block: ["BlkX", "BlkY", "BlkZ"].map(&column),
                    is_grid_of_threads: false,
                    device: column("Device"),
                })
            })
            .map(Ok)
    }

    /// Totals of kernels.
    fn sums(
        column: &impl Fn(&str) -> Option<usize>,
        starting: &impl Fn(&str) -> Option<usize>,
        fields: &[String],
    ) -> Option<Self> {
        let name = column("Name")?;
        if let (Some(launches), Some(total)) = (column("Instances"), starting("Total Time (")) {
            return Some(Self::Sums {
                name,
                launches,
                total,
                to_s: unit_in_s(fields, total)?,
            });
        }
        Some(Self::Sums {
            name,
            launches: column("Calls")?,
            total: column("TotalDurationNs")?,
            to_s: 1e-9,
        })
    }

    /// The launches that rocprof and rocprofv3 list.
    fn of_rocm(column: &impl Fn(&str) -> Option<usize>) -> Option<Self> {
        let to_s = [1e-9; 2];
        if let (Some(name), Some(start)) = (column("KernelName"), column("BeginNs")) {
            return Some(Self::Trace {
                name,
                start,
                length: column("DurationNs")
                    .map(Length::Duration)
                    .or_else(|| column("EndNs").map(Length::End))?,
                to_s,
                grid: [column("grd"), None, None],
                block: [column("wgr"), None, None],
                is_grid_of_threads: true,
                device: None,
            });
        }
        let sizes = |what: &str| ["X", "Y", "Z"].map(|axis| column(&format!("{what}_Size_{axis}")));
        Some(Self::Trace {
            name: column("Kernel_Name")?,
            start: column("Start_Timestamp")?,
            length: Length::End(column("End_Timestamp")?),
            to_s,
            grid: sizes("Grid"),
            block: sizes("Workgroup"),
            is_grid_of_threads: true,
            device: None,
        })
    }
}

/// The unit of a column such as `Duration (ns)`, in seconds.
fn unit_in_s(fields: &[String], column: usize) -> Option<f64> {
    let (_, unit) = fields.get(column)?.split_once('(')?;
    factor(unit.trim_end().trim_end_matches(')'))
}

/// The name and the unit of `Duration [us]`; no unit where the column names none.
pub(super) fn name_and_unit(field: &str) -> (&str, &str) {
    let unit = field
        .strip_suffix(']')
        .and_then(|field| field.split_once(" ["));
    unit.unwrap_or((field, ""))
}
