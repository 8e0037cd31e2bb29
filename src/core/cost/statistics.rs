//! Norms of which a kernel computes the statistics alone.

use crate::cost::views::Views;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::op_type::OpType;

/// Whether a kernel computes the elements of an op, and not only the statistics of a norm, which
/// need the first input alone: weight and bias belong to the elements. `computes` says which ops
/// are in the kernel, `is_written` which of them it writes. Linear in the readers of the op and of
/// its views.
pub(crate) fn computes_elements(
    graph: &Graph,
    views: &Views,
    op: OpId,
    computes: impl Fn(OpId) -> bool,
    is_written: impl Fn(OpId) -> bool,
) -> bool {
    let definition = &graph.ops[op];
    let is_norm = definition.op_type == OpType::Reduction && definition.function.is_some();
    if !is_norm || graph.inputs[op].len() < 2 || is_written(op) {
        return true;
    }
    let mut shown = vec![op];
    while let Some(op) = shown.pop() {
        for &reader in graph.successors[op].iter().filter(|&&op| computes(op)) {
            if !views.is_view[reader] {
                return true;
            }
            shown.push(reader);
        }
    }
    false
}
