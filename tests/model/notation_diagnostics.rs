//! What the parser says about invalid inputs.

use crate::notation_diagnostics_cases::CASES;
use fuseline_core::model::diagnostic::{Severity, line_and_column};
use fuseline_core::notation::parse;
use fuseline_core::{Code, Diagnostic};

fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<(Code, (usize, usize), String)> {
    diagnostics
        .iter()
        .map(|d| {
            let place = d.span.map_or((0, 0), |s| line_and_column(text, s.start));
            (d.code, place, d.message.clone())
        })
        .collect()
}

#[test]
fn every_bad_input_has_its_own_diagnostic() {
    for &(text, code, place, message) in CASES {
        let found = shown(text, &parse(text).diagnostics);
        assert_eq!(found, [(code, place, message.to_owned())], "{text}");
    }
}

#[test]
fn every_diagnostic_has_a_hint() {
    for &(text, ..) in CASES {
        for diagnostic in parse(text).diagnostics {
            assert!(diagnostic.hint.is_some_and(|h| !h.is_empty()), "{text}");
        }
    }
}

#[test]
fn the_nearest_element_type_is_proposed() {
    let proposals = [
        ("fp16", "f16"),
        ("float", "f32"),
        ("f17", "f16"),
        ("bfloat", "bf16"),
        ("bolo", "bool"),
        ("i31", "i32"),
    ];
    for (written, meant) in proposals {
        let parsed = parse(&format!("input x : {written}[4]"));
        let hint = parsed.diagnostics[0].hint.clone().unwrap();
        assert_eq!(hint, format!("did you mean `{meant}`?"), "{written}");
    }
}

#[test]
fn one_bad_line_leaves_the_others_alone() {
    let text = "a = relu(x)\nb = = relu(a)\nc = gelu(a\nd = add(a,\n    c, axis=1,\n) : f16[\n  4,\n]\ne = relu(d)";
    let parsed = parse(text);
    let outputs: Vec<&str> = (parsed.program.ops.iter())
        .map(|op| op.output.text.as_str())
        .collect();
    assert_eq!(outputs, ["a", "d", "e"]);
    let places: Vec<usize> = (parsed.diagnostics.iter())
        .map(|d| line_and_column(text, d.span.unwrap().start).0)
        .collect();
    assert_eq!(places, [2, 3]);
}

#[test]
fn what_comes_second_is_left_out() {
    let parsed = parse("y = relu(x)\ny = gelu(x)\nparam S = 1\nparam S = 2");
    assert_eq!(parsed.program.ops[0].callee.text, "relu");
    assert_eq!(parsed.program.ops.len(), 1);
    assert_eq!(parsed.program.params[0].value, 1);
    assert_eq!(parsed.program.params.len(), 1);
}

#[test]
fn a_doubtful_param_stays_for_its_slider() {
    let parsed = parse("param S = 0 in 1..16\nparam T = 99 in 1..16\nparam U = 8 in 16..1");
    let ranges: Vec<bool> = (parsed.program.params.iter())
        .map(|p| p.range.is_some())
        .collect();
    assert_eq!(ranges, [true, true, false]);
    let severities: Vec<Severity> = parsed.diagnostics.iter().map(|d| d.severity).collect();
    assert_eq!(
        severities,
        [Severity::Error, Severity::Warning, Severity::Warning]
    );
}

#[test]
fn deep_nesting_costs_a_diagnostic_and_no_stack() {
    let depth = 100_000;
    let texts = [
        format!("input x : f16[{}1{}]", "(".repeat(depth), ")".repeat(depth)),
        format!("input x : f16[{}S]", "-".repeat(depth)),
        format!("input x : f16[1{}]", "+1".repeat(depth)),
        format!("input x : f16[1{}]", "*1".repeat(depth)),
        format!("y = f(x, k=-{}1", "(".repeat(depth)),
    ];
    for text in texts {
        let parsed = parse(&text);
        assert_eq!(parsed.diagnostics.len(), 1);
        assert_eq!(
            parsed.diagnostics[0].message,
            "the expression nests more than 64 levels deep"
        );
    }
    let fits = format!("input x : f16[{}1{}]", "(".repeat(60), ")".repeat(60));
    assert_eq!(parse(&fits).diagnostics, []);
}

#[test]
fn a_long_name_is_read_and_shortened_in_messages() {
    let name = "n".repeat(10_000);
    let parsed = parse(&format!("{name} = relu(x)\n{name} = relu(x)\n"));
    assert_eq!(parsed.program.ops[0].output.text, name);
    assert!(parsed.diagnostics[0].message.chars().count() < 100);
}

#[test]
fn the_other_forms_are_recognised_where_notation_is_read() {
    let hint = |text: &str| parse(text).diagnostics.swap_remove(0).hint.unwrap();
    for text in [
        "Op(\"m\", \"matmul\", [\"x\", \"w\"], \"y\", (4, 4), 2)",
        "[{\"name\": \"m\"}]",
        "{\n  \"ops\": []\n}",
    ] {
        assert!(hint(text).contains("when they are pasted"), "{text}");
    }
    for text in ["relu(x)", "Op = = f(x)", "y = f(Op(", "(x)"] {
        assert!(!hint(text).contains("pasted"), "{text}");
    }
}
