//! How each tensor is used, directly or through views.

use super::as_value::AsValues;
use super::facts::{is_call, is_crossing, is_repeat, is_windowed, keeps_shape};
use super::layout::{Layouts, is_copied, is_copied_reshape};
use super::partial::partial_of;
use super::store::{copies_first, is_store};
use super::unwritten::{copies_unwritten, is_converted_mask};
use super::weight_only::is_copied_for;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op_type::OpType;
use crate::model::sizes::broadcast_operand_size;

/// How a tensor is used, directly or through views.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is another kind of reader"
)]
#[derive(Clone, Copy, Default)]
pub(super) struct Uses {
    /// Ops that read it; as many as the copies that a broadcast makes of it, if those are more.
    pub(super) readers: usize,
    /// Ops that read it.
    branches: usize,
    pub(super) is_result: bool,
    /// A result is a view of it. It is written for the caller alone, after all that reads it.
    pub(super) is_viewed: bool,
    /// A library reads it, and not a copy.
    pub(super) feeds_library: bool,
    /// A view that a call reads as [`copies_unwritten`] says, so that what it views need not be
    /// written.
    pub(super) copies_unwritten: bool,
    /// A call of attention reads it, and another op, too: it is written if computed from several.
    pub(super) is_hinted: bool,
    /// How a library reads it.
    pub(super) operand: Operand,
    /// The first call that reads it.
    pub(super) called_by: Option<OpId>,
    pub(super) feeds_window: bool,
}

impl Uses {
    /// What is broadcast is computed again for each copy, given the sizes of all copies and of one.
    /// Source: `expand` in `torch/_inductor/lowering.py`.
    fn are_copied(&mut self, sizes: Option<(u64, u64)>) {
        if let Some(copies) = sizes.and_then(|(all, one)| all.checked_div(one)) {
            let copies = usize::try_from(copies).unwrap_or(usize::MAX);
            self.readers = self.readers.max(copies);
        }
    }
}

/// How a library reads a tensor: what asks most for an order of its dimensions comes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operand {
    /// Not at all, or as it lies.
    #[default]
    Free,
    /// Through a view, which needs rows that lie one after another.
    Viewed,
    /// In the order of eager PyTorch, if other ops read it, too: an operand of `mm`.
    Shared,
    /// In the order of eager PyTorch.
    Ordered,
}

impl Operand {
    /// How a call reads this tensor.
    fn of_call(graph: &Graph, op: OpId, tensor: TensorId) -> Self {
        let definition = &graph.ops[op];
        if definition.op_type != OpType::Matmul {
            return if is_call(definition) {
                Self::Ordered
            } else {
                Self::Free
            };
        }
        let rank = |tensor: TensorId| graph.tensor_shape(tensor).map_or(0, <[u64]>::len);
        let inputs = &graph.inputs[op];
        let are_all = |wanted: usize| inputs.iter().take(2).all(|&tensor| rank(tensor) == wanted);
        if are_all(2) && inputs.len() == 2 {
            Self::Shared
        } else if rank(tensor) > 2 && !are_all(3) {
            // Its dimensions before the last one, or the last two, become one.
            Self::Viewed
        } else {
            Self::Free
        }
    }
}

/// How many ops of the compiler read this input of an op.
fn readers(graph: &Graph, op: OpId, tensor: TensorId) -> usize {
    let turns = graph.ops[op].function == Some(Function::Rotary);
    match graph.inputs[op].first() {
        // All of it, and either half for the other one.
        Some(&first) if turns && first == tensor => 3,
        // Four neighbours.
        Some(_) if graph.ops[op].function == Some(Function::InterpolateBilinear) => 4,
        // For the values of the rows, and again for the elements.
        _ if keeps_shape(graph, op) => 2,
        _ => 1,
    }
}

