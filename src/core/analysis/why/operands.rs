//! How many ops and operands two kernels have as one, counted without visiting both.

use crate::analysis::Analysis;
use crate::analysis::why::policy_graph::PolicyGraph;
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::sorted::common;

/// The ops of each kernel and the tensors that they read from outside of it, in the graph of the
/// policy.
pub(super) struct Operands {
    ops: Adjacency<KernelId, OpId>,
    /// Ascending.
    reads: Adjacency<KernelId, TensorId>,
    /// Whether each op of the policy graph belongs to one kernel. False where an attention that is
    /// one op there runs in several kernels.
    shares_no_op: bool,
}

impl Operands {
    /// `O(ops + reads log reads)`.
    pub(super) fn new(analysis: &Analysis, policy_graph: &PolicyGraph) -> Self {
        let graph = policy_graph.graph(analysis);
        let partition = &analysis.partition;
        let mut kernel_of = IdVec::from_elem(None, graph.ops.len());
        let mut shares_no_op = true;
        for (op, &kernel) in partition.kernel_of.iter_enumerated() {
            // An attention that no kernel holds whole is one op of several kernels: then counts per
            // kernel cannot be added.
            let known = kernel_of[policy_graph.op(op)].replace(kernel);
            shares_no_op &= known.is_none_or(|known| known == kernel);
        }
        let of_op = kernel_of.iter_enumerated();
        let of_op = of_op.filter_map(|(op, &kernel)| Some((kernel?, op)));
        let ops = Adjacency::from_pairs(partition.kernels.len(), of_op);
        let mut reads = Adjacency::with_capacity(ops.len(), graph.ops.len() * 2);
        for (kernel, ops) in ops.iter_enumerated() {
            let is_outside = |tensor: &TensorId| {
                let producer = graph.tensors[*tensor].producer;
                producer.and_then(|op| kernel_of[op]) != Some(kernel)
            };
            let inputs = ops.iter().flat_map(|&op| graph.inputs[op].iter().copied());
            let mut outside: Vec<TensorId> = inputs.filter(is_outside).collect();
            outside.sort_unstable();
            outside.dedup();
            reads.push(outside);
        }
        Self {
            ops,
            reads,
            shares_no_op,
        }
    }

    /// The ops of two kernels as one; `None` if kernels share an op.
    pub(super) fn ops(&self, a: KernelId, b: KernelId) -> Option<usize> {
        self.shares_no_op
            .then(|| self.ops[a].len() + self.ops[b].len())
    }

    /// The tensors that two kernels read as one, where `graph` is the one of the policy; `None` if
    /// kernels share an op. `O(smaller log larger)` in what they read and compute.
    pub(super) fn reads(&self, graph: &Graph, a: KernelId, b: KernelId) -> Option<usize> {
        if !self.shares_no_op {
            return None;
        }
        let mut saved = 0;
        // What both read is read once.
        common(&self.reads[a], &self.reads[b], TensorId::cmp, |_, _| {
            saved += 1;
        });
        // Outputs ascend with their ops.
        let is_output = |tensor: &TensorId, op: &OpId| tensor.cmp(&graph.output[*op]);
        for (from, to) in [(a, b), (b, a)] {
            common(&self.reads[to], &self.ops[from], is_output, |_, _| {
                saved += 1;
            });
        }
        Some(self.reads[a].len() + self.reads[b].len() - saved)
    }
}
