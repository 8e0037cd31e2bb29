//! Texts of other tools, pasted whole: one sentence that says what the text is and how to bring the
//! model in.

use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::import::read_op_list;
use fuseline_core::notation::{leads_to_export, parse, print};
use fuseline_core::{Code, Options, Program, analyze_program};
use fuseline_view::opened::converted;
use fuseline_view::opened::model_file::{FileKind, kind_of};
use fuseline_view::present::words::with_hint;
use std::path::{Path, PathBuf};

const WITH_FUSELINE: &str = "save it with fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model), and open that file";
const AS_FILE: &str = "export the model itself to ONNX, or save it with torch.export.save(program, \"model.pt2\"), and open that file";
const OF_KERNEL: &str = "write its ops, one per line, or save the model that calls it with fuseline.export(model, x) of fuseline.py, and open that file";
const AS_ATEN: &str = "run the model with TORCH_LOGS=aot_graphs, which prints ATen operators with their shapes, and paste that graph; or save the model with torch.export.save(program, \"model.pt2\"), and open that file";
const AS_ONNX: &str = "open the .onnx file itself";
const OF_TENSORFLOW: &str = "export the model to ONNX with tf2onnx, and open that file";
const OF_JAX: &str = "export the function to ONNX, for example with jax2onnx, and open that file";
const OF_OPS: &str = "write one op per line, such as `y = relu(x)`, or start from an example";

const MODULE: &str = "the source code of a PyTorch module";
const GRAPH: &str = "a printed graph of PyTorch";
const PRINTED: &str = "a printed PyTorch model, which lacks the data flow";
const WEIGHTS: &str = "a printed tensor or a state_dict, which lacks the data flow";
const SUMMARY: &str = "a summary of a model's layers, which lacks the data flow";
const HLO: &str = "XLA HLO";
const TRITON: &str = "a Triton kernel";
const PYTHON_KERNEL: &str = "a GPU kernel in Python";
const ONNX: &str = "a printed ONNX model";
const PYTHON: &str = "a Python program, which would have to run";

/// The file, what it is, and the way. There is one at least for each entry that the program knows.
#[rustfmt::skip]
const TEXTS: &[(&str, &str, &str)] = &[
    ("output_code.py", "the code that torch.compile has generated", AS_ATEN),
    ("triton_kernel.py", TRITON, OF_KERNEL),
    ("triton_signature.py", TRITON, OF_KERNEL),
    ("tvm_script.py", "TVM script", OF_KERNEL),
    ("pallas_kernel.py", PYTHON_KERNEL, OF_KERNEL),
    ("numba_kernel.py", PYTHON_KERNEL, OF_KERNEL),
    ("cuda_kernel.cu", "CUDA source code", OF_KERNEL),
    ("kernel.metal", "the source code of a GPU kernel", OF_KERNEL),
    ("kernel.ptx", "the assembly code of a kernel", OF_KERNEL),
    ("halide.cpp", "a Halide schedule", OF_KERNEL),
    ("graph_module.py", GRAPH, AS_ATEN),
    ("dynamo_log.txt", GRAPH, AS_ATEN),
    ("fx_graph.txt", GRAPH, WITH_FUSELINE),
    ("graph_nodes.txt", GRAPH, WITH_FUSELINE),
    ("tabular.txt", GRAPH, WITH_FUSELINE),
    ("graph_code.py", GRAPH, WITH_FUSELINE),
    ("traced_code.py", GRAPH, WITH_FUSELINE),
    ("module.py", MODULE, WITH_FUSELINE),
    ("pretrained_module.py", MODULE, WITH_FUSELINE),
    ("torchscript.txt", MODULE, WITH_FUSELINE),
    ("state_dict.txt", WEIGHTS, WITH_FUSELINE),
    ("tensor.txt", WEIGHTS, WITH_FUSELINE),
    ("printed_model.txt", PRINTED, WITH_FUSELINE),
    ("printed_layers.txt", PRINTED, WITH_FUSELINE),
    ("printed_layer.txt", PRINTED, WITH_FUSELINE),
    ("printed_list.txt", PRINTED, WITH_FUSELINE),
    ("printed_member.txt", PRINTED, WITH_FUSELINE),
    ("ncu_text.txt", "a table of a profiler", "write it as a table, ncu --csv or nsys stats --report cuda_gpu_trace --format csv, and open that file beside the program that was measured"),
    ("keras_summary.txt", SUMMARY, OF_TENSORFLOW),
    ("torchinfo.txt", SUMMARY, WITH_FUSELINE),
    ("hlo.txt", HLO, AS_FILE),
    ("hlo_computation.txt", HLO, AS_FILE),
    ("triton_ir.mlir", "MLIR", OF_KERNEL),
    ("stablehlo.mlir", "MLIR", AS_FILE),
    ("stablehlo_module.mlir", "MLIR", AS_FILE),
    ("onnx_text.txt", ONNX, AS_ONNX),
    ("onnx_graph.txt", ONNX, AS_ONNX),
    ("onnx_message.txt", ONNX, AS_ONNX),
    ("graph_def.pbtxt", "a printed TensorFlow graph", OF_TENSORFLOW),
    ("kernel.mojo", "Mojo source code", OF_KERNEL),
    ("model.rs", "Rust source code", OF_KERNEL),
    ("model.cpp", "C++ source code", OF_KERNEL),
    ("traceback.txt", "an error message of Python", "mend the error in the script first; this page reads a model, not a log"),
    ("change.diff", "a difference of two files", "paste the program itself"),
    ("page.html", "a web page", "copy the code from it, and paste that"),
    ("graph.dot", "a drawing of a graph for Graphviz", AS_FILE),
    ("jax_program.py", "a Python program with JAX, which would have to run", OF_JAX),
    ("keras_program.py", "a Python program with TensorFlow, which would have to run", OF_TENSORFLOW),
    ("functions.py", PYTHON, WITH_FUSELINE),
    ("script.py", PYTHON, WITH_FUSELINE),
    ("config.yaml", "a list of settings", "build the model from it, and save it with fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model)"),
    ("kernel.sass", "the assembly code of a kernel", OF_KERNEL),
    ("gemm.cpp", "C++ source code", OF_KERNEL),
    ("fusion_log.txt", "a log of torch.compile", AS_ATEN),
    ("llama_cpp_log.txt", "a log of llama.cpp", OF_OPS),
    ("nvidia_smi.txt", "what nvidia-smi prints", OF_OPS),
    ("model.jl", "Julia source code", AS_FILE),
    ("Dockerfile", "a Dockerfile", OF_OPS),
    ("attention.tex", "LaTeX", OF_OPS),
    ("table.md", "a table in Markdown", OF_OPS),
    ("weight_shapes.txt", WEIGHTS, WITH_FUSELINE),
    ("prose.txt", "a text without ops", OF_OPS),
];

