//! The rows of the table of ops, and the functions that an op may call.

use crate::present::words::with_hint;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::shape_text;
use fuseline_core::model::program::{Argument, Program};
use fuseline_core::notation::is_literal;
use fuseline_core::{Analysis, Diagnostic, Fix, IdVec, KernelId, OpId, OpType, Severity, Span};
use std::collections::{HashMap, HashSet};
use strum::VariantArray;

/// A row of the table: an op that could be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpRow {
    /// Identifies the row while ops are added, removed and moved.
    pub id: usize,
    /// The op in the analysis, in a block that of the first iteration; `None` if it could not be
    /// resolved.
    pub op: Option<OpId>,
    /// The kernel that computes it.
    pub kernel: Option<KernelId>,
    pub name: String,
    /// Its function or op type.
    pub callee: String,
    /// Its inputs, separated by commas.
    pub inputs: String,
    /// Whether `inputs` can be split again: no name contains a comma.
    pub has_separable_inputs: bool,
    /// The type annotation as written; empty if there is none.
    pub stated_type: String,
    /// Its type and shape with all sizes evaluated; empty if they are unknown.
    pub shape: String,
    /// Its diagnostics.
    pub problems: Vec<Problem>,
}

/// A diagnostic of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// What is wrong and how to correct it, with code in backquotes.
    pub text: String,
    /// The sound fixes.
    pub fixes: Vec<Fix>,
}

impl OpRow {
    /// The shape, if it differs from the annotation.
    pub fn evaluated_type(&self) -> Option<&str> {
        let is_news = !self.stated_type.is_empty() && self.stated_type != self.shape;
        Some(&*self.shape).filter(|shape| is_news && !shape.is_empty())
    }
}

/// The input of the table of ops.
#[derive(Clone, Copy)]
pub struct OpSource<'a> {
    pub text: &'a str,
    /// The program that was parsed from it.
    pub program: &'a Program,
    /// Its diagnostics, in text order.
    pub diagnostics: &'a [Diagnostic],
    /// The sound fixes of each diagnostic.
    pub fixes: &'a [Vec<Fix>],
    /// The analysis, and for each of its ops the statement.
    pub analysed: Option<(&'a Analysis, &'a IdVec<OpId, usize>)>,
}

/// A row for each of the first `max_rows` ops in text order. A row keeps the id that it has among
/// `before`.
pub fn op_rows(source: OpSource<'_>, max_rows: usize, before: &[OpRow]) -> Vec<OpRow> {
    let ops = &source.program.ops;
    let ops = ops.get(..max_rows).unwrap_or(ops);
    let mut op_of_statement = vec![None; ops.len()];
    let analysed = source.analysed.iter();
    for (op, &statement) in analysed.flat_map(|(_, of)| of.iter_enumerated()) {
        if let Some(place) = op_of_statement.get_mut(statement) {
            place.get_or_insert(op);
        }
    }
    let spans: Vec<Span> = ops.iter().map(|op| op.span).collect();
    let problems = problems_by_statement(&spans, source.diagnostics, source.fixes);
    let names: Vec<&str> = ops.iter().map(|op| op.name().text.as_str()).collect();
    let ids = row_ids(&names, before.iter().map(|row| (&*row.name, row.id)));
    let rows = ids.into_iter().zip(ops).zip(op_of_statement).zip(problems);
    rows.map(|(((id, statement), op), problems)| {
        let analysed = op.zip(source.analysed.map(|(analysis, _)| analysis));
        let kernel = analysed.and_then(|(op, a)| a.partition.kernel_of.get(op).copied());
        let resolved = analysed.and_then(|(op, a)| a.graph.ops.get(op));
        let arguments = statement.arguments();
        let inputs: Vec<&str> = (arguments.iter())
            .map(|(argument, _)| match *argument {
                Argument::Tensor(text) | Argument::Literal(text) => text,
            })
            .collect();
        let annotation = statement.annotation.as_ref();
        OpRow {
            id,
            op,
            kernel,
            name: statement.name().text.clone(),
            callee: statement.callee.text.clone(),
            inputs: inputs.join(", "),
            has_separable_inputs: (arguments.iter()).all(|(argument, _)| match argument {
                Argument::Tensor(name) => {
                    !name.contains(',') && name.trim() == *name && !is_literal(name)
                }
                Argument::Literal(_) => true,
            }),
            stated_type: annotation
                .map_or("", |a| a.span.slice(source.text))
                .to_owned(),
            shape: resolved.map_or_else(String::new, |op| {
                let dtype = op.element_type().map_or("", |d| d.name());
                format!("{dtype}{}", shape_text(&op.shape))
            }),
            problems,
        }
    })
    .collect()
}

/// An id for each of these names, which are distinct. A name keeps the id that it has in `before`.
/// A new name in the position of a removed one gets that one's id, because the op was renamed.
pub(super) fn row_ids<'a>(
    names: &[&'a str],
    before: impl Iterator<Item = (&'a str, usize)>,
) -> Vec<usize> {
    let before: Vec<(&str, usize)> = before.collect();
    let id_of_name: HashMap<&str, usize> = before.iter().copied().collect();
    let id_of = |name: &&str| id_of_name.get(*name).copied();
    let kept: HashSet<usize> = names.iter().filter_map(id_of).collect();
    let mut new_ids = before.iter().map(|(_, id)| id + 1).max().unwrap_or(0)..;
    let ids = names.iter().enumerate().filter_map(|(place, name)| {
        let renamed = || {
            before
                .get(place)
                .map(|(_, id)| *id)
                .filter(|id| !kept.contains(id))
        };
        id_of(name).or_else(renamed).or_else(|| new_ids.next())
    });
    ids.collect()
}

/// The diagnostics of each of these statements, which are in text order.
pub(super) fn problems_by_statement(
    statements: &[Span],
    diagnostics: &[Diagnostic],
    fixes: &[Vec<Fix>],
) -> Vec<Vec<Problem>> {
    let mut problems = vec![Vec::new(); statements.len()];
    for (place, diagnostic) in diagnostics.iter().enumerate() {
        let Some(span) = diagnostic.span else {
            continue;
        };
        let statement = statements.partition_point(|statement| statement.end < span.start);
        if let Some(at) = statements.get(statement)
            && at.start <= span.start
            && let Some(found) = problems.get_mut(statement)
        {
            found.push(Problem {
                severity: diagnostic.severity,
                text: with_hint(diagnostic),
                fixes: fixes.get(place).cloned().unwrap_or_default(),
            });
        }
    }
    problems
}

/// A function that an op may call, as an option of a picker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionOption {
    pub name: &'static str,
    /// What it computes; empty for an op type.
    pub summary: &'static str,
}

/// All functions by op type, with the op type itself if no function has its name.
pub fn function_options() -> Vec<(&'static str, Vec<FunctionOption>)> {
    let group = |&op_type: &OpType| {
        let name = op_type.name();
        let any = Function::from_name(name)
            .is_none()
            .then_some(FunctionOption { name, summary: "" });
        let functions = Function::VARIANTS
            .iter()
            .filter(|f| f.row().op_type == op_type);
        let functions = functions.map(|f| FunctionOption {
            name: f.name(),
            summary: f.row().summary,
        });
        (name, any.into_iter().chain(functions).collect())
    };
    OpType::VARIANTS.iter().map(group).collect()
}

/// Whether a function or an op type has this name.
pub fn is_callable(name: &str) -> bool {
    Function::from_name(name).is_some() || name.parse::<OpType>().is_ok()
}
