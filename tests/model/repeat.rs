//! Blocks that are repeated: what their rounds read and write, and what is wrong with them.

use fuseline::app::text_limits::is_quick;
use fuseline_core::model::diagnostic::{Severity, line_and_column};
use fuseline_core::notation::{TokenKind, highlight, parse, print};
use fuseline_core::resolve::resolve;
use fuseline_core::{Analysis, Code, Diagnostic, Options, Policy, Span, analyze_program};
use fuseline_view::present::reasons::all_diagnostics;

/// All diagnostics of a text.
fn found(text: &str) -> Vec<Diagnostic> {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &Options::of_policy(Policy::Manual));
    all_diagnostics(&parsed, &outcome)
}

/// Names, inputs and outputs of the ops, as calls.
fn calls(text: &str) -> Vec<String> {
    let resolved = resolve(&parse(text).program);
    let call = |op: &fuseline_core::Op| {
        let label = match &op.name {
            name if *name == op.output => String::new(),
            name => format!("{name}: "),
        };
        let is_output = if op.is_output { " !" } else { "" };
        format!(
            "{label}{} = ({}){is_output}",
            op.output,
            op.inputs.join(" ")
        )
    };
    resolved.ops.iter().map(call).collect()
}

pub(crate) fn analysed(text: &str, options: &Options) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

const BLOCK: &str = "\
param L = 3 in 1..48
input x : f16[8, 8]
weight shared : f16[8, 8]
before = relu(x)
repeat L with before = y, kept = h {  # a layer
  weight w : f16[8, 8]
  up: h = matmul(before, w)
  g = matmul(h, shared)
  y = add(g, kept)
}
after = exp(y)
kept = tanh(x)
last = add(after, w)
";

#[test]
fn a_round_reads_what_the_round_before_has_written() {
    assert_eq!(parse(BLOCK).diagnostics, []);
    assert_eq!(
        calls(BLOCK),
        [
            "before = (x)",
            "up.1: h.1 = (before w.1)",
            "g.1 = (h.1 shared)",
            "y.1 = (g.1 kept)",
            "up.2: h.2 = (y.1 w.2)",
            "g.2 = (h.2 shared)",
            "y.2 = (g.2 h.1)",
            "up.3: h.3 = (y.2 w.3)",
            "g.3 = (h.3 shared)",
            "y.3 = (g.3 h.2)",
            "after = (y.3)",
            "kept = (x)",
            "last = (after w.3)",
        ]
    );
    let resolved = resolve(&parse(BLOCK).program);
    assert_eq!(
        resolved.statement_of_op,
        [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6]
    );
    let names: Vec<&str> = resolved.externals.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["x", "shared", "w.1", "w.2", "w.3"]);
    assert_eq!(resolved.diagnostics, []);
}

#[test]
fn an_output_of_a_block_is_one_of_every_round() {
    let text =
        "repeat 2 with x = y {\nh = relu(x) : f16[4]\ny = exp(h)\noutput h\n}\nz = tanh(y)\n";
    let calls_of = |text| calls(text).join(", ");
    let of_rounds = "h.1 = (x) !, y.1 = (h.1), h.2 = (y.1) !, y.2 = (h.2), z = (y.2)";
    assert_eq!(calls_of(text), of_rounds);
    let outside = text.replace("output h\n}", "}\noutput h");
    let of_last = "h.1 = (x), y.1 = (h.1), h.2 = (y.1) !, y.2 = (h.2), z = (y.2)";
    assert_eq!(calls_of(&outside), of_last);
}

#[test]
fn names_of_rounds_are_no_names_of_the_text() {
    let text = "repeat 2 with x = h {\nh = relu(x) : f16[4]\n}\n`h.1` = exp(h)\nh.2_ = exp(h)\n";
    assert_eq!(
        calls(text),
        [
            "h.1__ = (x)",
            "h.2__ = (h.1__)",
            "h.1 = (h.2__)",
            "h.2_ = (h.2__)"
        ]
    );
    let text = "repeat 2 with x = h {\nh = relu(x) : f16[4]\n}\nk.1 = exp(h)\nh.a = exp(h)\nh_1 = exp(h)\n";
    assert_eq!(calls(text)[..2], ["h.1 = (x)", "h.2 = (h.1)"]);
}

#[test]
fn a_block_is_printed_as_it_is_read() {
    let printed = print(&parse(BLOCK).program);
    assert_eq!(
        printed,
        "\
param L = 3 in 1..48
input  x      : f16[8, 8]
weight shared : f16[8, 8]
before = relu(x)
repeat L with before = y, kept = h {
  weight w : f16[8, 8]
  up: h = matmul(before, w)
      g = matmul(h, shared)
      y = add(g, kept)
}
after = exp(y)
kept  = tanh(x)
last  = add(after, w)
"
    );
    assert_eq!(calls(&printed), calls(BLOCK));
}

