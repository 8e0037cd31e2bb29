//! Losses and distances, in the ops that PyTorch decomposes them into.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::{Call, number_text};
use crate::size::Size;
use std::fmt::Write;

/// Lines whose operands autocast brings to the type of the result.
pub(super) fn in_result_type(text: impl Into<String>) -> Becomes {
    Becomes::Lines(Cast::Result, text.into())
}

/// All dimensions of a tensor, as a reduction names them.
pub(super) fn all_axes(rank: usize) -> String {
    match rank {
        1 => "0".to_owned(),
        rank => format!("{:?}", (0..rank).collect::<Vec<_>>()),
    }
}

/// What becomes of the losses of single elements or rows.
#[derive(Clone, Copy)]
pub(super) enum Reduction {
    None,
    Mean,
    Sum,
}

pub(super) fn reduction_of(call: &Call<'_>) -> Option<Reduction> {
    Some(match call.int_or("reduction", 1)? {
        0 => Reduction::None,
        1 => Reduction::Mean,
        _ => Reduction::Sum,
    })
}

/// Applies the reduction to `{y}_losses`.
fn reduced(call: &Call<'_>, lines: &str, rank: usize) -> Option<Becomes> {
    let axes = all_axes(rank);
    Some(in_result_type(match reduction_of(call)? {
        Reduction::None => lines.replace("{y}_losses =", "{y} ="),
        Reduction::Mean => {
            format!("{lines}\n{{y}} = mean({{y}}_losses, axis={axes}, keepdim=false)")
        }
        Reduction::Sum => format!("{lines}\n{{y}} = sum({{y}}_losses, axis={axes}, keepdim=false)"),
    }))
}

/// Losses of the difference of two tensors of one shape.
pub(super) fn of_difference(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    if call.shape_of("target") != Some(shape) || shape.is_empty() {
        return None;
    }
    let mut lines = "{y}_difference = sub({self}, {target})\n".to_owned();
    // Writing to a `String` cannot fail.
    let _ = match call.operator {
        "mse_loss" => write!(lines, "{{y}}_losses = square({{y}}_difference)"),
        "l1_loss" => write!(lines, "{{y}}_losses = abs({{y}}_difference)"),
        _ => {
            let is_smooth = call.operator == "smooth_l1_loss";
            let given = if is_smooth { "beta" } else { "delta" };
            let bend = call.number_or(given, 1.0)?;
            let (square, half) = if is_smooth {
                (0.5 / bend, 0.5 * bend)
            } else {
                (0.5, 0.5 * bend)
            };
            let (bend, square, half) =
                (number_text(bend)?, number_text(square)?, number_text(half)?);
            let _ = write!(
                lines,
                "{{y}}_distance = abs({{y}}_difference)\n\
                 {{y}}_is_near = lt({{y}}_distance, {bend})\n\
                 {{y}}_square = square({{y}}_distance)\n\
                 {{y}}_near = mul({{y}}_square, {square})\n\
                 {{y}}_far = sub({{y}}_distance, {half})\n"
            );
            if !is_smooth && bend != "1" {
                let _ = writeln!(lines, "{{y}}_steep = mul({{y}}_far, {bend})");
                let _ = write!(
                    lines,
                    "{{y}}_losses = where({{y}}_is_near, {{y}}_near, {{y}}_steep)"
                );
            } else {
                let _ = write!(
                    lines,
                    "{{y}}_losses = where({{y}}_is_near, {{y}}_near, {{y}}_far)"
                );
            }
            Ok(())
        }
    };
    reduced(call, &lines, shape.len())
}

/// The divergence of two distributions, of which `self` is given by its logarithms.
pub(super) fn divergence(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    if call.shape_of("target") != Some(shape) || shape.is_empty() {
        return None;
    }
    let lines = if call.flag("log_target") {
        "{y}_target = exp({target})\n\
         {y}_difference = sub({target}, {self})\n\
         {y}_losses = mul({y}_target, {y}_difference)"
    } else {
        "{y}_entropy = xlogy({target}, {target})\n\
         {y}_product = mul({target}, {self})\n\
         {y}_losses = sub({y}_entropy, {y}_product)"
    };
    reduced(call, lines, shape.len())
}

/// The loss of truth values by the logarithms of their odds.
pub(super) fn of_odds(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    if call.shape_of("target") != Some(shape) || shape.is_empty() {
        return None;
    }
    let mut lines = String::new();
    let mut weighted = "{y}_log";
    if call.has("pos_weight") {
        lines.push_str(
            "{y}_beyond = sub({pos_weight}, 1)\n\
             {y}_scaled = mul({y}_beyond, {target})\n\
             {y}_weight = add({y}_scaled, 1)\n",
        );
        weighted = "{y}_weighted";
    }
    lines.push_str(
        "{y}_rest = sub(1, {target})\n\
         {y}_product = mul({y}_rest, {self})\n\
         {y}_log = log_sigmoid({self})\n",
    );
    if call.has("pos_weight") {
        lines.push_str("{y}_weighted = mul({y}_weight, {y}_log)\n");
    }
    // Writing to a `String` cannot fail.
    let _ = if call.has("weight") {
        write!(
            lines,
            "{{y}}_difference = sub({{y}}_product, {weighted})\n\
             {{y}}_losses = mul({{y}}_difference, {{weight}})"
        )
    } else {
        write!(lines, "{{y}}_losses = sub({{y}}_product, {weighted})")
    };
    reduced(call, &lines, shape.len())
}

