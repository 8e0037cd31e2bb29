//! The cost of two kernels as one, without another analysis.

use crate::core::analysis::why::merged_writes::MergedWrites;
use crate::core::analysis::{Analysis, work_beyond_ops};
use crate::core::cost::roofline::place;
use crate::core::cost::traffic::Views;
use crate::core::cost::work::work_of_ops;
use crate::core::fusion::certificate::ROUNDING;
use crate::core::model::adjacency::Adjacency;
use crate::core::model::ids::{KernelId, OpId, TensorId};
use crate::core::model::options::Objective;
use crate::core::model::work::Work;
use crate::core::sorted::common;

/// What a change would save; negative where it costs more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Bytes through memory.
    pub saved_bytes: i64,
    /// Predicted time.
    pub saved_s: f64,
}

impl Price {
    /// Whether it is a gain by the objective of the analysis. A time must save more than rounding can.
    pub fn is_gain(self, analysis: &Analysis) -> bool {
        match analysis.options.fusion.objective {
            Objective::Bytes => self.saved_bytes > 0,
            Objective::Time => self.saved_s > analysis.fused.time_s * ROUNDING,
        }
    }
}

/// Prices of merging kernels of one analysis.
pub struct Prices<'a> {
    analysis: &'a Analysis,
    /// What each kernel reads, sorted.
    reads: Adjacency<KernelId, Read>,
    writes: MergedWrites<'a>,
}

/// A tensor that a kernel reads. Ordered by the op that computes its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    /// The op that computes the bytes, seen through views; `None` if they are from outside.
    base: Option<OpId>,
    tensor: TensorId,
    bytes: u64,
}

impl<'a> Prices<'a> {
    /// `O(ops + reads log reads)`.
    pub fn new(analysis: &'a Analysis) -> Self {
        let graph = &analysis.graph;
        let views = Views::under(graph, analysis.options.conventions.reshape);
        let mut reads = Adjacency::with_capacity(analysis.fused.kernels.len(), graph.ops.len() * 2);
        for kernel in &analysis.fused.kernels {
            let accesses = kernel.traffic.reads.iter().map(|access| Read {
                base: graph.tensors[views.base[access.tensor]].producer,
                tensor: access.tensor,
                bytes: access.bytes,
            });
            let mut sorted: Vec<Read> = accesses.collect();
            sorted.sort_unstable();
            reads.push(sorted);
        }
        Self {
            analysis,
            reads,
            writes: MergedWrites::new(analysis, views),
        }
    }

    /// What merging two kernels saves, as an analysis of the merged partition would say.
    ///
    /// `O(smaller log larger)` in what the two kernels compute and read, and the readers of the tensors that only the
    /// other one of both needs. Over all edges this is `O(reads * sqrt(reads) * log reads)` at most.
    pub fn merged(&self, a: KernelId, b: KernelId) -> Price {
        let analysis = self.analysis;
        let kernels = &analysis.fused.kernels;
        let (first, second) = (&kernels[a], &kernels[b]);
        let saved_bytes = self.saved_read_bytes(a, b) + self.writes.saved_bytes(a, b);
        let bytes = first.bytes() + second.bytes() - saved_bytes;
        let is_free = first.is_free && second.is_free;
        let time_s = place(&analysis.options, self.work(a, b), bytes, is_free).time_s;
        Price {
            saved_bytes: saved_bytes.cast_signed(),
            saved_s: first.placement.time_s + second.placement.time_s - time_s,
        }
    }

    /// Bytes that two kernels read and the merged one does not: what one computes for the other, and what both read.
    fn saved_read_bytes(&self, a: KernelId, b: KernelId) -> u64 {
        let mut shared: u64 = 0;
        let order = |x: &Read, y: &Read| (x.base, x.tensor).cmp(&(y.base, y.tensor));
        common(&self.reads[a], &self.reads[b], order, |x, y| {
            shared += x.bytes.min(y.bytes);
        });
        shared + self.fed_bytes(a, b) + self.fed_bytes(b, a)
    }

    /// Bytes that a kernel reads and another one computes.
    fn fed_bytes(&self, from: KernelId, to: KernelId) -> u64 {
        let partition = &self.analysis.partition;
        let fed_by = |ops: &[OpId]| {
            let mut bytes: u64 = 0;
            let order = |read: &Read, op: &OpId| read.base.cmp(&Some(*op));
            let reads = &self.reads[to];
            common(reads, ops, order, |read, _| bytes += read.bytes);
            bytes
        };
        fed_by(&partition.kernels[from]) + fed_by(&partition.recomputed[from])
    }

    /// The work of two kernels as one, which computes an op of both once.
    fn work(&self, a: KernelId, b: KernelId) -> Work {
        let analysis = self.analysis;
        let (partition, kernels) = (&analysis.partition, &analysis.fused.kernels);
        let (mut first, mut second) = (a, b);
        if self.first_matmul(a, b) == Some(b) {
            (first, second) = (b, a);
        }
        let again = [first, second].map(|kernel| partition.recomputed[kernel].len());
        if again == [0, 0] {
            return kernels[first].work.and(kernels[second].work);
        }
        let own = &partition.kernels[second];
        let computed = || own.iter().chain(&partition.recomputed[second]);
        let work_of = |op: OpId| analysis.unfused.of_lone_op(op).work;
        let alone = work_of_ops(computed(), work_of);
        let beyond = work_beyond_ops(&analysis.graph, own, &alone, &analysis.options.device);
        let others = computed().filter(|&&op| !partition.computes(first, op));
        let others = work_of_ops(others, work_of);
        kernels[first].work.and(others).and(beyond)
    }

    /// Of two kernels with matmuls of different types, the one whose matmul is earlier: its type counts.
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
