//! Words of the table about products and windows.

use crate::onnx::call::Call;
use crate::size::Size;
use crate::value::float_text;
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

/// `kernel=3, stride=2, padding=1` of a pool; what is not the default of a convolution, `, stride=2`.
pub(super) fn window(of: &str, call: &Call<'_>) -> Option<String> {
    let dims = call
        .rank(0)?
        .checked_sub(2)
        .filter(|dims| (1..=2).contains(dims))?;
    let list = |name: &str, default: i64| match call.ints(name) {
        Some(list) => (list.len() == dims).then(|| list.to_vec()),
        None => Some(vec![default; dims]),
    };
    let kernel = match call.ints("kernel_shape") {
        Some(kernel) => kernel.to_vec(),
        None => call
            .shape(1)?
            .iter()
            .skip(2)
            .map(Size::as_int)
            .collect::<Option<_>>()?,
    };
    let (strides, dilations) = (list("strides", 1)?, list("dilations", 1)?);
    let padding = match (call.word("auto_pad"), call.ints("pads")) {
        (Some("VALID"), _) | (None | Some("NOTSET"), None) => vec![0; dims],
        (None | Some("NOTSET"), Some(pads)) => {
            let (before, after) = pads.split_at_checked(dims)?;
            (before == after).then(|| before.to_vec())?
        }
        // As much on each side as keeps the size, where the stride is 1 and the window odd.
        _ => {
            let reaches = kernel
                .iter()
                .zip(&dilations)
                .map(|(k, d)| (k.saturating_sub(1)).saturating_mul(*d));
            let reaches: Vec<i64> = reaches.collect();
            let is_even =
                reaches.iter().all(|reach| reach % 2 == 0) && strides.iter().all(|&s| s == 1);
            is_even.then(|| reaches.iter().map(|reach| reach / 2).collect())?
        }
    };
    let text = |list: &[i64]| match list {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.to_string(),
        list => format!("{list:?}"),
    };
    if of == "pool" {
        let is_plain = dims == 2
            && call.int("ceil_mode").unwrap_or(0) == 0
            && dilations.iter().all(|&d| d == 1);
        let mut window = format!("kernel={}, stride={}", text(&kernel), text(&strides));
        if padding.iter().any(|&border| border != 0) {
            let _ = write!(window, ", padding={}", text(&padding));
        }
        return is_plain.then_some(window);
    }
    let groups = [call.int("group").unwrap_or(1)];
    let named = [
        ("stride", strides.as_slice(), 1),
        ("padding", &padding, 0),
        ("dilation", &dilations, 1),
        ("groups", &groups, 1),
    ];
    let given = named
        .iter()
        .filter(|(_, list, default)| list.iter().any(|own| own != default));
    let given: Vec<String> = given
        .map(|(name, list, _)| format!(", {name}={}", text(list)))
        .collect();
    Some(given.concat())
}
