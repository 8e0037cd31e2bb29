//! Shape rules of ops that only move elements.

use super::call::{Call, Operand, dimension, mismatch, missing, required_axis, text, too_large};
use crate::model::diagnostic::{Code, Diagnostic};
use crate::model::functions::{AttributeName, Function};
use crate::model::op::{element_count, shape_text};
use crate::notation::spelling::shortened;

pub(super) fn reshape(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let elements = element_count(input.shape);
    let span = call.attributes.span(AttributeName::Shape, call.callee.span);
    let (shape, span) = match (call.attributes.sizes(AttributeName::Shape)?, call.annotated) {
        (Some(values), _) => (filled(call, &values, elements)?, span),
        (None, Some((shape, span))) => (shape.to_vec(), span),
        (None, None) if call.callee.text == Function::Contiguous.name() => {
            return Ok(input.shape.to_vec());
        }
        (None, None) => {
            return Err(missing(call, "a reshape needs its new shape").hint(format!(
                "write it after a colon, such as `: {}[...]`, or as `shape=[...]`",
                input.dtype.name()
            )));
        }
    };
    if element_count(&shape) == elements {
        return Ok(shape);
    }
    let count = |elements: Option<u64>| elements.map_or("too many".to_owned(), |n| n.to_string());
    Err(Diagnostic::error(
        Code::ShapeMismatch,
        format!(
            "{} holds {} elements, but {} holds {}",
            text(input),
            count(elements),
            shape_text(&shape),
            count(element_count(&shape))
        ),
    )
    .at(span)
    .hint("a reshape keeps the number of elements"))
}

/// A written shape in which the size that keeps the number of elements replaces a `-1`.
fn filled(call: &Call<'_>, values: &[i64], elements: Option<u64>) -> Result<Vec<u64>, Diagnostic> {
    let problem = |value: i64| {
        Diagnostic::error(
            Code::NonPositiveSize,
            format!("a size of {value} in `shape`"),
        )
        .at(call.attributes.span(AttributeName::Shape, call.callee.span))
        .hint("every size is at least 1; one may be -1 and follows from the others")
    };
    let mut known: u64 = 1;
    for &value in values.iter().filter(|&&value| value != -1) {
        let size = u64::try_from(value)
            .ok()
            .filter(|&s| s > 0)
            .ok_or_else(|| problem(value))?;
        known = known.checked_mul(size).ok_or_else(|| too_large(call))?;
    }
    let is_open = |&&value: &&i64| value == -1;
    let left = match values.iter().filter(is_open).count() {
        0 => 1,
        1 => elements
            .filter(|n| n.is_multiple_of(known))
            .map(|n| n / known)
            .ok_or_else(|| {
                Diagnostic::error(
                    Code::InexactDivision,
                    format!(
                        "the -1 in `shape` is {} / {known}, which leaves a remainder",
                        elements.unwrap_or(0)
                    ),
                )
                .at(call.attributes.span(AttributeName::Shape, call.callee.span))
                .hint("a reshape keeps the number of elements")
            })?,
        _ => return Err(problem(-1)),
    };
    Ok(values
        .iter()
        .map(|&value| u64::try_from(value).unwrap_or(left))
        .collect())
}

pub(super) fn transpose(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let Some(perm) = call.attributes.sizes(AttributeName::Perm)? else {
        let mut shape = input.shape.to_vec();
        let rank = shape.len();
        if rank < 2 {
            return Err(mismatch(
                input,
                format!("{} has no two dimensions to swap", text(input)),
            )
            .hint("a transpose needs at least two dimensions"));
        }
        shape.swap(rank - 1, rank - 2);
        return Ok(shape);
    };
    let mut order = Vec::with_capacity(perm.len());
    for &value in &perm {
        order.push(dimension(call, AttributeName::Perm, value, input)?);
    }
    let mut seen = order.clone();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..input.shape.len()) {
        return Err(call
            .attributes
            .problem(
                AttributeName::Perm,
                &format!("must name each dimension of {} once", text(input)),
            )
            .hint(format!(
                "write the numbers from 0 to {} in some order",
                input.shape.len().saturating_sub(1)
            )));
    }
    Ok(order.iter().map(|&old| size_at(input.shape, old)).collect())
}

