//! The cost of two kernels as one, without another analysis.

use crate::analysis::Analysis;
use crate::analysis::device_model::{
    AccessedBytes, Breakdown, CacheStart, DeviceModel, KernelOrigin, ModeledKernel,
};
use crate::analysis::execute::work_beyond_ops;
use crate::analysis::why::merged_writes::MergedWrites;
use crate::analysis::why::price::{Cost, Price};
use crate::cost::computed_in_part::{ComputedPart, computed_in_part};
use crate::cost::pieces::Union;
use crate::cost::roofline::place;
use crate::cost::views::Reading;
use crate::cost::work::work_of_ops;
use crate::model::adjacency::Adjacency;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::op_type::OpType;
use crate::model::work::Work;
use crate::sorted::common;
use std::iter;

/// Prices of merging kernels of one analysis.
pub struct Prices<'a> {
    pub(super) analysis: &'a Analysis,
    /// The reads of each kernel, sorted.
    reads: Adjacency<KernelId, Read>,
    /// What each kernel reads, sorted by the stored tensors, without repeats.
    readings: Adjacency<KernelId, Reading>,
    pub(super) writes: MergedWrites<'a>,
    has_matmul: IdVec<KernelId, bool>,
    has_reduction: IdVec<KernelId, bool>,
    /// Whether a kernel reduces along other axes than the last.
    reduces_columns: IdVec<KernelId, bool>,
    /// For each kernel those that write operands of its matmul, seen through views.
    feeds_matmul: Adjacency<KernelId, KernelId>,
    pub(super) device: Option<OnDevice<'a>>,
}

/// Cache hits, on which times on a measured device depend.
pub(super) struct OnDevice<'a> {
    pub(super) model: DeviceModel<'a>,
    /// For each op whether the cache takes its output, if a kernel writes it.
    pub(super) is_write_hit: IdVec<OpId, bool>,
    /// The reads and the writes of each kernel.
    pub(super) moved: IdVec<KernelId, [AccessedBytes; 2]>,
}

impl<'a> OnDevice<'a> {
    /// With, for each kernel, whether its reads hit the cache. `O(ops + reads)`.
    fn new(analysis: &'a Analysis) -> Option<(Self, Adjacency<KernelId, bool>)> {
        let graph = &analysis.graph;
        analysis.predicted.as_ref()?;
        let model = DeviceModel::new(graph, &analysis.options)?;
        let hits = model.hits(&analysis.fused, CacheStart::Warm)?;
        let mut is_write_hit = IdVec::from_elem(false, graph.ops.len());
        let mut moved = IdVec::with_capacity(analysis.fused.kernels.len());
        for (kernel, of) in analysis.fused.kernels.iter_enumerated() {
            let (reads, writes) = (&hits.reads[kernel], &hits.writes[kernel]);
            for (access, &is_hit) in of.traffic.writes.iter().zip(writes) {
                if let Some(op) = graph.tensors[access.tensor].producer {
                    // By op, because a merge keeps outputs on chip one by one.
                    is_write_hit[op] = is_hit;
                }
            }
            moved.push([
                AccessedBytes::all(&of.traffic.reads, reads),
                AccessedBytes::all(&of.traffic.writes, writes),
            ]);
        }
        let on_device = Self {
            model,
            is_write_hit,
            moved,
        };
        Some((on_device, hits.reads))
    }
}

/// A tensor that a kernel reads. Ordered by the op that computes its bytes, and by the tensor that
/// has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    /// The op that computes the bytes, seen through views; `None` if they are from outside.
    base: Option<OpId>,
    /// The tensor that has the bytes, seen through views.
    stored: TensorId,
    bytes: u64,
    /// The cache of a measured device serves it.
    is_hit: bool,
}

