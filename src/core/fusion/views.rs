//! Free views and second results of operators become part of a kernel: they launch none, so that
//! each kernel of a partition is one that runs.

use crate::cost::views::Views;
use crate::disjoint_sets::DisjointSets;
use crate::fusion::decision::{Decision, Log};
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::op_type::OpType;
use crate::model::partition::Partition;

/// The partition without kernels of free views alone.
///
/// Views of what one kernel writes join that kernel, views of inputs and weights the first kernel
/// that reads them. A part that is put back joins the kernel that writes it, the second result of
/// an operator that of the first one. The others, which view results of several kernels or are read
/// by none, stay alone. The kernels stay in an order in which they can run: nothing that is joined
/// waits for a later kernel. `O(ops + reads)`.
pub(super) fn within_kernels(
    graph: &Graph,
    views: &Views,
    partition: Partition,
    log: &mut Log,
) -> Partition {
    let kernel_of = |op: OpId| partition.kernel_of[op];
    let is_free = |kernel: &KernelId| {
        let ops = &partition.kernels[*kernel];
        let is_view = |&op: &OpId| views.is_view[op];
        !ops.is_empty() && partition.recomputed[*kernel].is_empty() && ops.iter().all(is_view)
    };
    let kernels = partition.kernels.ids();
    let free: Vec<KernelId> = kernels.clone().filter(is_free).collect();
    if free.is_empty() {
        return partition;
    }
    // What is put back is written through a view of the whole, so all that the put needs has run.
    let written_part = |op: OpId| {
        let source = graph.inputs[op].last().filter(|_| graph.ops[op].in_place)?;
        graph.tensors[*source].producer
    };
    let producers = |op: OpId| {
        let first = graph.results.first(op);
        let part = written_part(op);
        let all = graph.predecessors[op].iter().copied();
        let all = all.filter(move |&from| first.is_none() && part.is_none_or(|part| part == from));
        first.into_iter().chain(all)
    };
    let mut runs: IdVec<KernelId, bool> = kernels.clone().map(|kernel| !is_free(&kernel)).collect();
    let mut joined: DisjointSets<KernelId> = DisjointSets::new(kernels.len());
    for &kernel in &free {
        // Kernels ascend in execution order, so a view of a view finds its producer joined already.
        let ops = partition.kernels[kernel].iter();
        let reads = ops.flat_map(|&op| producers(op).map(move |from| (op, from)));
        let mut outside = reads.filter(|&(_, from)| kernel_of(from) != kernel);
        if let Some((view, with)) = outside.next() {
            let into = joined.root(kernel_of(with));
            if outside.all(|(_, from)| joined.root(kernel_of(from)) == into) {
                // Both results of an operator wait for the same kernels, so either place is right.
                let (kept, other) = (into.min(kernel), into.max(kernel));
                runs[kept] |= runs[other];
                joined.unite(kept, other);
                log.note(Decision::Viewed { view, with });
            }
        }
    }
    let waits_for_none = |kernel: KernelId| {
        let ops = partition.kernels[kernel].iter();
        let mut producers = ops.flat_map(|&op| &graph.predecessors[op]);
        producers.all(|&from| kernel_of(from) == kernel)
    };
    // For each set of views of inputs and weights the first kernel that reads one, the view, and
    // the op that does.
    let mut first_reader: IdVec<KernelId, Option<(KernelId, OpId, OpId)>> =
        IdVec::from_elem(None, kernels.len());
    // Only views of inputs and weights may join a reader: they wait for no kernel, so neither does
    // the reader because of them. Views of several kernels could make it wait for a later one.
    for &kernel in &free {
        let root = joined.root(kernel);
        if runs[root] || !waits_for_none(root) {
            continue;
        }
        let ops = partition.kernels[kernel].iter();
        let readers = ops.flat_map(|&op| graph.successors[op].iter().map(move |&to| (op, to)));
        for (view, reader) in readers {
            let into = joined.root(kernel_of(reader));
            let found = (into, view, reader);
            if into != root && first_reader[root].is_none_or(|first| found < first) {
                first_reader[root] = Some(found);
            }
        }
    }
    for (root, reader) in first_reader.iter_enumerated() {
        if let Some((into, view, with)) = *reader {
            joined.unite(into, root);
            log.note(Decision::Viewed { view, with });
        }
    }
    renumbered(&partition, &joined.roots(), log)
}

