//! Statements of Python and other languages, with what to write instead.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::notation::declared::misdeclared;
use crate::notation::lexer::{Lexeme, Token};
use crate::notation::spelling::{quoted, shortened};

/// The text that a fix removes for a word at the start of a line.
enum Removal {
    Line,
    Word,
    /// Nothing: the replacement depends on the rest of the program.
    ByHand,
}

/// Words that begin statements of other languages, and what to write instead.
#[rustfmt::skip]
const WORDS: &[(&str, Removal, &str)] = &[
    ("import", Removal::Line, "remove the line: a program has only declarations and ops"),
    ("from", Removal::Line, "remove the line: a program has only declarations and ops"),
    ("print", Removal::Line, "remove the line: the page shows every number"),
    ("assert", Removal::Line, "remove the line: Fuseline checks all shapes"),
    ("with", Removal::Line, "remove the line, and start the following lines without indentation"),
    ("pass", Removal::Line, "remove the line"),
    ("del", Removal::Line, "remove the line: a tensor lives until its last reader"),
    ("class", Removal::ByHand, "write the ops of its `forward`, one per line"),
    ("def", Removal::ByHand, "declare its inputs, such as `input x : f16[1024, 4096]`, and write its ops below"),
    ("for", Removal::ByHand, "write `repeat 12 with x = y {`, the ops of one iteration, and `}` on its own line"),
    ("while", Removal::ByHand, "write `repeat 12 with x = y {`, the ops of one iteration, and `}` on its own line"),
    ("if", Removal::ByHand, "write the ops of the branch that runs"),
    ("elif", Removal::ByHand, "write the ops of the branch that runs"),
    ("else", Removal::ByHand, "write the ops of the branch that runs"),
    ("let", Removal::Word, "begin with the name of the output: `y = relu(x)`"),
    ("const", Removal::Word, "begin with the name of the output: `y = relu(x)`"),
    ("var", Removal::Word, "begin with the name of the output: `y = relu(x)`"),
];

/// The error of a statement of another language, with what to write instead; `None` for any other
/// statement.
pub(super) fn answered(text: &str, tokens: &[Token], problem: &Diagnostic) -> Option<Diagnostic> {
    let misdeclared = || {
        let is_form = problem.code == Code::Syntax;
        is_form
            .then(|| misdeclared(text, tokens, problem))
            .flatten()
    };
    keyword(text, tokens)
        .or_else(misdeclared)
        .or_else(|| result(text, tokens))
        .or_else(|| words(text, tokens, problem))
        .or_else(|| assignment(text, tokens, problem))
        .or_else(|| call(text, tokens, problem))
}

fn with_fixes(problem: &Diagnostic, hint: String, fixes: Vec<Fix>) -> Diagnostic {
    Diagnostic {
        hint: Some(hint),
        fixes,
        ..problem.clone()
    }
}

/// The span of a statement.
fn whole(tokens: &[Token]) -> Option<Span> {
    Some(tokens.first()?.span.to(tokens.last()?.span))
}

fn no_statement(word: &str, at: Span) -> Diagnostic {
    let problem = format!("{} is not a statement of the notation", quoted(word));
    Diagnostic::error(Code::Syntax, problem).at(at)
}

/// `import torch`, `def f(x):`, `@torch.compile`
fn keyword(text: &str, tokens: &[Token]) -> Option<Diagnostic> {
    let first = tokens.first()?;
    let word = first.span.slice(text);
    let remove = || {
        let whole = whole(tokens)?;
        Some(Fix::new("Remove this line", TextEdit::remove(whole)))
    };
    if first.kind == Lexeme::At {
        return Some(with_fixes(
            &no_statement("@", first.span),
            "remove the line: a program has only declarations and ops".to_owned(),
            vec![remove()?],
        ));
    }
    let (_, removal, hint) = WORDS.iter().find(|(known, ..)| *known == word)?;
    let behind = tokens.get(1);
    let is_name = behind.is_some_and(|t| t.kind == Lexeme::Equals);
    let fixes = match removal {
        _ if is_name => return None,
        Removal::Line => vec![remove()?],
        Removal::Word => {
            let end = behind?.span.start;
            let removed = TextEdit::remove(Span::new(first.span.start, end));
            vec![Fix::new(format!("Remove `{word}`"), removed)]
        }
        Removal::ByHand => Vec::new(),
    };
    Some(with_fixes(
        &no_statement(word, first.span),
        (*hint).to_owned(),
        fixes,
    ))
}

