//! Groups to bytes: what each kernel reads from and writes to memory.
#![allow(
    clippy::indexing_slicing,
    reason = "op and tensor ids are dense indices of this graph"
)]

use super::diagnostic::Diagnostic;
use super::functions;
use super::fusion::record::Log;
use super::fusion::{self, Partition};
use super::graph::{Graph, OpId, TensorId, build_graph};
use super::op::{Op, OpType, TensorDecl};
use super::sizes::{Conventions, Externals, ReshapeCost, SizeSource, read_size};
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

/// Whether the op only renames bytes, so that *reshape is a view* makes it free.
///
/// Concatenation gathers several tensors and stays a copy.
pub fn is_view(op: &Op) -> bool {
    op.op_type == OpType::Reshape
        && op.inputs.len() == 1
        && op
            .function
            .as_deref()
            .and_then(functions::find)
            .is_none_or(|f| f.is_view)
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
        read_by: vec![(usize::MAX, 0); graph.tensors.len()],
        reads: Vec::new(),
        writes: Vec::new(),
    };
    (0..partition.groups.len()).map(move |group| count.kernel(group))
}

/// For each op whether it is a free view, and for each tensor the tensor whose bytes it names.
#[derive(Clone)]
pub(super) struct Views {
    pub(super) is_view: Vec<bool>,
    pub(super) base: Vec<TensorId>,
}

impl Views {
    pub(super) fn under(graph: &Graph, reshape: ReshapeCost) -> Self {
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
            if is_view(definition) {
                views.is_view[op] = true;
                views.base[graph.output[op]] = views.base[graph.inputs[op][0]];
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
    is_written: Vec<bool>,
    /// For each tensor the last kernel that read it and the place in that kernel's reads.
    read_by: Vec<(usize, usize)>,
    /// Of the kernel in hand.
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl Count<'_> {
    fn kernel(&mut self, group: usize) -> KernelTraffic {
        self.reads.clear();
        self.writes.clear();
        let (own, again) = (
            &self.partition.groups[group],
            &self.partition.recomputed[group],
        );
        for &op in own.iter().chain(again) {
            if self.views.is_view[op] {
                continue;
            }
            for tensor in self.graph.distinct_inputs(op) {
                self.read(group, op, tensor);
            }
            let output = self.graph.output[op];
            if self.is_written[op] && self.partition.group_of[op] == group {
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
    fn read(&mut self, group: usize, op: OpId, tensor: TensorId) {
        let reads = &mut self.reads;
        let base = &self.graph.tensors[self.views.base[tensor]];
        if base
            .producer
            .is_some_and(|p| self.partition.computes(group, p))
        {
            return;
        }
        let (bytes, source) = if base.is_external() && self.externals == Externals::KnownOnly {
            (0, SizeSource::Ignored)
        } else {
            read_size(self.graph, op, tensor, self.externals)
        };
        let (last_reader, place) = self.read_by[tensor];
        if last_reader == group {
            // Only sizes by convention differ from reader to reader; the largest one covers all.
            if reads[place].bytes < bytes {
                reads[place] = Access {
                    tensor,
                    bytes,
                    source,
                };
            }
        } else {
            self.read_by[tensor] = (group, reads.len());
            reads.push(Access {
                tensor,
                bytes,
                source,
            });
        }
    }
}

/// An output stays on chip when it has consumers and every kernel that runs one of them, seen through views,
/// computes it itself.
pub(super) fn written(graph: &Graph, partition: &Partition, views: &Views) -> Vec<bool> {
    let recomputed_in = partition.recomputed.inverted(graph.ops.len());
    let mut is_written = vec![false; graph.ops.len()];
    for op in (0..graph.ops.len()).rev() {
        let consumers = &graph.successors[op];
        is_written[op] = consumers.is_empty()
            || consumers.iter().any(|&consumer| {
                !partition.computes(partition.group_of[consumer], op)
                    || recomputed_in[consumer]
                        .iter()
                        .any(|&kernel| !partition.computes(kernel, op))
                    || (views.is_view[consumer] && is_written[consumer])
            });
    }
    is_written
}

/// Bytes read and written by a list of ops, unfused or fused by the contract's rules.
///
/// `externals` declares sizes of external tensors; `conventions` says how the rest counts.
///
/// # Errors
/// As [`build_graph`].
///
/// ```
/// use fuseline::core::{estimate_memory_traffic, Conventions, Op, OpType::*, TensorDecl};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w1"], "y1", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y1"], "y2", &[1024, 4096], 2),
/// ];
/// let x = TensorDecl::new("x", &[1024, 1024], 2); // w1 follows: K = 1024, so 1024 x 4096
/// let unfused = estimate_memory_traffic(&ops, &[x.clone()], Conventions::default(), false)?;
/// let fused = estimate_memory_traffic(&ops, &[x], Conventions::default(), true)?;
/// assert_eq!((unfused.bytes_read, unfused.bytes_written), (18_874_368, 16_777_216));
/// assert_eq!((fused.bytes_read, fused.bytes_written), (10_485_760, 8_388_608));
/// assert_eq!(fused.saved_by_fusion, 16_777_216); // y1 written and read again
/// # Ok::<(), Vec<fuseline::core::Diagnostic>>(())
/// ```
pub fn estimate_memory_traffic(
    ops: &[Op],
    externals: &[TensorDecl],
    conventions: Conventions,
    fused: bool,
) -> Result<Traffic, Vec<Diagnostic>> {
    let graph = build_graph(ops, externals)?;
    let count = |kernels: Partition, unfused_total| {
        let (mut read, mut written) = (0, 0);
        for kernel in kernel_traffic(&graph, &kernels, conventions) {
            read += kernel.bytes_read();
            written += kernel.bytes_written();
        }
        Traffic::new(read, written, unfused_total)
    };
    let unfused = count(fusion::none::partition(&graph), None);
    Ok(if fused {
        count(
            fusion::rules::partition(&graph, &mut Log::default()),
            Some(unfused.total),
        )
    } else {
        unfused
    })
}
