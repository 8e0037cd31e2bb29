//! The element types of a call: which ones its inputs may have, and that of its result.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::fix::{Fix, TextEdit};
use crate::model::functions::{AttributeName, Function};
use crate::model::program::OpStatement;
use crate::notation::fix_edits::with_attribute;
use crate::notation::spelling::quoted;
use crate::notation::written_name;
use crate::resolve::attributes::Attributes;
use crate::resolve::shapes::{Operand, tensor_text};
use strum::VariantArray;

/// # Errors
/// An input of integers or truth values where PyTorch takes floats alone.
pub(super) fn check_floats(
    statement: &OpStatement,
    function: Function,
    place: usize,
    operand: &Operand<'_>,
) -> Result<(), Diagnostic> {
    if operand.dtype.is_float() || !function.takes_floats(place) {
        return Ok(());
    }
    let name = &operand.name.text;
    let cast = format!("cast({}, dtype=f32)", written_name(name));
    let floats = written_name(&format!("{name}_f32"));
    let line = format!("{floats} = {cast}\n");
    let tensor = tensor_text(name, operand.dtype, operand.shape);
    let problem = Diagnostic::error(
        Code::ShapeMismatch,
        format!("`{function}` takes floats, which {tensor} does not hold"),
    );
    let label = format!("Write `{cast}`");
    let edits = vec![
        TextEdit::insert(statement.span.start, line),
        TextEdit::replace(operand.name.span, floats),
    ];
    Err(problem
        .at(operand.name.span)
        .hint(format!("convert it first: `{cast}`"))
        .with(Fix { label, edits }))
}

/// The element type of the result; `None` if neither inputs nor annotation give one.
pub(super) fn result_dtype(
    statement: &OpStatement,
    function: Function,
    inferred: Option<DType>,
    attributes: Attributes<'_>,
) -> Result<Option<DType>, Diagnostic> {
    let is_cast = function.converts();
    let target = attributes.dtype(AttributeName::Dtype);
    let expected = if is_cast { target } else { inferred };
    if function == Function::Bitcast {
        check_size(
            inferred,
            target,
            attributes.span(AttributeName::Dtype, statement.callee.span),
        )?;
    }
    let Some(annotation) = &statement.annotation else {
        if is_cast && target.is_none() {
            return Err(Diagnostic::error(
                Code::MissingShape,
                format!("a {function} needs the element type to cast to"),
            )
            .at(statement.callee.span)
            .hint("write it as an attribute: `dtype=f32`")
            .fix("Write `dtype=f32`", with_attribute(statement, "dtype=f32")));
        }
        return Ok(expected);
    };
    match expected {
        Some(expected) if expected != annotation.dtype && !function.is_freely_typed() => {
            Err(Diagnostic::error(
                Code::AnnotationMismatch,
                format!(
                    "{} is annotated as {}, but `{}` gives {}",
                    quoted(&statement.output.text),
                    annotation.dtype.name(),
                    function.name(),
                    expected.name()
                ),
            )
            .at(annotation.dtype_span)
            .hint(if is_cast {
                format!(
                    "write {}, or change the attribute to match",
                    expected.name()
                )
            } else {
                let expected = expected.name();
                format!("write {expected}, or add a `cast` where the element type changes")
            })
            .fix(
                format!("Write `{}`", expected.name()),
                TextEdit::replace(annotation.dtype_span, expected.name()),
            ))
        }
        _ => Ok(Some(annotation.dtype)),
    }
}

/// # Errors
/// Bits read as those of a type of another size.
fn check_size(from: Option<DType>, to: Option<DType>, span: Span) -> Result<(), Diagnostic> {
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(());
    };
    if from.size() == to.size() {
        return Ok(());
    }
    let same: Vec<&str> = (DType::VARIANTS.iter())
        .filter(|dtype| dtype.size() == from.size() && **dtype != from)
        .map(|dtype| dtype.name())
        .collect();
    Err(Diagnostic::error(
        Code::ShapeMismatch,
        format!(
            "a bitcast keeps the size of an element, but {} and {} have different sizes",
            from.name(),
            to.name()
        ),
    )
    .at(span)
    .hint(format!(
        "write a type of the size of {}: {}; or convert the numbers with `cast`",
        from.name(),
        same.join(", ")
    )))
}
