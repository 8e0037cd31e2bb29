//! Numbers in the place of inputs where the notation has attributes or a weight: `clamp(x, 0, 1)`,
//! `reshape(x, 8, -1)`, `nn.Linear(x, 1024)`.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::model::functions::{Function, ShapeRule};
use crate::model::op::TensorRole;
use crate::model::program::{Argument, OpStatement};
use crate::notation::declared::creation_problem;
use crate::notation::fix_edits::{before_ops, declaration, with_attribute, without_arguments};
use crate::notation::spelling::quoted;
use crate::notation::written_name;
use crate::resolve::callee::Callee;
use crate::resolve::expr::Params;
use crate::resolve::scope::{KnownTensors, NameId};

/// Functions whose attributes have another order in PyTorch, or whose numbers have another meaning
/// there.
const OTHER_ORDER: &[Function] = &[
    Function::LayerNorm,
    Function::RmsNorm,
    Function::GroupNorm,
    Function::L2Norm,
    Function::BatchNorm,
    Function::BatchNormTrain,
    Function::Split,
    Function::Pad,
];

/// The error of a call with a number that its callee does not take, and the right form.
pub(super) fn misplaced(
    statement: &OpStatement,
    callee: Callee,
    params: &Params<'_>,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Option<Diagnostic> {
    let literal = statement.literals.first()?;
    let problem = Diagnostic::error(
        Code::WrongInputCount,
        format!(
            "{} takes no number as an input",
            quoted(&statement.callee.text)
        ),
    )
    .at(literal.span);
    let Callee::Function(function) = callee else {
        return Some(problem.hint("name a tensor"));
    };
    if let Some((span, stated)) = as_attributes(statement, function, params) {
        return Some(
            problem
                .hint(format!("give it as an attribute: `{stated}`"))
                .fix(
                    format!("Write `{stated}`"),
                    TextEdit::replace(span, stated.clone()),
                ),
        );
    }
    Some(match (function, &statement.literals[..]) {
        // PyTorch has the axis between the two tensors.
        (Function::Gather, [axis]) => {
            let stated = format!("axis={}", axis.text);
            problem
                .hint(format!("give the axis as an attribute: `{stated}`"))
                .with(Fix {
                    label: format!("Write `{stated}`"),
                    edits: vec![
                        without_arguments(statement, axis.span),
                        with_attribute(statement, &stated),
                    ],
                })
        }
        (Function::LayerNorm | Function::RmsNorm, _) => {
            problem.hint("remove it: the last axis is normalized, whatever its size")
        }
        (Function::Linear, [_, _]) if statement.inputs.is_empty() => {
            creation_problem(statement, problem)
        }
        (Function::Linear | Function::Matmul, [size]) => weight(
            function, statement, &size.text, size.span, reads, known, problem,
        ),
        _ if function.row().attributes.is_empty() => problem.hint("name a tensor"),
        _ => {
            let names = function.row().attributes.iter();
            let names: Vec<String> = names.map(|name| format!("`{name}=`")).collect();
            problem.hint(format!(
                "name a tensor, or give the number as an attribute, which may be {}",
                names.join(", ")
            ))
        }
    })
}

/// The span of the arguments after the inputs of a call, and their form as attributes.
///
/// The form is `min=0, max=1`, or one list where the function takes the sizes of a shape, some of
/// which may be params.
pub(super) fn as_attributes(
    statement: &OpStatement,
    function: Function,
    params: &Params<'_>,
) -> Option<(Span, String)> {
    let is_method = usize::from(function.row().max_inputs > 0 && is_method_of(statement));
    let arguments = statement.arguments();
    if takes_sizes(function) && statement.attributes.is_empty() {
        let sizes = arguments.get(1 - is_method..)?;
        let mut written = Vec::new();
        for (argument, _) in sizes {
            written.push(match argument {
                Argument::Literal(number) => (*number).to_owned(),
                Argument::Tensor(name) if params.has(name) => written_name(name),
                Argument::Tensor(_) => return None,
            });
        }
        let span = sizes.first()?.1.to(sizes.last()?.1);
        let name = function.row().attributes.first()?;
        return Some((span, format!("{name}=[{}]", written.join(", "))));
    }
    let literals = &statement.literals;
    let (first, last) = (literals.first()?, literals.last()?);
    let inputs = statement.inputs.len() + is_method;
    // A number in the place of an optional input, such as a bias, may be meant as that input.
    let may_be_input = matches!(
        function.row().shape_rule,
        ShapeRule::Conv1d | ShapeRule::Conv2d
    ) && inputs < function.row().max_inputs;
    if OTHER_ORDER.contains(&function)
        || may_be_input
        || first.place < statement.inputs.len()
        || literals.len() > function.row().attributes.len()
        || function.takes_literals()
        || matches!(
            function.row().shape_rule,
            ShapeRule::Matmul | ShapeRule::Gather | ShapeRule::Transpose
        )
    {
        return None;
    }
    let stated = function.row().attributes.iter().zip(literals);
    let stated: Vec<String> = stated
        .map(|(name, literal)| format!("{name}={}", literal.text))
        .collect();
    Some((first.span.to(last.span), stated.join(", ")))
}

/// Whether PyTorch takes the sizes of a shape one by one.
fn takes_sizes(function: Function) -> bool {
    matches!(
        function.row().shape_rule,
        ShapeRule::Reshape | ShapeRule::Expand | ShapeRule::Repeat
    )
}

/// Whether a tensor stands before the name of the function, as in `x.clamp(0, 1)`.
fn is_method_of(statement: &OpStatement) -> bool {
    super::pytorch::receiver_of(statement).is_some()
}

/// A declaration of the weight for a call with a size in its place, so that the result has this
/// size.
fn weight(
    function: Function,
    statement: &OpStatement,
    size: &str,
    span: Span,
    reads: &[NameId],
    known: &KnownTensors<'_>,
    problem: Diagnostic,
) -> Diagnostic {
    let is_linear = function == Function::Linear;
    let form = if is_linear { "[N, K]" } else { "[K, N]" };
    let hint = format!("its second input is a weight {form}: declare one, and name it");
    let input = reads.first().and_then(|&tensor| known.type_of(tensor));
    let (Some(([.., k], dtype)), Ok(size), [_]) = (input, size.parse(), &statement.inputs[..])
    else {
        return problem.hint(hint);
    };
    let name = format!("{}_weight", statement.output.text);
    let shape = if is_linear { [size, *k] } else { [*k, size] };
    let line = declaration(TensorRole::Weight, &name, dtype, &shape);
    problem
        .hint(format!("its second input is a weight {form}: `{line}`"))
        .with(Fix {
            label: format!("Declare `{line}`"),
            edits: vec![
                before_ops(known.program, &format!("{line}\n")),
                TextEdit::replace(span, written_name(&name)),
            ],
        })
}
