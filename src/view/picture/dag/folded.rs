//! The layout with one round of each repeat: a smaller graph is laid out, and its places are given to the whole one.

use super::dag_layout::{DagLayout, EdgeEnd, OpBox};
use super::frames::Body;
use super::geometry::Rect;
use super::repeats::{Repeat, Repeats};
use super::{framed_layout, layout};
use fuseline_core::{
    Graph, IdVec, KernelId, Op, OpId, Partition, TensorDecl, TensorId, TensorRole, build_graph,
};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// Places the ops of `graph` that `repeats` shows, with the ops of each kernel in one panel and each shown round in a
/// frame. What reads the last round is drawn as reading the shown one.
///
/// `O(n log n)` in ops and reads, most of it for what is shown only.
pub fn folded_layout(graph: &Graph, partition: &Partition, repeats: Repeats) -> DagLayout {
    if repeats.is_empty() {
        return layout(graph, partition);
    }
    match Shown::of(graph, partition, &repeats) {
        Some(shown) => {
            let bodies = repeats.runs().iter().map(|run| shown.body(run)).collect();
            let drawn = framed_layout(&shown.graph, &shown.partition, bodies);
            shown.in_whole(drawn, repeats)
        }
        None => layout(graph, partition),
    }
}

/// The layout of a program, with one round of what is repeated or with all of them.
pub fn layout_of(graph: &Graph, partition: &Partition, is_unfolded: bool) -> DagLayout {
    let repeats = if is_unfolded {
        Repeats::default()
    } else {
        Repeats::of_large(graph, partition)
    };
    folded_layout(graph, partition, repeats)
}

/// What is shown as a graph of its own.
struct Shown<'a> {
    whole: &'a Graph,
    whole_partition: &'a Partition,
    graph: Graph,
    partition: Partition,
    /// The ops of the whole graph.
    ops: IdVec<OpId, OpId>,
    /// The kernels of the whole graph, ascending.
    kernels: IdVec<KernelId, KernelId>,
    /// For each tensor one of the whole graph.
    tensors: IdVec<TensorId, TensorId>,
    /// The tensors from outside that are shown, by those of the whole graph; and the outputs of ops.
    drawn_as: HashMap<TensorId, TensorId, FxBuildHasher>,
}

impl<'a> Shown<'a> {
    fn of(whole: &'a Graph, whole_partition: &'a Partition, repeats: &Repeats) -> Option<Self> {
        let outputs = drawn_outputs(whole, whole_partition, repeats);
        let ids: Vec<OpId> = (whole.ops.ids())
            .filter(|&op| repeats.shows_op(op))
            .collect();
        let drawn_name = |tensor: TensorId| {
            let producer = whole.tensors[tensor].producer;
            let drawn = producer.map_or(tensor, |producer| outputs[repeats.shown_op(producer)]);
            whole.tensor_name(drawn).to_owned()
        };
        let mut declared: HashSet<TensorId, FxBuildHasher> = HashSet::default();
        let mut externals = Vec::new();
        let mut ops = Vec::with_capacity(ids.len());
        for &id in &ids {
            for &tensor in &whole.inputs[id] {
                let is_weight = whole.tensors[tensor].role == TensorRole::Weight;
                if is_weight && whole.tensors[tensor].is_external() && declared.insert(tensor) {
                    externals.push(TensorDecl {
                        role: TensorRole::Weight,
                        // A layout depends on no size.
                        ..TensorDecl::new(whole.tensor_name(tensor), &[1], 1)
                    });
                }
            }
            let drawn = whole.tensors[outputs[id]].producer.unwrap_or(id);
            let op = &whole.ops[id];
            ops.push(Op {
                inputs: whole.inputs[id]
                    .iter()
                    .map(|&tensor| drawn_name(tensor))
                    .collect(),
                output: drawn_name(whole.output[id]),
                is_output: whole.ops[drawn].is_output,
                ..op.clone()
            });
        }
        let graph = build_graph(ops, &externals).ok()?;
        let ops: IdVec<OpId, OpId> = (graph.listed_at.iter())
            .map(|&listed| ids.get(listed).copied().unwrap_or_default())
            .collect();
        let kernels: IdVec<KernelId, KernelId> = (whole_partition.kernels.ids())
            .filter(|&kernel| repeats.shows_kernel(kernel))
            .collect();
        let kernel_of = ops.iter().map(|&op| {
            let kernel = whole_partition.kernel_of[op];
            KernelId::new(kernels.as_slice().partition_point(|&other| other < kernel))
        });
        let partition = Partition::of_ops(kernel_of.collect(), kernels.len());
        let mut tensors = IdVec::from_elem(TensorId::new(0), graph.tensors.len());
        let mut drawn_as = HashMap::default();
        for (op, &id) in ops.iter_enumerated() {
            tensors[graph.output[op]] = outputs[id];
            drawn_as.insert(whole.output[id], graph.output[op]);
            for (&tensor, &in_whole) in graph.inputs[op].iter().zip(&whole.inputs[id]) {
                if graph.tensors[tensor].is_external() {
                    tensors[tensor] = in_whole;
                    drawn_as.insert(in_whole, tensor);
                }
            }
        }
        Some(Self {
            whole,
            whole_partition,
            graph,
            partition,
            ops,
            kernels,
            tensors,
            drawn_as,
        })
    }

