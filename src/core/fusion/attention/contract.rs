//! The graph in which each attention is one op, for policies to plan on, and the way back.

use crate::core::cost::work::op_work;
use crate::core::fusion::attention::Attention;
use crate::core::model::adjacency::Adjacency;
use crate::core::model::build::build_graph;
use crate::core::model::graph::{Graph, SizeSource, StandIn};
use crate::core::model::ids::{IdVec, OpId, TensorId};
use crate::core::model::op::{Op, TensorDecl};
use crate::core::model::op_type::OpType;
use crate::core::model::options::Options;
use crate::core::model::partition::Partition;
use crate::core::model::sizes::read_size;

/// A graph with one op for each attention kernel.
pub(crate) struct Contracted {
    /// What a policy plans on.
    pub(crate) graph: Graph,
    /// For each op of the original graph its op here.
    pub(crate) op_of: IdVec<OpId, OpId>,
    /// For each op here the op of the original graph that it is, or the last one that it replaces.
    last_of: IdVec<OpId, OpId>,
}

/// Puts one op, of type matmul and under the name of its last op, in the place of each kernel's ops: it starts a kernel,
/// and what policies allow behind a matmul they allow behind it. It costs what the kernel costs. `None` where nothing is
/// to be contracted. `O(ops + reads)`, but for reads of the same kernel, which are held against each other.
pub(crate) fn contract(
    graph: &Graph,
    attentions: &[Attention],
    options: &Options,
) -> Option<Contracted> {
    if attentions.is_empty() {
        return None;
    }
    let mut attention_of: IdVec<OpId, Option<&Attention>> = IdVec::from_elem(None, graph.ops.len());
    for attention in attentions {
        for &op in &attention.ops {
            attention_of[op] = Some(attention);
        }
    }
    let mut ops = Vec::with_capacity(graph.ops.len());
    let mut op_of = IdVec::from_elem(OpId::new(0), graph.ops.len());
    let mut last_of = IdVec::with_capacity(graph.ops.len());
    let mut stand_ins = Vec::with_capacity(attentions.len());
    // An op goes to the place of the last op of its attention, which comes no earlier.
    for (id, op) in graph.ops.iter_enumerated() {
        match attention_of[id] {
            Some(attention) if attention.ops.last() != Some(&id) => {}
            Some(attention) => {
                let here = last_of.push(id);
                for &inner in &attention.ops {
                    op_of[inner] = here;
                }
                let stand_in = stand_in(graph, attention, here, options);
                ops.push(one_op(graph, &stand_in, op));
                stand_ins.push(stand_in);
            }
            None => {
                op_of[id] = last_of.push(id);
                ops.push(op.clone());
            }
        }
    }
    let tensors = graph.tensors.ids();
    let declared: Vec<TensorDecl> = tensors.filter_map(|t| declaration(graph, t)).collect();
    let mut contracted = build_graph(ops, &declared).ok()?;
    for stand_in in &mut stand_ins {
        // In the order of the op's inputs, each of which is named once.
        let inputs = &contracted.inputs[stand_in.op];
        for (read, &tensor) in stand_in.reads.iter_mut().zip(inputs) {
            read.0 = tensor;
        }
    }
    contracted.stand_ins = stand_ins;
    Some(Contracted {
        graph: contracted,
        op_of,
        last_of,
    })
}

impl Contracted {
    /// The op of the original graph that an op here is, or the last one that it replaces.
    pub(crate) fn original(&self, op: OpId) -> OpId {
        self.last_of[op]
    }

    /// A partition of the contracted graph, as one of the original graph.
    pub(crate) fn expanded(&self, partition: &Partition) -> Partition {
        let kernels = partition.kernels.len();
        let kernel_of = self.op_of.iter().map(|&op| partition.kernel_of[op]);
        let mut expanded = Partition::of_ops(kernel_of.collect(), kernels);
        if !partition.recomputed.is_empty() {
            let mut recomputed = Adjacency::with_capacity(kernels, kernels);
            for ops in partition.recomputed.iter() {
                recomputed.push(ops.iter().map(|&op| self.last_of[op]));
            }
            expanded.recomputed = recomputed;
        }
        expanded
    }
}

/// What the op at this place of the new list does; its reads go by the tensors of the old graph.
fn stand_in(graph: &Graph, attention: &Attention, op: OpId, options: &Options) -> StandIn {
    let mut work = attention.shape.rescaling_on(&options.device);
    let mut reads: Vec<(TensorId, u64, SizeSource)> = Vec::new();
    for &inner in &attention.ops {
        work = work.and(op_work(graph, inner));
        for tensor in graph.distinct_inputs(inner) {
            let producer = graph.tensors[tensor].producer;
            if producer.is_some_and(|producer| attention.ops.contains(&producer)) {
                continue;
            }
            let (bytes, source) = read_size(graph, inner, tensor, options.conventions.externals);
            match reads.iter_mut().find(|read| read.0 == tensor) {
                Some(read) if read.1 >= bytes => {}
                Some(read) => *read = (tensor, bytes, source),
                None => reads.push((tensor, bytes, source)),
            }
        }
    }
    StandIn { op, work, reads }
}

fn one_op(graph: &Graph, stand_in: &StandIn, last: &Op) -> Op {
    let inputs = stand_in.reads.iter().map(|read| graph.tensor_name(read.0));
    Op {
        op_type: OpType::Matmul,
        inputs: inputs.map(str::to_owned).collect(),
        contraction: None,
        ..last.clone()
    }
}

fn declaration(graph: &Graph, id: TensorId) -> Option<TensorDecl> {
    let tensor = &graph.tensors[id];
    tensor.is_external().then_some(())?;
    Some(TensorDecl {
        name: graph.tensor_name(id).to_owned(),
        shape: graph.tensor_shape(id)?.to_vec(),
        bytes_per_element: tensor.bytes_per_element?,
        role: tensor.role,
        dtype: tensor.dtype,
    })
}
