//! Kernels to bytes: what each kernel reads from and writes to memory.
#![allow(
    clippy::indexing_slicing,
    reason = "op and tensor ids are dense indices of this graph"
)]

use crate::core::model::graph::SizeSource;
use crate::core::model::graph::{Graph, OpId, TensorId};
use crate::core::model::options::{Conventions, Externals, ReshapeCost};
use crate::core::model::partition::Partition;
use crate::core::model::sizes::read_size;
use serde::Serialize;
use smallvec::SmallVec;

/// One tensor that one kernel reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which tensor.
    pub tensor: TensorId,
    /// How many bytes it counts here.
    pub bytes: u64,
    /// Where that figure comes from.
    pub source: SizeSource,
}

/// What one kernel moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelTraffic {
    /// Distinct tensors read from memory, in order of first use.
    pub reads: SmallVec<[Access; 2]>,
    /// Tensors written to memory, in execution order.
    pub writes: SmallVec<[Access; 1]>,
}

impl KernelTraffic {
    /// Bytes read. No overflow: [`build_graph`] bounds the sum over the program.
    pub fn bytes_read(&self) -> u64 {
        self.reads.iter().map(|a| a.bytes).sum()
    }

    /// Bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.writes.iter().map(|a| a.bytes).sum()
    }

    /// Bytes read and written.
    pub fn total(&self) -> u64 {
        self.bytes_read() + self.bytes_written()
    }
}

/// The traffic of a whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Bytes read from memory.
    pub bytes_read: u64,
    /// Bytes written to memory.
    pub bytes_written: u64,
    /// Both.
    pub total: u64,
    /// Total of the unfused program minus this total, below 0 where kernels that compute ops again read more;
    /// 0 for the unfused program.
    pub saved_by_fusion: i64,
}

impl Traffic {
    /// The traffic of a program, compared with the total of the unfused program. Sums stop at `2^64 - 1`, which only kernels
    /// that compute ops again could pass: [`build_graph`] bounds what the ops move one by one by `2^63 - 1`.
    pub fn new(bytes_read: u64, bytes_written: u64, unfused_total: Option<u64>) -> Self {
        let total = bytes_read.saturating_add(bytes_written);
        let saved = unfused_total.map_or(0, |unfused| i128::from(unfused) - i128::from(total));
        Self {
            bytes_read,
            bytes_written,
            total,
            saved_by_fusion: i64::try_from(saved).unwrap_or(i64::MIN),
        }
    }

    /// The saved part of the unfused total in percent; 0 when nothing moves.
    pub fn savings_pct(&self) -> f64 {
        let saved = self.saved_by_fusion;
        if saved == 0 {
            0.0
        } else {
            let unfused = i128::from(self.total) + i128::from(saved);
            saved as f64 / unfused as f64 * 100.0
        }
    }
}

/// What each kernel of `partition` reads and writes, in order. `O(ops + reads)`.
pub fn kernel_traffic<'a>(
    graph: &'a Graph,
    partition: &'a Partition,
    conventions: Conventions,
) -> impl Iterator<Item = KernelTraffic> + 'a {
    let mut count = TrafficCount::new(graph, conventions);
    let is_written = written(graph, partition, &count.views);
    (0..partition.groups.len()).map(move |kernel| {
        let (own, again) = (&partition.groups[kernel], &partition.recomputed[kernel]);
        count.of_kernel(
            own.iter().chain(again).copied(),
            |op| partition.computes(kernel, op),
            |op| is_written[op] && partition.group_of[op] == kernel,
        )
    })
}

