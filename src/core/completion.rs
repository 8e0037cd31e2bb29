//! Completions: words that a visitor may write next at a caret.

use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::functions::pytorch::{self, without_module};
use crate::model::functions::{AttributeKind, AttributeName, Function};
use crate::model::op::shape_text;
use crate::model::op_type::OpType;
use crate::model::program::{Param, Program};
use crate::notation::caret::{CallSoFar, Caret, Context, caret_at};
use crate::notation::{parse, written_name};
use crate::resolve::{bytes_of_further_iterations, resolve, values_by_name};
use std::collections::{HashMap, HashSet};
use strum::VariantArray;

/// Most completions in a list.
const MAX_COMPLETIONS: usize = 40;

/// Largest text whose tensors are completed: it is parsed at each key.
const MAX_TEXT_BYTES: usize = 200_000;

/// Largest text, its blocks written out, whose tensors are listed with their types: for these it is
/// resolved at each key.
const MAX_TYPED_BYTES: usize = 50_000;

/// The kind of thing that a completion stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A tensor of the program.
    Tensor,
    /// The name of a function in a call.
    Function,
    /// An attribute of the function around the caret.
    Attribute,
    /// A value of an attribute.
    Value,
    /// The name of a param in an expression.
    Param,
    /// An element type.
    Type,
    /// A word that starts a statement.
    Keyword,
}

impl CompletionKind {
    /// The kind in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Function => "function",
            Self::Attribute => "attribute",
            Self::Value => "value",
            Self::Param => "param",
            Self::Type => "type",
            Self::Keyword => "statement",
        }
    }
}

/// A word that may stand at the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The edit that writes it in place of the word around the caret.
    pub edit: TextEdit,
    /// Its name in the list.
    pub label: String,
    /// What it stands for.
    pub kind: CompletionKind,
    /// The type of a tensor, the arguments of a function, the meaning of an attribute.
    pub detail: String,
}

/// The words that may be written at a byte of a text, the most likely first: words that start as
/// the typed one, then those that hold its letters in order. Tensors that the text names before the
/// caret come before the others, and the nearest of them first. Nothing in a comment, and nothing
/// where only a new name may stand.
///
/// `O(text)`.
///
/// ```
/// use fuseline_core::{CompletionKind, complete};
/// let text = "input x : f16[8, 6]\ny = softm";
/// let all = complete(text, text.len());
/// assert_eq!((all[0].edit.text.as_str(), all[0].kind), ("softmax(", CompletionKind::Function));
/// assert_eq!(all[0].detail, "x, [axis]");
/// ```
pub fn complete(text: &str, offset: usize) -> Vec<Completion> {
    let Some(caret) = caret_at(text, offset) else {
        return Vec::new();
    };
    let candidates = match &caret.context {
        Context::Statement => keywords(),
        Context::Callee => callees(&caret),
        Context::Argument(call) => arguments(text, offset, &caret, call),
        Context::Value(attribute) => values(text, attribute),
        Context::Size => params(text),
        Context::Type => types(),
        Context::Output => tensors(text, offset, &caret),
    };
    ranked(&caret, candidates)
}

/// A candidate with the names that a visitor may type for it.
struct Candidate {
    names: Vec<&'static str>,
    label: String,
    inserted: String,
    kind: CompletionKind,
    detail: String,
}

impl Candidate {
    fn new(label: &str, kind: CompletionKind, detail: impl Into<String>) -> Self {
        Self {
            names: Vec::new(),
            label: label.to_owned(),
            inserted: label.to_owned(),
            kind,
            detail: detail.into(),
        }
    }
}

