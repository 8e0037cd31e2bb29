//! The tables of Nsight Compute (`ncu --csv`, both pages, and those of its window), Nsight Systems
//! (`nsys stats --report cuda_gpu_trace` and `cuda_gpu_kern_sum`), rocprof and rocprofv3.

mod fields;
mod header;

pub(super) use header::{DURATION, Header};

use super::sums::{Sum, launches_of_one_call};
use super::{
    ContentError, MAX_KERNELS, MeasuredKernel, MeasuredRun, Names, ProfileError, base_name,
};
use fields::{Spelled, factor, number, sizes, text, variant_of, whole};
use header::{Common, Length, READ, THROUGHPUT, WRITTEN, name_and_unit};

/// A table with its kernels so far.
pub(super) struct Table {
    header: Header,
    /// Least fields of a line about a kernel.
    columns: usize,
    /// The units of the columns of a raw page.
    units: Option<Vec<String>>,
    rows: Vec<Row>,
    /// Kernels with all their launches.
    sums: Vec<Sum>,
    /// Process and id of the last row, which separate the lines of one kernel from those of the
    /// next.
    last: (String, String),
    names: Names,
    device: Option<String>,
}

/// A kernel, and the figures from its lines.
struct Row {
    variant: Option<&'static str>,
    /// Its numbers stay in `numbers` until all rows show which decimal sign the table has.
    kernel: MeasuredKernel,
    numbers: Numbers,
}

/// The numbers of a kernel, in seconds and bytes.
#[derive(Clone, Copy, Default)]
struct Numbers {
    start: Option<Spelled>,
    time: Option<Spelled>,
    read: Option<Spelled>,
    written: Option<Spelled>,
    bytes_per_s: Option<Spelled>,
}

impl Numbers {
    fn all(self) -> impl Iterator<Item = Spelled> {
        let all = [
            self.start,
            self.time,
            self.read,
            self.written,
            self.bytes_per_s,
        ];
        all.into_iter().flatten()
    }
}

impl Table {
    /// `fields` are those of the header.
    pub(super) fn new(header: Header, fields: &[String]) -> Self {
        // After the value, a base page may have the columns of its rules.
        let columns = match header {
            Header::Base { value, .. } => value + 1,
            Header::Raw { .. } | Header::Trace { .. } | Header::Sums { .. } => fields.len(),
        };
        let units = fields
            .iter()
            .map(|field| name_and_unit(field.trim()).1.to_owned());
        let units: Vec<String> = units.collect();
        Self {
            header,
            columns,
            units: units.iter().any(|unit| !unit.is_empty()).then_some(units),
            rows: Vec::new(),
            sums: Vec::new(),
            last: Default::default(),
            names: Names::default(),
            device: None,
        }
    }

