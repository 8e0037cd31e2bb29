//! Resolving a text to ops: element types, K, order, undeclared tensors, and random texts.

use fuseline::core::model::graph::SizeSource;
use fuseline::core::model::sizes::inferred_shape;
use fuseline::core::notation::parse;
use fuseline::core::resolve::{Resolved, resolve};
use fuseline::core::{
    Code, DType, KernelId, Op, OpId, OpType, Options, analyze_program, build_graph,
};
use proptest::prelude::*;
use std::fmt::Write;

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
            .all(|op| op.dtype == Some(DType::F16) && op.bytes_per_element == 2)
    );
    assert_eq!(ops[0].k, Some(4096));
    assert_eq!(ops[0].inputs, ["x", "w"]);
    assert_eq!(ops[2].function.as_deref(), Some("gelu"));
    assert_eq!(ops[3].function, None);
    assert_eq!(ops[3].op_type, OpType::Elementwise);
}

#[test]
fn size_expressions_follow_the_usual_precedence() {
    let text = "param S = 12\nparam H = 8\ninput x : f16[S + 2*H, (S + 2)*H, S/3/2, -S - -20, 10 - 3 - 2]\ny = neg(x)";
    assert_eq!(ops(text)[0].shape, [28, 112, 2, 8, 5]);
}

