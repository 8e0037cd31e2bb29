//! Finds the ops that the compiler replaces by one flash kernel before it fuses anything.
//!
//! Source: the patterns of `torch/_inductor/fx_passes/fuse_attention.py`, matched on a graph in
//! which a matmul with permuted operands has become a copy and a batched matmul. Without copies the
//! scores are multiplied (patterns 2, 4) or divided (1, 3) by a constant, or divided by the root of
//! the head size and a mask is added (5, 6). With three copies they are divided and a mask may be
//! added (11, 12, 14) or select (15, 17), or Q is divided before (9, 10). With three dimensions
//! there is neither scale nor mask (13). Not in f32, which flash kernels would compute as TF32, and
//! not in f64 and f8, which have none.
//!
//! A call of `scaled_dot_product_attention` needs no pattern: it is the op `sdpa`, or one kernel
//! mark on all its ops states it. With the option *attention* the ops are one op already, and only
//! the copy after it is found here.

use super::layout::{Layouts, attention_layout, is_copied, laid_out_as};
use super::view::{View, view_of_op};
use crate::fusion::attention::stated;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;

/// For each op the last op of the flash kernel that it is part of.
pub(super) fn flash_kernels(graph: &Graph, layouts: &Layouts) -> IdVec<OpId, Option<OpId>> {
    let mut kernel_of = IdVec::from_elem(None, graph.ops.len());
    let calls = stated(graph).into_iter().map(|call| call.ops);
    let rewritten = graph.stand_ins.iter().map(|stand_in| vec![stand_in.op]);
    for mut ops in calls.chain(rewritten) {
        let q = ops.first().and_then(|&op| graph.inputs[op].first());
        if let (Some(&q), Some(&product)) = (q, ops.last()) {
            ops.extend(by_token(graph, layouts, q, product).into_iter().flatten());
        }
        // A single op needs no entry: it is lowered as a call anyway.
        for &member in ops.iter().filter(|_| ops.len() > 1) {
            kernel_of[member] = ops.last().copied();
        }
    }
    // After the calls, which keep their ops whatever a pattern would match.
    for (op, definition) in graph.ops.iter_enumerated() {
        if is(definition, Function::Softmax)
            && !definition.is_across_rows
            && let Some(members) = around(graph, layouts, op)
            && let Some(&last) = members.last()
            && members.iter().all(|&member| kernel_of[member].is_none())
        {
            for member in members {
                kernel_of[member] = Some(last);
            }
        }
    }
    kernel_of
}

/// How scores become the input of the softmax.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Multiplied,
    /// Divided by this number, if the list states it.
    Divided(Option<f64>),
}

#[derive(Clone, Copy, PartialEq)]
enum Mask {
    Added,
    /// Keys where a row for each batch is zero.
    OfPadding,
}

/// The ops between two matmuls, and what they do.
#[derive(Default)]
struct Chain {
    scale: Option<Scale>,
    mask: Option<Mask>,
    drops: bool,
    ops: Vec<OpId>,
}

