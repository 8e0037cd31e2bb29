//! Statements that write in place: what they may write into, and what reads the old value too late.

use crate::model::diagnostic::{Code, Diagnostic};
use crate::model::fix::TextEdit;
use crate::model::ids::IdVec;
use crate::model::in_place::OpsInPlace;
use crate::model::op::{Op, shape_text};
use crate::model::program::OpStatement;
use crate::notation::spelling::quoted;
use crate::notation::written_name;
use crate::resolve::execution_order;
use crate::resolve::scope::{KnownTensors, NameId, StatementId};

/// # Errors
/// A result in place that its first input cannot hold.
pub(super) fn check_target(
    statement: &OpStatement,
    op: &Op,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Result<(), Diagnostic> {
    if !op.in_place {
        return Ok(());
    }
    let callee = quoted(&statement.callee.text);
    let plain = statement.callee.text.trim_end_matches('_');
    let problem = |what: String| {
        Diagnostic::error(Code::ShapeMismatch, what)
            .at(statement.callee.span)
            .hint(format!("write `{plain}` for a result in memory of its own"))
            .fix(
                format!("Write `{plain}`"),
                TextEdit::replace(statement.callee.span, plain),
            )
    };
    if let Some(literal) = statement.literals.first().filter(|l| l.place == 0) {
        return Err(problem(format!(
            "{callee} cannot write into the number {}",
            literal.text
        )));
    }
    let target = statement.inputs.first().zip(reads.first());
    let Some((name, (shape, dtype))) =
        target.and_then(|(name, &tensor)| Some((name, known.type_of(tensor)?)))
    else {
        return Ok(());
    };
    if *shape == *op.shape && op.element_type() == Some(dtype) {
        return Ok(());
    }
    let text = |dtype: &str, shape: &[u64]| format!("{dtype}{}", shape_text(shape));
    Err(problem(format!(
        "{callee} writes into {}, which is {}, but its result is {}",
        quoted(&name.text),
        text(dtype.name(), shape),
        text(op.element_type().map_or("", |own| own.name()), &op.shape),
    )))
}

/// The ops that cannot be counted because of ops in place: each that reads a tensor below the
/// statement that overwrites it, each on a cycle with such a statement, and the ops that depend on
/// one. `order` is that of the ops without regard to what they overwrite.
///
/// In the order of the text a late reader would read the new value, and its statement names the old
/// one.
pub(super) fn late_readers(
    known: &KnownTensors<'_>,
    order: &[StatementId],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<StatementId> {
    let scope = known.scope;
    let in_place = OpsInPlace {
        op_of: &|id: StatementId| known.ops.get(id)?.as_ref(),
        inputs: &scope.reads,
        output_of: &|id: StatementId| {
            let run = scope.runs.get(id)?;
            let name = &known.program.ops.get(run.op)?.output.text;
            scope.tensor_in(name, run.iteration)
        },
        tensors: scope.tensors.len(),
    };
    let waits_for = in_place.waits_for();
    if waits_for.is_empty() {
        return Vec::new();
    }
    let mut overwritten_by = IdVec::from_elem(None, known.ops.len());
    for (write, readers) in waits_for.iter_enumerated() {
        for &reader in readers.iter().filter(|&&reader| reader > write) {
            overwritten_by[reader].get_or_insert(write);
        }
    }
    let before = |id: StatementId| {
        let waits_for = waits_for[id].iter().copied();
        scope
            .producers(id)
            .chain(waits_for.filter(move |&reader| reader < id))
    };
    let mut runs = IdVec::from_elem(false, known.ops.len());
    let mut cycles = Vec::new();
    for id in execution_order(known.program, scope, before, &mut cycles) {
        runs[id] = true;
    }
    // Otherwise the ops are on a cycle without the writes, too, which has an error already.
    if order.len() == known.ops.len() {
        diagnostics.append(&mut cycles);
    }
    let mut is_out = IdVec::from_elem(false, known.ops.len());
    for &id in order {
        is_out[id] = !runs[id] || scope.producers(id).any(|producer| is_out[producer]);
        if let Some(write) = overwritten_by[id].filter(|_| !is_out[id]) {
            diagnostics.extend(late_reader(known, write, id));
            is_out[id] = true;
        }
    }
    is_out.ids().filter(|&id| is_out[id]).collect()
}

fn late_reader(
    known: &KnownTensors<'_>,
    write: StatementId,
    reader: StatementId,
) -> Option<Diagnostic> {
    let (writing, reading) = (known.statement(write)?, known.statement(reader)?);
    let target = *known.scope.reads[write].first()?;
    let reads = known.scope.reads[reader].iter();
    let mut named = reading.inputs.iter().zip(reads);
    // Without the tensor itself among its inputs, the op reads it through a view.
    let direct = named.find(|&(_, &tensor)| tensor == target);
    let old = writing.inputs.first()?;
    let new = &writing.output.text;
    let problem = Diagnostic::error(
        Code::OverwrittenTensor,
        format!(
            "{} reads {} after {} has overwritten it",
            quoted(&reading.output.text),
            quoted(direct.map_or(&old.text, |(name, _)| &name.text)),
            quoted(new)
        ),
    )
    .about(reader.index());
    Some(match direct {
        Some((name, _)) => problem
            .at(name.span)
            .hint(format!(
                "read the new value, {}, or move this line above it",
                quoted(new)
            ))
            .fix(
                format!("Read `{new}`"),
                TextEdit::replace(name.span, written_name(new)),
            ),
        None => problem.at(reading.span).hint(format!(
            "move this line above that of {}, or view {0} instead",
            quoted(new)
        )),
    })
}