/// Euclidean distances of many rows, by one product: `|a|² - 2 a b + |b|²`. Few rows are compared
/// element by element.
pub(super) fn distances(call: &Call<'_>) -> Option<Becomes> {
    const FEW: i64 = 25;
    let (a, b) = (call.shape_of("x1")?, call.shape_of("x2")?);
    let ([a_outer @ .., rows, _], [b_outer @ .., columns, _]) = (a, b) else {
        return None;
    };
    let is_few = |size: &Size| {
        size.value(&call.params().values)
            .is_none_or(|size| size <= FEW)
    };
    let mode = call.int_or("compute_mode", 0)?;
    let by_product = mode == 1 || mode == 0 && !(is_few(rows) && is_few(columns));
    if a_outer != b_outer || call.differs("p", 2.0) || !by_product {
        return None;
    }
    let one = Size::from(1);
    let of = |outer: &[Size], size: &Size| {
        let shape = call.list(&[outer, &[size.clone(), one.clone()]].concat());
        format!("{}{shape}", call.dtype.name())
    };
    let (axis, rank) = (a.len() - 1, a.len());
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    Some(in_result_type(format!(
        "{{y}}_squares = square({{x1}})\n\
         {{y}}_norms = sum({{y}}_squares, axis=-1, keepdim=true)\n\
         {{y}}_ones = full(value=1) : {}\n\
         {{y}}_other_squares = square({{x2}})\n\
         {{y}}_other_norms = sum({{y}}_other_squares, axis=-1, keepdim=true)\n\
         {{y}}_other_ones = full(value=1) : {}\n\
         {{y}}_doubled = mul({{x1}}, -2)\n\
         {{y}}_left = concat({{y}}_doubled, {{y}}_norms, {{y}}_ones, axis={axis})\n\
         {{y}}_right = concat({{x2}}, {{y}}_other_ones, {{y}}_other_norms, axis={axis})\n\
         {{y}}_turned = transpose({{y}}_right, perm={perm:?})\n\
         {{y}}_product = matmul({{y}}_left, {{y}}_turned)\n\
         {{y}}_positive = clamp({{y}}_product, min=0)\n\
         {{y}} = sqrt({{y}}_positive)",
        of(a_outer, rows),
        of(b_outer, columns),
    )))
}

/// The logarithm of a sum of exponentials, with the largest element subtracted first.
pub(super) fn log_sum_exp(call: &Call<'_>) -> Option<Becomes> {
    let list = call.ints("dim").filter(|dim| !dim.is_empty())?;
    let axes = match list.as_slice() {
        [axis] => axis.to_string(),
        list => format!("{list:?}"),
    };
    let keeps = call.flag("keepdim");
    let (narrow, largest) = if keeps {
        (String::new(), "{y}_largest")
    } else {
        let shape = call.list(&call.shape);
        (
            format!("{{y}}_narrow = reshape({{y}}_largest, shape={shape})\n"),
            "{y}_narrow",
        )
    };
    Some(in_result_type(format!(
        "{{y}}_max = max({{self}}, axis={axes}, keepdim=true)\n\
         {{y}}_size = abs({{y}}_max)\n\
         {{y}}_is_infinite = eq({{y}}_size, 3.4e38)\n\
         {{y}}_largest = where({{y}}_is_infinite, 0, {{y}}_max)\n\
         {narrow}\
         {{y}}_shifted = sub({{self}}, {{y}}_largest)\n\
         {{y}}_exp = exp({{y}}_shifted)\n\
         {{y}}_sum = sum({{y}}_exp, axis={axes}, keepdim={keeps})\n\
         {{y}}_log = log({{y}}_sum)\n\
         {{y}} = add({{y}}_log, {largest})"
    )))
}

/// 1 at the class of each element, else 0.
pub(super) fn one_hot(call: &Call<'_>) -> Option<Becomes> {
    let (classes, outer) = call.shape.split_last()?;
    let classes = call.list(std::slice::from_ref(classes));
    let column = call.list(&[outer, &[Size::from(1)]].concat());
    let dtype = call.dtype.name();
    Some(Becomes::lines(format!(
        "{{y}}_classes = arange() : {dtype}{classes}\n\
         {{y}}_column = reshape({{self}}, shape={column})\n\
         {{y}}_hits = eq({{y}}_column, {{y}}_classes)\n\
         {{y}} = cast({{y}}_hits, dtype={dtype})"
    )))
}
