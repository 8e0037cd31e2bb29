//! The lines of the notation for a node, by the table of operators.

use crate::onnx::call::Call;
use crate::onnx::operators::{self, Rule};
use crate::onnx::words::element;
use crate::statement::apart;
use crate::template::filled;
use crate::writer::Known;
use std::fmt::Write;

/// The text of a node by the table, in which the output may have underscores behind its name; empty where it is its first input,
/// `None` where the table has no answer.
pub(super) fn text_of(call: &Call<'_>, output: &str) -> Option<String> {
    if !operators::DOMAINS.contains(&call.node.domain.as_str()) {
        return None;
    }
    let operator = operators::find(call.operator())?;
    let rule = match (operator.outputs.get(call.output_index), operator.is_list) {
        (None, true) => operator.outputs.last()?,
        (rule, _) => rule?,
    };
    let output = &apart(
        output,
        call.inputs
            .iter()
            .flatten()
            .map(|input| input.name.as_str()),
    );
    match (rule, call.operator()) {
        (Rule::Input, _) => Some(String::new()),
        (_, "Cast" | "CastLike") if is_same_type(call) => Some(String::new()),
        (Rule::Chain(_), _) | (_, "Concat") if call.input_count() == 1 => Some(String::new()),
        (Rule::Lines(lines), _) => filled(lines, call, output),
        (Rule::Chain(function), _) => {
            let inputs: Option<Vec<&Known>> = call.inputs.iter().copied().collect();
            let mut inputs = inputs?.into_iter().map(|input| input.name.clone());
            let mut last = inputs.next()?;
            let count = inputs.len();
            let mut text = String::new();
            for (place, input) in inputs.enumerate() {
                let now = if place + 1 == count {
                    output.clone()
                } else {
                    format!("{output}_{place}")
                };
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "{now} = {function}({last}, {input})");
                last = now;
            }
            Some(text)
        }
    }
}

fn is_same_type(call: &Call<'_>) -> bool {
    let own = call.input(0).and_then(|input| input.dtype);
    own.is_some_and(|own| element(call) == Some(own.name()))
}
