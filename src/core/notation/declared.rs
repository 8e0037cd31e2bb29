//! Declarations in a form that the notation does not have: `input x 4 8`, `x = torch.randn(4, 8)`,
//! `fc = nn.Linear(8, 16)`, `S = 2048`.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::fix::{Fix, TextEdit};
use crate::model::program::{Argument, AttributeValue, OpStatement};
use crate::notation::lexer::{Lexeme, Token, written_name};
use crate::notation::spelling::{nearest_dtype, quoted};

/// Functions of other languages that create a tensor from its sizes.
const CREATION_FUNCTIONS: &[&str] = &[
    "input",
    "weight",
    "Input",
    "randn",
    "rand",
    "empty",
    "tensor",
    "Tensor",
    "Parameter",
    "placeholder",
];

/// Whether a call of this name creates a tensor.
pub(crate) fn is_creation(callee: &str) -> bool {
    CREATION_FUNCTIONS.contains(&last_part(callee))
}

/// Whether a call of this name creates a linear layer, which PyTorch calls later. The notation has
/// it as a function of the same weights.
fn is_linear(callee: &str) -> bool {
    matches!(callee, "linear" | "nn.Linear" | "torch.nn.Linear")
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A call that creates a tensor, or the weights of a linear layer.
struct Creation<'a> {
    callee: &'a str,
    /// The name that the statement gives the tensor or layer.
    name: &'a str,
    sizes: Vec<String>,
    dtype: Option<DType>,
    has_bias: bool,
    /// The input of a layer that is called where it is created.
    input: Option<&'a str>,
    whole: Span,
}

/// The error of a statement that creates a tensor by a call, with the declaration to write.
pub(crate) fn creation_problem(statement: &OpStatement, problem: Diagnostic) -> Diagnostic {
    let sizes = statement
        .arguments()
        .into_iter()
        .map(|(argument, _)| match argument {
            Argument::Literal(number) => number.to_owned(),
            Argument::Tensor(name) => written_name(name),
        });
    let word = |name: &str| {
        let mut attributes = statement.attributes.iter();
        match &attributes.find(|a| a.name.text == name)?.value {
            AttributeValue::Word(word) => Some(word.as_str()),
            _ => None,
        }
    };
    let creation = Creation {
        callee: &statement.callee.text,
        name: &statement.output.text,
        sizes: sizes.collect(),
        dtype: word("dtype").map(|word| nearest_dtype(last_part(word))),
        has_bias: word("bias").is_none_or(|word| !word.eq_ignore_ascii_case("false")),
        input: None,
        whole: statement.span,
    };
    declaration(&creation, problem)
}

