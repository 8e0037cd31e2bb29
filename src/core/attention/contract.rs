//! The graph in which each attention is one op, for policies to plan on, and the way back.

use crate::core::fusion::Partition;
use crate::core::graph::{Graph, OpId, Tensor, build_graph};
use crate::core::lists::Lists;
use crate::core::op::{Op, OpType, TensorDecl};
use crate::core::work::op_work;

/// A graph with one op for each attention kernel.
pub(in crate::core) struct Contracted {
    /// What a policy plans on.
    pub(in crate::core) graph: Graph,
    /// For each op of the original graph its op here.
    pub(in crate::core) op_of: Vec<OpId>,
    /// For each op here the op of the original graph that it is, or the last one that it replaces.
    last_of: Vec<OpId>,
}

/// Puts one op, of type matmul and under the name of its last op, in the place of each kernel's ops, ascending: it starts a kernel,
/// and what policies allow behind a matmul they allow behind it. `None` where nothing is to be contracted.
/// `O(ops + reads)`.
pub(in crate::core) fn contract(graph: &Graph, kernels: &[&[OpId]]) -> Option<Contracted> {
    if kernels.is_empty() {
        return None;
    }
    let mut kernel_of: Vec<Option<&[OpId]>> = vec![None; graph.ops.len()];
    for &kernel in kernels {
        for &op in kernel {
            *kernel_of.get_mut(op)? = Some(kernel);
        }
    }
    let mut ops = Vec::with_capacity(graph.ops.len());
    let mut op_of = Vec::with_capacity(graph.ops.len());
    let mut last_of = Vec::with_capacity(graph.ops.len());
    // An op goes to the place of the last op of its kernel, which comes no earlier.
    for ((id, op), kernel) in graph.ops.iter().enumerate().zip(&kernel_of) {
        match kernel {
            Some(kernel) if kernel.last() != Some(&id) => op_of.push(OpId::MAX),
            Some(kernel) => {
                for &inner in *kernel {
                    if let Some(place) = op_of.get_mut(inner) {
                        *place = ops.len();
                    }
                }
                op_of.push(ops.len());
                last_of.push(id);
                ops.push(one_op(graph, kernel, op));
            }
            None => {
                op_of.push(ops.len());
                last_of.push(id);
                ops.push(op.clone());
            }
        }
    }
    let externals: Vec<TensorDecl> = graph.tensors.iter().filter_map(declaration).collect();
    let graph = build_graph(ops, &externals).ok()?;
    Some(Contracted {
        graph,
        op_of,
        last_of,
    })
}

impl Contracted {
    /// The op of the original graph that an op here is, or the last one that it replaces.
    pub(in crate::core) fn original(&self, op: OpId) -> OpId {
        self.last_of.get(op).copied().unwrap_or(op)
    }

    /// A partition of the contracted graph, as one of the original graph.
    pub(in crate::core) fn expanded(&self, partition: &Partition) -> Partition {
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

fn one_op(graph: &Graph, kernel: &[OpId], last: &Op) -> Op {
    let mut inputs: Vec<String> = Vec::new();
    let mut flops = 0_u128;
    for &op in kernel {
        flops += op_work(graph, op).matrix_flops;
        for tensor in graph.distinct_inputs(op) {
            let Some(tensor) = graph.tensors.get(tensor) else {
                continue;
            };
            let is_inside = tensor
                .producer
                .is_some_and(|producer| kernel.contains(&producer));
            if !is_inside && !inputs.contains(&tensor.name) {
                inputs.push(tensor.name.clone());
            }
        }
    }
    let elements = last
        .shape
        .iter()
        .fold(1_u128, |n, &d| n.saturating_mul(d.into()));
    Op {
        op_type: OpType::Matmul,
        inputs,
        // The contraction length of one matmul with the FLOPs of both.
        contraction: u64::try_from(flops / (2 * elements).max(1)).ok(),
        ..last.clone()
    }
}

fn declaration(tensor: &Tensor) -> Option<TensorDecl> {
    tensor.is_external().then_some(())?;
    Some(TensorDecl {
        name: tensor.name.clone(),
        shape: tensor.shape.clone()?,
        bytes_per_element: tensor.bytes_per_element?,
        role: tensor.role,
        dtype: tensor.dtype,
    })
}
