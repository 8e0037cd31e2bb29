//! Shape rules of ops that read the elements which an index names.

use super::broadcast::{broadcast_all, broadcast_into};
use super::call::{Call, Operand, mismatch, missing, required_axis, text};
use super::layout::{size_at, with_size};
use crate::model::diagnostic::Diagnostic;
use crate::model::dtype::DType;
use crate::model::functions::AttributeName;

pub(super) fn embedding(index: &Operand<'_>, table: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    check_index(index)?;
    let &[_, width] = table.shape else {
        return Err(
            mismatch(table, format!("{} is not a table of rows", text(table)))
                .hint("the second input is the table: [rows, elements of a row]"),
        );
    };
    let mut shape = index.shape.to_vec();
    shape.push(width);
    Ok(shape)
}

pub(super) fn gather(
    call: &Call<'_>,
    input: &Operand<'_>,
    index: &Operand<'_>,
) -> Result<Vec<u64>, Diagnostic> {
    check_index(index)?;
    let axis = required_axis(call, input)?;
    let fits = index.shape.len() == input.shape.len()
        && (index.shape.iter().zip(input.shape).enumerate())
            .all(|(dimension, (own, size))| dimension == axis || own <= size);
    if fits {
        return Ok(index.shape.to_vec());
    }
    Err(mismatch(
        index,
        format!(
            "{} does not index {} along axis {axis}",
            text(index),
            text(input)
        ),
    )
    .hint("an index has the input's rank and is not larger in the other dimensions"))
}

/// `x[i, j, ..]` along the first dimensions.
pub(super) fn advanced(
    input: &Operand<'_>,
    indices: &[Operand<'_>],
) -> Result<Vec<u64>, Diagnostic> {
    for index in indices {
        check_index(index)?;
    }
    let Some(behind) = input.shape.get(indices.len()..) else {
        return Err(mismatch(
            input,
            format!(
                "{} has fewer dimensions than there are indices",
                text(input)
            ),
        )
        .hint("give at most one index per dimension"));
    };
    let mut shape = broadcast_all(indices)?;
    shape.extend(behind);
    Ok(shape)
}

pub(super) fn one_hot(call: &Call<'_>, index: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    check_index(index)?;
    let mut shape = index.shape.to_vec();
    shape.push(count_of(call, AttributeName::Classes, u64::MAX)?);
    Ok(shape)
}

pub(super) fn top(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, input)?;
    let count = count_of(call, AttributeName::Count, size_at(input.shape, axis))?;
    Ok(with_size(input.shape, axis, count))
}

/// The value of an attribute that must be stated, from 1 to `most`.
fn count_of(call: &Call<'_>, name: AttributeName, most: u64) -> Result<u64, Diagnostic> {
    let Some(stated) = call.attributes.size(name)? else {
        let problem = missing(call, &format!("`{}` needs `{name}`", call.callee.text))
            .hint(format!("write it as `{name}=2`"));
        return Err(call.stating(problem, &format!("{name}=2")));
    };
    let count = u64::try_from(stated).ok();
    count
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| {
            (call.attributes)
                .problem(name, &format!("is {stated}"))
                .hint(match most {
                    u64::MAX => "use at least 1".to_owned(),
                    most => format!("use a number from 1 to {most}"),
                })
        })
}

pub(super) fn scatter(
    call: &Call<'_>,
    input: &Operand<'_>,
    index: &Operand<'_>,
    source: &Operand<'_>,
) -> Result<Vec<u64>, Diagnostic> {
    gather(call, input, index)?;
    if source.shape != index.shape {
        return Err(mismatch(
            source,
            format!("{} has another shape than {}", text(source), text(index)),
        )
        .hint("the source and the index have the same shape"));
    }
    Ok(input.shape.to_vec())
}

pub(super) fn along(
    call: &Call<'_>,
    input: &Operand<'_>,
    index: &Operand<'_>,
    source: &Operand<'_>,
) -> Result<Vec<u64>, Diagnostic> {
    check_index(index)?;
    let axis = required_axis(call, input)?;
    let &[count] = index.shape else {
        return Err(
            mismatch(index, format!("{} is not a list of indices", text(index)))
                .hint("the index has one dimension"),
        );
    };
    if source.shape != with_size(input.shape, axis, count) {
        return Err(mismatch(
            source,
            format!(
                "{} needs a slice of {} along axis {axis} for each element of {}",
                text(source),
                text(input),
                text(index)
            ),
        )
        .hint("the source is as large as the input in all other dimensions"));
    }
    Ok(input.shape.to_vec())
}

/// `x` with `x[i, j, ..]` replaced by the last operand, which is broadcast to it.
pub(super) fn put(
    input: &Operand<'_>,
    indices: &[Operand<'_>],
    source: &Operand<'_>,
) -> Result<Vec<u64>, Diagnostic> {
    let part = advanced(input, indices)?;
    let part = Operand {
        shape: &part,
        ..*input
    };
    broadcast_into(&part, source)?;
    Ok(input.shape.to_vec())
}

fn check_index(index: &Operand<'_>) -> Result<(), Diagnostic> {
    if matches!(index.dtype, DType::I64 | DType::I32) {
        return Ok(());
    }
    Err(mismatch(index, format!("{} is not an index", text(index)))
        .hint("an index has type i64 or i32"))
}
