//! Bytes that each kernel reads from and writes to memory.

use crate::cost::computed_in_part::{ComputedPart, computed_in_part, is_by_element};
use crate::cost::pieces::{Elements, Union};
use crate::cost::views::{Reading, Views};
use crate::model::adjacency::Adjacency;
use crate::model::graph::{Graph, SizeSource};
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::options::{Conventions, Externals};
use crate::model::partition::{OperandCopy, Partition};
use crate::model::work::Work;
use serde::Serialize;
use smallvec::SmallVec;
use std::collections::HashMap;

/// One tensor that one kernel reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The tensor that is read or written.
    pub tensor: TensorId,
    /// Bytes that it counts.
    pub bytes: u64,
    /// Source of that figure.
    pub source: SizeSource,
}

/// The memory traffic of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelTraffic {
    /// Distinct tensors read from memory, in order of first use.
    pub reads: SmallVec<[Access; 2]>,
    /// Tensors written to memory, in execution order.
    pub writes: SmallVec<[Access; 1]>,
    /// What the kernel computes in part, by ascending op.
    pub in_part: Vec<ComputedPart>,
}

impl KernelTraffic {
    /// Bytes read. No overflow: [`build_graph`](crate::build_graph) bounds the sum over the
    /// program.
    pub fn bytes_read(&self) -> u64 {
        self.reads.iter().map(|a| a.bytes).sum()
    }

    /// Writes to DRAM, in bytes.
    pub fn bytes_written(&self) -> u64 {
        self.writes.iter().map(|a| a.bytes).sum()
    }

    /// What the kernel computes of an op, if that is not the whole.
    pub fn part_of(&self, op: OpId) -> Option<&ComputedPart> {
        ComputedPart::of_op(&self.in_part, op)
    }

    /// The work of the kernel on an op that has this work as a whole.
    pub fn work_of(&self, op: OpId, whole: Work) -> Work {
        self.part_of(op).map_or(whole, |part| part.work_of(whole))
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
    /// Bytes read and written.
    pub total: u64,
    /// Total of the unfused program minus this total; negative if kernels that recompute ops read
    /// more; 0 for the unfused program.
    pub saved_by_fusion: i64,
}

impl Traffic {
    /// The traffic of a program, compared with the total of the unfused program. No overflow:
    /// [`build_graph`](crate::build_graph) bounds both totals by `2^63 - 1`.
    pub fn new(bytes_read: u64, bytes_written: u64, unfused_total: Option<u64>) -> Self {
        let total = bytes_read + bytes_written;
        let saved = |unfused: u64| unfused.cast_signed() - total.cast_signed();
        Self {
            bytes_read,
            bytes_written,
            total,
            saved_by_fusion: unfused_total.map_or(0, saved),
        }
    }

    /// The saved part of the unfused total in percent; 0 when nothing moves.
    pub fn savings_pct(&self) -> f64 {
        let saved = self.saved_by_fusion;
        if saved == 0 {
            0.0
        } else {
            // Cannot overflow: both totals are below 2^63, and this is the unfused one.
            let unfused = self.total.cast_signed() + saved;
            saved as f64 / unfused as f64 * 100.0
        }
    }
}

/// The memory traffic of each kernel of `partition`, in order. `O(ops + reads)`.
pub fn kernel_traffic<'a>(
    graph: &'a Graph,
    partition: &'a Partition,
    conventions: Conventions,
) -> impl Iterator<Item = KernelTraffic> + 'a {
    let views = Views::of_partition(graph, conventions.reshape, partition);
    let mut count = TrafficCount::through(graph, conventions.externals, views);
    let is_written = written(graph, partition, &count.views);
    let read = |copy: &OperandCopy| (copy.op, copy.tensor, copy.bytes_read);
    let [copies_read, copies_written] = [
        copies_by_kernel(partition, read),
        copies_by_kernel(partition, |copy| {
            (copy.written_by, copy.tensor, copy.bytes_written)
        }),
    ];
    let mut is_recomputed = IdVec::from_elem(false, graph.ops.len());
    for &op in partition.recomputed.iter().flatten() {
        is_recomputed[op] = true;
    }
    partition.kernels.ids().map(move |kernel| {
        let (own, again) = (&partition.kernels[kernel], &partition.recomputed[kernel]);
        // What a kernel computes for itself alone.
        let is_inlined = |op: OpId| {
            let is_by_element = is_by_element(&graph.ops[op]) || count.views.is_value(op);
            is_recomputed[op] || partition.computes_where_read && is_by_element
        };
        let inlined = own.iter().filter(|&&op| !is_written[op] && is_inlined(op));
        let mut inlined: Vec<OpId> = inlined.chain(again).copied().collect();
        inlined.sort_unstable();
        let in_part = computed_in_part(graph, &count.views, &inlined, |op| {
            partition.kernel_of[op] == kernel
        });
        let mut traffic = count.of_kernel(
            own.iter().chain(again).copied(),
            in_part,
            |op| partition.computes(kernel, op),
            |op| is_written[op] && partition.kernel_of[op] == kernel,
        );
        let of_kernel = |copies: &Adjacency<KernelId, Access>| {
            let copies = copies.get(kernel).unwrap_or_default();
            copies.iter().copied().collect::<SmallVec<[Access; 1]>>()
        };
        traffic.reads.extend(of_kernel(&copies_read));
        traffic.writes.extend(of_kernel(&copies_written));
        traffic
    })
}

