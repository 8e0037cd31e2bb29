//! Words of the table about products.

use crate::constant::float_text;
use crate::onnx::call::Call;
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

pub(super) fn matmul(call: &Call<'_>) -> Option<String> {
    match (call.shape(0), call.shape(1)) {
        // A vector on the right is a matrix of one column.
        (Some(a), Some([k])) if a.len() > 1 => {
            let rows = a.get(..a.len() - 1)?;
            Some(format!(
                "{{y}}_column = reshape({{1}}, shape={})\n{{y}}_product = matmul({{0}}, {{y}}_column)\n{{y}} = reshape({{y}}_product, shape={})",
                call.reshape_list(&[k.clone(), Size::from(1)]),
                call.reshape_list(rows)
            ))
        }
        // A vector on the left is a matrix of one row.
        (Some([k]), Some(b)) => {
            let is_vector = b.len() == 1;
            let columns: &[Size] = if is_vector {
                &[]
            } else {
                b.get(b.len() - 1..)?
            };
            let batch = b.get(..b.len().saturating_sub(2))?;
            let right = if is_vector { "{y}_column" } else { "{1}" };
            let column = if is_vector {
                let shape = call.list(&[k.clone(), Size::from(1)]);
                format!("{{y}}_column = reshape({{1}}, shape={shape})\n")
            } else {
                String::new()
            };
            Some(format!(
                "{column}{{y}}_row = reshape({{0}}, shape={})\n{{y}}_product = matmul({{y}}_row, {right})\n{{y}} = reshape({{y}}_product, shape={})",
                call.list(&[Size::from(1), k.clone()]),
                call.list(&[batch, columns].concat())
            ))
        }
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
        let line = "{y}_linear = linear({0}, {1}, {2?})".to_owned();
        return activated(call, "{y}_linear", vec![line]);
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
        lines.push(format!("{{y}}_sum = add({last}, {bias})"));
        last = "{y}_sum";
    }
    activated(call, last, lines)
}

/// A product of ONNX Runtime with transposes, a factor and an activation.
pub(super) fn fused_matmul(call: &Call<'_>) -> Option<String> {
    let flag = |name: &str| call.int(name).unwrap_or(0) != 0;
    let mut lines = Vec::new();
    let mut operands = ["{0}".to_owned(), "{1}".to_owned()];
    // With this flag the first dimension stands behind the other batch dimensions.
    for (index, name) in ["transBatchA", "transBatchB"].into_iter().enumerate() {
        let rank = call.rank(index)?;
        if flag(name) && rank > 2 {
            let mut perm: Vec<usize> = (1..rank - 1).collect();
            perm.extend([0, rank - 1]);
            lines.push(format!(
                "{{y}}_{index} = transpose({{{index}}}, perm={perm:?})"
            ));
            *operands.get_mut(index)? = format!("{{y}}_{index}");
        }
    }
    let mut arguments = operands.join(", ");
    for (own, attribute) in [("transA", "transpose_a"), ("transB", "transpose_b")] {
        if flag(own) {
            // Writing to a `String` cannot fail.
            let _ = write!(arguments, ", {attribute}=true");
        }
    }
    lines.push(format!("{{y}}_product = matmul({arguments})"));
    let mut last = "{y}_product";
    if let Some(alpha) = call
        .float("alpha")
        .filter(|alpha| !alpha.total_cmp(&1.0).is_eq())
    {
        lines.push(format!(
            "{{y}}_scaled = scale({last}, factor={})",
            float_text(alpha)?
        ));
        last = "{y}_scaled";
    }
    activated(call, last, lines)
}

