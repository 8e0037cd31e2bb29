//! Matrix products: `matmul` and `linear`.

use super::broadcast::broadcast;
use super::call::{Call, InferredShape, Operand, mismatch, text};
use crate::model::diagnostic::Diagnostic;
use crate::model::fix::TextEdit;
use crate::model::functions::AttributeName;

pub(super) fn matmul(
    call: &Call<'_>,
    a: &Operand<'_>,
    b: &Operand<'_>,
) -> Result<InferredShape, Diagnostic> {
    let (a_batch, rows, a_k) = matrix(a, call.attributes.flag(AttributeName::TransposeA))?;
    let (b_batch, b_k, columns) = matrix(b, call.attributes.flag(AttributeName::TransposeB))?;
    if a_k != b_k {
        let problem = mismatch(
            b,
            format!(
                "{} and {} do not multiply: K is {a_k} on the left and {b_k} on the right",
                text(a),
                text(b)
            ),
        );
        return Err(if a_k == columns {
            let problem =
                problem.hint("write `transpose_b=true` when the second operand is [N, K]");
            let is_stated = call.attributes.has(AttributeName::TransposeB);
            if is_stated {
                call.correcting(problem, AttributeName::TransposeB, "true")
            } else {
                call.stating(problem, "transpose_b=true")
            }
        } else {
            problem.hint(
                "the last size of the first operand must equal the next-to-last size of the second",
            )
        });
    }
    let mut shape = broadcast(a_batch, b_batch).ok_or_else(|| {
        mismatch(
            b,
            format!(
                "the batch dimensions of {} and {} do not broadcast",
                text(a),
                text(b)
            ),
        )
        .hint("each pair of batch sizes must be equal, or one of them 1")
    })?;
    shape.extend([rows, columns]);
    Ok(InferredShape {
        shape,
        k: Some(a_k),
    })
}

/// A matmul with one value of the bias for each column.
pub(super) fn biased_matmul(
    call: &Call<'_>,
    a: &Operand<'_>,
    b: &Operand<'_>,
    bias: Option<&Operand<'_>>,
) -> Result<InferredShape, Diagnostic> {
    let product = matmul(call, a, b)?;
    let columns = product.shape.last().copied().unwrap_or_default();
    check_bias(bias, columns)?;
    Ok(product)
}

/// Batch dimensions and the last two sizes, which are swapped if the operand is transposed.
fn matrix<'a>(
    operand: &Operand<'a>,
    transposed: bool,
) -> Result<(&'a [u64], u64, u64), Diagnostic> {
    match *operand.shape {
        [ref batch @ .., p, q] => Ok(if transposed {
            (batch, q, p)
        } else {
            (batch, p, q)
        }),
        _ => Err(
            mismatch(operand, format!("{} is not a matrix", text(operand)))
                .hint("an operand of a matmul has at least two dimensions"),
        ),
    }
}

pub(super) fn linear(
    call: &Call<'_>,
    x: &Operand<'_>,
    weight: &Operand<'_>,
    bias: Option<&Operand<'_>>,
) -> Result<InferredShape, Diagnostic> {
    let Some((&k, rows)) = x.shape.split_last() else {
        return Err(mismatch(x, format!("{} is a scalar", text(x)))
            .hint("the input of a linear layer has at least one dimension"));
    };
    let &[features, weight_k] = weight.shape else {
        return Err(
            mismatch(weight, format!("{} is not a matrix", text(weight)))
                .hint("the weight of a linear layer is [out features, in features]"),
        );
    };
    if k != weight_k {
        let problem = mismatch(
            weight,
            format!(
                "{} has {k} features, but {} takes {weight_k}",
                text(x),
                text(weight)
            ),
        );
        return Err(if k == features {
            let problem = problem.hint(
                "the weight of `linear` is [out, in]; use `matmul` for one that is [in, out]",
            );
            match bias {
                Some(_) => problem,
                None => problem.fix(
                    "Write `matmul`",
                    TextEdit::replace(call.callee.span, "matmul"),
                ),
            }
        } else {
            problem.hint("the weight of a linear layer is [out features, in features]")
        });
    }
    check_bias(bias, features)?;
    let mut shape = rows.to_vec();
    shape.push(features);
    Ok(InferredShape { shape, k: Some(k) })
}

pub(super) fn check_bias(bias: Option<&Operand<'_>>, features: u64) -> Result<(), Diagnostic> {
    match bias {
        Some(bias) if bias.shape != [features] => Err(mismatch(
            bias,
            format!("the bias {} must be [{features}]", text(bias)),
        )
        .hint("a bias holds one value for each output feature")),
        _ => Ok(()),
    }
}
