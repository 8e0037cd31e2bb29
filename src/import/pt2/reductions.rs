//! Operators along axes.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::{Call, number_text};
use crate::shapes::{dimension, elements};
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use std::fmt::Write;

/// The axes that a reduction names; all where it names none.
fn axes(call: &Call<'_>) -> Option<Vec<usize>> {
    let rank = call.rank_of("self")?;
    let named = call.ints("dim").filter(|named| !named.is_empty());
    match named {
        Some(named) => named.iter().map(|&axis| dimension(axis, rank)).collect(),
        None if call.has("dim") && call.ints("dim").is_none() => None,
        None => Some((0..rank).collect()),
    }
}

/// `axis=1, keepdim=true`.
pub(super) fn reduced(call: &Call<'_>) -> Option<String> {
    let axes = axes(call)?;
    let axes = match axes.as_slice() {
        [only] => only.to_string(),
        list => format!("{list:?}"),
    };
    Some(format!("axis={axes}, keepdim={}", call.flag("keepdim")))
}

/// A reduction that computes in the type of its result; a scalar stays as it is.
pub(super) fn sum(call: &Call<'_>) -> Option<Becomes> {
    if call.rank_of("self") == Some(0) {
        return call.tensor_index("self").map(Becomes::Same);
    }
    let function = match call.operator {
        "amax" => "max",
        "amin" => "min",
        other => other,
    };
    let cast = if function.len() == 3 && function != "sum" && function != "any" && function != "all"
    {
        Cast::None
    } else {
        Cast::Result
    };
    let text = format!("{{y}} = {function}({{self}}, {{reduced}})");
    Some(Becomes::Lines(cast, accumulated(call, function, text)))
}

/// The largest or smallest element up to each one, or its index; both are one kernel, which no
/// function computes.
pub(super) fn scan(call: &Call<'_>) -> Option<Becomes> {
    (!call.uses_both()).then(|| Becomes::lines("{y} = reduction({self})"))
}

/// A sum along an axis up to each element.
#[allow(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn cumsum(call: &Call<'_>) -> Option<Becomes> {
    let text = "{y} = cumsum({self}, axis={dim=-1})".to_owned();
    let text = accumulated(call, "cumsum", text);
    Some(Becomes::Lines(Cast::Result, text))
}

/// The line of a reduction, with a cast behind it where it gives i64 and the operator a narrower
/// integer.
fn accumulated(call: &Call<'_>, function: &str, line: String) -> String {
    let accumulates = Function::from_name(function).is_some_and(Function::accumulates);
    if accumulates && call.dtype.is_integer() && call.dtype != DType::I64 {
        let line = line.replacen("{y}", "{y}_wide", 1);
        format!(
            "{line}\n{{y}} = cast({{y}}_wide, dtype={})",
            call.dtype.name()
        )
    } else {
        line
    }
}

/// Variance and standard deviation. The notation's variance divides by n - 1.
pub(super) fn spread(call: &Call<'_>) -> Option<Becomes> {
    let is_biased = match (call.argument("correction"), call.argument("unbiased")) {
        (Some(_), _) if !call.differs("correction", 0.0) => true,
        (Some(_), _) if call.differs("correction", 1.0) => return None,
        (_, Some(_)) => !call.flag("unbiased"),
        _ => false,
    };
    let is_root = call.operator.starts_with("std");
    let mut lines = vec![];
    let mut last = "variance";
    lines.push("{y}_variance = var({self}, {reduced})".to_owned());
    if is_biased {
        let shape = call.shape_of("self")?;
        let sizes: Vec<Size> = axes(call)?
            .iter()
            .filter_map(|&axis| shape.get(axis).cloned())
            .collect();
        let count = elements(&sizes)?.as_int().filter(|&count| count > 0)? as f64;
        let factor = number_text((count - 1.0) / count)?;
        lines.push(format!("{{y}}_biased = mul({{y}}_{last}, {factor})"));
        last = "biased";
    }
    if is_root {
        lines.push(format!("{{y}}_root = sqrt({{y}}_{last})"));
        last = "root";
    }
    let text = lines
        .join("\n")
        .replace(&format!("{{y}}_{last} ="), "{y} =");
    Some(Becomes::lines(text))
}

/// The root of the sum of squares.
pub(super) fn norm(call: &Call<'_>) -> Option<Becomes> {
    let is_two = !call.differs("ord", 2.0) && !call.differs("p", 2.0);
    is_two.then(|| {
        let text = "{y}_squares = square({self})\n{y}_sum = sum({y}_squares, {reduced})\n{y} = sqrt({y}_sum)";
        Becomes::Lines(Cast::Result, text.to_owned())
    })
}

