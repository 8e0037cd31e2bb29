//! Losses and distances, in the ops that PyTorch decomposes them into.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::{Call, number_text};
use crate::size::Size;
use std::fmt::Write;

/// Lines whose operands autocast brings to the type of the result.
fn in_result_type(text: impl Into<String>) -> Becomes {
    Becomes::Lines(Cast::Result, text.into())
}

/// All dimensions of a tensor, as a reduction names them.
fn all_axes(rank: usize) -> String {
    match rank {
        1 => "0".to_owned(),
        rank => format!("{:?}", (0..rank).collect::<Vec<_>>()),
    }
}

/// What becomes of the losses of single elements or rows.
#[derive(Clone, Copy)]
enum Reduction {
    None,
    Mean,
    Sum,
}

fn reduction_of(call: &Call<'_>) -> Option<Reduction> {
    if !call.has("reduction") {
        return Some(Reduction::Mean);
    }
    Some(match call.int("reduction")? {
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
            let bend = if call.has(given) {
                call.number(given)?
            } else {
                1.0
            };
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

/// The logarithm of the softmax at the class of each row, and its mean over the rows that count.
pub(super) fn cross_entropy(call: &Call<'_>) -> Option<Becomes> {
    let (shape, target) = (call.shape_of("self")?, call.shape_of("target")?);
    let rank = shape.len();
    let smoothing = if call.has("label_smoothing") {
        call.number("label_smoothing")?
    } else {
        0.0
    };
    let is_smooth = smoothing != 0.0;
    let is_weighted = call.has("weight");
    if rank < 2 || target.len() + 1 != rank || is_smooth && is_weighted {
        return None;
    }
    let ignored = if call.has("ignore_index") {
        call.int("ignore_index")?
    } else {
        -100
    };
    let mut lines = String::new();
    let mut of = "{self}";
    if call.operator == "cross_entropy_loss" {
        lines.push_str("{y}_logs = log_softmax({self}, axis=1)\n");
        of = "{y}_logs";
    }
    let (logs, classes) = (of, shape.get(1)?);
    let (batch, rest) = target.split_first()?;
    let one = Size::from(1);
    // Writing to a `String` cannot fail.
    if is_weighted {
        let ones = vec![one.clone(); rank - 2];
        let by_class = call.list(&[&[one.clone(), classes.clone()], &ones[..]].concat());
        let _ = write!(
            lines,
            "{{y}}_weights = reshape({{weight}}, shape={by_class})\n\
             {{y}}_weighted = mul({logs}, {{y}}_weights)\n"
        );
        of = "{y}_weighted";
    }
    let column = call.list(&[std::slice::from_ref(batch), &[one], rest].concat());
    let (rows, whole) = (call.list(target), call.list(shape));
    let _ = write!(
        lines,
        "{{y}}_is_class = ne({{target}}, {ignored})\n\
         {{y}}_class = where({{y}}_is_class, {{target}}, 0)\n\
         {{y}}_column = reshape({{y}}_class, shape={column})\n\
         {{y}}_picked = gather({of}, {{y}}_column, axis=1)\n\
         {{y}}_log = reshape({{y}}_picked, shape={rows})\n\
         {{y}}_negative = neg({{y}}_log)\n\
         {{y}}_is_lost = ne({{target}}, {ignored})\n\
         {{y}}_losses = where({{y}}_is_lost, {{y}}_negative, 0)"
    );
    let (axes, dtype) = (all_axes(target.len()), call.dtype.name());
    let reduction = reduction_of(call)?;
    // What the losses of the rows become, and the number by which a mean divides them.
    let total = |lines: &mut String, name: &str| {
        let _ = write!(
            lines,
            "\n{{y}}_{name}_sum = sum({{y}}_{name}, axis={axes}, keepdim=false)"
        );
    };
    let loss = match reduction {
        Reduction::None => "{y}_losses",
        Reduction::Sum => {
            total(&mut lines, "losses");
            "{y}_losses_sum"
        }
        Reduction::Mean if is_weighted => {
            let _ = write!(
                lines,
                "\n{{y}}_spread = expand({{y}}_weights, shape={whole})\n\
                 {{y}}_chosen = gather({{y}}_spread, {{y}}_column, axis=1)\n\
                 {{y}}_of_rows = reshape({{y}}_chosen, shape={rows})\n\
                 {{y}}_counts = ne({{target}}, {ignored})\n\
                 {{y}}_shares = where({{y}}_counts, {{y}}_of_rows, 0)"
            );
            total(&mut lines, "shares");
            total(&mut lines, "losses");
            lines.push_str("\n{y}_mean = div({y}_losses_sum, {y}_shares_sum)");
            "{y}_mean"
        }
        Reduction::Mean => {
            let _ = write!(
                lines,
                "\n{{y}}_counts = ne({{target}}, {ignored})\n\
                 {{y}}_total = sum({{y}}_counts, axis={axes}, keepdim=false)\n\
                 {{y}}_number = cast({{y}}_total, dtype={dtype})"
            );
            total(&mut lines, "losses");
            lines.push_str("\n{y}_mean = div({y}_losses_sum, {y}_number)");
            "{y}_mean"
        }
    };
    if !is_smooth {
        let (before, last) = lines.rsplit_once('\n')?;
        let (_, value) = last.split_once(" = ")?;
        return Some(in_result_type(format!("{before}\n{{y}} = {value}")));
    }
    // A share of the loss comes from all classes alike.
    let _ = write!(
        lines,
        "\n{{y}}_all = sum({logs}, axis=1, keepdim=false)\n\
         {{y}}_away = neg({{y}}_all)\n\
         {{y}}_is_ignored = eq({{target}}, {ignored})\n\
         {{y}}_smooth = where({{y}}_is_ignored, 0, {{y}}_away)"
    );
    let smooth = match reduction {
        Reduction::None => "{y}_smooth",
        Reduction::Sum => {
            total(&mut lines, "smooth");
            "{y}_smooth_sum"
        }
        Reduction::Mean => {
            let _ = write!(
                lines,
                "\n{{y}}_is_kept = logical_not({{y}}_is_ignored)\n\
                 {{y}}_kept = sum({{y}}_is_kept, axis={axes}, keepdim=false)"
            );
            total(&mut lines, "smooth");
            lines.push_str("\n{y}_smooth_mean = div({y}_smooth_sum, {y}_kept)");
            "{y}_smooth_mean"
        }
    };
    let count = classes.value(&call.params().values)?;
    let share = number_text(smoothing / count as f64)?;
    let own = number_text(1.0 - smoothing)?;
    let _ = write!(
        lines,
        "\n{{y}}_share = mul({smooth}, {share})\n\
         {{y}}_own = mul({loss}, {own})\n\
         {{y}} = add({{y}}_own, {{y}}_share)"
    );
    Some(in_result_type(lines))
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
    let mode = if call.has("compute_mode") {
        call.int("compute_mode")?
    } else {
        0
    };
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
