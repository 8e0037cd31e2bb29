//! Resolves a program to ops: evaluates sizes, looks names up, infers shapes and element types.
#![allow(
    clippy::indexing_slicing,
    reason = "statements and tensors are dense indices that Scope hands out"
)]

mod attributes;
mod expr;
mod scope;
mod shapes;
mod statement;
mod undeclared;

use super::notation::spelling::quoted;
use crate::core::model::build::cycle_diagnostic;
use crate::core::model::diagnostic::sort_in_text_order;
use crate::core::model::diagnostic::{Code, Diagnostic, Severity};
use crate::core::model::op::{Op, TensorDecl};
use crate::core::model::order::{runnable, topological_order};
use crate::core::model::program::{Declaration, Program};
use crate::core::sorting::{rank_of, sort_by_rank};
use expr::{Params, is_reported_elsewhere};
use scope::{KnownTensors, Origin, Scope};
pub(super) use shapes::infer_call;
use statement::{resolve_op, resolve_shape};
use undeclared::{note_unknown_k, warn_of_undeclared};

/// The ops and tensors of a program, and its diagnostics.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The ops whose shapes are known, in text order.
    pub ops: Vec<Op>,
    /// For each op the index of its statement in [`Program::ops`].
    pub statement_of_op: Vec<usize>,
    /// Declared external tensors whose sizes are known.
    pub externals: Vec<TensorDecl>,
    /// Errors, warnings and notes, in text order. [`Diagnostic::op`] is an index into [`Program::ops`].
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves a program. Total: an op that cannot be resolved is left out with one diagnostic, and so are the ops
/// that depend on it, without one.
///
/// The element type of a result is that of the first input (of the second for `where`), except for casts, bare
/// op types and annotated matmuls. `O(program)` for a text in execution order.
///
/// ```
/// use fuseline::core::{notation::parse, resolve::resolve, OpType};
/// let text = "param S = 8\ninput x : f16[S, 4]\nweight w : f16[4, 2*S]\ny = matmul(x, w)\nz = gelu(y)";
/// let resolved = resolve(&parse(text).program);
/// assert_eq!(resolved.diagnostics, []);
/// assert_eq!((resolved.ops[0].op_type, resolved.ops[0].k), (OpType::Matmul, Some(4)));
/// assert_eq!(resolved.ops[1].shape, [8, 16]);
/// ```
pub fn resolve(program: &Program) -> Resolved {
    let params = Params::new(program);
    let mut diagnostics = Vec::new();
    let mut scope = Scope::new(program);
    let mut externals = Vec::with_capacity(program.declarations.len());
    for declaration in &program.declarations {
        // The parser has already refused tensors that are declared twice, or both declared and produced.
        let Some(tensor) = scope
            .tensor(&declaration.name.text)
            .filter(|&tensor| scope.tensors[tensor] == Origin::Undeclared)
        else {
            continue;
        };
        match resolve_declaration(declaration, &params) {
            Ok(external) => {
                scope.tensors[tensor] = Origin::Declared(externals.len());
                externals.push(external);
            }
            Err(problem) => {
                scope.tensors[tensor] = Origin::Broken;
                if !is_reported_elsewhere(&problem) {
                    diagnostics.push(problem);
                }
            }
        }
    }

    for name in &program.unreadable {
        if let Some(tensor) = scope.tensor(&name.text)
            && scope.tensors[tensor] == Origin::Undeclared
        {
            scope.tensors[tensor] = Origin::Broken;
        }
    }

    let order = execution_order(program, &scope, &mut diagnostics);
    let count = program.ops.len();
    let mut ops: Vec<Op> = Vec::with_capacity(count);
    let mut statement_of_op = Vec::with_capacity(count);
    let mut op_of_statement = vec![None; count];
    for statement in order {
        let known = KnownTensors {
            program,
            scope: &scope,
            ops: &ops,
            op_of_statement: &op_of_statement,
            externals: &externals,
        };
        match resolve_op(statement, &params, &known) {
            Ok(Some(op)) => {
                op_of_statement[statement] = Some(ops.len());
                statement_of_op.push(statement);
                ops.push(op);
            }
            Ok(None) => {}
            Err(problem) if is_reported_elsewhere(&problem) => {}
            Err(problem) => {
                let span = problem.span.unwrap_or(program.ops[statement].callee.span);
                diagnostics.push(problem.at(span).about(statement));
            }
        }
    }

    let known = KnownTensors {
        program,
        scope: &scope,
        ops: &ops,
        op_of_statement: &op_of_statement,
        externals: &externals,
    };
    warn_of_undeclared(&known, &mut diagnostics);
    note_unknown_k(&known, &mut diagnostics);
    note_unused(program, &scope, &mut diagnostics);
    sort_in_text_order(&mut diagnostics);
    if !statement_of_op.is_sorted() {
        let mut in_text_order: Vec<(usize, Op)> = statement_of_op.into_iter().zip(ops).collect();
        sort_by_rank(&mut in_text_order, |&(statement, _)| {
            (rank_of(statement), 0, 0)
        });
        (statement_of_op, ops) = in_text_order.into_iter().unzip();
    }
    Resolved {
        ops,
        statement_of_op,
        externals,
        diagnostics,
    }
}

/// Text order if every op follows its producers there, otherwise a topological order. Ops on a cycle, and ops
/// that depend on one, are left out, with one error for the first cycle.
fn execution_order(
    program: &Program,
    scope: &Scope<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let count = program.ops.len();
    if (0..count).all(|statement| scope.producers(statement).all(|p| p < statement)) {
        return (0..count).collect();
    }
    let predecessors: Vec<Vec<usize>> = (0..count)
        .map(|statement| scope.producers(statement).collect())
        .collect();
    topological_order(&predecessors).unwrap_or_else(|cycle| {
        let names: Vec<_> = cycle
            .iter()
            .map(|&s| program.ops[s].name().text.as_str())
            .collect();
        if let Some(&first) = cycle.first() {
            let span = program.ops[first].output.span;
            diagnostics.push(cycle_diagnostic(&names).at(span).about(first));
        }
        runnable(&predecessors)
    })
}

fn resolve_declaration(
    declaration: &Declaration,
    params: &Params<'_>,
) -> Result<TensorDecl, Diagnostic> {
    let annotation = &declaration.annotation;
    let name = &declaration.name.text;
    Ok(TensorDecl {
        shape: resolve_shape(name, annotation, params)?,
        name: name.clone(),
        bytes_per_element: annotation.dtype.bytes(),
        role: declaration.role,
        dtype: Some(annotation.dtype),
    })
}

fn note_unused(program: &Program, scope: &Scope<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for declaration in &program.declarations {
        let name = &declaration.name;
        let is_read = scope.tensor(&name.text).is_some_and(|t| scope.is_read[t]);
        if !is_read {
            diagnostics.push(
                Diagnostic::new(
                    Severity::Note,
                    Code::UnusedTensor,
                    format!("no op reads {}", quoted(&name.text)),
                )
                .at(name.span)
                .hint("remove it, or name it as an input"),
            );
        }
    }
}
