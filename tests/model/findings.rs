//! Diagnostics as a list and in a sentence.

use fuseline_core::fixes::sound_fixes;
use fuseline_core::model::diagnostic::merged;
use fuseline_core::{Diagnostic, Options, analyze_program, notation};
use fuseline_view::present::findings::{ShownText, finding_rows, findings_summary, fixes_on_line};
use fuseline_view::present::words::{Piece, pieces};

const TEXT: &str = "input x : f16[8]\ny = reluu(x)\nz = gelu(y)\n";

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let parsed = notation::parse(text);
    let outcome = analyze_program(&parsed.program, &Options::default());
    merged(parsed.diagnostics, outcome.diagnostics)
}

#[test]
fn a_row_says_what_is_wrong_where_and_how_to_mend_it() {
    let all = diagnostics(TEXT);
    let fixes = sound_fixes(TEXT, &all);
    let rows = finding_rows(&all, &fixes, TEXT, 40);
    let row = rows.iter().find(|row| row.message.contains("reluu"));
    let row = row.unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!(row.severity, "error");
    assert_eq!(row.line_and_column.as_deref(), Some("2:5"));
    assert!(row.hint.as_deref().unwrap().contains("relu"));
    assert_eq!(row.span.unwrap().slice(TEXT), "reluu");
    assert_eq!(row.fixes[0].label, "Write `relu`");
    assert_eq!(finding_rows(&all, &fixes, TEXT, 0), []);
    assert!(finding_rows(&all, &[], TEXT, 40)[0].fixes.is_empty());
}

#[test]
fn the_fixes_of_a_line_are_those_of_its_first_finding_that_has_any() {
    let text = "input x : f16[8]\ny = reluu(x)\nz = gelu(w) : f16[8]";
    let all = diagnostics(text);
    let fixes = sound_fixes(text, &all);
    let labels = |byte: usize| {
        let here = fixes_on_line(&all, &fixes, text, byte);
        here.iter()
            .map(|fix| fix.label.as_str())
            .collect::<Vec<_>>()
    };
    let (second, third) = (text.find('y').unwrap(), text.find('z').unwrap());
    assert_eq!(labels(0), [""; 0]);
    assert_eq!(labels(second), ["Write `relu`"]);
    assert_eq!(
        labels(third - 1),
        ["Write `relu`"],
        "at the end of the line"
    );
    assert_eq!(labels(third), ["Declare `input w : f16[8]`"]);
    assert_eq!(labels(text.len()), ["Declare `input w : f16[8]`"]);
    assert_eq!(labels(text.len() + 9), [""; 0], "a byte of an older text");
}

#[test]
fn the_summary_counts_the_worst() {
    let summary = |text| findings_summary(&diagnostics(text), ShownText::LastGoodText);
    assert_eq!(
        summary("y = relu(x) : f16[8]\ninput x : f16[8]\n"),
        "The text has no problems."
    );
    assert_eq!(
        summary(TEXT),
        "1 error in the text. The pictures show the last text without errors."
    );
    assert_eq!(
        findings_summary(&diagnostics(TEXT), ShownText::ReadableLines),
        "1 error in the text. The pictures show only the lines without errors."
    );
    let two = summary("a = reluu(x)\nb = geluu(x)\n");
    assert!(two.starts_with("2 errors in the text."), "{two}");
    let warned = summary("y = add(x, b) : f16[64, 64]\n");
    assert_eq!(warned, "2 warnings in the text.");
}

#[test]
fn code_in_a_sentence_stands_between_backquotes() {
    let piece = |text, is_code| Piece { text, is_code };
    let found: Vec<_> = pieces("write `relu(x)` or `gelu(x)`").collect();
    assert_eq!(
        found,
        [
            piece("write ", false),
            piece("relu(x)", true),
            piece(" or ", false),
            piece("gelu(x)", true)
        ]
    );
    assert_eq!(pieces("").count(), 0);
    assert_eq!(pieces("plain").collect::<Vec<_>>(), [piece("plain", false)]);
}
