//! The text as highlighted lines with underlined diagnostics, drawn behind the editor's text area.

use fuseline_core::model::diagnostic::{Diagnostic, Severity, Span};
use fuseline_core::notation::{TokenKind, highlight};
use std::cmp::Reverse;
use std::ops::Range;

/// Bytes up to which the shown lines are coloured by token; a single line may be as long as the
/// text.
const MAX_COLORED_BYTES: usize = 200_000;

/// One line of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct CodeLine {
    /// Its pieces; concatenated, they are the line.
    pub pieces: Vec<CodePiece>,
    /// The highest severity of its diagnostics.
    pub worst: Option<Severity>,
    /// Whether a part of the line is selected.
    pub is_selected: bool,
}

/// A run of characters with the same style.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodePiece {
    pub text: String,
    /// The CSS class of its token kind; empty for plain text.
    pub class: &'static str,
    /// The highest severity of its diagnostics.
    pub mark: Option<Severity>,
}

/// The size of a text in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSize {
    /// Number of lines; an empty text has one.
    pub lines: usize,
    /// Characters of its longest line.
    pub columns: usize,
}

/// The size of `text`. `O(text)`.
pub fn text_size(text: &str) -> TextSize {
    let columns = text.split('\n').map(|line| line.chars().count());
    TextSize {
        lines: line_of(text, text.len()) + 1,
        columns: columns.max().unwrap_or(0),
    }
}

/// The lines of `text` in a range of line numbers, counted from 0, as far as they exist. A line
/// with a byte of `selected` is selected.
///
/// Linear in the lines and spans, and as fast in the text as a search for line ends and params.
pub fn code_lines(
    text: &str,
    lines: Range<usize>,
    diagnostics: &[Diagnostic],
    selected: &[Span],
) -> Vec<CodeLine> {
    let spans = line_spans(text, lines);
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    let within = Span::new(first.start, last.end);
    let mut selected = selected.to_vec();
    selected.retain(|selected| touch(*selected, within));
    let pieces = if within.end - within.start > MAX_COLORED_BYTES {
        vec![(within, TokenKind::Space)]
    } else {
        highlight(text, within)
    };
    let mut pieces = pieces.into_iter().peekable();
    let marks = marks(text, within, diagnostics);
    let mut marks = marks.into_iter().peekable();
    let line = |&span: &Span| {
        let mut line = CodeLine {
            is_selected: selected.iter().any(|selected| touch(*selected, span)),
            ..CodeLine::default()
        };
        let mut start = span.start;
        // A token or a mark may continue on the next line.
        while start < span.end {
            while pieces.next_if(|(piece, _)| piece.end <= start).is_some() {}
            while marks.next_if(|(mark, _)| mark.end <= start).is_some() {}
            let (piece, kind) = pieces.peek().copied().unwrap_or((within, TokenKind::Space));
            let (end, mark) = match marks.peek() {
                Some((mark, severity)) if mark.start <= start => (mark.end, Some(*severity)),
                Some((mark, _)) => (mark.start, None),
                None => (within.end, None),
            };
            let end = end.min(piece.end).min(span.end);
            line.add(Span::new(start, end).slice(text), class(kind), mark);
            start = end;
        }
        line
    };
    let mut lines: Vec<CodeLine> = spans.iter().map(line).collect();
    for diagnostic in diagnostics {
        // The line is marked even where a diagnostic at its end has no character to underline.
        if let Some(start) = diagnostic.span.map(|span| span.start)
            && (within.start..=within.end).contains(&start)
            && let Some(line) = lines.get_mut(spans.partition_point(|span| span.end < start))
        {
            line.worst = line.worst.max(Some(diagnostic.severity));
        }
    }
    lines
}

impl CodeLine {
    fn add(&mut self, text: &str, class: &'static str, mark: Option<Severity>) {
        match self.pieces.last_mut() {
            Some(last) if last.class == class && last.mark == mark => last.text.push_str(text),
            _ => self.pieces.push(CodePiece {
                text: text.to_owned(),
                class,
                mark,
            }),
        }
    }
}

