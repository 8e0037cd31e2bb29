//! One invalid input for each diagnostic of importing a list of ops.

use fuseline_core::Code;
use fuseline_core::model::diagnostic::{Severity, line_and_column};
use fuseline_core::notation::Parsed;
use fuseline_core::notation::import::{OpList, program_of_op_list, read_op_lines};
use serde_json::{Value, json};

fn from_json(list: Value) -> Parsed {
    program_of_op_list(&serde_json::from_value::<OpList>(list).unwrap())
}

fn elementwise(output: &str) -> Value {
    json!({
        "name": output,
        "op_type": "elementwise",
        "inputs": ["x"],
        "output": output,
        "shape": [4],
        "bytes_per_element": 2,
    })
}

/// A field of `bad`, the first of two ops, its value as JSON, and the expected diagnostic.
#[rustfmt::skip]
const BAD_FIELDS: &[(&str, &str, Code, &str)] = &[
    ("op_type", r#""elemntwise""#, Code::UnknownOpType, "op 1 (`bad`): there is no op type `elemntwise`"),
    ("op_type", r#""relu""#, Code::UnknownOpType, "op 1 (`bad`): there is no op type `relu`"),
    ("op_type", "7", Code::MalformedJson, "op 1 (`bad`): `op_type` is not a string"),
    ("op_type", "null", Code::MalformedJson, "op 1 (`bad`): `op_type` is missing"),
    ("name", r#"["a"]"#, Code::MalformedJson, "op 1: `name` is not a string"),
    ("output", "null", Code::MalformedJson, "op 1 (`bad`): `output` is missing"),
    ("output", "7", Code::MalformedJson, "op 1 (`bad`): `output` is not a string"),
    ("inputs", "null", Code::MalformedJson, "op 1 (`bad`): `inputs` is missing"),
    ("inputs", "7", Code::MalformedJson, "op 1 (`bad`): `inputs` is not a list"),
    ("inputs", r#"["x", ["y"]]"#, Code::MalformedJson, "op 1 (`bad`): `inputs` contains something other than names"),
    ("shape", "null", Code::MalformedJson, "op 1 (`bad`): `shape` is missing"),
    ("shape", "[4, 0]", Code::NonPositiveSize, "op 1 (`bad`): a size of 0 in `shape`"),
    ("shape", "[4, -8]", Code::NonPositiveSize, "op 1 (`bad`): a size of -8 in `shape`"),
    ("shape", "[-1.5]", Code::NonPositiveSize, "op 1 (`bad`): a size of -1.5 in `shape`"),
    ("shape", "[2.5]", Code::MalformedJson, "op 1 (`bad`): a size of 2.5 in `shape` is not a whole number"),
    ("shape", "[1180591620717411303424]", Code::Overflow, "op 1 (`bad`): a size of about 1.18e21 in `shape` is too large"),
    ("shape", "[18446744073709551615]", Code::Overflow, "op 1 (`bad`): a size of about 1.84e19 in `shape` is too large"),
    ("shape", r#"["S"]"#, Code::MalformedJson, "op 1 (`bad`): `shape` contains something other than numbers"),
    ("shape", r#"{"S": 4}"#, Code::MalformedJson, "op 1 (`bad`): `shape` contains something other than numbers"),
    ("shape", "[[4]]", Code::MalformedJson, "op 1 (`bad`): `shape` contains something other than numbers"),
    ("bytes_per_element", "3", Code::UnknownDtype, "op 1 (`bad`): no element type has 3 bytes"),
    ("bytes_per_element", "0", Code::NonPositiveSize, "op 1 (`bad`): a size of 0 in `bytes_per_element`"),
    ("bytes_per_element", "[2]", Code::MalformedJson, "op 1 (`bad`): `bytes_per_element` is a list"),
    ("bytes_per_element", "null", Code::MalformedJson, "op 1 (`bad`): `bytes_per_element` is missing"),
    ("dtype", r#""fp16""#, Code::UnknownDtype, "op 1 (`bad`): there is no element type `fp16`"),
    ("dtype", r#""f32""#, Code::UnknownDtype, "op 1 (`bad`): f32 has 4 bytes, not 2"),
    ("contraction", "-1", Code::NonPositiveSize, "op 1 (`bad`): a size of -1 in `contraction`"),
    ("contraction", "[4]", Code::MalformedJson, "op 1 (`bad`): `contraction` is a list"),
    ("function", r#""gellu""#, Code::UnknownFunction, "op 1 (`bad`): there is no function `gellu`, so the op counts as any elementwise"),
    ("function", r#""softmax""#, Code::UnknownFunction, "op 1 (`bad`): `softmax` is of type reduction, so the op counts as any elementwise"),
    ("function", r#""where""#, Code::ShapeMismatch, "`bad`: the shapes do not fit `where`, so the op counts as any elementwise"),
    ("output", r#""good""#, Code::DuplicateOutput, "op 2 (`good`): `bad` already writes `good`"),
    ("name", r#""good""#, Code::DuplicateOpName, "op 2 (`good`): another op is already called `good`"),
];

#[test]
fn every_bad_entry_of_a_list_costs_one_diagnostic() {
    for &(field, value, code, message) in BAD_FIELDS {
        let mut bad = elementwise("bad");
        bad[field] = serde_json::from_str(value).unwrap();
        let parsed = from_json(json!([bad, elementwise("good")]));
        let [diagnostic] = &parsed.diagnostics[..] else {
            panic!("{field} {value}: {:?}", parsed.diagnostics);
        };
        let found = (diagnostic.code, diagnostic.message.as_str());
        assert_eq!(found, (code, message), "{field} {value}");
        assert!(diagnostic.hint.is_some() && diagnostic.span.is_none());
        let is_kept = diagnostic.severity == Severity::Warning;
        let ops = parsed.program.ops.len();
        assert_eq!(ops, 1 + usize::from(is_kept), "{field} {value}");
    }
}

#[test]
fn strange_lists_cost_no_more_than_their_entries() {
    let parsed = from_json(json!([7, "op", null, [[]], {}, elementwise("good")]));
    assert_eq!(parsed.program.ops.len(), 1);
    let codes: Vec<Code> = parsed.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::MalformedJson; 5]);
    for list in [
        json!(7),
        json!("ops"),
        json!({}),
        json!({"ops": 7}),
        Value::Null,
    ] {
        assert!(serde_json::from_value::<OpList>(list).is_err());
    }
    let huge = from_json(json!([{"name": "a", "shape": [1_180_591_620_717_411_303_424_f64]}]));
    assert_eq!(huge.diagnostics.len(), 1);
}

#[test]
fn bad_tensors_cost_one_diagnostic_each() {
    let y = elementwise("y");
    let message = |tensors: Value| {
        let parsed = from_json(json!({"ops": [y], "tensors": tensors}));
        assert_eq!(parsed.program.ops.len(), 1);
        let [diagnostic] = &parsed.diagnostics[..] else {
            panic!("{:?}", parsed.diagnostics);
        };
        (diagnostic.code, diagnostic.message.clone())
    };
    let size = |size: i64| json!({"name": "x", "shape": [size], "bytes_per_element": 2});
    assert_eq!(
        message(json!([size(0)])),
        (
            Code::NonPositiveSize,
            "tensor 1 (`x`): a size of 0 in `shape`".into()
        )
    );
    assert_eq!(
        message(json!([size(4), size(4)])),
        (
            Code::DuplicateDeclaration,
            "the tensor `x` is given twice".into()
        )
    );
    assert_eq!(
        message(json!([{"shape": [4], "bytes_per_element": 2}])),
        (Code::MalformedJson, "tensor 1: `name` is missing".into())
    );
    assert_eq!(
        message(json!({"x": 7})),
        (
            Code::MalformedJson,
            "tensor 1 (`x`): `shape` is missing".into()
        )
    );
    assert_eq!(
        message(json!({"y": {"shape": [8], "bytes_per_element": 2}})),
        (
            Code::DuplicateDeclaration,
            "the tensor `y` has another size than the output of its op `y`".into()
        )
    );
    let same =
        from_json(json!({"ops": [y], "tensors": {"y": {"shape": [4], "bytes_per_element": 2}}}));
    assert_eq!(
        (same.diagnostics.len(), same.program.declarations.len()),
        (0, 0)
    );
}

/// The second of three lines and its diagnostic: code, column, message.
#[rustfmt::skip]
const BAD_LINES: &[(&str, Code, usize, &str)] = &[
    (r#"Op("a", "elementwise" ["x"], "y", (4,), 2)"#, Code::MalformedOpLine, 23, "expected `,` or `)`, found `[`"),
    (r#"Op("a", elementwise, ["x"], "y", (4,), 2)"#, Code::MalformedOpLine, 9, "expected a string, a number or a list, found `elementwise`"),
    (r#"Op("a"#, Code::MalformedOpLine, 4, "the string is not closed"),
    (r#"Op("a", "elementwise", ["x"], "y", (4,), 2"#, Code::MalformedOpLine, 1, "the bracket is not closed"),
    (r#"Op("a", "elementwise", ["x""#, Code::MalformedOpLine, 24, "the bracket is not closed"),
    (r#"Op("a", "elementwise", ["x" "z"], "y", (4,), 2)"#, Code::MalformedOpLine, 29, r#"expected `,` or the closing bracket, found `"z"`"#),
    (r#"Op("a", "elementwise", ["x"], "y", (4,), 2, None, None, None, None, 1)"#, Code::MalformedOpLine, 69, "`Op` has only 10 fields"),
    ("Op()", Code::MalformedOpLine, 1, "op 1: `output` is missing"),
    (r#"Op("a", "elementwise", ["x"], "y")"#, Code::MalformedOpLine, 1, "op 1 (`a`): `shape` is missing"),
    (r#"Op("a", "conv", ["x"], "y", (4,), 2)"#, Code::UnknownOpType, 9, "op 1 (`a`): there is no op type `conv`"),
    (r#"Op("a", "elementwise", ["x"], "y", (4, -1), 2)"#, Code::NonPositiveSize, 36, "op 1 (`a`): a size of -1 in `shape`"),
    (r#"Op("a", "elementwise", ["x"], "y", (0), 2)"#, Code::NonPositiveSize, 36, "op 1 (`a`): a size of 0 in `shape`"),
    (r#"Op("a", "elementwise", ["x"], "y", (4,), 3)"#, Code::UnknownDtype, 42, "op 1 (`a`): no element type has 3 bytes"),
    (r#"Op("a", "elementwise", ["x"], "y", (1e3, 2.5), 2)"#, Code::MalformedOpLine, 36, "op 1 (`a`): a size of 2.5 in `shape` is not a whole number"),
];

#[test]
fn every_bad_line_costs_one_diagnostic_in_its_place() {
    for &(line, code, column, message) in BAD_LINES {
        let text = format!("# one\n{line}\nOp(\"b\", \"reduction\", [\"y\"], \"z\", (4,), 2),\n");
        let parsed = read_op_lines(&text);
        let found: Vec<_> = (parsed.diagnostics.iter())
            .map(|d| {
                (
                    d.code,
                    line_and_column(&text, d.span.unwrap().start),
                    d.message.as_str(),
                )
            })
            .collect();
        assert_eq!(found, [(code, (2, column), message)], "{line}");
        assert!(parsed.diagnostics[0].hint.is_some());
        assert_eq!(parsed.program.ops.len(), 1, "{line}");
    }
}
