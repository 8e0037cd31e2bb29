//! Recognises texts of other tools as a whole, such as a model in another program's format.
//!
//! Such a text has an error in each line, and none of them says what to do. So one diagnostic says
//! what the text is, and how to import its model.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::notation::foreign_signs::{
    has_words, is_declaration_of_c, is_declared_in_html, is_definition, is_derived_class,
    is_forward, is_import, is_import_of_julia, is_jaxpr, is_key, is_line_of_graph, is_member,
    is_onnx_graph, is_printed_module, is_sentence, without_head,
};

/// Signs of a kind of text, in its lines without comments and surrounding blanks.
enum Signs {
    /// Each of these tests accepts some line, in any order.
    Each(&'static [fn(&str) -> bool]),
    /// The test accepts every line that is not empty, of which there are at least so many.
    Every(usize, fn(&str) -> bool),
}

/// How the model comes in.
pub(super) const EXPORT: &str = "save it with fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model), and open that file";
pub(super) const FILE: &str = "export the model itself to ONNX, or save it with torch.export.save(program, \"model.pt2\"), and open that file";
const PROGRAM: &str = "save it with torch.export.save(program, \"model.pt2\"), and open that file";
const KERNEL: &str = "write its ops, one per line, or save the model that calls it with fuseline.export(model, x) of fuseline.py, and open that file";
const ATEN: &str = "run the model with TORCH_LOGS=aot_graphs, which prints ATen operators with their shapes, and paste that graph; or save the model with torch.export.save(program, \"model.pt2\"), and open that file";
pub(super) const ONNX: &str = "open the .onnx file itself";
pub(super) const TENSORFLOW: &str = "export the model to ONNX with tf2onnx, and open that file";
const JAX: &str = "export the function to ONNX, for example with jax2onnx, and open that file";
const MEASURED: &str = "open the program that was measured, and then this text as a file (.txt), which shows it beside the predictions";
const WINDOW: &str = "write it as a table, ncu --csv or nsys stats --report cuda_gpu_trace --format csv, and open that file beside the program that was measured";
const OPS: &str = "write one op per line, such as `y = relu(x)`, or start from an example";

const TRITON: &str = "a Triton kernel";
const PYTHON_KERNEL: &str = "a GPU kernel in Python";
const CUDA: &str = "CUDA source code";
const SHADER: &str = "the source code of a GPU kernel";
const ASSEMBLY: &str = "the assembly code of a kernel";
const TVM: &str = "TVM script";
const HALIDE: &str = "a Halide schedule";
const MOJO: &str = "Mojo source code";
const COMPILED: &str = "the code that torch.compile has generated";
const EXPORTED: &str = "a printed ExportedProgram of PyTorch";
const GRAPH: &str = "a printed graph of PyTorch";
const MODULE: &str = "the source code of a PyTorch module";
const PRINTED: &str = "a printed PyTorch model, which lacks the data flow";
const WEIGHTS: &str = "a printed tensor or a state_dict, which lacks the data flow";
const SUMMARY: &str = "a summary of a model's layers, which lacks the data flow";
const HLO: &str = "XLA HLO";
const MLIR: &str = "MLIR";
const ONNX_TEXT: &str = "a printed ONNX model";
const PROFILER: &str = "a table of a profiler";

/// The known kinds of text: what each is, how to import its model, and its signs.
///
/// The first that fits counts: code that Triton generates has classes, a printed program is a class
/// itself, and Python of any kind has imports.
#[rustfmt::skip]
static TEXTS: &[(&str, &str, Signs)] = &[
    (COMPILED, ATEN, Signs::Each(&[|line| line == "async_compile = AsyncCompile()"])),
    (TRITON, KERNEL, Signs::Each(&[|line| line.starts_with("@triton.jit") || line.starts_with("@gluon.jit")])),
    (TRITON, KERNEL, Signs::Each(&[|line| line.starts_with("def ") && line.contains("tl.constexpr")])),
    (TVM, KERNEL, Signs::Each(&[|line| ["@T.prim_func", "@I.ir_module", "@R.function", "@tvm.script"].iter().any(|word| line.starts_with(word))])),
    (PYTHON_KERNEL, KERNEL, Signs::Each(&[|line| ["@cuda.jit", "@cute.kernel", "@cute.jit", "@helion.kernel", "@tilelang.jit", "@nki.jit", "@wp.kernel"].iter().any(|word| line.starts_with(word)) || line.contains("pl.pallas_call(")])),
    (CUDA, KERNEL, Signs::Each(&[|line| line.contains("__global__ ")])),
    (SHADER, KERNEL, Signs::Each(&[|line| line.starts_with("kernel void ") || line.starts_with("__kernel ") || line.starts_with("@compute ") || line.starts_with("layout(local_size_x")])),
    (ASSEMBLY, KERNEL, Signs::Each(&[|line| line.starts_with(".visible .entry ") || line.starts_with(".amdgcn_target") || line.starts_with("target triple = ") || line.starts_with("Function : ") || line.starts_with(".headerflags") || line.starts_with("/*0000*/")])),
    (HALIDE, KERNEL, Signs::Each(&[|line| line.contains("Halide::") || line.contains(".compute_root()") || line.contains(".compute_at(")])),
    (EXPORTED, PROGRAM, Signs::Each(&[
        |line| line == "ExportedProgram:",
        |line| line.starts_with("class GraphModule("),
    ])),
    (GRAPH, ATEN, Signs::Each(&[|line| line.contains("class GraphModule(") && line.ends_with(':'), is_forward])),
    (GRAPH, EXPORT, Signs::Each(&[
        |line| line.starts_with("graph("),
        |line| line.starts_with('%') && line.contains(" = "),
    ])),
    (GRAPH, EXPORT, Signs::Each(&[
        |line| line.starts_with("graph():"),
        |line| line.contains(" = placeholder["),
    ])),
    (GRAPH, EXPORT, Signs::Each(&[
        |line| has_words(line, &["opcode", "name", "target", "args", "kwargs"]),
        |line| line.starts_with("placeholder ") || line.starts_with("call_"),
    ])),
    (MODULE, EXPORT, Signs::Each(&[is_derived_class, is_forward])),
    (GRAPH, EXPORT, Signs::Each(&[is_forward, is_line_of_graph])),
    (MODULE, EXPORT, Signs::Each(&[is_forward, |line| line.starts_with("return ")])),
    (WEIGHTS, EXPORT, Signs::Each(&[|line| line.starts_with("OrderedDict(") || line.starts_with("tensor([") || line.starts_with("{'") && line.contains(": tensor(")])),
    (WEIGHTS, EXPORT, Signs::Every(1, |line| line.ends_with("])") && line.contains("torch.Size(["))),
    ("a log of torch.compile", ATEN, Signs::Each(&[|line| line.starts_with("===== attempting fusion (")])),
    ("a log of llama.cpp", OPS, Signs::Each(&[|line| line.starts_with("llama_model_loader: ")])),
    ("what nvidia-smi prints", OPS, Signs::Each(&[|line| line.contains("NVIDIA-SMI ") && line.contains("Driver Version")])),
    (PROFILER, MEASURED, Signs::Each(&[|line| line.starts_with("Name ") && line.contains("Self CPU %") && line.contains("# of Calls")])),
    (PROFILER, WINDOW, Signs::Each(&[|line| line.starts_with("Section: GPU Speed Of Light") || line.starts_with("** CUDA GPU ")])),
    (PRINTED, EXPORT, Signs::Each(&[is_member])),
    (PRINTED, EXPORT, Signs::Every(1, is_printed_module)),
    (SUMMARY, TENSORFLOW, Signs::Each(&[|line| line.starts_with("Model: \""), |line| line.contains("Layer (type)") && line.contains("Output Shape")])),
    (SUMMARY, EXPORT, Signs::Each(&[|line| line.contains("Layer (type") && line.contains("Param")])),
    (HLO, FILE, Signs::Each(&[|line| line.starts_with("HloModule ")])),
    (HLO, FILE, Signs::Each(&[
        |line| line.starts_with("ENTRY ") && line.ends_with('{'),
        |line| line.starts_with("ROOT "),
    ])),
    ("a jaxpr of JAX", JAX, Signs::Each(&[is_jaxpr])),
    (MLIR, KERNEL, Signs::Each(&[|line| line.starts_with("tt.func ") || line.starts_with("ttg.") || line.starts_with("gpu.func ")])),
    (MLIR, FILE, Signs::Each(&[|line| line.starts_with("func.func ") || line.starts_with("module @") || line.starts_with("module attributes") || line.starts_with("\"func.func\"") || line.contains(" = stablehlo.")])),
    (ONNX_TEXT, ONNX, Signs::Each(&[|line| line.starts_with("ir_version: ")])),
    (ONNX_TEXT, ONNX, Signs::Each(&[is_onnx_graph, |line| line.contains(" = ") || line.starts_with("return ")])),
    ("a printed TensorFlow graph", TENSORFLOW, Signs::Each(&[|line| line == "node {", |line| line.starts_with("op: \"")])),
    (MOJO, KERNEL, Signs::Each(&[|line| line.starts_with("fn ") && line.ends_with(':')])),
    ("Rust source code", KERNEL, Signs::Each(&[|line| line.starts_with("fn ") || line.starts_with("pub fn "), |line| line.starts_with("let ") || line.starts_with("use ")])),
    ("Julia source code", FILE, Signs::Each(&[is_import_of_julia, |line| line.contains(" = ")])),
    ("C++ source code", KERNEL, Signs::Each(&[is_declaration_of_c, |line| line.ends_with(';')])),
    ("an error message of Python", "mend the error in the script first; this page reads a model, not a log", Signs::Each(&[|line| line.starts_with("Traceback (most recent call last)")])),
    ("a difference of two files", "paste the program itself", Signs::Each(&[|line| line.starts_with("diff --git ") || line.starts_with("@@ -")])),
    ("a web page", "copy the code from it, and paste that", Signs::Each(&[is_declared_in_html])),
    ("a Dockerfile", OPS, Signs::Each(&[|line| line.starts_with("FROM "), |line| line.starts_with("RUN ")])),
    ("LaTeX", OPS, Signs::Each(&[|line| line.starts_with("\\begin{")])),
    ("a table in Markdown", OPS, Signs::Every(2, |line| line.starts_with('|') && line.ends_with('|'))),
    ("a drawing of a graph for Graphviz", FILE, Signs::Each(&[|line| line.starts_with("digraph "), |line| line.contains("->")])),
    ("a Python program with JAX, which would have to run", JAX, Signs::Each(&[is_definition, |line| is_import(line) && line.contains(" jax")])),
    ("a Python program with TensorFlow, which would have to run", TENSORFLOW, Signs::Each(&[is_definition, |line| is_import(line) && (line.contains(" tensorflow") || line.contains(" keras"))])),
    // If there are only imports, a fix removes each line.
    ("a Python program, which would have to run", EXPORT, Signs::Each(&[is_definition, is_import])),
    ("a Python program, which would have to run", EXPORT, Signs::Each(&[is_import, |line| line.contains(" = ") && (line.contains(".from_pretrained(") || line.contains("torchvision.models."))])),
    ("a list of settings", "build the model from it, and save it with fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model)", Signs::Every(3, is_key)),
    ("a text without ops", OPS, Signs::Every(1, is_sentence)),
];

/// Whether a diagnostic says that the model can come by `fuseline.export`, so that a button leads
/// there.
pub fn leads_to_export(diagnostic: &Diagnostic) -> bool {
    let hint = diagnostic.hint.as_deref().unwrap_or_default();
    diagnostic.code == Code::ForeignText && hint.contains("fuseline.export")
}

/// The one error of a text of another tool, if it is one. The caller has checked that the text is
/// not a valid program. `O(text)`.
pub(super) fn refusal(text: &str) -> Option<Diagnostic> {
    TEXTS.iter().find_map(|(what, way, signs)| {
        let line = first_sign(text, signs)?;
        let start = line.as_ptr().addr() - text.as_ptr().addr();
        Some(
            Diagnostic::error(Code::ForeignText, format!("this is {what}"))
                .at(Span::new(start, start + line.len()))
                .hint(*way),
        )
    })
}

/// The line with the first sign, if the text has all signs.
fn first_sign<'a>(text: &'a str, signs: &Signs) -> Option<&'a str> {
    let mut lines = text.lines().map(code_of).filter(|line| !line.is_empty());
    match signs {
        Signs::Each(signs) => {
            let line_with = |sign: &fn(&str) -> bool| lines.clone().find(|line| sign(line));
            let found: Vec<&str> = signs.iter().map(line_with).collect::<Option<_>>()?;
            found.first().copied()
        }
        Signs::Every(least, sign) => {
            let is_enough = lines.clone().nth(least.saturating_sub(1)).is_some();
            let first = lines.next()?;
            (is_enough && sign(first) && lines.all(sign)).then_some(first)
        }
    }
}

/// A line without its comment, the head of a log, quotation marks and blanks. A comment says
/// nothing about the kind of a text, because it may name the origin of the program.
fn code_of(line: &str) -> &str {
    let line = without_head(line);
    let comment = line.find('#').into_iter().chain(line.find("//")).min();
    let code = comment.and_then(|at| line.get(..at)).unwrap_or(line);
    code.trim_start_matches(|c: char| c == '>' || c.is_whitespace())
        .trim_end()
}
