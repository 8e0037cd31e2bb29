//! Shape rules of ops that make a tensor larger: `expand`, `repeat`, `repeat_interleave`, `pad`.

use super::call::{Call, Operand, mismatch, missing, required_axis, text, too_large};
use super::layout::{size_at, with_size};
use crate::model::diagnostic::Diagnostic;
use crate::model::functions::AttributeName;
use crate::model::op::shape_text;

pub(super) fn expand(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let Some(stated) = call.attributes.sizes(AttributeName::Shape)? else {
        return match call.annotated {
            Some((shape, _)) => expanded(input, shape),
            None => Err(missing(call, "an expand needs its new shape")
                .hint("write it as `shape=[4, -1]`; -1 keeps a size")),
        };
    };
    let outer = stated.len().saturating_sub(input.shape.len());
    let mut shape = Vec::with_capacity(stated.len());
    for (place, &size) in stated.iter().enumerate() {
        let own = place
            .checked_sub(outer)
            .and_then(|own| input.shape.get(own));
        let size = match (size, own) {
            (-1, Some(&own)) => Some(own),
            (size, _) => u64::try_from(size).ok().filter(|&size| size > 0),
        };
        shape.push(size.ok_or_else(|| {
            call.attributes
                .problem(AttributeName::Shape, "holds a size below 1")
                .hint("every size is at least 1; -1 keeps a size that the input has")
        })?);
    }
    expanded(input, &shape)
}

fn expanded(input: &Operand<'_>, shape: &[u64]) -> Result<Vec<u64>, Diagnostic> {
    let pairs = input.shape.iter().rev().zip(shape.iter().rev());
    let fits =
        input.shape.len() <= shape.len() && { pairs }.all(|(&own, &size)| own == size || own == 1);
    if fits {
        return Ok(shape.to_vec());
    }
    Err(mismatch(
        input,
        format!("{} does not expand to {}", text(input), shape_text(shape)),
    )
    .hint("only dimensions of size 1 can expand, and new dimensions come first"))
}

pub(super) fn repeat(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let times = times(call)?;
    let Some(outer) = times.len().checked_sub(input.shape.len()) else {
        return Err(call
            .attributes
            .problem(
                AttributeName::Times,
                &format!("has fewer numbers than {} has dimensions", text(input)),
            )
            .hint("give one number per dimension; 1 keeps a dimension"));
    };
    (times.iter().enumerate())
        .map(|(place, &times)| {
            let own = place
                .checked_sub(outer)
                .and_then(|own| input.shape.get(own));
            longer(call, own.copied().unwrap_or(1), times)
        })
        .collect()
}

pub(super) fn interleave(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let times = times(call)?;
    let axis = required_axis(call, input)?;
    let &[times] = &times[..] else {
        return Err(call
            .attributes
            .problem(AttributeName::Times, "must be one number here")
            .hint("write `times=2`"))
        .map_err(|problem| call.correcting(problem, AttributeName::Times, "2"));
    };
    let size = longer(call, size_at(input.shape, axis), times)?;
    Ok(with_size(input.shape, axis, size))
}

/// How often elements are repeated.
fn times(call: &Call<'_>) -> Result<Vec<i64>, Diagnostic> {
    call.attributes.sizes(AttributeName::Times)?.ok_or_else(|| {
        let problem = missing(call, "the number of repetitions is missing").hint(
            "write it as `times=2`, or for `repeat` one number per dimension: `times=[1, 2]`",
        );
        call.stating(problem, "times=2")
    })
}

/// `size` times a factor; an error if the factor is below 1 or the product is too large.
fn longer(call: &Call<'_>, size: u64, times: i64) -> Result<u64, Diagnostic> {
    let count = u64::try_from(times).ok().filter(|&n| n > 0);
    let count = count.ok_or_else(|| {
        call.attributes
            .problem(AttributeName::Times, &format!("is {times}"))
            .hint("use at least 1")
    })?;
    size.checked_mul(count).ok_or_else(|| too_large(call))
}

pub(super) fn pad(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let Some(border) = call.attributes.sizes(AttributeName::Pad)? else {
        let problem = missing(call, "`pad` needs the width of its border").hint(
            "write it as `pad=[1, 1]`: before and after along the last dimension, then the next to last",
        );
        return Err(call.stating(problem, "pad=[1, 1]"));
    };
    let problem =
        |why: &str, hint: &str| call.attributes.problem(AttributeName::Pad, why).hint(hint);
    if border.len() % 2 == 1 || border.len() / 2 > input.shape.len() {
        return Err(problem(
            &format!("has {} numbers for {}", border.len(), text(input)),
            "give two per dimension, before and after, last dimension first",
        ));
    }
    let mut shape = input.shape.to_vec();
    for (size, sides) in shape.iter_mut().rev().zip(border.chunks(2)) {
        for &side in sides {
            let side = u64::try_from(side).map_err(|_| {
                problem("holds a number below 0", "use `slice` to cut elements off")
            })?;
            *size = size.checked_add(side).ok_or_else(|| too_large(call))?;
        }
    }
    Ok(shape)
}
