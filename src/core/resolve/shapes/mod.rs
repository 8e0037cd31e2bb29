//! Shape rules: from the shapes of a call's inputs to the shape of its output.

mod attention;
mod broadcast;
mod call;
mod index;
mod layout;
mod matmul;
mod repeat;
mod resample;
mod window;

use super::attributes::Attributes;
use super::expr::Params;
use crate::model::diagnostic::{Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::functions::{AttributeName, ShapeRule};
use crate::model::program::Program;
use crate::model::program::{Attribute, Name};
use crate::notation::fix_edits::with_annotation;
use attention::attention;
use broadcast::{broadcast_all, broadcast_into, of_blocks, per_channel};
use call::{axis, dimension, missing};
use index::{advanced, along, embedding, gather, one_hot, put, scatter, top};
use layout::{concat, reshape, slice, slice_scatter, split, transpose};
use matmul::{biased_matmul, linear, matmul};
use repeat::{expand, interleave, pad, repeat};
use resample::{adaptive, moved, resample};
use window::{conv1d, conv2d, pool2d};

pub(super) use broadcast::check_halves;
pub use call::dimension_of;
pub(super) use call::{Call, InferredShape, Operand, tensor_text};

/// Shape of the output, and K if the function has one. `O(rank * inputs)`.
pub(super) fn infer(rule: ShapeRule, call: &Call<'_>) -> Result<InferredShape, Diagnostic> {
    let shape = match (rule, call.operands) {
        (ShapeRule::Broadcast, operands) => broadcast_all(operands)?,
        (ShapeRule::SameAsFirst, [first, others @ ..]) => {
            axis(call, first)?;
            for other in others {
                broadcast_into(first, other)?;
            }
            first.shape.to_vec()
        }
        (ShapeRule::PerChannel, [first, others @ ..]) => per_channel(call, first, others)?,
        (ShapeRule::Reduce, [input]) => reduce(call, input)?,
        (ShapeRule::Matmul, [a, b]) => return matmul(call, a, b),
        (ShapeRule::ScaledMatmul, [a, b, scale_a, scale_b, bias @ ..]) => {
            of_blocks(a, scale_a)?;
            of_blocks(b, scale_b)?;
            return biased_matmul(call, a, b, bias.first());
        }
        (ShapeRule::Blocks, [first, others @ ..]) => {
            for other in others {
                of_blocks(first, other)?;
            }
            first.shape.to_vec()
        }
        (ShapeRule::Linear, [x, weight, bias @ ..]) => {
            return linear(call, x, weight, bias.first());
        }
        (ShapeRule::Conv1d, [x, weight, bias @ ..]) => {
            return conv1d(call, x, weight, bias.first());
        }
        (ShapeRule::Conv2d, [x, weight, bias @ ..]) => {
            return conv2d(call, x, weight, bias.first());
        }
        (ShapeRule::Pool2d, [input]) => pool2d(call, input)?,
        (ShapeRule::Reshape, [input]) => reshape(call, input)?,
        (ShapeRule::Stated, _) => stated(call)?,
        (ShapeRule::Transpose, [input]) => transpose(call, input)?,
        (ShapeRule::Split, [input]) => split(call, input)?,
        (ShapeRule::Concat, [first, others @ ..]) => concat(call, first, others)?,
        (ShapeRule::Slice, [input]) => slice(call, input)?,
        (ShapeRule::Expand, [input]) => expand(call, input)?,
        (ShapeRule::Repeat, [input]) => repeat(call, input)?,
        (ShapeRule::Interleave, [input]) => interleave(call, input)?,
        (ShapeRule::Embedding, [index, table]) => embedding(index, table)?,
        (ShapeRule::Gather, [input, index]) => gather(call, input, index)?,
        (ShapeRule::Pad, [input]) => pad(call, input)?,
        (ShapeRule::Attention, [q, k, v, mask @ ..]) => attention(call, q, k, v, mask.first())?,
        (ShapeRule::AdaptivePool2d, [image]) => adaptive(call, image)?,
        (ShapeRule::Resample, [image]) => resample(call, image)?,
        (ShapeRule::Moved, [input]) => moved(call, input)?,
        (ShapeRule::OneHot, [index]) => one_hot(call, index)?,
        (ShapeRule::Index, [input, indices @ ..]) => advanced(input, indices)?,
        (ShapeRule::TopK, [input]) => top(call, input)?,
        (ShapeRule::Scatter, [input, index, source]) => scatter(call, input, index, source)?,
        (ShapeRule::IndexAlong, [input, index, source]) => along(call, input, index, source)?,
        (ShapeRule::IndexPut, [input, indices @ .., source]) => put(input, indices, source)?,
        (ShapeRule::SliceScatter, [input, source]) => slice_scatter(call, input, source)?,
        // Unreachable: the number of inputs has been checked against the table.
        _ => return Err(missing(call, "the inputs do not fit the function")),
    };
    Ok(shape.into())
}

/// Shape of the output, and K if the function has one, for inputs of these types; `None` if they do
/// not fit. The attributes must not name params.
pub fn infer_call(
    rule: ShapeRule,
    inputs: &[(&[u64], DType)],
    attributes: &[Attribute],
    annotated: &[u64],
) -> Option<(Vec<u64>, Option<u64>)> {
    let nameless = Name::default();
    let operands: Vec<Operand<'_>> = inputs
        .iter()
        .map(|&(shape, dtype)| Operand {
            name: &nameless,
            shape,
            dtype,
        })
        .collect();
    let no_params = Program::default();
    let call = Call {
        operands: &operands,
        attributes: Attributes {
            list: attributes,
            params: &Params::new(&no_params),
        },
        callee: &nameless,
        statement: None,
        annotated: Some((annotated, Span::default())),
    };
    let inferred = infer(rule, &call).ok()?;
    Some((inferred.shape, inferred.k))
}

/// The error of an axis that the first input lacks. An input that is not declared has the
/// dimensions of the output, and those that a reduction drops.
pub(super) fn check_axes(
    rule: ShapeRule,
    call: &Call<'_>,
    first: &Operand<'_>,
    output: &Operand<'_>,
) -> Result<(), Diagnostic> {
    match rule {
        ShapeRule::Transpose => transpose(call, output).map(drop),
        ShapeRule::Moved => moved(call, first).map(drop),
        ShapeRule::Reduce if !call.attributes.flag(AttributeName::Keepdim) => {
            let dropped = call.attributes.sizes_or_default(AttributeName::Axis)?;
            let shape = [output.shape, &vec![1; dropped.len()]].concat();
            let shape = &shape;
            reduce(call, &Operand { shape, ..*first }).map(drop)
        }
        ShapeRule::Reduce => reduce(call, first).map(drop),
        _ => axis(call, first).map(drop),
    }
}

fn stated(call: &Call<'_>) -> Result<Vec<u64>, Diagnostic> {
    if let Some((shape, _)) = call.annotated {
        return Ok(shape.to_vec());
    }
    let problem = missing(call, "this op needs its shape")
        .hint("write it after a colon, such as `: f16[1024]`");
    Err(match call.statement {
        Some(statement) => problem.fix(
            "Write `: f16[1024]`",
            with_annotation(statement, "f16[1024]"),
        ),
        None => problem,
    })
}

fn reduce(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axes = match call.attributes.sizes(AttributeName::Axis)? {
        // A scalar has no axis that could be the default.
        None if input.shape.is_empty() => Vec::new(),
        stated => stated
            .unwrap_or_else(|| vec![AttributeName::Axis.default_size()])
            .into_iter()
            .map(|value| dimension(call, AttributeName::Axis, value, input))
            .collect::<Result<Vec<usize>, _>>()?,
    };
    let keep = call.attributes.flag(AttributeName::Keepdim);
    Ok(input
        .shape
        .iter()
        .enumerate()
        .filter_map(
            |(dimension, &size)| match (axes.contains(&dimension), keep) {
                (false, _) => Some(size),
                (true, keep) => keep.then_some(1),
            },
        )
        .collect())
}
