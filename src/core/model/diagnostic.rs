//! Diagnostics about a program text: errors, warnings and notes, each with a span and a hint.

use crate::model::fix::{Fix, TextEdit};
use serde::Serialize;

/// A byte range `start..end` of the source text, always on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The text under the span; empty when the span does not fit `text`.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// A fact that needs no correction.
    Note,
    /// The numbers depend on an assumption, which the message names.
    Warning,
    /// The statement is left out of the analysis.
    Error,
}

/// The kind of a diagnostic, stable across wordings, for tests and for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The line is not a statement of the notation: `y = = add(x)`.
    Syntax,
    /// The whole text comes from another tool, such as the source of a PyTorch module.
    ForeignText,
    /// A character that is not part of the notation: `y = add(x, $)`.
    UnknownCharacter,
    /// The input is not valid JSON, or not a list of ops.
    MalformedJson,
    /// An `Op(...)` line lacks fields or has fields of the wrong form.
    MalformedOpLine,
    /// `op_type` is not one of the four.
    UnknownOpType,
    /// No function of this name: `y = gellu(x)`.
    UnknownFunction,
    /// No element type of this name or width: `f17[4]`.
    UnknownDtype,
    /// The function does not take the attribute, or not with this value.
    UnknownAttribute,
    /// Wrong number of inputs, such as `add(x)`.
    WrongInputCount,
    /// Two ops write one tensor.
    DuplicateOutput,
    /// Two ops have the same label.
    DuplicateOpName,
    /// A tensor or param is declared twice, or declared and produced.
    DuplicateDeclaration,
    /// An op depends on its own output, directly or through other ops.
    Cycle,
    /// An op reads a tensor that an op above it has overwritten in place.
    OverwrittenTensor,
    /// The tensor is neither declared nor produced: its size is inferred or assumed.
    UndeclaredTensor,
    /// A shape names a param that no line declares.
    UnknownParam,
    /// The shapes of the inputs do not fit each other, or the function does not take their types.
    ShapeMismatch,
    /// The annotation contradicts the shape or type of the op.
    AnnotationMismatch,
    /// The shape is neither annotated nor inferred.
    MissingShape,
    /// An unknown operator has no annotation. It is not counted, and neither are the ops that need
    /// its shape.
    UnknownShape,
    /// A size of zero or below.
    NonPositiveSize,
    /// `H / heads` leaves a remainder.
    InexactDivision,
    /// A number, a product of sizes or the bytes of the program exceed 2^63.
    Overflow,
    /// The value of a param is outside its range, or the range is empty.
    ParamOutOfRange,
    /// K of a matmul is unknown: it has no FLOPs and no point on the roofline.
    #[serde(rename = "unknown-contraction")]
    UnknownK,
    /// A declared tensor that no op reads.
    UnusedTensor,
    /// The ops with one kernel mark cannot form one kernel.
    IllegalKernel,
    /// There are no ops.
    EmptyProgram,
    /// The text is longer than the page analyses, or would be if its blocks were written out.
    TooLong,
    /// The hidden size is not a multiple of the number of heads.
    HeadsDoNotDivide,
}

/// An error, a warning or a note about a text, with its position and ways to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Its kind.
    pub code: Code,
    /// Position in the source text, if there is one.
    pub span: Option<Span>,
    /// Index of the op that the diagnostic is about, in the list of ops.
    pub op: Option<usize>,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// How to correct it, as an imperative.
    pub hint: Option<String>,
    /// Corrections of the text that the hint proposes. Each is made from one statement;
    /// [`sound_fixes`](crate::fixes::sound_fixes) keeps those that hold in the whole text.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// A diagnostic without span and hint.
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            span: None,
            op: None,
            message: message.into(),
            hint: None,
            fixes: Vec::new(),
        }
    }

    /// An error without span and hint.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning without span and hint.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// The same diagnostic at `span`.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The same diagnostic about the op with this index.
    #[must_use]
    pub fn about(mut self, op: usize) -> Self {
        self.op = Some(op);
        self
    }

    /// The same diagnostic with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same diagnostic with one more correction.
    #[must_use]
    pub fn with(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// The same diagnostic with one more correction by one edit.
    #[must_use]
    pub fn fix(self, label: impl Into<String>, edit: TextEdit) -> Self {
        self.with(Fix::new(label, edit))
    }
}

/// Whether any of `diagnostics` is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// The diagnostics of parsing a text and of analysing it, in text order; those without a span come
/// first.
///
/// The error that there are no ops is left out if other errors explain it.
pub fn merged(read: Vec<Diagnostic>, analysed: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut all = read;
    all.extend(analysed);
    if has_errors(&all) {
        all.retain(|d| d.code != Code::EmptyProgram);
    }
    sort_in_text_order(&mut all);
    all
}

/// By position in the text; diagnostics without a span come first.
pub(crate) fn sort_in_text_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| d.span);
}

/// One-based line and column of a byte offset; columns count characters, as editors do.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or("");
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    (line, column)
}

/// Line and column of many offsets, in one pass over the text: `O(text + offsets log offsets)`.
pub fn lines_and_columns(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
    let mut ascending: Vec<(usize, usize)> = offsets.iter().copied().zip(0..).collect();
    ascending.sort_unstable();
    let mut places = vec![(1, 1); offsets.len()];
    let (mut line, mut column) = (1, 1);
    let mut chars = text.char_indices().peekable();
    for (offset, index) in ascending {
        let is_before = |&(start, char): &(usize, char)| start + char.len_utf8() <= offset;
        while let Some((_, char)) = chars.next_if(is_before) {
            (line, column) = match char {
                '\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
        }
        if let Some(place) = places.get_mut(index) {
            *place = (line, column);
        }
    }
    places
}
