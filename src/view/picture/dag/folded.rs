//! The layout with one iteration of each repeat, or with kernels as what they write: a smaller
//! graph is laid out, and its places are given to the whole one.

use super::dag_layout::{DagLayout, EdgeEnd, OpBox};
use super::frames::Body;
use super::geometry::Rect;
use super::inside::{BoxRead, Inside};
use super::repeats::{Repeat, Repeats};
use super::{framed_layout, layout};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::{
    Graph, IdVec, KernelId, Op, OpId, Partition, TensorDecl, TensorId, TensorRole, build_graph,
};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use strum::VariantArray;

/// Ops up to which a puzzle shows all of them: so many are in sight on a laptop.
const ALL_IN_SIGHT_OPS: usize = 20;

/// The ops that the picture of a large program leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, BorshSerialize, BorshDeserialize)]
pub enum Folding {
    Nothing,
    /// All but one iteration of what is repeated.
    Iterations,
    /// The ops inside kernels, as in a puzzle, where whole kernels are moved.
    Kernels,
}

impl Folding {
    /// Whether it leaves anything out of a program. `O(n log n)` in ops and reads.
    pub fn leaves_out(self, graph: &Graph, partition: &Partition) -> bool {
        let (repeats, inside) = self.left_out(graph, partition);
        !repeats.is_empty() || !inside.is_empty()
    }

    fn left_out(self, graph: &Graph, partition: &Partition) -> (Repeats, Inside) {
        match self {
            Self::Iterations => (Repeats::of_large(graph, partition), Inside::default()),
            Self::Kernels if graph.ops.len() > ALL_IN_SIGHT_OPS => {
                (Repeats::default(), Inside::of(graph, partition))
            }
            Self::Nothing | Self::Kernels => (Repeats::default(), Inside::default()),
        }
    }
}

/// The layout of a program, without what `folding` leaves out of a large one.
pub fn layout_of(graph: &Graph, partition: &Partition, folding: Folding) -> DagLayout {
    let (repeats, inside) = folding.left_out(graph, partition);
    layout_without(graph, partition, repeats, inside)
}

/// Places the ops of `graph` that `repeats` shows, with the ops of each kernel in one panel and
/// each shown iteration in a frame. What reads the last iteration is drawn as reading the shown
/// one.
///
/// `O(n log n)` in ops and reads, most of it for what is shown only.
pub fn folded_layout(graph: &Graph, partition: &Partition, repeats: Repeats) -> DagLayout {
    layout_without(graph, partition, repeats, Inside::default())
}

fn layout_without(
    graph: &Graph,
    partition: &Partition,
    repeats: Repeats,
    inside: Inside,
) -> DagLayout {
    if repeats.is_empty() && inside.is_empty() {
        return layout(graph, partition);
    }
    match FoldedGraph::of(graph, partition, &repeats, &inside) {
        Some(shown) => {
            let bodies = repeats.runs().iter().map(|run| shown.body(run)).collect();
            let drawn = framed_layout(&shown.graph, &shown.partition, bodies);
            shown.in_whole(drawn, repeats, inside)
        }
        None => layout(graph, partition),
    }
}

/// The shown part of a graph, as a graph of its own.
struct FoldedGraph<'a> {
    whole: &'a Graph,
    whole_partition: &'a Partition,
    graph: Graph,
    partition: Partition,
    /// The ops of the whole graph.
    ops: IdVec<OpId, OpId>,
    /// The kernels of the whole graph, ascending.
    kernels: IdVec<KernelId, KernelId>,
    /// The reads of each op, by the ids of the whole graph and in the order of its inputs.
    reads: IdVec<OpId, Vec<BoxRead>>,
    /// For each tensor one of the whole graph.
    tensors: IdVec<TensorId, TensorId>,
    /// The tensors from outside that are shown, by those of the whole graph; and the outputs of
    /// ops.
    drawn_as: HashMap<TensorId, TensorId, FxBuildHasher>,
}

