//! The graph in which each attention is one op, for policies to plan on, and the way back.

use crate::core::cost::traffic::TrafficCount;
use crate::core::cost::work::{op_work, work_of_ops};
use crate::core::fusion::attention::Attention;
use crate::core::model::build::build_graph;
use crate::core::model::graph::{Graph, OpId, StandIn, TensorId};
use crate::core::model::lists::Lists;
use crate::core::model::op::{Op, TensorDecl};
use crate::core::model::op_type::OpType;
use crate::core::model::options::Options;
use crate::core::model::partition::Partition;

/// A graph with one op for each attention kernel.
pub(crate) struct RewrittenGraph {
    /// What a policy plans on.
    pub(crate) graph: Graph,
    /// For each op of the original graph its op here.
    pub(crate) op_of: Vec<OpId>,
    /// For each op here the op of the original graph that it is, or the last one that it replaces.
    last_of: Vec<OpId>,
}

/// Puts one op, of type matmul and under the name of its last op, in the place of each kernel's ops: it starts a kernel,
/// and what policies allow behind a matmul they allow behind it. It costs what the kernel costs. `None` where nothing is
/// to be rewritten. `O(ops + reads)`, but for the ops of one attention, which are compared with each other.
pub(crate) fn rewrite(
    graph: &Graph,
    attentions: &[Attention],
    options: &Options,
) -> Option<RewrittenGraph> {
    if attentions.is_empty() {
        return None;
    }
    let mut attention_of: Vec<Option<&Attention>> = vec![None; graph.ops.len()];
    for attention in attentions {
        for &op in &attention.ops {
            *attention_of.get_mut(op)? = Some(attention);
        }
    }
    let mut ops = Vec::with_capacity(graph.ops.len());
    let mut op_of = Vec::with_capacity(graph.ops.len());
    let mut last_of = Vec::with_capacity(graph.ops.len());
    let mut stand_ins = Vec::with_capacity(attentions.len());
    let mut count = TrafficCount::new(graph, options.conventions);
    // An op goes to the place of the last op of its attention, which comes no earlier.
    for ((id, op), attention) in graph.ops.iter().enumerate().zip(&attention_of) {
        match attention {
            Some(attention) if attention.ops.last() != Some(&id) => op_of.push(OpId::MAX),
            Some(attention) => {
                for &inner in &attention.ops {
                    if let Some(place) = op_of.get_mut(inner) {
                        *place = ops.len();
                    }
                }
                let stand_in = stand_in(graph, attention, ops.len(), options, &mut count);
                op_of.push(ops.len());
                last_of.push(id);
                ops.push(one_op(graph, &stand_in, op));
                stand_ins.push(stand_in);
            }
            None => {
                op_of.push(ops.len());
                last_of.push(id);
                ops.push(op.clone());
            }
        }
    }
    let tensors = 0..graph.tensors.len();
    let declared: Vec<TensorDecl> = tensors.filter_map(|t| declaration(graph, t)).collect();
    let mut rewritten = build_graph(ops, &declared).ok()?;
    for stand_in in &mut stand_ins {
        // In the order of the op's inputs, each of which is named once.
        let inputs = rewritten.inputs.get(stand_in.op)?;
        for (read, &tensor) in stand_in.reads.iter_mut().zip(inputs) {
            read.0 = tensor;
        }
    }
    rewritten.stand_ins = stand_ins;
    Some(RewrittenGraph {
        graph: rewritten,
        op_of,
        last_of,
    })
}

impl RewrittenGraph {
    /// The op of the original graph that an op here is, or the last one that it replaces.
    pub(crate) fn original(&self, op: OpId) -> OpId {
        self.last_of.get(op).copied().unwrap_or(op)
    }

    /// A partition of the rewritten graph, as one of the original graph.
    pub(crate) fn expanded(&self, partition: &Partition) -> Partition {
        let kernels = partition.groups.len();
        let kernel_of = |&op: &OpId| partition.group_of.get(op).copied().unwrap_or(0);
        let mut expanded = Partition::of_ops(self.op_of.iter().map(kernel_of).collect(), kernels);
        if !partition.recomputed.is_empty() {
            let mut recomputed = Lists::with_capacity(kernels, kernels);
            for ops in partition.recomputed.iter() {
                recomputed.push(ops.iter().filter_map(|&op| self.last_of.get(op).copied()));
            }
            expanded.recomputed = recomputed;
        }
        expanded
    }
}

/// What the op at this place of the new list does; its reads go by the tensors of the old graph.
fn stand_in(
    graph: &Graph,
    attention: &Attention,
    op: OpId,
    options: &Options,
    count: &mut TrafficCount<'_>,
) -> StandIn {
    let rescaling = attention.shape.rescaling_on(&options.device);
    let work = work_of_ops(attention.ops.iter(), |inner| op_work(graph, inner)).and(rescaling);
    let traffic = count.of_kernel(
        attention.ops.iter().copied(),
        |op| attention.ops.contains(&op),
        |_| false,
    );
    let reads = traffic.reads.iter();
    StandIn {
        op,
        work,
        reads: reads
            .map(|read| (read.tensor, read.bytes, read.source))
            .collect(),
    }
}

fn one_op(graph: &Graph, stand_in: &StandIn, last: &Op) -> Op {
    let inputs = stand_in.reads.iter().map(|read| graph.tensor_name(read.0));
    Op {
        op_type: OpType::Matmul,
        inputs: inputs.map(str::to_owned).collect(),
        k: None,
        ..last.clone()
    }
}

fn declaration(graph: &Graph, id: TensorId) -> Option<TensorDecl> {
    let tensor = graph.tensors.get(id)?;
    tensor.is_external().then_some(())?;
    Some(TensorDecl {
        name: graph.tensor_name(id).to_owned(),
        shape: graph.tensor_shape(id)?.to_vec(),
        bytes_per_element: tensor.bytes_per_element?,
        role: tensor.role,
        dtype: tensor.dtype,
    })
}
