//! Texts of other tools, pasted whole: one sentence that says what the text is and how to bring the
//! model in.

use fuseline_core::notation::{foreign_text, parse, print};
use fuseline_core::{Code, Options, Program, analyze_program};
use fuseline_view::opened::converted;
use fuseline_view::opened::model_file::{FileKind, kind_of};
use fuseline_view::present::words::with_hint;
use std::path::{Path, PathBuf};

const WITH_FUSELINE: &str = "let fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model) write its ops, and paste those";
const AS_FILE: &str =
    "export the model itself to ONNX, or by torch.export.save to a .pt2, and open that file";
const OF_KERNEL: &str = "write the ops that it computes, one a line, or let fuseline.export(model, x) of fuseline.py write those of the model that calls it";

/// The file, what it is, and the way.
const TEXTS: &[(&str, &str, &str)] = &[
    ("module.py", "the source of a PyTorch module", WITH_FUSELINE),
    (
        "exported_program.txt",
        "a printed ExportedProgram of PyTorch",
        "write it by torch.export.save(program, \"model.pt2\"), and open that file",
    ),
    ("fx_graph.txt", "a printed graph of PyTorch", WITH_FUSELINE),
    ("hlo.txt", "HLO text of XLA", AS_FILE),
    ("stablehlo.mlir", "MLIR text of a compiler", AS_FILE),
    (
        "printed_model.txt",
        "a printed PyTorch model, which does not say how data flows",
        WITH_FUSELINE,
    ),
    (
        "printed_layers.txt",
        "a printed PyTorch model, which does not say how data flows",
        WITH_FUSELINE,
    ),
    ("triton_kernel.py", "a Triton kernel", OF_KERNEL),
    ("cuda_kernel.cu", "source of CUDA", OF_KERNEL),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text_of(name: &str) -> String {
    std::fs::read_to_string(folder("tests/model/files/foreign").join(name)).unwrap()
}

#[test]
fn a_pasted_text_of_another_tool_gets_one_sentence() {
    for (name, what, way) in TEXTS {
        let text = text_of(name);
        // Blanks around it, and a reply's quotation, change nothing.
        for text in [text.clone(), format!("\n\n{}", text.replace('\n', "\r\n"))] {
            assert_eq!(converted(&text), None, "{name}");
            let parsed = parse(&text);
            let [refusal] = &parsed.diagnostics[..] else {
                panic!("{name}: {:#?}", parsed.diagnostics);
            };
            assert_eq!(refusal.code, Code::ForeignText);
            assert_eq!(with_hint(refusal), format!("this text is {what}: {way}"));
            let line = refusal.span.unwrap().slice(&text);
            assert!(!line.is_empty() && line.trim() == line, "{name}: {line:?}");
            assert_eq!(refusal.fixes, []);
            assert_eq!(parsed.program, Program::default());
            let further = analyze_program(&parsed.program, &Options::default()).diagnostics;
            let further = further.iter().map(|d| d.code).collect::<Vec<_>>();
            assert_eq!(further, [Code::EmptyProgram], "{name}");
        }
        let file = kind_of(name, text.as_bytes());
        let FileKind::Other(told) = file else {
            panic!("{name}: {file:?}");
        };
        assert_eq!(told, format!("it is {what}: {way}"));
    }
}

/// A part of such a text is still mended line by line.
#[test]
fn single_lines_are_no_text_of_another_tool() {
    for line in [
        "class FeedForward(nn.Module):",
        "def forward(self, x):",
        "import torch",
        "x = torch.randn(8, 128, 512)",
        "y = Linear(in_features=512, out_features=2048)",
        "ROOT = relu(x)",
    ] {
        assert_eq!(foreign_text(line), None, "{line}");
    }
    // Whatever its comments say, a valid program is one.
    let program = "# HloModule jit_f\ninput x : f16[8]\ny = relu(x)\n";
    assert_eq!(foreign_text(program), None);
    let within = "input x : f16[8]\ny = add(\n  x,\n  x\n)\n";
    assert_eq!(foreign_text(within), None);
}

/// None of the project's own programs and lists is taken for another tool's.
#[test]
fn no_program_of_the_project_is_a_text_of_another_tool() {
    let mut folders = ["public", "tests/model", "tests/fuzz", "docs"]
        .map(folder)
        .to_vec();
    let mut tried = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("files/foreign") {
                    folders.push(path);
                }
                continue;
            }
            let ending = path.extension().and_then(|ending| ending.to_str());
            if !ending.is_some_and(|ending| ["fuse", "json", "md", "csv"].contains(&ending)) {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            tried += 1;
            assert_eq!(foreign_text(&text), None, "{}", path.display());
            let program = parse(&text).program;
            assert_eq!(foreign_text(&print(&program)), None, "{}", path.display());
        }
    }
    assert!(tried > 100, "{tried} files");
}