/// For each kernel the accesses to copies of operands: `access` is the op that makes one, the
/// operand, and the bytes.
fn copies_by_kernel(
    partition: &Partition,
    access: impl Fn(&OperandCopy) -> (OpId, TensorId, u64),
) -> Adjacency<KernelId, Access> {
    let accesses = partition.copies.iter().map(access);
    let accesses = accesses.filter(|&(.., bytes)| bytes > 0);
    let accesses = accesses.map(|(op, tensor, bytes)| {
        let access = Access {
            tensor,
            bytes,
            source: SizeSource::Copied,
        };
        (partition.kernel_of[op], access)
    });
    let accesses: Vec<_> = accesses.collect();
    if accesses.is_empty() {
        return Adjacency::default();
    }
    Adjacency::from_pairs(partition.kernels.len(), accesses.into_iter())
}

/// What read a tensor last.
#[derive(Clone, Copy, Debug)]
struct LastReader {
    op: OpId,
    /// The kernel, by its number in the count; the first is 1.
    kernel: usize,
    /// The place among the reads of that kernel.
    place: usize,
}

/// Counts what kernels of one graph read and write under one choice of conventions.
pub(crate) struct TrafficCount<'a> {
    graph: &'a Graph,
    externals: Externals,
    pub(crate) views: Views,
    /// Number of kernels counted so far.
    kernels: usize,
    /// For each tensor what read it last.
    read_by: IdVec<TensorId, LastReader>,
    /// For each part of a tensor that equal ops take the kernel that took it last.
    taken_by: HashMap<[TensorId; 2], usize>,
    /// For each tensor that is stored the kernel that read it or a view of it last, and its place
    /// among the unions of that kernel.
    of_stored: IdVec<TensorId, (usize, usize)>,
    /// What the kernel that is being counted reads of each stored tensor, and the bytes.
    unions: Vec<(Union, u64)>,
    /// What its ops read: the place among its reads, and the source of the bytes.
    readings: Vec<(usize, SizeSource, Reading)>,
    /// Reads and writes of the kernel that is being counted.
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl<'a> TrafficCount<'a> {
    /// `O(ops + tensors)`.
    pub(crate) fn new(graph: &'a Graph, conventions: Conventions) -> Self {
        let views = Views::under(graph, conventions.reshape);
        Self::through(graph, conventions.externals, views)
    }

    fn through(graph: &'a Graph, externals: Externals, views: Views) -> Self {
        Self {
            graph,
            externals,
            views,
            kernels: 0,
            read_by: IdVec::from_elem(
                LastReader {
                    op: OpId::new(0),
                    kernel: 0,
                    place: 0,
                },
                graph.tensors.len(),
            ),
            taken_by: HashMap::new(),
            of_stored: IdVec::from_elem((0, 0), graph.tensors.len()),
            unions: Vec::new(),
            readings: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Whether the op is a free view.
    pub(crate) fn is_view(&self, op: OpId) -> bool {
        self.views.is_view[op]
    }

    /// The memory traffic of a kernel that computes `ops`. Every count of bytes comes from here.
    /// `O(ops + reads)`.
    ///
    /// A view moves nothing. Each element of a tensor is read once, by whatever views and parts,
    /// unless the kernel `computes` the op that produces its bytes. An output is written if
    /// `is_written` says that it leaves the kernel.
    pub(crate) fn of_kernel(
        &mut self,
        ops: impl Iterator<Item = OpId>,
        in_part: Vec<ComputedPart>,
        computes: impl Fn(OpId) -> bool,
        is_written: impl Fn(OpId) -> bool,
    ) -> KernelTraffic {
        let graph = self.graph;
        self.kernels += 1;
        self.readings.clear();
        self.reads.clear();
        self.writes.clear();
        for op in ops {
            if self.views.is_view[op] {
                continue;
            }
            let loaded = self.views.loaded(graph, op, &computes, &is_written);
            let loaded: SmallVec<[TensorId; 4]> = loaded.collect();
            let part = ComputedPart::of_op(&in_part, op);
            for tensor in loaded {
                self.read(op, tensor, part);
            }
            // `build_graph` has bounded all bytes, so nothing here checks for overflow.
            let own = Some(op).filter(|&op| is_written(op));
            for op in own.into_iter().chain(self.views.second_result(graph, op)) {
                self.writes.push(Access {
                    tensor: graph.output[op],
                    bytes: self.views.written_size(graph, op),
                    source: SizeSource::Produced,
                });
            }
        }
        self.read_once();
        KernelTraffic {
            reads: SmallVec::from_slice(&self.reads),
            writes: SmallVec::from_slice(&self.writes),
            in_part,
        }
    }

    fn read(&mut self, op: OpId, tensor: TensorId, part: Option<&ComputedPart>) {
        let last = &mut self.read_by[tensor];
        // Marks carry the kernel's number, so a new kernel clears nothing: `O(1)` for each read.
        let is_known = last.kernel == self.kernels;
        if is_known && last.op == op {
            return;
        }
        last.op = op;
        let (reading, source) = (self.views).reading(self.graph, op, tensor, part, self.externals);
        if !is_known {
            (last.kernel, last.place) = (self.kernels, self.reads.len());
            self.reads.push(Access {
                tensor,
                bytes: 0,
                source,
            });
        }
        // Equal parts have the same elements.
        if let Some(part) = reading.some
            && self.taken_by.insert(part, self.kernels) == Some(self.kernels)
        {
            return;
        }
        self.readings.push((last.place, source, reading));
    }

    /// Counts each element where it is read first: the elements of a tensor by its name, those of
    /// its views, and last those of unknown places.
    fn read_once(&mut self) {
        self.unions.clear();
        for pass in 0..3 {
            for &(place, source, reading) in &self.readings {
                let Some(access) = self.reads.get_mut(place) else {
                    continue;
                };
                let own = match reading.elements {
                    Elements::Some { .. } => 2,
                    _ => usize::from(access.tensor != reading.stored),
                };
                if own != pass {
                    continue;
                }
                let (kernel, union) = &mut self.of_stored[reading.stored];
                let is_first = std::mem::replace(kernel, self.kernels) != self.kernels;
                if is_first {
                    *union = self.unions.len();
                    self.unions.push((Union::default(), 0));
                }
                let Some((union, bytes)) = self.unions.get_mut(*union) else {
                    continue;
                };
                if !union.add(reading.elements) {
                    continue;
                }
                let before = *bytes;
                *bytes = if is_first {
                    reading.bytes
                } else {
                    before.max(self.views.bytes(self.graph, reading.stored, union))
                };
                if *bytes > before {
                    access.bytes += *bytes - before;
                    access.source = source;
                }
            }
        }
    }
}

/// For each op whether its output is written to memory.
pub(crate) fn written(graph: &Graph, partition: &Partition, views: &Views) -> IdVec<OpId, bool> {
    let recomputed_in = partition.recomputed.inverted(graph.ops.len());
    let mut is_written = IdVec::from_elem(false, graph.ops.len());
    // From the end, so that a view is decided before the op whose bytes it names.
    for op in graph.ops.ids().rev() {
        let is_kept = |reader: OpId| {
            // A reader that runs in several kernels needs the output in each that does not compute
            // it.
            let mut others = recomputed_in[reader].iter();
            partition.computes(partition.kernel_of[reader], op)
                && others.all(|&kernel| partition.computes(kernel, op))
        };
        is_written[op] = leaves(graph, views, op, is_kept, |view| is_written[view]);
    }
    is_written
}

/// Whether the output of an op leaves the kernels that compute it: it is a result, or a reader runs
/// in a kernel that does not compute it, or a view of it leaves. `is_kept`: all kernels that run
/// this reader compute the op themselves.
pub(crate) fn leaves(
    graph: &Graph,
    views: &Views,
    op: OpId,
    is_kept: impl Fn(OpId) -> bool,
    mut leaves: impl FnMut(OpId) -> bool,
) -> bool {
    let readers = &graph.successors[op];
    let output = graph.output[op];
    let mut is_needed = |&reader: &OpId| {
        !is_kept(reader)
            || views.is_view[reader] && leaves(reader)
            || views.is_placed(reader, output)
    };
    // The caller gets a copy of such a value.
    let is_copied = views.is_value(op) && graph.is_in_memory_of_caller(output);
    graph.is_final(output) && !is_copied || readers.iter().any(&mut is_needed)
}