/// The largest or smallest element, or its index. An index where no axis is named is that of the
/// elements in a row.
pub(super) fn extreme(call: &Call<'_>) -> Option<Becomes> {
    let kind = call.operator;
    let function = if call.index == 1 {
        format!("arg{kind}")
    } else {
        kind.to_owned()
    };
    let is_indexed = function.starts_with("arg");
    if call.has("dim") || !is_indexed && call.rank_of("self")? > 0 {
        return Some(Becomes::lines(format!(
            "{{y}} = {function}({{self}}, {{reduced}})"
        )));
    }
    let count = call.one(&elements(call.shape_of("self")?)?);
    let flat = format!("{{y}}_flat = reshape({{self}}, shape=[{count}])");
    let only = format!("{function}({{y}}_flat, axis=0, keepdim=false)");
    Some(Becomes::lines(if call.shape.is_empty() {
        format!("{flat}\n{{y}} = {only}")
    } else {
        format!("{flat}\n{{y}}_only = {only}\n{{y}} = reshape({{y}}_only)")
    }))
}

/// `, eps=1e-5`. An RMS norm without a number adds the distance from 1 to the next number of the
/// type in which it computes.
pub(super) fn eps(call: &Call<'_>) -> Option<String> {
    let is_open = call.operator.ends_with("rms_norm") && !call.has("eps");
    let smallest = || {
        let input = call.tensor("input")?.dtype?;
        Some(if input == DType::F64 {
            f64::EPSILON
        } else {
            f64::from(f32::EPSILON)
        })
    };
    let eps = if is_open {
        smallest()
    } else {
        call.number("eps")
    };
    eps.map_or_else(
        || Some(String::new()),
        |eps| Some(format!(", eps={}", number_text(eps)?)),
    )
}

/// Under autocast a norm computes in f32; else its weights may be wider than its input.
fn widened(call: &Call<'_>) -> Cast {
    let is_wider = call.dtype == DType::F32
        && call
            .tensor("input")
            .is_some_and(|input| input.dtype != Some(DType::F32));
    if is_wider { Cast::Result } else { Cast::None }
}

/// A norm over the last dimensions, which are one in the notation.
fn row_norm(call: &Call<'_>, function: &str, tensors: &[&str]) -> Option<Becomes> {
    let over = call.sizes("normalized_shape")?;
    let shape = call.shape_of("input")?;
    let outer = shape.get(..shape.len().checked_sub(over.len())?)?;
    if call.has("bias") && !call.has("weight") {
        let bias = call.list(&over);
        return Some(Becomes::Lines(
            widened(call),
            format!(
                "{{y}}_norm = {function}({{input}}{{eps}})\n\
                 {{y}}_bias = reshape({{bias}}, shape={bias})\n\
                 {{y}} = add({{y}}_norm, {{y}}_bias)"
            ),
        ))
        .filter(|_| over.len() == 1);
    }
    let given: Vec<&str> = tensors
        .iter()
        .copied()
        .filter(|name| call.has(name))
        .collect();
    if over.len() == 1 {
        let inputs: Vec<String> = given.iter().map(|name| format!(", {{{name}}}")).collect();
        let line = format!("{{y}} = {function}({{input}}{}{{eps}})", inputs.concat());
        return Some(Becomes::Lines(widened(call), line));
    }
    let count = elements(&over)?;
    let rows = call.list(&[outer, std::slice::from_ref(&count)].concat());
    let mut text = format!("{{y}}_rows = reshape({{input}}, shape={rows})\n");
    for name in &given {
        let line = format!(
            "{{y}}_{name} = reshape({{{name}}}, shape={})\n",
            call.list(std::slice::from_ref(&count))
        );
        text.push_str(&line);
    }
    let inputs: Vec<String> = given.iter().map(|name| format!(", {{y}}_{name}")).collect();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "{{y}}_norm = {function}({{y}}_rows{}{{eps}})",
        inputs.concat()
    );
    text.push_str("{y} = reshape({y}_norm)");
    Some(Becomes::Lines(widened(call), text))
}

pub(super) fn layer_norm(call: &Call<'_>) -> Option<Becomes> {
    row_norm(call, "layer_norm", &["weight", "bias"])
}

/// The axes that a row norm works along.
fn row_axes(call: &Call<'_>) -> Option<String> {
    let rank = call.rank_of("input")?;
    let first = rank.checked_sub(call.sizes("normalized_shape")?.len())?;
    Some(match rank - first {
        1 => first.to_string(),
        _ => format!("{:?}", (first..rank).collect::<Vec<_>>()),
    })
}

/// The mean of each row, which the gradient of a norm reads.
pub(super) fn row_mean(call: &Call<'_>) -> Option<Becomes> {
    let axes = row_axes(call)?;
    Some(Becomes::lines(format!(
        "{{y}} = mean({{input}}, axis={axes}, keepdim=true)"
    )))
}

/// The reciprocal standard deviation of each row, which the gradient of a norm reads.
pub(super) fn row_scale(call: &Call<'_>) -> Option<Becomes> {
    let (axes, eps) = (row_axes(call)?, number_text(call.number("eps")?)?);
    Some(Becomes::lines(format!(
        "{{y}}_variance = var({{input}}, axis={axes}, keepdim=true)\n\
         {{y}}_shifted = add({{y}}_variance, {eps})\n\
         {{y}} = rsqrt({{y}}_shifted)"
    )))
}

