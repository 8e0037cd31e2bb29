//! Replaces each attention by one op, for policies to plan on, and maps partitions back.

use crate::cost::traffic::TrafficCount;
use crate::cost::work::{op_work, work_of_ops};
use crate::fusion::attention::{Attention, separate};
use crate::model::adjacency::Adjacency;
use crate::model::build::build_graph;
use crate::model::graph::{FixedSize, Graph, StandIn, Tensor};
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::{Op, TensorDecl};
use crate::model::op_type::OpType;
use crate::model::options::{Objective, Options};
use crate::model::partition::{OperandCopy, Partition};
use std::collections::HashMap;

/// A graph with one op for each attention kernel.
pub(crate) struct RewrittenGraph {
    /// The graph that a policy plans on.
    pub(crate) graph: Graph,
    /// For each op of the original graph its op in `graph`.
    pub(crate) op_of: IdVec<OpId, OpId>,
    /// For each op of `graph` its original op, or the last one that it replaces.
    last_of: IdVec<OpId, OpId>,
}

/// Replaces the ops of each attention by one op of type matmul, named like the last of them:
/// policies allow the same before and after it as for a matmul. Its cost is that of the attention
/// kernel. `None` if there is no attention. `O(ops + reads)`, and quadratic in the ops of one
/// attention.
pub(crate) fn rewrite(
    graph: &Graph,
    attentions: &[Attention],
    options: &Options,
) -> Option<RewrittenGraph> {
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
    let mut count = TrafficCount::new(graph, options.conventions);
    // The new op stands at the position of the last op of its attention, where all that it reads
    // has been computed.
    for (id, op) in graph.ops.iter_enumerated() {
        match attention_of[id] {
            Some(attention) if attention.ops.last() != Some(&id) => {}
            Some(attention) => {
                let here = last_of.push(id);
                for &inner in &attention.ops {
                    op_of[inner] = here;
                }
                let stand_in = stand_in(graph, attention, here, options, &mut count);
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
    let mut rewritten = build_graph(ops, &declared).ok()?;
    carry_fixed_sizes(graph, &mut rewritten, &op_of);
    for stand_in in &mut stand_ins {
        // In the order of the op's inputs, each of which is named once.
        let inputs = &rewritten.inputs[stand_in.op];
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
    /// The original op of an op of `graph`, or the last one that it replaces.
    pub(crate) fn original(&self, op: OpId) -> OpId {
        self.last_of[op]
    }

    /// A partition of the rewritten graph, as one of the original graph.
    pub(crate) fn expanded(&self, original: &Graph, partition: &Partition) -> Partition {
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
        let statistics = partition.statistics.iter();
        expanded.statistics = statistics
            .map(|&(op, kernel)| (self.last_of[op], kernel))
            .collect();
        expanded.further_launches = partition.further_launches.clone();
        // The rewritten graph numbers tensors anew, but an op keeps the order of its inputs.
        let copies = partition.copies.iter().filter_map(|copy| {
            let op = self.last_of[copy.op];
            let inputs = self.graph.inputs[copy.op].iter();
            let mut same = inputs.zip(&original.inputs[op]);
            let input = same.find(|&(&renamed, _)| renamed == copy.tensor);
            let producer = self.graph.tensors[copy.tensor].producer;
            let written = producer.map(|op| original.output[self.last_of[op]]);
            let tensor = input.map(|(_, &tensor)| tensor).or(written)?;
            Some(OperandCopy {
                op,
                tensor,
                written_by: self.last_of[copy.written_by],
                ..*copy
            })
        });
        expanded.copies = copies.collect();
        let placed = partition.placed.iter().filter_map(|&(op, piece)| {
            let producer = self.graph.tensors[piece].producer?;
            Some((self.last_of[op], original.output[self.last_of[producer]]))
        });
        expanded.placed = placed.collect();
        let renamed = |views: &[OpId]| views.iter().map(|&view| self.last_of[view]).collect();
        expanded.split = renamed(&partition.split);
        expanded.views = renamed(&partition.views);
        expanded.results = renamed(&partition.results);
        expanded.copied_views = renamed(&partition.copied_views);
        expanded.values = renamed(&partition.values);
        expanded.computes_where_read = partition.computes_where_read;
        expanded
    }
}

/// The stored cost of the new op `op`; its reads are tensors of the original graph.
fn stand_in(
    graph: &Graph,
    attention: &Attention,
    op: OpId,
    options: &Options,
    count: &mut TrafficCount<'_>,
) -> StandIn {
    // The replaced ops do not rescale partial sums; the one kernel does, for each tile of keys.
    let rescaling = attention.shape.rescaling_on(&options.device);
    let work = work_of_ops(attention.ops.iter(), |inner| op_work(graph, inner)).and(rescaling);
    let traffic = count.of_kernel(
        attention.ops.iter().copied(),
        Vec::new(),
        |op| attention.ops.contains(&op),
        |_| false,
    );
    let reads = traffic.reads.iter();
    let is_measured = options.fusion.objective == Objective::Measured;
    StandIn {
        op,
        work,
        separate: is_measured.then(|| separate::of_ops(graph, &attention.ops, count)),
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

/// Gives undeclared tensors the sizes that they have in `graph`: the op that fixes one may be among
/// the replaced ones.
fn carry_fixed_sizes(graph: &Graph, rewritten: &mut Graph, op_of: &IdVec<OpId, OpId>) {
    let names = (graph.tensors.iter_enumerated())
        .filter(|(_, tensor)| tensor.fixed().is_some())
        .map(|(id, tensor)| (graph.tensor_name(id), tensor));
    let fixed: HashMap<&str, &Tensor> = names.collect();
    if fixed.is_empty() {
        return;
    }
    for id in rewritten.tensors.ids() {
        let Some(tensor) = fixed.get(rewritten.tensor_name(id)) else {
            continue;
        };
        if let (Some(size), Some(width)) = (tensor.fixed(), tensor.bytes_per_element) {
            let reader = op_of[size.reader];
            rewritten.tensors[id].fix(
                FixedSize {
                    reader,
                    ..size.clone()
                },
                width,
            );
        }
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
