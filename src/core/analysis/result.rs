//! The result of an analysis: every number that the page or the command line shows.

use super::device_model::Predicted;
use super::execution::Execution;
use crate::cost::roofline::Placement;
use crate::fusion::certificate::Certificate;
use crate::fusion::manual::Refused;
use crate::model::graph::{Graph, SizeSource};
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::options::Options;
use crate::model::partition::Partition;

/// The memory traffic of one tensor, unfused and fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorTraffic {
    /// Bytes of one access; the largest where readers count it differently.
    pub bytes: u64,
    /// Where that figure comes from.
    pub source: SizeSource,
    /// Bytes that the unfused program moves for it, all accesses together.
    pub unfused_bytes: u64,
    /// Bytes that the fused program moves for it.
    pub fused_bytes: u64,
    /// Fused kernels that read it from memory.
    pub fused_readers: usize,
    /// The fused program never moves it, while the unfused one does.
    pub is_on_chip: bool,
}

/// The ops of a fused kernel, run one by one: the other end of its line on the roofline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Bytes of its ops, unfused.
    pub unfused_bytes: u64,
    /// Bytes read of its ops, unfused.
    pub unfused_bytes_read: u64,
    /// Time of its ops, unfused.
    pub unfused_time_s: f64,
    /// The point of all their FLOPs with the unfused bytes.
    pub unfused_placement: Placement,
}

/// The result of an analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Ops and tensors.
    pub graph: Graph,
    /// Which ops run as which kernel.
    pub partition: Partition,
    /// The proof of the search about that partition.
    pub certificate: Option<Certificate>,
    /// Kernels that the text states and that are not legal, where its marks hold.
    pub refused: Vec<Refused>,
    /// One kernel for each op, in execution order: see [`Execution::of_lone_op`].
    pub unfused: Execution,
    /// One kernel for each of `partition`.
    pub fused: Execution,
    /// For each fused kernel its ops, unfused.
    pub comparisons: IdVec<KernelId, Comparison>,
    /// For each tensor of `graph` what fusion does to it.
    pub tensors: IdVec<TensorId, TensorTraffic>,
    /// Saved part of the unfused bytes, in percent.
    pub savings_pct: f64,
    /// Unfused over fused time, both lower bounds; 1 when nothing runs. `None` where they leave out
    /// FLOPs or ops, because two times of which only a part is known have no ratio.
    pub speedup: Option<f64>,
    /// Times on a device with measured rates; `None` on any other, and where the roofline has no
    /// peak for the work of an op.
    pub predicted: Option<Predicted>,
    /// The user's choices.
    pub options: Options,
}

impl Analysis {
    /// The time of the fused program: predicted where it is known, otherwise the lower bound.
    pub fn time_s(&self) -> f64 {
        let predicted_s = self.predicted.as_ref().map(|predicted| predicted.fused_s);
        predicted_s.unwrap_or(self.fused.time_s)
    }

    /// Whether the op is a view that costs nothing: alone it launches no kernel.
    pub fn is_free_view(&self, op: OpId) -> bool {
        self.unfused.of_lone_op(op).is_free && self.first_result(op).is_none()
    }

    /// The op that stands for the call of which this op is the second result. Alone it launches
    /// no kernel.
    pub fn first_result(&self, op: OpId) -> Option<OpId> {
        self.graph.results.first(op)
    }

    /// The tensor that an op computes, if it stays on chip in its kernel. None of a view, whose
    /// bytes are those of the tensor that it indexes.
    pub fn kept_on_chip(&self, op: OpId) -> Option<TensorId> {
        let tensor = self.graph.output.get(op).copied()?;
        let is_view = self.is_free_view(op) || self.fused.views.is_view[op];
        let is_kept = self.tensors.get(tensor)?.is_on_chip && !is_view;
        is_kept.then_some(tensor)
    }

    /// Whether ops of unknown shape are missing, so that each total is a lower bound.
    pub fn is_partial(&self) -> bool {
        !self.graph.unknown_ops.is_empty()
    }

    /// Whether the tensors of the fused program that are live at once fit the device; `None` if its
    /// memory is unknown, or if those of known shape fit and others are missing.
    pub fn fits_memory(&self) -> Option<bool> {
        let memory = self.options.device.hardware.memory_bytes?;
        let fits = self.fused.peak_memory.bytes as f64 <= memory.value;
        (!fits || !self.is_partial()).then_some(fits)
    }

    /// The time of one fused kernel, as [`Analysis::time_s`]; `None` if there is no such kernel.
    pub fn kernel_time_s(&self, kernel: KernelId) -> Option<f64> {
        let bound_s = self.fused.kernels.get(kernel)?.placement.time_s;
        let predicted = self.predicted.as_ref();
        let predicted = predicted.and_then(|predicted| predicted.kernels.get(kernel));
        Some(predicted.map_or(bound_s, |predicted| predicted.time_s))
    }
}