    /// Reads a line below the header. Lines of other programs that stand between are passed over.
    pub(super) fn take(&mut self, fields: &[String]) -> Result<(), ContentError> {
        if self.is_kernel(fields) && fields.len() < self.columns {
            return Err(ContentError::CutLine {
                fields: fields.len(),
                columns: self.columns,
            });
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
                length,
                to_s,
                grid,
                block,
                is_grid_of_threads,
                device,
            } => {
                let name = text(fields, Some(name));
                // `[CUDA memset]` and the like are no kernels.
                if !self.is_kernel(fields) || name.starts_with('[') {
                    return Ok(());
                }
                if name.is_empty() {
                    return Err(ContentError::NoName);
                }
                let seconds = |column, to_s: f64| {
                    number(text(fields, Some(column))).map(|time| time.map(|time| time.times(to_s)))
                };
                let (start_column, start) = (start, seconds(start, to_s[0])?);
                let time = match length {
                    Length::Duration(duration) => seconds(duration, to_s[1])?,
                    Length::End(end) => {
                        // Clocks count from the start of the machine: whole ns are exact.
                        let [begin, end] =
                            [start_column, end].map(|column| number(text(fields, Some(column))));
                        let left = end?.zip(begin?).and_then(|(end, begin)| end.minus(begin));
                        left.map(|time| time.times(to_s[1]))
                    }
                };
                if time.is_none() {
                    return Err(ContentError::NoDuration);
                }
                let sizes = |columns: [Option<usize>; 3]| {
                    let [x, y, z] = columns.map(|column| text(fields, column).parse().ok());
                    // A column that rocprof lacks: it has one number for all threads.
                    Some([x?, y.unwrap_or(1), z.unwrap_or(1)])
                };
                let (mut grid, block): (Option<[u32; 3]>, Option<[u32; 3]>) =
                    (sizes(grid), sizes(block));
                if let (true, Some(grid), Some(block)) = (is_grid_of_threads, &mut grid, block) {
                    for (threads, block) in grid.iter_mut().zip(block) {
                        *threads = threads.div_ceil(block.max(1));
                    }
                }
                // `NVIDIA H200 (0)`
                let device = text(fields, device);
                self.name_device(device.rsplit_once(" (").map_or(device, |(name, _)| name));
                let name = self.names.intern(name)?;
                self.push(Row {
                    variant: None,
                    kernel: MeasuredKernel {
                        grid,
                        block,
                        ..MeasuredKernel::new(name, 0.0)
                    },
                    numbers: Numbers {
                        start,
                        time,
                        ..Numbers::default()
                    },
                })
            }
            Header::Sums {
                name,
                launches,
                total,
                to_s,
            } => self.take_sum(fields, [name, launches, total], to_s),
        }
    }

    /// Takes a line with all launches of a kernel.
    fn take_sum(
        &mut self,
        fields: &[String],
        [name, launches, total]: [usize; 3],
        to_s: f64,
    ) -> Result<(), ContentError> {
        let [name, launches, total] =
            [name, launches, total].map(|column| text(fields, Some(column)));
        if !self.is_kernel(fields) || name.starts_with('[') {
            return Ok(());
        }
        if name.is_empty() {
            return Err(ContentError::NoName);
        }
        let total = number(total)?.ok_or(ContentError::NoDuration)?;
        let launches = launches.parse().ok();
        let launches = launches.ok_or_else(|| ContentError::NoNumber(fields.join(",")))?;
        self.sums.push(Sum {
            name: self.names.intern(name)?,
            launches,
            // Whole nanoseconds have no decimal sign.
            total_s: total.times(to_s).value(false),
        });
        Ok(())
    }

    /// Whether a line is about a kernel: its id or its start is a number.
    fn is_kernel(&self, fields: &[String]) -> bool {
        let number = match self.header {
            Header::Raw { common, .. } | Header::Base { common, .. } => common.id,
            Header::Trace { start, .. } => start,
            Header::Sums { launches, .. } => launches,
        };
        let number = text(fields, Some(number));
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn take_raw(
        &mut self,
        fields: &[String],
        common: Common,
        metrics: [Option<usize>; 4],
    ) -> Result<(), ContentError> {
        if !self.is_kernel(fields) {
            if self.units.is_none() && self.rows.is_empty() {
                self.units = Some(fields.to_vec());
            }
            return Ok(());
        }
        let units = self.units.clone().unwrap_or_default();
        let names = [DURATION[0], READ[0], WRITTEN[0], THROUGHPUT[0]];
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
    fn row(&mut self, fields: &[String], common: Common) -> Result<&mut Row, ContentError> {
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
                numbers: Numbers::default(),
            })?;
        }
        self.rows.last_mut().ok_or(ContentError::TooManyKernels)
    }

    fn name_device(&mut self, name: &str) {
        if self.device.is_none() && !name.is_empty() {
            self.device = Some(name.to_owned());
        }
    }

    fn push(&mut self, row: Row) -> Result<(), ContentError> {
        if self.rows.len() == MAX_KERNELS {
            return Err(ContentError::TooManyKernels);
        }
        self.rows.push(row);
        Ok(())
    }

    /// Whether numbers have a decimal comma. An ambiguous table has decimal points.
    fn has_comma(&self) -> bool {
        let numbers = self.rows.iter().flat_map(|row| row.numbers.all());
        let mut signs = numbers.filter_map(Spelled::has_comma).peekable();
        signs.peek().is_some() && signs.all(|has_comma| has_comma)
    }

    /// The device, and a run for each variant among the ranges of the program, in the order of the
    /// file.
    pub(super) fn finish(self) -> Result<(Option<String>, Vec<MeasuredRun>), ProfileError> {
        if !self.sums.is_empty() {
            return Ok((self.device, vec![launches_of_one_call(&self.sums)?]));
        }
        if self.rows.is_empty() {
            return Err(match self.header {
                Header::Raw { .. } | Header::Base { .. } => ProfileError::NoKernelInMetrics,
                Header::Trace { .. } | Header::Sums { .. } => ProfileError::NoKernelInLaunches,
            });
        }
        let is_timed = |row: &Row| row.numbers.time.is_some();
        if !self.rows.iter().any(is_timed) {
            return Err(ProfileError::NoTimes);
        }
        if let Some(at) = self.rows.iter().position(|row| !is_timed(row)) {
            let name = base_name(&self.rows[at].kernel.name);
            return Err(ProfileError::Untimed {
                number: at + 1,
                name: name.to_owned(),
            });
        }
        let has_comma = self.has_comma();
        let is_cold = !matches!(self.header, Header::Trace { .. });
        let has_variants = self.rows.iter().any(|row| row.variant.is_some());
        let mut runs: Vec<MeasuredRun> = Vec::new();
        for row in self.rows {
            let Row {
                variant,
                mut kernel,
                numbers,
            } = row;
            if has_variants && variant.is_none() {
                continue;
            }
            let value = |spelled: Spelled| spelled.value(has_comma);
            kernel.start_s = numbers.start.map(value);
            kernel.time_s = numbers.time.map_or(0.0, value);
            kernel.read_bytes = numbers.read.map(value).and_then(whole);
            kernel.write_bytes = numbers.written.map(value).and_then(whole);
            let both = kernel
                .read_bytes
                .zip(kernel.write_bytes)
                .map(|(read, written)| read.saturating_add(written));
            kernel.moved_bytes =
                both.or_else(|| whole(value(numbers.bytes_per_s?) * kernel.time_s));
            match runs
                .iter_mut()
                .find(|run| run.variant.as_deref() == variant)
            {
                Some(run) => run.kernels.push(kernel),
                None => runs.push(MeasuredRun {
                    variant: variant.map(str::to_owned),
                    kernels: vec![kernel],
                    is_cold,
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
    /// Takes a metric that [`Numbers`] has, and skips others.
    fn measure(&mut self, name: &str, unit: &str, value: &str) -> Result<(), ContentError> {
        let numbers = &mut self.numbers;
        let is_throughput =
            THROUGHPUT.contains(&name) && unit.ends_with(['s', 'd']) && unit.contains('/');
        let (measured, is_bytes) = match name {
            _ if DURATION.contains(&name) => (&mut numbers.time, false),
            _ if READ.contains(&name) => (&mut numbers.read, true),
            _ if WRITTEN.contains(&name) => (&mut numbers.written, true),
            _ if is_throughput => (&mut numbers.bytes_per_s, false),
            _ => return Ok(()),
        };
        let Some(value) = number(value)? else {
            return Ok(());
        };
        // Metrics that the profiler's own table of units lacks have none: they are in bytes.
        let unit = if is_bytes && unit.is_empty() {
            "byte"
        } else {
            unit
        };
        let to_base = factor(unit).ok_or_else(|| ContentError::Unit {
            metric: name.to_owned(),
            unit: unit.to_owned(),
        })?;
        *measured = Some(value.times(to_base));
        Ok(())
    }
}
