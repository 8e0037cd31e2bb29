//! The statement that an op of a list becomes.

use crate::spans::without_spans;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::import::{OpList, program_of_op_list};
use fuseline_core::notation::{parse, print};
use fuseline_core::resolve::resolve;
use serde_json::{Value, json};

const TENSORS: &str = r#"{
    "a": {"shape": [8, 4], "bytes_per_element": 2, "role": "input"},
    "b": {"shape": [4, 6], "bytes_per_element": 2, "role": "weight"},
    "c": {"shape": [6, 4], "dtype": "f16"},
    "q": {"shape": [2, 8, 4], "bytes_per_element": 2.0}
}"#;

type Case = (
    &'static str,
    &'static [&'static str],
    &'static [u64],
    &'static str,
    &'static str,
);

/// Op type, inputs, shape, further fields; and the statement. Only `a` to `q` are declared.
#[rustfmt::skip]
const CASES: &[Case] = &[
    ("matmul", &["a", "b"], &[8, 6], "{}", "y = matmul(a, b) : f16[8, 6]"),
    ("matmul", &["a", "c"], &[8, 6], "{}", "y = matmul(a, c, transpose_b=true) : f16[8, 6]"),
    ("matmul", &["c", "c"], &[4, 4], "{}", "y = matmul(c, c, transpose_a=true) : f16[4, 4]"),
    ("matmul", &["b", "a"], &[6, 8], "{}", "y = matmul(b, a, transpose_a=true, transpose_b=true) : f16[6, 8]"),
    ("matmul", &["q", "b"], &[2, 8, 6], "{}", "y = matmul(q, b) : f16[2, 8, 6]"),
    ("matmul", &["a", "e"], &[8, 6], "{}", "y = matmul(a, e) : f16[8, 6]"),
    ("matmul", &["a", "b"], &[8, 3], "{}", "y = matmul(a, b, k=4) : f16[8, 3]"),
    ("matmul", &["a", "b"], &[7, 5], "{}", "y = matmul(a, b, k=unknown) : f16[7, 5]"),
    ("matmul", &["a", "b", "e"], &[8, 6], "{}", "y = matmul(a, b, e, k=4) : f16[8, 6]"),
    ("matmul", &["a", "b"], &[8, 6], r#"{"contraction": 4}"#, "y = matmul(a, b) : f16[8, 6]"),
    ("matmul", &["a", "b"], &[8, 6], r#"{"contraction": 2}"#, "y = matmul(a, b, k=2) : f16[8, 6]"),
    ("matmul", &["a", "e"], &[8, 6], r#"{"contraction": 2}"#, "y = matmul(a, e, k=2) : f16[8, 6]"),
    ("matmul", &["a", "b"], &[8, 6], r#"{"function": "matmul"}"#, "y = matmul(a, b) : f16[8, 6]"),
    ("matmul", &["a", "c"], &[8, 6], r#"{"function": "linear"}"#, "y = linear(a, c) : f16[8, 6]"),
    ("matmul", &["a", "e"], &[8, 6], r#"{"function": "linear"}"#, "y = linear(a, e) : f16[8, 6]"),
    ("elementwise", &["a"], &[8, 4], "{}", "y = elementwise(a) : f16[8, 4]"),
    ("elementwise", &["a"], &[], "{}", "y = elementwise(a) : f16[]"),
    ("elementwise", &["a"], &[8, 4], r#"{"function": "gelu"}"#, "y = gelu(a) : f16[8, 4]"),
    ("elementwise", &["a", "e"], &[8, 4], r#"{"function": "add"}"#, "y = add(a, e) : f16[8, 4]"),
    ("elementwise", &["a"], &[8, 4], r#"{"function": "cast"}"#, "y = cast(a, dtype=f16) : f16[8, 4]"),
    ("elementwise", &["a"], &[1], r#"{"dtype": "bf16"}"#, "y = elementwise(a) : bf16[1]"),
    ("elementwise", &["a"], &[1], r#"{"name": "first"}"#, "first: y = elementwise(a) : f16[1]"),
    ("elementwise", &["a"], &[1], r#"{"name": null}"#, "y = elementwise(a) : f16[1]"),
    ("elementwise", &["<img onerror=alert(1)>"], &[1], "{}", "y = elementwise(`<img onerror=alert(1)>`) : f16[1]"),
    ("reduction", &["a"], &[8], "{}", "y = reduction(a) : f16[8]"),
    ("reduction", &["a"], &[8, 1], r#"{"function": "sum"}"#, "y = sum(a) : f16[8, 1]"),
    ("reduction", &["a"], &[8], r#"{"function": "sum"}"#, "y = sum(a, keepdim=false) : f16[8]"),
    ("reshape", &["a"], &[4, 8], "{}", "y = reshape(a) : f16[4, 8]"),
    ("reshape", &["e"], &[4, 8], "{}", "y = reshape(e) : f16[4, 8]"),
    ("reshape", &["a"], &[4, 2], "{}", "y = rearrange(a) : f16[4, 2]"),
    ("reshape", &["a"], &[4, 8], r#"{"dtype": "bf16"}"#, "y = rearrange(a) : bf16[4, 8]"),
    ("reshape", &["a", "b"], &[4, 2], "{}", "y = rearrange(a, b) : f16[4, 2]"),
];

#[test]
fn ops_become_the_plainest_statement_that_means_the_same() {
    let tensors: Value = serde_json::from_str(TENSORS).unwrap();
    for &(op_type, inputs, shape, more, expected) in CASES {
        let mut op = json!({
            "name": "y",
            "op_type": op_type,
            "inputs": inputs,
            "output": "y",
            "shape": shape,
            "bytes_per_element": 2,
        });
        let more: Value = serde_json::from_str(more).unwrap();
        for (field, value) in more.as_object().unwrap() {
            op[field] = value.clone();
        }
        let list = json!({"ops": [op], "tensors": tensors, "about": {"any": ["thing"]}});
        let parsed = program_of_op_list(&serde_json::from_value::<OpList>(list).unwrap());
        assert_eq!(parsed.diagnostics, [], "{op}");
        let text = print(&parsed.program);
        assert_eq!(text.lines().last(), Some(expected), "{op}");
        let again = parse(&text);
        assert_eq!(again.diagnostics, []);
        let resolved = resolve(&again.program);
        assert_eq!(without_spans(again.program), parsed.program);
        assert_eq!(resolved.ops.len(), 1, "{text}\n{:?}", resolved.diagnostics);
        let own = &resolved.ops[0];
        assert_eq!((own.op_type.name(), &own.shape[..]), (op_type, shape));
        assert_eq!(own.inputs, inputs);
    }
}

#[test]
fn ops_become_statements() {
    use fuseline_core::notation::{import::program_of_ops, print};
    use fuseline_core::{Op, OpType::*};
    let ops = [
        Op::new("matmul1", Matmul, &["x", "w1"], "y1", &[1024, 4096], 2),
        Op::new("y2", Elementwise, &["y1"], "y2", &[1024, 4096], 2).with_function(Function::Relu),
    ];
    let (program, _) = program_of_ops(&ops, &[]);
    assert_eq!(
        print(&program),
        "\
matmul1: y1 = matmul(x, w1) : f16[1024, 4096]
         y2 = relu(y1) : f16[1024, 4096]
"
    );
}