/// Counts what kernels of one graph read and write under one choice of conventions.
pub(crate) struct TrafficCount<'a> {
    graph: &'a Graph,
    externals: Externals,
    pub(crate) views: Views,
    /// How many kernels were counted.
    kernels: usize,
    /// For each tensor the last kernel that read it, by its number here, and the place in that kernel's reads.
    read_by: Vec<(usize, usize)>,
    /// Of the kernel that is being counted.
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl<'a> TrafficCount<'a> {
    /// `O(ops + tensors)`.
    pub(crate) fn new(graph: &'a Graph, conventions: Conventions) -> Self {
        Self {
            graph,
            externals: conventions.externals,
            views: Views::under(graph, conventions.reshape),
            kernels: 0,
            read_by: vec![(0, 0); graph.tensors.len()],
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// What a kernel that computes `ops` reads and writes: the one place that says so. `O(ops + reads)`.
    ///
    /// A view moves nothing. Each tensor is read once, as large as its largest reader counts it, unless an op that the
    /// kernel `computes` makes the bytes that the tensor names. An output is written where `is_written` says that it
    /// leaves the kernel.
    pub(crate) fn of_kernel(
        &mut self,
        ops: impl Iterator<Item = OpId>,
        computes: impl Fn(OpId) -> bool,
        is_written: impl Fn(OpId) -> bool,
    ) -> KernelTraffic {
        let graph = self.graph;
        self.kernels += 1;
        self.reads.clear();
        self.writes.clear();
        for op in ops {
            if self.views.is_view[op] {
                continue;
            }
            for tensor in graph.distinct_inputs(op) {
                let producer = graph.tensors[self.views.base[tensor]].producer;
                if !producer.is_some_and(&computes) {
                    self.read(op, tensor);
                }
            }
            if is_written(op) {
                let tensor = graph.output[op];
                self.writes.push(Access {
                    tensor,
                    bytes: graph.tensors[tensor].bytes().unwrap_or(0),
                    source: SizeSource::Produced,
                });
            }
        }
        KernelTraffic {
            reads: SmallVec::from_slice(&self.reads),
            writes: SmallVec::from_slice(&self.writes),
        }
    }

    fn read(&mut self, op: OpId, tensor: TensorId) {
        let access = self.views.read(self.graph, op, tensor, self.externals);
        let (last_reader, place) = self.read_by[tensor];
        if last_reader == self.kernels {
            // Only sizes by convention differ from reader to reader; the largest one covers all.
            if self.reads[place].bytes < access.bytes {
                self.reads[place] = access;
            }
        } else {
            self.read_by[tensor] = (self.kernels, self.reads.len());
            self.reads.push(access);
        }
    }
}

/// For each op whether it is a free view, and for each tensor the tensor whose bytes it names.
#[derive(Clone)]
pub(crate) struct Views {
    pub(crate) is_view: Vec<bool>,
    pub(crate) base: Vec<TensorId>,
}

impl Views {
    pub(crate) fn under(graph: &Graph, reshape: ReshapeCost) -> Self {
        match reshape {
            ReshapeCost::Copy => Self::none(graph),
            ReshapeCost::View => Self::of(graph),
        }
    }

    fn none(graph: &Graph) -> Self {
        Self {
            is_view: vec![false; graph.ops.len()],
            base: (0..graph.tensors.len()).collect(),
        }
    }

    fn of(graph: &Graph) -> Self {
        let mut views = Self::none(graph);
        for (op, definition) in graph.ops.iter().enumerate() {
            if definition.is_view() {
                views.is_view[op] = true;
                views.base[graph.output[op]] = views.base[graph.inputs[op][0]];
            }
        }
        views
    }

    /// What `op` reads when it reads `tensor` from memory.
    pub(crate) fn read(
        &self,
        graph: &Graph,
        op: OpId,
        tensor: TensorId,
        externals: Externals,
    ) -> Access {
        let base = &graph.tensors[self.base[tensor]];
        let (bytes, source) = if base.is_external() && externals == Externals::KnownOnly {
            (0, SizeSource::Ignored)
        } else {
            read_size(graph, op, tensor, externals)
        };
        Access {
            tensor,
            bytes,
            source,
        }
    }
}

/// For each op whether its output is written to memory.
pub(crate) fn written(graph: &Graph, partition: &Partition, views: &Views) -> Vec<bool> {
    let recomputed_in = partition.recomputed.inverted(graph.ops.len());
    let mut is_written = vec![false; graph.ops.len()];
    for op in (0..graph.ops.len()).rev() {
        let is_kept = |reader: OpId| {
            let mut others = recomputed_in[reader].iter();
            partition.computes(partition.group_of[reader], op)
                && others.all(|&kernel| partition.computes(kernel, op))
        };
        is_written[op] = leaves(graph, views, op, is_kept, |view| is_written[view]);
    }
    is_written
}

/// Whether the output of an op leaves the kernels that compute it: nothing reads it, or a reader runs in a kernel that
/// does not compute it, or a view of it leaves. `is_kept`: all kernels that run this reader compute the op themselves.
pub(crate) fn leaves(
    graph: &Graph,
    views: &Views,
    op: OpId,
    is_kept: impl Fn(OpId) -> bool,
    leaves: impl Fn(OpId) -> bool,
) -> bool {
    let readers = &graph.successors[op];
    let is_needed = |&reader: &OpId| !is_kept(reader) || views.is_view[reader] && leaves(reader);
    readers.is_empty() || readers.iter().any(is_needed)
}