#[test]
fn element_types_come_from_the_first_input_or_the_annotation() {
    let head = "input h : f16[4, 4]\ninput s : f32[4, 4]\ninput c : bool[4, 4]\n";
    for (call, dtype) in [
        ("add(h, s)", DType::F16),
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
        assert_eq!(resolved.ops[0].bytes_per_element, dtype.bytes(), "{call}");
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
fn a_matmul_with_unknown_k_has_a_note_and_no_flops() {
    let unknown = |text: &str| {
        let found = resolved(text).diagnostics;
        found.iter().filter(|d| d.code == Code::UnknownK).count()
    };
    assert_eq!(unknown("y = matmul(u, v) : f16[8, 5]"), 1);
    assert_eq!(
        unknown(
            "input p : f16[7, 3]\ninput q : f16[9, 6]\ny = matmul(p, q, k=unknown) : f16[8, 5]"
        ),
        1
    );
    // One declared operand gives K.
    assert_eq!(
        unknown("input u : f16[8, 6]\ny = matmul(u, v) : f16[8, 5]"),
        0
    );

    let program = parse("y = matmul(u, v) : f16[8, 5]").program;
    let analysis = analyze_program(&program, &Options::default())
        .analysis
        .unwrap();
    assert!(analysis.fused.kernels[KernelId::new(0)].work.is_unknown);
}

/// Adding the declaration of the hint to the text resolves the warning and changes no byte.
#[test]
fn the_offered_declaration_says_what_was_inferred_or_assumed() {
    let head = "input x : f16[8, 6]\nweight m : f16[6, 5]\n";
    for (call, line, source) in [
        (
            "matmul(x, w) : f16[8, 5]",
            "weight w : f16[6, 5]",
            SizeSource::Inferred,
        ),
        (
            "matmul(x, w, transpose_b=true) : f16[8, 5]",
            "weight w : f16[5, 6]",
            SizeSource::Inferred,
        ),
        (
            "matmul(w, m) : f16[9, 5]",
            "input w : f16[9, 6]",
            SizeSource::Inferred,
        ),
        (
            "matmul(w, m, transpose_a=true) : f16[9, 5]",
            "input w : f16[6, 9]",
            SizeSource::Inferred,
        ),
        (
            "linear(x, w) : f16[8, 5]",
            "weight w : f16[5, 6]",
            SizeSource::Inferred,
        ),
        (
            "add(x, w) : f16[8, 6]",
            "input w : f16[8, 6]",
            SizeSource::Assumed,
        ),
        (
            "layer_norm(x, w) : f16[8, 6]",
            "weight w : f16[8, 6]",
            SizeSource::Assumed,
        ),
        (
            "matmul(w, x, k=4096) : f16[3, 7]",
            "input w : f16[3, 4096]",
            SizeSource::Inferred,
        ),
        (
            "matmul(x, w, k=4096, transpose_b=true) : f16[3, 7]",
            "weight w : f16[7, 4096]",
            SizeSource::Inferred,
        ),
        (
            "reshape(w) : f16[4, 6]",
            "input w : f16[4, 6]",
            SizeSource::Inferred,
        ),
        (
            "elementwise(w) : f32[4]",
            "input w : f32[4]",
            SizeSource::Assumed,
        ),
    ] {
        // Both declared tensors have a reader, so that there is no note about them.
        let text = format!("{head}y = {call}\nz = neg(x)\nv = neg(m)\n");
        let resolved = resolved(&text);
        let [warning] = &resolved.diagnostics[..] else {
            panic!("{call}: {:?}", resolved.diagnostics)
        };
        assert_eq!(warning.code, Code::UndeclaredTensor);
        assert_eq!(
            warning.hint,
            Some(format!("declare it: `{line}`")),
            "{call}"
        );

        let graph = build_graph(&resolved.ops, &resolved.externals).unwrap();
        let mut tensors = graph.tensors.ids();
        let w = tensors.find(|&t| graph.tensor_name(t) == "w").unwrap();
        let inferred = inferred_shape(&graph, OpId::new(0), w);
        assert_eq!(inferred.is_some(), source == SizeSource::Inferred, "{call}");
        let total = |text: &str| {
            let outcome = analyze_program(&parse(text).program, &Options::default());
            (
                outcome.analysis.unwrap().unfused.traffic,
                outcome.diagnostics.len(),
            )
        };
        let mended = total(&format!("{line}\n{text}"));
        assert_eq!(mended, (total(&text).0, 0), "{call}");
    }
}

#[test]
fn an_undeclared_tensor_is_warned_of_once_at_its_first_use() {
    let text = "a = relu(x) : f16[8]\nb = neg(x) : f16[8]\nc = add(x, y) : f16[8]";
    let places: Vec<_> = resolved(text)
        .diagnostics
        .iter()
        .map(|d| d.span.unwrap().start)
        .collect();
    assert_eq!(places, [text.find('x').unwrap(), text.find("y)").unwrap()]);
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
    let functions: Vec<&str> = fuseline::core::model::functions::FUNCTIONS
        .iter()
        .map(|f| f.name)
        .chain(["elementwise", "reduction", "nope"])
        .collect();
    let attributes: Vec<&str> = fuseline::core::model::functions::ATTRIBUTES
        .iter()
        .map(|a| a.name)
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

/// What one reader fixes counts at every reader, in bytes and in FLOPs.
#[test]
fn a_size_that_one_reader_fixes_counts_at_all_of_them() {
    let bytes = |text: &str| {
        let outcome = analyze_program(&parse(text).program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let external = |name: &str| {
            let mut tensors = analysis.graph.tensors.ids();
            let tensor = tensors.find(|&t| analysis.graph.tensor_name(t) == name);
            let traffic = &analysis.tensors[tensor.unwrap()];
            (traffic.bytes, traffic.source, traffic.unfused_bytes)
        };
        let unknown = outcome
            .diagnostics
            .iter()
            .filter(|d| d.code == Code::UnknownK);
        (external("x"), external("w"), unknown.count())
    };
    // The add broadcasts x: alone it would say 8 x 6 elements.
    let added = "weight w : f16[4, 6]\ny = matmul(x, w) : f16[8, 6]\nz = add(y, x) : f16[8, 6]\nv = neg(w)\n";
    let (x, ..) = bytes(added);
    assert_eq!(x, (2 * 8 * 4, SizeSource::Inferred, 2 * 2 * 8 * 4));
    // The relu tells x, so the matmul tells w and K; the order of the two does not matter.
    for text in [
        "y = relu(x) : f16[8, 16]\nz = matmul(x, w) : f16[8, 4]\n",
        "z = matmul(x, w) : f16[8, 4]\ny = relu(x) : f16[8, 16]\n",
        "z = matmul(x, w) : f32[8, 4]\ny = relu(x) : f16[8, 16]\nv = neg(w) : f16[16, 4]\n",
    ] {
        let (x, w, unknown) = bytes(text);
        assert_eq!(
            x,
            (2 * 8 * 16, SizeSource::Assumed, 2 * 2 * 8 * 16),
            "{text}"
        );
        assert_eq!((w.0, unknown), (2 * 16 * 4, 0), "{text}");
    }
    // A transposed operand of one matmul is a plain one of the next.
    let twice = "input a : f16[8, 6]\ny = matmul(a, w, transpose_b=true) : f16[8, 5]\nz = linear(x, w) : f16[3, 5]\n";
    let (x, w, unknown) = bytes(twice);
    assert_eq!((x.0, w.0, unknown), (2 * 3 * 6, 2 * 5 * 6, 0));
    // A reshape tells the number of elements, not a shape.
    let reshaped = "y = reshape(x) : f16[16, 8]\nz = matmul(x, w) : f16[8, 4]\n";
    let (x, w, unknown) = bytes(reshaped);
    assert_eq!((x.0, w.0, unknown), (2 * 128, 2 * 32, 1));
    // Packed operands hold more than the matmul reads.
    let packed = "y = matmul(x, w, k=4) : f16[8, 6]\nz = add(x, w) : f16[8, 12]\n";
    assert_eq!(bytes(packed).0.2, 2 * 8 * 4 + 2 * 8 * 12);
}

#[test]
fn the_warning_names_the_reader_that_fixes_a_size() {
    let text =
        "a = add(x, b) : f16[8, 6]\nweight w : f16[4, 6]\nmm: y = matmul(x, w) : f16[8, 6]\n";
    let messages: Vec<_> = resolved(text)
        .diagnostics
        .into_iter()
        .map(|d| d.message)
        .collect();
    assert_eq!(
        messages,
        [
            "`x` is not declared: another reader, `mm`, fixes it as f16[8, 4]",
            "`b` is not declared: it is assumed to be as large as `a`, f16[8, 6]",
        ]
    );
}
