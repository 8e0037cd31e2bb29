//! Finding ops and tensors by name.

use super::format::format_count;
use fuseline_core::{Graph, OpId, TensorId};

/// Something whose name holds what a visitor has typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An op: by its name, its function or its output.
    Op(OpId),
    /// A tensor from outside.
    Tensor(TensorId),
}

/// The matches of a query in execution order, but exact names first. Case of ASCII letters does not
/// count. A tensor from outside comes before the first op that reads it. `O(n log n)` in names and
/// reads.
pub fn found(graph: &Graph, query: &str) -> Vec<Found> {
    let query = query.trim().as_bytes();
    if query.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(bool, Found)> = Vec::new();
    let mut compare = |names: &[&str], what: Found| {
        let names = || names.iter().map(|name| name.as_bytes());
        let holds = |name: &[u8]| {
            let mut parts = name.windows(query.len());
            parts.any(|part| part.eq_ignore_ascii_case(query))
        };
        if names().any(holds) {
            let is_whole = names().any(|name| name.eq_ignore_ascii_case(query));
            found.push((!is_whole, what));
        }
    };
    for (op, definition) in graph.ops.iter_enumerated() {
        for tensor in graph.distinct_inputs(op) {
            let is_first = graph.consumers[tensor].first() == Some(&op);
            if is_first && graph.tensors[tensor].is_external() {
                compare(&[graph.tensor_name(tensor)], Found::Tensor(tensor));
            }
        }
        let (name, output) = (&definition.name, &definition.output);
        compare(&[name, output, definition.operator()], Found::Op(op));
    }
    found.sort_by_key(|&(is_part, _)| is_part);
    found.into_iter().map(|(_, what)| what).collect()
}

/// The position of the current match, whose `index` is from 0: `3 of 17`. It is the last match
/// where an edit has left fewer.
pub fn position_words(index: usize, count: usize) -> String {
    match count {
        0 => "no match".to_owned(),
        _ => format!(
            "{} of {}",
            format_count((index + 1).min(count)),
            format_count(count)
        ),
    }
}
