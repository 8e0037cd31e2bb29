//! Kernels to bytes: what each kernel reads from and writes to memory.

use crate::core::count;
use crate::core::model::graph::{Graph, SizeSource};
use crate::core::model::ids::{IdVec, KernelId, OpId, TensorId};
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
    #[serde(serialize_with = "count::serialize")]
    pub bytes_read: u64,
    /// Bytes written to memory.
    #[serde(serialize_with = "count::serialize")]
    pub bytes_written: u64,
    /// Both.
    #[serde(serialize_with = "count::serialize")]
    pub total: u64,
    /// Total of the unfused program minus this total, below 0 where kernels that compute ops again read more;
    /// 0 for the unfused program.
    #[serde(serialize_with = "count::serialize_signed")]
    pub saved_by_fusion: i64,
}

impl Traffic {
    /// A traffic that is held against the total of the unfused program. Sums stop at `2^64 - 1`, which only kernels
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
    let views = Views::under(graph, conventions.reshape);
    let mut count = Count {
        graph,
        partition,
        externals: conventions.externals,
        is_written: written(graph, partition, &views),
        views,
        read_by: IdVec::from_elem(None, graph.tensors.len()),
        reads: Vec::new(),
        writes: Vec::new(),
    };
    (partition.kernels.ids()).map(move |kernel| count.kernel(kernel))
}

/// For each op whether it is a free view, and for each tensor the tensor whose bytes it names.
#[derive(Clone)]
pub(crate) struct Views {
    pub(crate) is_view: IdVec<OpId, bool>,
    pub(crate) base: IdVec<TensorId, TensorId>,
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
            is_view: IdVec::from_elem(false, graph.ops.len()),
            base: graph.tensors.ids().collect(),
        }
    }

    fn of(graph: &Graph) -> Self {
        let mut views = Self::none(graph);
        for (op, definition) in graph.ops.iter_enumerated() {
            if definition.is_view()
                && let Some(&input) = graph.inputs[op].first()
            {
                views.is_view[op] = true;
                views.base[graph.output[op]] = views.base[input];
            }
        }
        views
    }
}

struct Count<'a> {
    graph: &'a Graph,
    partition: &'a Partition,
    externals: Externals,
    views: Views,
    /// For each op whether its output, seen through views, leaves its kernel.
    is_written: IdVec<OpId, bool>,
    /// For each tensor the last kernel that read it and the place in that kernel's reads.
    read_by: IdVec<TensorId, Option<(KernelId, usize)>>,
    /// Of the kernel in hand.
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl Count<'_> {
    fn kernel(&mut self, kernel: KernelId) -> KernelTraffic {
        self.reads.clear();
        self.writes.clear();
        let (own, again) = (
            &self.partition.kernels[kernel],
            &self.partition.recomputed[kernel],
        );
        for &op in own.iter().chain(again) {
            if self.views.is_view[op] {
                continue;
            }
            for tensor in self.graph.distinct_inputs(op) {
                self.read(kernel, op, tensor);
            }
            let output = self.graph.output[op];
            if self.is_written[op] && self.partition.kernel_of[op] == kernel {
                self.writes.push(Access {
                    tensor: output,
                    bytes: self.graph.tensors[output].bytes().unwrap_or(0),
                    source: SizeSource::Produced,
                });
            }
        }
        KernelTraffic {
            reads: SmallVec::from_slice(&self.reads),
            writes: SmallVec::from_slice(&self.writes),
        }
    }

    /// Adds a read unless the kernel makes the bytes itself or has read them already.
    fn read(&mut self, kernel: KernelId, op: OpId, tensor: TensorId) {
        let reads = &mut self.reads;
        let base = &self.graph.tensors[self.views.base[tensor]];
        if base
            .producer
            .is_some_and(|p| self.partition.computes(kernel, p))
        {
            return;
        }
        let (bytes, source) = if base.is_external() && self.externals == Externals::KnownOnly {
            (0, SizeSource::Ignored)
        } else {
            read_size(self.graph, op, tensor, self.externals)
        };
        let access = Access {
            tensor,
            bytes,
            source,
        };
        let known = self.read_by[tensor].filter(|&(reader, _)| reader == kernel);
        if let Some(known) = known.and_then(|(_, place)| reads.get_mut(place)) {
            // Only sizes by convention differ from reader to reader; the largest one covers all.
            if known.bytes < bytes {
                *known = access;
            }
        } else {
            self.read_by[tensor] = Some((kernel, reads.len()));
            reads.push(access);
        }
    }
}

/// An output stays on chip when it has consumers and every kernel that runs one of them, seen through views,
/// computes it itself.
pub(crate) fn written(graph: &Graph, partition: &Partition, views: &Views) -> IdVec<OpId, bool> {
    let recomputed_in = partition.recomputed.inverted(graph.ops.len());
    let mut is_written = IdVec::from_elem(false, graph.ops.len());
    for op in graph.ops.ids().rev() {
        let consumers = &graph.successors[op];
        is_written[op] = consumers.is_empty()
            || consumers.iter().any(|&consumer| {
                !partition.computes(partition.kernel_of[consumer], op)
                    || recomputed_in[consumer]
                        .iter()
                        .any(|&kernel| !partition.computes(kernel, op))
                    || (views.is_view[consumer] && is_written[consumer])
            });
    }
    is_written
}
