//! Which ops run as which kernel.

use crate::core::model::acyclic;
use crate::core::model::graph::Graph;
use crate::core::model::graph::OpId;
use crate::core::model::lists::Lists;

/// The kernels of a graph: each op in exactly one, kernels in an order in which they can run, the ops of
/// one kernel in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Partition {
    /// The ops of each kernel.
    pub groups: Lists,
    /// For each op its kernel.
    pub group_of: Vec<usize>,
    /// For each kernel the ops of other kernels that it computes again instead of reading their outputs;
    /// empty but for policies that recompute.
    pub recomputed: Lists,
}

impl Partition {
    /// The partition with these groups, which hold each of `ops` ops once.
    pub fn new(groups: &[Vec<OpId>], ops: usize) -> Self {
        let mut group_of = vec![0; ops];
        for (group, members) in groups.iter().enumerate() {
            for &op in members {
                if let Some(place) = group_of.get_mut(op) {
                    *place = group;
                }
            }
        }
        Self::of_ops(group_of, groups.len())
    }

    /// The partition in which each op belongs to this kernel, of `kernels` in all. `O(ops + kernels)`.
    pub fn of_ops(group_of: Vec<usize>, kernels: usize) -> Self {
        let mut of_each = Lists::with_capacity(group_of.len(), group_of.len());
        for &group in &group_of {
            of_each.push([group]);
        }
        Self {
            groups: of_each.inverted(kernels),
            group_of,
            recomputed: Lists::default(),
        }
    }

    /// The partition with these groups of ops in the order in which pictures number kernels; `None` where groups
    /// need each other, or for a number that is not below the number of ops. `O((ops + reads) log ops)`.
    pub fn in_order(graph: &Graph, group_of: &[usize]) -> Option<Self> {
        let is_dense = group_of.iter().all(|&group| group < group_of.len());
        (is_dense && group_of.len() == graph.ops.len())
            .then(|| acyclic::in_order(graph, group_of).ok())
            .flatten()
    }

    /// Whether the op's output comes about inside this kernel. Logarithmic in what the kernel recomputes.
    pub fn computes(&self, kernel: usize, op: OpId) -> bool {
        self.group_of.get(op) == Some(&kernel) || self.recomputed[kernel].binary_search(&op).is_ok()
    }
}