/// The candidates that fit what is typed, by how well they do.
fn ranked(caret: &Caret, candidates: Vec<Candidate>) -> Vec<Completion> {
    let (typed, _) = without_module(&caret.typed);
    let fit = |candidate: &Candidate| {
        let names = candidate.names.iter().copied();
        let own = std::iter::once(candidate.label.as_str());
        own.chain(names).filter_map(|name| fit(typed, name)).min()
    };
    let mut fitting: Vec<(Fit, Candidate)> = (candidates.into_iter())
        .filter(|candidate| candidate.inserted != caret.typed)
        .filter_map(|candidate| Some((fit(&candidate)?, candidate)))
        .collect();
    // Stable: what fits alike stays in its order.
    fitting.sort_by_key(|&(fit, _)| fit);
    let completions = fitting.into_iter().map(|(_, candidate)| Completion {
        edit: TextEdit::replace(caret.word, candidate.inserted),
        label: candidate.label,
        kind: candidate.kind,
        detail: candidate.detail,
    });
    completions.take(MAX_COMPLETIONS).collect()
}

/// How well a name fits what is typed; the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It starts so.
    Prefix,
    /// A part of it starts so: `norm` in `layer_norm`.
    Part,
    /// It has these letters in this order.
    Letters,
}

fn fit(typed: &str, name: &str) -> Option<Fit> {
    let (typed, name) = (typed.to_lowercase(), name.to_lowercase());
    if name.starts_with(&typed) {
        return Some(Fit::Prefix);
    }
    if name.split('_').any(|part| part.starts_with(&typed)) {
        return Some(Fit::Part);
    }
    let mut letters = name.chars();
    let holds =
        name.starts_with(typed.chars().next()?) && typed.chars().all(|c| letters.any(|l| l == c));
    holds.then_some(Fit::Letters)
}

fn keywords() -> Vec<Candidate> {
    let words = [
        ("input", "a tensor from outside: input x : f16[8, 6]"),
        ("weight", "a weight: weight w : f16[6, 4]"),
        ("param", "a size with a slider: param S = 8 in 1..64"),
        ("output", "a result that ops also read: output y"),
        ("repeat", "repeated statements: repeat 12 with x = y {"),
    ];
    let keyword = |(word, detail): (&str, &str)| Candidate {
        inserted: format!("{word} "),
        ..Candidate::new(word, CompletionKind::Keyword, detail)
    };
    words.into_iter().map(keyword).collect()
}

fn callees(caret: &Caret) -> Vec<Candidate> {
    let open = if caret.is_called { "" } else { "(" };
    let function = |function: Function| Candidate {
        names: pytorch::names_of(function).collect(),
        inserted: format!("{}{open}", function.name()),
        ..Candidate::new(
            function.name(),
            CompletionKind::Function,
            function.arguments(),
        )
    };
    let bare = [OpType::Elementwise, OpType::Reduction].map(|op_type| Candidate {
        inserted: format!("{}{open}", op_type.name()),
        ..Candidate::new(
            op_type.name(),
            CompletionKind::Function,
            "x, …; the shape after a colon",
        )
    });
    // The shorter name is the more usual one: softmax before softplus.
    let mut functions = Function::VARIANTS.to_vec();
    functions.sort_by_key(|function| function.name().len());
    functions.into_iter().map(function).chain(bare).collect()
}

fn arguments(text: &str, offset: usize, caret: &Caret, call: &CallSoFar) -> Vec<Candidate> {
    let mut all = Vec::new();
    if !call.is_past_inputs {
        all.extend(tensors(text, offset, caret));
    }
    let alias = || Some(pytorch::alias(&call.callee)?.function);
    let function = Function::from_name(&call.callee).or_else(alias);
    let Some(function) = function else {
        return all;
    };
    let is_given = |name: &AttributeName| {
        let own = |given: &String| pytorch::attribute(function, given) == Some(*name);
        let mut given = call.attributes.iter();
        given.any(|given| given == name.name() || own(given))
    };
    let attributes = function.row().attributes.iter();
    let attributes = attributes.filter(|name| !is_given(name));
    all.extend(attributes.map(|name| Candidate {
        inserted: format!("{name}="),
        ..Candidate::new(name.name(), CompletionKind::Attribute, name.summary())
    }));
    all
}

