//! Words of the table about operators on quantised tensors that compute in integers.
//!
//! A product keeps its integer operands, so that it counts on the units and with the bytes of their
//! type. The corrections for zero points, which kernels add to the sums, do not count.

use crate::onnx::call::Call;
use crate::onnx::convolutions::integer_convolution;
use crate::onnx::quantized::{U8, bounds};
use crate::onnx::results;
use crate::onnx::types;
use crate::size::Size;
use std::fmt::Write;

/// The inputs that quantise a tensor, by index.
struct Scaled {
    scale: usize,
    zero: usize,
}

/// A product of integers, its sums scaled, and in most operators quantised again.
pub(super) fn integer_product(call: &Call<'_>) -> Option<String> {
    let mut lines = Vec::new();
    let shape = call.list(&results::shape(call)?);
    let (scales, bias, output) = match call.operator() {
        "QLinearMatMul" => {
            lines.push(format!("{{y}}_sums = matmul({{0}}, {{3}}) : i32{shape}"));
            ([1, 4], None, Some(Scaled { scale: 6, zero: 7 }))
        }
        "QLinearConv" => {
            lines.push(integer_convolution(call, "{y}_sums")?);
            ([1, 4], Some(8), Some(Scaled { scale: 6, zero: 7 }))
        }
        "MatMulIntegerToFloat" => {
            lines.push(format!("{{y}}_sums = matmul({{0}}, {{1}}) : i32{shape}"));
            ([2, 3], Some(6), None)
        }
        "QGemm" => {
            let flag = |name: &str| call.int(name).unwrap_or(0) != 0;
            let mut flags = String::new();
            for (own, attribute) in [("transA", "transpose_a"), ("transB", "transpose_b")] {
                if flag(own) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(flags, ", {attribute}=true");
                }
            }
            lines.push(format!(
                "{{y}}_sums = matmul({{0}}, {{3}}{flags}) : i32{shape}"
            ));
            let output = call.has(7).then_some(Scaled { scale: 7, zero: 8 });
            ([1, 4], Some(6), output)
        }
        _ => return None,
    };
    let mut last = "{y}_sums".to_owned();
    let mut bias = bias.filter(|&bias| call.has(bias));
    let is_float_bias = call.operator() == "MatMulIntegerToFloat";
    if let Some(bias) = bias.take_if(|_| !is_float_bias) {
        let own = along_channels(call, bias, "bias", &mut lines)?;
        lines.push(format!("{{y}}_biased = add({last}, {own})"));
        "{y}_biased".clone_into(&mut last);
    }
    let dtype = call.input(*scales.first()?)?.dtype?;
    lines.push(format!(
        "{{y}}_float = cast({last}, dtype={})",
        dtype.name()
    ));
    "{y}_float".clone_into(&mut last);
    for (word, index) in ["once", "twice"].into_iter().zip(scales) {
        let own = along_channels(call, index, &format!("scale_{index}"), &mut lines)?;
        lines.push(format!("{{y}}_{word} = mul({last}, {own})"));
        last = format!("{{y}}_{word}");
    }
    if let Some(bias) = bias {
        lines.push(format!("{{y}}_biased = add({last}, {{{bias}}})"));
        "{y}_biased".clone_into(&mut last);
    }
    finish(call, &last, output.as_ref(), lines)
}

/// A function of the numbers that quantised tensors stand for.
pub(super) fn integer_function(call: &Call<'_>) -> Option<String> {
    let mut lines = Vec::new();
    let dtype = call.input(1)?.dtype?.name();
    let mut float = |index: usize, word: &str| {
        let (scale, zero) = (index + 1, index + 2);
        lines.push(format!(
            "{{y}}_{word}_cast = cast({{{index}}}, dtype={dtype})"
        ));
        let mut last = format!("{{y}}_{word}_cast");
        if call.has(zero) {
            lines.push(format!(
                "{{y}}_{word}_zero = cast({{{zero}}}, dtype={dtype})"
            ));
            lines.push(format!(
                "{{y}}_{word}_centred = sub({last}, {{y}}_{word}_zero)"
            ));
            last = format!("{{y}}_{word}_centred");
        }
        lines.push(format!("{{y}}_{word} = mul({last}, {{{scale}}})"));
        format!("{{y}}_{word}")
    };
    let a = float(0, "a");
    let (call_text, output) = match call.operator() {
        "QLinearAdd" | "QLinearMul" => {
            let b = float(3, "b");
            let function = if call.operator() == "QLinearAdd" {
                "add"
            } else {
                "mul"
            };
            (format!("{function}({a}, {b})"), 6)
        }
        "QLinearSigmoid" => (format!("sigmoid({a})"), 3),
        "QLinearLeakyRelu" => (
            format!(
                "leaky_relu({a}, slope={})",
                call.attribute_text("alpha")
                    .unwrap_or_else(|| "0.01".to_owned())
            ),
            3,
        ),
        "QLinearSoftmax" => (
            format!("softmax({a}, axis={})", call.int("axis").unwrap_or(-1)),
            3,
        ),
        _ => return None,
    };
    lines.push(format!("{{y}}_result = {call_text}"));
    let output = Scaled {
        scale: output,
        zero: output + 1,
    };
    finish(call, "{y}_result", Some(&output), lines)
}

/// An input of one number for each channel of the output, as it broadcasts to it: along the last
/// dimension of a product, along dimension 1 of an image.
fn along_channels(
    call: &Call<'_>,
    index: usize,
    word: &str,
    lines: &mut Vec<String>,
) -> Option<String> {
    let own = call.shape(index)?;
    let is_image = call.operator() == "QLinearConv";
    let [channels] = own else {
        return Some(format!("{{{index}}}"));
    };
    if !is_image || channels.is_one() {
        return Some(format!("{{{index}}}"));
    }
    let ones = call.rank(0)?.checked_sub(2)?;
    let shape = [vec![channels.clone()], vec![Size::from(1); ones]].concat();
    lines.push(format!(
        "{{y}}_{word} = reshape({{{index}}}, shape={})",
        call.list(&shape)
    ));
    Some(format!("{{y}}_{word}"))
}

/// The result, quantised where the operator does so.
fn finish(
    call: &Call<'_>,
    last: &str,
    output: Option<&Scaled>,
    mut lines: Vec<String>,
) -> Option<String> {
    let Some(&Scaled { scale, zero }) = output else {
        let line = lines.last_mut()?;
        *line = line.replacen(last, "{y}", 1);
        return Some(lines.join("\n"));
    };
    let dtype = call.input(scale)?.dtype?.name();
    lines.push(format!("{{y}}_divided = div({last}, {{{scale}}})"));
    lines.push("{y}_rounded = round({y}_divided)".to_owned());
    let mut last = "{y}_rounded";
    if call.has(zero) {
        lines.push(format!("{{y}}_offset = cast({{{zero}}}, dtype={dtype})"));
        lines.push("{y}_shifted = add({y}_rounded, {y}_offset)".to_owned());
        last = "{y}_shifted";
    }
    let number = call.element_type(zero).unwrap_or(U8);
    let [min, max] = bounds(number)?;
    lines.push(format!("{{y}}_held = clamp({last}, min={min}, max={max})"));
    let own = call.output.dtype.or_else(|| types::dtype(call))?;
    lines.push(format!("{{y}} = cast({{y}}_held, dtype={})", own.name()));
    Some(lines.join("\n"))
}
