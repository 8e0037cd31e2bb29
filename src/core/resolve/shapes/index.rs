//! Shape rules of ops that read what an index names.

use super::call::{Call, Operand, mismatch, required_axis, text};
use crate::core::model::diagnostic::Diagnostic;
use crate::core::model::dtype::DType;

pub(super) fn embedding(index: &Operand<'_>, table: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    check_index(index)?;
    let &[_, width] = table.shape else {
        return Err(
            mismatch(table, format!("{} is no table of rows", text(table)))
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

fn check_index(index: &Operand<'_>) -> Result<(), Diagnostic> {
    if matches!(index.dtype, DType::I64 | DType::I32) {
        return Ok(());
    }
    Err(mismatch(index, format!("{} is no index", text(index)))
        .hint("an index has type i64 or i32"))
}
