//! Shape rules of images of another size, and of elements that move along an axis.

use super::call::{Call, Operand, axis, dimension, missing, too_large};
use super::window::not_an_image;
use crate::model::diagnostic::Diagnostic;
use crate::model::functions::{AttributeName, Function};

pub(super) fn adaptive(call: &Call<'_>, image: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    if !call.attributes.has(AttributeName::Size) {
        let problem = missing(call, "an adaptive pool needs the size of its result")
            .hint("write it as `size=1` or `size=[7, 7]`");
        return Err(call.stating(problem, "size=1"));
    }
    let &[batch, channels, _, _] = image.shape else {
        return Err(not_an_image(image));
    };
    let [height, width] = call.attributes.pair(AttributeName::Size, 1, [1, 1])?;
    Ok(vec![batch, channels, height, width])
}

pub(super) fn resample(call: &Call<'_>, image: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let &[batch, channels, height, width] = image.shape else {
        return Err(not_an_image(image));
    };
    let [has_size, has_times] =
        [AttributeName::Size, AttributeName::Times].map(|name| call.attributes.has(name));
    if has_size == has_times {
        let problem = missing(call, "give either `size` or `times`");
        return Err(if has_size {
            problem.hint("remove one of them")
        } else {
            call.stating(
                problem.hint("write `times=2` or `size=[64, 64]`"),
                "times=2",
            )
        });
    }
    let is_nearest = call.callee.text == Function::Interpolate.name()
        && call.attributes.word(AttributeName::Mode) != Some("bilinear");
    if is_nearest && call.attributes.flag(AttributeName::AlignCorners) {
        let problem = (call.attributes)
            .problem(AttributeName::AlignCorners, "needs `mode=bilinear`")
            .hint("remove it, or write `mode=bilinear`");
        return Err(call.stating(problem, "mode=bilinear"));
    }
    let [down, right] = call.attributes.pair(AttributeName::Times, 1, [1, 1])?;
    let times = |size: u64, times: u64| size.checked_mul(times).ok_or_else(|| too_large(call));
    let larger = [times(height, down)?, times(width, right)?];
    let [height, width] = call.attributes.pair(AttributeName::Size, 1, larger)?;
    Ok(vec![batch, channels, height, width])
}

pub(super) fn moved(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    if call.callee.text == Function::Roll.name() {
        axis(call, input)?;
        if !call.attributes.has(AttributeName::Shift) {
            let problem = missing(call, "`roll` needs the distance that elements move")
                .hint("write it as `shift=1`");
            return Err(call.stating(problem, "shift=1"));
        }
    } else {
        for value in call
            .attributes
            .sizes(AttributeName::Axis)?
            .unwrap_or_default()
        {
            dimension(call, AttributeName::Axis, value, input)?;
        }
    }
    Ok(input.shape.to_vec())
}