/// The partition after each kernel has joined its root in `roots`; the roots keep their order.
fn renumbered(
    partition: &Partition,
    roots: &IdVec<KernelId, KernelId>,
    log: &mut Log,
) -> Partition {
    let kernels = || roots.iter_enumerated();
    let kept: Vec<KernelId> = kernels()
        .filter_map(|(kernel, &root)| (root == kernel).then_some(kernel))
        .collect();
    let mut number = IdVec::from_elem(KernelId::new(0), roots.len());
    for (at, &kernel) in kept.iter().enumerate() {
        number[kernel] = KernelId::new(at);
    }
    let number: IdVec<KernelId, KernelId> = roots.iter().map(|&root| number[root]).collect();
    log.renumber(|kernel| number[kernel]);
    // The copy of a view for a library counts with the view.
    partition.renumbered(&number, kept.len())
}

/// The tensor that a tensor shows through views; itself if it is not the output of one.
pub(super) fn viewed_base(graph: &Graph, mut tensor: TensorId) -> TensorId {
    while let Some(op) = graph.tensors[tensor].producer
        && graph.ops[op].is_view()
        && let Some(&source) = graph.inputs[op].first()
    {
        tensor = source;
    }
    tensor
}

/// The kernel that an op belongs to, of those that compute it (`computed_in`, ascending): the
/// first, or of a reduction along rows the one that writes its elements, after that of its
/// statistics, and of an op in place the one that writes its result.
pub(super) fn home(
    graph: &Graph,
    op: OpId,
    written_in: Option<KernelId>,
    computed_in: &[KernelId],
) -> Option<KernelId> {
    let has_writer = graph.ops[op].op_type == OpType::Reduction || graph.ops[op].in_place;
    let writer = written_in.filter(|kernel| has_writer && computed_in.contains(kernel));
    writer.or(computed_in.first().copied())
}

/// The partition in which each op is in its kernel of `kernel_of`, and the other kernels of
/// `computed_in` compute it again. A view that an earlier kernel reads is in the kernel that writes
/// what it shows, also where a later kernel computes that again. `O(ops + reads)`, times the length
/// of chains of views.
pub(super) fn with_placed_views(
    graph: &Graph,
    mut kernel_of: IdVec<OpId, KernelId>,
    computed_in: &Adjacency<OpId, KernelId>,
    kernels: usize,
) -> Partition {
    // From the end, so that the views of a view are placed before it.
    for op in graph.ops.ids().rev().filter(|&op| graph.ops[op].is_view()) {
        let mut readers = graph.successors[op].iter();
        if readers.any(|&reader| kernel_of[reader] < kernel_of[op])
            && let Some(writer) = graph.tensors[viewed_base(graph, graph.output[op])].producer
        {
            kernel_of[op] = kernel_of[writer];
        }
    }
    let mut again = Adjacency::with_capacity(graph.ops.len(), 0);
    for (op, own) in kernel_of.iter_enumerated() {
        let others = computed_in[op].iter().copied();
        again.push(others.filter(|kernel| kernel != own));
    }
    let recomputes = again.iter().any(|kernels| !kernels.is_empty());
    let mut partition = Partition::of_ops(kernel_of, kernels);
    if recomputes {
        partition.recomputed = again.inverted(kernels);
    }
    let reductions = again.iter_enumerated().filter_map(|(op, kernels)| {
        let &first = kernels.first()?;
        let is_reduction = graph.ops[op].op_type == OpType::Reduction;
        (is_reduction && first < partition.kernel_of[op]).then_some((op, first))
    });
    partition.statistics = reductions.collect();
    partition
}