/// The spans of a range of lines, as far as they exist, without line breaks.
fn line_spans(text: &str, lines: Range<usize>) -> Vec<Span> {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    let mut start = 0;
    let spans = ends.chain([text.len()]).map(|end| {
        let span = Span::new(start, end);
        start = end + 1;
        span
    });
    spans.skip(lines.start).take(lines.len()).collect()
}

/// Whether two spans overlap or adjoin.
fn touch(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// The 0-based line of a byte offset.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&b| b == b'\n').count()
}

/// Characters before a byte offset on its line.
pub fn column_of(text: &str, offset: usize) -> usize {
    let start = line_at(text, offset).start;
    text.get(start..offset)
        .map_or(0, |before| before.chars().count())
}

/// The bytes of the line that contains a byte offset, without its line break.
pub fn line_at(text: &str, offset: usize) -> Span {
    let (before, after) = text.as_bytes().split_at(offset.min(text.len()));
    let is_break = |&b: &u8| b == b'\n';
    Span::new(
        before.iter().rposition(is_break).map_or(0, |at| at + 1),
        (after.iter().position(is_break)).map_or(text.len(), |at| before.len() + at),
    )
}

/// The byte offset of an offset in UTF-16 units, in which browsers count; the end of the text for
/// offsets past it.
pub fn byte_of_utf16(text: &str, units: usize) -> usize {
    let mut units_before = 0;
    let mut characters = characters(text);
    characters
        .find(|(_, width)| {
            let is_there = units_before >= units;
            units_before += width;
            is_there
        })
        .map_or(text.len(), |(byte, _)| byte)
}

/// The offset in UTF-16 units of a byte offset.
pub fn utf16_of_byte(text: &str, byte: usize) -> usize {
    let characters = characters(text).take_while(|&(at, _)| at < byte);
    characters.map(|(_, width)| width).sum()
}

/// The byte offset of each character, and its width in UTF-16 units. In a text area `\r\n` is one
/// character.
fn characters(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.char_indices().map(|(at, c)| {
        let is_joined = c == '\r' && text.as_bytes().get(at + 1) == Some(&b'\n');
        (at, if is_joined { 0 } else { c.len_utf16() })
    })
}

const fn class(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Keyword => "tok-keyword",
        TokenKind::Param => "tok-param",
        TokenKind::Label => "tok-label",
        TokenKind::Function => "tok-function",
        TokenKind::Attribute => "tok-attribute",
        TokenKind::Number => "tok-number",
        TokenKind::Dtype => "tok-dtype",
        TokenKind::Comment => "tok-comment",
        TokenKind::Tensor | TokenKind::Punctuation | TokenKind::Error | TokenKind::Space => "",
    }
}

/// The spans that are underlined, in order and without overlaps. Of overlapping diagnostics the one
/// that begins first wins, and of two that begin together the more severe.
fn marks(text: &str, within: Span, diagnostics: &[Diagnostic]) -> Vec<(Span, Severity)> {
    let mut found: Vec<(Span, Severity)> = diagnostics
        .iter()
        .filter(|d| d.severity != Severity::Note)
        .filter_map(|d| Some((d.span?, d.severity)))
        .filter(|(span, _)| touch(*span, within))
        .map(|(span, severity)| (at_least_one_character(text, span), severity))
        .collect();
    found.sort_by_key(|&(span, severity)| (span.start, Reverse(severity)));
    let mut end = 0;
    found.retain_mut(|(span, _)| {
        span.start = span.start.max(end);
        let is_left = span.start < span.end;
        if is_left {
            end = span.end;
        }
        is_left
    });
    found
}

fn at_least_one_character(text: &str, span: Span) -> Span {
    let end = span.end.min(text.len());
    let next = || text.get(span.start..)?.chars().next();
    if span.start < end {
        Span::new(span.start, end)
    } else {
        Span::new(span.start, span.start + next().map_or(0, char::len_utf8))
    }
}
