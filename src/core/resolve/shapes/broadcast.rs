//! Shape rules with broadcasting: NumPy's, and one value for each channel.

use super::call::{Call, Operand, mismatch, text};
use crate::model::diagnostic::Diagnostic;
use crate::model::functions::AttributeName;
use crate::model::op::shape_text;

/// Aligns two shapes at their last dimension; `None` if a pair of sizes differs and neither is 1.
pub(super) fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut shape = long.to_vec();
    for (size, &other) in shape.iter_mut().rev().zip(short.iter().rev()) {
        if *size == 1 {
            *size = other;
        } else if other != 1 && *size != other {
            return None;
        }
    }
    Some(shape)
}

/// Checks that the last dimension has two halves, which a rotary embedding swaps.
pub(in crate::resolve) fn check_halves(input: &Operand<'_>) -> Result<(), Diagnostic> {
    match input.shape.last() {
        Some(size) if size.is_multiple_of(2) => Ok(()),
        _ => Err(mismatch(
            input,
            format!("the last dimension of {} has no two halves", text(input)),
        )
        .hint("`rotary` swaps the halves of the last dimension, so its size must be even")),
    }
}

pub(super) fn broadcast_all(operands: &[Operand<'_>]) -> Result<Vec<u64>, Diagnostic> {
    let mut shape = operands.first().map_or_else(Vec::new, |o| o.shape.to_vec());
    for (index, operand) in operands.iter().enumerate().skip(1) {
        if shape == operand.shape {
            continue;
        }
        shape = broadcast(&shape, operand.shape).ok_or_else(|| {
            // The first earlier input that does not broadcast with this one, or else the broadcast
            // shape so far.
            let clashing = operands
                .iter()
                .take(index)
                .find(|earlier| broadcast(earlier.shape, operand.shape).is_none());
            let other = clashing.map_or_else(|| shape_text(&shape), text);
            mismatch(
                operand,
                format!("{} does not broadcast with {other}", text(operand)),
            )
            .hint(
                "from the last dimension back, each pair of sizes must be equal, or one of them 1",
            )
        })?;
    }
    Ok(shape)
}

pub(super) fn broadcast_into(first: &Operand<'_>, other: &Operand<'_>) -> Result<(), Diagnostic> {
    let fits = other.shape == first.shape
        || other.shape.len() <= first.shape.len()
            && first
                .shape
                .iter()
                .rev()
                .zip(other.shape.iter().rev())
                .all(|(&size, &own)| own == size || own == 1);
    if fits {
        return Ok(());
    }
    Err(mismatch(
        other,
        format!("{} does not broadcast into {}", text(other), text(first)),
    )
    .hint("from the last dimension back, each size must equal the first input's, or be 1"))
}

/// Checks that `other` has one value for each block of `first`.
pub(super) fn of_blocks(first: &Operand<'_>, other: &Operand<'_>) -> Result<(), Diagnostic> {
    let fits = other.shape.len() <= first.shape.len()
        && (first.shape.iter().rev().zip(other.shape.iter().rev()))
            .all(|(&size, &own)| own > 0 && size.is_multiple_of(own));
    if fits {
        return Ok(());
    }
    Err(mismatch(
        other,
        format!(
            "{} does not divide {} into equal blocks",
            text(other),
            text(first)
        ),
    )
    .hint("from the last dimension back, each size must divide the first input's: a scale [K/128, N] for [K, N]"))
}

pub(super) fn per_channel(
    call: &Call<'_>,
    first: &Operand<'_>,
    others: &[Operand<'_>],
) -> Result<Vec<u64>, Diagnostic> {
    let &[_, channels, ..] = first.shape else {
        return Err(mismatch(first, format!("{} has no channels", text(first)))
            .hint("write the input as [batch, channels, ...]"));
    };
    for other in others {
        if other.shape != [channels] {
            return Err(mismatch(
                other,
                format!(
                    "{} must hold one value for each channel of {}",
                    text(other),
                    text(first)
                ),
            )
            .hint(format!("its shape must be [{channels}]")));
        }
    }
    let groups = call.attributes.size_or_default(AttributeName::Groups)?;
    let divides = |groups: u64| groups > 0 && channels.is_multiple_of(groups);
    if !u64::try_from(groups).is_ok_and(divides) {
        let problem = (call.attributes)
            .problem(
                AttributeName::Groups,
                &format!("is {groups}, which does not divide {channels} channels"),
            )
            .hint("use a number that divides the channels");
        return Err(call.correcting(problem, AttributeName::Groups, "1"));
    }
    Ok(first.shape.to_vec())
}
