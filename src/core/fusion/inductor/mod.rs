//! Policy `inductor`: a prediction of the kernels that torch.compile's default compiler
//! (TorchInductor 2.11) launches. `docs/inductor.md` says what it does not fuse and why, and how
//! accurate the prediction is.
//!
//! Four steps: `layout` finds which operands are copied, `attention` and `weight_only` find ops
//! that one call replaces, `lower` turns ops into the nodes of a scheduler by inlining pointwise
//! ops (with `locality` for their order, `realized` for what is not inlined, `emit` for nodes,
//! `written` for the order of their buffers, `as_value` and `store` for writes into a part, `call`
//! and `library` for matmuls, `concat`, `sort`, and `reduce`, `reduced`, `partial`, `single_row`,
//! `unrolled`, `split`, `cut` and `direction` for reductions), `schedule` (with `pair`, `reorder`,
//! `merge`, `mixed` and `number`) fuses nodes. `view` says what a node reads of a buffer, because
//! only equal accesses share a kernel. An op belongs to the first kernel that computes it, a norm
//! to the one that writes its elements; [`Partition::recomputed`] lists it for each other one. What
//! no op of the program stands for, the second half of a reduction or a copy, is in
//! [`Partition::further_launches`].

mod as_value;
mod attention;
mod call;
mod concat;
mod copied;
mod copied_back;
mod cut;
mod direction;
mod emit;
mod facts;
mod in_place;
mod instructions;
mod layout;
mod library;
mod locality;
mod lower;
mod merge;
mod mixed;
mod node;
mod number;
mod pair;
mod partial;
mod realized;
mod reduce;
mod reduced;
mod reorder;
mod schedule;
mod single_row;
mod sort;
mod split;
mod store;
mod unrolled;
mod unwritten;
mod uses;
mod value;
mod view;
mod viewed;
mod weight_only;
mod written;

use super::decision::{Decision, Log, PlacedNode};
use crate::fusion::views::{home, with_placed_views};
use crate::model::adjacency::Adjacency;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::op_type::OpType;
use crate::model::options::Options;
use crate::model::partition::Partition;
use copied::count_with_operands;
use lower::Target;
use node::{BufferId, NodeId, SchedulerNode};
use schedule::Fused;
use std::collections::HashMap;

pub(crate) use layout::{copied_views, operand_copies};
pub use library::{OutsideCall, outside_call, takes_add};
pub(crate) use library::{call_reason, first_opaque, is_one_call, library_call};
pub(crate) use split::{UnsplitReduction, pieces};

/// The kernels that the compiler launches on the device of the options. With `max_autotune` it
/// generates its matmuls, which take an epilogue.
///
/// `O(ops + reads)`: inlined expressions, candidate lists and the ranges that a fusion reorders are
/// bounded.
pub(crate) fn partition(graph: &Graph, options: &Options, log: &mut Log) -> Partition {
    let multiprocessors = options.device.hardware.multiprocessors;
    let target = Target {
        max_autotune: options.fusion.max_autotune,
        is_2_15: options.fusion.torch_2_15,
        multiprocessors: multiprocessors.map_or(0, |figure| whole(figure.value)),
        reshape: options.conventions.reshape,
    };
    let lowered = lower::nodes(graph, target, log);
    let nodes = lowered.nodes;
    if log.is_on() {
        note_views(graph, &nodes, log);
    }
    let fused = schedule::fuse(graph, &nodes, lowered.buffers, target, log);
    let is_free = |op| target.reshape.is_free_view(graph, op);
    let mut launches: IdVec<OpId, bool> = graph.ops.ids().map(|op| !is_free(op)).collect();
    for &op in lowered.copied_views.iter().chain(&lowered.of_whole) {
        launches[op] = true;
    }
    let numbered = Numbered::of(&nodes, &fused);
    let mut partition = assemble(graph, &launches, &nodes, &fused, &numbered, log);
    partition.copies = lowered.copies;
    let of_buffers = &lowered.copies_of_buffers;
    count_with_operands(
        graph,
        &nodes,
        &fused.kernel_of,
        of_buffers,
        &mut partition.copies,
    );
    partition.copied_views = lowered.copied_views;
    partition.values = lowered.of_whole;
    partition.split = lowered.split;
    partition.placed = lowered.placed;
    copied_back::count(
        graph,
        target.reshape,
        &lowered.copied_back,
        &nodes,
        &fused,
        &numbered,
        &mut partition,
    );
    partition
}

/// The kernels of a schedule by their numbers in the partition, where a kernel has ops. Another
/// launch counts with the kernel that owns it, and its nodes, which are not shown, with the kernel
/// before.
struct Numbered {
    has_ops: IdVec<KernelId, bool>,
    number: IdVec<KernelId, KernelId>,
    kernels: usize,
}

