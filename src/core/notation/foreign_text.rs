//! Recognises texts of other tools as a whole, such as a model in another program's format.
//!
//! Such a text has an error in each line, and none of them says what to do. So one diagnostic says
//! what the text is, and how to import its model.

use crate::model::diagnostic::{Code, Diagnostic, Span};

/// Signs of a kind of text, in its lines without comments and surrounding blanks.
enum Signs {
    /// Each of these tests accepts some line, in any order.
    Each(&'static [fn(&str) -> bool]),
    /// The test accepts every line that is not empty.
    Every(fn(&str) -> bool),
}

const EXPORT: &str = "let fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model) write its ops, and paste those";
const FILE: &str = "export the model itself to ONNX, or save it with torch.export.save(program, \"model.pt2\"), and open that file";
const PROGRAM: &str = "save it with torch.export.save(program, \"model.pt2\"), and open that file";
const KERNEL: &str = "write its ops, one per line, or let fuseline.export(model, x) of fuseline.py write the ops of the model that calls it";

const TRITON: &str = "a Triton kernel";
const EXPORTED: &str = "a printed ExportedProgram of PyTorch";
const GRAPH: &str = "a printed graph of PyTorch";
const MODULE: &str = "the source code of a PyTorch module";
const PRINTED: &str = "a printed PyTorch model, which lacks the data flow";
const HLO: &str = "XLA HLO";

/// The known kinds of text: what each is, how to import its model, and its signs.
///
/// The first that fits counts: code that Triton generates has classes, a printed program is a class
/// itself, and Python of any kind has imports.
#[rustfmt::skip]
static TEXTS: &[(&str, &str, Signs)] = &[
    (TRITON, KERNEL, Signs::Each(&[|line| line.starts_with("@triton.jit")])),
    (TRITON, KERNEL, Signs::Each(&[|line| line.starts_with("def ") && line.contains("tl.constexpr")])),
    ("CUDA source code", KERNEL, Signs::Each(&[|line| line.contains("__global__ ")])),
    (EXPORTED, PROGRAM, Signs::Each(&[
        |line| line == "ExportedProgram:",
        |line| line.starts_with("class GraphModule("),
    ])),
    (GRAPH, EXPORT, Signs::Each(&[|line| line.starts_with("class GraphModule("), is_forward])),
    (GRAPH, EXPORT, Signs::Each(&[
        |line| line.starts_with("graph("),
        |line| line.starts_with('%') && line.contains(" = "),
    ])),
    (MODULE, EXPORT, Signs::Each(&[is_derived_class, is_forward])),
    (GRAPH, EXPORT, Signs::Each(&[is_forward, is_line_of_graph])),
    (PRINTED, EXPORT, Signs::Each(&[is_member])),
    (PRINTED, EXPORT, Signs::Every(is_printed_module)),
    (HLO, FILE, Signs::Each(&[|line| line.starts_with("HloModule ")])),
    (HLO, FILE, Signs::Each(&[
        |line| line.starts_with("ENTRY ") && line.ends_with('{'),
        |line| line.starts_with("ROOT "),
    ])),
    ("MLIR", FILE, Signs::Each(&[|line| line.starts_with("func.func ")])),
    // If there are only imports, a fix removes each line.
    ("a Python program, which would have to run", EXPORT, Signs::Each(&[is_definition, is_import])),
];

/// `class FeedForward(nn.Module):`, whose bases may follow on lines of their own.
fn is_derived_class(line: &str) -> bool {
    let class = line.strip_prefix("class ");
    class
        .and_then(|class| class.split_once('('))
        .is_some_and(|(name, _)| is_name(name))
}

/// `def forward(self, x):`, whose parameters may follow on lines of their own.
fn is_forward(line: &str) -> bool {
    line.starts_with("def forward(")
}

/// `relu = torch.ops.aten.relu.default(x);  x = None`: only generated code frees each tensor.
fn is_line_of_graph(line: &str) -> bool {
    line.contains("torch.ops.") || line.contains(";  ") && line.ends_with(" = None")
}

/// `(0): Linear(in_features=512, out_features=2048, bias=True)`
fn is_member(line: &str) -> bool {
    let member = line.strip_prefix('(');
    let member = member.and_then(|rest| rest.split_once("): "));
    member.is_some_and(|(name, module)| {
        // `(0-31): 32 x LlamaDecoderLayer(`
        let class = module.rsplit(" x ").next().unwrap_or(module);
        !name.contains(' ') && class_of_call(class).is_some()
    })
}

/// `Linear(in_features=512, out_features=2048, bias=True)`, but not an op that reads a tensor.
fn is_printed_module(line: &str) -> bool {
    let argument = class_of_call(line).and_then(|rest| rest.split([',', ')']).next());
    line.ends_with(')')
        && argument.is_some_and(|first| {
            let is_number = first.starts_with(|c: char| c.is_ascii_digit() || c == '(');
            first.is_empty() || is_number || first.contains('=')
        })
}

/// The text after the name of a class and `(`.
fn class_of_call(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once('(')?;
    // `Op(...)` lines are an input form that the notation imports.
    let is_class = name.starts_with(|c: char| c.is_ascii_uppercase()) && name != "Op";
    (is_class && is_name(name)).then_some(rest)
}

fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `import torch`, `from torch import nn`
fn is_import(line: &str) -> bool {
    line.starts_with("import ") || line.starts_with("from ") && line.contains(" import ")
}

/// `def main():`, `class Config:`, `if __name__ == "__main__":`
fn is_definition(line: &str) -> bool {
    ["def ", "class ", "if __name__"]
        .iter()
        .any(|word| line.starts_with(word))
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
        Signs::Every(sign) => {
            let first = lines.next()?;
            (sign(first) && lines.all(sign)).then_some(first)
        }
    }
}

/// A line without its comment, quotation marks and blanks. A comment says nothing about the kind of
/// a text, because it may name the origin of the program.
fn code_of(line: &str) -> &str {
    let comment = line.find('#').into_iter().chain(line.find("//")).min();
    let code = comment.and_then(|at| line.get(..at)).unwrap_or(line);
    code.trim_start_matches(|c: char| c == '>' || c.is_whitespace())
        .trim_end()
}
