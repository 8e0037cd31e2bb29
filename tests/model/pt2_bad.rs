//! Exported programs that are broken, hostile or something else: each ends in a sentence.

use crate::pt2_files::{archive, file, named, node, node_of, program, tensor};
use fuseline_view::opened::Converted;
use fuseline_view::opened::model_file::{ModelError, ModelFormat, read_model};
use serde_json::{Value, json};
use std::io::Cursor;

fn read(bytes: &[u8]) -> Result<Converted, ModelError> {
    read_model(ModelFormat::Pt2, Cursor::new(bytes))
}

/// What is said about a file, without the words that start and end each sentence.
fn refused(bytes: &[u8]) -> String {
    let said = read(bytes).unwrap_err().to_string();
    let inner = said.strip_prefix("This .pt2 file was not opened: ");
    inner
        .and_then(|inner| inner.strip_suffix('.'))
        .unwrap()
        .to_owned()
}

fn relu() -> Value {
    let tensors = [("x", tensor(&[4])), ("y", tensor(&[4]))];
    program(&tensors, &[node("relu.default", &["x"], "y")], "y")
}

#[test]
fn a_file_that_is_cut_off_anywhere_says_so() {
    let whole = file(&relu());
    assert!(read(&whole).is_ok());
    for length in 0..whole.len() {
        let said = refused(&whole[..length]);
        assert!(
            said.contains("the file ends without the entry list of a zip archive: it is cut off"),
            "{length}: {said}"
        );
    }
    // A download that lost its start points beyond its end.
    let said = refused(&whole[whole.len() - 60..]);
    assert!(said.contains("points beyond the end of the file"), "{said}");
}

#[test]
fn damaged_archives_say_where() {
    let whole = file(&relu());
    let changed = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        refused(&bytes)
    };
    let content = 30 + "m/models/model.json".len();
    let said = changed(content + 40);
    assert!(
        said.contains("cannot be unpacked") || said.contains("has another check sum"),
        "{said}"
    );
    assert_eq!(changed(1), "at byte 0, no entry of the archive starts");
    let list = whole
        .windows(4)
        .position(|bytes| bytes == b"PK\x01\x02")
        .unwrap();
    assert_eq!(
        changed(list + 1),
        format!("at byte {list}, no readable entry of a zip archive starts")
    );
    // An encrypted entry, and one that is compressed otherwise.
    for (place, value) in [(list + 8, 1), (list + 10, 14)] {
        let mut bytes = whole.clone();
        bytes[place] = value;
        assert!(refused(&bytes).contains("no readable entry of a zip archive starts"));
    }
}