#[test]
fn a_header_has_the_colours_of_what_it_names() {
    let text = "repeat (L + 1)*2 with x = y, with = repeat {\n} # end";
    let kinds = highlight(text, Span::new(0, text.len()));
    let kinds: Vec<(&str, TokenKind)> = (kinds.iter())
        .map(|(span, kind)| (span.slice(text), *kind))
        .filter(|(_, kind)| !matches!(kind, TokenKind::Space | TokenKind::Punctuation))
        .collect();
    assert_eq!(
        kinds,
        [
            ("repeat", TokenKind::Keyword),
            ("L", TokenKind::Param),
            ("1", TokenKind::Number),
            ("2", TokenKind::Number),
            ("with", TokenKind::Keyword),
            ("x", TokenKind::Tensor),
            ("y", TokenKind::Tensor),
            ("with", TokenKind::Tensor),
            ("repeat", TokenKind::Tensor),
            ("# end", TokenKind::Comment),
        ]
    );
}

#[test]
fn tensors_may_be_called_like_the_keywords_of_a_block() {
    let text = "input with : f16[4]\nrepeat = relu(with)\nrepeat 2 with with = y {\n  y = add(with, repeat)\n}\n";
    assert_eq!(parse(text).diagnostics, []);
    assert_eq!(
        calls(text),
        [
            "repeat = (with)",
            "y.1 = (with repeat)",
            "y.2 = (y.1 repeat)"
        ]
    );
}

/// A text, and its diagnostics: severity, code, line and column, message.
type Case<'a> = (&'a str, &'a [(Severity, Code, (usize, usize), &'a str)]);

#[test]
fn what_is_wrong_with_a_block_is_told_once() {
    use Severity::{Error, Note, Warning};
    #[rustfmt::skip]
    let cases: &[Case<'_>] = &[
        ("input x : f16[4]\nrepeat 0 with x = y {\ny = relu(x)\n}",
            &[(Error, Code::NonPositiveSize, (2, 8), "the number of iterations is 0")]),
        ("param L = 2\ninput x : f16[4]\nrepeat L - 3 with x = y {\ny = relu(x)\n}",
            &[(Error, Code::NonPositiveSize, (3, 8), "the number of iterations is `L - 3` = -1")]),
        ("input x : f16[4]\nrepeat L with x = y {\ny = relu(x)\n}",
            &[(Error, Code::UnknownParam, (2, 8), "no param is called `L`")]),
        ("input x : f16[4]\nrepeat 1000000000000 with x = y {\ny = relu(x)\n}",
            &[(Error, Code::TooLong, (2, 8), "1000000000000 iterations are too many: written out, the blocks would exceed 1000000 bytes")]),
        ("input x : f16[4]\nrepeat 3 with x = h {\ny = relu(x)\n}",
            &[(Error, Code::UndeclaredTensor, (2, 19), "no op of the block writes `h`")]),
        ("input x : f16[4]\nrepeat 3 with x = y {\ny = = relu(x)\nz = exp(x)\n}",
            &[(Error, Code::Syntax, (3, 5), "expected the name of a function, found `=`")]),
        ("input x : f16[4]\nrepeat 3 with x = y, x = y {\ny = relu(x)\n}",
            &[(Error, Code::DuplicateDeclaration, (2, 22), "`x` is given twice")]),
        ("input x : f16[4]\nrepeat 3 with z = y {\nz = exp(x)\ny = relu(z)\n}",
            &[(Error, Code::DuplicateDeclaration, (2, 15), "`z` is written inside the block")]),
        ("input x : f16[4]\ninput u : f16[4]\na = relu(u)\nrepeat 3 with u = y {\ny = relu(x)\n}",
            &[(Note, Code::UnusedTensor, (4, 15), "no op of the block reads `u`")]),
        ("repeat 3 with x = y {\ny = relu(x) : f16[4]\n}",
            &[(Warning, Code::UndeclaredTensor, (2, 10), "`x` is not declared: its assumed size is that of `y`, f16[4]")]),
        ("input x : f16[4]\nrepeat 3 with x = y {\ny = add(x, b)\n}",
            &[(Error, Code::MissingShape, (3, 12), "the shape of `y` depends on `b`, which is not declared")]),
        ("input x : f16[4, 4]\nrepeat 3 with x = y {\nweight w : f16[4, 8]\ny = matmul(x, w)\n}",
            &[(Error, Code::ShapeMismatch, (4, 15), "in iteration 2, `x` f16[4, 8] and `w` f16[4, 8] do not multiply")]),
        ("input x : f16[4]\nrepeat 3 with x = y {\nweight w : f16[K]\ny = add(x, w)\n}",
            &[(Error, Code::UnknownParam, (3, 16), "no param is called `K`")]),
        ("input x : f16[4]\nrepeat 3 with x = y {\nweight w : f16[4]\ny = relu(x)\n}",
            &[(Note, Code::UnusedTensor, (3, 8), "no op reads `w`")]),
        ("input x : f16[4]\nrepeat 3 with x = y {\ny = add(x, z)\n}\nz = relu(y)",
            &[(Error, Code::Cycle, (3, 1), "the ops form a cycle")]),
        ("input x : f16[4, 4]\nrepeat 3 with x = y {\na = relu(x) @kernel 1\ns = sum(a) @kernel 1\nt = sum(s) @kernel 1\ny = add(t, x) @kernel 1\n}",
            &[(Warning, Code::IllegalKernel, (3, 13), "`@kernel 1` is not legal")]),
    ];
    for (text, expected) in cases {
        let all = found(text);
        let shown: Vec<_> = (all.iter())
            .map(|d| {
                let place = line_and_column(text, d.span.unwrap().start);
                (d.severity, d.code, place, d.message.clone())
            })
            .collect();
        assert_eq!(shown.len(), expected.len(), "{text}\n{shown:#?}");
        for (found, expected) in shown.iter().zip(*expected) {
            assert_eq!(
                (found.0, found.1, found.2),
                (expected.0, expected.1, expected.2),
                "{text}\n{shown:#?}"
            );
            assert!(found.3.starts_with(expected.3), "{text}\n{}", found.3);
        }
        assert!(all.iter().all(|d| d.hint.is_some()), "{text}");
    }
}