    /// The shown round of a repeat.
    fn body(&self, run: &Repeat) -> Body {
        let first = self
            .kernels
            .as_slice()
            .partition_point(|&kernel| kernel < run.first);
        let shown = |tensor: TensorId| self.drawn_as.get(&tensor).copied();
        let enters = run
            .carried
            .iter()
            .filter_map(|carried| shown(carried.enters));
        let producers = run.carried.iter().filter_map(|carried| {
            let output = shown(*self.whole.output.get(carried.producer)?)?;
            self.graph.tensors[output].producer
        });
        Body::new(
            first..first + run.kernels,
            enters.collect(),
            producers.collect(),
        )
    }

    /// The layout by the ids of the whole graph.
    fn in_whole(&self, drawn: DagLayout, repeats: Repeats) -> DagLayout {
        let mut ops = IdVec::from_elem(OpBox::default(), self.whole.ops.len());
        let mut size_labels = IdVec::from_elem(None, self.whole.ops.len());
        for ((&op, place), label) in self.ops.iter().zip(drawn.ops).zip(drawn.size_labels) {
            ops[op] = place;
            size_labels[op] = label;
        }
        let mut panels = IdVec::from_elem(Rect::default(), self.whole_partition.kernels.len());
        for (&kernel, place) in self.kernels.iter().zip(drawn.panels) {
            panels[kernel] = place;
        }
        for op in self.whole.ops.ids().filter(|&op| !repeats.shows_op(op)) {
            ops[op].rect = ops[repeats.shown_op(op)].rect;
        }
        for kernel in self.whole_partition.kernels.ids() {
            panels[kernel] = panels[repeats.shown_kernel(kernel)];
        }
        let mut pills = drawn.pills;
        for tensor in pills.iter_mut().flat_map(|pill| &mut pill.tensors) {
            *tensor = self.tensors[*tensor];
        }
        let mut edges = drawn.edges;
        for edge in &mut edges {
            edge.tensor = match edge.to {
                EdgeEnd::Op(reader) => self.read_tensor(reader, edge.tensor),
                EdgeEnd::Pill(_) => self.tensors[edge.tensor],
            };
            for end in [&mut edge.from, &mut edge.to] {
                if let EdgeEnd::Op(op) = end {
                    *op = self.ops[*op];
                }
            }
        }
        edges.sort_by_key(|edge| (edge.from, edge.to));
        DagLayout {
            ops,
            panels,
            pills,
            edges,
            size_labels,
            repeats,
            ..drawn
        }
    }

    /// The tensor of the whole graph that an op really reads where it is drawn to read `tensor`: that of the last round
    /// where a shown one stands for it.
    fn read_tensor(&self, reader: OpId, tensor: TensorId) -> TensorId {
        let reads = self.graph.inputs[reader]
            .iter()
            .zip(&self.whole.inputs[self.ops[reader]]);
        let mut same = reads.filter(|(drawn, _)| **drawn == tensor);
        same.next_back()
            .map_or(self.tensors[tensor], |(_, &read)| read)
    }
}

/// For each shown op the output that is drawn: its own, or that of its equal in the last round where that one alone is a
/// result of the program.
fn drawn_outputs(graph: &Graph, partition: &Partition, repeats: &Repeats) -> IdVec<OpId, TensorId> {
    let mut outputs = graph.output.clone();
    for run in repeats.runs() {
        let last = run.all().end - run.kernels;
        for (shown, last) in run.shown().zip(last..run.all().end) {
            let [shown, last] =
                [shown, last].map(|kernel| &partition.kernels[KernelId::new(kernel)]);
            for (&shown, &last) in shown.iter().zip(last) {
                let [own, other] = [shown, last].map(|op| graph.output[op]);
                if graph.is_final(other) && !graph.is_final(own) {
                    outputs[shown] = other;
                }
            }
        }
    }
    outputs
}