/// The ops of the flash kernel around this softmax; the op that writes its result comes last.
fn around(graph: &Graph, layouts: &Layouts, softmax: OpId) -> Option<Vec<OpId>> {
    let mut chain = Chain::default();
    let scores = chain.before(graph, softmax)?;
    chain.ops.push(softmax);
    let product = chain.behind(graph, softmax)?;
    let &[q, k] = &graph.inputs[scores] else {
        return None;
    };
    let v = *graph.inputs[product].get(1)?;
    let definition = &graph.ops[scores];
    is_transposed(graph, scores, q, k).then_some(())?;
    if !definition.element_type().is_some_and(DType::is_half) {
        return None;
    }
    let copies = [(scores, q), (scores, k), (product, v)]
        .map(|(matmul, operand)| is_copied(graph, layouts, matmul, operand));
    let head = graph
        .tensor_shape(q)
        .and_then(|shape| shape.last().copied());
    let is_root = |by: Option<f64>| {
        let root = head.map(|head| (head as f64).sqrt());
        by.zip(root)
            .is_none_or(|(by, root)| (by - root).abs() < root * 1e-4)
    };
    // Where operands are copied the patterns name their transposes; another view of one hides it.
    let operands = [q, k, v].map(|operand| graph.tensors[operand].producer);
    let are_named = operands
        .iter()
        .flatten()
        .all(|&op| is(&graph.ops[op], Function::Transpose));
    if copies == [true; 3] && chain.scale.is_some() && !are_named {
        return None;
    }
    let fits = match (definition.shape.len(), copies, chain.scale, chain.mask) {
        // Pattern 13.
        (3, _, scale, mask) => scale.is_none() && mask.is_none(),
        // Patterns 1 to 4 without copies; 11, 12, 15 and 17 with them.
        (4.., [false, false, false], Some(_), None)
        | (4.., [true, true, true], Some(Scale::Divided(_)), None | Some(Mask::OfPadding)) => true,
        // Patterns 5 and 6.
        (4.., [false, false, false], Some(Scale::Divided(by)), Some(Mask::Added)) => is_root(by),
        // Pattern 16, with dropout, is off on NVIDIA.
        (4.., [true, true, true], Some(Scale::Divided(_)), Some(Mask::Added)) => !chain.drops,
        // Patterns 9 and 10: Q is divided before the product.
        (4.., [true, true, true], None, None) => {
            let before = graph.tensors[q]
                .producer
                .filter(|&op| sole_reader(graph, op).is_some());
            let scale = before.and_then(|op| scale_of(&graph.ops[op]));
            let divides = matches!(scale, Some(Scale::Divided(by)) if is_root(by));
            chain.ops.extend(before.filter(|_| divides));
            divides
        }
        _ => false,
    };
    fits.then_some(())?;
    let mut members = chain.ops;
    members.extend([scores, product]);
    members.extend(by_token(graph, layouts, q, product).into_iter().flatten());
    Some(members)
}

/// Whether a product of scores reads the keys transposed, as every pattern does.
fn is_transposed(graph: &Graph, scores: OpId, q: TensorId, k: TensorId) -> bool {
    let depth = graph.tensor_shape(q).and_then(|shape| shape.last());
    let keys = graph.ops[scores].shape.last();
    let by_matmul = graph
        .tensor_shape(k)
        .is_some_and(|shape| matches!(shape, [.., n, d] if Some(n) == keys && Some(d) == depth));
    let producer = graph.tensors[k].producer.map(|op| &graph.ops[op]);
    by_matmul || producer.is_some_and(|op| is(op, Function::Transpose))
}

impl Chain {
    /// Backwards from the softmax to the first matmul, which it gives: cast, mask, scale. Each
    /// result on the way has one reader.
    fn before(&mut self, graph: &Graph, softmax: OpId) -> Option<OpId> {
        let mut at = softmax;
        loop {
            let input = match Self::mask_of(graph, at) {
                // The scores are the second operand of `where`, after its condition.
                Some((_, scores)) if at != softmax => scores,
                _ => *graph.inputs[at].first()?,
            };
            let producer = graph.tensors[input].producer?;
            sole_reader(graph, producer)?;
            let definition = &graph.ops[producer];
            // In every pattern the mask comes after the scale, so backwards it is found first.
            let is_bare = self.scale.is_none() && self.mask.is_none();
            if definition.op_type == OpType::Matmul {
                return Some(producer);
            } else if is(definition, Function::Cast) {
                // The softmax is computed in f32 anyway.
                (at == softmax).then_some(())?;
            } else if let Some((mask, _)) = Self::mask_of(graph, producer).filter(|_| is_bare) {
                self.mask = Some(mask);
            } else {
                let scale = scale_of(definition).filter(|_| self.scale.is_none())?;
                self.scale = Some(scale);
            }
            self.ops.push(producer);
            at = producer;
        }
    }

