//! Where the analysis has the number of each quantity.

use super::{Figure, Quantity, Run, Subject};
use crate::present::bottleneck_names::{bottleneck_name, bound_word};
use crate::present::explain::has_assumed_size;
use crate::present::number::Number;
use fuseline_core::analysis::device_model::{DeviceCount, Predicted, device_count};
use fuseline_core::analysis::launches::{Launcher, launch_timeline};
use fuseline_core::analysis::limits::{KernelLimits, limits};
use fuseline_core::cost::roofline::ridge_point;
use fuseline_core::model::device::Figure as DeviceFigure;
use fuseline_core::{Analysis, DType, IdVec, Kernel, KernelId, OpId, TensorId};
use std::cell::OnceCell;

/// What a figure is: a number, or one of a few words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number with its unit.
    Number(Number),
    /// A word: `memory`.
    Word(&'static str),
}

impl Value {
    /// The value as the page shows it.
    pub fn text(self) -> String {
        match self {
            Self::Number(number) => number.text(),
            Self::Word(word) => word.to_owned(),
        }
    }

    /// With all its digits.
    pub fn exact(self) -> String {
        match self {
            Self::Number(number) => number.exact(),
            Self::Word(word) => word.to_owned(),
        }
    }

    /// All digits without a unit, for files. A share is in percent, as its column says.
    pub fn digits(self) -> String {
        match self {
            Self::Number(Number::Count(count) | Number::Bytes(count)) => count.to_string(),
            Self::Number(Number::SavedBytes(bytes)) => bytes.to_string(),
            Self::Number(Number::Flops(flops)) => flops.to_string(),
            Self::Number(number) => number.value().to_string(),
            Self::Word(word) => word.to_owned(),
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

fn count(count: usize) -> Value {
    Number::Count(count as u64).into()
}

fn percent(of_one: f64) -> Value {
    Number::Percent(100.0 * of_one).into()
}

/// The values of an analysis. Results that many figures share are computed at their first use.
pub struct Values<'a> {
    analysis: &'a Analysis,
    /// The limits of all kernels, which take `O(ops + reads)`, so a table computes them once.
    limits: OnceCell<Option<IdVec<KernelId, KernelLimits>>>,
    cold: OnceCell<Option<DeviceCount>>,
    /// Whether the unfused and the fused kernels have an assumed size.
    has_assumed_size: [OnceCell<bool>; 2],
}

/// The subject of a figure, resolved in an analysis, so that a table with a row for each kernel
/// looks nothing up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Program,
    Kernel(KernelId),
    Op(OpId),
    Tensor(TensorId),
}

impl<'a> Values<'a> {
    /// The values of this analysis.
    pub const fn new(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            limits: OnceCell::new(),
            cold: OnceCell::new(),
            has_assumed_size: [OnceCell::new(), OnceCell::new()],
        }
    }

