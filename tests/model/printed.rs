//! Graphs that PyTorch prints with the shape of each tensor, as programs.

use fuseline_core::Severity;
use fuseline_core::notation::parse;
use fuseline_view::opened::model_file::{FileKind, ModelFormat, kind_of, read_model};
use fuseline_view::opened::{Converted, converted};
use std::io::Cursor;
use std::path::{Path, PathBuf};

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/files")
}

fn text_of(name: &str) -> String {
    std::fs::read_to_string(files().join("printed").join(name)).unwrap()
}

fn read(text: &str) -> Converted {
    converted(text).unwrap().unwrap()
}

/// The lines of a program without notes, and with params at one value.
fn lines(converted: &Converted) -> Vec<String> {
    let lines = converted.text.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| match line.strip_prefix("param ") {
        Some(param) => param.split(" = ").next().unwrap_or_default().to_owned(),
        None => line.to_owned(),
    });
    lines.collect()
}

/// Ops and shapes of a program, whatever its names and the order of independent ops are.
fn shapes(converted: &Converted) -> Vec<String> {
    let lines = lines(converted).into_iter();
    let written = lines.filter_map(|line| {
        let (_, right) = line.split_once(" = ")?;
        let (function, rest) = right.split_once('(')?;
        Some(format!(
            "{function} {}",
            rest.rsplit_once(" : ").map_or("", |(_, shape)| shape)
        ))
    });
    let mut written: Vec<String> = written.collect();
    written.sort_unstable();
    written
}

/// What `print` writes of a program gives the program of its file.
#[test]
fn a_printed_program_is_that_of_its_file() {
    for name in [
        "mlp",
        "attention",
        "conv",
        "conv_decomposed",
        "autocast",
        "recurrent",
        "losses",
        "class_losses",
        "bags",
        "small_products",
        "gpt2",
        "llama",
        "caches",
    ] {
        let text = text_of(&format!("{name}.txt"));
        let bytes = std::fs::read(files().join(format!("{name}.pt2"))).unwrap();
        let from_file = read_model(ModelFormat::Pt2, Cursor::new(bytes)).unwrap();
        let from_text = read(&text);
        // The text does not name the modules, so some names differ.
        assert_eq!(shapes(&from_text), shapes(&from_file), "{name}");
        let problems = parse(&from_text.text).diagnostics;
        assert!(
            problems.iter().all(|d| d.severity != Severity::Error),
            "{name}: {problems:?}"
        );
    }
    let mlp = std::fs::read(files().join("mlp.pt2")).unwrap();
    let mlp = read_model(ModelFormat::Pt2, Cursor::new(mlp)).unwrap();
    assert_eq!(lines(&read(&text_of("mlp.txt"))), lines(&mlp));
}

/// A reply's quotation, other line ends, and being opened as a file change nothing.
#[test]
fn the_text_may_come_in_any_way() {
    let text = text_of("mlp.txt");
    let quoted = format!("> {}", text.replace('\n', "\n> "));
    for other in [
        quoted,
        text.replace('\n', "\r\n"),
        format!("The program:\n\n{text}"),
    ] {
        assert_eq!(read(&other).text, read(&text).text);
    }
    assert_eq!(kind_of("mlp.txt", text.as_bytes()), FileKind::Text);
    assert_eq!(
        read(&text).summary,
        "Imported 5 ops from a printed graph of PyTorch."
    );
}

#[test]
fn print_readable_and_logs_are_read() {
    // The same program, once with its parameters as inputs, once with those of its modules.
    let of_inputs = read(&text_of("readable.txt"));
    let of_modules = read(&text_of("module_readable.txt"));
    assert_eq!(shapes(&of_inputs), shapes(&of_modules));
    assert!(
        of_modules.text.contains("weight qkv.weight"),
        "{}",
        of_modules.text
    );
    let log = read(&text_of("log.txt"));
    assert!(
        log.summary.ends_with(
            "The text has 1 graph more, which was not read: paste one alone to read it."
        ),
        "{}",
        log.summary
    );
    // Strides are in the log, and computed for the others: the same copies are found.
    let copies = |converted: &Converted| {
        let shapes = shapes(converted);
        shapes
            .into_iter()
            .filter(|op| op.starts_with("contiguous"))
            .count()
    };
    assert!(copies(&of_inputs) > 0);
    assert!(copies(&log) >= copies(&of_inputs));
}

/// Symbols become params within the bounds that the text has.
#[test]
fn open_sizes_are_params() {
    let program = read(&text_of("attention.txt"));
    let params: Vec<&str> = program
        .text
        .lines()
        .filter(|line| line.starts_with("param"))
        .collect();
    assert_eq!(
        params,
        [
            "param B       = 64 in 1..64",
            "param x_size1 = 512 in 2..512"
        ]
    );
}

/// A size that needs the values of the example inputs is no number of the text.
#[test]
fn sizes_without_a_value_are_told() {
    let told = read(&text_of("unknown.txt")).summary;
    assert!(
        told.contains("Sizes such as `(Mod(s17, 3)) + 8` cannot be computed"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_read_gets_a_sentence() {
    let text = text_of("exported_program.txt");
    let refused = |text: &str| converted(text).unwrap().unwrap_err().to_string();
    let cut = text.split("            return").next().unwrap();
    assert_eq!(
        refused(cut),
        "This printed graph of PyTorch could not be read: the `return` of `class GraphModule` is missing: the text is cut off. Save the program with torch.export.save(program, \"model.pt2\"), and open that file."
    );
    let without = text.replace("linear: \"f32[8, 2048]\"", "linear");
    assert!(
        refused(&without).contains("reads `linear`"),
        "{}",
        refused(&without)
    );
    // Any part of the text gives a program, a sentence, or is no such graph.
    for end in 0..text.len() {
        let _ = converted(&text[..end]);
        let _ = converted(&text[end..]);
    }
}
