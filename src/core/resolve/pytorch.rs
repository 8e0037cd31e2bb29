//! What to write instead of a PyTorch call whose meaning differs in the notation.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::model::functions::pytorch::{Alias, Answer, alias, answer, attribute};
use crate::model::functions::{self, AttributeName, Function, ShapeRule};
use crate::model::program::{Argument, Attribute, AttributeValue, Expr, ExprKind, OpStatement};
use crate::notation::fix_edits::{with_attribute, without_arguments};
use crate::notation::spelling::quoted;
use crate::notation::written_name;
use crate::resolve::expr::Params;
use crate::resolve::numbers::as_attributes;
use crate::resolve::scope::{KnownTensors, NameId};

/// The error for a call of a PyTorch name that is not a function of the notation, where the
/// statement reads these tensors; `None` for an unknown name.
pub(super) fn answered(
    statement: &OpStatement,
    params: &Params<'_>,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Option<Diagnostic> {
    let name = &statement.callee.text;
    let problem = |message: String| {
        Diagnostic::error(Code::UnknownFunction, message).at(statement.callee.span)
    };
    let receiver =
        receiver_of(statement).filter(|(tensor, _)| known.scope.tensor(tensor).is_some());
    let rank = match receiver {
        Some((tensor, _)) => rank_of(tensor, known),
        None => rank(reads, known),
    };
    if let Some(permuted) = permuted(statement, rank) {
        return Some(
            problem(format!("{} is written as `transpose`", quoted(name)))
                .hint(format!("write {}", permuted.1))
                .with(permuted.0),
        );
    }
    let name = receiver.map_or(name.as_str(), |(_, method)| method);
    if let Some(answer) = answer(name).filter(|_| alias(name).is_none()) {
        let problem = problem(format!(
            "there is no function {}",
            quoted(&statement.callee.text)
        ))
        .hint(answer.hint);
        return Some(match in_lines(statement, answer) {
            Some(fix) => problem.with(fix),
            None => problem,
        });
    }
    let alias = alias(name);
    match (receiver, alias) {
        (Some((tensor, method)), _) => method_of(statement, tensor, method, params, rank, problem),
        (None, alias) => Some(with_defaults(statement, &alias?, rank, problem)),
    }
}

/// The tensor and the method of a call such as `x.relu()`, if its name is not that of a function in
/// a module.
pub(super) fn receiver_of(statement: &OpStatement) -> Option<(&str, &str)> {
    let (_, has_module) = functions::pytorch::without_module(&statement.callee.text);
    let parts = statement.callee.text.rsplit_once('.');
    parts.filter(|_| !has_module)
}

/// A call that relies on a PyTorch default which the notation does not have.
fn with_defaults(
    statement: &OpStatement,
    alias: &Alias,
    rank: Option<usize>,
    problem: impl Fn(String) -> Diagnostic,
) -> Diagnostic {
    let name = quoted(&statement.callee.text);
    let function = alias.function;
    let problem = problem(format!("{name} has other defaults than {}", quoted(function.name())))
        .hint(match function.row().shape_rule {
            ShapeRule::Reduce => format!(
                "PyTorch drops the reduced dimension: write `{function}` with `axis=` and `keepdim=false`"
            ),
            _ => format!("write `{function}` with {}", needs_text(alias)),
        });
    match default_edits(statement, alias, rank) {
        Some(edits) => problem.with(Fix {
            label: format!("Write `{function}` with PyTorch's defaults"),
            edits,
        }),
        None => problem,
    }
}

fn needs_text(alias: &Alias) -> String {
    let needs: Vec<String> = alias
        .needs
        .iter()
        .map(|need| format!("`{need}=`"))
        .collect();
    needs.join(" and ")
}

/// The call in the notation with all attributes that it needs; `rank` is that of its first input.
fn default_edits(
    statement: &OpStatement,
    alias: &Alias,
    rank: Option<usize>,
) -> Option<Vec<TextEdit>> {
    let function = alias.function;
    let mut edits = vec![TextEdit::replace(statement.callee.span, function.name())];
    let mut given = Vec::new();
    // A number after the inputs is the dimension.
    let mut added = Vec::new();
    if let [literal] = &statement.literals[..] {
        let stated = format!("axis={}", literal.text);
        if literal.place < statement.inputs.len() {
            edits.push(without_arguments(statement, literal.span));
            added.push(stated);
        } else {
            edits.push(TextEdit::replace(literal.span, stated));
        }
        given.push(AttributeName::Axis);
    }
    for stated in &statement.attributes {
        let name = &stated.name.text;
        let own = attribute(function, name);
        given.extend(own.or_else(|| AttributeName::from_name(name)));
        if let Some(own) = own {
            edits.push(TextEdit::replace(stated.name.span, own.name()));
        }
    }
    for &need in alias.needs.iter().filter(|need| !given.contains(*need)) {
        let value = match (need, function.row().shape_rule) {
            (AttributeName::Keepdim, _) => "false".to_owned(),
            (AttributeName::Axis, ShapeRule::Reduce) => {
                let axes: Vec<String> = (0..rank?).map(|d| d.to_string()).collect();
                format!("[{}]", axes.join(", "))
            }
            (AttributeName::Axis, ShapeRule::Concat) => "0".to_owned(),
            (AttributeName::Axis, _) if function == Function::L2Norm => "1".to_owned(),
            _ => return None,
        };
        added.push(format!("{need}={value}"));
    }
    let is_alone = is_alone(statement) && added.is_empty();
    if let Some(input) = as_input(statement, is_alone) {
        edits.insert(1, input);
    }
    if !added.is_empty() {
        edits.push(with_attribute(statement, &added.join(", ")));
    }
    Some(edits)
}

