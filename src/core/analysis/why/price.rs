//! What two kernels would cost as one, without another analysis.

use crate::core::analysis::Analysis;
use crate::core::cost::roofline::place;
use crate::core::cost::traffic::{Views, written};
use crate::core::fusion::optimal::ROUNDING;
use crate::core::model::adjacency::Adjacency;
use crate::core::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::core::model::options::Externals;
use crate::core::model::options::Objective;
use crate::core::model::sizes::read_size;
use crate::core::model::work::Work;

/// What a change would save; negative where it costs more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Bytes through memory.
    pub saved_bytes: i64,
    /// Predicted time.
    pub saved_s: f64,
}

/// Prices of merging kernels of one analysis.
pub struct Prices<'a> {
    analysis: &'a Analysis,
    views: Views,
    is_written: IdVec<OpId, bool>,
    /// For each op the kernels that compute it again.
    recomputed_in: Adjacency<OpId, KernelId>,
}

impl<'a> Prices<'a> {
    /// `O(ops + reads)`.
    pub fn new(analysis: &'a Analysis) -> Self {
        let graph = &analysis.graph;
        let views = Views::under(graph, analysis.options.conventions.reshape);
        Self {
            is_written: written(graph, &analysis.partition, &views),
            recomputed_in: analysis.partition.recomputed.inverted(graph.ops.len()),
            views,
            analysis,
        }
    }

    /// Whether something is saved of what the analysis makes small; of time more than rounding can save.
    pub fn is_gain(&self, price: Price) -> bool {
        match self.analysis.options.fusion.objective {
            Objective::Bytes => price.saved_bytes > 0,
            Objective::Time => price.saved_s > self.analysis.fused.time_s * ROUNDING,
        }
    }

    /// What running two kernels as one saves: what an analysis of the merged partition would say.
    /// `O(n log n)` in what they read.
    pub fn merged(&self, a: KernelId, b: KernelId) -> Price {
        let analysis = self.analysis;
        let options = &analysis.options;
        let kernels = &analysis.fused.kernels;
        let (first, second) = (&kernels[a], &kernels[b]);
        let ops = self.ops_of(a, b);
        let bytes = self.bytes(&ops, a, b);
        let is_free = first.is_free && second.is_free;
        let again = &analysis.partition.recomputed;
        let work = if again[a].is_empty() && again[b].is_empty() {
            first.work.and(second.work)
        } else {
            // Each op once, and what an attention kernel does beyond its ops.
            let beyond = self.beyond_its_ops(a).and(self.beyond_its_ops(b));
            ops.iter().fold(beyond, |sum, &op| {
                sum.and(analysis.unfused.of_lone_op(op).work)
            })
        };
        let time_s = place(&options.device, work, bytes, is_free).time_s;
        Price {
            saved_bytes: (first.bytes() + second.bytes()).cast_signed() - bytes.cast_signed(),
            saved_s: first.placement.time_s + second.placement.time_s - time_s,
        }
    }

    /// What a kernel computes that none of its ops does: the rescaling of attention.
    fn beyond_its_ops(&self, kernel: KernelId) -> Work {
        let analysis = self.analysis;
        let partition = &analysis.partition;
        let ops = partition.kernels[kernel].iter();
        let of_ops: u128 = ops
            .chain(&partition.recomputed[kernel])
            .map(|&op| analysis.unfused.of_lone_op(op).work.vector_flops)
            .sum();
        let all = analysis.fused.kernels[kernel].work.vector_flops;
        Work {
            vector_flops: all.saturating_sub(of_ops),
            ..Work::default()
        }
    }