impl<'a> Prices<'a> {
    /// `O(ops + reads log reads)`.
    pub fn new(analysis: &'a Analysis) -> Self {
        let graph = &analysis.graph;
        let views = analysis.fused.views.clone();
        let (device, hits) = OnDevice::new(analysis).unzip();
        let mut reads = Adjacency::with_capacity(analysis.fused.kernels.len(), graph.ops.len() * 2);
        for (id, kernel) in analysis.fused.kernels.iter_enumerated() {
            let hits = hits.as_ref().map_or(&[][..], |hits| &hits[id]);
            let hits = hits.iter().copied().chain(iter::repeat(false));
            let accesses = kernel.traffic.reads.iter().zip(hits);
            let accesses = accesses.map(|(access, is_hit)| {
                let stored = views.base[access.tensor];
                Read {
                    base: graph.tensors[stored].producer,
                    stored,
                    bytes: access.bytes,
                    is_hit,
                }
            });
            let mut sorted: Vec<Read> = accesses.collect();
            // For `common`, which finds what one kernel reads of the other.
            sorted.sort_unstable();
            reads.push(sorted);
        }
        let writes = MergedWrites::new(analysis, views);
        let views = writes.views();
        let mut readings = Adjacency::with_capacity(reads.len(), graph.ops.len() * 2);
        for kernel in analysis.fused.kernels.ids() {
            let mut sorted = kernel_readings(analysis, kernel, &writes);
            sorted.sort_unstable();
            sorted.dedup();
            readings.push(sorted);
        }
        let kernels = || analysis.fused.kernels.iter();
        let has = |op_type| {
            let is_one = move |op: &OpId| graph.ops[*op].op_type == op_type;
            kernels().map(move |kernel| kernel.ops.iter().any(is_one))
        };
        let reduces_rows = |op: OpId| {
            let shape = graph.tensor_shape(*graph.inputs[op].first()?)?;
            let last = u32::try_from(shape.len().checked_sub(1)?).ok()?;
            Some(graph.ops[op].axes.checked_shr(last)? & 1 == 1)
        };
        let is_along_columns =
            |&op: &OpId| graph.ops[op].axes != 0 && reduces_rows(op) == Some(false);
        let reduces_columns = kernels().map(|kernel| kernel.ops.iter().any(is_along_columns));
        let mut feeds_matmul = Adjacency::with_capacity(kernels().len(), graph.ops.len());
        for kernel in kernels() {
            let ops = kernel.ops.iter().copied();
            let matmuls = ops.filter(|&op| graph.ops[op].op_type == OpType::Matmul);
            let operands = matmuls.flat_map(|op| graph.inputs[op].iter());
            let producers =
                operands.filter_map(|&tensor| graph.tensors[views.base[tensor]].producer);
            feeds_matmul.push(producers.map(|op| analysis.partition.kernel_of[op]));
        }
        Self {
            analysis,
            reads,
            readings,
            has_matmul: has(OpType::Matmul).collect(),
            has_reduction: has(OpType::Reduction).collect(),
            reduces_columns: reduces_columns.collect(),
            feeds_matmul,
            writes,
            device,
        }
    }

    /// The saving of merging two kernels, equal to that of an analysis of the merged partition. On
    /// a measured device the accesses that stay hit the cache as before, though the program moves
    /// less between them.
    ///
    /// `O(smaller log larger)` in what the two kernels compute and read, and the readers of the
    /// tensors that only the other one of both needs. Over all edges this is
    /// `O(reads * sqrt(reads) * log reads)` at most. On a measured device the ops of both kernels
    /// in addition.
    pub fn merged(&self, a: KernelId, b: KernelId) -> Price {
        self.of_both(a, b).and(self.of_spared_writes(a, b))
    }

    fn of_both(&self, a: KernelId, b: KernelId) -> Price {
        let analysis = self.analysis;
        let kernels = &analysis.fused.kernels;
        let (first, second) = (&kernels[a], &kernels[b]);
        let saved = [self.saved_reads(a, b), self.saved_writes(a, b)];
        let saved_bytes = saved.iter().map(|moved| moved.bytes).sum::<u64>();
        let cost = |kernel| Cost::of_kernel(analysis, kernel).unwrap_or(Cost::NOTHING);
        let before = cost(a).and(cost(b));
        // Never below 0: each saved access is one of those before, and counts once.
        let bytes = before.bytes - saved_bytes;
        if self.has_matmul[a] && self.has_matmul[b] {
            let after = Cost {
                bytes,
                bound_s: None,
                predicted_s: None,
            };
            return Price { before, after };
        }
        let is_free = first.is_free && second.is_free;
        let work = self.work(a, b);
        let after = Cost {
            bytes,
            bound_s: Some(place(&analysis.options, work, bytes, is_free).time_s),
            predicted_s: (self.breakdown(a, b, work, saved)).map(|breakdown| breakdown.time_s()),
        };
        Price { before, after }
    }

    /// Whether the device model knows a kernel that computes both. Beside a matmul it knows no
    /// reduction, which needs whole rows where the matmul has tiles, and ops before one only by the
    /// option *prologue*: each tile of columns would compute them again. It knows none that holds
    /// whole columns for what reads their sums, because it would access memory in strides.
    fn is_modelled(&self, a: KernelId, b: KernelId) -> bool {
        match (self.has_matmul[a], self.has_matmul[b]) {
            (false, false) => !(self.holds_columns(a, b) || self.holds_columns(b, a)),
            (true, true) => false,
            (true, false) => self.takes(a, b),
            (false, true) => self.takes(b, a),
        }
    }

