//! Words of the table about quantised tensors.

use crate::onnx::call::Call;
use crate::shapes::dimension;
use crate::size::Size;
use crate::value::Scalar;
use fuseline_core::model::dtype::DType;

/// `x / scale`, rounded, with the zero point added and held between the bounds of its type.
pub(super) fn quantized(call: &Call<'_>) -> Option<String> {
    let (scale_lines, scale) = along_axis(call, 1, "scale")?;
    let mut lines = vec![
        scale_lines,
        format!("{{y}}_scaled = div({{0}}, {scale})\n{{y}}_rounded = round({{y}}_scaled)"),
    ];
    let mut last = "{y}_rounded";
    if has_zero_point(call) {
        let (zero_lines, zero) = zero_point(call, call.input(0)?.dtype?)?;
        lines.extend([zero_lines, format!("{{y}}_shifted = add({last}, {zero})")]);
        last = "{y}_shifted";
    }
    let dtype = quantized_type(call);
    if dtype == DType::I8 {
        lines.push(format!("{{y}}_held = clamp({last}, min=-128, max=127)"));
        last = "{y}_held";
    }
    lines.push(format!("{{y}} = cast({last}, dtype={})", dtype.name()));
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
    lines.push(format!("{{y}} = mul({last}, {scale})"));
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

/// The type of the zero point, which is u8 where none is given.
fn quantized_type(call: &Call<'_>) -> DType {
    let zero = call.input(2).map_or(call.output.dtype, |zero| zero.dtype);
    zero.unwrap_or(DType::I8)
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

/// An input with one value for all, or one for each place along the axis, so that it is broadcast along that.
fn along_axis(call: &Call<'_>, place: usize, what: &str) -> Option<(String, String)> {
    let own = call.shape(place)?;
    let rank = call.rank(0)?;
    let is_one = own.iter().all(Size::is_one);
    match own {
        _ if is_one => Some((String::new(), format!("{{{place}}}"))),
        [count] => {
            let axis = dimension(call.int("axis").unwrap_or(1), rank)?;
            let mut shape = vec![Size::from(1); rank - axis];
            *shape.first_mut()? = count.clone();
            let shape = call.list(&shape);
            Some((
                format!("{{y}}_{what} = reshape({{{place}}}, shape={shape})\n"),
                format!("{{y}}_{what}"),
            ))
        }
        // Values for blocks of elements.
        _ => None,
    }
}