impl<'a> FoldedGraph<'a> {
    fn of(
        whole: &'a Graph,
        whole_partition: &'a Partition,
        repeats: &Repeats,
        inside: &Inside,
    ) -> Option<Self> {
        let outputs = drawn_outputs(whole, whole_partition, repeats);
        let ids: Vec<OpId> = (whole.ops.ids())
            .filter(|&op| repeats.shows_op(op) && inside.box_of(op) == op)
            .collect();
        let reads: Vec<Vec<BoxRead>> = ids.iter().map(|&op| inside.reads(whole, op)).collect();
        // Names link the smaller graph: what reads the last iteration gets the name of the shown
        // output.
        let drawn_name = |tensor: TensorId| {
            let producer = whole.tensors[tensor].producer;
            let drawn = producer.map_or(tensor, |producer| outputs[repeats.shown_op(producer)]);
            whole.tensor_name(drawn).to_owned()
        };
        let mut declared: HashSet<TensorId, FxBuildHasher> = HashSet::default();
        let mut externals = Vec::new();
        let mut ops = Vec::with_capacity(ids.len());
        for (&id, reads) in ids.iter().zip(&reads) {
            for &BoxRead { tensor, .. } in reads {
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
                inputs: reads.iter().map(|read| drawn_name(read.tensor)).collect(),
                output: drawn_name(whole.output[id]),
                is_output: whole.ops[drawn].is_output,
                ..op.clone()
            });
        }
        let graph = build_graph(ops, &externals).ok()?;
        let ops: IdVec<OpId, OpId> = (graph.listed_at.iter())
            .map(|&listed| ids.get(listed).copied().unwrap_or_default())
            .collect();
        let reads: IdVec<OpId, Vec<BoxRead>> = (graph.listed_at.iter())
            .map(|&listed| reads.get(listed).cloned().unwrap_or_default())
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
            for (&tensor, read) in graph.inputs[op].iter().zip(&reads[op]) {
                if graph.tensors[tensor].is_external() {
                    tensors[tensor] = read.tensor;
                    drawn_as.insert(read.tensor, tensor);
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
            reads,
            tensors,
            drawn_as,
        })
    }

    /// The shown iteration of a repeat.
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
    fn in_whole(&self, drawn: DagLayout, repeats: Repeats, inside: Inside) -> DagLayout {
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
        for kernel in self.whole_partition.kernels.ids() {
            panels[kernel] = panels[repeats.shown_kernel(kernel)];
        }
        let mut pills = drawn.pills;
        for tensor in pills.iter_mut().flat_map(|pill| &mut pill.tensors) {
            *tensor = self.tensors[*tensor];
        }
        let mut edges = drawn.edges;
        for edge in &mut edges {
            if let EdgeEnd::Op(producer) = &mut edge.from {
                *producer = self.ops[*producer];
            }
            edge.tensor = match &mut edge.to {
                EdgeEnd::Op(reader) => {
                    let read = self.read(*reader, edge.tensor);
                    *reader = read.by;
                    read.tensor
                }
                EdgeEnd::Pill(_) => self.tensors[edge.tensor],
            };
        }
        edges.sort_by_key(|edge| (edge.from, edge.to));
        let mut layout = DagLayout {
            ops,
            panels,
            pills,
            edges,
            size_labels,
            repeats,
            inside,
            ..drawn
        };
        for op in self.whole.ops.ids() {
            layout.ops[op].rect = layout.ops[layout.shown_op(op)].rect;
        }
        layout
    }

    /// The read of the whole graph where an op is drawn to read `tensor`: the tensor of the last
    /// iteration where the shown one stands for it.
    fn read(&self, reader: OpId, tensor: TensorId) -> BoxRead {
        let mut reads = self.graph.inputs[reader].iter().zip(&self.reads[reader]);
        let read = reads.rfind(|(drawn, _)| **drawn == tensor);
        read.map_or(
            BoxRead {
                tensor: self.tensors[tensor],
                by: self.ops[reader],
            },
            |(_, &read)| read,
        )
    }
}

/// For each shown op the output that is drawn: its own, or that of its equal in the last iteration
/// where that one alone is a result of the program.
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