fn values(text: &str, attribute: &str) -> Vec<Candidate> {
    let known = AttributeName::from_name(attribute);
    let kind = known.map_or(AttributeKind::Size, AttributeName::kind);
    let words = |words: &[&str]| {
        let value = |word: &&str| Candidate::new(word, CompletionKind::Value, "");
        words.iter().map(value).collect::<Vec<_>>()
    };
    match kind {
        AttributeKind::Flag => words(&["true", "false"]),
        AttributeKind::Approximation => words(&["tanh", "none"]),
        AttributeKind::Interpolation => words(&["nearest", "bilinear"]),
        AttributeKind::Units => words(&["matrix", "vector"]),
        AttributeKind::Type => types(),
        AttributeKind::SizeOrUnknown => [params(text), words(&["unknown"])]
            .into_iter()
            .flatten()
            .collect(),
        AttributeKind::Size | AttributeKind::SizeOrSizes => params(text),
        AttributeKind::Sizes | AttributeKind::Number | AttributeKind::Word => Vec::new(),
    }
}

fn params(text: &str) -> Vec<Candidate> {
    if text.len() > MAX_TEXT_BYTES {
        return Vec::new();
    }
    let program = parse(text).program;
    let param = |param: &Param| Candidate {
        inserted: written_name(&param.name.text),
        ..Candidate::new(
            &param.name.text,
            CompletionKind::Param,
            param.value.to_string(),
        )
    };
    let values = values_by_name(&program);
    let derived = program.derived.iter().map(|derived| {
        let name = &derived.name.text;
        let value = values.get(name.as_str()).map(i64::to_string);
        Candidate {
            inserted: written_name(name),
            ..Candidate::new(name, CompletionKind::Param, value.unwrap_or_default())
        }
    });
    program.params.iter().map(param).chain(derived).collect()
}

fn types() -> Vec<Candidate> {
    let of = |dtype: &DType| {
        Candidate::new(dtype.name(), CompletionKind::Type, dtype.size().to_string())
    };
    DType::VARIANTS.iter().map(of).collect()
}

/// The tensors of the text: those before the caret, the nearest first, then the others.
fn tensors(text: &str, offset: usize, caret: &Caret) -> Vec<Candidate> {
    if text.len() > MAX_TEXT_BYTES {
        return Vec::new();
    }
    let program = parse(text).program;
    let is_short = text.len() + bytes_of_further_iterations(&program) <= MAX_TYPED_BYTES;
    let types = if is_short {
        types_of(&program)
    } else {
        HashMap::new()
    };
    let declared = program
        .declarations
        .iter()
        .map(|d| (d.span.end, &d.name.text));
    let produced = program.ops.iter().map(|op| (op.span.end, &op.output.text));
    let read = program
        .ops
        .iter()
        .flat_map(|op| op.inputs.iter().map(|i| (i.span.start, &i.text)));
    let only_produced = caret.context == Context::Output;
    let all = declared
        .chain(read)
        .filter(|_| !only_produced)
        .chain(produced);
    let mut places: Vec<(usize, &String)> = all
        .filter(|&(at, name)| Some(name) != caret.output.as_ref() && at != caret.word.start)
        .collect();
    places.sort_by_key(|&(at, _)| (at >= offset, at.abs_diff(offset)));
    let mut seen = HashSet::new();
    places.retain(|&(_, name)| seen.insert(name));
    let tensor = |(_, name): (usize, &String)| Candidate {
        inserted: written_name(name),
        ..Candidate::new(
            name,
            CompletionKind::Tensor,
            types.get(name).cloned().unwrap_or_default(),
        )
    };
    places.into_iter().map(tensor).collect()
}

/// The types of tensors as far as they are known: `f16[8, 6]`.
fn types_of(program: &Program) -> HashMap<String, String> {
    let resolved = resolve(program);
    let text = |dtype: Option<DType>, shape: &[u64]| {
        format!("{}{}", dtype.map_or("", DType::name), shape_text(shape))
    };
    let declared = resolved
        .externals
        .iter()
        .map(|t| (t.name.clone(), text(t.element_type(), &t.shape)));
    // The text has one name for what the iterations of a block produce.
    let statements = resolved.statement_of_op.iter().zip(&resolved.ops);
    let produced = statements.filter_map(|(&statement, op)| {
        let name = &program.ops.get(statement)?.output.text;
        Some((name.clone(), text(op.element_type(), &op.shape)))
    });
    declared.chain(produced).collect()
}
