//! The cost of two kernels as one, without another analysis.

use crate::core::analysis::{Analysis, work_beyond_ops};
use crate::core::cost::roofline::place;
use crate::core::cost::traffic::{TrafficCount, leaves, written};
use crate::core::cost::work::work_of_ops;
use crate::core::fusion::certificate::ROUNDING;
use crate::core::model::adjacency::Adjacency;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::options::Objective;
use crate::core::model::work::Work;
use std::cell::RefCell;
use std::collections::BTreeMap;

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
    count: RefCell<TrafficCount<'a>>,
    /// For each op whether its output is written to memory.
    is_written: IdVec<OpId, bool>,
    /// For each op the kernels that compute it again.
    recomputed_in: Adjacency<OpId, KernelId>,
}

impl<'a> Prices<'a> {
    /// `O(ops + reads)`.
    pub fn new(analysis: &'a Analysis) -> Self {
        let graph = &analysis.graph;
        let count = TrafficCount::new(graph, analysis.options.conventions);
        Self {
            is_written: written(graph, &analysis.partition, &count.views),
            recomputed_in: analysis.partition.recomputed.inverted(graph.ops.len()),
            count: RefCell::new(count),
            analysis,
        }
    }

    /// Whether the price is a gain by the objective. A time must save more than rounding can.
    pub fn is_gain(&self, price: Price) -> bool {
        match self.analysis.options.fusion.objective {
            Objective::Bytes => price.saved_bytes > 0,
            Objective::Time => price.saved_s > self.analysis.fused.time_s * ROUNDING,
        }
    }

    /// What merging two kernels saves, as an analysis of the merged partition would say. `O(ops log ops + reads)` of
    /// the two kernels.
    pub fn merged(&self, a: KernelId, b: KernelId) -> Price {
        let analysis = self.analysis;
        let options = &analysis.options;
        let kernels = &analysis.fused.kernels;
        let (first, second) = (&kernels[a], &kernels[b]);
        let ops = self.ops_of(a, b);
        let bytes = self.bytes(&ops, a, b);
        let is_free = first.is_free && second.is_free;
        let beyond = self.work_beyond_ops(a).and(self.work_beyond_ops(b));
        let work = work_of_ops(ops.iter(), |op| analysis.unfused.of_lone_op(op).work).and(beyond);
        let time_s = place(&options.device, work, bytes, is_free).time_s;
        Price {
            saved_bytes: (first.bytes() + second.bytes()).cast_signed() - bytes.cast_signed(),
            saved_s: first.placement.time_s + second.placement.time_s - time_s,
        }
    }

    fn work_beyond_ops(&self, kernel: KernelId) -> Work {
        let analysis = self.analysis;
        let own = &analysis.partition.kernels[kernel];
        let computed = own.iter().chain(&analysis.partition.recomputed[kernel]);
        let work = work_of_ops(computed, |op| analysis.unfused.of_lone_op(op).work);
        work_beyond_ops(&analysis.graph, own, &work, &analysis.options.device)
    }

    /// All ops that the merged kernel computes, ascending.
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

    /// Bytes that the merged kernel moves.
    fn bytes(&self, ops: &[OpId], a: KernelId, b: KernelId) -> u64 {
        let (graph, partition) = (&self.analysis.graph, &self.analysis.partition);
        let mut count = self.count.borrow_mut();
        let is_merged = |kernel: KernelId| kernel == a || kernel == b;
        // For each op of the merged kernel whether it leaves. From the end, so that views come before their inputs.
        let mut is_leaving: BTreeMap<OpId, bool> = BTreeMap::new();
        for &op in ops.iter().rev() {
            let is_kept = |reader: OpId| {
                let again = self.recomputed_in[reader].iter();
                let mut runs_in = again.chain([&partition.kernel_of[reader]]);
                runs_in.all(|&kernel| is_merged(kernel) || partition.computes(kernel, op))
            };
            let view_leaves = |view: OpId| match is_leaving.get(&view) {
                Some(&leaves) => leaves,
                None => self.is_written[view],
            };
            let op_leaves = leaves(graph, &count.views, op, is_kept, view_leaves);
            is_leaving.insert(op, op_leaves);
        }
        let is_written =
            |op: OpId| is_merged(partition.kernel_of[op]) && is_leaving.get(&op) == Some(&true);
        let computes = |op: OpId| is_leaving.contains_key(&op);
        count
            .of_kernel(ops.iter().copied(), computes, is_written)
            .total()
    }

    /// The ops of a path from a kernel to a later one through other kernels: merged, the two would form a cycle with
    /// these. Visits the kernels between them.
    pub fn path_around(&self, first: KernelId, last: KernelId) -> Option<Vec<OpId>> {
        // For each kernel from the first on, the next kernel of a path to the last, and the edge between both.
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

    /// The edges from other kernels to this one: producer and consumer.
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

/// The ops along the path from the first kernel on.
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
