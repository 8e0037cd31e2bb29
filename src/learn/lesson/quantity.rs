//! Quantities of a page's state, as lessons name them: `unfused bytes`, `intensity of kernel softmax`.

pub use super::metric::Metric;
use super::resources;
use super::state::Seen;
use super::value::{Unit, Value};
use fuseline_core::analysis::device_model::Predicted;
use fuseline_core::analysis::launches::{Launcher, launch_timeline};
use fuseline_core::cost::roofline::ridge_point;
use fuseline_core::{Analysis, DType, Kernel, KernelId, OpId, Policy, TensorId};
use fuseline_view::present::names::op_names;
use std::fmt;
use std::sync::Arc;
use strum::VariantNames;

/// What is measured, in which kernels, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Which figure.
    pub metric: Metric,
    /// In which kernels.
    pub kernels: Kernels,
    /// Of what.
    pub subject: Subject,
}

/// The kernels in which a quantity is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Those of the chosen policy.
    Shown,
    /// One for each op.
    Unfused,
    /// Those of another policy.
    Under(Policy),
}

/// What a quantity is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The whole program, or the device.
    Program,
    /// The kernel that computes the op of this name.
    Kernel(String),
    /// This op alone.
    Op(String),
    /// This tensor.
    Tensor(String),
    /// This param.
    Param(String),
}

impl Quantity {
    /// Reads a quantity.
    ///
    /// # Errors
    /// What is wrong, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let kernels = match first {
            "unfused" => Kernels::Unfused,
            _ => match first.parse::<Policy>() {
                Ok(policy) if !after.is_empty() => Kernels::Under(policy),
                _ => Kernels::Shown,
            },
        };
        if kernels != Kernels::Shown {
            rest = after.trim();
        }
        let (metric, of) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let metric = metric.parse::<Metric>().map_err(|_| {
            format!(
                "`{metric}` is not a quantity: write one of {}",
                Metric::VARIANTS.join(", ")
            )
        })?;
        Ok(Self {
            metric,
            kernels,
            subject: Subject::parse(of.trim())?,
        })
    }

    /// What number it is; `None` if it is a word.
    pub const fn unit(&self) -> Option<Unit> {
        self.metric.unit()
    }

    /// Its value.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value(&self, seen: &Seen) -> Result<Value, String> {
        let analysis = &self.analysis(seen);
        let is_unfused = self.kernels == Kernels::Unfused;
        let value = match &self.subject {
            Subject::Program => match self.metric {
                Metric::Policy => Some(Value::Word(analysis.options.policy.name().to_owned())),
                metric => of_device(analysis, metric)
                    .or_else(|| resources::of_program(analysis, metric))
                    .or_else(|| of_program(analysis, metric, is_unfused)),
            },
            Subject::Kernel(name) => {
                let op = op_named(analysis, name)?;
                let kernel = analysis.partition.kernel_of.get(op).copied();
                kernel.and_then(|kernel| {
                    resources::of_kernel(analysis, kernel, self.metric)
                        .or_else(|| of_kernel(analysis, kernel, self.metric, is_unfused))
                })
            }
            Subject::Op(name) => of_op(analysis, op_named(analysis, name)?, self.metric),
            Subject::Tensor(name) => {
                let tensor = tensor_named(analysis, name)?;
                of_tensor(analysis, tensor, self.metric, is_unfused)
            }
            Subject::Param(name) => {
                let params = &seen.program().params;
                let param = params.iter().find(|param| param.name.text == *name);
                let param = param.ok_or_else(|| format!("there is no param `{name}`"))?;
                (self.metric == Metric::Value)
                    .then_some(Value::Number(param.value as f64, Unit::Count))
            }
        };
        value.ok_or_else(|| format!("`{self}` has no value here"))
    }

    /// The analysis whose kernels are meant.
    pub(super) fn analysis(&self, seen: &Seen) -> Arc<Analysis> {
        match self.kernels {
            Kernels::Under(policy) => seen.under(policy),
            // The comparison of a kernel with its ops one by one knows bytes and times only.
            Kernels::Unfused if self.metric.is_of_device() => seen.under(Policy::None),
            Kernels::Shown | Kernels::Unfused => seen.analysis.clone(),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernels {
            Kernels::Shown => {}
            Kernels::Unfused => f.write_str("unfused ")?,
            Kernels::Under(policy) => write!(f, "{} ", policy.name())?,
        }
        f.write_str(self.metric.into())?;
        match &self.subject {
            Subject::Program => Ok(()),
            Subject::Kernel(name) => write!(f, " of kernel {name}"),
            Subject::Op(name) => write!(f, " of op {name}"),
            Subject::Tensor(name) => write!(f, " of tensor {name}"),
            Subject::Param(name) => write!(f, " of param {name}"),
        }
    }
}

