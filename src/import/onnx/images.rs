//! Shapes and FLOPs of operators on images that no function of the notation computes.

use crate::onnx::call::Call;
use crate::onnx::layout::resized;
use crate::onnx::results::output_shape;
use crate::onnx::windows::window_shape;
use crate::shapes::{Sizes, dimension, elements};
use crate::size::Size;

/// The shape of an output of an operator on an image.
pub(super) fn shape(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    match (call.operator(), call.output_index) {
        ("Conv" | "ConvInteger" | "QLinearConv" | "FusedConv", 0) => {
            let channels = call.shape(call.second_operand())?.first()?.clone();
            window_shape(call)
                .map(|image| [first.get(..1).unwrap_or_default(), &[channels], &image].concat())
        }
        ("NhwcConv" | "NhwcFusedConv", 0) => {
            let channels = call.shape(1)?.first()?.clone();
            window_shape(call)
                .map(|image| [first.get(..1).unwrap_or_default(), &image, &[channels]].concat())
        }
        ("MaxPool" | "AveragePool" | "LpPool" | "QLinearAveragePool", 0 | 1) => {
            window_shape(call).map(|image| [first.get(..2).unwrap_or_default(), &image].concat())
        }
        (
            "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" | "QLinearGlobalAveragePool",
            0,
        ) => {
            let ones = vec![Size::from(1); first.len().checked_sub(2)?];
            Some([first.get(..2)?, &ones].concat())
        }
        ("ConvTranspose", 0) => transposed(call, first),
        ("MaxUnpool", 0) => match call.sizes(2) {
            Some(stated) => Some(stated),
            None => unpooled(call, first),
        },
        ("DeformConv", 0) => {
            let channels = call.shape(1)?.first()?.clone();
            let image = call.shape(2)?.get(2..)?;
            Some([first.get(..1)?, &[channels], image].concat())
        }
        ("GridSample", 0) => {
            let (_, grid) = call.shape(1)?.split_last()?;
            Some([first.get(..2)?, grid.get(1..)?].concat())
        }
        ("Resize" | "Upsample", 0) => resized(call),
        ("RoiAlign", 0) => {
            let count = call.shape(1)?.first()?.clone();
            let side = |name: &str| Size::from(call.int(name).unwrap_or(1));
            let image = [side("output_height"), side("output_width")];
            Some([&[count], first.get(1..2)?, &image].concat())
        }
        ("MaxRoiPool", 0) => {
            let count = call.shape(1)?.first()?.clone();
            let image: Sizes = call
                .ints("pooled_shape")?
                .iter()
                .map(|&size| Size::from(size))
                .collect();
            Some([&[count], first.get(1..2)?, &image].concat())
        }
        ("Col2Im", 0) => {
            let (image, block) = (call.sizes(1)?, call.sizes(2)?);
            let channels = first.get(1)?.div_exact(&elements(&block)?)?;
            Some([first.get(..1)?, &[channels], &image].concat())
        }
        ("CenterCropPad", 0) => {
            let sizes = call.sizes(1)?;
            let mut shape = first.to_vec();
            let axes: Vec<i64> = match call.ints("axes") {
                Some(axes) => axes.to_vec(),
                None => (0..i64::try_from(sizes.len()).ok()?).collect(),
            };
            for (axis, size) in axes.into_iter().zip(sizes) {
                *shape.get_mut(dimension(axis, first.len())?)? = size;
            }
            Some(shape)
        }
        ("DepthToSpace" | "SpaceToDepth", 0) => in_blocks(call, first),
        _ => None,
    }
}

