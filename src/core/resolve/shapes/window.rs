//! Shape rules of sliding windows: convolutions and pools.

use super::call::{Call, InferredShape, Operand, mismatch, missing, text, too_large};
use super::matmul::check_bias;
use crate::model::diagnostic::Diagnostic;
use crate::model::functions::AttributeName;
use crate::model::op::element_count;
use crate::notation::spelling::shortened;

pub(super) fn conv2d(
    call: &Call<'_>,
    x: &Operand<'_>,
    weight: &Operand<'_>,
    bias: Option<&Operand<'_>>,
) -> Result<InferredShape, Diagnostic> {
    let &[batch, _, height, width] = x.shape else {
        return Err(not_an_image(x));
    };
    let &[features, weight_channels, kernel_height, kernel_width] = weight.shape else {
        return Err(mismatch(
            weight,
            format!("{} is not a convolution weight", text(weight)),
        )
        .hint("a weight is [out channels, in channels / groups, kernel height, kernel width]"));
    };
    check_channels(call, x, weight)?;
    check_bias(bias, features)?;
    let stride = call.attributes.pair_or_default(AttributeName::Stride, 1)?;
    let padding = call.attributes.pair_or_default(AttributeName::Padding, 0)?;
    let dilation = call
        .attributes
        .pair_or_default(AttributeName::Dilation, 1)?;
    let window = [kernel_height, kernel_width];
    let [height, width] = slide(call, x, [height, width], window, stride, padding, dilation)?;
    let contraction = element_count(&[weight_channels, kernel_height, kernel_width])
        .ok_or_else(|| too_large(call))?;
    Ok(InferredShape {
        shape: vec![batch, features, height, width],
        k: Some(contraction),
    })
}

pub(super) fn conv1d(
    call: &Call<'_>,
    x: &Operand<'_>,
    weight: &Operand<'_>,
    bias: Option<&Operand<'_>>,
) -> Result<InferredShape, Diagnostic> {
    let &[batch, _, length] = x.shape else {
        return Err(
            mismatch(x, format!("{} is not a batch of sequences", text(x)))
                .hint("the input is [batch, channels, length]"),
        );
    };
    let &[features, weight_channels, window] = weight.shape else {
        return Err(mismatch(
            weight,
            format!("{} is not a convolution weight", text(weight)),
        )
        .hint("a weight is [out channels, in channels / groups, window]"));
    };
    check_channels(call, x, weight)?;
    check_bias(bias, features)?;
    let only = |name: AttributeName, smallest: i64, default: u64| {
        let pair = call.attributes.pair(name, smallest, [default; 2])?;
        Ok::<_, Diagnostic>(pair[1])
    };
    let stride = [1, only(AttributeName::Stride, 1, 1)?];
    let padding = [0, only(AttributeName::Padding, 0, 0)?];
    let dilation = [1, only(AttributeName::Dilation, 1, 1)?];
    let [_, length] = slide(call, x, [1, length], [1, window], stride, padding, dilation)?;
    Ok(InferredShape {
        shape: vec![batch, features, length],
        k: Some(element_count(&[weight_channels, window]).ok_or_else(|| too_large(call))?),
    })
}

/// Checks the channels of the input against those of the weight, and that groups divide them.
fn check_channels(
    call: &Call<'_>,
    x: &Operand<'_>,
    weight: &Operand<'_>,
) -> Result<(), Diagnostic> {
    let (&[_, channels, ..], &[features, weight_channels, ..]) = (x.shape, weight.shape) else {
        return Ok(());
    };
    let groups = call.attributes.size_or_default(AttributeName::Groups)?;
    let groups = u64::try_from(groups)
        .ok()
        .filter(|&g| g > 0 && channels.is_multiple_of(g) && features.is_multiple_of(g))
        .ok_or_else(|| {
            call.attributes
                .problem(
                    AttributeName::Groups,
                    &format!(
                        "is {groups}, which does not divide {channels} input and {features} output channels"
                    ),
                )
                .hint("use a number that divides both")
        })?;
    if channels / groups != weight_channels {
        return Err(mismatch(
            weight,
            format!(
                "{} has {channels} channels in {groups} group{}, but {} takes {weight_channels}",
                text(x),
                if groups == 1 { "" } else { "s" },
                text(weight)
            ),
        )
        .hint("a weight is [out channels, in channels / groups, kernel height, kernel width]"));
    }
    Ok(())
}

pub(super) fn pool2d(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let &[batch, channels, height, width] = input.shape else {
        return Err(not_an_image(input));
    };
    if !call.attributes.has(AttributeName::Kernel) {
        let problem = missing(
            call,
            &format!("`{}` needs the size of its window", call.callee.text),
        )
        .hint(format!(
            "write `{}({}, kernel=2)`",
            call.callee.text,
            shortened(&input.name.text)
        ));
        return Err(call.stating(problem, "kernel=2"));
    }
    let window = call.attributes.pair(AttributeName::Kernel, 1, [1, 1])?;
    let stride = call.attributes.pair(AttributeName::Stride, 1, window)?;
    let padding = call.attributes.pair_or_default(AttributeName::Padding, 0)?;
    let [height, width] = slide(
        call,
        input,
        [height, width],
        window,
        stride,
        padding,
        [1, 1],
    )?;
    Ok(vec![batch, channels, height, width])
}

pub(super) fn not_an_image(operand: &Operand<'_>) -> Diagnostic {
    mismatch(
        operand,
        format!("{} is not a batch of images", text(operand)),
    )
    .hint("the input is [batch, channels, height, width]")
}

/// Positions of a window along height and width: `(size + 2p - d(w - 1) - 1) / s + 1`, rounded
/// down.
fn slide(
    call: &Call<'_>,
    input: &Operand<'_>,
    size: [u64; 2],
    window: [u64; 2],
    stride: [u64; 2],
    padding: [u64; 2],
    dilation: [u64; 2],
) -> Result<[u64; 2], Diagnostic> {
    let places = |size: u64, window: u64, stride: u64, padding: u64, dilation: u64| {
        let padded = size
            .checked_add(padding.checked_mul(2).ok_or_else(|| too_large(call))?)
            .ok_or_else(|| too_large(call))?;
        let reach = dilation
            .checked_mul(window.saturating_sub(1))
            .ok_or_else(|| too_large(call))?;
        padded
            .checked_sub(1)
            .and_then(|last| last.checked_sub(reach))
            .map(|room| room / stride + 1)
            .ok_or_else(|| {
                mismatch(
                    input,
                    format!(
                        "a window of {window} does not fit in {size} of {}",
                        text(input)
                    ),
                )
                .hint("use a smaller window or more `padding`")
            })
    };
    let ([h, w], [wh, ww], [sh, sw], [ph, pw], [dh, dw]) =
        (size, window, stride, padding, dilation);
    Ok([places(h, wh, sh, ph, dh)?, places(w, ww, sw, pw, dw)?])
}