/// A weight as its length times its direction, each along all axes but one.
pub(super) fn weight_norm(call: &Call<'_>) -> Option<Becomes> {
    let rank = call.rank_of("v")?;
    let kept = call.axis_or_first("dim", rank)?;
    let axes: Vec<usize> = (0..rank).filter(|&axis| axis != kept).collect();
    Some(Becomes::lines(format!(
        "{{y}}_square = square({{v}})\n\
         {{y}}_sum = sum({{y}}_square, axis={axes:?}, keepdim=true)\n\
         {{y}}_norm = sqrt({{y}}_sum)\n\
         {{y}}_scale = div({{g}}, {{y}}_norm)\n\
         {{y}} = mul({{v}}, {{y}}_scale)"
    )))
}

pub(super) fn rms_norm(call: &Call<'_>) -> Option<Becomes> {
    row_norm(call, "rms_norm", &["weight"])
}

pub(super) fn group_norm(call: &Call<'_>) -> Option<Becomes> {
    let is_shifted_alone = call.has("bias") && !call.has("weight");
    let groups = match call.operator {
        "instance_norm" => call.shape_of("input")?.get(1)?.clone(),
        _ => call.size("num_groups").or_else(|| call.size("group"))?,
    };
    let line = format!(
        "{{y}} = group_norm({{input}}, {{weight?}}, {{bias?}}, groups={}{{eps}})",
        call.one(&groups)
    );
    // An instance norm may take the statistics that were measured in training.
    let is_of_input = !call.has("use_input_stats") || call.flag("use_input_stats");
    (is_of_input && !is_shifted_alone).then_some(Becomes::Lines(widened(call), line))
}

/// Batch norm by running statistics, or by those of the batch.
pub(super) fn batch_norm(call: &Call<'_>) -> Option<Becomes> {
    let is_functional = matches!(
        call.operator,
        "_native_batch_norm_legit_functional" | "_native_batch_norm_legit"
    );
    let trains = call.flag("training") || is_functional && !call.has("training");
    let line = if trains || !call.has("running_mean") {
        "{y} = batch_norm({input}, {weight?}, {bias?}{eps}, training=true)"
    } else {
        "{y} = batch_norm({input}, {running_mean}, {running_var}, {weight?}, {bias?}{eps})"
    };
    let trains = trains || !call.has("running_mean");
    if call.has("weight") == call.has("bias") {
        return Some(Becomes::lines(line));
    }
    // The notation takes weight and bias together.
    let (given, function) = if call.has("weight") {
        ("weight", "mul")
    } else {
        ("bias", "add")
    };
    let mut channels = vec![Size::from(1); call.shape.len().checked_sub(1)?];
    *channels.first_mut()? = call.shape.get(1)?.clone();
    let norm = if trains {
        "batch_norm({input}{eps}, training=true)"
    } else {
        "batch_norm({input}, {running_mean}, {running_var}{eps})"
    };
    Some(Becomes::lines(format!(
        "{{y}}_norm = {norm}\n\
         {{y}}_{given} = reshape({{{given}}}, shape={})\n\
         {{y}} = {function}({{y}}_norm, {{y}}_{given})",
        call.list(&channels)
    )))
}

/// The axes of a batch norm: all but the channels.
fn batch_axes(call: &Call<'_>) -> Option<Vec<usize>> {
    let rank = call.rank_of("input")?;
    Some((0..rank).filter(|&axis| axis != 1).collect())
}

/// The mean of each channel, which the gradient of a batch norm reads.
pub(super) fn batch_mean(call: &Call<'_>) -> Option<Becomes> {
    let axes = batch_axes(call)?;
    Some(Becomes::lines(format!(
        "{{y}} = mean({{input}}, axis={axes:?}, keepdim=false)"
    )))
}

/// The reciprocal standard deviation of each channel, which the gradient of a batch norm reads.
pub(super) fn batch_scale(call: &Call<'_>) -> Option<Becomes> {
    let (axes, eps) = (batch_axes(call)?, number_text(call.number("eps")?)?);
    Some(Becomes::lines(format!(
        "{{y}}_variance = var({{input}}, axis={axes:?}, keepdim=false)\n\
         {{y}}_shifted = add({{y}}_variance, {eps})\n\
         {{y}} = rsqrt({{y}}_shifted)"
    )))
}

/// Running statistics, whose updates do not count.
pub(super) fn running_mean(call: &Call<'_>) -> Option<Becomes> {
    call.tensor_index("running_mean").map(Becomes::Unchanged)
}

/// As [`running_mean`].
pub(super) fn running_variance(call: &Call<'_>) -> Option<Becomes> {
    call.tensor_index("running_var").map(Becomes::Unchanged)
}
