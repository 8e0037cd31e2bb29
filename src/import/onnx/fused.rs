//! Words of the table about operators that are several elementwise ones, norms or look-ups in one.

use crate::constant::{Scalar, float_text};
use crate::onnx::call::Call;
use crate::shapes::{dimension, elements};
use crate::size::Size;

/// The output of a dropout: its input, unless the file is for training.
pub(super) fn dropout(call: &Call<'_>, x: &str) -> String {
    let number = |at: usize| match call.value(at)?.only()? {
        Scalar::Int(size) => size.as_int().map(|number| number as f64),
        Scalar::Float(number) => Some(*number),
    };
    // The ratio and the mode are the last two inputs.
    let mode = if call.operator() == "Dropout" { 2 } else { 4 };
    let trains = number(mode).is_some_and(|mode| mode != 0.0);
    let ratio = if call.has(mode - 1) {
        number(mode - 1)
    } else {
        Some(0.5)
    };
    match ratio
        .filter(|&ratio| trains && ratio > 0.0)
        .and_then(float_text)
    {
        Some(ratio) => format!("{{y}} = dropout({x}, p={ratio})"),
        None => String::new(),
    }
}

/// A dropout of a sum with a bias, to which a residual is added.
pub(super) fn bias_dropout(call: &Call<'_>) -> Option<String> {
    let dropped = dropout(call, "{y}_sum").replacen("{y}", "{y}_dropped", 1);
    let last = if dropped.is_empty() {
        "{y}_sum"
    } else {
        "{y}_dropped"
    };
    let residual = call.has(2).then(|| format!("{{y}} = add({last}, {{2}})"));
    let mut lines = vec!["{y}_sum = add({0}, {1})".to_owned()];
    lines.extend(Some(dropped).filter(|line| !line.is_empty()));
    lines.extend(residual);
    let line = lines.last_mut()?;
    if !line.starts_with("{y} =") {
        *line = line.replacen(last, "{y}", 1);
    }
    Some(lines.join("\n"))
}

/// A norm of rows, which may have several dimensions; then they are seen as one.
pub(super) fn rows_norm(call: &Call<'_>, function: &str) -> Option<String> {
    let x = call.shape(0)?;
    let axis = dimension(call.int("axis").unwrap_or(-1), x.len())?;
    if axis + 1 == x.len() {
        return Some(format!(
            "{{y}} = {function}({{0}}, {{1}}, {{2?}}, eps={{epsilon=1e-5}})"
        ));
    }
    let (outer, inner) = x.split_at_checked(axis)?;
    let row = elements(inner)?;
    let part = |index: usize, shape: &[Size]| {
        let dtype = call.input(index)?.dtype?.name();
        Some(format!("part({{{index}}}) : {dtype}{}", call.list(shape)))
    };
    let rows = part(0, &[elements(outer)?, row.clone()])?;
    let mut lines = vec![format!("{{y}}_rows = {rows}")];
    let mut arguments = vec!["{y}_rows".to_owned()];
    for (index, word) in [(1, "scale"), (2, "bias")] {
        if call.has(index) {
            // Scales of other shapes are broadcast along a row.
            (call.elements(index)? == row).then_some(())?;
            let own = part(index, std::slice::from_ref(&row))?;
            lines.push(format!("{{y}}_{word} = {own}"));
            arguments.push(format!("{{y}}_{word}"));
        }
    }
    let arguments = arguments.join(", ");
    lines.push(format!(
        "{{y}}_normed = {function}({arguments}, eps={{epsilon=1e-5}})"
    ));
    lines.push(format!("{{y}} = part({{y}}_normed) : {}", call.typed(x)));
    Some(lines.join("\n"))
}

/// The mean of all inputs.
pub(super) fn mean_of_all(call: &Call<'_>) -> Option<String> {
    let count = call.input_count();
    if count == 1 {
        return Some(String::new());
    }
    let mut lines = vec!["{y}_sum_1 = add({0}, {1})".to_owned()];
    for index in 2..count {
        let before = index - 1;
        lines.push(format!(
            "{{y}}_sum_{index} = add({{y}}_sum_{before}, {{{index}}})"
        ));
    }
    let factor = float_text(1.0 / count as f64)?;
    lines.push(format!(
        "{{y}} = scale({{y}}_sum_{}, factor={factor})",
        count - 1
    ));
    Some(lines.join("\n"))
}