/// A product with short weights, which have a scale for each block of a row, as integers of 4 or 8
/// bits behind each other.
pub(super) fn short_product(call: &Call<'_>) -> Option<String> {
    let [rows, blocks, bytes] = call.shape(1)? else {
        return None;
    };
    let (bits, width) = match call.int("bits").unwrap_or(4) {
        bits @ 4 => (bits, "i4"),
        bits @ 8 => (bits, "i8"),
        _ => return None,
    };
    let per_block = bytes.as_int()?.checked_mul(8)?.checked_div(bits)?;
    let columns = blocks.mul(&Size::from(per_block))?;
    // Weights in the order of another index, and a last block that is not full, are no rows.
    if call.has(4) || columns.as_int() != call.int("K") {
        return None;
    }
    let scale = call.input(2)?.dtype?;
    let of_blocks = call.list(&[rows.clone(), blocks.clone()]);
    let mut lines = vec![
        format!(
            "{{y}}_short = part({{1}}) : {width}{}",
            call.list(&[rows.clone(), columns])
        ),
        format!("{{y}}_scales = part({{2}}) : {}{of_blocks}", scale.name()),
    ];
    let mut arguments = "{y}_short, {y}_scales".to_owned();
    if call.has(3) {
        let is_packed = call.input(3)?.dtype == Some(DType::I8);
        let dtype = if is_packed { width } else { scale.name() };
        lines.push(format!("{{y}}_zeros = part({{3}}) : {dtype}{of_blocks}"));
        arguments.push_str(", {y}_zeros");
    }
    lines.push(format!("{{y}}_weights = dequantize({arguments})"));
    let product = "matmul({0}, {y}_weights, transpose_b=true)";
    if call.has(5) {
        lines.push(format!("{{y}}_product = {product}"));
        lines.push("{y} = add({y}_product, {5})".to_owned());
    } else {
        lines.push(format!("{{y}} = {product}"));
    }
    Some(lines.join("\n"))
}

/// The lines with the activation of a fused operator, the last of which writes the output.
pub(super) fn activated(call: &Call<'_>, last: &str, mut lines: Vec<String>) -> Option<String> {
    let params: Vec<f64> = ["activation_params", "activation_alpha"]
        .into_iter()
        .find_map(|name| call.floats(name))
        .map(Iterator::collect)
        .unwrap_or_default();
    let stated = |name: &str| call.float(name);
    let param = |index: usize, name: &str, default: f64| {
        let own = params.get(index).copied().or_else(|| stated(name));
        float_text(own.unwrap_or(default))
    };
    let activation = match call.word("activation").unwrap_or_default() {
        "" => None,
        "Relu" => Some(format!("relu({last})")),
        "Tanh" => Some(format!("tanh({last})")),
        "Sigmoid" => Some(format!("sigmoid({last})")),
        "LeakyRelu" => Some(format!(
            "leaky_relu({last}, slope={})",
            param(0, "activation_alpha", 0.01)?
        )),
        "Clip" => Some(format!(
            "clamp({last}, min={}, max={})",
            param(0, "activation_alpha", f64::NEG_INFINITY)?,
            param(1, "activation_beta", f64::INFINITY)?
        )),
        "HardSigmoid" => {
            let alpha = param(0, "activation_alpha", 0.2)?;
            let beta = param(1, "activation_beta", 0.5)?;
            lines.push(format!("{{y}}_slope = scale({last}, factor={alpha})"));
            lines.push(format!("{{y}}_moved = shift({{y}}_slope, amount={beta})"));
            Some("clamp({y}_moved, min=0, max=1)".to_owned())
        }
        _ => return None,
    };
    if let Some(activation) = activation {
        lines.push(format!("{{y}} = {activation}"));
    } else {
        let line = lines.last_mut()?;
        *line = line.replacen(last, "{y}", 1);
    }
    Some(lines.join("\n"))
}

/// The lines of an `Einsum`; `None` for a diagonal.
pub(super) fn einsum(call: &Call<'_>) -> Option<String> {
    let operands = (0..call.inputs.len()).map(|index| {
        let shape = call.shape(index)?;
        Some((format!("{{{index}}}"), shape))
    });
    let operands: Vec<_> = operands.collect::<Option<_>>()?;
    crate::einsum::einsum(call.word("equation")?, &operands, &|sizes| call.list(sizes))
}