    /// All that the merged kernel computes, ascending.
    fn ops_of(&self, a: KernelId, b: KernelId) -> Vec<OpId> {
        let partition = &self.analysis.partition;
        let mut ops = [
            &partition.kernels[a],
            &partition.kernels[b],
            &partition.recomputed[a],
            &partition.recomputed[b],
        ]
        .concat();
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    fn bytes(&self, ops: &[OpId], a: KernelId, b: KernelId) -> u64 {
        let analysis = self.analysis;
        let (graph, partition) = (&analysis.graph, &analysis.partition);
        let externals = analysis.options.conventions.externals;
        let is_merged = |kernel: KernelId| kernel == a || kernel == b;
        let place_of = |op: OpId| ops.binary_search(&op).ok();
        // For each op of the merged kernel whether it leaves it; views first, so from the end.
        let mut leaves = vec![false; ops.len()];
        let mut bytes = 0;
        let mut reads: Vec<(TensorId, u64)> = Vec::new();
        for (at, &op) in ops.iter().enumerate().rev() {
            let consumers = &graph.successors[op];
            let leaves_through = |&consumer: &OpId| {
                let runs_in = self.recomputed_in[consumer].iter();
                let mut runs_in = runs_in.chain([&partition.kernel_of[consumer]]);
                let is_lost =
                    runs_in.any(|&kernel| !is_merged(kernel) && !partition.computes(kernel, op));
                let inside = place_of(consumer).and_then(|place| leaves.get(place));
                let passes_on = inside.copied().unwrap_or(self.is_written[consumer]);
                is_lost || self.views.is_view[consumer] && passes_on
            };
            // What does not leave its kernel now does not leave the merged one.
            let op_leaves = self.is_written[op]
                && (consumers.is_empty() || consumers.iter().any(leaves_through));
            if let Some(leaves) = leaves.get_mut(at) {
                *leaves = op_leaves;
            }
            if self.views.is_view[op] {
                continue;
            }
            if op_leaves && is_merged(partition.kernel_of[op]) {
                bytes += graph.tensors[graph.output[op]].bytes().unwrap_or(0);
            }
            for tensor in graph.distinct_inputs(op) {
                let base = &graph.tensors[self.views.base[tensor]];
                let is_made = base.producer.and_then(place_of).is_some();
                let is_ignored = base.is_external() && externals == Externals::KnownOnly;
                if !is_made && !is_ignored {
                    reads.push((tensor, read_size(graph, op, tensor, externals).0));
                }
            }
        }
        reads.sort_unstable();
        // Of several entries of a tensor the last is the largest.
        let of_tensors = reads.chunk_by(|one, next| one.0 == next.0);
        let largest = of_tensors.filter_map(|entries| entries.last());
        bytes + largest.map(|&(_, bytes)| bytes).sum::<u64>()
    }

    /// Ops by which a kernel feeds a later one through kernels between them: merged, the two would need each
    /// other. Looks at the kernels between them.
    pub fn path_around(&self, first: KernelId, last: KernelId) -> Option<Vec<OpId>> {
        // For each kernel from the first on the one that it feeds, and the two ops between which it does.
        let mut towards = vec![None; last.index().saturating_sub(first.index())];
        let mut waiting = vec![last];
        while let Some(kernel) = waiting.pop() {
            for (producer, consumer) in self.reads_of(kernel) {
                let from = self.analysis.partition.kernel_of[producer];
                let is_direct = kernel == last && from == first;
                let place = from.index().checked_sub(first.index());
                if let Some(feeds @ None) = place.and_then(|place| towards.get_mut(place))
                    && !is_direct
                {
                    *feeds = Some((kernel, producer, consumer));
                    if from == first {
                        return Some(path(&towards, first));
                    }
                    waiting.push(from);
                }
            }
        }
        None
    }

    /// What a kernel reads of others: the op that writes it and the op that needs it.
    fn reads_of(&self, kernel: KernelId) -> impl Iterator<Item = (OpId, OpId)> + '_ {
        let (graph, partition) = (&self.analysis.graph, &self.analysis.partition);
        let own = partition.kernels[kernel].iter();
        own.chain(&partition.recomputed[kernel])
            .flat_map(move |&op| {
                let producers = graph.predecessors[op].iter();
                producers.map(move |&producer| (producer, op))
            })
            .filter(move |&(producer, _)| !partition.computes(kernel, producer))
    }
}

/// The ops along the way from the first kernel on.
fn path(towards: &[Option<(KernelId, OpId, OpId)>], first: KernelId) -> Vec<OpId> {
    let mut ops = Vec::new();
    let mut kernel = first;
    while let Some(&Some((next, producer, consumer))) = towards.get(kernel.index() - first.index())
    {
        if ops.last() != Some(&producer) {
            ops.push(producer);
        }
        ops.push(consumer);
        kernel = next;
    }
    ops
}
