//! Undeclared tensors that no op produces: their assumed sizes, and the declarations that hints
//! propose.

use crate::cost::work::k_of_shapes;
use crate::model::diagnostic::{Code, Diagnostic, Severity};
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::fixed_sizes::fixed_sizes;
use crate::model::functions::{AttributeName, Function, ShapeRule};
use crate::model::graph::{FixedSize, SizeSource};
use crate::model::ids::IdVec;
use crate::model::op::{Op, TensorRole, shape_text};
use crate::model::op_type::OpType;
use crate::model::program::{Name, OpStatement};
use crate::model::sizes::inferred_operand;
use crate::notation::fix_edits::{before_ops, declaration, with_attribute};
use crate::notation::spelling::quoted;
use crate::notation::written_name;
use crate::resolve::attributes;
use crate::resolve::expr::Params;
use crate::resolve::proposals::proposed_shapes;
use crate::resolve::scope::{KnownTensors, NameId, Origin, StatementId};
use crate::resolve::shapes::Operand;
use std::collections::HashMap;

/// One warning for each undeclared tensor that a resolved op reads, at its first use in the text.
/// All proposed declarations are consistent with each other.
pub(super) fn warn_of_undeclared(
    known: &KnownTensors<'_>,
    params: &Params<'_>,
    fixed: &FixedSizes,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let proposed = proposed_shapes(known, params);
    let mut is_reported = IdVec::from_elem(false, known.scope.tensors.len());
    for (id, statement, op) in known.resolved() {
        let reads = &known.scope.reads[id];
        for (place, (&tensor, name)) in reads.iter().zip(&statement.inputs).enumerate() {
            if known.scope.tensors[tensor] != Origin::Undeclared || is_reported[tensor] {
                continue;
            }
            is_reported[tensor] = true;
            let size = counted_size(known, fixed, id, op, tensor);
            let function = op.function;
            let role = role_of(function, place);
            let warning = Diagnostic::warning(
                Code::UndeclaredTensor,
                format!("{} is not declared: {size}", quoted(&name.text)),
            )
            .at(name.span)
            .about(id.index());
            diagnostics.push(match proposed.get(&tensor) {
                Some((shape, dtype)) => {
                    let line = declaration(role, &name.text, *dtype, shape);
                    warning.hint(format!("declare it: `{line}`")).fix(
                        format!("Declare `{line}`"),
                        before_ops(known.program, &format!("{line}\n")),
                    )
                }
                None => warning.hint("declare it with its size, which its readers leave open"),
            });
        }
    }
}

/// The undeclared tensors whose size a reader fixes for all.
pub(super) fn fixed_by_readers(known: &KnownTensors<'_>) -> FixedSizes {
    let reads = &known.scope.reads;
    let tensors = &known.scope.tensors;
    if !tensors.iter().any(|&origin| origin == Origin::Undeclared) {
        return FixedSizes::new();
    }
    fixed_sizes(
        reads,
        &reads.inverted(tensors.len()),
        |id| known.ops[id].as_ref(),
        |tensor| known.type_of(tensor).map(|(shape, _)| shape),
        |tensor| tensors[tensor] == Origin::Undeclared,
    )
}

/// For undeclared tensors the reader that fixes their size.
pub(super) type FixedSizes = HashMap<NameId, FixedSize<StatementId>>;

