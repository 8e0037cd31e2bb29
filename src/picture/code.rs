//! The text as highlighted lines with underlined diagnostics, drawn behind the editor's text area.

use crate::core::model::diagnostic::{Diagnostic, Severity, Span};
use crate::core::notation::{TokenKind, highlight};
use crate::core::sorting::{rank_of, sort_by_rank};

/// Longest text with syntax highlighting, in bytes; a longer one is plain, with underlines.
const MAX_COLORED_BYTES: usize = 400_000;

/// One line of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct CodeLine {
    /// Its pieces; concatenated, they are the line.
    pub pieces: Vec<CodePiece>,
    /// The highest severity of its diagnostics.
    pub worst: Option<Severity>,
}

/// A run of characters with the same style.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodePiece {
    /// The characters.
    pub text: String,
    /// The CSS class of its token kind; empty for plain text.
    pub class: &'static str,
    /// The highest severity of its diagnostics.
    pub mark: Option<Severity>,
}

/// The lines of `text`. `O(text + diagnostics log diagnostics)`.
pub fn code_lines(text: &str, diagnostics: &[Diagnostic]) -> Vec<CodeLine> {
    let marks = marks(text, diagnostics);
    let mut marks = marks.iter().peekable();
    let mut lines = vec![CodeLine::default()];
    let pieces = if text.len() > MAX_COLORED_BYTES {
        vec![(Span::new(0, text.len()), TokenKind::Space)]
    } else {
        highlight(text)
    };
    for (piece, kind) in pieces {
        let mut start = piece.start;
        while start < piece.end {
            while marks.peek().is_some_and(|(mark, _)| mark.end <= start) {
                marks.next();
            }
            let (end, mark) = match marks.peek() {
                Some((mark, severity)) if mark.start <= start => {
                    (mark.end.min(piece.end), Some(*severity))
                }
                Some((mark, _)) => (mark.start.min(piece.end), None),
                None => (piece.end, None),
            };
            add(
                &mut lines,
                Span::new(start, end).slice(text),
                class(kind),
                mark,
            );
            start = end;
        }
    }
    let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    for diagnostic in diagnostics {
        // A diagnostic at the end of a line has no character to underline, so its line is marked.
        if let Some(span) = diagnostic.span
            && let Some(line) = lines.get_mut(line_ends.partition_point(|&end| end < span.start))
        {
            line.worst = line.worst.max(Some(diagnostic.severity));
        }
    }
    lines
}

/// The 0-based line of a byte offset.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&b| b == b'\n').count()
}

/// The bytes of the line that contains a byte offset, without its line break.
pub fn line_at(text: &str, offset: usize) -> Span {
    let offset = offset.min(text.len());
    let bytes = text.as_bytes();
    let is_end = |&b: &u8| b == b'\n';
    Span::new(
        bytes
            .iter()
            .take(offset)
            .rposition(is_end)
            .map_or(0, |at| at + 1),
        bytes
            .iter()
            .skip(offset)
            .position(is_end)
            .map_or(text.len(), |at| offset + at),
    )
}

/// The byte offset for an offset in UTF-16 units, as browsers count; past the end it is the end.
pub fn byte_of_utf16(text: &str, units: usize) -> usize {
    let mut seen = 0;
    text.char_indices()
        .find(|(_, c)| {
            let is_there = seen >= units;
            seen += c.len_utf16();
            is_there
        })
        .map_or(text.len(), |(byte, _)| byte)
}

/// The offset in UTF-16 units for a byte offset.
pub fn utf16_of_byte(text: &str, byte: usize) -> usize {
    text.char_indices()
        .take_while(|&(at, _)| at < byte)
        .map(|(_, c)| c.len_utf16())
        .sum()
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

/// Spans that do not overlap, in order. Of overlapping diagnostics the first one keeps its span; of two with
/// the same start, the more severe one.
fn marks(text: &str, diagnostics: &[Diagnostic]) -> Vec<(Span, Severity)> {
    let mut found: Vec<(Span, Severity)> = diagnostics
        .iter()
        .filter(|d| d.severity != Severity::Note)
        .filter_map(|d| Some((at_least_one_character(text, d.span?), d.severity)))
        .collect();
    sort_by_rank(&mut found, |&(span, severity)| {
        (rank_of(span.start), -(severity as i64), 0)
    });
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

/// Appends characters; they may contain line breaks.
fn add(lines: &mut Vec<CodeLine>, text: &str, class: &'static str, mark: Option<Severity>) {
    for (index, part) in text.split('\n').enumerate() {
        if index > 0 {
            lines.push(CodeLine::default());
        }
        let Some(line) = lines.last_mut().filter(|_| !part.is_empty()) else {
            continue;
        };
        match line.pieces.last_mut() {
            Some(last) if last.class == class && last.mark == mark => last.text.push_str(part),
            _ => line.pieces.push(CodePiece {
                text: part.to_owned(),
                class,
                mark,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{byte_of_utf16, code_lines, line_at, utf16_of_byte};
    use crate::core::model::diagnostic::{Code, Diagnostic, Severity, Span};

    fn joined(text: &str, diagnostics: &[Diagnostic]) -> String {
        let lines: Vec<String> = code_lines(text, diagnostics)
            .iter()
            .map(|line| line.pieces.iter().map(|p| p.text.as_str()).collect())
            .collect();
        lines.join("\n")
    }

    #[test]
    fn pieces_join_to_the_text() {
        let wrong = [
            Diagnostic::error(Code::Syntax, "here").at(Span::new(3, 9)),
            Diagnostic::warning(Code::Syntax, "and here").at(Span::new(5, 200)),
            Diagnostic::warning(Code::Syntax, "nowhere").at(Span::new(0, 0)),
        ];
        for text in ["", "\n", "y = relu(x)\n\n# é\n", "a\nb", "param S = 4\r\n"] {
            assert_eq!(joined(text, &[]), text);
            assert_eq!(joined(text, &wrong), text);
        }
    }

    #[test]
    fn a_mark_stands_under_its_span_and_on_its_line() {
        let text = "y = relu(x)\nz = gellu(y)";
        let wrong =
            Diagnostic::error(Code::UnknownFunction, "no such function").at(Span::new(16, 21));
        let lines = code_lines(text, &[wrong]);
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (lines[0].worst, lines[1].worst),
            (None, Some(Severity::Error))
        );
        let marked: Vec<&str> = lines[1]
            .pieces
            .iter()
            .filter(|p| p.mark.is_some())
            .map(|p| p.text.as_str())
            .collect();
        assert_eq!(marked, ["gellu"]);
    }

    #[test]
    fn offsets_convert_both_ways() {
        let text = "aé𝄞z";
        for (byte, units) in [(0, 0), (1, 1), (3, 2), (7, 4), (8, 5)] {
            assert_eq!(byte_of_utf16(text, units), byte);
            assert_eq!(utf16_of_byte(text, byte), units);
        }
        assert_eq!(byte_of_utf16(text, 99), 8);
    }

    #[test]
    fn a_line_is_found_from_any_place_in_it() {
        let text = "ab\n\ncd";
        for (offset, line) in [
            (0, "ab"),
            (2, "ab"),
            (3, ""),
            (4, "cd"),
            (6, "cd"),
            (99, "cd"),
        ] {
            assert_eq!(line_at(text, offset).slice(text), line);
        }
    }
}