impl Numbered {
    fn of(nodes: &IdVec<NodeId, SchedulerNode>, fused: &Fused) -> Self {
        let mut has_ops = IdVec::from_elem(false, fused.kernels);
        for (node, &kernel) in fused.kernel_of.iter_enumerated() {
            has_ops[kernel] |= !nodes[node].ops.is_empty();
        }
        let mut kernels = 0;
        let number = has_ops.iter().map(|&has_ops: &bool| {
            kernels += usize::from(has_ops);
            KernelId::new(kernels.saturating_sub(1))
        });
        Self {
            number: number.collect(),
            has_ops,
            kernels,
        }
    }

    /// The kernel of the partition, if it has ops.
    fn of_kernel(&self, kernel: KernelId) -> Option<KernelId> {
        self.has_ops[kernel].then(|| self.number[kernel])
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of multiprocessors"
)]
const fn whole(count: f64) -> u64 {
    count as u64
}

/// Notes the views that no node computes, because they view a buffer.
fn note_views(graph: &Graph, nodes: &IdVec<NodeId, SchedulerNode>, log: &mut Log) {
    let mut is_computed = IdVec::from_elem(false, graph.ops.len());
    for &op in nodes.iter().flat_map(|node| &node.ops) {
        is_computed[op] = true;
    }
    for (view, definition) in graph.ops.iter_enumerated() {
        let source = graph.inputs[view].first().map(|&t| &graph.tensors[t]);
        if let Some(producer) = source.and_then(|tensor| tensor.producer)
            && !is_computed[view]
            && definition.is_view()
        {
            log.note(Decision::Stays { view, producer });
        }
    }
}

/// The partition: each op is in its [`home`], a view of a buffer in the kernel that writes it.
/// `launches`: which ops are no free views.
fn assemble(
    graph: &Graph,
    launches: &IdVec<OpId, bool>,
    nodes: &IdVec<NodeId, SchedulerNode>,
    fused: &Fused,
    numbered: &Numbered,
    log: &mut Log,
) -> Partition {
    let Numbered {
        has_ops, number, ..
    } = numbered;
    let mut kernels = numbered.kernels;
    if log.is_on() {
        log.place_nodes(placed(nodes, fused, number));
    }

    let mut ops_of_kernel: Adjacency<KernelId, OpId> =
        Adjacency::with_capacity(kernels, graph.ops.len());
    let mut nodes_of_kernel: IdVec<KernelId, Vec<NodeId>> = IdVec::from_elem(Vec::new(), kernels);
    let mut written_in = IdVec::from_elem(None, graph.ops.len());
    for (node, &kernel) in fused.kernel_of.iter_enumerated() {
        if has_ops[kernel] {
            nodes_of_kernel[number[kernel]].push(node);
            if let Some(op) = nodes[node].output(graph) {
                written_in[op] = Some(number[kernel]);
            }
        }
    }
    for members in &nodes_of_kernel {
        ops_of_kernel.push(
            members
                .iter()
                .flat_map(|&node| nodes[node].ops.iter().copied()),
        );
    }
    let mut further = further_launches(graph, launches, nodes, fused, has_ops, number);
    let computed_in = ops_of_kernel.inverted(graph.ops.len());

    let mut kernel_of: IdVec<OpId, KernelId> = IdVec::with_capacity(graph.ops.len());
    let mut views = Vec::new();
    for op in graph.ops.ids() {
        let own = home(graph, op, written_in[op], &computed_in[op]).unwrap_or_else(|| {
            let source = graph.inputs[op].first().map(|&t| &graph.tensors[t]);
            match source.and_then(|tensor| tensor.producer) {
                Some(producer) if graph.ops[op].op_type == OpType::Reshape => {
                    // Ops ascend, so a view of a part finds the part.
                    let is_of_part = || views.binary_search(&producer).is_ok();
                    if is_part_of_buffer(graph, op) || graph.ops[op].is_view() && is_of_part() {
                        views.push(op);
                    }
                    kernel_of[producer]
                }
                // A view of an external tensor that is a result gets a kernel of its own.
                _ => {
                    kernels += 1;
                    further.push(0);
                    KernelId::new(kernels - 1)
                }
            }
        });
        kernel_of.push(own);
    }
    let mut partition = with_placed_views(graph, kernel_of, &computed_in, kernels);
    if further.iter().any(|&launches| launches > 0) {
        partition.further_launches = further;
    }
    partition.views = views;
    partition.computes_where_read = true;
    partition
}

/// Whether an op is a view of another size than what it views. The kernel then writes the whole, of
/// which readers index a part. A view of the same size may stand for the buffer.
fn is_part_of_buffer(graph: &Graph, op: OpId) -> bool {
    let elements = |tensor: TensorId| graph.tensors[tensor].elements();
    let source = graph.inputs[op].first();
    graph.ops[op].is_view()
        && source.is_some_and(|&source| elements(source) != elements(graph.output[op]))
}

