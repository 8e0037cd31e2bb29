//! A partition of the ops into kernels.

use crate::core::model::graph::OpId;
use crate::core::model::lists::Lists;

/// The kernels of a graph. Each op is in exactly one; kernels are in an order in which they can run, and the
/// ops of a kernel in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Partition {
    /// The ops of each kernel.
    pub groups: Lists,
    /// For each op its kernel.
    pub group_of: Vec<usize>,
    /// For each kernel the ops of other kernels that it computes again instead of reading their outputs. Empty
    /// for policies that do not recompute.
    pub recomputed: Lists,
}

impl Partition {
    /// The partition with these groups as kernels. Each of the `ops` ops is in one of them.
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

    /// The partition that maps each op to its kernel; `kernels` is their number. `O(ops + kernels)`.
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

    /// Whether this kernel computes the op, as its own or again. Logarithmic in the ops that the kernel
    /// recomputes.
    pub fn computes(&self, kernel: usize, op: OpId) -> bool {
        self.group_of.get(op) == Some(&kernel) || self.recomputed[kernel].binary_search(&op).is_ok()
    }
}