#[test]
fn other_archives_are_named() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["[Content_Types].xml", "word/document.xml"],
            "it is an office document",
        ),
        (
            &["m/data.pkl", "m/data/0"],
            "it is a PyTorch checkpoint, which contains weights but no graph: save the model with",
        ),
        (
            &["m/data.pkl", "m/code/__torch__.py"],
            "it is a TorchScript model, whose graph is Python code: save the model with",
        ),
        (
            &["m/data/aotinductor/model/a.so"],
            "it is a package of compiled kernels, which contains no graph: save the model with",
        ),
        (
            &["photo.jpg"],
            "it is a zip archive without the entry `models/model.json` of an exported program",
        ),
        (
            &[],
            "it is a zip archive without the entry `models/model.json` of an exported program",
        ),
    ];
    for (names, expected) in cases {
        let entries: Vec<(&str, &[u8], bool)> = names
            .iter()
            .map(|name| (*name, b"content".as_slice(), false))
            .collect();
        let said = refused(&archive(&entries));
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn what_is_wrong_with_a_graph_is_said() {
    let without = |field: &str| {
        let mut program = relu();
        program.as_object_mut().unwrap().remove(field);
        program
    };
    let mut future = relu();
    future["schema_version"] = json!({ "major": 9, "minor": 1 });
    let mut no_kind = relu();
    no_kind["graph_module"]["graph"]["nodes"][0]["inputs"][0]["arg"] = json!("x");
    let tensors = [("x", tensor(&[4])), ("y", tensor(&[4]))];
    let unwritten = program(&tensors, &[node("add.Tensor", &["x", "z"], "y")], "y");
    let cases = [
        (
            future,
            "its graph has schema version 9.1, and Fuseline reads versions 7 to 8, which PyTorch 2.5 and newer write",
        ),
        (
            without("schema_version"),
            "its graph lacks the `schema_version` of an exported program",
        ),
        (
            without("graph_module"),
            "its graph cannot be read: missing field `graph_module`",
        ),
        (
            no_kind,
            "its graph cannot be read: graph_module.graph.nodes[0].inputs[0].arg: invalid type: string \"x\"",
        ),
        (
            unwritten,
            "its node torch.ops.aten.add.Tensor reads `z`, which no earlier node writes",
        ),
        (
            program(&tensors[..1], &[], "x"),
            "its outputs depend on no op",
        ),
    ];
    for (program, expected) in cases {
        let said = refused(&file(&program));
        assert!(said.starts_with(expected), "{said}");
    }
    let json = relu().to_string();
    let cut = archive(&[("models/model.json", &json.as_bytes()[..200], false)]);
    assert!(
        refused(&cut).contains("EOF while parsing"),
        "{}",
        refused(&cut)
    );
    let nan = json.replace("\"major\":8", "\"major\":NaN");
    let said = refused(&archive(&[("models/model.json", nan.as_bytes(), false)]));
    assert!(said.contains("NaN is not a JSON number"), "{said}");
}

#[test]
fn expressions_that_are_no_sizes_stand_as_numbers() {
    let sized = |text: &str| json!({ "dtype": 7, "sizes": [{ "as_expr": { "expr_str": text, "hint": { "as_int": 6 } } }], "strides": [] });
    let symbol = "Symbol('s0', positive=True, integer=True)";
    #[rustfmt::skip]
    let cases = [
        (symbol.to_owned(), "f32[B]"),
        ("s0".to_owned(), "f32[B]"),
        (format!("Add({symbol}, Integer(-1))"), "f32[B - 1]"),
        (format!("Mul(Integer(2), Pow({symbol}, Integer(2)))"), "f32[2*B*B]"),
        ("2*s0 + 1".to_owned(), "f32[2*B + 1]"),
        (format!("FloorDiv(Mul(Integer(4), {symbol}), Integer(2))"), "f32[2*B]"),
        (format!("Max({symbol}, Integer(3))"), "f32[6]"),
        ("(".repeat(500), "f32[6]"),
        (format!("{}1{}", "Add(1, ".repeat(80), ")".repeat(80)), "f32[6]"),
        ("Symbol('".to_owned(), "f32[6]"),
        (String::new(), "f32[6]"),
    ];
    for (text, expected) in cases {
        let nodes = [node_of(
            "relu.default",
            &[named("self", &json!({ "as_tensor": { "name": "x" } }))],
            "y",
        )];
        let tensors = [("x", sized(symbol)), ("y", sized(&text))];
        let text = read(&file(&program(&tensors, &nodes, "y"))).unwrap().text;
        // Where the sizes do not fit, the op is opaque.
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let op = lines.find(|line| line.contains("relu"));
        let op = op.unwrap();
        // A size that is no expression leaves the type of an op to the notation.
        let is_number = expected == "f32[6]";
        assert!(
            if is_number {
                !op.contains(':')
            } else {
                op.contains(expected)
            },
            "{text}"
        );
    }
}

/// PyTorch gives no such diagonals. They stay what the file calls them.
#[test]
fn a_diagonal_that_no_tensor_has_is_opaque() {
    let large = i64::MAX / 2;
    for (sizes, offset) in [
        (&[4][..], 0),
        (&[], 0),
        (&[4, 8], i64::MIN),
        (&[4, 8], i64::MAX),
        (&[large, 8], -2),
        (&[large, large], 1),
    ] {
        let inputs = [
            named("self", &json!({ "as_tensor": { "name": "x" } })),
            named("offset", &json!({ "as_int": offset })),
        ];
        let known = [("x", tensor(sizes)), ("y", tensor(&[4]))];
        let node = node_of("diagonal.default", &inputs, "y");
        let read = read(&file(&program(&known, &[node], "y")));
        if let Ok(converted) = read {
            assert!(converted.text.contains("name=aten.diagonal"), "{sizes:?}");
        }
    }
}