    pub(in crate::present) const fn analysis(&self) -> &'a Analysis {
        self.analysis
    }

    /// The value of a figure; `None` where there is none: a ratio of times that leave out work, an
    /// unknown rate, a quantity that such a subject does not have.
    pub fn of(&self, figure: Figure) -> Option<Value> {
        self.at(self.scope(figure.of)?, figure.quantity, figure.run)
    }

    /// Where the figures of a subject are; `None` where the analysis has no such subject.
    pub(in crate::present) fn scope(&self, of: Subject) -> Option<Scope> {
        let graph = &self.analysis.graph;
        match of {
            Subject::Program | Subject::Policy(_) => Some(Scope::Program),
            Subject::Kernel(_) | Subject::Again(_) => {
                of.kernel_id(self.analysis).map(Scope::Kernel)
            }
            Subject::Op(op) => graph.ops.get(op).map(|_| Scope::Op(op)),
            Subject::Tensor(tensor) => graph.tensors.get(tensor).map(|_| Scope::Tensor(tensor)),
            // Its accesses are the terms of its figures.
            Subject::TensorAt(..) => None,
        }
    }

    /// The value of a quantity.
    pub(crate) fn at(&self, scope: Scope, quantity: Quantity, run: Run) -> Option<Value> {
        match scope {
            Scope::Program => self.of_program(quantity, run),
            Scope::Kernel(id) => self.of_kernel(id, quantity, run),
            Scope::Op(op) => self.of_op(op, quantity),
            Scope::Tensor(tensor) => self.of_tensor(tensor, quantity, run),
        }
    }

    /// Whether a predicted time lies below the lower bound, because the cache still holds data that
    /// the bound reads from memory.
    pub(in crate::present) fn is_below_bound(&self, scope: Scope, run: Run) -> bool {
        let seconds = |quantity| match self.at(scope, quantity, run)? {
            Value::Number(number) => Some(number.value()),
            Value::Word(_) => None,
        };
        let times = seconds(Quantity::PredictedTime).zip(seconds(Quantity::LowerBound));
        times.is_some_and(|(predicted_s, bound_s)| predicted_s < bound_s)
    }

    /// Whether any kernel reads a tensor of assumed size.
    pub fn program_has_assumed_size(&self, run: Run) -> bool {
        let [unfused, fused] = &self.has_assumed_size;
        let cell = match run {
            Run::Unfused => unfused,
            Run::Fused => fused,
        };
        let mut kernels = run.execution(self.analysis).kernels.iter();
        *cell.get_or_init(|| kernels.any(has_assumed_size))
    }

    /// What each kernel needs of a multiprocessor; `None` where the multiprocessors of the device
    /// are unknown.
    pub fn limits(&self) -> Option<&IdVec<KernelId, KernelLimits>> {
        self.limits.get_or_init(|| limits(self.analysis)).as_ref()
    }

    fn cold(&self) -> Option<&DeviceCount> {
        self.cold
            .get_or_init(|| device_count(self.analysis))
            .as_ref()
    }

    fn of_program(&self, quantity: Quantity, run: Run) -> Option<Value> {
        let analysis = self.analysis;
        let execution = run.execution(analysis);
        let traffic = &execution.traffic;
        let flops = || -> u128 { execution.kernels.iter().map(|k| k.work.flops()).sum() };
        let predicted = analysis.predicted.as_ref();
        let predicted_s = predicted.map(|predicted| match run {
            Run::Unfused => predicted.unfused_s,
            Run::Fused => predicted.fused_s,
        });
        Some(match quantity {
            Quantity::Launches => count(execution.launches),
            Quantity::Ops => count(analysis.graph.ops.len()),
            Quantity::Recomputed => {
                count(analysis.partition.recomputed.iter().map(<[_]>::len).sum())
            }
            Quantity::Policy => Value::Word(analysis.options.policy.name()),
            Quantity::Bytes => Number::Bytes(traffic.total).into(),
            Quantity::BytesRead => Number::Bytes(traffic.bytes_read).into(),
            Quantity::BytesWritten => Number::Bytes(traffic.bytes_written).into(),
            Quantity::SavedBytes => Number::SavedBytes(traffic.saved_by_fusion).into(),
            Quantity::Saving => Number::SavedPercent(analysis.savings_pct).into(),
            Quantity::DramReads => Number::Amount(self.cold()?.dram_read_bytes, "B").into(),
            Quantity::Flops => Number::Flops(flops()).into(),
            Quantity::Intensity if traffic.total > 0 => {
                Number::Intensity(flops() as f64 / traffic.total as f64).into()
            }
            Quantity::Time => Number::Seconds(predicted_s.unwrap_or(execution.time_s)).into(),
            Quantity::PredictedTime => Number::Seconds(predicted_s?).into(),
            Quantity::LowerBound => Number::Seconds(execution.time_s).into(),
            Quantity::Speedup => {
                let bounds = analysis.speedup?;
                Number::Ratio(predicted.map_or(bounds, Predicted::speedup)).into()
            }
            Quantity::BoundSpeedup => Number::Ratio(analysis.speedup?).into(),
            Quantity::Idle => percent(launch_timeline(analysis, Launcher::Python).idle_share()),
            Quantity::PeakMemory => Number::Bytes(execution.peak_memory.bytes).into(),
            Quantity::Warnings => {
                let warnings = self.limits()?.iter().map(|limits| limits.harms().count());
                count(warnings.sum())
            }
            _ => return self.of_device(quantity),
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of a memory, whole and far below 2^64"
    )]
    fn of_device(&self, quantity: Quantity) -> Option<Value> {
        let device = &self.analysis.options.device;
        let f32_matmul = self.analysis.options.conventions.f32_matmul;
        let number = |quantity| Some(self.device_figure(quantity)?.value);
        Some(match quantity {
            Quantity::Ridge => {
                Number::Intensity(ridge_point(device, DType::F16, f32_matmul)?).into()
            }
            Quantity::VectorRidge => {
                let bandwidth = number(Quantity::Bandwidth)?;
                Number::Intensity(number(Quantity::VectorPeak)? / bandwidth).into()
            }
            Quantity::Bandwidth => Number::Amount(number(quantity)?, "B/s").into(),
            Quantity::MatrixPeak | Quantity::VectorPeak => {
                Number::Amount(number(quantity)?, "FLOP/s").into()
            }
            Quantity::LaunchTime => Number::Seconds(number(quantity)?).into(),
            Quantity::Multiprocessors => Number::Whole(number(quantity)?).into(),
            Quantity::DeviceMemory => Number::Bytes(number(quantity)? as u64).into(),
            Quantity::OnChip => Number::Bytes(device.on_chip_bytes()).into(),
            _ => return None,
        })
    }

    /// A figure of the data sheet.
    pub(super) fn device_figure(&self, quantity: Quantity) -> Option<DeviceFigure> {
        let device = &self.analysis.options.device;
        match quantity {
            Quantity::Bandwidth => Some(device.memory_bytes_per_s),
            Quantity::MatrixPeak => {
                let f32_matmul = self.analysis.options.conventions.f32_matmul;
                device.matrix_peak(DType::F16, f32_matmul)
            }
            Quantity::VectorPeak => device.vector_flops_per_s,
            Quantity::LaunchTime => Some(device.launch_s),
            Quantity::Multiprocessors => device.hardware.multiprocessors,
            Quantity::DeviceMemory => device.hardware.memory_bytes,
            _ => None,
        }
    }

    fn of_kernel(&self, id: KernelId, quantity: Quantity, run: Run) -> Option<Value> {
        let analysis = self.analysis;
        let kernel = analysis.fused.kernels.get(id)?;
        let before = analysis.comparisons.get(id)?;
        let predicted = analysis
            .predicted
            .as_ref()
            .and_then(|all| all.kernels.get(id));
        let (placement, reads, bytes, bound_s, predicted_s) = match run {
            Run::Unfused => (
                &before.unfused_placement,
                before.unfused_bytes_read,
                before.unfused_bytes,
                before.unfused_time_s,
                predicted.map(|times| times.unfused_s),
            ),
            Run::Fused => (
                &kernel.placement,
                kernel.bytes_read,
                kernel.bytes(),
                kernel.placement.time_s,
                predicted.map(|times| times.time_s),
            ),
        };
        Some(match quantity {
            Quantity::Ops => count(kernel.ops.len()),
            Quantity::Recomputed => count(analysis.partition.recomputed.get(id)?.len()),
            Quantity::Bytes => Number::Bytes(bytes).into(),
            Quantity::BytesRead => Number::Bytes(reads).into(),
            Quantity::BytesWritten => Number::Bytes(bytes.saturating_sub(reads)).into(),
            Quantity::SavedBytes => {
                let [before, after] = [before.unfused_bytes, kernel.bytes()].map(u64::cast_signed);
                Number::SavedBytes(before - after).into()
            }
            // A kernel that only recomputes ops of others has no unfused bytes, so no percentage.
            Quantity::Saving if before.unfused_bytes > 0 => {
                let [before, after] = [before.unfused_bytes, kernel.bytes()].map(|n| n as f64);
                Number::SavedPercent((before - after) / before * 100.0).into()
            }
            Quantity::Share => self.share(bytes, run)?,
            Quantity::DramReads => {
                Number::Amount(self.cold()?.kernels.get(id).copied()?, "B").into()
            }
            Quantity::Flops => Number::Flops(kernel.work.flops()).into(),
            Quantity::MatrixFlops => Number::Flops(kernel.work.matrix_flops).into(),
            Quantity::VectorFlops => Number::Flops(kernel.work.vector_flops).into(),
            Quantity::Intensity => Number::Intensity(placement.intensity?).into(),
            Quantity::Time => Number::Seconds(predicted_s.unwrap_or(bound_s)).into(),
            Quantity::PredictedTime => Number::Seconds(predicted_s?).into(),
            Quantity::LowerBound => Number::Seconds(bound_s).into(),
            Quantity::Attainable => {
                Number::Amount(placement.attainable_flops_per_s?, "FLOP/s").into()
            }
            Quantity::Bottleneck => Value::Word(bottleneck_name(analysis, id)),
            Quantity::RooflineBound => Value::Word(bound_word(placement.bound)),
            Quantity::Reached => percent(kernel.placement.time_s / predicted?.time_s),
            _ if run == Run::Unfused => return None,
            _ => return of_launch(self.limits()?.get(id)?, quantity),
        })
    }

    fn of_op(&self, op: OpId, quantity: Quantity) -> Option<Value> {
        let kernel: &Kernel = self.analysis.unfused.of_lone_op(op);
        Some(match quantity {
            Quantity::Bytes => Number::Bytes(kernel.bytes()).into(),
            Quantity::BytesRead => Number::Bytes(kernel.bytes_read).into(),
            Quantity::BytesWritten => Number::Bytes(kernel.bytes_written).into(),
            Quantity::Share => self.share(kernel.bytes(), Run::Unfused)?,
            Quantity::Time | Quantity::LowerBound => {
                Number::Seconds(kernel.placement.time_s).into()
            }
            Quantity::Flops => Number::Flops(kernel.work.flops()).into(),
            Quantity::Intensity => Number::Intensity(kernel.placement.intensity?).into(),
            Quantity::Attainable => {
                Number::Amount(kernel.placement.attainable_flops_per_s?, "FLOP/s").into()
            }
            Quantity::RooflineBound => Value::Word(bound_word(kernel.placement.bound)),
            _ => return None,
        })
    }

    fn of_tensor(&self, tensor: TensorId, quantity: Quantity, run: Run) -> Option<Value> {
        let traffic = self.analysis.tensors.get(tensor)?;
        let bytes = match run {
            Run::Unfused => traffic.unfused_bytes,
            Run::Fused => traffic.fused_bytes,
        };
        Some(match quantity {
            Quantity::TensorSize => Number::Bytes(traffic.bytes).into(),
            Quantity::Bytes => Number::Bytes(bytes).into(),
            Quantity::SavedBytes => {
                let [before, after] =
                    [traffic.unfused_bytes, traffic.fused_bytes].map(u64::cast_signed);
                Number::SavedBytes(before - after).into()
            }
            Quantity::Share => self.share(bytes, run)?,
            Quantity::Readers => match run {
                Run::Unfused => {
                    let readers = self.analysis.graph.consumers.get(tensor);
                    count(readers.map_or(0, <[_]>::len))
                }
                Run::Fused => count(traffic.fused_readers),
            },
            Quantity::Place => Value::Word(if bytes == 0 { "chip" } else { "memory" }),
            _ => return None,
        })
    }

    /// The share of the memory traffic; `None` if there is no traffic.
    fn share(&self, bytes: u64, run: Run) -> Option<Value> {
        let total = run.execution(self.analysis).traffic.total;
        (total > 0).then(|| percent(bytes as f64 / total as f64))
    }
}

fn of_launch(limits: &KernelLimits, quantity: Quantity) -> Option<Value> {
    let count = |count: u64| Number::Count(count).into();
    Some(match quantity {
        Quantity::OnChip => Number::Bytes(limits.on_chip_bytes).into(),
        Quantity::OnChipAvailable => Number::Bytes(limits.on_chip_available_bytes).into(),
        Quantity::LiveValues => count(limits.live_values),
        Quantity::Registers => count(limits.registers_per_thread),
        Quantity::Threads => count(limits.threads_per_block),
        Quantity::Occupancy => percent(limits.occupancy),
        Quantity::Blocks => count(limits.blocks),
        Quantity::Waves => count(limits.waves),
        Quantity::WaveEfficiency => percent(limits.tiling?.wave_efficiency),
        Quantity::TileEfficiency => percent(limits.tiling?.tile_efficiency),
        Quantity::TileRows => Number::Whole(limits.tiling?.tile.rows).into(),
        Quantity::TileColumns => Number::Whole(limits.tiling?.tile.columns).into(),
        Quantity::Warnings => count(limits.harms().count() as u64),
        _ => return None,
    })
}