impl Subject {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::Program);
        }
        let help = || {
            format!(
                "write `of kernel NAME`, `of op NAME`, `of tensor NAME` or `of param NAME` instead of `{text}`"
            )
        };
        let named = text
            .strip_prefix("of ")
            .and_then(|of| of.trim().split_once(char::is_whitespace));
        let (kind, name) = named.ok_or_else(help)?;
        let name = name.trim().to_owned();
        match kind {
            "kernel" => Ok(Self::Kernel(name)),
            "op" => Ok(Self::Op(name)),
            "tensor" => Ok(Self::Tensor(name)),
            "param" => Ok(Self::Param(name)),
            _ => Err(help()),
        }
    }
}

/// The op of this name.
pub(super) fn op_named(analysis: &Analysis, name: &str) -> Result<OpId, String> {
    let op = analysis.graph.op_named(name);
    op.ok_or_else(|| format!("there is no op `{name}`"))
}

/// The tensor of this name.
pub(super) fn tensor_named(analysis: &Analysis, name: &str) -> Result<TensorId, String> {
    let graph = &analysis.graph;
    let found = (graph.tensors.iter_enumerated()).find(|&(id, _)| graph.tensor_name(id) == name);
    found
        .map(|(id, _)| id)
        .ok_or_else(|| format!("there is no tensor `{name}`"))
}

fn of_device(analysis: &Analysis, metric: Metric) -> Option<Value> {
    let device = &analysis.options.device;
    let f32_matmul = analysis.options.conventions.f32_matmul;
    let figure = |figure: f64, unit| Some(Value::Number(figure, unit));
    match metric {
        Metric::Ridge => figure(
            ridge_point(device, DType::F16, f32_matmul)?,
            Unit::Intensity,
        ),
        Metric::VectorRidge => figure(
            device.vector_flops_per_s?.value / device.memory_bytes_per_s.value,
            Unit::Intensity,
        ),
        Metric::Bandwidth => figure(device.memory_bytes_per_s.value, Unit::BytesPerSecond),
        Metric::Matrix => figure(
            device.matrix_peak(DType::F16, f32_matmul)?.value,
            Unit::FlopsPerSecond,
        ),
        Metric::Vector => figure(device.vector_flops_per_s?.value, Unit::FlopsPerSecond),
        Metric::Launch => figure(device.launch_s.value, Unit::Seconds),
        _ => None,
    }
}

fn of_program(analysis: &Analysis, metric: Metric, is_unfused: bool) -> Option<Value> {
    let run = if is_unfused {
        &analysis.unfused
    } else {
        &analysis.fused
    };
    let predicted = analysis.predicted.as_ref();
    Some(match metric {
        Metric::Kernels => Value::count(run.launches),
        Metric::Ops => Value::count(analysis.graph.ops.len()),
        Metric::Bytes => Value::bytes(run.traffic.total),
        Metric::Reads => Value::bytes(run.traffic.bytes_read),
        Metric::Writes => Value::bytes(run.traffic.bytes_written),
        Metric::Saved => Value::Number(run.traffic.saved_by_fusion as f64, Unit::Bytes),
        Metric::Saving => Value::Number(analysis.savings_pct, Unit::Percent),
        Metric::Time => {
            let predicted_s = predicted.map(|predicted| {
                if is_unfused {
                    predicted.unfused_s
                } else {
                    predicted.fused_s
                }
            });
            Value::Number(predicted_s.unwrap_or(run.time_s), Unit::Seconds)
        }
        Metric::Speedup => {
            let bounds = analysis.speedup?;
            Value::Number(predicted.map_or(bounds, Predicted::speedup), Unit::Ratio)
        }
        Metric::Flops => Value::Number(flops(run.kernels.iter()) as f64, Unit::Flops),
        Metric::Intensity if run.traffic.total > 0 => Value::Number(
            flops(run.kernels.iter()) as f64 / run.traffic.total as f64,
            Unit::Intensity,
        ),
        Metric::Peak => Value::bytes(run.peak_memory.bytes),
        Metric::Idle => {
            let timeline = launch_timeline(analysis, Launcher::Python);
            Value::Number(100.0 * timeline.idle_share(), Unit::Percent)
        }
        _ => return None,
    })
}

fn flops<'a>(kernels: impl Iterator<Item = &'a Kernel>) -> u128 {
    kernels.map(|kernel| kernel.work.flops()).sum()
}

