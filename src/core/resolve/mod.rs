//! Resolves a program to ops: evaluates sizes, looks names up, infers shapes and element types.

mod attributes;
mod callee;
mod element_types;
mod expr;
mod in_place;
mod indexing;
mod iterations;
mod numbers;
mod proposals;
mod pytorch;
mod scope;
mod shapes;
mod statement;
mod undeclared;
mod unknown;
mod values;

use crate::model::build::cycle_diagnostic;
use crate::model::diagnostic::{Code, Diagnostic, Severity, sort_in_text_order};
use crate::model::fix::TextEdit;
use crate::model::ids::IdVec;
use crate::model::op::{Op, TensorDecl};
use crate::model::order::{runnable, topological_order};
use crate::model::program::{Declaration, Program};
use crate::notation::spelling::quoted;
pub(super) use attributes::takes;
use expr::{Params, is_reported_elsewhere};
use in_place::late_readers;
pub(super) use iterations::bytes_of_further_iterations;
pub use iterations::ops_and_reads;
use iterations::{check_carried, iterations_of_blocks};
use pytorch::receiver_of;
use scope::{ExternalId, Iteration, KnownTensors, Origin, Scope, StatementId};
pub use shapes::{dimension_of, infer_call};
use statement::{Found, resolve_op, resolve_shape};
use std::collections::HashSet;
use undeclared::{fixed_by_readers, note_unknown_k, warn_of_undeclared};
use unknown::{mark_read_by_unknown, warn_of_unknown};
use values::check_dividing;
pub(super) use values::params_following;
pub use values::{ParamValues, attributes_in_numbers, param_values, values_by_name};

