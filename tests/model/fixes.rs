//! Hints that propose a statement: with it, what they are about is gone, and nothing new is wrong.

use crate::notation_diagnostics_cases::CASES as NOTATION;
use crate::random_graph::fusable_ops;
use crate::resolve_errors::CASES as RESOLVE;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::notation::import::{program_of_op_list, program_of_ops};
use fuseline_core::resolve::resolve;
use fuseline_core::{Code, Diagnostic, Options, Severity, analyze_program, notation};
use fuseline_view::present::export::OpList;
use proptest::prelude::*;

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let parsed = notation::parse(text);
    let outcome = analyze_program(&parsed.program, &Options::default());
    [parsed.diagnostics, outcome.diagnostics].concat()
}

/// The statement that a hint proposes to add.
fn declaration(hint: &str) -> Option<&str> {
    let (_, rest) = hint.split_once("declare it: `")?;
    rest.strip_suffix('`')
}

/// The text with every declaration that its hints propose.
fn with_all_declarations(text: &str) -> String {
    let all = diagnostics(text);
    let hints = all.iter().filter_map(|found| found.hint.as_deref());
    let lines: Vec<_> = hints.filter_map(declaration).collect();
    format!("{}\n{text}", lines.join("\n"))
}

/// Errors that come, and proposals that are left, when all proposed declarations are followed.
fn left_over(text: &str) -> Vec<String> {
    let is_wrong = |found: &Diagnostic| {
        found.severity == Severity::Error || found.hint.as_deref().and_then(declaration).is_some()
    };
    let all = diagnostics(&with_all_declarations(text)).into_iter();
    all.filter(is_wrong).map(|found| found.message).collect()
}

fn assert_mended(text: &str) {
    assert_eq!(left_over(text), [""; 0], "{}", with_all_declarations(text));
}

#[test]
fn what_rounds_share_is_declared_before_their_block() {
    let text =
        "input x : f16[8, 8]\nrepeat 3 with x = y {\n  z = matmul(x, w)\n  y = add(z, x)\n}\n";
    let all = diagnostics(text);
    let mended = sound_fixes(text, &all)
        .into_iter()
        .flatten()
        .map(|fix| fix.applied(text).unwrap());
    let mended: Vec<_> = mended.collect();
    assert!(!mended.is_empty());
    for text in &mended {
        let program = notation::parse(text).program;
        assert_eq!(program.declarations.len(), 2, "{text}");
        // In the block it would be one tensor for each round.
        let block = &program.blocks[0];
        assert!(
            program.declarations[1].span.end < block.span.start,
            "{text}"
        );
    }
}

