//! ONNX files that are large, cut off, or no ONNX files.

use crate::onnx_files::{Model, attribute_graph, field, field_start, int, node, of_graph, typed};
use fuseline_view::opened::model_file::{FileKind, ModelFormat, kind_of, read_model};
use std::io::{Cursor, Read, Result, Seek, SeekFrom};

pub(crate) fn refused(bytes: &[u8]) -> String {
    (read_model(ModelFormat::Onnx, Cursor::new(bytes)).unwrap_err()).to_string()
}

/// A file of which only the parts are stored; the rest is zeros.
struct Sparse {
    parts: Vec<(u64, Vec<u8>)>,
    bytes: u64,
    at: u64,
    read_bytes: u64,
}

impl Read for Sparse {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let left = usize::try_from(self.bytes - self.at).unwrap();
        let count = left.min(buffer.len());
        for (place, byte) in (self.at..).zip(&mut buffer[..count]) {
            let part = self
                .parts
                .iter()
                .find(|(start, part)| (*start..start + part.len() as u64).contains(&place));
            *byte = part.map_or(0, |(start, part)| {
                part[usize::try_from(place - start).unwrap()]
            });
        }
        self.at += count as u64;
        self.read_bytes += count as u64;
        Ok(count)
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(back) => self.bytes.saturating_add_signed(back),
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

#[test]
fn weights_of_gigabytes_are_not_read() {
    const WEIGHTS: u64 = 6;
    const WEIGHT_BYTES: u64 = 4 * 16_384 * 16_384;
    let weight = |name: &str| {
        let head = [
            int(1, 16_384),
            int(1, 16_384),
            int(2, 1),
            field(8, name),
            field_start(9, WEIGHT_BYTES),
        ]
        .concat();
        let start = field_start(5, head.len() as u64 + WEIGHT_BYTES);
        [start, head].concat()
    };
    let model = Model {
        inputs: vec![typed("x0 f32[tokens, 16384]")],
        nodes: (0..WEIGHTS)
            .map(|n| node("MatMul", &format!("x{n} w{n}"), &format!("x{}", n + 1), &[]))
            .collect(),
        outputs: vec![field(1, format!("x{WEIGHTS}"))],
        ..Model::default()
    };
    let graph = model.graph();
    let weights: Vec<Vec<u8>> = (0..WEIGHTS).map(|n| weight(&format!("w{n}"))).collect();
    let inside = graph.len() as u64
        + weights
            .iter()
            .map(|w| w.len() as u64 + WEIGHT_BYTES)
            .sum::<u64>();
    let mut parts = vec![(
        0,
        [
            int(1, 10),
            field(8, int(2, 21)),
            field_start(7, inside),
            graph,
        ]
        .concat(),
    )];
    let mut end = parts[0].1.len() as u64;
    for weight in weights {
        parts.push((end, weight.clone()));
        end += weight.len() as u64 + WEIGHT_BYTES;
    }
    let mut file = Sparse {
        parts,
        bytes: end,
        at: 0,
        read_bytes: 0,
    };
    assert!(file.bytes > 6 << 30);
    let converted = read_model(ModelFormat::Onnx, &mut file).unwrap();
    assert!(
        converted.text.contains("weight w5 : f32[16384, 16384]\n"),
        "{}",
        converted.text
    );
    assert!(
        converted.text.ends_with("x6 = matmul(x5, w5)\n"),
        "{}",
        converted.text
    );
    assert!(file.read_bytes < 2 << 20, "{}", file.read_bytes);
}

#[test]
fn a_file_that_is_cut_off_anywhere_says_where() {
    for name in ["mlp", "resnet_block", "by_hand"] {
        let path = format!(
            "{}/tests/model/files/{name}.onnx",
            env!("CARGO_MANIFEST_DIR")
        );
        let whole = std::fs::read(path).unwrap();
        let mut told = 0;
        for end in 0..whole.len() {
            // Behind the graph only the version of the operators follows.
            if let Err(problem) = read_model(ModelFormat::Onnx, Cursor::new(&whole[..end])) {
                let problem = problem.to_string();
                assert!(
                    problem.starts_with("This ONNX file was not opened: "),
                    "{problem}"
                );
                told += 1;
            }
        }
        assert!(told + 60 > whole.len(), "{name}: {told} of {}", whole.len());
    }
    let whole = of_graph(&field(2, "a name"));
    assert_eq!(
        refused(&whole[..whole.len() - 8]),
        "This ONNX file was not opened: at byte 2, the graph needs 8 bytes, but only 4 follow: the file is cut off."
    );
}

#[test]
fn what_is_wrong_is_said() {
    let model = |nodes: Vec<Vec<u8>>| Model {
        inputs: vec![typed("x f32[4]")],
        nodes,
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let cases = [
        (int(1, 10), "it contains no graph"),
        (model(vec![]).bytes(), "its outputs depend on no op"),
        (
            model(vec![
                node("Add", "x b", "a", &[]),
                node("Relu", "a", "b", &[]),
                node("Exp", "b", "y", &[]),
            ])
            .bytes(),
            "its graph has a cycle through the node `` of type Add",
        ),
        (
            model(vec![
                node("Relu", "x", "y", &[]),
                node("Exp", "x", "y", &[]),
            ])
            .bytes(),
            "two nodes write the tensor `y`, and each tensor has one",
        ),
        (
            [int(1, 10), vec![0x0b; 40]].concat(),
            "at byte 2, no field of an ONNX model starts",
        ),
        (
            [int(1, 10), vec![0xff; 40]].concat(),
            "at byte 2, a number has more than ten bytes",
        ),
        (
            [int(1, 10), field_start(7, u64::MAX)].concat(),
            "at byte 2, the graph needs 18446744073709551615 bytes, but only 0 follow: the file is cut off",
        ),
        (
            [
                int(1, 10),
                field(
                    7,
                    [field(10, "x".repeat(5000)), field_start(1, 1 << 40)].concat(),
                ),
            ]
            .concat(),
            "at byte 5008, a node needs 1099511627776 bytes, but only 0 follow: the file is cut off",
        ),
    ];
    for (bytes, problem) in cases {
        assert_eq!(
            refused(&bytes),
            format!("This ONNX file was not opened: {problem}.")
        );
    }
    // What is short is decoded as a whole.
    let short = refused(&of_graph(&field_start(1, 1 << 40)));
    assert!(short.contains("failed to decode"), "{short}");
}

#[test]
fn a_large_sparse_weight_keeps_its_shape() {
    let values = [
        int(1, 30_000),
        int(2, 1),
        field(8, "w"),
        field(9, vec![0; 120_000]),
    ]
    .concat();
    let indices = [int(1, 30_000), int(2, 7), field(9, vec![0; 240_000])].concat();
    let sparse = [
        field(1, values),
        field(2, indices),
        int(3, 1000),
        int(3, 2000),
    ]
    .concat();
    let model = Model {
        inputs: vec![typed("x f32[4, 1000]")],
        nodes: vec![node("MatMul", "x w", "y", &[])],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let graph = [model.graph(), field(15, sparse)].concat();
    let converted = read_model(ModelFormat::Onnx, Cursor::new(of_graph(&graph))).unwrap();
    let expected = "weight w : f32[1000, 2000]\ny = matmul(x, w)\n";
    assert!(converted.text.ends_with(expected), "{}", converted.text);
}

#[test]
fn graphs_deep_inside_each_other_are_refused() {
    // Small ones are decoded as they are, large ones are entered one by one.
    for (depth, padding, problem) in [
        (60, 0, "recursion limit"),
        (60, 5000, "messages nest more than 64 levels deep"),
    ] {
        let mut graph = field(10, "x".repeat(padding));
        for _ in 0..depth {
            graph = field(
                1,
                node("If", "c", "y", &[attribute_graph("then_branch", &graph)]),
            );
        }
        let said = refused(&of_graph(&graph));
        assert!(said.contains(problem), "{said}");
    }
}

#[test]
fn sizes_that_pass_all_limits_are_refused_by_the_notation() {
    let model = Model {
        inputs: vec![
            typed(&format!("x f32[{0}, {0}, {0}]", i64::MAX)),
            typed("z f32[0]"),
        ],
        nodes: vec![
            node("Relu", "x", "y", &[]),
            node("Reshape", "y w", "v", &[]),
            node("Exp", "z", "e", &[]),
        ],
        weights: vec![crate::onnx_files::ints("w", &[-1, i64::MIN])],
        outputs: vec![field(1, "v"), field(1, "e")],
        ..Model::default()
    };
    let converted = read_model(ModelFormat::Onnx, Cursor::new(model.bytes())).unwrap();
    assert!(converted.text.contains("y = relu(x)"), "{}", converted.text);
}

#[test]
fn a_file_is_known_by_its_first_bytes() {
    let other = |start: &[u8]| match kind_of("a file", start) {
        FileKind::Other(what) => what,
        kind => panic!("{kind:?}"),
    };
    assert_eq!(kind_of("", b""), FileKind::Text);
    let list = b"from fuser import Op\nops = [Op('y', 'relu', ['x'], (8,))]";
    assert_eq!(kind_of("ops.py", list), FileKind::Text);
    assert_eq!(
        kind_of("a.fuse", "param S = 8\u{2026}".as_bytes()),
        FileKind::Text
    );
    assert_eq!(
        kind_of("m", &Model::default().bytes()),
        FileKind::Model(ModelFormat::Onnx)
    );
    for (start, word) in [
        (b"GGUF\x03\0\0\0".as_slice(), "GGUF"),
        (b"\x20\0\0\0TFL3", "TensorFlow Lite"),
        (b"\x48\x01\0\0\0\0\0\0{\"a\"", "safetensors"),
        (b"\x80\x02}q\0", "pickle"),
        (b"\x80\x04\x95\x01", "pickle"),
        (b"\xff\xfeO\0p\0", "UTF-16"),
        (b"\x7fELF\x02\x01\0", "not a text, an ONNX model"),
    ] {
        assert!(other(start).contains(word), "{}", other(start));
    }
    // A table that PowerShell has written is told as what it is, whatever its name.
    let table = kind_of("table.csv", b"\xff\xfe\"\0I\0D\0");
    assert!(matches!(table, FileKind::Other(what) if what.contains("UTF-16")));
}