/// The ops and tensors of a program, and its diagnostics.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The ops whose shapes are known, in text order, where each block is written out. Names of a
    /// block have the number of their iteration: `h.1`, `h.2`.
    pub ops: Vec<Op>,
    /// For each op the index of its statement in [`Program::ops`]. A statement of a block has an op
    /// for each iteration.
    pub statement_of_op: Vec<usize>,
    /// Names of the ops of unknown shape, which are not among them.
    pub unknown_ops: Vec<String>,
    /// Declared external tensors whose sizes are known.
    pub externals: Vec<TensorDecl>,
    /// Errors, warnings and notes, in text order. [`Diagnostic::op`] is an index into
    /// [`Program::ops`].
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves a program. Total: an op that cannot be resolved is left out with one diagnostic, and so
/// are the ops that depend on it, without one.
///
/// The shape of an operator that the table of functions lacks is unknown unless the program states
/// it. Such an op is left out with a warning, and so are the ops whose shape depends on it. An op
/// that states its own shape reads the output like an undeclared tensor.
///
/// The element type of a result is that of the first input (of the second for `where`), except for
/// casts, bare op types and annotated matmuls. `O(program)` for a text in execution order.
///
/// ```
/// use fuseline_core::{notation::parse, resolve::resolve, OpType};
/// let text = "param S = 8\ninput x : f16[S, 4]\nweight w : f16[4, 2*S]\n\
///     y = matmul(x, w)\nz = gelu(y)";
/// let resolved = resolve(&parse(text).program);
/// assert_eq!(resolved.diagnostics, []);
/// assert_eq!((resolved.ops[0].op_type, resolved.ops[0].k), (OpType::Matmul, Some(4)));
/// assert_eq!(resolved.ops[1].shape, [8, 16]);
/// ```
pub fn resolve(program: &Program) -> Resolved {
    let mut params = Params::new(program);
    let mut diagnostics = params.derive();
    let iterations = iterations_of_blocks(program, &params, &mut diagnostics);
    let mut scope = Scope::new(program, &iterations);
    let mut externals: IdVec<ExternalId, TensorDecl> =
        IdVec::with_capacity(program.declarations.len());
    for declaration in &program.declarations {
        let name = &declaration.name.text;
        let tensors = scope.tensors_called(name);
        let mut resolved = None;
        for (tensor, index) in tensors.zip(0..) {
            // The parser has already refused tensors that are declared twice, or both declared and
            // produced.
            if scope.tensors[tensor] != Origin::Undeclared {
                continue;
            }
            let resolved =
                resolved.get_or_insert_with(|| resolve_declaration(declaration, &params));
            match resolved {
                Ok(external) => {
                    let name = scope.tensor_name(tensor).into_owned();
                    let external = TensorDecl {
                        name,
                        ..external.clone()
                    };
                    scope.tensors[tensor] = Origin::Declared(externals.push(external));
                }
                Err(problem) => {
                    scope.tensors[tensor] = Origin::Broken;
                    if index == 0 && !is_reported_elsewhere(problem) {
                        diagnostics.push(problem.clone());
                    }
                }
            }
        }
    }

    for name in &program.unreadable {
        for tensor in scope.tensors_called(&name.text) {
            if scope.tensors[tensor] == Origin::Undeclared {
                scope.tensors[tensor] = Origin::Broken;
            }
        }
    }

    let mut ops: IdVec<StatementId, Option<Op>> = scope.reads.ids().map(|_| None).collect();
    let mut unknown = IdVec::from_elem(None, ops.len());
    let producers = |statement: StatementId| scope.producers(statement);
    let order = execution_order(program, &scope, producers, &mut diagnostics);
    for &id in &order {
        let known = KnownTensors {
            program,
            scope: &scope,
            ops: &ops,
            unknown: &unknown,
            externals: &externals,
        };
        let Some(statement) = known.statement(id) else {
            continue;
        };
        match resolve_op(id, statement, &params, &known) {
            Ok(Found::Op(op)) => ops[id] = Some(op),
            Ok(Found::Unknown(from)) => unknown[id] = Some(from),
            Ok(Found::LeftOut) => {}
            Err(problem) if is_reported_elsewhere(&problem) => {}
            Err(problem) => {
                let span = problem.span.unwrap_or(statement.callee.span);
                let problem = in_iteration(problem, scope.runs[id].iteration);
                diagnostics.push(problem.at(span).about(id.index()));
            }
        }
    }

    let known = KnownTensors {
        program,
        scope: &scope,
        ops: &ops,
        unknown: &unknown,
        externals: &externals,
    };
    for late in late_readers(&known, &order, &mut diagnostics) {
        ops[late] = None;
    }
    let known = KnownTensors {
        program,
        scope: &scope,
        ops: &ops,
        unknown: &unknown,
        externals: &externals,
    };
    warn_of_unknown(&known, &mut diagnostics);
    let fixed = fixed_by_readers(&known);
    warn_of_undeclared(&known, &params, &fixed, &mut diagnostics);
    note_unknown_k(&known, &fixed, &mut diagnostics);
    note_unused(program, &scope, &mut diagnostics);
    check_dividing(program, &params, &mut diagnostics);
    check_carried(program, &scope, &mut diagnostics);
    mark_outputs(program, &scope, &mut ops, &mut diagnostics);
    let unknown_ops = mark_read_by_unknown(program, &scope, &unknown, &mut ops);
    merge_iterations(&mut diagnostics, program, &scope);
    sort_in_text_order(&mut diagnostics);
    let is_resolved = |&id: &StatementId| ops[id].is_some();
    let resolved = ops.ids().filter(is_resolved);
    Resolved {
        statement_of_op: resolved.map(|id| scope.runs[id].op).collect(),
        ops: ops.into_iter().flatten().collect(),
        unknown_ops,
        externals: externals.into_iter().collect(),
        diagnostics,
    }
}

/// Names the iteration in a problem that the first iteration of a block does not have.
fn in_iteration(problem: Diagnostic, iteration: Option<Iteration>) -> Diagnostic {
    match iteration.filter(|iteration| iteration.index > 0) {
        Some(iteration) => Diagnostic {
            message: format!("in iteration {}, {}", iteration.number(), problem.message),
            ..problem
        },
        None => problem,
    }
}