#[test]
fn all_proposed_declarations_hold_together() {
    let texts = [
        "y = matmul(x, w) : f16[1024, 4096]\n",
        "y = matmul(x, w, k=64) : f16[1024, 4096]\n",
        "y = matmul(x, w, transpose_b=true) : f16[1024, 4096]\n",
        "y = matmul(x, w, transpose_a=true) : f16[1024, 4096]\n",
        "y = matmul(x, w) : f16[8, 1024, 4096]\n",
        "y = matmul(x, x) : f16[64, 64]\n",
        "input x : f16[128, 64]\ny = matmul(x, w) : f16[128, 32]\nz = matmul(y, v) : f16[128, 16]\n",
        "y = relu(x) : f16[8, 16]\nz = matmul(x, w) : f16[8, 4]\n",
        "z = matmul(x, w) : f16[8, 4]\ny = relu(x) : f16[8, 16]\n",
        "z = matmul(x, w) : f16[8, 4]\ny = matmul(w, v) : f16[4, 6]\n",
        "y = add(x, b) : f16[8, 16]\nz = add(y, b)\n",
        "y = linear(x, w, b) : f16[8, 16]\n",
        "y = linear(x, w) : f16[2, 8, 16]\n",
        "y = where(m, a, b) : f16[8]\n",
        "y = conv2d(x, w) : f16[1, 64, 56, 56]\n",
        "y = conv2d(x, w, b) : f16[1, 64, 56, 56]\n",
        "y = layer_norm(x, g, b) : f16[8, 16]\n",
        "y = batch_norm(x, s, b) : f16[1, 64, 56, 56]\n",
        "y = reshape(x) : f16[8, 16]\n",
        "y = transpose(x) : f16[8, 16]\n",
        "y = concat(a, b) : f16[8, 16]\n",
        "y = concat(a, b, c) : f16[8, 16]\n",
        "input a : f16[8, 6]\ny = concat(a, b) : f16[8, 16]\n",
        "y = transpose(x, perm=[2, 0, 1]) : f16[8, 16, 4]\n",
        "y = split(x, parts=3) : f16[8, 16]\n",
        "y = sum(x, axis=[0, 2], keepdim=false) : f16[16]\n",
        "y = max_pool2d(x, kernel=3, stride=2, padding=1) : f16[1, 64, 28, 28]\n",
        "y = conv2d(x, w, stride=2, padding=3) : f16[1, 64, 112, 112]\n",
        "y = conv2d(x, w, groups=64, padding=1) : f16[1, 64, 56, 56]\n",
        "input w : f16[64, 3, 7, 7]\ny = conv2d(x, w, stride=2, padding=3) : f16[1, 64, 112, 112]\n",
        "y = softmax(x) : f16[8, 16]\n",
        "y = sum(x) : f16[8, 1]\n",
        "y = slice(x, start=2, end=6, axis=0) : f16[4, 8]\n",
        "y = slice(x, start=2, axis=0) : f16[4, 8]\n",
        "y = elementwise(a, b) : f16[8, 16]\n",
        "y = reduction(a) : f16[8, 1]\n",
    ];
    for text in texts {
        assert_mended(text);
        let all = diagnostics(&with_all_declarations(text));
        let undeclared = all
            .iter()
            .find(|found| found.code == Code::UndeclaredTensor);
        assert_eq!(undeclared, None, "{text}");
    }
}

#[test]
fn the_declarations_of_every_example_can_be_proposed_anew() {
    for example in EXAMPLES {
        let parsed = notation::parse(example.text);
        let outcome = analyze_program(&parsed.program, &Options::default());
        let graph = outcome.analysis.unwrap().graph;
        // Each op with its shape, and no tensor declared.
        let list = OpList::new(&graph).with_attributes(&parsed.program, &outcome.statement_of_op);
        let mut json = serde_json::to_value(list).unwrap();
        json["tensors"].take();
        let undeclared = program_of_op_list(&serde_json::from_value(json).unwrap());
        assert_mended(&notation::print(&undeclared.program));
    }
}