fn of_kernel(analysis: &Analysis, id: KernelId, metric: Metric, is_unfused: bool) -> Option<Value> {
    let kernel = analysis.fused.kernels.get(id)?;
    let before = analysis.comparisons.get(id)?;
    let placement = if is_unfused {
        &before.unfused_placement
    } else {
        &kernel.placement
    };
    let bytes = if is_unfused {
        before.unfused_bytes
    } else {
        kernel.bytes()
    };
    let predicted = (analysis.predicted.as_ref()).and_then(|predicted| predicted.kernels.get(id));
    Some(match metric {
        Metric::Ops => Value::count(kernel.ops.len()),
        Metric::Bytes => Value::bytes(bytes),
        Metric::Reads if is_unfused => Value::bytes(before.unfused_bytes_read),
        Metric::Reads => Value::bytes(kernel.bytes_read),
        Metric::Writes if is_unfused => Value::bytes(
            before
                .unfused_bytes
                .saturating_sub(before.unfused_bytes_read),
        ),
        Metric::Writes => Value::bytes(kernel.bytes_written),
        Metric::Saved => Value::Number(
            before.unfused_bytes as f64 - kernel.bytes() as f64,
            Unit::Bytes,
        ),
        Metric::Share => share(bytes, analysis, is_unfused)?,
        Metric::Time => {
            let lower_s = if is_unfused {
                before.unfused_time_s
            } else {
                kernel.placement.time_s
            };
            let predicted_s = predicted.map(|predicted| {
                if is_unfused {
                    predicted.unfused_s
                } else {
                    predicted.time_s
                }
            });
            Value::Number(predicted_s.unwrap_or(lower_s), Unit::Seconds)
        }
        Metric::Flops => Value::Number(kernel.work.flops() as f64, Unit::Flops),
        Metric::Intensity => Value::Number(placement.intensity?, Unit::Intensity),
        Metric::Bound => Value::bound(placement.bound),
        Metric::Reached => {
            let reached = kernel.placement.time_s / predicted?.time_s;
            Value::Number(100.0 * reached, Unit::Percent)
        }
        _ => return None,
    })
}

fn of_op(analysis: &Analysis, op: OpId, metric: Metric) -> Option<Value> {
    let kernel = analysis.unfused.of_lone_op(op);
    Some(match metric {
        Metric::Bytes => Value::bytes(kernel.bytes()),
        Metric::Reads => Value::bytes(kernel.bytes_read),
        Metric::Writes => Value::bytes(kernel.bytes_written),
        Metric::Share => share(kernel.bytes(), analysis, true)?,
        Metric::Time => Value::Number(kernel.placement.time_s, Unit::Seconds),
        Metric::Flops => Value::Number(kernel.work.flops() as f64, Unit::Flops),
        Metric::Intensity => Value::Number(kernel.placement.intensity?, Unit::Intensity),
        Metric::Bound => Value::bound(kernel.placement.bound),
        _ => return None,
    })
}

fn of_tensor(
    analysis: &Analysis,
    tensor: TensorId,
    metric: Metric,
    is_unfused: bool,
) -> Option<Value> {
    let traffic = analysis.tensors.get(tensor)?;
    let bytes = if is_unfused {
        traffic.unfused_bytes
    } else {
        traffic.fused_bytes
    };
    Some(match metric {
        Metric::Size => Value::bytes(traffic.bytes),
        Metric::Bytes => Value::bytes(bytes),
        Metric::Saved => Value::Number(
            traffic.unfused_bytes as f64 - traffic.fused_bytes as f64,
            Unit::Bytes,
        ),
        Metric::Share => share(bytes, analysis, is_unfused)?,
        Metric::Readers if is_unfused => {
            Value::count(analysis.graph.consumers.get(tensor).map_or(0, <[_]>::len))
        }
        Metric::Readers => Value::count(traffic.fused_readers),
        Metric::Place => Value::Word(if bytes == 0 { "chip" } else { "memory" }.to_owned()),
        _ => return None,
    })
}

/// The part of all bytes; `None` where nothing moves.
fn share(bytes: u64, analysis: &Analysis, is_unfused: bool) -> Option<Value> {
    let total = if is_unfused {
        analysis.unfused.traffic.total
    } else {
        analysis.fused.traffic.total
    };
    (total > 0).then(|| Value::Number(100.0 * bytes as f64 / total as f64, Unit::Percent))
}

/// The launched kernels of an analysis by the names of their ops.
pub(super) fn kernel_names(analysis: &Analysis) -> Vec<String> {
    let kernels = analysis.fused.kernels.iter();
    kernels
        .filter(|kernel| !kernel.is_free)
        .map(|kernel| op_names(&analysis.graph, &kernel.ops))
        .collect()
}
