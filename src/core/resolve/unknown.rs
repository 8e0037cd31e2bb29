//! Operators that the table of functions lacks and whose shape the program does not state.

use crate::model::diagnostic::{Code, Diagnostic};
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::ids::IdVec;
use crate::model::op::{Op, UnknownReader, shape_text};
use crate::model::program::Program;
use crate::notation::fix_edits::with_annotation;
use crate::notation::spelling::quoted;
use crate::resolve::scope::{KnownTensors, Scope, StatementId};

/// One warning for each statement without a shape, with the number of ops that depend on it.
pub(super) fn warn_of_unknown(known: &KnownTensors<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut readers = IdVec::from_elem(0_usize, known.unknown.len());
    let unknown = known.unknown.iter_enumerated();
    let unknown = unknown.filter_map(|(id, from)| Some((id, (*from)?)));
    for (id, from) in unknown.clone() {
        readers[from] += usize::from(id != from);
    }
    for (id, from) in unknown {
        let Some(statement) = known.statement(id).filter(|_| id == from) else {
            continue;
        };
        let mut inputs = known.scope.reads[id].iter();
        let input = inputs.find_map(|&tensor| known.type_of(tensor));
        let (shape, dtype) = input.unwrap_or((&[1024], DType::F16));
        let example = format!("{}{}", dtype.name(), shape_text(shape));
        let others = match readers[id] {
            0 => String::new(),
            1 => ", nor is the op that depends on it".to_owned(),
            count => format!(", nor are the {count} ops that depend on it"),
        };
        let name = quoted(&statement.output.text);
        diagnostics.push(
            Diagnostic::warning(
                Code::UnknownShape,
                format!("the shape of {name} is unknown, so its op is not counted{others}"),
            )
            .at(statement.callee.span)
            .about(id.index())
            .hint(format!(
                "write the shape after a colon, such as `: {example}`"
            ))
            .fix(
                format!("Write `: {example}`"),
                with_annotation(statement, &example),
            ),
        );
    }
}

/// Marks the ops whose outputs ops of unknown shape read, and returns the names of these.
///
/// An unknown operator is a separate kernel, so its inputs are written. Another op may be fused
/// with the ops whose outputs it reads.
pub(super) fn mark_read_by_unknown(
    program: &Program,
    scope: &Scope<'_>,
    unknown: &IdVec<StatementId, Option<StatementId>>,
    ops: &mut IdVec<StatementId, Option<Op>>,
) -> Vec<String> {
    let mut names = Vec::new();
    let unknown = unknown.iter_enumerated();
    for (id, _) in unknown.filter(|(_, from)| from.is_some()) {
        let run = scope.runs[id];
        let Some(statement) = program.ops.get(run.op) else {
            continue;
        };
        names.push(
            scope
                .name_in(&statement.name().text, run.iteration)
                .into_owned(),
        );
        let function = statement.function();
        let reader = match function {
            Some(Function::Opaque) => UnknownReader::Opaque,
            _ => UnknownReader::Fusable,
        };
        for producer in scope.producers(id) {
            if let Some(op) = &mut ops[producer] {
                op.unknown_reader = op.unknown_reader.max(Some(reader));
                op.is_output |= reader == UnknownReader::Opaque;
            }
        }
    }
    names
}
