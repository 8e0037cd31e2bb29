//! Programs that are opened or pasted in another form than the notation.

use fuseline_view::opened::{Converted, converted};

fn convert(text: &str) -> Option<Result<Converted, String>> {
    Some(converted(text)?.map_err(|problem| problem.to_string()))
}

#[test]
fn notation_stays_as_it_is() {
    for text in ["", "y = relu(x) : f16[8]", "# Op(\ny = relu(x) : f16[8]"] {
        assert_eq!(convert(text), None, "{text}");
    }
}

#[test]
fn op_lines_become_notation() {
    let lines = r#"Op("up", "matmul", ["x", "w"], "y", (64, 64), 2)
Op("act", "elementwise", ["y"], "z", (64, 64), 2)"#;
    let converted = convert(lines).unwrap().unwrap();
    assert!(
        converted
            .text
            .contains("up:  y = matmul(x, w) : f16[64, 64]\n"),
        "{}",
        converted.text
    );
    assert_eq!(converted.summary, "Imported 2 ops from Op(...) lines.");
    assert!(!converted.is_incomplete);
}

#[test]
fn a_json_list_becomes_notation() {
    let list = r#"[{"name": "act", "op_type": "elementwise", "inputs": ["x"], "output": "y",
                    "shape": [8, 8], "bytes_per_element": 4}]"#;
    let converted = convert(list).unwrap().unwrap();
    assert_eq!(converted.summary, "Imported 1 op from JSON.");
    assert!(converted.text.contains("f32[8, 8]"), "{}", converted.text);
}

#[test]
fn lines_that_cannot_be_read_are_kept_as_comments() {
    let lines = "Op(\"act\", \"elementwise\", [\"x\"], \"y\", (64, 64), 2)\n  Op(\"cut off\", \n";
    let converted = convert(lines).unwrap().unwrap();
    assert!(converted.is_incomplete);
    let start = "Imported 1 op from Op(...) lines. Some of it could not be read: ";
    assert!(
        converted.summary.starts_with(start),
        "{}",
        converted.summary
    );
    assert!(
        converted.text.contains("\n# not read: Op(\"cut off\","),
        "{}",
        converted.text
    );
}

#[test]
fn what_holds_no_ops_is_refused_with_its_reason() {
    let refused = |text: &str| convert(text).unwrap().unwrap_err();
    let broken = refused("[{\"broken\"");
    assert!(
        broken.starts_with("This JSON is not a list of ops: ") && broken.contains("column"),
        "{broken}"
    );
    assert_eq!(
        refused("[]"),
        "The JSON could not be read: it contains no ops."
    );
    assert!(refused("Op(1)").starts_with("The Op(...) lines could not be read: "));
}

#[test]
fn the_kind_of_a_file_is_that_of_its_first_bytes() {
    use fuseline_view::opened::model_file::{FileKind, ModelFormat, kind_of};
    assert_eq!(kind_of("mlp.fuse", b"y = relu(x) : f16[8]"), FileKind::Text);
    assert_eq!(
        kind_of("mlp", &[0x08, 0x0a, 0x12, 0x07]),
        FileKind::Model(ModelFormat::Onnx)
    );
    assert!(matches!(
        kind_of("weights", b"GGUF\x03"),
        FileKind::Other(_)
    ));
}
