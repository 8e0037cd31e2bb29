//! Words of the table about convolutions.

use crate::onnx::call::Call;
use crate::onnx::products::activated;
use crate::onnx::results;
use crate::onnx::windows::{even_borders, text, windows};
use crate::shapes::elements;
use crate::size::Size;
use std::fmt::Write;

/// The lines of a convolution, with the sum and the activation of a fused one.
pub(super) fn convolution(call: &Call<'_>) -> Option<String> {
    if call.operator() == "ConvInteger" {
        let line = convolved(call, ["{0}", "{1}", ""], "{y}")?;
        let shape = results::shape(call)?;
        return Some(format!("{line} : i32{}", call.list(&shape)));
    }
    let mut last = "{y}_conv";
    let mut lines = if is_stated(call) {
        stated(call, &elements(call.shape(1)?.get(1..)?)?, last)?
    } else {
        vec![convolved(call, ["{0}", "{1}", ", {2?}"], last)?]
    };
    if lines.len() > 1 {
        last = "{y}_biased";
    }
    if call.operator() == "FusedConv" && call.has(3) {
        lines.push(format!("{{y}}_sum = add({last}, {{3}})"));
        last = "{y}_sum";
    }
    activated(call, last, lines)
}

/// The sums of a convolution of quantised tensors.
pub(super) fn integer_convolution(call: &Call<'_>, output: &str) -> Option<String> {
    let line = convolved(call, ["{0}", "{3}", ""], output)?;
    let shape = results::shape(call)?;
    Some(format!("{line} : i32{}", call.list(&shape)))
}

/// The line of a convolution of these operands. A border that the notation lacks is an op before
/// it.
fn convolved(call: &Call<'_>, [x, weight, bias]: [&str; 3], output: &str) -> Option<String> {
    let windows = windows(call).filter(|windows| windows.len() <= 2)?;
    let (before, input, borders) = if let Some(borders) = even_borders(call, &windows) {
        (String::new(), x, borders)
    } else {
        let sides = windows.iter().rev().flat_map(|window| window.border);
        let sides: Vec<i64> = sides.collect();
        let line = format!("{{y}}_border = pad({x}, pad={sides:?})\n");
        let is_border = sides.iter().all(|&side| side >= 0);
        (
            is_border.then_some(line)?,
            "{y}_border",
            vec![0; windows.len()],
        )
    };
    let named = [
        (
            "stride",
            windows.iter().map(|window| window.stride).collect(),
            1,
        ),
        ("padding", borders, 0),
        (
            "dilation",
            windows.iter().map(|window| window.dilation).collect(),
            1,
        ),
        ("groups", vec![call.int("group").unwrap_or(1)], 1),
    ];
    let mut line = format!(
        "{before}{output} = conv{}d({input}, {weight}{bias}",
        windows.len()
    );
    for (name, list, default) in named {
        let list: Vec<i64> = list;
        if list.iter().any(|own| *own != default) {
            let _ = write!(line, ", {name}={}", text(&list));
        }
    }
    Some(line + ")")
}

/// Whether the length of this convolution has to be stated: over three dimensions, or with the
/// channels last.
fn is_stated(call: &Call<'_>) -> bool {
    let is_volume = call.rank(0).is_some_and(|rank| rank > 4);
    is_volume || call.operator().starts_with("Nhwc")
}

/// A transposed convolution: each element of the input meets all weights of its channel.
pub(super) fn transposed_convolution(call: &Call<'_>) -> Option<String> {
    let (x, weight) = (call.shape(0)?, call.shape(1)?);
    let all = elements(weight)?
        .mul(x.first()?)?
        .mul(&elements(x.get(2..)?)?)?;
    let outputs = elements(&results::shape(call)?)?;
    // All steps over all elements of the output, rounded up.
    let length = all.div_up(&outputs, &call.params.values)?;
    let lines = stated(call, &length, "{y}_conv")?;
    let last = if lines.len() > 1 {
        "{y}_biased"
    } else {
        "{y}_conv"
    };
    activated(call, last, lines)
}

/// A convolution of this length, and the sum with its bias.
fn stated(call: &Call<'_>, length: &Size, output: &str) -> Option<Vec<String>> {
    let shape = results::shape(call)?;
    // The function has the channels second.
    let function = if call.operator().starts_with("Nhwc") {
        "matmul"
    } else {
        "convolution"
    };
    let mut lines = vec![format!(
        "{output} = {function}({{0}}, {{1}}, k={}) : {}",
        call.one(length),
        call.typed(&shape)
    )];
    if call.has(2) {
        let (channels, ones) = if call.operator().starts_with("Nhwc") {
            (shape.last()?, 0)
        } else {
            (shape.get(1)?, shape.len().checked_sub(2)?)
        };
        let channels = [vec![channels.clone()], vec![Size::from(1); ones]].concat();
        lines.push(format!(
            "{{y}}_bias = reshape({{2}}, shape={})\n{{y}}_biased = add({output}, {{y}}_bias)",
            call.list(&channels)
        ));
    }
    Some(lines)
}
