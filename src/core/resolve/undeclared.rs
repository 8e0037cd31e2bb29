//! Tensors that are neither declared nor produced: their assumed sizes, and the declarations that hints
//! propose.

use crate::core::cost::work::k_of_shapes;
use crate::core::model::diagnostic::{Code, Diagnostic, Severity};
use crate::core::model::dtype::DType;
use crate::core::model::functions;
use crate::core::model::functions::{Function, ShapeRule};
use crate::core::model::ids::IdVec;
use crate::core::model::op::{TensorRole, shape_text};
use crate::core::model::op_type::OpType;
use crate::core::model::program::OpStatement;
use crate::core::model::sizes::inferred_operand;
use crate::core::notation::spelling::quoted;
use crate::core::notation::written_name;
use crate::core::resolve::attributes;
use crate::core::resolve::expr::Params;
use crate::core::resolve::proposals::proposed_shapes;
use crate::core::resolve::scope::{KnownTensors, NameId, Origin};
use crate::core::resolve::shapes::Operand;

/// One warning for each undeclared tensor that a resolved op reads, at its first use in the text. All declarations that they
/// propose hold together.
pub(super) fn warn_of_undeclared(
    known: &KnownTensors<'_>,
    params: &Params<'_>,
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
            let dtype = op.dtype.unwrap_or(DType::F16);
            let shape_of = |t: NameId| known.type_of(t).map(|(shape, _)| shape);
            let (mut counted, why) =
                if let Some(shape) = inferred_operand(op, reads, tensor, shape_of) {
                    (shape, "the other shapes of its reader give".to_owned())
                } else {
                    let reader = quoted(&statement.output.text);
                    let why = format!("it is assumed to be as large as {reader},");
                    (op.shape.clone(), why)
                };
            let transposed = ["transpose_a", "transpose_b"];
            if (transposed.get(place)).is_some_and(|flag| attributes::is_set(statement, flag))
                && let [p, q] = &mut counted[..]
            {
                std::mem::swap(p, q);
            }
            let function = op.function.as_deref().and_then(functions::find);
            let role = role_of(function, place);
            let hint = match proposed.get(&tensor) {
                Some((shape, dtype)) => format!(
                    "declare it: `{}`",
                    declaration(role, &name.text, *dtype, shape)
                ),
                None => "declare it with its size, which its readers leave open".to_owned(),
            };
            diagnostics.push(
                Diagnostic::warning(
                    Code::UndeclaredTensor,
                    format!(
                        "{} is not declared: {why} {}{}",
                        quoted(&name.text),
                        dtype.name(),
                        shape_text(&counted)
                    ),
                )
                .at(name.span)
                .about(id.index())
                .hint(hint),
            );
        }
    }
}

/// Notes each matmul whose K is unknown, because its missing FLOPs must not look like a result.
pub(super) fn note_unknown_k(known: &KnownTensors<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (id, statement, op) in known.resolved() {
        if op.op_type != OpType::Matmul || op.k.is_some() {
            continue;
        }
        let shape_of = |place: usize| {
            let tensor = known.scope.reads[id].get(place)?;
            known.type_of(*tensor).map(|(shape, _)| shape)
        };
        let is_plain = op.function.as_deref() != Some("conv2d");
        if is_plain && k_of_shapes(&op.shape, shape_of(0), shape_of(1)).is_some() {
            continue;
        }
        diagnostics.push(
            Diagnostic::new(
                Severity::Note,
                Code::UnknownK,
                format!(
                    "the contraction length of {} is unknown: it has no FLOPs and no point on the roofline",
                    quoted(&statement.name().text)
                ),
            )
            .at(statement.callee.span)
            .about(id.index())
            .hint("declare its operands, or state it: `k=1024`"),
        );
    }
}

/// The error of an op whose shape depends on an undeclared tensor.
pub(super) fn missing_size(
    statement: &OpStatement,
    function: &Function,
    operands: &[Operand<'_>],
    reads: &[NameId],
    known: &KnownTensors<'_>,
    params: &Params<'_>,
) -> Diagnostic {
    let place = reads
        .iter()
        .position(|&t| known.type_of(t).is_none())
        .unwrap_or(0);
    let Some(name) = statement.inputs.get(place) else {
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
        return missing.hint(format!("did you mean {}?", quoted(meant)));
    }
    let dtype = operands.first().map_or(DType::F16, |operand| operand.dtype);
    let shape = example_shape(function, place, operands);
    let example = declaration(role_of(Some(function), place), &name.text, dtype, &shape);
    missing.hint(format!(
        "declare it, such as `{example}`, or write the op's own shape after a colon"
    ))
}

/// An example of a shape for the missing input that fits the known operands.
fn example_shape(function: &Function, place: usize, operands: &[Operand<'_>]) -> Vec<u64> {
    const FREE: u64 = 1024;
    let other = operands.first().map_or(&[][..], |operand| operand.shape);
    match (function.shape_rule, place, other) {
        (ShapeRule::Matmul, 0, &[.., k, _]) | (ShapeRule::Linear, 0 | 1, &[.., k]) => vec![FREE, k],
        (ShapeRule::Matmul, _, &[.., k]) => vec![k, FREE],
        (ShapeRule::Conv2d, 0, &[_, channels, ..]) => vec![1, channels, 56, 56],
        (ShapeRule::Conv2d | ShapeRule::Pool2d, 0, _) => vec![1, 64, 56, 56],
        (ShapeRule::Conv2d, 1, &[_, channels, ..]) => vec![64, channels, 3, 3],
        (ShapeRule::PerChannel, 1.., &[_, channels, ..]) => vec![channels],
        (_, _, []) => vec![FREE, FREE],
        (_, _, other) => other.to_vec(),
    }
}

/// The usual role of an input at this position of a call.
fn role_of(function: Option<&Function>, place: usize) -> TensorRole {
    let takes_weights = function.is_some_and(|f| match f.shape_rule {
        ShapeRule::Matmul | ShapeRule::Linear | ShapeRule::Conv2d | ShapeRule::PerChannel => true,
        ShapeRule::SameAsFirst => f.op_type == OpType::Reduction,
        _ => false,
    });
    if takes_weights && place > 0 {
        TensorRole::Weight
    } else {
        TensorRole::Input
    }
}

fn declaration(role: TensorRole, name: &str, dtype: DType, shape: &[u64]) -> String {
    let role = match role {
        TensorRole::Input => "input",
        TensorRole::Weight => "weight",
    };
    format!(
        "{role} {} : {}{}",
        written_name(name),
        dtype.name(),
        shape_text(shape)
    )
}