/// An error of a call of `transpose` with the two dimensions that PyTorch swaps. A fix gives the
/// order of all dimensions.
pub(super) fn permuting(
    statement: &OpStatement,
    problem: Diagnostic,
    reads: &[NameId],
    known: &KnownTensors<'_>,
) -> Diagnostic {
    match permuted(statement, rank(reads, known)) {
        Some((fix, call)) => Diagnostic {
            hint: Some(format!("write {call}")),
            fixes: vec![fix],
            ..problem
        },
        None => problem,
    }
}

/// A call that reorders dimensions, with the order of all of them, and the new call in words:
/// `permute(x, 0, 2, 1)`, `transpose(x, 0, 1)` or `transpose(x, dim0=0, dim1=1)`.
fn permuted(statement: &OpStatement, rank: Option<usize>) -> Option<(Fix, String)> {
    let receiver = receiver_of(statement);
    let (plain, _) = functions::pytorch::without_module(&statement.callee.text);
    let name = receiver.map_or(plain, |(_, method)| method);
    let numbers: Vec<i64> = if statement.literals.is_empty() {
        let value = |name: &str| {
            let mut stated = statement.attributes.iter().filter(|a| a.name.text == name);
            number(stated.next()?)
        };
        [value("dim0"), value("dim1")]
            .into_iter()
            .flatten()
            .collect()
    } else {
        let parsed = statement
            .literals
            .iter()
            .map(|literal| literal.text.parse().ok());
        parsed.collect::<Option<_>>()?
    };
    let order = match (name, &numbers[..]) {
        ("permute", [_, ..]) => numbers,
        ("transpose" | "swapaxes", &[a, b]) => {
            let rank = rank?;
            let place = |d: i64| super::shapes::dimension_of(d, rank);
            let mut order: Vec<i64> = (0..i64::try_from(rank).ok()?).collect();
            order.swap(place(a)?, place(b)?);
            order
        }
        _ => return None,
    };
    let first = statement.arguments().first().copied();
    let (input, start) = match (receiver, first) {
        (Some((tensor, _)), _) => (written_name(tensor), statement.callee.span.end + "(".len()),
        (None, Some((Argument::Tensor(input), span))) => (written_name(input), span.end),
        (None, _) => return None,
    };
    let before = receiver.map_or("", |_| input.as_str());
    let literals = statement.literals.iter().map(|literal| literal.span.end);
    let ends = literals.chain(statement.attributes.iter().map(|a| a.span.end));
    let order: Vec<String> = order.iter().map(i64::to_string).collect();
    let perm = format!("perm=[{}]", order.join(", "));
    let call = format!("`transpose({input}, {perm})`");
    let fix = Fix {
        label: format!("Write `{perm}`"),
        edits: vec![
            TextEdit::replace(statement.callee.span, "transpose"),
            TextEdit::replace(Span::new(start, ends.max()?), format!("{before}, {perm}")),
        ],
    };
    Some((fix, call))
}

