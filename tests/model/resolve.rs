//! Resolving a text to ops: element types, K, order, and random texts.

use fuseline_core::model::element_size::ElementSize;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::notation::parse;
use fuseline_core::resolve::{Resolved, resolve};
use fuseline_core::{Code, DType, Op, OpType, build_graph};
use proptest::prelude::*;
use std::fmt::Write;
use strum::VariantArray;

pub(crate) fn resolved(text: &str) -> Resolved {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    resolve(&parsed.program)
}

/// The ops of a text without diagnostics.
pub(crate) fn ops(text: &str) -> Vec<Op> {
    let resolved = resolved(text);
    assert_eq!(resolved.diagnostics, [], "{text}");
    resolved.ops
}

#[test]
fn the_notation_of_the_readme_resolves() {
    let ops = ops("param S = 2048 in 128..16384 step 128
param H = 4096 in 256..16384 step 256
input  x : f16[S, H]
weight w : f16[H, 4*H]
weight b : f16[4*H]
ffn_up: y1 = matmul(x, w)
        y2 = add(y1, b)
        y3 = gelu(y2)
        y4 = elementwise(y3) : f16[S, 4*H]
");
    let names: Vec<_> = ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(names, ["ffn_up", "y2", "y3", "y4"]);
    assert!(ops.iter().all(|op| op.shape == [2048, 16384]));
    assert!(
        ops.iter()
            .all(|op| op.dtype == Some(DType::F16)
                && op.bytes_per_element == ElementSize::of_bytes(2))
    );
    assert_eq!(ops[0].k, Some(4096));
    assert_eq!(ops[0].inputs, ["x", "w"]);
    assert_eq!(ops[2].function, Some(Function::Gelu));
    assert_eq!(ops[3].function, None);
    assert_eq!(ops[3].op_type, OpType::Elementwise);
}

#[test]
fn size_expressions_follow_the_usual_precedence() {
    let text = "param S = 12\nparam H = 8\ninput x : f16[S + 2*H, (S + 2)*H, S/3/2, -S - -20, 10 - 3 - 2]\ny = neg(x)";
    assert_eq!(ops(text)[0].shape, [28, 112, 2, 8, 5]);
}

#[test]
fn element_types_come_from_the_inputs_or_the_annotation() {
    let head = "input h : f16[4, 4]\ninput s : f32[4, 4]\ninput c : bool[4, 4]\n";
    for (call, dtype) in [
        ("add(h, s)", DType::F32),
        ("add(s, h)", DType::F32),
        ("where(c, s, h)", DType::F32),
        ("cast(h, dtype=bf16)", DType::Bf16),
        ("cast(h) : i8[4, 4]", DType::I8),
        ("matmul(h, h)", DType::F16),
        ("matmul(h, h) : f32[4, 4]", DType::F32),
        ("linear(h, h) : f32[4, 4]", DType::F32),
        ("reduction(h) : f64[4]", DType::F64),
    ] {
        let resolved = resolved(&format!("{head}y = {call}"));
        assert_eq!(resolved.ops[0].dtype, Some(dtype), "{call}");
        assert_eq!(resolved.ops[0].bytes_per_element, dtype.size(), "{call}");
    }
}

#[test]
fn statements_may_stand_in_any_order() {
    let lines = [
        "input x : f16[8, 4]",
        "weight w : f16[4, 6]",
        "a = matmul(x, w)",
        "b = relu(a)",
        "c = add(b, a)",
    ];
    let sorted = ops(&lines.join("\n"));
    let mut mixed = ops(&lines.iter().rev().copied().collect::<Vec<_>>().join("\n"));
    assert_eq!(
        mixed.iter().map(|op| op.name.as_str()).collect::<Vec<_>>(),
        ["c", "b", "a"]
    );
    mixed.reverse();
    assert_eq!(mixed, sorted);
}

#[test]
fn what_depends_on_an_error_is_left_out_without_another_one() {
    let text = "input x : f16[8]\ny = gellu(x)\nz = relu(y)\nu = neg(x)\nv = add(z, u) : f16[8]";
    let resolved = resolved(text);
    assert_eq!(resolved.diagnostics.len(), 1);
    assert_eq!(resolved.ops.len(), 1);
    assert_eq!(resolved.statement_of_op, [2]);
}

#[test]
fn a_declaration_whose_size_is_wrong_takes_its_readers_with_it() {
    let resolved = resolved("input x : f16[8 / 3]\ny = relu(x)");
    assert_eq!(
        resolved
            .diagnostics
            .iter()
            .map(|d| d.code)
            .collect::<Vec<_>>(),
        [Code::InexactDivision]
    );
    assert_eq!((resolved.ops.len(), resolved.externals.len()), (0, 0));
}

#[test]
fn a_cycle_leaves_the_rest_of_the_program() {
    let resolved = resolved(
        "input x : f16[8]\na = add(x, c)\nb = relu(a)\nc = relu(b)\nd = neg(c)\ne = neg(x)",
    );
    assert_eq!(resolved.diagnostics.len(), 1);
    assert_eq!(
        resolved
            .ops
            .iter()
            .map(|op| op.name.as_str())
            .collect::<Vec<_>>(),
        ["e"]
    );
}

#[test]
fn k_follows_from_the_operands_or_is_stated() {
    let head = "input a : f16[8, 6]\ninput p : f16[2, 8, 12]\ninput w : f16[5, 6]\ninput i : f16[1, 6, 9, 9]\nweight f : f16[4, 3, 3, 3]\n";
    for (call, k) in [
        ("matmul(a, w, transpose_b=true)", Some(6)),
        ("matmul(a, a, transpose_a=true)", Some(8)),
        ("linear(a, w)", Some(6)),
        ("conv2d(i, f, groups=2)", Some(3 * 3 * 3)),
        ("matmul(p, p, k=2*2) : f16[2, 8, 8]", Some(4)),
        ("matmul(p, p, k=unknown) : f16[2, 8, 8]", None),
        // The weight alone gives K.
        ("linear(u, w) : f16[8, 5]", Some(6)),
        ("conv2d(u, f) : f16[1, 4, 9, 9]", Some(27)),
        ("matmul(u, v) : f16[8, 5]", None),
    ] {
        assert_eq!(resolved(&format!("{head}y = {call}")).ops[0].k, k, "{call}");
    }
}

#[test]
fn findings_stand_in_text_order_and_name_their_statement() {
    let text = "c = relu(b)\nb = foo(a)\na = bar(x)\ninput x : f16[0]\ninput unused : f16[1]\nd = baz(e) : f16[2]";
    let diagnostics = resolved(text).diagnostics;
    let starts: Vec<_> = diagnostics.iter().map(|d| d.span.unwrap().start).collect();
    assert!(starts.is_sorted());
    let named: Vec<_> = diagnostics.iter().map(|d| (d.code, d.op)).collect();
    assert_eq!(
        named,
        [
            (Code::UnknownFunction, Some(1)),
            (Code::UnknownFunction, Some(2)),
            (Code::NonPositiveSize, None),
            (Code::UnusedTensor, None),
            (Code::UnknownFunction, Some(3)),
        ]
    );
}

#[test]
fn twenty_thousand_ops_in_the_worst_order_and_a_name_of_10_kb() {
    let name = "n".repeat(10_000);
    let mut text = String::new();
    for i in (1..20_000).rev() {
        writeln!(text, "t{i} = relu(t{})", i - 1).unwrap();
    }
    writeln!(text, "t0 = relu({name})\ninput {name} : f16[4, 4]").unwrap();
    let ops = ops(&text);
    assert_eq!(ops.len(), 20_000);
    assert!(ops.iter().all(|op| op.shape == [4, 4]));
}

#[test]
fn a_text_full_of_errors_stays_readable() {
    let name = "n".repeat(10_000);
    let mut text = format!("a = {name}(b)\nc = relu({name})\nd = relu(b, {name}={name})\n");
    for i in 0..5_000 {
        writeln!(text, "t{i} = reluu{i}(u{i}) : f16[P{i}]\nv{i} = relu(w{i})").unwrap();
    }
    let diagnostics = resolved(&text).diagnostics;
    assert_eq!(diagnostics.len(), 10_003);
    assert!(diagnostics.iter().all(|d| d.message.len() < 200));
}

/// A valid statement of the notation, or an almost valid one.
fn any_statement() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "x", "y", "S", "H"]);
    let size = || {
        prop::sample::select(vec![
            "1",
            "4",
            "S",
            "H",
            "S*H",
            "H/S",
            "S-4",
            "-1",
            "0",
            "3000000000",
            "9223372036854775807",
        ])
    };
    let shape = || prop::collection::vec(size(), 0..5).prop_map(|s| format!("[{}]", s.join(", ")));
    let dtype = || prop::sample::select(vec!["f16", "f32", "i8"]);
    let functions: Vec<&str> = Function::VARIANTS
        .iter()
        .map(|f| f.name())
        .chain(["elementwise", "reduction", "nope"])
        .collect();
    let attributes: Vec<&str> = AttributeName::VARIANTS
        .iter()
        .map(|a| a.name())
        .chain(["nope"])
        .collect();
    let value = prop_oneof![
        size().prop_map(str::to_owned),
        shape(),
        prop::sample::select(vec!["true", "false", "unknown", "0.5", "f32", "-2", "2"])
            .prop_map(str::to_owned),
    ];
    let attribute = (prop::sample::select(attributes), value)
        .prop_map(|(name, value)| format!("{name}={value}"));
    let annotation = prop::option::of((dtype(), shape()).prop_map(|(d, s)| format!(" : {d}{s}")));
    let op = (
        name(),
        prop::sample::select(functions),
        prop::collection::vec(name(), 0..4),
        prop::collection::vec(attribute, 0..3),
        annotation,
    )
        .prop_map(|(output, callee, inputs, attributes, annotation)| {
            let arguments: Vec<String> = inputs
                .iter()
                .map(|&i| i.to_owned())
                .chain(attributes)
                .collect();
            format!(
                "{output} = {callee}({}){}",
                arguments.join(", "),
                annotation.unwrap_or_default()
            )
        });
    prop_oneof![
        1 => (name(), -2_i64..100).prop_map(|(name, value)| format!("param {name} = {value}")),
        2 => (name(), dtype(), shape()).prop_map(|(name, d, s)| format!("input {name} : {d}{s}")),
        4 => op,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Total and deterministic; the next phase accepts the list unless its bytes overflow.
    #[test]
    fn any_program_resolves(statements in prop::collection::vec(any_statement(), 0..12)) {
        let text = statements.join("\n");
        let program = parse(&text).program;
        let resolved = resolve(&program);
        prop_assert_eq!(&resolved, &resolve(&program));
        prop_assert_eq!(resolved.ops.len(), resolved.statement_of_op.len());
        for (op, &statement) in resolved.ops.iter().zip(&resolved.statement_of_op) {
            prop_assert_eq!(&op.output, &program.ops[statement].output.text);
            prop_assert!(!op.shape.contains(&0) && op.dtype.is_some());
        }
        for diagnostic in &resolved.diagnostics {
            let span = diagnostic.span.unwrap();
            prop_assert!(text.get(span.start..span.end).is_some());
            prop_assert!(!diagnostic.message.ends_with('.'));
        }
        if let Err(problems) = build_graph(&resolved.ops, &resolved.externals) {
            prop_assert!(problems.iter().all(|p| p.code == Code::Overflow), "{:?}", problems);
        }
    }

    #[test]
    fn any_text_resolves(text in ".{0,200}") {
        resolve(&parse(&text).program);
    }
}