/// `return y`, `output y = relu(x)`
fn result(text: &str, tokens: &[Token]) -> Option<Diagnostic> {
    let (first, rest) = tokens.split_first()?;
    let value = rest.first()?;
    match first.span.slice(text) {
        "return" => {
            let problem = no_statement("return", first.span);
            if let [name] = rest
                && name.kind == Lexeme::Name
            {
                let output = format!("output {}", name.span.slice(text));
                let fixes = vec![
                    Fix::new("Remove this line", TextEdit::remove(whole(tokens)?)),
                    Fix::new(
                        format!("Write `{output}`"),
                        TextEdit::replace(whole(tokens)?, output.clone()),
                    ),
                ];
                let hint = format!(
                    "remove the line: a tensor that no op reads is a result; write `{output}` if an op also reads it"
                );
                return Some(with_fixes(&problem, hint, fixes));
            }
            let hint = "write the last op with an output: `y = relu(x)`; a tensor that no op reads is a result";
            Some(with_fixes(&problem, hint.to_owned(), Vec::new()))
        }
        "output" if rest.get(1)?.kind == Lexeme::Equals => {
            let removed = Span::new(first.span.start, value.span.start);
            let output = value.span.slice(text);
            Some(with_fixes(
                &Diagnostic::error(Code::Syntax, "`output` cannot begin an op").at(first.span),
                format!(
                    "remove the word; `output {output}` on its own line is for a result that ops also read"
                ),
                vec![Fix::new("Remove `output`", TextEdit::remove(removed))],
            ))
        }
        _ => None,
    }
}

/// `approximate="tanh"`, `"""A comment."""`, `y = relu(x) // comment`
fn words(text: &str, tokens: &[Token], problem: &Diagnostic) -> Option<Diagnostic> {
    let is_quote = |t: &Token| matches!(t.span.slice(text), "\"" | "'");
    let strings = tokens.windows(4).filter_map(|part| match part {
        [equals, open, word, close]
            if equals.kind == Lexeme::Equals
                && is_quote(open)
                && word.kind == Lexeme::Name
                && is_quote(close) =>
        {
            Some((open.span.to(close.span), word.span.slice(text)))
        }
        _ => None,
    });
    let strings: Vec<_> = strings.collect();
    if let Some((first, word)) = strings.first()
        && problem.span.is_some_and(|at| at.start == first.start)
    {
        let edits = strings
            .iter()
            .map(|(at, word)| TextEdit::replace(*at, *word));
        let fix = Fix {
            label: "Remove the quotes".to_owned(),
            edits: edits.collect(),
        };
        let hint = format!("write a word without quotes: {}", quoted(word));
        return Some(with_fixes(problem, hint, vec![fix]));
    }
    if let Some(first) = tokens.first().filter(|t| is_quote(t)) {
        let fix = Fix::new("Write `#`", TextEdit::insert(first.span.start, "# "));
        return Some(with_fixes(
            problem,
            "begin a comment with `#`".to_owned(),
            vec![fix],
        ));
    }
    // After a whole statement `//` begins a comment; elsewhere it divides.
    let slashes = tokens.array_windows().find(|[before, one, other]| {
        let is_end = matches!(before.kind, Lexeme::CloseParen | Lexeme::CloseBracket);
        is_end && [one.kind, other.kind] == [Lexeme::Slash; 2] && one.span.end == other.span.start
    });
    if let Some([_, one, other]) = slashes {
        let fix = Fix::new("Write `#`", TextEdit::replace(one.span.to(other.span), "#"));
        return Some(with_fixes(
            problem,
            "begin a comment with `#`".to_owned(),
            vec![fix],
        ));
    }
    None
}

/// `y := relu(x)`, `x += y`, `q, k = qkv.chunk(2)`
fn assignment(text: &str, tokens: &[Token], problem: &Diagnostic) -> Option<Diagnostic> {
    let [name, operator, rest @ ..] = tokens else {
        return None;
    };
    let is_equals = |t: Option<&Token>| t.is_some_and(|t| t.kind == Lexeme::Equals);
    let output = name.span.slice(text);
    match operator.kind {
        _ if name.kind != Lexeme::Name => None,
        Lexeme::Colon | Lexeme::Equals if is_equals(rest.first()) => {
            let both = operator.span.to(rest.first()?.span);
            let fix = Fix::new("Write `=`", TextEdit::replace(both, "="));
            Some(with_fixes(problem, "write one `=`".to_owned(), vec![fix]))
        }
        Lexeme::Plus | Lexeme::Minus | Lexeme::Star | Lexeme::Slash if is_equals(rest.first()) => {
            let function = match operator.kind {
                Lexeme::Plus => "add",
                Lexeme::Minus => "sub",
                Lexeme::Star => "mul",
                _ => "div",
            };
            let other = match rest {
                [_, other] => other.span.slice(text),
                _ => "b",
            };
            Some(with_fixes(
                problem,
                format!(
                    "each op writes a new tensor: write `{output}_2 = {function}({output}, {other})`, and read `{output}_2` below"
                ),
                Vec::new(),
            ))
        }
        Lexeme::Comma => several_outputs(text, tokens, problem),
        _ => None,
    }
}

