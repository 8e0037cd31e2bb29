//! JSON lists of ops and pasted `Op(...)` lines, imported as programs with the same meaning.

use crate::spans::without_spans;
use fuseline_core::analysis::transformer;
use fuseline_core::cost::work::matmul_k;
use fuseline_core::notation::import::{
    Form, OpList, form_of, program_of_op_list, program_of_ops, read_op_lines,
};
use fuseline_core::notation::{Parsed, parse, print};
use fuseline_core::resolve::resolve;
use fuseline_core::{DType, Graph, Op, OpType, TensorDecl, build_graph};
use serde_json::{Value, json};

/// The text of the exercise, with the statements around its ops.
const EXERCISE: &str = r#"
```python
ops = [
    Op("matmul1", "matmul", ["x", "w1"], "y1", (1024, 4096), 2),
    Op("bias1", "elementwise", ["y1", "b1"], "y2", (1024, 4096), 2),  # Op("no", "this is a comment")
    Op("relu", "elementwise", ["y2"], "y3", (1024, 4096), 2),
    Op("matmul2", "matmul", ["y3", "w2"], "y4", (1024, 1024), 2),
]

groups = find_fusion_groups(ops)
# Expected: [[matmul1, bias1, relu], [matmul2]]
```
"#;

const EXERCISE_NOTATION: &str = "\
matmul1: y1 = matmul(x, w1) : f16[1024, 4096]
bias1:   y2 = elementwise(y1, b1) : f16[1024, 4096]
relu:    y3 = elementwise(y2) : f16[1024, 4096]
matmul2: y4 = matmul(y3, w2) : f16[1024, 1024]
";

fn from_json(list: Value) -> Parsed {
    program_of_op_list(&serde_json::from_value::<OpList>(list).unwrap())
}

#[test]
fn the_exercise_is_read() {
    assert_eq!(form_of(EXERCISE), Form::OpLines);
    let parsed = read_op_lines(EXERCISE);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(print(&parsed.program), EXERCISE_NOTATION);
    let relu = &parsed.program.ops[2];
    assert_eq!(
        relu.span.slice(EXERCISE),
        r#"Op("relu", "elementwise", ["y2"], "y3", (1024, 4096), 2)"#
    );
    assert_eq!(relu.output.span.slice(EXERCISE), r#""y3""#);
}

#[test]
fn python_may_be_written_in_many_ways() {
    let text = r#"
ops.append(Op(name='a', op_type="elementwise", inputs=('x',), output='y', shape=[1_024], bytes_per_element = 4))
ops.append(Op("b", "matmul",
    ["y", "it's \"w\"",],  # two
    "z", (1024, 8,), 2, contraction=16, function=None, note="ignored"
))
Op('c', 'reduction', ("z"), 'c', (1024), 8, dtype='i64')
"#;
    let parsed = read_op_lines(text);
    assert_eq!(parsed.diagnostics, []);
    let expected = "\
a: y = elementwise(x) : f32[1024]
b: z = matmul(y, `it's \"w\"`, k=16) : f16[1024, 8]
   c = reduction(z) : i64[1024]
";
    assert_eq!(print(&parsed.program), expected);
}

#[test]
fn a_list_may_state_kernels() {
    let list = json!([
        { "name": "y", "op_type": "elementwise", "inputs": ["x"], "output": "y", "shape": [8], "bytes_per_element": 4, "kernel": 3 },
        { "name": "z", "op_type": "elementwise", "inputs": ["y"], "output": "z", "shape": [8], "bytes_per_element": 4, "kernel": 3 },
        { "name": "q", "op_type": "elementwise", "inputs": ["z"], "output": "q", "shape": [8], "bytes_per_element": 4, "kernel": null },
    ]);
    let parsed = from_json(list.clone());
    assert_eq!(parsed.diagnostics, []);
    let expected = "\
y = elementwise(x) : f32[8] @kernel 3
z = elementwise(y) : f32[8] @kernel 3
q = elementwise(z) : f32[8]
";
    assert_eq!(print(&parsed.program), expected);
    let line = r#"Op("y", "elementwise", ["x"], "y", (8,), 4, kernel=3)"#;
    let line = read_op_lines(line);
    assert_eq!(
        print(&line.program),
        "y = elementwise(x) : f32[8] @kernel 3\n"
    );
    // An op with its kernel survives a round trip.
    let ops: Vec<Op> = serde_json::from_value(list).unwrap();
    assert_eq!(serde_json::to_value(&ops[0]).unwrap()["kernel"], 3);
    assert_eq!(
        serde_json::to_value(&ops[2]).unwrap()["kernel"],
        Value::Null
    );
    for wrong in [
        json!("3"),
        json!(-1),
        json!(1.5),
        json!(4_294_967_296_u64),
        json!([3]),
    ] {
        let parsed = from_json(json!([
            { "name": "y", "op_type": "elementwise", "inputs": ["x"], "output": "y", "shape": [8], "bytes_per_element": 4, "kernel": wrong },
        ]));
        assert_eq!(
            parsed.diagnostics[0].message,
            "op 1 (`y`): `kernel` is not a kernel number"
        );
    }
}

#[test]
fn forms_are_told_apart() {
    let forms = [
        ("", Form::Notation),
        ("y = relu(x)", Form::Notation),
        ("# Op(\ny = Op(x)", Form::Notation),
        ("  \n[{\"name\": 1}]", Form::Json),
        ("\u{feff}{\"ops\": []}", Form::Json),
        ("{\"about\": \"[Op(\"}", Form::Json),
        ("[]", Form::Json),
        ("[Op(\"a\"", Form::OpLines),
        ("import numpy\n\n  Op(\"a\"", Form::OpLines),
        ("ops = [Op(\"a\"", Form::OpLines),
    ];
    for (text, form) in forms {
        assert_eq!(form_of(text), form, "{text}");
    }
}

/// The properties of an op that traffic and fusion rules look at.
fn essence(op: &Op) -> Op {
    let inputs: Vec<&str> = op.inputs.iter().map(String::as_str).collect();
    Op::new(
        &op.name,
        op.op_type,
        &inputs,
        &op.output,
        &op.shape,
        op.bytes_per_element.addressed_bytes(),
    )
}

/// Imports, prints, parses and resolves; asserts the same ops, tensors and K.
fn check_round_trip(ops: &[Op], tensors: &[TensorDecl], from: &Parsed) {
    assert_eq!(from.diagnostics, []);
    let parsed = parse(&print(&from.program));
    assert_eq!(parsed.diagnostics, []);
    let resolved = resolve(&parsed.program);
    let essences = |ops: &[Op]| ops.iter().map(essence).collect::<Vec<Op>>();
    assert_eq!(
        essences(&resolved.ops),
        essences(ops),
        "{:?}",
        resolved.diagnostics
    );
    let before = build_graph(ops, tensors).unwrap();
    let after = build_graph(&resolved.ops, &resolved.externals).unwrap();
    for (id, op) in before.ops.iter_enumerated() {
        assert_eq!(matmul_k(&after, id), matmul_k(&before, id), "{}", op.name);
    }
    let known = |graph: &Graph| -> Vec<(String, Option<u64>)> {
        let tensors = graph.tensors.ids();
        tensors
            .map(|id| (graph.tensor_name(id).to_owned(), graph.tensors[id].bytes()))
            .collect()
    };
    assert_eq!(known(&before), known(&after));
}

fn cases() -> Vec<(Vec<Op>, Vec<TensorDecl>, Value)> {
    let file: Value = serde_json::from_str(include_str!("baseline_cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| {
            let tensors = case["tensors"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, size)| {
                    let shape: Vec<u64> = serde_json::from_value(size["shape"].clone()).unwrap();
                    TensorDecl::new(
                        name,
                        &shape,
                        serde_json::from_value(size["bytes_per_element"].clone()).unwrap(),
                    )
                });
            let ops = serde_json::from_value(case["ops"].clone()).unwrap();
            (ops, tensors.collect(), case.clone())
        })
        .collect()
}

