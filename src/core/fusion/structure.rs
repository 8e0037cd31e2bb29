//! The structure of a set of ops, without names and sizes: the key of a measured pattern.

use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op_type::OpType;
use std::fmt::Write as _;

/// Functions of these ops in execution order, each with where its inputs come from: the place of an
/// earlier op, `x` from outside, `b` if an element-wise op or a reduction broadcasts it. The inputs
/// of commutative functions are in order, views are seen through, and the bias of `linear` and
/// `conv2d` is an addition, so that `relu(x @ w + b)` is `matmul(x,x) add(0,b) relu(1)` however it
/// is written. `O(ops^2 * inputs)`.
///
/// The order of ops that do not depend on each other is part of it.
pub fn structure(
    graph: &Graph,
    ops: impl IntoIterator<Item = OpId>,
    is_view: impl Fn(OpId) -> bool,
) -> String {
    let mut places: Vec<(TensorId, Source)> = Vec::new();
    let mut text = String::new();
    let mut next_place = 0;
    for op in ops {
        let definition = &graph.ops[op];
        let elements = graph.tensors[graph.output[op]].elements();
        let spreads = matches!(definition.op_type, OpType::Elementwise | OpType::Reduction);
        let source_of = |&tensor: &TensorId| {
            let known = places.iter().find(|(own, _)| *own == tensor);
            known.map_or_else(
                || match graph.tensors[tensor].elements() {
                    own if spreads && own < elements => Source::Broadcast,
                    _ => Source::Outside,
                },
                |&(_, source)| source,
            )
        };
        let inputs = &graph.inputs[op];
        if is_view(op) {
            // A view of what comes from outside is judged by its own size where it is read.
            let known = inputs
                .first()
                .and_then(|input| places.iter().find(|(own, _)| own == input));
            if let Some(&(_, source)) = known {
                places.push((graph.output[op], source));
            }
            continue;
        }
        let mut sources: Vec<Source> = inputs.iter().map(source_of).collect();
        let function = match definition.function {
            Some(Function::Linear) => Function::Matmul.name(),
            _ => definition.operator(),
        };
        let has_bias = definition.op_type == OpType::Matmul && sources.len() > 2;
        if has_bias {
            sources.truncate(2);
        }
        if matches!(
            definition.function,
            Some(Function::Add | Function::Mul | Function::Maximum | Function::Minimum)
        ) {
            sources.sort();
        }
        write_op(&mut text, function, &sources);
        if has_bias {
            write_op(
                &mut text,
                Function::Add.name(),
                &[Source::Op(next_place), Source::Broadcast],
            );
            next_place += 1;
        }
        places.push((graph.output[op], Source::Op(next_place)));
        next_place += 1;
    }
    text
}

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// From the op at this place.
    Op(usize),
    /// From outside.
    Outside,
    /// From outside, and with fewer elements than the output.
    Broadcast,
}

/// Writing to a `String` cannot fail.
fn write_op(text: &mut String, function: &str, sources: &[Source]) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(function);
    text.push('(');
    for (at, source) in sources.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        let _ = match source {
            Source::Op(place) => write!(text, "{place}"),
            Source::Outside => write!(text, "x"),
            Source::Broadcast => write!(text, "b"),
        };
    }
    text.push(')');
}
