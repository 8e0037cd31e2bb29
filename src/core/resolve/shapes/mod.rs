//! Shape rules: from the shapes of a call's inputs to the shape of its output.

mod broadcast;
mod layout;
mod matmul;
mod window;

use super::attributes::Attributes;
use super::expr::Params;
use crate::core::model::diagnostic::{Code, Diagnostic, Span};
use crate::core::model::dtype::DType;
use crate::core::model::functions::ShapeRule;
use crate::core::model::op::shape_text;
use crate::core::model::program::Program;
use crate::core::model::program::{Attribute, Name};
use crate::core::notation::spelling::quoted;
use broadcast::{broadcast_all, broadcast_into, per_channel};
use layout::{concat, reshape, slice, split, transpose};
use matmul::{linear, matmul};
use window::{conv2d, pool2d};

/// An input whose type is known.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    /// Its name and its place in the call.
    pub(super) name: &'a Name,
    /// Its shape.
    pub(super) shape: &'a [u64],
    /// Its element type.
    pub(super) dtype: DType,
}

/// What a shape rule gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inferred {
    /// Shape of the output.
    pub(super) shape: Vec<u64>,
    /// Contraction length of a matmul, a linear layer or a convolution.
    pub(super) k: Option<u64>,
}

impl From<Vec<u64>> for Inferred {
    fn from(shape: Vec<u64>) -> Self {
        Self { shape, k: None }
    }
}

/// A call whose inputs are all known and whose number of inputs and attributes fit its function.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// Inputs, in order.
    pub(super) operands: &'a [Operand<'a>],
    /// Attributes.
    pub(super) attributes: Attributes<'a>,
    /// Name of the function, for messages.
    pub(super) callee: &'a Name,
    /// The annotated shape and its place, for the rules that take it as their result.
    pub(super) annotated: Option<(&'a [u64], Span)>,
}

/// Shape of the output, and K where there is one. `O(rank * inputs)`.
pub(super) fn infer(rule: ShapeRule, call: &Call<'_>) -> Result<Inferred, Diagnostic> {
    let shape = match (rule, call.operands) {
        (ShapeRule::Broadcast, operands) => broadcast_all(operands)?,
        (ShapeRule::SameAsFirst, [first, others @ ..]) => {
            axis(call, first)?;
            for other in others {
                broadcast_into(first, other)?;
            }
            first.shape.to_vec()
        }
        (ShapeRule::PerChannel, [first, others @ ..]) => per_channel(first, others)?,
        (ShapeRule::Reduce, [input]) => reduce(call, input)?,
        (ShapeRule::Matmul, [a, b]) => return matmul(call, a, b),
        (ShapeRule::Linear, [x, weight, bias @ ..]) => return linear(x, weight, bias.first()),
        (ShapeRule::Conv2d, [x, weight, bias @ ..]) => {
            return conv2d(call, x, weight, bias.first());
        }
        (ShapeRule::Pool2d, [input]) => pool2d(call, input)?,
        (ShapeRule::Reshape, [input]) => reshape(call, input)?,
        (ShapeRule::Stated, _) => match call.annotated {
            Some((shape, _)) => shape.to_vec(),
            None => {
                return Err(missing(call, "only an annotation says this shape")
                    .hint("write it behind a colon, such as `: f16[1024]`"));
            }
        },
        (ShapeRule::Transpose, [input]) => transpose(call, input)?,
        (ShapeRule::Split, [input]) => split(call, input)?,
        (ShapeRule::Concat, [first, others @ ..]) => concat(call, first, others)?,
        (ShapeRule::Slice, [input]) => slice(call, input)?,
        // The number of inputs is checked against the table before.
        _ => return Err(missing(call, "the inputs do not fit the function")),
    };
    Ok(shape.into())
}

/// Shape of the output, and K where there is one, of a call on inputs of these types whose attributes name
/// no params; `None` when they do not fit.
pub(crate) fn infer_call(
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
        annotated: Some((annotated, Span::default())),
    };
    let inferred = infer(rule, &call).ok()?;
    Some((inferred.shape, inferred.k))
}

/// `a` f16[2, 3]: a tensor in a message.
pub(super) fn tensor_text(name: &str, dtype: DType, shape: &[u64]) -> String {
    format!("{} {}{}", quoted(name), dtype.name(), shape_text(shape))
}

fn text(operand: &Operand<'_>) -> String {
    tensor_text(&operand.name.text, operand.dtype, operand.shape)
}

fn mismatch(at: &Operand<'_>, message: String) -> Diagnostic {
    Diagnostic::error(Code::ShapeMismatch, message).at(at.name.span)
}

fn missing(call: &Call<'_>, message: &str) -> Diagnostic {
    Diagnostic::error(Code::MissingShape, message).at(call.callee.span)
}

fn too_large(call: &Call<'_>) -> Diagnostic {
    Diagnostic::error(
        Code::Overflow,
        format!("a size in `{}` passes 2^63", call.callee.text),
    )
    .at(call.callee.span)
    .hint("use smaller sizes")
}

/// The dimension that `axis` names, the last one by default; `None` of a scalar.
fn axis(call: &Call<'_>, input: &Operand<'_>) -> Result<Option<usize>, Diagnostic> {
    match call.attributes.sizes("axis")?.as_deref() {
        None => Ok(input.shape.len().checked_sub(1)),
        Some(&[axis]) => dimension(call, "axis", axis, input).map(Some),
        Some(_) => Err(call
            .attributes
            .problem("axis", "must be one dimension here")
            .hint("write one number, such as `axis=-1`")),
    }
}

/// The last dimension by default; the input must have one.
fn required_axis(call: &Call<'_>, input: &Operand<'_>) -> Result<usize, Diagnostic> {
    axis(call, input)?.ok_or_else(|| {
        mismatch(
            input,
            format!("{} is a scalar and has no dimension", text(input)),
        )
        .hint("give it at least one dimension")
    })
}

/// A dimension counted from the end when negative.
fn dimension(
    call: &Call<'_>,
    name: &str,
    value: i64,
    input: &Operand<'_>,
) -> Result<usize, Diagnostic> {
    let rank = input.shape.len();
    let dimension = if value < 0 {
        usize::try_from(value.unsigned_abs())
            .ok()
            .and_then(|back| rank.checked_sub(back))
    } else {
        usize::try_from(value).ok().filter(|&d| d < rank)
    };
    dimension.ok_or_else(|| {
        let dimensions = if rank == 1 {
            "1 dimension".to_owned()
        } else {
            format!("{rank} dimensions")
        };
        let problem = call.attributes.problem(
            name,
            &format!("is {value}, but {} has {dimensions}", text(input)),
        );
        if rank == 0 {
            problem.hint("a scalar has no dimension to name")
        } else {
            problem.hint(format!("use a number from -{rank} to {}", rank - 1))
        }
    })
}

fn reduce(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axes = match call.attributes.sizes("axis")? {
        None => input.shape.len().checked_sub(1).into_iter().collect(),
        Some(values) => values
            .into_iter()
            .map(|value| dimension(call, "axis", value, input))
            .collect::<Result<Vec<usize>, _>>()?,
    };
    let keep = call.attributes.flag("keepdim", true);
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