    /// Whether one kernel reduces columns and the other reads the result.
    fn holds_columns(&self, reduces: KernelId, reader: KernelId) -> bool {
        let kernel_of = &self.analysis.partition.kernel_of;
        let mut bases = self.reads[reader].iter().filter_map(|read| read.base);
        self.reduces_columns[reduces] && bases.any(|op| kernel_of[op] == reduces)
    }

    /// Whether the kernel of a matmul takes the ops of another.
    fn takes(&self, matmul: KernelId, other: KernelId) -> bool {
        let is_before = || self.feeds_matmul[matmul].contains(&other);
        !self.has_reduction[other] && (self.analysis.options.fusion.prologue || !is_before())
    }

    /// How the predicted time of two kernels as one is found; `None` where it has none. As
    /// [`Self::merged`].
    pub fn merged_breakdown(&self, a: KernelId, b: KernelId) -> Option<Breakdown> {
        let saved = [self.saved_reads(a, b), self.saved_writes(a, b)];
        self.breakdown(a, b, self.work(a, b), saved)
    }

    /// The time of the merged kernel, of this work; `None` where the device model knows no such
    /// kernel. `saved`: reads and writes that it does not make.
    fn breakdown(
        &self,
        a: KernelId,
        b: KernelId,
        work: Work,
        saved: [AccessedBytes; 2],
    ) -> Option<Breakdown> {
        let on_device = self.device.as_ref().filter(|_| self.is_modelled(a, b))?;
        let kernels = &self.analysis.fused.kernels;
        let moved = |side: usize| {
            // Hits are those of the program as it is: to find them anew would take another pass
            // over it for each price.
            let mut both = on_device.moved[a][side];
            both += on_device.moved[b][side];
            both - saved[side]
        };
        let mut ops = [&kernels[a].ops[..], &kernels[b].ops[..]].concat();
        ops.sort_unstable();
        let again = &self.analysis.partition.recomputed;
        let mut recomputed = [&again[a], &again[b]].concat();
        recomputed.sort_unstable();
        recomputed.dedup();
        // What one kernel computes for itself the other need not compute again.
        recomputed.retain(|op| ops.binary_search(op).is_err());
        let mut reductions = [&kernels[a].reductions[..], &kernels[b].reductions].concat();
        reductions.sort_unstable();
        let in_part = [a, b].map(|kernel| kernels[kernel].traffic.in_part.iter());
        let in_part = in_part.into_iter().flatten().map(|part| part.op);
        let mut inlined: Vec<OpId> = recomputed.iter().copied().chain(in_part).collect();
        inlined.sort_unstable();
        inlined.dedup();
        let in_part = computed_in_part(&self.analysis.graph, self.writes.views(), &inlined, |op| {
            ops.binary_search(&op).is_ok()
        });
        let launch = ModeledKernel {
            ops: &ops,
            recomputed: &recomputed,
            reductions: &reductions,
            in_part: &in_part,
            work,
            is_free: kernels[a].is_free && kernels[b].is_free,
            is_split: false,
            further_launches: 0,
            read: moved(0),
            written: moved(1),
        };
        // Under *no fusion*, too: the merge is by hand.
        on_device.model.breakdown(KernelOrigin::Generated, launch)
    }

    /// Reads of two kernels that the merged one does not make: what one computes for the other, and
    /// what both read.
    fn saved_reads(&self, a: KernelId, b: KernelId) -> AccessedBytes {
        let mut saved = self.shared_reads(a.min(b), a.max(b));
        for (from, to) in [(a, b), (b, a)] {
            let partition = &self.analysis.partition;
            for ops in [&partition.kernels[from], &partition.recomputed[from]] {
                let order = |read: &Read, op: &OpId| read.base.cmp(&Some(*op));
                common(&self.reads[to], ops, order, |read, _| {
                    saved += AccessedBytes::access(read.bytes, read.is_hit);
                });
            }
        }
        saved
    }

