//! Words of the table about quantised tensors.

use crate::constant::Scalar;
use crate::onnx::call::Call;
use crate::onnx::proto::element_type;
use crate::shapes::{Sizes, dimension};
use crate::size::Size;
use fuseline_core::model::dtype::DType;

/// `x / scale`, with the zero point added. Integers are rounded and clamped to the range of their
/// type.
pub(super) fn quantized(call: &Call<'_>) -> Option<String> {
    let (scale_lines, scale) = along_axis(call, 1, "scale")?;
    let number = quantized_type(call);
    let bounds = bounds(number);
    let mut lines = Vec::new();
    let blocks = in_blocks(call, 0);
    let x = if let Some(blocks) = &blocks {
        let shape = call.list(blocks);
        lines.push(format!("{{y}}_in_blocks = reshape({{0}}, shape={shape})"));
        "{y}_in_blocks"
    } else {
        "{0}"
    };
    lines.extend([scale_lines, format!("{{y}}_scaled = div({x}, {scale})")]);
    let mut last = "{y}_scaled";
    if bounds.is_some() {
        lines.push(format!("{{y}}_rounded = round({last})"));
        last = "{y}_rounded";
    }
    if has_zero_point(call) {
        let (zero_lines, zero) = zero_point(call, call.input(0)?.dtype?)?;
        lines.extend([zero_lines, format!("{{y}}_shifted = add({last}, {zero})")]);
        last = "{y}_shifted";
    }
    if let Some([min, max]) = bounds {
        lines.push(format!("{{y}}_held = clamp({last}, min={min}, max={max})"));
        last = "{y}_held";
    }
    let dtype = element_type(number)?.name();
    if blocks.is_some() {
        let shape = call.list(call.shape(0)?);
        lines.push(format!("{{y}}_short = cast({last}, dtype={dtype})"));
        lines.push(format!("{{y}} = reshape({{y}}_short, shape={shape})"));
    } else {
        lines.push(format!("{{y}} = cast({last}, dtype={dtype})"));
    }
    Some(joined(&lines))
}

/// `(x - zero point) * scale`, in the type of the scale.
pub(super) fn dequantized(call: &Call<'_>) -> Option<String> {
    let dtype = call.input(1)?.dtype?;
    let result = dequantized_type(call)?;
    if in_blocks(call, 1).is_some() {
        let zero = if has_zero_point(call) { ", {2}" } else { "" };
        let line = format!("dequantize({{0}}, {{1}}{zero})");
        return Some(if result == dtype {
            format!("{{y}} = {line}")
        } else {
            let name = result.name();
            format!("{{y}}_wide = {line}\n{{y}} = cast({{y}}_wide, dtype={name})")
        });
    }
    let (scale_lines, scale) = along_axis(call, 1, "scale")?;
    let mut lines = vec![
        scale_lines,
        format!("{{y}}_cast = cast({{0}}, dtype={})", dtype.name()),
    ];
    let mut last = "{y}_cast";
    if has_zero_point(call) {
        let (zero_lines, zero) = zero_point(call, dtype)?;
        lines.extend([zero_lines, format!("{{y}}_centred = sub({last}, {zero})")]);
        last = "{y}_centred";
    }
    if result == dtype {
        lines.push(format!("{{y}} = mul({last}, {scale})"));
    } else {
        lines.push(format!("{{y}}_wide = mul({last}, {scale})"));
        lines.push(format!("{{y}} = cast({{y}}_wide, dtype={})", result.name()));
    }
    Some(joined(&lines))
}

fn joined(lines: &[String]) -> String {
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.trim_end())
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

/// The element type of the quantised tensor, as a file numbers it: the type of the zero point, else
/// the type that the node states, else u8.
pub(super) fn quantized_type(call: &Call<'_>) -> i32 {
    let zero = call.element_type(2).filter(|_| call.has(2));
    zero.or(output_type(call)).unwrap_or(U8)
}

