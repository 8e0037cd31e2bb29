//! Ops of which a kernel computes only the elements that it needs.
//!
//! What a kernel computes again, it computes where its readers ask for it: of a `log_softmax` whose
//! one reader in the kernel is a `gather`, one element for each index. A reduction along rows is
//! not computed again: its statistics come from the kernel that has them.

use crate::cost::views::Views;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op_type::OpType;
use crate::model::options::Externals;
use crate::model::sizes::read_size;
use crate::model::work::Work;

/// An op of which a kernel computes some elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputedPart {
    /// The op.
    pub op: OpId,
    /// Its elements that the kernel computes, fewer than all.
    pub elements: u64,
    /// All elements of its output.
    pub of: u64,
}

impl ComputedPart {
    /// What is computed of an op, if that is among `parts`.
    pub fn of_op(parts: &[Self], op: OpId) -> Option<&Self> {
        parts.iter().find(|part| part.op == op)
    }

    /// The share of an amount that belongs to all elements, rounded up.
    pub fn share_of(&self, amount: u128) -> u128 {
        let product = amount.saturating_mul(self.elements.into());
        product.div_ceil(u128::from(self.of.max(1)))
    }

    /// The work on these elements.
    #[must_use]
    pub fn work_of(&self, all: Work) -> Work {
        Work {
            matrix_flops: self.share_of(all.matrix_flops),
            vector_flops: self.share_of(all.vector_flops),
            vector_f64_flops: self.share_of(all.vector_f64_flops),
            ..all
        }
    }
}

/// What a kernel computes in part of the ops that it computes `again`, which ascend; `is_own` says
/// of any other op whether the kernel computes it. Linear in these ops and in their readers.
pub(crate) fn computed_in_part(
    graph: &Graph,
    views: &Views,
    again: &[OpId],
    is_own: impl Fn(OpId) -> bool,
) -> Vec<ComputedPart> {
    let mut parts: Vec<ComputedPart> = Vec::new();
    // From the end, so that the readers of an op are known before it.
    for &op in again.iter().rev() {
        let output = graph.output[op];
        let Some(all) = graph.tensors[output].elements() else {
            continue;
        };
        let is_again = |reader: OpId| again.binary_search(&reader).is_ok();
        let readers = graph.successors[op].iter().copied();
        let mut readers = readers
            .filter(|&reader| is_again(reader) || is_own(reader))
            .peekable();
        // What no op in the kernel reads is a part of a reduction that was split.
        if readers.peek().is_none() {
            continue;
        }
        let asked = readers.map(|reader| {
            let part = ComputedPart::of_op(&parts, reader);
            let own = part.map(|part| part.elements);
            let own = own.or(graph.tensors[graph.output[reader]].elements());
            let by_element = match graph.ops[reader].op_type {
                OpType::Elementwise => true,
                OpType::Reduction => is_again(reader),
                _ => false,
            };
            asked_for(graph, reader, output, by_element, own.unwrap_or(all))
        });
        let elements = asked.fold(0_u64, u64::saturating_add);
        if elements < all && !views.is_view[op] {
            parts.push(ComputedPart {
                op,
                elements,
                of: all,
            });
        }
    }
    parts.reverse();
    parts
}

/// The elements of `tensor` that `reader` needs for so many of its own. `by_element`: one of its
/// elements needs one of an operand of its shape.
fn asked_for(graph: &Graph, reader: OpId, tensor: TensorId, by_element: bool, own: u64) -> u64 {
    let all = graph.tensors[tensor].elements().unwrap_or(u64::MAX);
    let is_part = read_size(graph, reader, tensor, Externals::Declared)
        .part_of
        .is_some();
    let is_same = || graph.tensors[graph.output[reader]].elements() == Some(all);
    if is_part || by_element && is_same() {
        own.min(all)
    } else {
        all
    }
}
