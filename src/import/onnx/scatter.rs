//! Words of the table about writes of elements into a copy of a tensor.

use crate::onnx::call::Call;
use crate::shapes::elements;
use crate::size::Size;

/// Elements written at positions, each of which is several indices that stand behind each other.
pub(super) fn scatter_nd(call: &Call<'_>) -> Option<String> {
    let (count, positions) = call.shape(1)?.split_last()?;
    let count = count.as_int().filter(|&count| count > 0)?;
    let dtype = call.input(1)?.dtype?.name();
    let one = [Size::from(1)];
    let positions = if positions.is_empty() {
        &one
    } else {
        positions
    };
    match call.word("reduction") {
        None | Some("none") => {
            // The index along each dimension is a part of the positions.
            let shape = call.list(positions);
            let mut lines = Vec::new();
            let mut arguments = vec!["{0}".to_owned()];
            for dim in 0..count.min(16) {
                lines.push(format!("{{y}}_at_{dim} = part({{1}}) : {dtype}{shape}"));
                arguments.push(format!("{{y}}_at_{dim}"));
            }
            lines.push(format!(
                "{{y}} = index_put({}, {{2}})",
                arguments.join(", ")
            ));
            Some(lines.join("\n"))
        }
        Some("add") if count == 1 => {
            let rows = elements(positions)?;
            let rest = call.shape(0)?.get(1..)?;
            let source = [std::slice::from_ref(&rows), rest].concat();
            Some(format!(
                "{{y}}_at = part({{1}}) : {dtype}{}\n{{y}}_rows = part({{2}}) : {}\n{{y}} = index_add({{0}}, {{y}}_at, {{y}}_rows, axis=0)",
                call.list(&[rows]),
                call.typed(&source)
            ))
        }
        Some(_) => None,
    }
}

/// The function that writes single elements along an axis; `None` for other reductions.
pub(super) fn scatter(call: &Call<'_>) -> Option<String> {
    match call.word("reduction") {
        None | Some("none") => Some("scatter".to_owned()),
        Some("add") => Some("scatter_add".to_owned()),
        Some(_) => None,
    }
}