/// The lines of an answer in place of the call, with the statement's own label and annotation on
/// the last one.
fn in_lines(statement: &OpStatement, answer: &Answer) -> Option<Fix> {
    let output = written_name(&statement.output.text);
    let arguments = statement.arguments();
    let own = arguments.iter().map(|(argument, _)| match argument {
        Argument::Tensor(name) => written_name(name),
        Argument::Literal(number) => (*number).to_owned(),
    });
    let receiver = receiver_of(statement).map(|(tensor, _)| written_name(tensor));
    let values: Vec<String> = receiver.into_iter().chain(own).collect();
    if values.len() != answer.inputs || !statement.attributes.is_empty() {
        return None;
    }
    // A part of a name with special characters needs its own backquotes.
    let part = |line: &str| {
        let (name, _) = line.split_once(" = ").unwrap_or_default();
        written_name(&name.replace("{y}", &statement.output.text))
    };
    let mut lines = Vec::new();
    for line in answer.lines {
        let mut written = (*line).to_owned();
        for other in answer.lines.iter().rev() {
            let (name, _) = other.split_once(" = ")?;
            if name != "{y}" {
                written = written.replace(name, &part(other));
            }
        }
        written = written.replace("{y}", &output);
        for (place, value) in values.iter().enumerate() {
            written = written.replace(&format!("{{{place}}}"), value);
        }
        lines.push(written);
    }
    let last = lines.pop()?;
    let (_, call) = last.split_once(" = ")?;
    let (callee, inputs) = call.split_once('(')?;
    let inputs = inputs.strip_suffix(')')?;
    let start = statement.callee.span.end + "(".len();
    let written = match (arguments.first(), arguments.last()) {
        (Some((_, first)), Some((_, last))) => first.to(*last),
        _ => Span::new(start, start),
    };
    let mut edits = vec![
        TextEdit::replace(statement.callee.span, callee),
        TextEdit::replace(written, inputs),
    ];
    let before = lines
        .into_iter()
        .fold(String::new(), |text, line| text + &line + "\n");
    if !before.is_empty() {
        edits.insert(0, TextEdit::insert(statement.span.start, before));
    }
    let calls = answer
        .lines
        .iter()
        .filter_map(|line| Some(line.split_once(" = ")?.1.split_once('(')?.0));
    let calls: Vec<String> = calls.map(|callee| format!("`{callee}`")).collect();
    Some(Fix {
        label: format!("Write {}", calls.join(", ")),
        edits,
    })
}

/// The error for `x.relu()`, which calls a function as a method of a tensor.
fn method_of(
    statement: &OpStatement,
    tensor: &str,
    method: &str,
    params: &Params<'_>,
    rank: Option<usize>,
    problem: impl Fn(String) -> Diagnostic,
) -> Option<Diagnostic> {
    let alias = alias(method);
    let function = match alias {
        Some(alias) => alias.function,
        None => Function::from_name(method)?,
    };
    let needs_more = |alias: &Alias| {
        let is_given = |need: &AttributeName| {
            let mut given = statement.attributes.iter();
            given.any(|given| {
                given.is(*need) || attribute(function, &given.name.text) == Some(*need)
            })
        };
        !alias.needs.iter().all(is_given)
    };
    let mut arguments = written_name(tensor);
    let edits = if let Some(alias) = alias.filter(needs_more) {
        default_edits(statement, &alias, rank)
    } else {
        let mut edits = vec![TextEdit::replace(statement.callee.span, function.name())];
        edits.extend(as_input(statement, is_alone(statement)));
        if let Some((span, stated)) = as_attributes(statement, function, params) {
            arguments.push_str(", ");
            arguments.push_str(&stated);
            edits.push(TextEdit::replace(span, stated));
        }
        Some(edits)
    };
    let call = format!("`{}({arguments})`", function.name());
    let problem = problem(format!(
        "there is no function {}",
        quoted(&statement.callee.text)
    ))
    .hint(format!("write the tensor as the first input: {call}"));
    Some(match edits {
        Some(edits) => problem.with(Fix {
            label: format!("Write {call}"),
            edits,
        }),
        None => problem,
    })
}

/// Makes the tensor of a method the first input.
fn as_input(statement: &OpStatement, is_alone: bool) -> Option<TextEdit> {
    let (tensor, _) = receiver_of(statement)?;
    let comma = if is_alone { "" } else { ", " };
    let start = statement.callee.span.end + "(".len();
    Some(TextEdit::insert(start, written_name(tensor) + comma))
}

/// Whether a call has nothing between its parentheses.
fn is_alone(statement: &OpStatement) -> bool {
    statement.arguments().is_empty() && statement.attributes.is_empty()
}

/// The rank of a tensor, which it has in all iterations.
fn rank_of(tensor: &str, known: &KnownTensors<'_>) -> Option<usize> {
    let mut all = known.scope.tensors_called(tensor);
    let (shape, _) = all.find_map(|tensor| known.type_of(tensor))?;
    Some(shape.len())
}

/// The rank of the first of the tensors that a statement reads.
fn rank(reads: &[NameId], known: &KnownTensors<'_>) -> Option<usize> {
    let (shape, _) = known.type_of(*reads.first()?)?;
    Some(shape.len())
}

/// The value of an attribute that is a plain number.
fn number(attribute: &Attribute) -> Option<i64> {
    match attribute.value {
        AttributeValue::Size(Expr {
            kind: ExprKind::Int(value),
            ..
        }) => Some(value),
        _ => None,
    }
}
