//! The tables of Nsight Compute (`ncu --csv`, both pages) and Nsight Systems (`nsys stats --report cuda_gpu_trace`).

use super::{MAX_KERNELS, MeasuredKernel, MeasuredRun, Names, VARIANTS, base_name, too_many};

/// Metrics of Nsight Compute, each by its name on the raw page and by its label.
const DURATION: [&str; 2] = ["gpu__time_duration.sum", "Duration"];
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";
/// Bytes read and written for each second, which the base page has in the place of bytes.
const THROUGHPUT: [&str; 2] = ["dram__bytes.sum.per_second", "Memory Throughput"];

/// What is said of a table that ends too early.
pub(super) const CUT: &str = "the file may still have been written when it was copied";

/// Which column holds what.
pub(super) enum Header {
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
pub(super) struct Common {
    id: usize,
    process: Option<usize>,
    name: usize,
    block: Option<usize>,
    grid: Option<usize>,
    /// The ranges that the program names with NVTX.
    range: Option<usize>,
}

impl Header {
    /// The header that these fields are; `None` if they are none.
    pub(super) fn find(fields: &[String]) -> Option<Result<Self, String>> {
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
                        read: column(READ),
                        written: column(WRITTEN),
                        throughput: one_of(&THROUGHPUT),
                        device: column("device__attribute_display_name"),
                    })
                    .ok_or_else(no_duration),
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

fn no_duration() -> String {
    format!(
        "This table of Nsight Compute has no times: name {} among its --metrics.",
        DURATION[0]
    )
}

/// A table with its kernels so far.
pub(super) struct Table {
    header: Header,
    /// Least fields of a line about a kernel.
    columns: usize,
    /// The units of the columns of a raw page.
    units: Option<Vec<String>>,
    rows: Vec<Row>,
    /// Process and id of the last row, by which the lines of one kernel are told from those of the next.
    last: (String, String),
    names: Names,
    device: Option<String>,
}

/// A kernel, and what the lines about it have said.
struct Row {
    variant: Option<&'static str>,
    kernel: MeasuredKernel,
    bytes_per_s: Option<f64>,
    is_timed: bool,
}

impl Table {
    /// `columns` are those of the header.
    pub(super) fn new(header: Header, columns: usize) -> Self {
        // Behind the value a base page has what rules say of it, or nothing.
        let columns = match header {
            Header::Base { value, .. } => value + 1,
            Header::Raw { .. } | Header::Trace { .. } => columns,
        };
        Self {
            header,
            columns,
            units: None,
            rows: Vec::new(),
            last: Default::default(),
            names: Names::default(),
            device: None,
        }
    }

    /// Reads a line below the header. Lines of other programs that stand between are passed over.
    pub(super) fn take(&mut self, fields: &[String]) -> Result<(), String> {
        if self.is_kernel(fields) && fields.len() < self.columns {
            return Err(format!(
                "it has {} of the {} columns, so {CUT}",
                fields.len(),
                self.columns
            ));
        }
        match self.header {
            Header::Raw {
                common,
                duration,
                read,
                written,
                throughput,
                device,
            } => {
                if self.is_kernel(fields) {
                    self.name_device(text(fields, device));
                }
                let metrics = [Some(duration), read, written, throughput];
                self.take_raw(fields, common, metrics)
            }
            Header::Base {
                common,
                metric,
                unit,
                value,
            } => {
                if self.is_kernel(fields) {
                    let row = self.row(fields, common)?;
                    let [name, unit, value] =
                        [metric, unit, value].map(|column| text(fields, Some(column)));
                    row.measure(name, unit, value)?;
                }
                Ok(())
            }
            Header::Trace {
                name,
                start,
                duration,
                to_s,
                grid,
                block,
                device,
            } => {
                let name = text(fields, Some(name));
                // `[CUDA memset]` and the like are no kernels.
                if !self.is_kernel(fields) || name.starts_with('[') {
                    return Ok(());
                }
                if name.is_empty() {
                    return Err(format!("a kernel has no name, so {CUT}"));
                }
                let seconds = |column, to_s: f64| {
                    number(text(fields, Some(column))).map(|time| time.map(|time| time * to_s))
                };
                let (start_s, time_s) = (seconds(start, to_s[0])?, seconds(duration, to_s[1])?);
                let time_s = time_s.ok_or("a kernel without a duration")?;
                let sizes = |columns: [Option<usize>; 3]| {
                    let [x, y, z] = columns.map(|column| text(fields, column).parse().ok());
                    Some([x?, y?, z?])
                };
                // `NVIDIA H200 (0)`
                let device = text(fields, device);
                self.name_device(device.rsplit_once(" (").map_or(device, |(name, _)| name));
                let name = self.names.intern(name)?;
                self.push(Row {
                    variant: None,
                    kernel: MeasuredKernel {
                        start_s,
                        grid: sizes(grid),
                        block: sizes(block),
                        ..MeasuredKernel::new(name, time_s)
                    },
                    bytes_per_s: None,
                    is_timed: true,
                })
            }
        }
    }