    /// What two kernels both read of stored tensors. The later of the two reads goes.
    fn shared_reads(&self, earlier: KernelId, later: KernelId) -> AccessedBytes {
        let (views, graph) = (&self.analysis.fused.views, &self.analysis.graph);
        let mut saved = AccessedBytes::default();
        let (mut few, mut many) = (&self.readings[earlier], &self.readings[later]);
        if few.len() > many.len() {
            std::mem::swap(&mut few, &mut many);
        }
        for own in few.chunk_by(|x, y| x.stored == y.stored) {
            let Some(stored) = own.first().map(|reading| reading.stored) else {
                continue;
            };
            let start = many.partition_point(|reading| reading.stored < stored);
            let others = many.get(start..).unwrap_or_default();
            let end = others.partition_point(|reading| reading.stored == stored);
            let others = others.get(..end).unwrap_or_default();
            if others.is_empty() {
                continue;
            }
            let bytes = |readings: &mut dyn Iterator<Item = &Reading>| {
                let mut union = Union::default();
                readings.for_each(|reading| _ = union.add(reading.elements));
                views.bytes(graph, stored, &union)
            };
            let further = others
                .iter()
                .filter(|other| own.binary_search(other).is_err());
            let both = bytes(&mut own.iter().chain(further));
            let apart = bytes(&mut own.iter()) + bytes(&mut others.iter());
            let base = graph.tensors[stored].producer;
            let of_later = &self.reads[later];
            let start = of_later.partition_point(|read| (read.base, read.stored) < (base, stored));
            let is_hit = of_later.get(start).is_some_and(|read| read.is_hit);
            saved += AccessedBytes::access(apart.saturating_sub(both), is_hit);
        }
        saved
    }

    /// Writes of two kernels that the merged one does not make.
    fn saved_writes(&self, a: KernelId, b: KernelId) -> AccessedBytes {
        let graph = &self.analysis.graph;
        let mut saved = AccessedBytes::default();
        for op in self.writes.kept(a, b) {
            let bytes = self.analysis.fused.views.written_size(graph, op);
            let is_hit = (self.device.as_ref()).is_some_and(|device| device.is_write_hit[op]);
            saved += AccessedBytes::access(bytes, is_hit);
        }
        saved
    }

    /// The work of two kernels as one, which computes an op of both once.
    fn work(&self, a: KernelId, b: KernelId) -> Work {
        let analysis = self.analysis;
        let (partition, kernels) = (&analysis.partition, &analysis.fused.kernels);
        let (mut first, mut second) = (a, b);
        // `Work::and` takes the matrix type of the first.
        if self.first_matmul(a, b) == Some(b) {
            (first, second) = (b, a);
        }
        let again = [first, second].map(|kernel| partition.recomputed[kernel].len());
        if again == [0, 0] {
            return kernels[first].work.and(kernels[second].work);
        }
        let own = &partition.kernels[second];
        let computed = || own.iter().chain(&partition.recomputed[second]);
        let work_of = |op: OpId| {
            let whole = analysis.unfused.of_lone_op(op).work;
            kernels[second].traffic.work_of(op, whole)
        };
        let alone = work_of_ops(computed(), work_of);
        // FLOPs of the kernel's algorithm that no single op has, such as the rescaling of
        // attention.
        let beyond = work_beyond_ops(&analysis.graph, own, &alone, &analysis.options.device);
        let others = computed().filter(|&&op| !partition.computes(first, op));
        let others = work_of_ops(others, work_of);
        kernels[first].work.and(others).and(beyond)
    }

    /// Of two kernels with matmuls of different types, the one whose matmul is earlier: its type
    /// counts.
    fn first_matmul(&self, a: KernelId, b: KernelId) -> Option<KernelId> {
        let analysis = self.analysis;
        let dtype = |kernel: KernelId| analysis.fused.kernels[kernel].work.matrix_dtype;
        if dtype(a)? == dtype(b)? {
            return None;
        }
        let partition = &analysis.partition;
        let is_matmul = |op: &OpId| analysis.unfused.of_lone_op(*op).work.matrix_dtype.is_some();
        let first_of = |kernel: KernelId| {
            let (own, again) = (&partition.kernels[kernel], &partition.recomputed[kernel]);
            own.iter().chain(again).copied().filter(is_matmul).min()
        };
        Some(if first_of(a) < first_of(b) { a } else { b })
    }
}

/// What the ops of a kernel read of stored tensors that it does not compute.
fn kernel_readings(
    analysis: &Analysis,
    kernel: KernelId,
    writes: &MergedWrites<'_>,
) -> Vec<Reading> {
    let Analysis {
        graph,
        partition,
        fused,
        ..
    } = analysis;
    let views = &fused.views;
    let externals = analysis.options.conventions.externals;
    let in_part = &fused.kernels[kernel].traffic.in_part;
    let own = partition.kernels[kernel]
        .iter()
        .chain(&partition.recomputed[kernel]);
    let is_computed = |op: OpId| partition.computes(kernel, op);
    let readings = own.flat_map(|&op| {
        let part = ComputedPart::of_op(in_part, op);
        let is_written = |op| partition.kernel_of[op] == kernel && writes.is_written(op);
        let loaded = views.loaded(graph, op, is_computed, is_written);
        loaded.map(move |tensor| views.reading(graph, op, tensor, part, externals).0)
    });
    readings.collect()
}