/// The uses of each tensor. Runs backwards, so that the uses of a view are known before those of
/// its input. `O(ops + reads)`.
pub(super) fn uses(
    graph: &Graph,
    layouts: &Layouts,
    replaced: &IdVec<OpId, Option<OpId>>,
    adds: &IdVec<OpId, Option<OpId>>,
    as_values: &AsValues,
) -> IdVec<TensorId, Uses> {
    let mut uses = IdVec::from_elem(Uses::default(), graph.tensors.len());
    let mut is_part = IdVec::from_elem(false, graph.ops.len());
    for &add in adds.iter().flatten() {
        is_part[add] = true;
    }
    for op in graph.ops.ids().rev() {
        let definition = &graph.ops[op];
        let output = graph.output[op];
        uses[output].is_result |= as_values.is_result(graph, output);
        let of_output = uses[output];
        let partial = partial_of(graph, op).map(|partial| graph.output[partial]);
        let inputs = graph.distinct_inputs(op).filter(|_| partial.is_none());
        for tensor in partial.into_iter().chain(inputs) {
            let of_input = &mut uses[tensor];
            of_input.readers += readers(graph, op, tensor);
            of_input.branches += 1;
            let spreads = match definition.function {
                // The compiler multiplies the sizes as they are written, so with -1 it counts no
                // copies.
                Some(Function::Expand) => !definition.keeps_sizes,
                Some(Function::Repeat | Function::RepeatInterleave) => true,
                _ => false,
            } || is_repeat(definition)
                || definition.op_type == OpType::Elementwise;
            if spreads {
                let elements = |tensor: TensorId| graph.tensors[tensor].elements();
                of_input.are_copied(elements(output).zip(elements(tensor)));
            }
            if definition.is_view() {
                of_input.readers = of_input.readers.max(of_output.readers);
                of_input.branches = of_input.branches.max(of_output.branches);
                let is_viewed = of_output.is_viewed || graph.is_final(output);
                let is_crossing = is_crossing(graph, op);
                // The copy of what no strides show computes what it copies.
                let is_copy = !is_crossing && is_copied_reshape(graph, layouts, op);
                if is_crossing {
                    of_input.is_result |= of_output.is_result || is_viewed;
                } else if !is_copy {
                    of_input.is_viewed |= is_viewed;
                    of_input.is_result |= of_output.is_result && !graph.is_final(output);
                }
                of_input.feeds_library |= of_output.feeds_library && !is_copy;
                of_input.feeds_window |= of_output.feeds_window;
                of_input.is_hinted |= of_output.is_hinted;
                if of_output.called_by.is_some() && !is_copy {
                    of_input.operand = of_input.operand.max(Operand::Viewed);
                    of_input.called_by = of_input
                        .called_by
                        .into_iter()
                        .chain(of_output.called_by)
                        .min();
                }
            }
            // An add that a library call includes reads its operand as the call does.
            let is_written = is_store(definition)
                && !as_values.contains(op)
                && !as_values.is_on_copy(op)
                && !copies_first(definition)
                && graph.inputs[op].first() == Some(&tensor);
            let is_library = is_call(definition) || is_part[op] || is_written;
            let is_replaced = replaced[op].is_some();
            let is_copied = if is_replaced {
                is_copied_for(graph, layouts, op, tensor)
            } else {
                is_library && is_copied(graph, layouts, op, tensor)
            };
            if is_copied {
                let whole = broadcast_operand_size(graph, op, tensor);
                of_input.are_copied(whole.zip(graph.tensors[tensor].bytes()));
            }
            if (is_replaced || is_library) && !is_copied {
                let producer = graph.tensors[tensor].producer;
                let is_view = producer.is_some_and(|producer| graph.ops[producer].is_view());
                let has_others = graph.consumers[tensor].len() > 1;
                let is_mask = is_converted_mask(graph, op, tensor);
                if is_mask
                    || (is_view || has_others) && copies_unwritten(graph, replaced, op, tensor)
                {
                    of_input.copies_unwritten |= is_view;
                    // A call without a lowering of its own hints that its operands be written.
                    of_input.is_hinted |= has_others
                        && !is_mask
                        && definition.function != Some(Function::ScaledMatmul);
                } else {
                    of_input.feeds_library = true;
                }
                let operand = if is_replaced {
                    Operand::Ordered
                } else {
                    Operand::of_call(graph, op, tensor)
                };
                of_input.operand = of_input.operand.max(operand);
                of_input.called_by = Some(op);
            }
            of_input.feeds_window |= is_windowed(definition);
        }
    }
    for of_tensor in &mut uses {
        if of_tensor.operand == Operand::Shared {
            let is_shared = of_tensor.branches > 1;
            of_tensor.operand = if is_shared {
                Operand::Ordered
            } else {
                Operand::Free
            };
        }
    }
    uses
}