/// The FLOPs of such an operator.
pub(super) fn flops(call: &Call<'_>, first: &[Size]) -> Option<Size> {
    let output = || elements(&output_shape(call)?);
    let dimensions = i64::try_from(first.len().checked_sub(2)?).ok()?;
    // An interpolation of two elements is a subtraction, a multiplication and an addition, and each
    // dimension doubles the elements.
    let linear = |dims: i64| 3 * ((1_i64 << dims.clamp(0, 8)) - 1);
    match call.operator() {
        "Resize" | "Upsample" | "GridSample" => {
            let per_element = match call.word("mode") {
                None if call.operator() != "GridSample" => 0,
                Some("nearest") => 0,
                // Four elements along each dimension, each with a weight.
                Some("cubic" | "bicubic") => {
                    8 * (4_i64.pow(u32::try_from(dimensions.clamp(0, 8)).ok()?) - 1) / 3
                }
                _ => linear(dimensions),
            };
            output()?.mul(&Size::from(per_element))
        }
        "RoiAlign" => {
            let samples = call
                .int("sampling_ratio")
                .filter(|&count| count > 0)
                .unwrap_or(2);
            let per_element = samples.checked_mul(samples)?.checked_mul(linear(2) + 1)?;
            output()?.mul(&Size::from(per_element))
        }
        // A product and a sum for each coordinate; the last column of the map is the first term.
        "AffineGrid" => {
            let coordinates = call.shape(0)?.last()?.sub(&Size::from(1))?;
            output()?.mul(&coordinates)?.mul(&Size::from(2))
        }
        _ => None,
    }
}

/// The grid of an affine map: a position for each element of the image that it stands for.
pub(super) fn grid(call: &Call<'_>) -> Option<Sizes> {
    let size = call.sizes(1)?;
    let image = size.get(2..)?;
    let dimensions = i64::try_from(image.len()).ok()?;
    Some([size.get(..1)?, image, &[Size::from(dimensions)]].concat())
}

fn in_blocks(call: &Call<'_>, first: &[Size]) -> Option<Sizes> {
    let block = Size::from(call.int("blocksize")?);
    let [batch, channels, height, width] = first else {
        return None;
    };
    let area = block.mul(&block)?;
    Some(if call.operator() == "DepthToSpace" {
        vec![
            batch.clone(),
            channels.div_exact(&area)?,
            height.mul(&block)?,
            width.mul(&block)?,
        ]
    } else {
        vec![
            batch.clone(),
            channels.mul(&area)?,
            height.div_exact(&block)?,
            width.div_exact(&block)?,
        ]
    })
}

/// A number of a list for each dimension of an image.
fn of(call: &Call<'_>, name: &str, index: usize, default: i64) -> Option<i64> {
    match call.ints(name) {
        Some(list) => list.get(index).copied(),
        None => Some(default),
    }
}

fn unpooled(call: &Call<'_>, x: &[Size]) -> Option<Sizes> {
    let image = x.get(2..)?;
    let size = |(index, size): (usize, &Size)| {
        let border =
            of(call, "pads", index, 0)?.checked_add(of(call, "pads", index + image.len(), 0)?)?;
        let more = of(call, "kernel_shape", index, 1)?.checked_sub(border)?;
        size.sub(&Size::from(1))?
            .mul(&Size::from(of(call, "strides", index, 1)?))?
            .add(&Size::from(more))
    };
    let image: Sizes = image.iter().enumerate().map(size).collect::<Option<_>>()?;
    Some([x.get(..2)?, &image].concat())
}

fn transposed(call: &Call<'_>, x: &[Size]) -> Option<Sizes> {
    let weight = call.shape(1)?;
    let groups = Size::from(call.int("group").unwrap_or(1));
    let channels = weight.get(1)?.mul(&groups)?;
    let image = x.get(2..)?;
    let stated = call.ints("output_shape");
    let size = |(index, size): (usize, &Size)| {
        if let Some(stated) = stated {
            // Old files state all dimensions, new ones those of the image.
            let before = stated.len().checked_sub(image.len())?;
            return stated.get(before + index).map(|&size| Size::from(size));
        }
        let stride = of(call, "strides", index, 1)?;
        if matches!(call.word("auto_pad"), Some("SAME_UPPER" | "SAME_LOWER")) {
            return size.mul(&Size::from(stride));
        }
        let reach = weight
            .get(index + 2)?
            .as_int()?
            .checked_sub(1)?
            .checked_mul(of(call, "dilations", index, 1)?)?;
        let pads =
            of(call, "pads", index, 0)?.checked_add(of(call, "pads", index + image.len(), 0)?)?;
        let more = reach
            .checked_add(1)?
            .checked_add(of(call, "output_padding", index, 0)?)?
            .checked_sub(pads)?;
        size.sub(&Size::from(1))?
            .mul(&Size::from(stride))?
            .add(&Size::from(more))
    };
    let image: Sizes = image.iter().enumerate().map(size).collect::<Option<_>>()?;
    Some([x.get(..1)?, &[channels], &image].concat())
}
