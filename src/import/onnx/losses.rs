//! Words of the table about losses over classes.

use crate::onnx::call::Call;
use crate::size::Size;
use fuseline_core::model::dtype::DType;

/// The negative log likelihood of the targets.
pub(super) fn likelihood_loss(call: &Call<'_>) -> Option<String> {
    loss(call, "{0}", Vec::new())
}

/// The same of the softmax of the scores; reuses output 1, its logarithm, if the model reads it.
pub(super) fn entropy_loss(call: &Call<'_>) -> Option<String> {
    match call.other_output(1) {
        Some(logs) => loss(call, logs, Vec::new()),
        None => loss(
            call,
            "{y}_logs",
            vec!["{y}_logs = log_softmax({0}, axis=1)".to_owned()],
        ),
    }
}

fn loss(call: &Call<'_>, logs: &str, mut lines: Vec<String>) -> Option<String> {
    let target = call.shape(1)?;
    if call.input(1)?.dtype != Some(DType::I64) {
        lines.push("{y}_target = cast({1}, dtype=i64)".to_owned());
    }
    let target_text = match call.input(1)?.dtype {
        Some(DType::I64) => "{1}",
        _ => "{y}_target",
    };
    // Targets of this value count nothing. They need not be classes, so they look up the first one.
    let ignored = call.int("ignore_index");
    if let Some(ignored) = ignored {
        lines.push(format!("{{y}}_counts = ne({target_text}, {ignored})"));
        lines.push(format!(
            "{{y}}_class = where({{y}}_counts, {target_text}, 0)"
        ));
    }
    let index = ignored.map_or(target_text, |_| "{y}_class");
    let mut column = target.to_vec();
    column.insert(1.min(target.len()), Size::from(1));
    lines.push(format!(
        "{{y}}_column = reshape({index}, shape={})",
        call.list(&column)
    ));
    lines.push(format!(
        "{{y}}_picked = gather({logs}, {{y}}_column, axis=1)"
    ));
    lines.push(format!(
        "{{y}}_likelihood = reshape({{y}}_picked, shape={})",
        call.list(target)
    ));
    lines.push("{y}_loss = neg({y}_likelihood)".to_owned());
    let mut last = "{y}_loss";
    let is_weighted = call.has(2);
    if is_weighted {
        lines.push(format!("{{y}}_weights = index({{2}}, {index})"));
        lines.push(format!("{{y}}_weighted = mul({last}, {{y}}_weights)"));
        last = "{y}_weighted";
    }
    if ignored.is_some() {
        lines.push(format!("{{y}}_kept = where({{y}}_counts, {last}, 0)"));
        last = "{y}_kept";
    }
    let axes: Vec<usize> = (0..target.len()).collect();
    let all = format!("axis={axes:?}, keepdim=false");
    match call.word("reduction").unwrap_or("mean") {
        "none" => {
            let line = lines.last_mut()?;
            *line = line.replacen(last, "{y}", 1);
        }
        "mean" if is_weighted => {
            lines.push(format!("{{y}}_sum = sum({last}, {all})"));
            let mut weights = "{y}_weights";
            if ignored.is_some() {
                lines.push("{y}_kept_weights = where({y}_counts, {y}_weights, 0)".to_owned());
                weights = "{y}_kept_weights";
            }
            lines.push(format!("{{y}}_weight = sum({weights}, {all})"));
            lines.push("{y} = div({y}_sum, {y}_weight)".to_owned());
        }
        "mean" if ignored.is_some() => {
            lines.push(format!("{{y}}_sum = sum({last}, {all})"));
            lines.push(format!("{{y}}_total = sum({{y}}_counts, {all})"));
            let dtype = call.dtype().name();
            lines.push(format!("{{y}}_number = cast({{y}}_total, dtype={dtype})"));
            lines.push("{y} = div({y}_sum, {y}_number)".to_owned());
        }
        "mean" => lines.push(format!("{{y}} = mean({last}, {all})")),
        _ => lines.push(format!("{{y}} = sum({last}, {all})")),
    }
    Some(lines.join("\n"))
}