/// `q, k, v = qkv.chunk(3, dim=-1)`, `B, T = x.shape`
fn several_outputs(text: &str, tokens: &[Token], problem: &Diagnostic) -> Option<Diagnostic> {
    let equals = tokens.iter().position(|t| t.kind == Lexeme::Equals)?;
    let (outputs, value) = (tokens.get(..equals)?, tokens.get(equals + 1..)?);
    let outputs = outputs.split(|t| t.kind == Lexeme::Comma);
    let outputs = outputs.map(|output| match output {
        [name] if name.kind == Lexeme::Name => Some(name.span.slice(text)),
        _ => None,
    });
    let outputs: Vec<&str> = outputs.collect::<Option<_>>()?;
    let callee = value.first()?.span.slice(text);
    let (tensor, method) = callee.rsplit_once('.').unwrap_or(("x", callee));
    if matches!(method, "shape" | "size") {
        let first = outputs.first()?;
        let hint = format!("write each size as a param: `param {first} = 1024`");
        return Some(with_fixes(problem, hint, Vec::new()));
    }
    let parts = outputs.len();
    let line = |(index, output): (usize, &&str)| {
        format!("{output} = split({tensor}, parts={parts}, index={index})")
    };
    let lines: Vec<String> = outputs.iter().enumerate().map(line).collect();
    // The last axis is the default of `split`.
    let is_chunk_of_last = matches!(
        value,
        [_, open, count, comma, dim, equals, minus, axis, close]
            if method == "chunk"
                && open.kind == Lexeme::OpenParen
                && count.span.slice(text).parse() == Ok(parts)
                && comma.kind == Lexeme::Comma
                && dim.span.slice(text) == "dim"
                && equals.kind == Lexeme::Equals
                && minus.kind == Lexeme::Minus
                && axis.span.slice(text) == "1"
                && close.kind == Lexeme::CloseParen
    );
    let label = format!("Write {parts} calls of `split`");
    let fix = Fix::new(label, TextEdit::replace(whole(tokens)?, lines.join("\n")));
    let hint = match method {
        "chunk" | "split" => {
            let first = lines.first()?;
            format!("an op has one output: write `{first}`, and one line per further output")
        }
        _ => "an op has one output: write one line per output".to_owned(),
    };
    let fixes = is_chunk_of_last.then_some(fix).into_iter().collect();
    Some(with_fixes(problem, hint, fixes))
}

/// `relu(x)`, `y = relu x`, `y = x[0]`
fn call(text: &str, tokens: &[Token], problem: &Diagnostic) -> Option<Diagnostic> {
    let statement = whole(tokens)?;
    match tokens {
        [callee, open, ..] if callee.kind == Lexeme::Name && open.kind == Lexeme::OpenParen => {
            let written = shortened(statement.slice(text));
            let fix = Fix::new(
                "Name the output `y`",
                TextEdit::insert(statement.start, "y = "),
            );
            Some(with_fixes(
                problem,
                format!("name the output: `y = {written}`"),
                vec![fix],
            ))
        }
        [_, equals, callee, inputs @ ..]
            if equals.kind == Lexeme::Equals
                && callee.kind == Lexeme::Name
                && are_listed(inputs) =>
        {
            let inputs = whole(inputs)?;
            let call = format!("{}({})", callee.span.slice(text), inputs.slice(text));
            let at = callee.span.to(inputs);
            let fix = Fix::new(
                format!("Write `{call}`"),
                TextEdit::replace(at, call.clone()),
            );
            Some(with_fixes(
                problem,
                format!("write the inputs in parentheses: `{call}`"),
                vec![fix],
            ))
        }
        [_, equals, tensor, open, ..]
            if equals.kind == Lexeme::Equals
                && tensor.kind == Lexeme::Name
                && open.kind == Lexeme::OpenBracket =>
        {
            let tensor = tensor.span.slice(text);
            let hint =
                format!("write a part of a tensor as `slice({tensor}, start=0, end=1, axis=0)`");
            Some(with_fixes(problem, hint, Vec::new()))
        }
        _ => None,
    }
}

/// Whether the tokens are names with commas between them.
fn are_listed(tokens: &[Token]) -> bool {
    let mut parts = tokens.split(|t| t.kind == Lexeme::Comma);
    parts.all(|part| matches!(part, [name] if name.kind == Lexeme::Name))
}
