//! The callee of a statement, and the number of inputs that it takes.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::functions::pytorch::without_module;
use crate::model::functions::{ANY_NUMBER, AttributeName, Function};
use crate::model::op_type::OpType;
use crate::model::program::OpStatement;
use crate::notation::declared::{creation_problem, is_creation};
use crate::notation::fix_edits::without_arguments;
use crate::notation::spelling::quoted;
use crate::resolve::attributes::word;
use crate::resolve::expr::Params;
use crate::resolve::numbers::{as_attributes, misplaced};
use crate::resolve::pytorch::answered;
use crate::resolve::scope::{KnownTensors, NameId};
use strum::VariantArray;

/// The callee of a statement.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    Function(Function),
    /// `elementwise` or `reduction`, whose shape is the annotated one.
    Bare(OpType),
}

impl Callee {
    pub(super) fn find(
        statement: &OpStatement,
        params: &Params<'_>,
        reads: &[NameId],
        known: &KnownTensors<'_>,
    ) -> Result<Self, Diagnostic> {
        let name = statement.callee.text.as_str();
        if let Some(function) = statement.function() {
            let mut variants = statement.attributes.iter().filter_map(|attribute| {
                function.variant(&attribute.name.text, word(&attribute.value)?)
            });
            return Ok(Self::Function(variants.next().unwrap_or(function)));
        }
        if let Ok(op_type) = name.parse::<OpType>() {
            return Ok(Self::Bare(op_type));
        }
        if let Some(answer) = answered(statement, params, reads, known) {
            return Err(answer);
        }
        let (name, _) = without_module(name);
        let names = Function::VARIANTS
            .iter()
            .map(|function| function.name())
            .chain([OpType::Elementwise.name(), OpType::Reduction.name()]);
        let unknown = Diagnostic::error(
            Code::UnknownFunction,
            format!("there is no function {}", quoted(&statement.callee.text)),
        )
        .at(statement.callee.span);
        if is_creation(name) {
            return Err(creation_problem(statement, unknown));
        }
        if name.starts_with("self.") {
            let hint = "write what the module does: a linear layer is `linear(x, w, b)`";
            return Err(unknown.hint(hint));
        }
        Err(match params.suggest(name, names) {
            Some(known) => unknown.hint(format!("did you mean `{known}`?")).fix(
                format!("Write `{known}`"),
                TextEdit::replace(statement.callee.span, known),
            ),
            None => unknown.hint(
                "use a listed function, or `elementwise` or `reduction` with a shape after a colon",
            ),
        })
    }
}

/// # Errors
/// The number of inputs, or a number among them, that the callee does not take.
pub(super) fn check_inputs(
    statement: &OpStatement,
    callee: Callee,
    params: &Params<'_>,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Result<(), Diagnostic> {
    // A matmul that states its K may read operands in packed or in separate tensors.
    let (fewest, most) = match callee {
        Callee::Function(function)
            if statement.states_k() && function.row().attributes.contains(&AttributeName::K) =>
        {
            (1, ANY_NUMBER)
        }
        Callee::Function(function) => (function.row().min_inputs, function.row().max_inputs),
        Callee::Bare(_) => (0, ANY_NUMBER),
    };
    let is_misplaced = !statement.literals.is_empty() && !takes_literals(callee);
    if is_misplaced && let Some(problem) = misplaced(statement, callee, params, reads, known) {
        return Err(problem);
    }
    let given = statement.inputs.len() + statement.literals.len();
    if (fewest..=most).contains(&given) {
        return check_leading(statement, callee);
    }
    let plural = |n: usize| if n == 1 { "input" } else { "inputs" };
    let takes = match (fewest, most) {
        (fewest, most) if fewest == most => format!("{fewest} {}", plural(fewest)),
        (fewest, ANY_NUMBER) => format!("{fewest} or more inputs"),
        (fewest, most) => format!("{fewest} to {most} inputs"),
    };
    let name = quoted(&statement.callee.text);
    let problem = Diagnostic::error(
        Code::WrongInputCount,
        format!("{name} takes {takes}, not {given}"),
    )
    .at(statement.callee.span);
    if given < fewest {
        let missing = fewest - given;
        return Err(problem.hint(format!("name {missing} more {}", plural(missing))));
    }
    if let Callee::Function(function) = callee
        && let Some((span, stated)) = as_attributes(statement, function, params)
    {
        return Err(problem
            .hint(format!("give the sizes as an attribute: `{stated}`"))
            .fix(
                format!("Write `{stated}`"),
                TextEdit::replace(span, stated.clone()),
            ));
    }
    let extra = given - most;
    let problem = problem.hint(format!("remove {extra} {}", plural(extra)));
    let arguments = statement.arguments();
    let removed = arguments.get(most).zip(arguments.last());
    Err(match removed {
        Some(((_, first), (_, last))) => problem.fix(
            format!("Remove the last {extra} {}", plural(extra)).replace("last 1 ", "last "),
            without_arguments(statement, Span::new(first.start, last.end)),
        ),
        None => problem,
    })
}

fn takes_literals(callee: Callee) -> bool {
    matches!(callee, Callee::Function(function) if function.takes_literals())
}

/// The error for a call whose literals leave no tensor that gives the element type.
fn check_leading(statement: &OpStatement, callee: Callee) -> Result<(), Diagnostic> {
    let least = match callee {
        Callee::Function(function) if !statement.literals.is_empty() => {
            function.leading_input() + 1
        }
        _ => 0,
    };
    // The condition of `where` must be a tensor.
    let leads = statement.literals.first().filter(|l| l.place + 1 < least);
    match (statement.literals.first(), leads) {
        (_, Some(literal)) => Err(Diagnostic::error(
            Code::WrongInputCount,
            format!(
                "the first input of {} is a number",
                quoted(&statement.callee.text)
            ),
        )
        .at(literal.span)
        .hint("name a tensor")),
        (Some(literal), None) if statement.inputs.len() < least => Err(Diagnostic::error(
            Code::WrongInputCount,
            format!(
                "{} has only numbers as inputs, which have no type",
                quoted(&statement.callee.text)
            ),
        )
        .at(literal.span)
        .hint("replace one of them by a tensor; `full` makes one")),
        _ => Ok(()),
    }
}
