//! Words of the table about products.

use crate::constant::float_text;
use crate::onnx::call::Call;
use crate::size::Size;
use std::fmt::Write;

pub(super) fn matmul(call: &Call<'_>) -> Option<String> {
    match (call.shape(0), call.shape(1)) {
        // A vector on the right is a matrix of one column.
        (Some(a), Some([k])) if a.len() > 1 => {
            let rows = a.get(..a.len() - 1)?;
            Some(format!(
                "{{y}}_column = reshape({{1}}, shape={})\n{{y}}_product = matmul({{0}}, {{y}}_column)\n{{y}} = reshape({{y}}_product, shape={})",
                call.list(&[k.clone(), Size::from(1)]),
                call.list(rows)
            ))
        }
        (Some([_]), _) | (_, Some([_])) => None,
        _ => Some("{y} = matmul({0}, {1})".to_owned()),
    }
}

pub(super) fn gemm(call: &Call<'_>) -> Option<String> {
    let flag = |name: &str| call.int(name).unwrap_or(0) != 0;
    let factor = |name: &str| {
        call.float(name)
            .filter(|factor| !factor.total_cmp(&1.0).is_eq())
    };
    let (transposes_a, transposes_b) = (flag("transA"), flag("transB"));
    let (alpha, beta) = (factor("alpha"), factor("beta"));
    let is_bias = !call.has(2) || call.rank(2) == Some(1);
    if transposes_b && !transposes_a && alpha.is_none() && beta.is_none() && is_bias {
        return Some("{y} = linear({0}, {1}, {2?})".to_owned());
    }
    // Writing to a `String` cannot fail.
    let mut attributes = String::new();
    for (name, _) in [("transpose_a", transposes_a), ("transpose_b", transposes_b)]
        .iter()
        .filter(|(_, on)| *on)
    {
        let _ = write!(attributes, ", {name}=true");
    }
    let mut lines = vec![format!("{{y}}_product = matmul({{0}}, {{1}}{attributes})")];
    let mut last = "{y}_product";
    if let Some(alpha) = alpha {
        lines.push(format!(
            "{{y}}_scaled = scale({last}, factor={})",
            float_text(alpha)?
        ));
        last = "{y}_scaled";
    }
    if call.has(2) {
        let mut bias = "{2}";
        if let Some(beta) = beta {
            lines.push(format!(
                "{{y}}_bias = scale({{2}}, factor={})",
                float_text(beta)?
            ));
            bias = "{y}_bias";
        }
        lines.push(format!("{{y}} = add({last}, {bias})"));
    } else if let Some(line) = lines.last_mut() {
        *line = line.replacen(last, "{y}", 1);
    }
    Some(lines.join("\n"))
}

/// Attributes of attention. Several query heads may share one key head.
pub(super) fn attention(call: &Call<'_>) -> Option<String> {
    let is_causal = call.int("is_causal") == Some(1);
    let scale = call.float("scale").and_then(float_text);
    let is_grouped = call.shape(0)?.get(1) != call.shape(1)?.get(1);
    let mut attributes = String::new();
    if is_causal {
        attributes.push_str(", causal=true");
    }
    if let Some(scale) = scale {
        // Writing to a `String` cannot fail.
        let _ = write!(attributes, ", scale={scale}");
    }
    if is_grouped {
        attributes.push_str(", enable_gqa=true");
    }
    Some(attributes)
}
