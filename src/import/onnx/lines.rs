//! The lines of the notation for a node, by the table of operators.

use crate::onnx::assumed::other_form;
use crate::onnx::call::Call;
use crate::onnx::operators::{self, Rule};
use crate::onnx::words::element;
use crate::statement::{distinct_name, statements};
use crate::template::filled;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

/// The text of a node by the table; empty where the output is the first input, `None` where the
/// table has no answer. Further underscores may follow the name of the output.
pub(super) fn text_of(call: &Call<'_>, output: &str) -> Option<String> {
    let operator = operators::find(&call.node.domain, call.operator())?;
    let rule = operator.rule(call.output_index)?;
    let output = &distinct_name(
        output,
        call.inputs
            .iter()
            .flatten()
            .map(|input| input.name.as_str()),
    );
    if let Some(line) = other_form(call) {
        return filled(&[line], call, output);
    }
    match (rule, call.operator()) {
        (Rule::Opaque, _) => None,
        (Rule::Input, _) => Some(String::new()),
        (_, name) if name.starts_with("Reduce") && reduces_nothing(call) => Some(String::new()),
        (_, name) if name.starts_with("Reduce") && has_open_axes(call) => {
            // The shape that the file states is known, although the axes are not.
            call.output.shape.as_ref()?;
            filled(&["{y} = reduction({0}) : {output}"], call, output)
        }
        (_, "Cast" | "CastLike") if is_same_type(call) => Some(String::new()),
        (Rule::Chain(_), _) if call.input_count() == 1 => Some(String::new()),
        (_, "Concat") if joined(call) == 1 => Some(String::new()),
        (Rule::Lines(lines), _) => {
            let text = filled(lines, call, output)?;
            Some(match narrow_sum(call, &text) {
                Some(dtype) => {
                    let wide = filled(lines, call, &format!("{output}_wide"))?;
                    format!(
                        "{wide}\n{output} = cast({output}_wide, dtype={})",
                        dtype.name()
                    )
                }
                None => text,
            })
        }
        (Rule::Chain(function), _) => {
            let inputs: Option<Vec<&Known>> = call.inputs.iter().copied().collect();
            let mut inputs = inputs?.into_iter().map(|input| input.name.clone());
            let mut last = inputs.next()?;
            let count = inputs.len();
            let mut text = String::new();
            for (index, input) in inputs.enumerate() {
                let now = if index + 1 == count {
                    output.clone()
                } else {
                    format!("{output}_{index}")
                };
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "{now} = {function}({last}, {input})");
                last = now;
            }
            Some(text)
        }
    }
}

/// The type of the sums that these lines end with, if it is that of narrow integers, which a sum
/// keeps in ONNX and widens in the notation.
fn narrow_sum(call: &Call<'_>, lines: &str) -> Option<DType> {
    let own = call.input(0)?.dtype?;
    let function = statements(lines)?.last()?.function()?;
    (function.accumulates() && own.is_integer() && own != DType::I64).then_some(own)
}

/// Number of inputs that a concatenation joins.
fn joined(call: &Call<'_>) -> usize {
    let indices = 0..call.input_count();
    indices.filter(|&index| call.has_elements(index)).count()
}

/// Whether a reduction names no axis and says that it then keeps its input.
fn reduces_nothing(call: &Call<'_>) -> bool {
    let is_kept = call.int("noop_with_empty_axes").unwrap_or(0) != 0;
    let named = call.numbers(1, "axes");
    is_kept && named.map_or(!call.has(1), |axes| axes.is_empty())
}

/// Whether only a run gives the axes of a reduction.
fn has_open_axes(call: &Call<'_>) -> bool {
    call.has(1) && call.value(1).is_none()
}

fn is_same_type(call: &Call<'_>) -> bool {
    let own = call.input(0).and_then(|input| input.dtype);
    own.is_some_and(|own| element(call) == Some(own.name()))
}