#[test]
fn published_cases_mean_the_same_as_json() {
    let cases = cases();
    assert_eq!(cases.len(), 12);
    for (ops, tensors, case) in cases {
        check_round_trip(&ops, &tensors, &from_json(case));
    }
}

#[test]
fn published_cases_mean_the_same_without_tensors() {
    for (ops, _, case) in cases() {
        check_round_trip(&ops, &[], &from_json(case["ops"].clone()));
    }
}

#[test]
fn published_cases_mean_the_same_as_op_lines() {
    for (ops, _, _) in cases() {
        let lines: Vec<String> = ops
            .iter()
            .map(|op| {
                let shape: Vec<String> = op.shape.iter().map(|d| format!("{d},")).collect();
                let (name, op_type) = (&op.name, op.op_type.name());
                let (inputs, output) = (&op.inputs, &op.output);
                format!(
                    "Op({name:?}, {op_type:?}, {inputs:?}, {output:?}, ({}), {}),",
                    shape.concat(),
                    op.bytes_per_element.bytes()
                )
            })
            .collect();
        check_round_trip(&ops, &[], &read_op_lines(&lines.join("\n")));
    }
}

#[test]
fn the_transformer_block_keeps_its_functions_and_its_contractions() {
    let (ops, tensors) = transformer::transformer_block(2048, 4096, 32, 2).unwrap();
    let (program, doubts) = program_of_ops(&ops, &tensors);
    assert_eq!(doubts, []);
    let again = from_json(json!({"ops": ops, "tensors": tensors}));
    assert_eq!(again.program, program);
    let resolved = resolve(&program);
    let functions = |ops: &[Op]| ops.iter().map(|op| op.function).collect::<Vec<_>>();
    assert_eq!(functions(&resolved.ops), functions(&ops));
    check_round_trip(&ops, &tensors, &again);
}

#[test]
fn element_types_survive() {
    let wide = [Op {
        dtype: Some(DType::Bf16),
        ..Op::new("y", OpType::Elementwise, &["x"], "y", &[4], 2)
    }];
    let (program, _) = program_of_ops(&wide, &[]);
    assert_eq!(resolve(&program).ops[0].dtype, Some(DType::Bf16));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    const PIECES: &[&str] = &[
        "Op(",
        "Op",
        "\"a\"",
        "'b'",
        "\"",
        "'",
        "\\",
        ",",
        "(",
        ")",
        "[",
        "]",
        "=",
        "name",
        "shape",
        "4",
        "-1",
        "2.5",
        "1_0",
        "None",
        "#",
        "\n",
        " ",
        "\"matmul\"",
        "é",
        "99999999999999999999",
        ".",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_read(pieces in proptest::collection::vec(prop::sample::select(PIECES), 0..60), tail in any::<String>()) {
            let text = pieces.concat() + &tail;
            form_of(&text);
            let parsed = read_op_lines(&text);
            for diagnostic in &parsed.diagnostics {
                let span = diagnostic.span.unwrap();
                prop_assert!(text.get(span.start..span.end).is_some());
            }
            let again = parse(&print(&parsed.program));
            prop_assert_eq!(without_spans(again.program), without_spans(parsed.program));
        }
    }
}

#[test]
fn names_of_pytorch_are_element_types() {
    use fuseline_core::DType;
    assert_eq!(DType::named("torch.bfloat16"), Some(DType::Bf16));
    assert_eq!(DType::named("complex64"), None);
}