    /// Forwards from the softmax to the matmul whose left operand is the probabilities: dropout,
    /// cast.
    fn behind(&mut self, graph: &Graph, softmax: OpId) -> Option<OpId> {
        let mut at = softmax;
        loop {
            let next = sole_reader(graph, at)?;
            let definition = &graph.ops[next];
            (graph.inputs[next].first() == Some(&graph.output[at])).then_some(())?;
            if definition.op_type == OpType::Matmul {
                return (!definition.is_across_rows).then_some(next);
            }
            let drops = is(definition, Function::Dropout);
            (drops || is(definition, Function::Cast)).then_some(())?;
            self.drops |= drops;
            self.ops.push(next);
            at = next;
        }
    }

    /// The kind of mask that an op applies, and the scores that it reads.
    fn mask_of(graph: &Graph, op: OpId) -> Option<(Mask, TensorId)> {
        let definition = &graph.ops[op];
        let inputs = &graph.inputs[op];
        let is_whole = |tensor: TensorId| graph.tensor_shape(tensor) == Some(&definition.shape[..]);
        match (definition.function?, inputs) {
            (Function::Mask | Function::Add, &[scores, mask])
                if graph.tensors[mask].elements() != Some(1) =>
            {
                is_whole(scores).then_some((Mask::Added, scores))
            }
            (Function::Where, &[condition, scores]) => {
                // `masked_fill` where a mask of keys, seen as one of scores, is 0.
                let expand = graph.tensors[condition].producer?;
                let view = graph.tensors[*graph.inputs[expand].first()?].producer?;
                let compare = graph.tensors[*graph.inputs[view].first()?].producer?;
                let names = [expand, view, compare].map(|op| graph.ops[op].function);
                let fits = names
                    == [
                        Some(Function::Expand),
                        Some(Function::Reshape),
                        Some(Function::Eq),
                    ]
                    && definition
                        .literals
                        .first()
                        .is_some_and(|fill| fill == "-inf");
                (fits && is_whole(scores)).then_some((Mask::OfPadding, scores))
            }
            _ => None,
        }
    }
}

/// The one op that reads the output of an op, which is no result.
fn sole_reader(graph: &Graph, op: OpId) -> Option<OpId> {
    let &[reader] = &graph.successors[op] else {
        return None;
    };
    (!graph.ops[op].is_needed_beyond()).then_some(reader)
}

fn scale_of(op: &Op) -> Option<Scale> {
    let number = op.literals.first();
    match op.function? {
        Function::Scale => Some(Scale::Multiplied),
        Function::Mul if op.inputs.len() == 1 => number.map(|_| Scale::Multiplied),
        Function::Div if op.inputs.len() == 1 => number.map(|by| Scale::Divided(by.parse().ok())),
        _ => None,
    }
}

/// The ops after the matmul that put the heads of a token side by side: a copy, or a transpose and
/// a copy. The flash kernel writes its result in the order of Q, so they are part of it if that
/// order is theirs.
fn by_token(graph: &Graph, layouts: &Layouts, q: TensorId, matmul: OpId) -> Option<Vec<OpId>> {
    let next = sole_reader(graph, matmul)?;
    if is(&graph.ops[next], Function::Contiguous) {
        return Some(vec![next]);
    }
    let copy = sole_reader(graph, next)?;
    let shape = &graph.ops[matmul].shape;
    let result = laid_out_as(graph, layouts, shape, Some(q));
    let seen = view_of_op(graph, next)?.through(&result)?;
    // The transpose has undone the order of Q if the copy reads the result as it lies in memory.
    let fits = graph.ops[next].is_view()
        && seen == View::whole(element_count(shape)?)
        && is(&graph.ops[copy], Function::Contiguous);
    fits.then(|| vec![next, copy])
}

/// The layout of a flash kernel's result.
pub(super) fn result_layout(
    graph: &Graph,
    layouts: &Layouts,
    last: OpId,
    members: &[OpId],
) -> View {
    let result = &graph.ops[last];
    if result.op_type != OpType::Matmul {
        return laid_out_as(graph, layouts, &result.shape, None);
    }
    let is_product = |op: &&OpId| graph.ops[**op].op_type == OpType::Matmul;
    let first = members.iter().find(is_product);
    let q = first.and_then(|&op| graph.inputs[op].first());
    attention_layout(graph, layouts, result, q.copied())
}

fn is(op: &Op, function: Function) -> bool {
    op.function == Some(function)
}