/// The error of a statement that cannot be read and creates a tensor; `None` for any other
/// statement.
pub(super) fn unread_creation(text: &str, tokens: &[Token]) -> Option<Diagnostic> {
    let equals = tokens.iter().position(|t| t.kind == Lexeme::Equals)?;
    let name = tokens.get(equals.checked_sub(1)?)?.span.slice(text);
    let [callee, open, arguments @ ..] = tokens.get(equals + 1..)? else {
        return None;
    };
    let function = callee.span.slice(text);
    if open.kind != Lexeme::OpenParen {
        return None;
    }
    let mut depth = 1_usize;
    let close = arguments.iter().position(|t| {
        match t.kind {
            Lexeme::OpenParen => depth += 1,
            Lexeme::CloseParen => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let (given, behind) = (arguments.get(..close)?, arguments.get(close + 1..)?);
    let sizes = sizes(text, given);
    let input = match behind {
        [] if is_creation(function) => None,
        [open, input, close]
            if matches!(function, "nn.Linear" | "torch.nn.Linear")
                && sizes.len() == 2
                && [open.kind, input.kind, close.kind]
                    == [Lexeme::OpenParen, Lexeme::Name, Lexeme::CloseParen] =>
        {
            Some(input.span.slice(text))
        }
        _ => return None,
    };
    let creation = Creation {
        callee: function,
        name,
        sizes,
        dtype: stated_dtype(text, given),
        has_bias: !given.iter().any(|t| t.span.slice(text) == "False"),
        input,
        whole: tokens.first()?.span.to(tokens.last()?.span),
    };
    let message = format!(
        "{} creates a tensor or a layer and is not an op",
        quoted(function)
    );
    let problem = Diagnostic::error(Code::UnknownFunction, message).at(callee.span);
    Some(declaration(&creation, problem))
}

fn declaration(creation: &Creation<'_>, problem: Diagnostic) -> Diagnostic {
    let called = creation.callee;
    if is_linear(called) {
        return linear(creation, problem);
    }
    let role = match last_part(called) {
        "weight" | "Parameter" => "weight",
        _ => "input",
    };
    let name = written_name(creation.name);
    // `torch.tensor([1, 2])` contains values and no sizes.
    if creation.sizes.is_empty() || last_part(called) == "tensor" {
        return problem.hint(format!(
            "declare the tensor with its type: `{role} {name} : f16[1024, 4096]`"
        ));
    }
    let is_own = matches!(called, "input" | "weight");
    // PyTorch's default is f32.
    let default = if is_own { DType::F16 } else { DType::F32 };
    let dtype = creation.dtype.unwrap_or(default).name();
    let declaration = format!("{role} {name} : {dtype}[{}]", creation.sizes.join(", "));
    declared(problem, creation.whole, &[declaration])
}

/// The error with these statements as the text to write.
fn declared(problem: Diagnostic, whole: Span, lines: &[String]) -> Diagnostic {
    let quoted: Vec<_> = lines.iter().map(|line| format!("`{line}`")).collect();
    let words = quoted.join(", ");
    Diagnostic {
        hint: Some(format!("write {words}")),
        fixes: vec![Fix::new(
            format!("Write {words}"),
            TextEdit::replace(whole, lines.join("\n")),
        )],
        ..problem
    }
}

/// `nn.Linear(8, 16)`: its weights are declared, and its call is an op.
fn linear(creation: &Creation<'_>, problem: Diagnostic) -> Diagnostic {
    let [from, to] = &creation.sizes[..] else {
        return problem.hint(
            "declare its weights, such as `weight w : f16[16, 8]`, and write `y = linear(x, w)`",
        );
    };
    let [w, b] =
        ["w", "b"].map(|part| written_name(&format!("{}_{part}", last_part(creation.name))));
    let mut lines = vec![format!("weight {w} : f32[{to}, {from}]")];
    let mut read = w;
    if creation.has_bias {
        lines.push(format!("weight {b} : f32[{to}]"));
        read = format!("{read}, {b}");
    }
    if let Some(input) = creation.input {
        lines.push(format!(
            "{} = linear({input}, {read})",
            written_name(creation.name)
        ));
        return declared(problem, creation.whole, &lines);
    }
    let problem = declared(problem, creation.whole, &lines);
    let hint = problem.hint.clone().unwrap_or_default();
    problem.hint(format!(
        "{hint}, and `y = linear(x, {read})` where it is called"
    ))
}

/// The sizes among arguments: `4, 8`, `(4, 8)`, `[B, 4*H]`. Empty if an argument is not a size.
fn sizes(text: &str, arguments: &[Token]) -> Vec<String> {
    let is_bracket = |t: &Token| {
        use Lexeme::{CloseBracket, CloseParen, OpenBracket, OpenParen};
        matches!(t.kind, OpenParen | CloseParen | OpenBracket | CloseBracket)
    };
    // Attributes follow the sizes.
    let equals = arguments.iter().position(|t| t.kind == Lexeme::Equals);
    let end = equals.map_or(arguments.len(), |at| at.saturating_sub(1));
    let stated = arguments.get(..end).unwrap_or(arguments);
    let mut sizes = Vec::new();
    for part in stated.split(|t| t.kind == Lexeme::Comma || is_bracket(t)) {
        let (Some(first), Some(last)) = (part.first(), part.last()) else {
            continue;
        };
        let written = first.span.to(last.span).slice(text);
        let is_word = is_dtype(written) || is_creation(written);
        if is_word && part.len() == 1 {
            continue;
        }
        let is_size = |t: &Token| {
            let is_plain = !t.span.slice(text).contains('.');
            t.kind == Lexeme::Name && is_plain || is_number_or_operator(t.kind)
        };
        if !part.iter().all(is_size) {
            return Vec::new();
        }
        sizes.push(written.to_owned());
    }
    sizes
}

fn is_number_or_operator(kind: Lexeme) -> bool {
    use Lexeme::{Int, Minus, Plus, Slash, Star};
    matches!(kind, Int | Plus | Minus | Star | Slash)
}

fn is_dtype(word: &str) -> bool {
    word.parse::<DType>().is_ok()
}

/// The element type that a statement names: `f16`, `dtype=torch.float16`.
fn stated_dtype(text: &str, tokens: &[Token]) -> Option<DType> {
    let of = |pair: &[Token]| match pair {
        [name, equals, value]
            if equals.kind == Lexeme::Equals && name.span.slice(text) == "dtype" =>
        {
            Some(nearest_dtype(last_part(value.span.slice(text))))
        }
        _ => None,
    };
    let by_name = tokens.iter().find_map(|t| t.span.slice(text).parse().ok());
    by_name.or_else(|| tokens.windows(3).find_map(of))
}

/// The error of a statement that declares in another form, with the right one; `None` for any other
/// statement.
pub(super) fn misdeclared(
    text: &str,
    tokens: &[Token],
    problem: &Diagnostic,
) -> Option<Diagnostic> {
    let slice = |t: &Token| t.span.slice(text);
    let count = |kind| tokens.iter().filter(|t| t.kind == kind).count();
    if count(Lexeme::OpenBracket) != count(Lexeme::CloseBracket) {
        return None;
    }
    // What follows the shape is a statement of its own.
    let is_next_statement = |three: &[Token]| {
        matches!(
            [three[0].kind, three[1].kind, three[2].kind],
            [Lexeme::CloseBracket, Lexeme::Name, Lexeme::Equals]
        )
    };
    if tokens.windows(3).any(is_next_statement) {
        return None;
    }
    let whole = tokens.first()?.span.to(tokens.last()?.span);
    let written = |line: String| Some(declared(problem.clone(), whole, &[line]));
    if let Some(lines) = one_each(text, tokens) {
        return Some(declared(problem.clone(), whole, &lines));
    }
    match tokens {
        [keyword, name, rest @ ..]
            if matches!(slice(keyword), "input" | "weight") && name.kind == Lexeme::Name =>
        {
            let role = slice(keyword);
            // In this form only the element type is missing.
            if let [colon, open, ..] = rest
                && [colon.kind, open.kind] == [Lexeme::Colon, Lexeme::OpenBracket]
            {
                return None;
            }
            let is_type_first = is_dtype(slice(name));
            if !is_type_first && rest.first()?.kind == Lexeme::Comma {
                return None;
            }
            let name = if is_type_first { rest.last()? } else { name };
            let is_colon = |t: &Token| matches!(t.kind, Lexeme::Colon | Lexeme::Equals);
            let stated: Vec<Token> = (rest.iter().copied())
                .filter(|t| !is_colon(t) && t.span != name.span)
                .collect();
            let sizes = match &stated[..] {
                // `4 8`, without commas
                all if all.iter().all(|t| t.kind == Lexeme::Int) => {
                    all.iter().map(|t| slice(t).to_owned()).collect()
                }
                all => sizes(text, all),
            };
            let is_named = name.kind == Lexeme::Name && !is_dtype(slice(name));
            let dtype = stated_dtype(text, tokens).unwrap_or(DType::F16).name();
            let shape = sizes.join(", ");
            (is_named && !sizes.is_empty())
                .then(|| written(format!("{role} {} : {dtype}[{shape}]", slice(name))))?
        }
        [keyword, name, rest @ ..] if slice(keyword) == "param" && name.kind == Lexeme::Name => {
            let [.., value] = rest else {
                return None;
            };
            let is_value = rest.len() <= 2 && value.kind == Lexeme::Int;
            is_value.then(|| written(format!("param {} = {}", slice(name), slice(value))))?
        }
        [name, equals, value]
            if name.kind == Lexeme::Name
                && equals.kind == Lexeme::Equals
                && value.kind == Lexeme::Int =>
        {
            written(format!("param {} = {}", slice(name), slice(value)))
        }
        [name, colon, dtype, ..]
            if name.kind == Lexeme::Name
                && colon.kind == Lexeme::Colon
                && is_dtype(slice(dtype))
                && !tokens.iter().any(|t| t.kind == Lexeme::Equals) =>
        {
            let line = |role: &str| format!("{role} {}", whole.slice(text));
            let [input, weight] = ["input", "weight"].map(|role| {
                let line = line(role);
                Fix::new(format!("Write `{line}`"), TextEdit::replace(whole, line))
            });
            Some(Diagnostic {
                hint: Some(format!("write `{}`", line("input"))),
                fixes: vec![input, weight],
                ..problem.clone()
            })
        }
        _ => None,
    }
}

/// The lines of several tensors in one statement: `input x, y : f16[4, 8]`,
/// `input x : f16[4], y : f16[8]`, `output x, y`. A tensor without a type has the type of the next
/// tensor with one.
fn one_each(text: &str, tokens: &[Token]) -> Option<Vec<String>> {
    let (keyword, listed) = tokens.split_first()?;
    let role = keyword.span.slice(text);
    let is_output = match role {
        "output" => true,
        "input" | "weight" => false,
        _ => return None,
    };
    let mut depth = 0_usize;
    let is_between = |token: &Token| {
        match token.kind {
            Lexeme::OpenParen | Lexeme::OpenBracket => depth += 1,
            Lexeme::CloseParen | Lexeme::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind == Lexeme::Comma
    };
    let mut annotation = None;
    let mut lines = Vec::new();
    let parts: Vec<&[Token]> = listed.split(is_between).collect();
    for part in parts.into_iter().rev() {
        let (name, typed) = part.split_first()?;
        match typed {
            [] => {}
            [colon, first, .., last] if colon.kind == Lexeme::Colon => {
                annotation = Some(first.span.to(last.span));
            }
            _ => return None,
        }
        if !matches!(name.kind, Lexeme::Name | Lexeme::QuotedName)
            || is_output != annotation.is_none()
        {
            return None;
        }
        let annotation = annotation.map(|span| format!(" : {}", span.slice(text)));
        let name = name.span.slice(text);
        lines.push(format!("{role} {name}{}", annotation.unwrap_or_default()));
    }
    lines.reverse();
    (lines.len() > 1).then_some(lines)
}