/// The counted size of an undeclared tensor that an op reads, and its source in words.
fn counted_size(
    known: &KnownTensors<'_>,
    fixed: &FixedSizes,
    id: StatementId,
    op: &Op,
    tensor: NameId,
) -> String {
    // Names as in the text, without the iteration of a block.
    let name_of = |id, part: fn(&OpStatement) -> &Name| {
        known
            .statement(id)
            .map_or_else(String::new, |statement| quoted(&part(statement).text))
    };
    let as_large = || {
        let writes = name_of(id, |statement| &statement.output);
        let size = typed(op, &op.shape);
        format!("its assumed size is that of {writes}, {size}")
    };
    let size = fixed.get(&tensor);
    if let Some(size) = size.filter(|size| size.reader != id)
        && let Some(reader) = &known.ops[size.reader]
    {
        let shape = in_text(known, size.reader, tensor, size.shape.clone());
        let reader_name = name_of(size.reader, OpStatement::name);
        return format!(
            "another reader, {reader_name}, requires {}",
            typed(reader, &shape)
        );
    }
    let shape_of = |t: NameId| known.type_of(t).map(|(shape, _)| shape);
    let inferred = match size {
        Some(size) if size.source == SizeSource::Assumed => return as_large(),
        Some(size) => Some(size.shape.clone()),
        None => inferred_operand(op, &known.scope.reads[id], tensor, shape_of),
    };
    let Some(shape) = inferred else {
        return as_large();
    };
    let shape = in_text(known, id, tensor, shape);
    format!(
        "the other shapes of its reader require {}",
        typed(op, &shape)
    )
}

/// The inferred shape of an operand as the text declares it, where a matmul transposes it.
fn in_text(
    known: &KnownTensors<'_>,
    reader: StatementId,
    tensor: NameId,
    mut shape: Vec<u64>,
) -> Vec<u64> {
    let index = known.scope.reads[reader].iter().position(|&t| t == tensor);
    let flag =
        index.and_then(|index| [AttributeName::TransposeA, AttributeName::TransposeB].get(index));
    let statement = known.statement(reader);
    if let (Some(flag), Some(statement), [p, q]) = (flag, statement, &mut shape[..])
        && attributes::is_set(statement, *flag)
    {
        std::mem::swap(p, q);
    }
    shape
}

/// A shape with the element type of an op.
fn typed(op: &Op, shape: &[u64]) -> String {
    let dtype = op.dtype.unwrap_or(DType::F16);
    format!("{}{}", dtype.name(), shape_text(shape))
}

/// Notes each matmul whose K is unknown, because its missing FLOPs must not look like a result.
pub(super) fn note_unknown_k(
    known: &KnownTensors<'_>,
    fixed: &FixedSizes,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (id, statement, op) in known.resolved() {
        if op.op_type != OpType::Matmul || op.k.is_some() {
            continue;
        }
        let shape_of = |place: usize| {
            let tensor = known.scope.reads[id].get(place)?;
            let stated = known.type_of(*tensor).map(|(shape, _)| shape);
            stated.or_else(|| fixed.get(tensor)?.operand_shape())
        };
        let is_plain = !op.is_convolution();
        if is_plain && k_of_shapes(&op.shape, shape_of(0), shape_of(1)).is_some() {
            continue;
        }
        let note = Diagnostic::new(
                Severity::Note,
                Code::UnknownK,
                format!(
                    "the contraction length of {} is unknown, so it has no FLOPs and no point on the roofline",
                    quoted(&statement.name().text)
                ),
            )
            .at(statement.callee.span)
            .about(id.index())
            .hint("declare its operands, or give it as `k=1024`");
        let takes_k = statement
            .function()
            .is_some_and(|function| function.row().attributes.contains(&AttributeName::K));
        diagnostics.push(
            match statement.attributes.iter().find(|a| a.is(AttributeName::K)) {
                Some(unknown) => {
                    note.fix("Write `k=1024`", TextEdit::replace(unknown.span, "k=1024"))
                }
                None if takes_k => note.fix("Write `k=1024`", with_attribute(statement, "k=1024")),
                None => note,
            },
        );
    }
}

