//! The text of a program as lines of coloured pieces, and offsets in it.

use fuseline_core::{Code, Diagnostic, Severity, Span};
use fuseline_view::picture::code::{
    CodeLine, TextSize, byte_of_utf16, code_lines, line_at, text_size, utf16_of_byte,
};

fn all_lines(text: &str, diagnostics: &[Diagnostic]) -> Vec<CodeLine> {
    code_lines(text, 0..usize::MAX, diagnostics, &[])
}

fn joined(text: &str, diagnostics: &[Diagnostic]) -> String {
    let lines: Vec<String> = all_lines(text, diagnostics)
        .iter()
        .map(|line| line.pieces.iter().map(|p| p.text.as_str()).collect())
        .collect();
    lines.join("\n")
}

fn findings() -> [Diagnostic; 3] {
    [
        Diagnostic::error(Code::Syntax, "here").at(Span::new(3, 9)),
        Diagnostic::warning(Code::Syntax, "and here").at(Span::new(5, 200)),
        Diagnostic::warning(Code::Syntax, "nowhere").at(Span::new(0, 0)),
    ]
}

#[test]
fn pieces_join_to_the_text() {
    for text in ["", "\n", "y = relu(x)\n\n# é\n", "a\nb", "param S = 4\r\n"] {
        assert_eq!(joined(text, &[]), text);
        assert_eq!(joined(text, &findings()), text);
    }
}

#[test]
fn some_lines_look_as_they_do_among_all() {
    let text = "\
y = add(
  x, k=S,
  param
)

param S = 3 # and more
 ) z = `relu
é: w = relu(é) : f16[S
  , S]
";
    let all = all_lines(text, &findings());
    assert_eq!(all.len(), 10);
    for first in 0..=all.len() {
        for end in first..=all.len() {
            let some = code_lines(text, first..end, &findings(), &[]);
            assert_eq!(some, all[first..end], "{first}..{end}");
        }
    }
    assert_eq!(code_lines(text, 8..99, &findings(), &[]), all[8..]);
}

#[test]
fn a_mark_stands_under_its_span_and_on_its_line() {
    let text = "y = relu(x)\nz = gellu(y)";
    let wrong = Diagnostic::error(Code::UnknownFunction, "no such function").at(Span::new(16, 21));
    let lines = all_lines(text, &[wrong]);
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
fn all_lines_of_what_is_selected_are_selected() {
    let text = "a = relu(x)\nb = add(\n a,\n x)\nc = relu(b)";
    let selected = |places: &[Span]| -> Vec<bool> {
        let lines = code_lines(text, 0..9, &[], places);
        lines.iter().map(|line| line.is_selected).collect()
    };
    let b = Span::new(12, 28);
    assert_eq!(b.slice(text), "b = add(\n a,\n x)");
    assert_eq!(selected(&[b]), [false, true, true, true, false]);
    let (a, c) = (Span::new(0, 11), Span::new(29, 40));
    assert_eq!(selected(&[a, c]), [true, false, false, false, true]);
}

#[test]
fn a_text_has_the_size_of_its_lines() {
    let size = |lines, columns| TextSize { lines, columns };
    assert_eq!(text_size(""), size(1, 0));
    assert_eq!(text_size("é\nabc\n"), size(3, 3));
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
fn a_line_end_of_two_characters_is_one_unit() {
    let text = "a\r\nb\rc";
    for (byte, units) in [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4), (6, 5)] {
        assert_eq!(byte_of_utf16(text, units), byte);
        assert_eq!(utf16_of_byte(text, byte), units);
    }
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
