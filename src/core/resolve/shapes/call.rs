//! A call as the input of the shape rules, with the errors and look-ups that they share.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::functions::AttributeName;
use crate::model::op::shape_text;
use crate::model::program::{Name, OpStatement};
use crate::notation::fix_edits::with_attribute;
use crate::notation::spelling::quoted;
use crate::resolve::attributes::Attributes;

/// An input whose type is known.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    /// Its name, with its span in the call.
    pub(crate) name: &'a Name,
    pub(crate) shape: &'a [u64],
    /// Its element type.
    pub(crate) dtype: DType,
}

/// Result of a shape rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InferredShape {
    /// Shape of the output.
    pub(crate) shape: Vec<u64>,
    /// Contraction length of a matmul, a linear layer or a convolution.
    pub(crate) k: Option<u64>,
}

impl From<Vec<u64>> for InferredShape {
    fn from(shape: Vec<u64>) -> Self {
        Self { shape, k: None }
    }
}

/// A call whose inputs have known types, and whose number of inputs and attributes are valid.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Inputs, in order.
    pub(crate) operands: &'a [Operand<'a>],
    pub(crate) attributes: Attributes<'a>,
    /// Name of the function, for messages.
    pub(crate) callee: &'a Name,
    /// The statement, for fixes; `None` where no diagnostic is displayed.
    pub(crate) statement: Option<&'a OpStatement>,
    /// The annotated shape and its span, for the rules that take it as their result.
    pub(crate) annotated: Option<(&'a [u64], Span)>,
}

/// A tensor in a message: `a` f16[2, 3].
pub(crate) fn tensor_text(name: &str, dtype: DType, shape: &[u64]) -> String {
    format!("{} {}{}", quoted(name), dtype.name(), shape_text(shape))
}

pub(super) fn text(operand: &Operand<'_>) -> String {
    tensor_text(&operand.name.text, operand.dtype, operand.shape)
}

impl Call<'_> {
    /// A diagnostic of this call with the fix that states an attribute: `transpose_b=true`.
    pub(super) fn stating(&self, problem: Diagnostic, attribute: &str) -> Diagnostic {
        match self.statement {
            Some(statement) => problem.fix(
                format!("Write `{attribute}`"),
                with_attribute(statement, attribute),
            ),
            None => problem,
        }
    }

    /// The problem with the fix that gives an attribute another value.
    pub(super) fn correcting(
        &self,
        problem: Diagnostic,
        name: AttributeName,
        value: &str,
    ) -> Diagnostic {
        let attributes = self.statement.into_iter().flat_map(|op| &op.attributes);
        let mut named = attributes.filter(|attribute| attribute.is(name));
        let stated = format!("{name}={value}");
        match named.next() {
            Some(attribute) => problem.fix(
                format!("Write `{stated}`"),
                TextEdit::replace(attribute.span, stated),
            ),
            None => problem,
        }
    }
}

pub(super) fn mismatch(at: &Operand<'_>, message: String) -> Diagnostic {
    Diagnostic::error(Code::ShapeMismatch, message).at(at.name.span)
}

pub(super) fn missing(call: &Call<'_>, message: &str) -> Diagnostic {
    Diagnostic::error(Code::MissingShape, message).at(call.callee.span)
}

pub(super) fn too_large(call: &Call<'_>) -> Diagnostic {
    Diagnostic::error(
        Code::Overflow,
        format!("a size in `{}` exceeds 2^63", call.callee.text),
    )
    .at(call.callee.span)
    .hint("use smaller sizes")
}

/// The dimension that `axis` names, by default the last; `None` for a scalar.
pub(super) fn axis(call: &Call<'_>, input: &Operand<'_>) -> Result<Option<usize>, Diagnostic> {
    match call.attributes.sizes(AttributeName::Axis)?.as_deref() {
        None => Ok(input.shape.len().checked_sub(1)),
        Some(&[axis]) => dimension(call, AttributeName::Axis, axis, input).map(Some),
        Some(_) => Err(call
            .attributes
            .problem(AttributeName::Axis, "must be one dimension here")
            .hint("write one number, such as `axis=-1`"))
        .map_err(|problem| call.correcting(problem, AttributeName::Axis, "-1")),
    }
}

/// As [`axis`], but a scalar is an error.
pub(super) fn required_axis(call: &Call<'_>, input: &Operand<'_>) -> Result<usize, Diagnostic> {
    axis(call, input)?.ok_or_else(|| {
        mismatch(
            input,
            format!("{} is a scalar and has no dimension", text(input)),
        )
        .hint("give it at least one dimension")
    })
}

/// The dimension that a number means for a tensor of this rank; negative numbers count from the
/// end.
pub fn dimension_of(value: i64, rank: usize) -> Option<usize> {
    if value < 0 {
        let back = usize::try_from(value.unsigned_abs()).ok()?;
        rank.checked_sub(back)
    } else {
        usize::try_from(value).ok().filter(|&d| d < rank)
    }
}

/// The dimension of an input that an attribute names, or the error of the call.
pub(super) fn dimension(
    call: &Call<'_>,
    name: AttributeName,
    value: i64,
    input: &Operand<'_>,
) -> Result<usize, Diagnostic> {
    let rank = input.shape.len();
    dimension_of(value, rank).ok_or_else(|| {
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
            let problem = problem.hint(format!("use a number from -{rank} to {}", rank - 1));
            match name {
                AttributeName::Axis => call.correcting(problem, name, "-1"),
                _ => problem,
            }
        }
    })
}