    /// Whether a line is about a kernel: its id or its start is a number.
    fn is_kernel(&self, fields: &[String]) -> bool {
        let number = match self.header {
            Header::Raw { common, .. } | Header::Base { common, .. } => common.id,
            Header::Trace { start, .. } => start,
        };
        let number = text(fields, Some(number));
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn take_raw(
        &mut self,
        fields: &[String],
        common: Common,
        metrics: [Option<usize>; 4],
    ) -> Result<(), String> {
        if !self.is_kernel(fields) {
            if self.units.is_none() && self.rows.is_empty() {
                self.units = Some(fields.to_vec());
            }
            return Ok(());
        }
        let units = self.units.clone().unwrap_or_default();
        let names = [DURATION[0], READ, WRITTEN, THROUGHPUT[0]];
        let row = self.row(fields, common)?;
        for (name, column) in names
            .into_iter()
            .zip(metrics)
            .filter(|(_, column)| column.is_some())
        {
            row.measure(name, text(&units, column), text(fields, column))?;
        }
        Ok(())
    }

    /// The kernel that a line of Nsight Compute is about.
    fn row(&mut self, fields: &[String], common: Common) -> Result<&mut Row, String> {
        let key = (
            text(fields, common.process).to_owned(),
            text(fields, Some(common.id)).to_owned(),
        );
        if self.rows.is_empty() || self.last != key {
            self.last = key;
            let name = self.names.intern(text(fields, Some(common.name)))?;
            self.push(Row {
                variant: variant_of(text(fields, common.range)),
                kernel: MeasuredKernel {
                    grid: sizes(text(fields, common.grid)),
                    block: sizes(text(fields, common.block)),
                    ..MeasuredKernel::new(name, 0.0)
                },
                bytes_per_s: None,
                is_timed: false,
            })?;
        }
        self.rows.last_mut().ok_or_else(too_many)
    }

    fn name_device(&mut self, name: &str) {
        if self.device.is_none() && !name.is_empty() {
            self.device = Some(name.to_owned());
        }
    }

    fn push(&mut self, row: Row) -> Result<(), String> {
        if self.rows.len() == MAX_KERNELS {
            return Err(too_many());
        }
        self.rows.push(row);
        Ok(())
    }

    /// The device, and a run for each variant among the ranges of the program, in the order of the file.
    pub(super) fn finish(self) -> Result<(Option<String>, Vec<MeasuredRun>), String> {
        if self.rows.is_empty() {
            let why = match self.header {
                Header::Raw { .. } | Header::Base { .. } => {
                    "With --profile-from-start off, ncu sees only what runs between torch.cuda.profiler.start() and stop()."
                }
                Header::Trace { .. } => {
                    "Nsight Systems saw no work of the GPU: profile a program that launches kernels, with --trace=cuda."
                }
            };
            return Err(format!("This table has no kernel. {why}"));
        }
        if !self.rows.iter().any(|row| row.is_timed) {
            return Err(no_duration());
        }
        if let Some(at) = self.rows.iter().position(|row| !row.is_timed) {
            let name = base_name(&self.rows[at].kernel.name);
            return Err(format!(
                "Kernel {} of this table, {name}, has no {}: {CUT}, or the profiler could not time it.",
                at + 1,
                DURATION[1].to_lowercase(),
            ));
        }
        let has_variants = self.rows.iter().any(|row| row.variant.is_some());
        let mut runs: Vec<MeasuredRun> = Vec::new();
        for row in self.rows {
            let Row {
                variant,
                mut kernel,
                bytes_per_s,
                ..
            } = row;
            if has_variants && variant.is_none() {
                continue;
            }
            let both = kernel
                .read_bytes
                .zip(kernel.write_bytes)
                .map(|(read, written)| read.saturating_add(written));
            kernel.moved_bytes = both.or_else(|| whole(bytes_per_s? * kernel.time_s));
            match runs
                .iter_mut()
                .find(|run| run.variant.as_deref() == variant)
            {
                Some(run) => run.kernels.push(kernel),
                None => runs.push(MeasuredRun {
                    variant: variant.map(str::to_owned),
                    kernels: vec![kernel],
                    ..MeasuredRun::default()
                }),
            }
        }
        for run in &mut runs {
            run.start_at_zero();
        }
        Ok((self.device, runs))
    }
}

impl Row {
    /// Takes a metric. Others than those of the table above are passed over.
    fn measure(&mut self, name: &str, unit: &str, value: &str) -> Result<(), String> {
        let is_throughput =
            THROUGHPUT.contains(&name) && unit.ends_with(['s', 'd']) && unit.contains('/');
        let wanted = DURATION.contains(&name) || name == READ || name == WRITTEN || is_throughput;
        if !wanted {
            return Ok(());
        }
        let Some(value) = number(value)? else {
            return Ok(());
        };
        let to_base = factor(unit).ok_or_else(|| format!("the unit of {name} is {unit:?}, and expected are ns, us, ms, s, byte, Kbyte, Mbyte or Gbyte"))?;
        let value = value * to_base;
        if DURATION.contains(&name) {
            self.kernel.time_s = value;
            self.is_timed = true;
        } else if name == READ {
            self.kernel.read_bytes = whole(value);
        } else if name == WRITTEN {
            self.kernel.write_bytes = whole(value);
        } else {
            self.bytes_per_s = Some(value);
        }
        Ok(())
    }
}

fn text(fields: &[String], column: Option<usize>) -> &str {
    column
        .and_then(|column| fields.get(column))
        .map_or("", |field| field.trim())
}

/// A number with or without commas between its thousands; `None` where nothing was measured.
fn number(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() || matches!(text, "n/a" | "N/A" | "-" | "nan" | "(nan)") {
        return Ok(None);
    }
    let plain: String = text.chars().filter(|&c| c != ',').collect();
    let number = plain
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0);
    number
        .map(Some)
        .ok_or_else(|| format!("{text:?} is no number of at least 0"))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of bytes, at least 0; one past the largest integer becomes that integer"
)]
fn whole(bytes: f64) -> Option<u64> {
    bytes.is_finite().then(|| bytes.round() as u64)
}

/// How many seconds or bytes a unit is, alone or for each second.
fn factor(unit: &str) -> Option<f64> {
    let unit = unit.split_once('/').map_or(unit, |(unit, _)| unit);
    Some(match unit {
        "ns" | "nsecond" => 1e-9,
        "us" | "usecond" | "μs" | "µs" => 1e-6,
        "ms" | "msecond" => 1e-3,
        "s" | "second" | "sec" | "byte" | "B" => 1.0,
        "Kbyte" => 1e3,
        "Mbyte" => 1e6,
        "Gbyte" => 1e9,
        "Tbyte" => 1e12,
        _ => return None,
    })
}

/// Three sizes: `(384, 1, 1)`.
fn sizes(text: &str) -> Option<[u32; 3]> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut sizes = inner.split(',').map(|size| size.trim().parse().ok());
    Some([sizes.next()??, sizes.next()??, sizes.next()??])
}

/// The innermost range with the name of a variant: `eager` of `640  "<default domain>:eager:none:none:none:none:none:none" `.
fn variant_of(text: &str) -> Option<&'static str> {
    let mut names = text.rsplit('"').filter_map(|part| part.split(':').nth(1));
    names.find_map(|name| VARIANTS.into_iter().find(|variant| *variant == name.trim()))
}
