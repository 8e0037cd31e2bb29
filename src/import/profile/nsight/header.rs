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
    /// `nsys stats`.
    Trace {
        name: usize,
        start: usize,
        duration: usize,
        to_s: [f64; 2],
        grid: [Option<usize>; 3],
        block: [Option<usize>; 3],
        device: Option<usize>,
    },
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
        let starting = |start: &str| {
            fields
                .iter()
                .position(|field| field.trim().starts_with(start))
        };
        if let (Some(id), Some(name)) = (column("ID"), column("Kernel Name")) {
            let common = Common {
                id,
                process: column("Process ID"),
                name,
                block: column("Block Size"),
                grid: column("Grid Size"),
                range: starting("thread Domain:Push/Pop_Range"),
            };
            let one_of = |names: &[&str]| names.iter().find_map(|name| column(name));
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
                one_of(&DURATION)
                    .map(|duration| Self::Raw {
                        common,
                        duration,
                        read: one_of(&READ),
                        written: one_of(&WRITTEN),
                        throughput: one_of(&THROUGHPUT),
                        device: column("device__attribute_display_name"),
                    })
                    .ok_or(ProfileError::NoTimes),
            );
        }
        let (start, duration) = (starting("Start (")?, starting("Duration (")?);
        let to_s = [start, duration].map(|column| {
            fields.get(column).and_then(|field| {
                let (_, unit) = field.split_once('(')?;
                factor(unit.trim_end().trim_end_matches(')'))
            })
        });
        let [Some(start_to_s), Some(duration_to_s)] = to_s else {
            return None;
        };
        Some(Ok(Self::Trace {
            name: column("Name")?,
            start,
            duration,
            to_s: [start_to_s, duration_to_s],
            grid: ["GrdX", "GrdY", "GrdZ"].map(column),
            block: ["BlkX", "BlkY", "BlkZ"].map(column),
            device: column("Device"),
        }))
    }
}