/// The nodes by their kernels in the partition.
fn placed(
    nodes: &IdVec<NodeId, SchedulerNode>,
    fused: &Fused,
    number: &IdVec<KernelId, KernelId>,
) -> IdVec<NodeId, PlacedNode> {
    let mut writer = HashMap::with_capacity(nodes.len());
    let mut placed: IdVec<NodeId, PlacedNode> = IdVec::with_capacity(nodes.len());
    for (id, node) in nodes.iter_enumerated() {
        let mut reads = Vec::with_capacity(node.reads.len());
        for &from in node
            .reads
            .iter()
            .filter_map(|read| writer.get(&read.buffer))
        {
            if nodes[from].ops.is_empty() {
                // A node without ops is not shown, so the nodes that it reads stand for it.
                reads.extend_from_slice(&placed[from].reads);
            } else {
                reads.push(from);
            }
        }
        writer.insert(node.writes.buffer, id);
        let kernel = number[fused.kernel_of[id]];
        placed.push(PlacedNode { kernel, reads });
    }
    placed
}

/// For each kernel with ops the launches that no op stands for. A node without ops counts with the
/// kernel that it serves: the one of `launch_of`, or else the one whose statistics it goes on with.
fn further_launches(
    graph: &Graph,
    launches: &IdVec<OpId, bool>,
    nodes: &IdVec<NodeId, SchedulerNode>,
    fused: &Fused,
    has_ops: &IdVec<KernelId, bool>,
    number: &IdVec<KernelId, KernelId>,
) -> IdVec<KernelId, u32> {
    let named = has_ops.iter().filter(|&&has_ops| has_ops).count();
    let mut further = IdVec::from_elem(0, named);
    let mut add = |kernel: Option<KernelId>| {
        if let Some(launches) = kernel.and_then(|kernel| further.get_mut(kernel)) {
            *launches += 1;
        }
    };
    let buffers = nodes.iter().map(|node| node.writes.buffer.index() + 1);
    let mut writer: Vec<Option<NodeId>> = vec![None; buffers.max().unwrap_or(0)];
    // For each buffer the op-less node that reads it.
    let mut second_half = writer.clone();
    let mut only_views = has_ops.clone();
    let mut first_node = IdVec::from_elem(None, fused.kernels);
    for (id, node) in nodes.iter_enumerated() {
        let kernel = fused.kernel_of[id];
        if let Some(place) = writer.get_mut(node.writes.buffer.index()) {
            *place = Some(id);
        }
        if node.ops.is_empty() {
            for read in &node.reads {
                if let Some(place) = second_half.get_mut(read.buffer.index()) {
                    *place = Some(id);
                }
            }
        }
        only_views[kernel] &= node.ops.iter().all(|&op| !launches[op]);
        first_node[kernel] = first_node[kernel].or(Some(id));
    }
    let writer_of = |buffer: BufferId| Some(fused.kernel_of[(*writer.get(buffer.index())?)?]);
    let own = |kernel: KernelId| has_ops[kernel].then(|| number[kernel]);
    let mut owner: IdVec<KernelId, Option<KernelId>> = has_ops.ids().map(own).collect();
    // For each kernel of free views alone, which copies them for a library, that of the call.
    let mut caller = IdVec::from_elem(None, fused.kernels);
    for (id, node) in nodes.iter_enumerated() {
        let kernel = fused.kernel_of[id];
        let call = node.launch_of.and_then(writer_of);
        caller[kernel] = caller[kernel].or(call);
        // Of what it reads, statistics and pieces are the newest buffer, before them is the input.
        let read = node.reads.iter().rev().map(|read| read.buffer);
        let mut served = call.into_iter().chain(read.filter_map(writer_of));
        if let Some(served) = served.find(|&served| served != kernel) {
            // It may be a kernel without ops, too, whose owner is known.
            owner[kernel] = owner[kernel].or(owner[served]);
        }
    }
    let mut waits = IdVec::from_elem(false, fused.kernels);
    for (id, _) in nodes.iter_enumerated().filter(|(_, node)| node.waits) {
        waits[fused.kernel_of[id]] = true;
    }
    for (kernel, &owner) in owner.iter_enumerated() {
        if waits[kernel] {
            add(owner);
        }
        if !has_ops[kernel] && first_node[kernel].is_some() {
            add(owner);
        } else if only_views[kernel] && first_node[kernel].is_some() {
            // A copy of views that are free: its ops launch nothing.
            add(caller[kernel].and_then(own).or(owner));
        }
    }
    // The library adds up the pieces of a column, which a kernel of rows has made; a mean is
    // divided afterwards.
    for &half in &fused.mixed {
        let node = &nodes[half];
        let last = second_half
            .get(node.writes.buffer.index())
            .copied()
            .flatten();
        let (end, is_apart) = match last {
            Some(end) => (fused.kernel_of[end], !has_ops[fused.kernel_of[end]]),
            None => (fused.kernel_of[half], false),
        };
        let op = node
            .ops
            .last()
            .map(|&op| (&graph.ops[op], graph.output[op]));
        let is_divided = op.is_some_and(|(op, output)| {
            op.function == Some(Function::Mean) && graph.is_final(output)
        });
        if !is_apart || is_divided {
            add(owner[end]);
        }
    }
    further
}