/// Keeps one diagnostic of each kind for a statement of a block, that of the first iteration, and
/// gives it the statement's index in the program.
fn merge_iterations(diagnostics: &mut Vec<Diagnostic>, program: &Program, scope: &Scope<'_>) {
    let mut seen = HashSet::new();
    diagnostics.retain_mut(|diagnostic| {
        let Some(id) = diagnostic.op else { return true };
        let op = scope.runs.get(StatementId::new(id)).map(|run| run.op);
        diagnostic.op = op;
        let block = op.and_then(|op| program.block_of_op(op));
        block.is_none() || seen.insert((op, diagnostic.code, diagnostic.span))
    });
}

/// Text order if every op follows there the ops that must run before it, otherwise a topological
/// order. Ops on a cycle, and ops that depend on one, are left out, with one error for the first
/// cycle.
fn execution_order<Before: Iterator<Item = StatementId>>(
    program: &Program,
    scope: &Scope<'_>,
    before: impl Fn(StatementId) -> Before,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<StatementId> {
    let statements = scope.reads.ids();
    if (statements.clone()).all(|statement| before(statement).all(|p| p < statement)) {
        return statements.collect();
    }
    let predecessors: IdVec<StatementId, Vec<StatementId>> = statements
        .map(|statement| before(statement).collect())
        .collect();
    topological_order(&predecessors).unwrap_or_else(|cycle| {
        let statements = (cycle.iter()).filter_map(|&id| program.ops.get(scope.runs[id].op));
        let names: Vec<_> = (statements.clone())
            .map(|statement| statement.name().text.as_str())
            .collect();
        if let Some((first, statement)) = cycle.iter().zip(statements).next() {
            let problem = cycle_diagnostic(&names).at(statement.output.span);
            diagnostics.push(problem.about(first.index()));
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
        bytes_per_element: annotation.dtype.size(),
        role: declaration.role,
        dtype: Some(annotation.dtype),
    })
}

/// Marks the ops whose outputs the program returns.
fn mark_outputs(
    program: &Program,
    scope: &Scope<'_>,
    ops: &mut IdVec<StatementId, Option<Op>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (index, name) in program.outputs.iter().enumerate() {
        let last = scope.tensor(&name.text);
        match last.map(|tensor| scope.tensors[tensor]) {
            Some(Origin::Produced(_)) => {
                let block = program.block_of_output(index);
                let is_of_iterations = block.is_some_and(|block| scope.is_defined_in(name, block));
                let tensors = scope.tensors_called(&name.text);
                for tensor in tensors.filter(|&tensor| is_of_iterations || Some(tensor) == last) {
                    if let Origin::Produced(statement) = scope.tensors[tensor]
                        && let Some(op) = &mut ops[statement]
                    {
                        op.is_output = true;
                    }
                }
            }
            Some(Origin::Broken) => {}
            Some(Origin::Declared(_) | Origin::Undeclared) | None => diagnostics.push(
                Diagnostic::error(
                    Code::UndeclaredTensor,
                    format!("no op writes the output {}", quoted(&name.text)),
                )
                .at(name.span)
                .hint("name the output of an op, or remove the line")
                .fix("Remove this line", TextEdit::remove(name.span)),
            ),
        }
    }
}

fn note_unused(program: &Program, scope: &Scope<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // `x.relu()` is an error, but the statement was meant to read `x`.
    let methods = program.ops.iter().filter_map(|op| receiver_of(op));
    let receivers: HashSet<&str> = methods.map(|(tensor, _)| tensor).collect();
    for declaration in &program.declarations {
        let name = &declaration.name;
        let is_read = scope.tensors_called(&name.text).any(|t| scope.is_read[t]);
        let may_be_read =
            program.mentioned.contains(&name.text) || receivers.contains(name.text.as_str());
        if !is_read && !may_be_read {
            diagnostics.push(
                Diagnostic::new(
                    Severity::Note,
                    Code::UnusedTensor,
                    format!("no op reads {}", quoted(&name.text)),
                )
                .at(name.span)
                .hint("remove it, or name it as an input")
                .fix("Remove this line", TextEdit::remove(declaration.span)),
            );
        }
    }
}