/// The error of an op whose shape depends on an undeclared tensor.
pub(super) fn missing_size(
    statement: &OpStatement,
    function: Function,
    operands: &[Operand<'_>],
    reads: &[NameId],
    known: &KnownTensors<'_>,
    params: &Params<'_>,
) -> Diagnostic {
    let index = reads
        .iter()
        .position(|&t| known.type_of(t).is_none())
        .unwrap_or(0);
    let Some(name) = statement.inputs.get(index) else {
        return Diagnostic::error(Code::MissingShape, "an input has no size");
    };
    let missing = Diagnostic::error(
        Code::MissingShape,
        format!(
            "the shape of {} depends on {}, which is not declared",
            quoted(&statement.output.text),
            quoted(&name.text)
        ),
    )
    .at(name.span);
    let declared = known.program.declarations.iter().map(|d| &d.name.text);
    let produced = known.program.ops.iter().map(|op| &op.output.text);
    let others = declared
        .chain(produced)
        .filter(|&other| *other != statement.output.text)
        .map(String::as_str);
    if let Some(meant) = params.suggest(&name.text, others) {
        return missing
            .hint(format!("did you mean {}?", quoted(meant)))
            .fix(
                format!("Write {}", quoted(meant)),
                TextEdit::replace(name.span, written_name(meant)),
            );
    }
    let is_value = |index: &usize| function.input_dtype(*index).is_none();
    let known_type = |index: usize| known.type_of(*reads.get(index)?);
    let value = (0..reads.len()).filter(is_value).find_map(known_type);
    let example_of = |index: usize, name: &str| {
        let value = value.map_or(DType::F16, |(_, dtype)| dtype);
        let dtype = function.input_dtype(index).unwrap_or(value);
        let shape = example_shape(function, index, operands);
        declaration(role_of(Some(function), index), name, dtype, &shape)
    };
    let example = example_of(index, &name.text);
    // The fix declares all missing inputs, because the shape needs all of them.
    let mut lines = Vec::new();
    let inputs = reads.iter().zip(&statement.inputs).enumerate();
    for (index, (&tensor, name)) in inputs.take(MOST_DECLARED) {
        let is_first = reads.iter().position(|&t| t == tensor) == Some(index);
        if known.type_of(tensor).is_none() && is_first {
            lines.push(format!("{}\n", example_of(index, &name.text)));
        }
    }
    let label = match lines.len() {
        0 | 1 => format!("Declare `{example}`"),
        count => format!("Declare `{example}` and {} more", count - 1),
    };
    missing
        .hint(format!(
            "declare it, such as `{example}`, or write the op's own shape after a colon"
        ))
        .fix(label, before_ops(known.program, &lines.concat()))
}

/// Most inputs of an op that one fix declares.
const MOST_DECLARED: usize = 8;

/// An example of a shape for the missing input that fits the known operands.
fn example_shape(function: Function, index: usize, operands: &[Operand<'_>]) -> Vec<u64> {
    const FREE: u64 = 1024;
    let other = operands.first().map_or(&[][..], |operand| operand.shape);
    match (function.row().shape_rule, index, other) {
        (ShapeRule::Matmul, 0, &[.., k, _]) | (ShapeRule::Linear, 0 | 1, &[.., k]) => vec![FREE, k],
        (ShapeRule::Matmul, _, &[.., k]) => vec![k, FREE],
        (ShapeRule::Conv2d, 0, &[_, channels, ..]) => vec![1, channels, 56, 56],
        (ShapeRule::Conv2d | ShapeRule::Pool2d, 0, _) => vec![1, 64, 56, 56],
        (ShapeRule::Conv2d, 1, &[_, channels, ..]) => vec![64, channels, 3, 3],
        (ShapeRule::PerChannel, 1.., &[_, channels, ..]) => vec![channels],
        (ShapeRule::Embedding, 0, _) => vec![FREE],
        (ShapeRule::Embedding, _, _) | (_, _, []) => vec![FREE, FREE],
        (_, _, other) => other.to_vec(),
    }
}

/// The usual role of an input at this position of a call.
fn role_of(function: Option<Function>, index: usize) -> TensorRole {
    let takes_weights = function.is_some_and(|f| match f.row().shape_rule {
        ShapeRule::Matmul
        | ShapeRule::Linear
        | ShapeRule::Conv1d
        | ShapeRule::Conv2d
        | ShapeRule::PerChannel
        | ShapeRule::Embedding => true,
        ShapeRule::SameAsFirst => f.row().op_type == OpType::Reduction,
        _ => false,
    });
    if takes_weights && index > 0 {
        TensorRole::Weight
    } else {
        TensorRole::Input
    }
}