/// The negative part times its slope, of which old files have one for each channel.
pub(super) fn slope(call: &Call<'_>) -> Option<String> {
    let (x, slope) = (call.shape(0)?, call.shape(1)?);
    let [channels] = slope else {
        return Some("{y}_scaled = mul({y}_negative, {1})".to_owned());
    };
    if x.len() < 3 || channels.is_one() || channels == x.last()? {
        return Some("{y}_scaled = mul({y}_negative, {1})".to_owned());
    }
    let shape = [vec![channels.clone()], vec![Size::from(1); x.len() - 2]].concat();
    Some(format!(
        "{{y}}_slope = reshape({{1}}, shape={})\n{{y}}_scaled = mul({{y}}_negative, {{y}}_slope)",
        call.list(&shape)
    ))
}

/// GELU in its tanh form, with a bias that is added first.
pub(super) fn fast_gelu(x: &str, bias: Option<&str>) -> String {
    match bias {
        Some(bias) => {
            format!("{{y}}_sum = add({x}, {bias})\n{{y}} = gelu({{y}}_sum, approximate=tanh)")
        }
        None => format!("{{y}} = gelu({x}, approximate=tanh)"),
    }
}

/// The norm of a sum with a residual; reuses output 3, the sum, if the model reads it.
pub(super) fn skip_norm(call: &Call<'_>) -> String {
    let (before, sum) = match call.other_output(3) {
        Some(sum) => (String::new(), sum.to_owned()),
        None => (skip_sum(call, "{y}_sum") + "\n", "{y}_sum".to_owned()),
    };
    let eps = call.attribute_text("epsilon");
    let eps = eps.unwrap_or_else(|| "1e-12".to_owned());
    let norm = if is_simplified(call) {
        "rms_norm"
    } else {
        "layer_norm"
    };
    let bias = if is_simplified(call) { "" } else { ", {3?}" };
    format!("{before}{{y}} = {norm}({sum}, {{2}}{bias}, eps={eps})")
}

/// The simplified norm has no shift, so its bias of the sum stands one input earlier.
fn is_simplified(call: &Call<'_>) -> bool {
    call.operator() == "SkipSimplifiedLayerNormalization"
}

/// The sum of a residual, of what is added to it, and of a bias.
pub(super) fn skip_sum(call: &Call<'_>, output: &str) -> String {
    let bias = if is_simplified(call) { 3 } else { 4 };
    if call.has(bias) {
        format!("{{y}}_residual = add({{0}}, {{1}})\n{output} = add({{y}}_residual, {{{bias}}})")
    } else {
        format!("{output} = add({{0}}, {{1}})")
    }
}

/// The layer norm of the sum of word, position and segment embeddings.
pub(super) fn embed_norm(call: &Call<'_>) -> Option<String> {
    let (before, sum) = match call.other_output(2) {
        Some(sum) => (String::new(), sum.to_owned()),
        None => (embed_sum(call, "{y}_sum")? + "\n", "{y}_sum".to_owned()),
    };
    let eps = call.attribute_text("epsilon");
    let eps = eps.unwrap_or_else(|| "1e-12".to_owned());
    Some(format!(
        "{before}{{y}} = layer_norm({sum}, {{5}}, {{6?}}, eps={eps})"
    ))
}

/// The sum of word, position and segment embeddings.
pub(super) fn embed_sum(call: &Call<'_>, output: &str) -> Option<String> {
    let mut lines = vec!["{y}_words = embedding({0}, {2})".to_owned()];
    if call.has(8) {
        lines.push("{y}_positions = embedding({8}, {3})".to_owned());
    } else {
        let tokens = call.shape(0)?.get(1)?;
        lines.push(format!(
            "{{y}}_positions = slice({{3}}, end={}, axis=0)",
            call.one(tokens)
        ));
    }
    let sum = if call.has(1) && call.has(4) {
        "{y}_placed"
    } else {
        output
    };
    lines.push(format!("{sum} = add({{y}}_words, {{y}}_positions)"));
    if sum != output {
        lines.push("{y}_segments = embedding({1}, {4})".to_owned());
        lines.push(format!("{output} = add({{y}}_placed, {{y}}_segments)"));
    }
    Some(lines.join("\n"))
}
