//! One invalid input for each diagnostic of the parser, with position and message.

use fuseline::core::model::diagnostic::{Severity, line_and_column};
use fuseline::core::notation::parse;
use fuseline::core::{Code, Diagnostic};

fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<(Code, (usize, usize), String)> {
    diagnostics
        .iter()
        .map(|d| {
            let place = d.span.map_or((0, 0), |s| line_and_column(text, s.start));
            (d.code, place, d.message.clone())
        })
        .collect()
}

/// Each text has exactly one diagnostic: code, line and column, message.
pub(crate) const CASES: &[(&str, Code, (usize, usize), &str)] = &[
    (
        "y = = add(x)",
        Code::Syntax,
        (1, 5),
        "expected the name of a function, found `=`",
    ),
    (
        "repeat {\ny = relu(x)\n}",
        Code::Syntax,
        (1, 8),
        "expected the number of rounds, found `{`",
    ),
    (
        "repeat\ny = relu(x)\n}",
        Code::Syntax,
        (1, 1),
        "the line ends before the number of rounds",
    ),
    (
        "repeat 3\ny = relu(x)\n}",
        Code::Syntax,
        (1, 8),
        "the line ends before `{`",
    ),
    (
        "repeat\nrepeat 3 with x = y {\ny = relu(x)\n}",
        Code::Syntax,
        (1, 1),
        "the line ends before the number of rounds",
    ),
    (
        "repeat 3 with {\ny = relu(x)\n}",
        Code::Syntax,
        (1, 15),
        "expected the name of a tensor that the block reads, found `{`",
    ),
    (
        "repeat 3 with x = {\ny = relu(x)\n}",
        Code::Syntax,
        (1, 19),
        "expected the name of a tensor that the block writes, found `{`",
    ),
    (
        "repeat 3 with x = y { y = relu(x) }",
        Code::Syntax,
        (1, 23),
        "the statement is complete before `y`",
    ),
    (
        "repeat 3 {\ny = relu(x) }",
        Code::Syntax,
        (2, 13),
        "the statement is complete before `}`",
    ),
    (
        "repeat 3 {\ny = relu(x)\n} z",
        Code::Syntax,
        (3, 3),
        "the statement is complete before `z`",
    ),
    (
        "a = relu(x)\nrepeat 3 with a = y {\ny = relu(a)",
        Code::Syntax,
        (2, 1),
        "the block is never closed",
    ),
    (
        "a = relu(x)\n}\nb = relu(a)",
        Code::Syntax,
        (2, 1),
        "`}` ends no block",
    ),
    (
        "repeat 3 {\na = relu(x)\nrepeat 2 {\nb = relu(a)\n}\nc = relu(b)\n}",
        Code::Syntax,
        (3, 1),
        "a block stands in another one",
    ),
    (
        "repeat 3 {\na = relu(x\n}\nb = relu(a)",
        Code::Syntax,
        (2, 9),
        "the bracket is never closed",
    ),
    (
        "y = relu(x) {",
        Code::Syntax,
        (1, 13),
        "the statement is complete before `{`",
    ),
    (
        "repeat 3 {\nx = relu(y)\n}\nx = exp(y)",
        Code::DuplicateOutput,
        (4, 1),
        "`x` is already written in line 2",
    ),
    ("y = x + 1", Code::Syntax, (1, 7), "expected `(`, found `+`"),
    ("y", Code::Syntax, (1, 1), "the line ends before `=`"),
    (
        "= add(x)",
        Code::Syntax,
        (1, 1),
        "expected a statement, found `=`",
    ),
    (
        "y = add(x, $)",
        Code::UnknownCharacter,
        (1, 12),
        "`$` is not part of the notation",
    ),
    (
        "input x : f16[S×2]",
        Code::UnknownCharacter,
        (1, 16),
        "`×` is not part of the notation",
    ),
    (
        "y = add(x, b",
        Code::Syntax,
        (1, 8),
        "the bracket is never closed",
    ),
    (
        "y = add(x b)",
        Code::Syntax,
        (1, 11),
        "expected `,` or `)`, found `b`",
    ),
    (
        "y = add(x))",
        Code::Syntax,
        (1, 11),
        "the statement is complete before `)`",
    ),
    (
        "y = add(x) z = relu(y)",
        Code::Syntax,
        (1, 12),
        "the statement is complete before `z`",
    ),
    (
        "y = add(x, [3])",
        Code::Syntax,
        (1, 12),
        "expected the name of a tensor, found `[`",
    ),
    (
        "y = sum(axis=1, 3)",
        Code::Syntax,
        (1, 17),
        "the input `3` comes after an attribute",
    ),
    (
        "y = sum(axis=1, x)",
        Code::Syntax,
        (1, 17),
        "the input `x` comes after an attribute",
    ),
    (
        "y = sum(x, axis=1, axis=2)",
        Code::Syntax,
        (1, 20),
        "`axis` is given twice",
    ),
    (
        "y = sum(x, axis=)",
        Code::Syntax,
        (1, 17),
        "expected a size, found `)`",
    ),
    (
        "y = sum(x, axis=[1, 2)",
        Code::Syntax,
        (1, 22),
        "expected `,` or `]`, found `)`",
    ),
    (
        "input x : f16[4H]",
        Code::Syntax,
        (1, 15),
        "`4H` is neither a number nor a name",
    ),
    (
        "input x : f16[4.5]",
        Code::Syntax,
        (1, 15),
        "expected a size, found `4.5`",
    ),
    (
        "input x : f16[(4*2]",
        Code::Syntax,
        (1, 19),
        "expected an operator or `)`, found `]`",
    ),
    (
        "input x : f16[4*]",
        Code::Syntax,
        (1, 17),
        "expected a size, found `]`",
    ),
    (
        "input x : f16",
        Code::Syntax,
        (1, 11),
        "the line ends before `[` and the shape",
    ),
    (
        "input x",
        Code::Syntax,
        (1, 7),
        "the line ends before `:` and the tensor's type",
    ),
    (
        "input : f16[4]",
        Code::Syntax,
        (1, 1),
        "the declared tensor has no name",
    ),
    (
        "up: relu(x)",
        Code::Syntax,
        (1, 9),
        "expected `=`, found `(`",
    ),
    (
        "up: = relu(x)",
        Code::Syntax,
        (1, 5),
        "expected the name of the output, found `=`",
    ),
    (
        "weight w : [4]",
        Code::Syntax,
        (1, 12),
        "expected an element type, found `[`",
    ),
    (
        "input x : fp16[4]",
        Code::UnknownDtype,
        (1, 11),
        "there is no element type `fp16`",
    ),
    (
        "y = relu(x) : f17[4]",
        Code::UnknownDtype,
        (1, 15),
        "there is no element type `f17`",
    ),
    ("param S", Code::Syntax, (1, 7), "the line ends before `=`"),
    (
        "param S = 4*2",
        Code::Syntax,
        (1, 12),
        "the statement is complete before `*`",
    ),
    (
        "param S = H",
        Code::Syntax,
        (1, 11),
        "expected a whole number, found `H`",
    ),
    ("param S = 0", Code::NonPositiveSize, (1, 11), "`S` is 0"),
    (
        "param S = -8 in 1..16",
        Code::NonPositiveSize,
        (1, 11),
        "`S` is -8",
    ),
    (
        "param S = 8 in 16..1",
        Code::ParamOutOfRange,
        (1, 16),
        "the range 16..1 of `S` is empty",
    ),
    (
        "param S = 8 in 0..16",
        Code::ParamOutOfRange,
        (1, 16),
        "the range of `S` starts at 0",
    ),
    (
        "param S = 8 in 1..16 step 0",
        Code::ParamOutOfRange,
        (1, 27),
        "the step of `S` is 0",
    ),
    (
        "param S = 8 in 1..200000 dividing 64",
        Code::ParamOutOfRange,
        (1, 16),
        "the range of `S` has more than 1024 values that may divide",
    ),
    (
        "param S = 99 in 1..16",
        Code::ParamOutOfRange,
        (1, 11),
        "`S` is 99, outside its range 1..16",
    ),
    (
        "param S = 9223372036854775808",
        Code::Overflow,
        (1, 11),
        "9223372036854775808 is past 2^63",
    ),
    (
        "y = relu(`x)",
        Code::Syntax,
        (1, 10),
        "the name in backquotes has no end",
    ),
    (
        "y = relu(`a\\b`)",
        Code::Syntax,
        (1, 10),
        "the name holds an unknown escape",
    ),
    (
        "# one\nparam S = 1\nparam S = 2",
        Code::DuplicateDeclaration,
        (3, 7),
        "the param `S` is already declared in line 2",
    ),
    (
        "input x : f16[4]\nweight x : f16[4]",
        Code::DuplicateDeclaration,
        (2, 8),
        "the tensor `x` is already declared in line 1",
    ),
    (
        "y = relu(x)\ninput y : f16[4]",
        Code::DuplicateDeclaration,
        (2, 7),
        "`y` is both declared and the output of an op, see line 1",
    ),
    (
        "input y : f16[4]\ny = relu(x)",
        Code::DuplicateDeclaration,
        (2, 1),
        "`y` is both declared and the output of an op, see line 1",
    ),
    (
        "y = relu(x)\n\ny = gelu(x)",
        Code::DuplicateOutput,
        (3, 1),
        "`y` is already written in line 1",
    ),
    (
        "a: y = relu(x)\na: z = gelu(x)",
        Code::DuplicateOpName,
        (2, 1),
        "the op in line 1 is already called `a`",
    ),
];

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