/// The element type of the dequantised tensor.
pub(super) fn dequantized_type(call: &Call<'_>) -> Option<DType> {
    let stated = output_type(call).and_then(element_type);
    stated.or(call.input(1)?.dtype)
}

/// The type of the output that a node states; 0 is none.
fn output_type(call: &Call<'_>) -> Option<i32> {
    let stated = call.int("output_dtype").filter(|&number| number != 0)?;
    i32::try_from(stated).ok()
}

/// `TensorProto.DataType` of unsigned bytes.
pub(super) const U8: i32 = 2;

/// The least and the largest number of an integer type of a file; `None` for floats.
pub(super) fn bounds(number: i32) -> Option<[i64; 2]> {
    Some(match number {
        U8 => [0, 255],
        3 => [-128, 127],
        4 => [0, 65_535],
        5 => [-32_768, 32_767],
        21 => [0, 15],
        22 => [-8, 7],
        25 => [0, 3],
        26 => [-2, 1],
        _ => return None,
    })
}

/// Whether there is a zero point that is not known to be 0.
fn has_zero_point(call: &Call<'_>) -> bool {
    let is_zero = |element: &Scalar| match element {
        Scalar::Int(size) => size.as_int() == Some(0),
        Scalar::Float(number) => *number == 0.0,
    };
    call.has(2)
        && !call
            .value(2)
            .is_some_and(|value| value.elements.iter().all(is_zero))
}

/// The zero point in the type that it is added in.
fn zero_point(call: &Call<'_>, dtype: DType) -> Option<(String, String)> {
    if call.value(2).is_some_and(|value| value.only().is_some()) {
        return Some((String::new(), "{2}".to_owned()));
    }
    let (lines, zero) = along_axis(call, 2, "zero")?;
    let name = dtype.name();
    Some((
        format!("{lines}{{y}}_offset = cast({zero}, dtype={name})"),
        "{y}_offset".to_owned(),
    ))
}

/// An input with one value for all elements, or one for each index of the axis, reshaped to
/// broadcast along the other dimensions.
fn along_axis(call: &Call<'_>, index: usize, what: &str) -> Option<(String, String)> {
    let own = call.shape(index)?;
    let rank = call.rank(0)?;
    let is_one = own.iter().all(Size::is_one);
    match own {
        _ if is_one => Some((String::new(), format!("{{{index}}}"))),
        [count] => {
            let axis = dimension(call.int("axis").unwrap_or(1), rank)?;
            let mut shape = vec![Size::from(1); rank - axis];
            *shape.first_mut()? = count.clone();
            let shape = call.list(&shape);
            Some((
                format!("{{y}}_{what} = reshape({{{index}}}, shape={shape})\n"),
                format!("{{y}}_{what}"),
            ))
        }
        _ => {
            let shape = call.list(&in_blocks(call, index)?);
            Some((
                format!("{{y}}_{what} = reshape({{{index}}}, shape={shape})\n"),
                format!("{{y}}_{what}"),
            ))
        }
    }
}

/// The shape of an input with the axis of its blocks as two: how many there are, and their length,
/// which is 1 for scales and zero points. `None` for an operator without blocks, and for a last
/// block that is not full.
fn in_blocks(call: &Call<'_>, index: usize) -> Option<Sizes> {
    call.int("block_size").filter(|&size| size > 0)?;
    let (x, scale) = (call.shape(0)?, call.shape(1)?);
    let axis = dimension(call.int("axis").unwrap_or(1), x.len())?;
    let count = scale.get(axis).filter(|_| scale.len() == x.len())?;
    let length = x.get(axis)?.div_exact(count)?;
    let own = if index == 0 { length } else { Size::from(1) };
    let mut shape = call.shape(index)?.to_vec();
    *shape.get_mut(axis)? = count.clone();
    shape.insert(axis + 1, own);
    Some(shape)
}
