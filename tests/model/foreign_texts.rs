//! Texts of other tools, pasted whole: one sentence that says what the text is and how to bring the
//! model in.

use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::{parse, print};
use fuseline_core::{Code, Options, Program, analyze_program};
use fuseline_view::opened::converted;
use fuseline_view::opened::model_file::{FileKind, kind_of};
use fuseline_view::present::words::with_hint;
use std::path::{Path, PathBuf};

const WITH_FUSELINE: &str = "let fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model) write its ops, and paste those";
const AS_FILE: &str = "export the model itself to ONNX, or save it with torch.export.save(program, \"model.pt2\"), and open that file";
const OF_KERNEL: &str = "write its ops, one per line, or let fuseline.export(model, x) of fuseline.py write the ops of the model that calls it";

const MODULE: &str = "the source code of a PyTorch module";
const GRAPH: &str = "a printed graph of PyTorch";
const PRINTED: &str = "a printed PyTorch model, which lacks the data flow";
const HLO: &str = "XLA HLO";
const TRITON: &str = "a Triton kernel";

/// The file, what it is, and the way. There is one at least for each entry that the program knows.
const TEXTS: &[(&str, &str, &str)] = &[
    ("triton_kernel.py", TRITON, OF_KERNEL),
    ("triton_signature.py", TRITON, OF_KERNEL),
    ("cuda_kernel.cu", "CUDA source code", OF_KERNEL),
    (
        "exported_program.txt",
        "a printed ExportedProgram of PyTorch",
        "save it with torch.export.save(program, \"model.pt2\"), and open that file",
    ),
    ("graph_module.py", GRAPH, WITH_FUSELINE),
    ("fx_graph.txt", GRAPH, WITH_FUSELINE),
    ("graph_code.py", GRAPH, WITH_FUSELINE),
    ("traced_code.py", GRAPH, WITH_FUSELINE),
    ("module.py", MODULE, WITH_FUSELINE),
    ("pretrained_module.py", MODULE, WITH_FUSELINE),
    ("printed_model.txt", PRINTED, WITH_FUSELINE),
    ("printed_layers.txt", PRINTED, WITH_FUSELINE),
    ("printed_layer.txt", PRINTED, WITH_FUSELINE),
    ("printed_list.txt", PRINTED, WITH_FUSELINE),
    ("printed_member.txt", PRINTED, WITH_FUSELINE),
    ("hlo.txt", HLO, AS_FILE),
    ("hlo_computation.txt", HLO, AS_FILE),
    ("stablehlo.mlir", "MLIR", AS_FILE),
    (
        "functions.py",
        "a Python program, which would have to run",
        WITH_FUSELINE,
    ),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text_of(name: &str) -> String {
    std::fs::read_to_string(folder("tests/model/files/foreign").join(name)).unwrap()
}

/// Whether the whole text is refused as another tool's.
fn is_foreign(text: &str) -> bool {
    let mut diagnostics = parse(text).diagnostics.into_iter();
    diagnostics.any(|d| d.code == Code::ForeignText)
}

/// Each line with this before it.
fn prefixed(prefix: &str, text: &str) -> String {
    let lines = text.lines().map(|line| format!("{prefix}{line}\n"));
    lines.collect::<Vec<_>>().concat()
}

#[test]
fn a_pasted_text_of_another_tool_gets_one_sentence() {
    for (name, what, way) in TEXTS {
        let text = text_of(name);
        // Blanks around it, and a reply's quotation, change nothing.
        for text in [
            text.clone(),
            format!("\n\n{}", text.replace('\n', "\r\n")),
            prefixed("> ", &text),
            prefixed(">> ", &text),
        ] {
            assert!(converted(&text).is_none(), "{name}");
            let parsed = parse(&text);
            let [refusal] = &parsed.diagnostics[..] else {
                panic!("{name}: {:#?}", parsed.diagnostics);
            };
            assert_eq!(refusal.code, Code::ForeignText, "{name}");
            assert_eq!(with_hint(refusal), format!("this is {what}: {way}"));
            let line = refusal.span.unwrap().slice(&text);
            assert!(!line.is_empty() && line.trim() == line, "{name}: {line:?}");
            assert_eq!(refusal.fixes, []);
            assert_eq!(parsed.program, Program::default());
            let further = analyze_program(&parsed.program, &Options::default()).diagnostics;
            let further = further.iter().map(|d| d.code).collect::<Vec<_>>();
            assert_eq!(further, [Code::EmptyProgram], "{name}");
        }
        // A file says no other sentence: it is read as a text.
        assert_eq!(kind_of(name, text.as_bytes()), FileKind::Text, "{name}");
    }
    let files = std::fs::read_dir(folder("tests/model/files/foreign")).unwrap();
    assert_eq!(files.count(), TEXTS.len());
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
        "Relu(x)",
        "Softmax(x, dim=1)",
        "ROOT = relu(x)",
        "import torch\nx = torch.randn(8, 128)\ny = torch.relu(x)",
    ] {
        assert!(!is_foreign(line), "{line}");
    }
    let within = "input x : f16[8]\ny = add(\n  x,\n  x\n)\n";
    assert!(!is_foreign(within));
}

/// A comment may quote any text. With an error elsewhere the program is still read line by line.
#[test]
fn comments_say_nothing_about_a_text() {
    for (name, ..) in TEXTS {
        let quoted = text_of(name);
        let above = prefixed("# ", &quoted) + "input x : f16[8]\ny = relu(x)\n";
        let behind = quoted.lines().map(|line| format!("relu(x) # {line}\n"));
        let behind = behind.enumerate().map(|(at, op)| format!("y{at} = {op}"));
        let behind = "input x : f16[8]\n".to_owned() + &behind.collect::<String>();
        for program in [above, behind] {
            assert!(!has_errors(&parse(&program).diagnostics), "{program}");
            let file = kind_of("ported.fuse", program.as_bytes());
            assert_eq!(file, FileKind::Text, "{program}");
            let broken = program + "z = = add(y)\n";
            assert!(has_errors(&parse(&broken).diagnostics), "{broken}");
            assert!(!is_foreign(&broken), "{broken}");
        }
        // The comment of another language has a fix.
        let slashes = quoted
            .lines()
            .map(|line| format!("y = relu(x) // {line}\n"));
        let slashes = "input x : f16[8]\n".to_owned() + &slashes.collect::<String>();
        assert!(!is_foreign(&slashes), "{slashes}");
    }
}

/// Names of the notation that look like statements of Python.
#[test]
fn a_valid_file_is_a_text() {
    let program = "input class : f16[8]\nimport = relu(class)\ndef = exp(import)\n";
    assert_eq!(parse(program).diagnostics, []);
    assert_eq!(kind_of("names.fuse", program.as_bytes()), FileKind::Text);
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
            // One error, so that signs are looked for.
            let broken = |text: &str| format!("{text}\nz = = add(y)\n");
            assert!(!is_foreign(&broken(&text)), "{}", path.display());
            let printed = print(&parse(&text).program);
            assert!(!is_foreign(&broken(&printed)), "{}", path.display());
        }
    }
    assert!(tried > 100, "{tried} files");
}
