//! Words of the table about quantised tensors.

use crate::constant::Scalar;
use crate::onnx::call::Call;
use crate::onnx::proto::element_type;
use crate::shapes::dimension;
use crate::size::Size;
use fuseline_core::model::dtype::DType;

/// `x / scale`, with the zero point added. Integers are rounded and clamped to the range of their
/// type.
pub(super) fn quantized(call: &Call<'_>) -> Option<String> {
    let (scale_lines, scale) = along_axis(call, 1, "scale")?;
    let number = quantized_type(call);
    let bounds = bounds(number);
    let mut lines = vec![scale_lines, format!("{{y}}_scaled = div({{0}}, {scale})")];
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
    lines.push(format!("{{y}} = cast({last}, dtype={dtype})"));
    Some(joined(&lines))
}

/// `(x - zero point) * scale`, in the type of the scale.
pub(super) fn dequantized(call: &Call<'_>) -> Option<String> {
    let dtype = call.input(1)?.dtype?;
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
    let result = dequantized_type(call)?;
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
        // The notation has no scales for blocks of elements.
        _ => None,
    }
}
