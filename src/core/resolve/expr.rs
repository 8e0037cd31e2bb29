//! Evaluates size expressions over the params.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::program::{BinaryOp, Expr, ExprKind, Param, Program};
use crate::notation::fix_edits::before_all;
use crate::notation::spelling::{nearest, quoted, shortened};
use crate::notation::{print_expr, written_name};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// An empty diagnostic, for a use of a name whose statement is invalid and has its own diagnostic.
fn reported_elsewhere() -> Diagnostic {
    Diagnostic::error(Code::UnknownParam, "")
}

/// Whether the failure follows from an invalid statement, so that reporting it would repeat an
/// error.
pub(super) fn is_reported_elsewhere(problem: &Diagnostic) -> bool {
    problem.message.is_empty()
}

/// Values of the params by name.
pub(super) struct Params<'a> {
    values: HashMap<&'a str, i64>,
    list: &'a [Param],
    program: &'a Program,
    unreadable: HashSet<&'a str>,
    /// Number of suggestions that may still be searched. This limits the time for a text with
    /// thousands of errors.
    suggestions_left: Cell<u32>,
}

impl<'a> Params<'a> {
    /// The first of duplicate params counts, as in the parser.
    pub(super) fn new(program: &'a Program) -> Self {
        let list = &program.params;
        let mut values = HashMap::with_capacity(list.len());
        for param in list {
            values
                .entry(param.name.text.as_str())
                .or_insert(param.value);
        }
        let mut params = Self {
            values,
            list,
            program,
            unreadable: program.unreadable.iter().map(|n| n.text.as_str()).collect(),
            suggestions_left: Cell::new(32),
        };
        params.derive();
        params
    }

    /// Gives a param another value.
    pub(super) fn set(&mut self, name: &'a str, value: i64) {
        self.values.insert(name, value);
        self.derive();
    }

    /// Computes the params that follow from others; gives the errors of those that have no size.
    /// Each follows from those before it alone, so one pass computes all.
    pub(super) fn derive(&mut self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for derived in &self.program.derived {
            let name = derived.name.text.as_str();
            self.values.remove(name);
            self.unreadable.remove(name);
        }
        for derived in &self.program.derived {
            let name = derived.name.text.as_str();
            let value = evaluate_size(&derived.value, self);
            match value.map(i64::try_from) {
                Ok(Ok(value)) => {
                    self.values.insert(name, value);
                    continue;
                }
                Ok(Err(_)) => problems.push(overflow(&derived.value)),
                Err(problem) if is_reported_elsewhere(&problem) => {}
                Err(problem) => problems.push(problem),
            }
            self.unreadable.insert(name);
        }
        problems
    }

    /// The values of all params by name.
    pub(super) fn into_values(self) -> HashMap<&'a str, i64> {
        self.values
    }

    /// Whether a param has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The known name nearest to a misspelt one.
    pub(super) fn suggest<'n>(
        &self,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let left = self.suggestions_left.get().checked_sub(1)?;
        self.suggestions_left.set(left);
        nearest(name, known)
    }

    fn value(&self, name: &str, span: Span) -> Result<i64, Diagnostic> {
        self.values.get(name).copied().ok_or_else(|| {
            if self.unreadable.contains(name) {
                return reported_elsewhere();
            }
            let mut derived = self.program.derived.iter();
            if derived.any(|derived| derived.name.text == name) {
                let problem = format!("{} is not computed before this line", quoted(name));
                return Diagnostic::error(Code::UnknownParam, problem)
                    .at(span)
                    .hint("write its own line above this one");
            }
            let unknown = Diagnostic::error(
                Code::UnknownParam,
                format!("no param is called {}", quoted(name)),
            )
            .at(span);
            let names = self.list.iter().map(|p| p.name.text.as_str());
            if let Some(known) = self.suggest(name, names) {
                return unknown.hint(format!("did you mean `{known}`?")).fix(
                    format!("Write {}", quoted(known)),
                    TextEdit::replace(span, written_name(known)),
                );
            }
            let shown = format!("param {} = 1024", shortened(name));
            let line = format!("param {} = 1024\n", written_name(name));
            unknown.hint(format!("declare it: `{shown}`")).fix(
                format!("Declare `{shown}`"),
                before_all(self.program, &line),
            )
        })
    }
}

/// The value of an expression, in exact integer arithmetic.
///
/// Uses a stack on the heap, so that deep nesting cannot overflow the thread's stack.
pub(super) fn evaluate(expr: &Expr, params: &Params<'_>) -> Result<i64, Diagnostic> {
    match &expr.kind {
        ExprKind::Int(value) => return Ok(*value),
        ExprKind::Param(name) => return params.value(name, expr.span),
        _ => {}
    }
    let mut todo = vec![(expr, false)];
    let mut values = Vec::new();
    while let Some((expr, operands_are_ready)) = todo.pop() {
        let value = match &expr.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Param(name) => params.value(name, expr.span)?,
            ExprKind::Negate(operand) if !operands_are_ready => {
                todo.extend([(expr, true), (&**operand, false)]);
                continue;
            }
            ExprKind::Binary(_, left, right) if !operands_are_ready => {
                todo.extend([(expr, true), (&**right, false), (&**left, false)]);
                continue;
            }
            ExprKind::Negate(_) => {
                let operand: i64 = values.pop().unwrap_or(0);
                operand.checked_neg().ok_or_else(|| overflow(expr))?
            }
            ExprKind::Binary(operator, ..) => {
                let (right, left) = (values.pop().unwrap_or(0), values.pop().unwrap_or(0));
                apply(*operator, left, right, expr)?
            }
        };
        values.push(value);
    }
    Ok(values.pop().unwrap_or(0))
}

fn apply(operator: BinaryOp, left: i64, right: i64, expr: &Expr) -> Result<i64, Diagnostic> {
    match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div if right == 0 => {
            return Err(Diagnostic::error(
                Code::InexactDivision,
                format!("{} divides by zero", expr_text(expr)),
            )
            .at(expr.span)
            .hint("divide by a number that is not zero"));
        }
        BinaryOp::Div => match left.checked_rem(right) {
            Some(0) => left.checked_div(right),
            Some(remainder) => {
                return Err(Diagnostic::error(
                    Code::InexactDivision,
                    format!(
                        "{} is {left} / {right}, which leaves a remainder of {}",
                        expr_text(expr),
                        remainder.unsigned_abs()
                    ),
                )
                .at(expr.span)
                .hint("choose sizes of which one divides the other"));
            }
            None => None,
        },
    }
    .ok_or_else(|| overflow(expr))
}

fn overflow(expr: &Expr) -> Diagnostic {
    Diagnostic::error(Code::Overflow, format!("{} exceeds 2^63", expr_text(expr)))
        .at(expr.span)
        .hint("use smaller sizes")
}

/// A size: the value of an expression that must be at least 1.
pub(super) fn evaluate_size(expr: &Expr, params: &Params<'_>) -> Result<u64, Diagnostic> {
    let value = evaluate(expr, params)?;
    match u64::try_from(value) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(Diagnostic::error(
            Code::NonPositiveSize,
            match &expr.kind {
                ExprKind::Int(_) => format!("a size of {value}"),
                _ => format!("{} is {value}", expr_text(expr)),
            },
        )
        .at(expr.span)
        .hint("every size is at least 1")),
    }
}

/// An expression, printed for a message.
fn expr_text(expr: &Expr) -> String {
    quoted(&print_expr(expr))
}
