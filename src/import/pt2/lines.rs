//! What a node becomes, by the table of operators, and the text of its lines.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::Call;
use crate::pt2::operators::{self, Rule};
use crate::pt2::schema::{Argument, Whole};
use crate::statement::{distinct_name, dtype_of, statements};
use crate::template::filled;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::promotion::promoted;
use std::fmt::Write;

/// Arguments that keep their type: masks, conditions and indices.
const NOT_CAST: &[&str] = &["attn_mask", "condition", "mask", "index", "indices"];

/// What the output becomes; `None` where the table has no answer.
pub(super) fn becomes(call: &Call<'_>) -> Option<Becomes> {
    let operator = operators::find(call.operator, call.overload)?;
    let rule = match (operator.outputs.get(call.index), operator.is_list) {
        (None, true) => operator.outputs.last()?,
        (rule, _) => rule?,
    };
    match rule {
        Rule::Lines(cast, lines) => Some(Becomes::Lines(*cast, lines.join("\n"))),
        Rule::By(answer) => answer(call),
    }
}

/// The text of lines for a node, casts before it. The last line writes `y`, which may have
/// underscores behind it.
pub(super) fn text(cast: Cast, lines: &str, call: &mut Call<'_>) -> Option<String> {
    let names = call.node.tensors();
    let indices = names.filter_map(|name| call.tensors.get(name));
    let names = indices.filter_map(|&index| Some(call.known(index)?.name.as_str()));
    let output = distinct_name("y", names);
    let mut text = String::new();
    let target = match cast {
        Cast::None => None,
        Cast::Result => Some(call.dtype),
        Cast::Bool => Some(DType::Bool),
        Cast::Widest => widest(call),
    };
    for argument in &call.node.inputs {
        let name = argument.name.as_str();
        let Some(target) = target.filter(|_| !NOT_CAST.contains(&name)) else {
            continue;
        };
        match &argument.arg {
            Argument::Tensor(tensor) => {
                let index = call.tensors.get(tensor.as_str())?;
                let known = call.known(*index)?;
                // Class indices keep their type: nothing compares them with other values.
                let is_class = name == "target" && known.dtype == Some(DType::I64);
                if known.dtype != Some(target) && !is_class {
                    let (own, dtype) = (&known.name, target.name());
                    // Writing to a `String` cannot fail.
                    let _ = writeln!(text, "{output}_{name} = cast({own}, dtype={dtype})");
                    call.cast.insert(name, format!("{output}_{name}"));
                }
            }
            // A number that is computed from sizes is a tensor of one element.
            Argument::Int(Whole::AsName(_)) if lines.contains(&format!("{{{name}}}")) => {
                let _ = writeln!(text, "{output}_{name} = full() : {}[]", target.name());
                call.cast.insert(name, format!("{output}_{name}"));
            }
            _ => {}
        }
    }
    let lines: Vec<&str> = lines.lines().collect();
    if !text.is_empty() {
        let casts = std::mem::take(&mut call.cast);
        if let Some(line) = promoting(&lines, call, &output) {
            return Some(line);
        }
        call.cast = casts;
    }
    Some(text + &filled(&lines, call, &output)?)
}

/// The one line without casts, if its function itself promotes the operands to the type of the
/// output. Eager PyTorch runs one kernel for both.
fn promoting(lines: &[&str], call: &Call<'_>, output: &str) -> Option<String> {
    let &[line] = lines else { return None };
    let text = filled(&[line], call, output)?;
    let [op] = &statements(&text)?[..] else {
        return None;
    };
    let function = op.function()?;
    let names = call.node.tensors();
    let known: Vec<&Known> = names
        .filter_map(|name| call.known(*call.tensors.get(name)?))
        .collect();
    let inputs = op.inputs.iter().map(|input| {
        let own = known.iter().find(|known| known.name == input.text);
        own.copied()
    });
    let inputs: Vec<Option<&Known>> = inputs.collect();
    let compares = function.row().result_dtype == Some(DType::Bool);
    let is_promoted =
        function.promotes() || function.is_fractional() || function.accumulates() || compares;
    (is_promoted && dtype_of(Some(function), op, &inputs) == Some(call.dtype)).then_some(text)
}

/// The type in which PyTorch compares operands.
fn widest(call: &Call<'_>) -> Option<DType> {
    let inputs = call.node.inputs.iter();
    promoted(inputs.filter_map(|argument| call.tensor(&argument.name)?.argument_type()))
}
