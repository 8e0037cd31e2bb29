//! Shapes and FLOPs of transforms of signals and of other operators whose output has a length that
//! a number gives.

use crate::constant::Scalar;
use crate::onnx::call::Call;
use crate::onnx::fold::whole;
use crate::onnx::results::output_shape;
use crate::shapes::{Sizes, dimension, elements, with_size};
use crate::size::Size;

/// The shape of an output of such an operator.
pub(super) fn shape(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    match (call.operator(), call.output_index) {
        ("DFT", 0) => {
            let axis = transformed_axis(call, first.len())?;
            let mut length = if call.has(1) {
                call.sizes(1)?.into_iter().next()?
            } else {
                first.get(axis)?.clone()
            };
            let is_onesided = call.int("onesided").unwrap_or(0) != 0;
            let is_inverse = call.int("inverse").unwrap_or(0) != 0;
            // The inverse of one half gives all of a real signal.
            if is_onesided && is_inverse && !call.has(1) {
                length = length.sub(&Size::from(1))?.mul(&Size::from(2))?;
            } else if is_onesided && !is_inverse {
                length = Size::from(call.fixed(&length)? / 2 + 1).computed_from(&length);
            }
            let parts = if is_onesided && is_inverse { 1 } else { 2 };
            let shape = with_size(first, axis, length);
            Some(with_size(
                &shape,
                first.len().checked_sub(1)?,
                Size::from(parts),
            ))
        }
        ("STFT", 0) => {
            let length = match call.sizes(3) {
                Some(sizes) => call.fixed(sizes.first()?)?,
                None => call.fixed(call.shape(2)?.first()?)?,
            };
            let step = call.fixed(call.sizes(1)?.first()?)?;
            let signal = call.fixed(first.get(1)?)?;
            let frames = signal
                .checked_sub(length)?
                .checked_div(step)?
                .checked_add(1)?;
            let is_onesided = call.int("onesided").unwrap_or(1) != 0;
            let bins = if is_onesided { length / 2 + 1 } else { length };
            let frames = Size::from(frames).computed_from(first.get(1)?);
            let sizes = [frames, Size::from(bins), Size::from(2)];
            Some([first.get(..1)?, &sizes].concat())
        }
        ("GatherBlockQuantized", 0) => {
            let axis = dimension(call.int("gather_axis").unwrap_or(0), first.len())?;
            let (outer, inner) = (first.get(..axis)?, first.get(axis + 1..)?);
            Some([outer, call.shape(1)?, inner].concat())
        }
        _ => None,
    }
}

/// The FLOPs of a fast Fourier transform of `n` complex numbers: `5 n log2 n`.
pub(super) fn flops(call: &Call<'_>, first: &[Size]) -> Option<Size> {
    let (count, length) = match call.operator() {
        "DFT" => {
            let axis = transformed_axis(call, first.len())?;
            let length = call.default_of(first.get(axis)?)?;
            (elements(first.get(..first.len().checked_sub(1)?)?)?, length)
        }
        "STFT" => {
            let output = output_shape(call)?;
            let [batch, frames, bins, _] = output.as_slice() else {
                return None;
            };
            let is_onesided = call.int("onesided").unwrap_or(1) != 0;
            let bins = bins.as_int()?;
            let length = if is_onesided {
                bins.checked_sub(1)?.checked_mul(2)?
            } else {
                bins
            };
            (batch.mul(frames)?.mul(&Size::from(length))?, length)
        }
        "Det" | "Inverse" => {
            // Elimination takes 2/3 n^3, the inverse three times as many.
            let n = call.fixed(first.last()?)?;
            let thirds = if call.operator() == "Det" { 2 } else { 6 };
            let each = n.checked_mul(n)?.checked_mul(n)?.checked_mul(thirds)? / 3;
            let outer = elements(first.get(..first.len().checked_sub(2)?)?)?;
            return outer.mul(&Size::from(each));
        }
        _ => return None,
    };
    let steps = i64::from(
        64 - u64::try_from(length)
            .ok()?
            .saturating_sub(1)
            .leading_zeros(),
    );
    count.mul(&Size::from(steps.checked_mul(5)?))
}

fn transformed_axis(call: &Call<'_>, rank: usize) -> Option<usize> {
    let axis = match call.sizes(2) {
        Some(stated) => stated.first()?.as_int()?,
        None if call.version < 20 => call.int("axis").unwrap_or(1),
        None => -2,
    };
    dimension(axis, rank)
}

/// The length of a range.
pub(super) fn range(call: &Call<'_>) -> Option<Sizes> {
    let given = |at: usize| call.value(at)?.only();
    let number = |at: usize| match given(at)? {
        Scalar::Int(size) => size.as_int().map(|number| number as f64),
        Scalar::Float(number) => Some(*number),
    };
    if let (Some(start), Some(end), Some(step)) = (number(0), number(1), number(2)) {
        return Some(vec![whole(((end - start) / step).ceil().max(0.0))?]);
    }
    let size = |at: usize| match given(at)? {
        Scalar::Int(size) => Some(size.clone()),
        Scalar::Float(number) => whole(*number).filter(|_| number.fract() == 0.0),
    };
    let length = size(1)?.sub(&size(0)?)?;
    Some(vec![length.div_exact(&size(2)?)?])
}