pub(super) fn split(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, input)?;
    let Some(parts) = call.attributes.size(AttributeName::Parts)? else {
        return Err(call.stating(
            missing(call, "`split` needs the number of pieces").hint(format!(
                "write `split({}, parts=2, index=0)`",
                shortened(&input.name.text)
            )),
            "parts=2",
        ));
    };
    let size = size_at(input.shape, axis);
    let Some(parts) = u64::try_from(parts).ok().filter(|&p| p > 0) else {
        return Err(call
            .attributes
            .problem(AttributeName::Parts, &format!("is {parts}"))
            .hint("use at least 1"))
        .map_err(|problem| call.correcting(problem, AttributeName::Parts, "1"));
    };
    let index = call.attributes.size_or_default(AttributeName::Index)?;
    if !u64::try_from(index).is_ok_and(|i| i < parts) {
        return Err(call
            .attributes
            .problem(
                AttributeName::Index,
                &format!("is {index}, but there are {parts} pieces"),
            )
            .hint(format!("use a number from 0 to {}", parts - 1)));
    }
    if !size.is_multiple_of(parts) {
        return Err(Diagnostic::error(
            Code::InexactDivision,
            format!(
                "{} does not split into {parts} equal pieces: {size} / {parts} leaves a remainder of {}",
                text(input),
                size % parts
            ),
        )
        .at(call.attributes.span(AttributeName::Parts, call.callee.span))
        .hint("choose sizes of which one divides the other"));
    }
    Ok(with_size(input.shape, axis, size / parts))
}

pub(super) fn concat(
    call: &Call<'_>,
    first: &Operand<'_>,
    others: &[Operand<'_>],
) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, first)?;
    let mut total = size_at(first.shape, axis);
    for other in others {
        let fits = other.shape.len() == first.shape.len()
            && other
                .shape
                .iter()
                .zip(first.shape)
                .enumerate()
                .all(|(dimension, (own, size))| dimension == axis || own == size);
        if !fits {
            return Err(mismatch(
                other,
                format!(
                    "{} and {} do not line up along axis {axis}",
                    text(other),
                    text(first)
                ),
            )
            .hint("all other sizes must be equal"));
        }
        total = total
            .checked_add(size_at(other.shape, axis))
            .ok_or_else(|| too_large(call))?;
    }
    Ok(with_size(first.shape, axis, total))
}

pub(super) fn slice(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, input)?;
    let size = size_at(input.shape, axis);
    let place = |name: AttributeName, default: u64| match call.attributes.size(name)? {
        None => Ok(default),
        Some(value) => {
            let place = if value < 0 {
                size.checked_sub(value.unsigned_abs())
            } else {
                Some(value.unsigned_abs()).filter(|&p| p <= size)
            };
            place.ok_or_else(|| {
                call.attributes
                    .problem(
                        name,
                        &format!(
                            "is {value}, but {} has {size} along axis {axis}",
                            text(input)
                        ),
                    )
                    .hint(format!("use a number from -{size} to {size}"))
            })
        }
    };
    let (start, end) = (
        place(AttributeName::Start, 0)?,
        place(AttributeName::End, size)?,
    );
    let step = call.attributes.size_or_default(AttributeName::Step)?;
    let Some(step) = u64::try_from(step).ok().filter(|&step| step > 0) else {
        return Err(call
            .attributes
            .problem(AttributeName::Step, &format!("is {step}"))
            .hint("use at least 1"))
        .map_err(|problem| call.correcting(problem, AttributeName::Step, "1"));
    };
    match end.checked_sub(start) {
        Some(length) if length > 0 => Ok(with_size(input.shape, axis, length.div_ceil(step))),
        _ => Err(Diagnostic::error(
            Code::NonPositiveSize,
            format!("the slice from {start} to {end} is empty"),
        )
        .at(call.attributes.span(
            AttributeName::End,
            call.attributes.span(AttributeName::Start, call.callee.span),
        ))
        .hint("`end` is one past the last element and must be larger than `start`")),
    }
}

/// `x` with a range along an axis replaced by the source.
pub(super) fn slice_scatter(
    call: &Call<'_>,
    input: &Operand<'_>,
    source: &Operand<'_>,
) -> Result<Vec<u64>, Diagnostic> {
    let part = slice(call, input)?;
    if source.shape != part {
        return Err(mismatch(
            source,
            format!(
                "{} has another shape than the range of {}, {}",
                text(source),
                text(input),
                shape_text(&part)
            ),
        )
        .hint("the source has the shape of `slice` with the same attributes"));
    }
    Ok(input.shape.to_vec())
}

pub(super) fn size_at(shape: &[u64], dimension: usize) -> u64 {
    shape.get(dimension).copied().unwrap_or(1)
}

pub(super) fn with_size(shape: &[u64], dimension: usize, size: u64) -> Vec<u64> {
    let mut shape = shape.to_vec();
    if let Some(own) = shape.get_mut(dimension) {
        *own = size;
    }
    shape
}