/// Texts that begin as JSON does, what each is, and how its way begins.
const JSON: &[(&str, &str, &str)] = &[
    (
        r#"{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "model_type": "llama"}"#,
        "a config.json of transformers",
        "build the model from it",
    ),
    (
        r#"{"_class_name": "FluxTransformer2DModel", "_diffusers_version": "0.30.0"}"#,
        "a config.json of diffusers",
        WITH_FUSELINE,
    ),
    (
        r#"{"metadata": {"total_size": 1}, "weight_map": {"a.weight": "model-1.safetensors"}}"#,
        "an index of weights, which lacks the data flow",
        WITH_FUSELINE,
    ),
    (
        r#"{"version": "1.0", "added_tokens": [], "model": {"type": "BPE"}}"#,
        "a tokenizer, which holds no ops",
        WITH_FUSELINE,
    ),
    (
        r#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#,
        "a Jupyter notebook",
        WITH_FUSELINE,
    ),
    (
        r#"{"irVersion": "8", "producerName": "pytorch", "graph": {"node": []}}"#,
        "an ONNX model as JSON",
        AS_ONNX,
    ),
    (
        r#"{"class_name": "Sequential", "config": {"name": "s", "layers": []}}"#,
        "a model of Keras as JSON",
        OF_TENSORFLOW,
    ),
    (
        r#"{"nodes": [], "arg_nodes": [0], "heads": [[1, 0, 0]]}"#,
        "a graph of TVM or MXNet",
        AS_FILE,
    ),
    (
        "{ lambda ; a:f32[128,256] b:f32[256,512]. let\n    c:f32[128,512] = dot_general a b\n  in (c,) }",
        "a jaxpr of JAX",
        OF_JAX,
    ),
    (
        "{'up.weight': tensor([[0.1, 0.2]]), 'up.bias': tensor([0.1])}",
        WEIGHTS,
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
        let kind = kind_of(name, text.as_bytes());
        let is_measured = matches!(kind, FileKind::Profile(_));
        assert!(
            kind == FileKind::Text || is_measured && *name == "ncu_text.txt",
            "{name}"
        );
    }
    let files = std::fs::read_dir(folder("tests/model/files/foreign")).unwrap();
    assert_eq!(files.count(), TEXTS.len());
}

#[test]
fn json_of_another_tool_gets_one_sentence() {
    for (text, what, way) in JSON {
        let refused = converted(text).unwrap().unwrap_err().to_string();
        let start = format!("This text was not opened: this is {what}: {way}");
        assert!(refused.starts_with(&start), "{refused}");
        let [refusal] = &read_op_list(text).unwrap().diagnostics[..] else {
            panic!("{text}");
        };
        assert_eq!(refusal.code, Code::ForeignText, "{text}");
    }
    // A list of ops may have any other fields.
    let list = r#"{"model_type": "llama", "ops": [{"name": "act", "op_type": "elementwise", "inputs": ["x"],
        "output": "y", "shape": [8], "bytes_per_element": 2}]}"#;
    assert!(converted(list).unwrap().is_ok());
}

/// The page leads from such a text to the file that writes a PyTorch model.
#[test]
fn the_way_of_a_model_has_a_button() {
    for (name, _, way) in TEXTS {
        let refusal = parse(&text_of(name)).diagnostics.remove(0);
        assert_eq!(
            leads_to_export(&refusal),
            way.contains("fuseline.export"),
            "{name}"
        );
    }
    let other = parse("y = = relu(x)").diagnostics.remove(0);
    assert!(!leads_to_export(&other));
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
        "x : f16",
        "input x y z w 4 8",
        "float y = relu(x)",
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
