//! Tensors as variables of Python.

use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, TensorId};
use std::collections::HashSet;

/// Keywords of Python, and names that the script itself uses.
#[rustfmt::skip]
const TAKEN: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield", "torch", "F", "float", "slice", "DEVICE",
    "int4", "float4", "packed_int4", "packed_float4",
];

/// For each tensor a variable of its own.
pub(super) struct Names(IdVec<TensorId, String>);

impl Names {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut taken: HashSet<String> = TAKEN.iter().map(|&word| word.to_owned()).collect();
        let names = graph.tensors.ids().map(|tensor| {
            let name = identifier(graph.tensor_name(tensor));
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let mut free = std::iter::once(name.clone()).chain(numbered);
            let own = free.find(|name| taken.insert(name.clone()));
            own.unwrap_or(name)
        });
        Self(names.collect())
    }

    pub(super) fn of_tensor(&self, tensor: TensorId) -> &str {
        &self.0[tensor]
    }
}

/// A name reduced to the characters that a variable may have.
fn identifier(name: &str) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fit: String = name
        .chars()
        .map(|c| if is_fit(c) { c } else { '_' })
        .collect();
    match fit.chars().next() {
        Some(first) if !first.is_ascii_digit() => fit,
        _ => format!("t_{fit}"),
    }
}
