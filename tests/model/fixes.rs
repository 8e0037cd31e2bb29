//! Hints that propose a statement: with it, what they are about is gone, and nothing new is wrong.

use crate::random_graph::fusable_ops;
use fuseline::core::examples::EXAMPLES;
use fuseline::core::notation::import::{program_of_op_list, program_of_ops};
use fuseline::core::{Code, Diagnostic, Options, Severity, analyze_program, notation};
use fuseline::present::export::OpList;
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