#[test]
fn a_tensor_that_no_shape_fits_is_not_proposed() {
    let text = "y = transpose(x) : f16[8, 16]\nz = relu(x) : f16[8, 16]\n";
    let hints: Vec<_> = diagnostics(text)
        .into_iter()
        .filter_map(|found| found.hint)
        .collect();
    assert_eq!(
        hints,
        ["declare it with its size, which its readers leave open"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn declarations_proposed_for_random_programs_hold_together((ops, _) in fusable_ops(1..=12)) {
        let (program, _) = program_of_ops(&ops, &[]);
        assert_mended(&notation::print(&program));
    }
}

/// What is found in a text, and the outputs of statements that were left out because of an error
/// elsewhere.
struct Found {
    all: Vec<Diagnostic>,
    left_out: Vec<String>,
}

fn found(text: &str) -> Found {
    let parsed = notation::parse(text);
    let resolved = resolve(&parsed.program);
    let is_told = |place: &usize| {
        resolved.statement_of_op.contains(place)
            || resolved.diagnostics.iter().any(|d| d.op == Some(*place))
    };
    let left_out = (0..parsed.program.ops.len()).filter(|place| !is_told(place));
    Found {
        left_out: left_out
            .map(|place| parsed.program.ops[place].output.text.clone())
            .collect(),
        all: diagnostics(text),
    }
}

/// A diagnostic without the number of the line that it names: a fix may move that line.
fn kind(found: &Diagnostic) -> (Code, String) {
    let parts = found.message.split("line ");
    let without_numbers = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    (
        found.code,
        without_numbers.collect::<Vec<_>>().join("line "),
    )
}

/// Applies each fix of a text by itself, and says how many there were.
fn assert_fixes_hold(text: &str) -> usize {
    let before = found(text);
    let fixes = sound_fixes(text, &before.all);
    for (about, fix) in before
        .all
        .iter()
        .zip(&fixes)
        .flat_map(|(d, all)| all.iter().map(move |f| (d, f)))
    {
        let corrected = fix.applied(text).unwrap();
        let after = diagnostics(&corrected);
        let count = |all: &[Diagnostic], wanted: &(Code, String)| {
            all.iter().filter(|d| kind(d) == *wanted).count()
        };
        let say = || {
            format!(
                "{:?}\n{}: {}\n{text}\n---\n{corrected}",
                fix.label,
                about.message,
                about.hint.as_deref().unwrap_or("")
            )
        };
        assert!(
            count(&after, &kind(about)) < count(&before.all, &kind(about)),
            "still there: {}",
            say()
        );
        let program = notation::parse(&corrected).program;
        for new in after.iter().filter(|d| d.severity == Severity::Error) {
            let output = new
                .op
                .and_then(|op| program.ops.get(op))
                .map(|op| &op.output.text);
            let was_left_out = output.is_some_and(|output| before.left_out.contains(output));
            let was_there = count(&after, &kind(new)) <= count(&before.all, &kind(new));
            assert!(was_left_out || was_there, "new: {new:?} {}", say());
        }
    }
    fixes.iter().map(Vec::len).sum()
}

/// Wrong texts and what is offered for their errors.
#[rustfmt::skip]
const OFFERED: &[(&str, &[&str])] = &[
    ("input x : f16[4]\ny = gellu(x)", &["Write `gelu`"]),
    ("input x : f16[4]\ny = relu_(x)\nz = gelu(x)", &["Read `y`"]),
    ("input x : f16[4]\ny = sub_(1, x)", &["Write `sub`"]),
    ("input x : fp16[4]\ny = relu(x)", &["Write `f16`"]),
    ("param heads = 4\ninput x : f16[headz]\ny = relu(x)", &["Write `heads`"]),
    ("input x : f16[2*Q]\ny = relu(x)", &["Declare `param Q = 1024`"]),
    ("input embedding : f32[8, 6]\na = relu(embedding)\ny = relu(embeding)", &["Write `embedding`"]),
    ("y = relu(x)", &["Declare `input x : f16[1024, 1024]`"]),
    ("y = add(a, b)", &["Declare `input a : f16[1024, 1024]` and 1 more"]),
    // A condition is true or false, an index a whole number; neither has the type of the values.
    ("input x : f16[8, 6]\ny = where(m, x, -inf)", &["Declare `input m : bool[8, 6]`"]),
    ("input m : bool[8, 6]\ny = where(m, x, 0)", &["Declare `input x : f16[8, 6]`"]),
    ("y = where(m, x, 0) : bf16[8, 6]", &["Declare `input m : bool[8, 6]`", "Declare `input x : bf16[8, 6]`"]),
    ("y = logical_and(a, b)", &["Declare `input a : bool[1024, 1024]` and 1 more"]),
    ("y = lt(a, b) : bool[8, 6]", &["Declare `input a : f16[8, 6]`", "Declare `input b : f16[8, 6]`"]),
    ("input a : f32[8, 6]\ny = lt(a, b) : bool[8, 6]", &["Declare `input b : f32[8, 6]`"]),
    ("input t : f16[8, 6]\ny = embedding(i, t)", &["Declare `input i : i64[1024]`"]),
    ("input i : i64[8]\ny = embedding(i, t)", &["Declare `weight t : f16[1024, 1024]`"]),
    ("input x : f16[8, 6]\ny = gather(x, i)", &["Declare `input i : i64[8, 6]`"]),
    ("input x : f16[8, 6]\ny = matmul(x, w)", &["Declare `weight w : f16[6, 1024]`"]),
    ("input x : f16[8, 6]\ny = matmul(x, w) : f16[8, 5]", &["Declare `weight w : f16[6, 5]`"]),
    ("input x : f16[8, 6]\ny = sum(x) : f16[8]", &["Write `f16[8, 1]`", "Remove the annotation"]),
    ("input x : f16[8, 6]\ny = relu(x) : f32[8, 6]", &["Write `f16`"]),
    ("input x : f16[8, 6]\ny = cast(x)", &["Write `dtype=f32`"]),
    ("input x : f16[8, 6]\ny = elementwise(x) @kernel 1", &["Write `: f16[8, 6]`"]),
    ("y = arange()", &["Write `: f16[1024]`"]),
    ("input x : f16[8, 6]\ninput w : f16[5, 6]\ny = matmul(x, w)", &["Write `transpose_b=true`"]),
    ("input x : f16[8, 6]\nweight w : f16[6, 5]\ny = linear(x, w)", &["Write `matmul`"]),
    ("input x : f16[8, 6]\ny = matmul(x, x, k=6)", &[]),
    ("input x : f16[6, 6]\ny = matmul(x, x, k=6)", &["Remove `k=`"]),
    ("input x : f16[8, 6]\ny = split(x)", &["Write `parts=2`"]),
    ("input x : f16[1, 8, 6, 6]\ny = max_pool2d(x)", &["Write `kernel=2`"]),
    ("input x : f16[8, 6]\ny = pad(x)", &["Write `pad=[1, 1]`"]),
    ("input x : f16[8, 6]\ny = softmax(x, axis=5)", &["Write `axis=-1`"]),
    ("input x : f16[8, 6]\ny = softmax(x, -1)", &["Write `axis=-1`"]),
    ("y = softmax(x, axis=5) : f16[8, 6]", &["Write `axis=-1`"]),
    ("input m : bool[8, 6]\ny = mean(m)", &["Write `cast(m, dtype=f32)`"]),
    ("input x : f16[8]\ny = softmax(x, axs=0)", &["Write `axis`", "Remove `axs`"]),
    ("input x : f16[8]\ny = relu(x, axis=0)", &["Remove `axis`"]),
    ("input x : f16[8]\ny = relu(x, x, x)", &["Remove the last 2 inputs"]),
    ("input x : f16[8]\ny = sum(x, axis=0, axis=0)", &["Remove the second `axis`"]),
    ("input x : f16[8]\ny = sum(axis=0, x)", &["Move `x` to the front"]),
    ("input x : f16[8]\ny = relu(x", &["Close it with `)`"]),
    ("input x : f16[8\ny = relu(x)", &["Close it with `]`"]),
    ("input x : f16[8]\ny = relu(x : f16[8]", &["Close the bracket with `)`"]),
    ("input x : f16[8]\ny = add(x x)", &["Insert a comma"]),
    ("input x : f16[8]\ny = relu(x))", &["Remove `)`"]),
    ("input x : f16[8] y = relu(x)", &["Start a new line here", "Make the rest a comment"]),
    ("input x : f16[8]\ny = relu(x) z = relu(y)", &["Start a new line here", "Make the rest a comment"]),
    ("input x : f16[8]\nh = relu(x)\ny = relu(h)\noutput h, y", &["Write `output h`, `output y`"]),
    ("input a : f16[8, 6], b : f16[8, 6], c: f16[6]\nt = add(a, b)\ny = add(t, c)", &["Write `input a : f16[8, 6]`, `input b : f16[8, 6]`, `input c : f16[6]`"]),
    ("weight v, w : f16[8]\ny = add(v, w)", &["Write `weight v : f16[8]`, `weight w : f16[8]`"]),
    ("input a, b\ny = add(a, b)", &[]),
    ("input x : f16[8]\ny = relu(x); z = relu(y)", &["Start a new line here"]),
    ("input x : f16[8]\ny = relu(`x)", &["Close the name here"]),
    ("param H = 2\ninput x : f16[4H]\ny = relu(x)", &["Write `4*H`"]),
    ("param H = 2\ninput x : f16[4×H]\ny = relu(x)", &["Write `*` instead"]),
    ("weight x : [4]\ny = relu(x)", &["Insert the element type `f16`"]),
    ("param S = 8\nparam S = 9\ninput x : f16[S]\ny = relu(x)", &["Remove this line"]),
    ("input x : f16[4]\nweight x : f16[4]\ny = relu(x)", &["Remove this line"]),
    ("input x : f16[4]\ny = relu(x)\ninput y : f16[4]", &["Remove the declaration"]),
    ("input x : f16[4]\ny = relu(x)\ny = gelu(y)", &["Call it `y_2`"]),
    ("input x : f16[4]\na: y = relu(x)\na: z = gelu(x)", &["Call it `a_2`"]),
    ("input x : f16[4]\nz: y = relu(x)\nz = gelu(x)", &["Call it `z_2`"]),
    ("input x : f16[4]\ny = relu(x)\noutput y\noutput y", &["Remove this line"]),
    ("input x : f16[4]\ny = relu(x)\noutput q", &["Remove this line"]),
    ("input x : f16[4]\ninput z : f16[4]\ny = relu(x)", &["Remove this line"]),
    ("param S = 0 in 4..16\ninput x : f16[S]\ny = relu(x)", &["Change the value to 4"]),
    ("param S = 99 in 1..16\ninput x : f16[S]\ny = relu(x)", &["Change the value to 16", "Widen the range to 1..99"]),
    ("param S = 8 in 16..1\ninput x : f16[S]\ny = relu(x)", &["Write the range as 1..16"]),
    ("param n = 5 in 1..8 dividing 64\ninput x : f16[n]\ny = relu(x)", &["Change the value to 4"]),
    ("input p : f16[7, 3]\ninput q : f16[9, 6]\ny = matmul(p, q, k=unknown) : f16[8, 5]", &["Write `k=1024`"]),
    // The shape of a reshape, an input, or a way out of a cycle is for the visitor to say.
    ("input x : f16[8, 6]\ny = reshape(x)", &[]),
    ("input x : f16[8]\ny = add(x)", &[]),
    ("x = relu(x)", &[]),
    // What follows from the line that is mended was not looked at before, so its own error is not
    // new.
    ("input x : f16[4]\ny = gellu(x)\nz = add(y, q)", &["Write `gelu`"]),
    // With one of the two brackets more the statement would call `gelu` with a number.
    ("input x : f16[4]\ny = gelu(x, 3", &[]),
];

#[test]
fn what_a_hint_proposes_is_offered_as_a_fix() {
    for (text, offered) in OFFERED {
        let all = diagnostics(text);
        let fixes = sound_fixes(text, &all);
        let labels: Vec<_> = fixes.iter().flatten().map(|fix| &fix.label).collect();
        assert_eq!(labels, *offered, "{text}: {all:?}");
        assert_eq!(assert_fixes_hold(text), offered.len());
    }
}

#[test]
fn a_fix_edits_the_text_as_its_label_says() {
    let fixed = |text: &str| {
        let fixes = sound_fixes(text, &diagnostics(text)).concat();
        fixes
            .iter()
            .map(|fix| fix.applied(text).unwrap())
            .collect::<Vec<_>>()
    };
    let texts = [
        (
            "  y = relu(x)  # first\n",
            "  input x : f16[1024, 1024]\ny = relu(x)  # first\n",
        ),
        (
            "input x : f16[4]\r\ninput z : f16[4]\r\ny = relu(x)\r\n",
            "input x : f16[4]\r\ny = relu(x)\r\n",
        ),
        (
            "input x : f16[4]\ninput z : f16[4]  # spare\ny = relu(x)",
            "input x : f16[4]\n  # spare\ny = relu(x)",
        ),
        (
            "input x : f16[4]\ny = relu(x  # open\n",
            "input x : f16[4]\ny = relu(x)  # open\n",
        ),
        (
            "input a, b : f16[4]  # two\ny = add(a, b)\n",
            "input a : f16[4]\ninput b : f16[4]  # two\ny = add(a, b)\n",
        ),
        (
            "input x : f16[4]\nh = relu(x)\ny = relu(h)\noutput h, y",
            "input x : f16[4]\nh = relu(x)\ny = relu(h)\noutput h\noutput y",
        ),
        (
            "input x : f16[4]\ny = relu(x)\noutput q # no\n",
            "input x : f16[4]\ny = relu(x)\n # no\n",
        ),
    ];
    for (text, expected) in texts {
        assert_eq!(
            fixed(text).first().map(String::as_str),
            Some(expected),
            "{text}"
        );
    }
}

#[test]
fn a_text_in_another_form_has_no_fixes() {
    let list = "[{\"name\": \"y\", \"op_type\": \"elementwise\", \"inputs\": [\"x\"], \"output\": \"y\", \"shape\": [4], \"bytes_per_element\": 2}]";
    let outcome = analyze_program(
        &notation::parse("y = relu(x) : f16[4]").program,
        &Options::default(),
    );
    assert!(!outcome.diagnostics[0].fixes.is_empty());
    assert_eq!(sound_fixes(list, &outcome.diagnostics), [vec![]]);
}

#[test]
fn the_fixes_of_every_bad_input_hold() {
    let texts = NOTATION.iter().map(|case| case.0);
    let texts = texts.chain(RESOLVE.iter().map(|case| case.text));
    let offered: usize = texts.map(assert_fixes_hold).sum();
    assert!(offered > 30, "{offered}");
}

/// A text with one token of an example deleted, doubled, or replaced by another one.
fn mutated() -> impl Strategy<Value = String> {
    const TOKENS: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        ":",
        "*",
        "x",
        "y",
        "4",
        "0",
        "f32",
        "relu",
        "matmul",
        "axis=-1",
        "param S = 4",
        "`",
        "×",
        "@kernel 1",
        "\n",
    ];
    let change = (
        any::<prop::sample::Index>(),
        0..4_usize,
        prop::sample::select(TOKENS),
    );
    (
        prop::sample::select(EXAMPLES),
        prop::collection::vec(change, 1..4),
    )
        .prop_map(|(example, changes)| {
            let mut text = example.text.to_owned();
            for (place, kind, token) in changes {
                let spans = pieces(&text);
                let span = spans[place.index(spans.len())].clone();
                let own = text[span.clone()].to_owned();
                let new = match kind {
                    0 => String::new(),
                    1 => format!("{own} {own}"),
                    2 => token.to_owned(),
                    // A misspelt word.
                    _ => own.chars().skip(1).collect(),
                };
                text.replace_range(span, &new);
            }
            text
        })
}

/// The words and signs of a text.
fn pieces(text: &str) -> Vec<std::ops::Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut pieces: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let end = at + c.len_utf8();
        match pieces.last_mut() {
            Some(last) if last.end == at && is_word(c) && text[last.clone()].ends_with(is_word) => {
                last.end = end;
            }
            _ => pieces.push(at..end),
        }
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fixes_of_mutated_examples_hold(text in mutated()) {
        assert_fixes_hold(&text);
    }
}

#[test]
fn few_fixes_are_tried_on_a_text_that_is_long_when_its_blocks_are_written_out() {
    let fixes = |rounds: usize| {
        let text = format!(
            "input x : f16[8]\nrepeat {rounds} with x = y {{\n  a = rleu(x)\n  b = rleu(a)\n  y = rleu(b)\n}}\n"
        );
        sound_fixes(&text, &diagnostics(&text)).concat().len()
    };
    assert_eq!(fixes(3), 3);
    assert_eq!(fixes(3_000), 1);
}

#[test]
fn a_fix_edits_the_text_where_it_says() {
    use fuseline_core::{Fix, Span, TextEdit};
    let fix = Fix::new("Write `relu`", TextEdit::replace(Span::new(4, 8), "relu"));
    assert_eq!(fix.applied("y = rleu(x)").as_deref(), Some("y = relu(x)"));
}