#[test]
fn the_declaration_that_is_proposed_fits_inside_and_outside_of_the_block() {
    let text = "input x : f16[4, 8]\nrepeat 3 with x = y {\ny = matmul(x, w) : f16[4, 8]\n}\n";
    let hint = found(text)[0].hint.clone().unwrap();
    let declaration = hint.trim_start_matches("declare it: ").trim_matches('`');
    assert_eq!(declaration, "weight w : f16[8, 8]");
    assert_eq!(found(&format!("{declaration}\n{text}")), []);
    assert_eq!(
        found(&text.replace("{\n", &format!("{{\n{declaration}\n"))),
        []
    );
}

#[test]
fn what_is_wrong_in_a_block_leaves_the_rest() {
    let text = "input x : f16[4]\nrepeat 1000000000 with x = y {\ny = relu(x)\n}\nz = exp(y)\n}\nrepeat 2 with y = b {\nb = tanh(y)\n";
    assert_eq!(
        calls(text),
        ["y.1 = (x)", "z = (y.1)", "b.1 = (y.1)", "b.2 = (b.1)"]
    );
    let unreadable = "input x : f16[4]\nrepeat {\ny = relu(x)\n}\nz = exp(y)\n";
    assert_eq!(calls(unreadable), ["y = (x)", "z = (y)"]);
}

#[test]
fn a_block_without_ops_repeats_nothing_however_often() {
    assert_eq!(
        calls("repeat 90000 {\n}\ny = relu(x) : f16[4]"),
        ["y = (x)"]
    );
}

#[test]
fn a_program_is_quick_by_its_ops_and_not_by_its_lines() {
    let text = |rounds: usize| {
        let text = format!("input x : f16[4]\nrepeat {rounds} with x = y {{\ny = relu(x)\n}}\n");
        parse(&text).program
    };
    assert!(is_quick(&text(2_000)));
    assert!(!is_quick(&text(2_001)));
}

/// A mark in a block is one of each round.
#[test]
fn a_mark_holds_in_its_round() {
    let text = "input x : f16[64, 64]\nrepeat 3 with x = y {\na = relu(x) @kernel 1\ny = exp(a) @kernel 1\n}\nb = relu(y) @kernel 1\nc = exp(b) @kernel 1\n";
    let analysis = analysed(text, &Options::of_policy(Policy::Manual));
    let names = |kernel: &fuseline_core::analysis::Kernel| -> Vec<&str> {
        (kernel.ops.iter())
            .map(|&op| &*analysis.graph.ops[op].name)
            .collect()
    };
    let kernels: Vec<_> = analysis.fused.kernels.iter().map(names).collect();
    assert_eq!(
        kernels,
        [["a.1", "y.1"], ["a.2", "y.2"], ["a.3", "y.3"], ["b", "c"]]
    );
}
