//! What the core has to say about a visitor's text: what is wrong, where, and how to mend it.

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

/// How much a diagnostic matters.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// A fact worth knowing: nothing to mend.
    Note,
    /// The numbers stand on an assumption that is named.
    Warning,
    /// The statement is left out of the analysis.
    Error,
}

/// The kind of a diagnostic, stable across wordings, for tests and for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The line is not a statement of the notation: `y = = add(x)`.
    Syntax,
    /// A byte that is no part of the notation: `y = add(x, $)`.
    UnknownCharacter,
    /// The input is not valid JSON, or not a list of ops.
    MalformedJson,
    /// An `Op(...)` line lacks fields or has them in another form.
    MalformedOpLine,
    /// `op_type` is none of the four.
    UnknownOpType,
    /// No function of this name: `y = gellu(x)`.
    UnknownFunction,
    /// No element type of this name or width: `f17[4]`.
    UnknownDtype,
    /// The function takes no such attribute, or not with this value.
    UnknownAttribute,
    /// `add(x)`: the function takes another number of inputs.
    WrongInputCount,
    /// Two ops write one tensor.
    DuplicateOutput,
    /// Two ops carry one label.
    DuplicateOpName,
    /// A tensor or param is declared twice, or declared and produced.
    DuplicateDeclaration,
    /// An op needs, over others, its own output.
    Cycle,
    /// Nothing declares or produces the tensor: its size was inferred or assumed.
    UndeclaredTensor,
    /// A shape names a param that no line declares.
    UnknownParam,
    /// The shapes of the inputs do not fit each other.
    ShapeMismatch,
    /// The annotation says another shape or type than the op gives.
    AnnotationMismatch,
    /// The shape follows from nothing and is not given.
    MissingShape,
    /// A size of zero or below.
    NonPositiveSize,
    /// `H / heads` leaves a remainder.
    InexactDivision,
    /// A number, a product of sizes or the bytes of the program pass 2^63.
    Overflow,
    /// The value of a param lies outside its range, or the range is empty.
    ParamOutOfRange,
    /// The contraction length K of a matmul is unknown: it has no FLOPs and no point.
    #[serde(rename = "unknown-contraction")]
    UnknownK,
    /// A declared tensor that no op reads.
    UnusedTensor,
    /// Ops that the text wants in one kernel cannot be one.
    IllegalKernel,
    /// There are no ops.
    EmptyProgram,
    /// The hidden size is not a multiple of the number of heads.
    HeadsDoNotDivide,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Its kind.
    pub code: Code,
    /// Where in the source text, when there is one.
    pub span: Option<Span>,
    /// Index into the list of ops that the finding is about, when it is about one.
    pub op: Option<usize>,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// How to mend it, as an imperative.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A finding without place or hint.
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            span: None,
            op: None,
            message: message.into(),
            hint: None,
        }
    }

    /// An error without place or hint.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning without place or hint.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// The same finding at `span`.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The same finding about the op with this index.
    #[must_use]
    pub fn about(mut self, op: usize) -> Self {
        self.op = Some(op);
        self
    }

    /// The same finding with a way to mend it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Whether any of `diagnostics` is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// The findings of reading a text and of analysing it, in text order; those without a place come first.
///
/// That there are no ops is left out when errors say why.
pub fn merged(read: Vec<Diagnostic>, analysed: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut all = read;
    all.extend(analysed);
    if has_errors(&all) {
        all.retain(|d| d.code != Code::EmptyProgram);
    }
    sort_in_text_order(&mut all);
    all
}

/// By place in the text; those without a place come first.
pub(crate) fn sort_in_text_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| d.span);
}

/// One-based line and column (in characters) of a byte offset, as editors count them.
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
