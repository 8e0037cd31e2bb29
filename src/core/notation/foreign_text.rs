//! Texts of other tools: a model as another program writes it down, recognised as a whole.
//!
//! Such a text has an error in each line, none of which says what to do. So it is told once what
//! the text is, and the way to bring in the model that it describes.

use crate::model::diagnostic::{Code, Diagnostic, Span};

/// A text of another tool.
#[derive(Debug, PartialEq, Eq)]
pub struct ForeignText {
    /// What it is: `the source of a PyTorch module`.
    pub what: &'static str,
    /// The way to bring in such a model, as an instruction.
    pub way: &'static str,
    /// Both, as the end of a sentence.
    pub sentence: &'static str,
    signs: Signs,
}

/// What gives a text away: a line without the blanks around it for each of these, in any order.
type Signs = &'static [fn(&str) -> bool];

macro_rules! export {
    () => {
        "let fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model) write its ops, and paste those"
    };
}

macro_rules! file {
    () => {
        "export the model itself to ONNX, or by torch.export.save to a .pt2, and open that file"
    };
}

macro_rules! kernel {
    () => {
        "write the ops that it computes, one a line, or let fuseline.export(model, x) of fuseline.py write those of the model that calls it"
    };
}

macro_rules! foreign {
    ($what:expr, $way:expr, $signs:expr) => {
        ForeignText {
            what: $what,
            way: $way,
            sentence: concat!("it is ", $what, ": ", $way),
            signs: $signs,
        }
    };
}

/// The texts that are known. The first that fits counts: generated code of Triton has classes, and
/// a printed program is one.
static TEXTS: &[ForeignText] = &[
    foreign!(
        "a Triton kernel",
        kernel!(),
        &[|line| line.starts_with("@triton.jit")]
    ),
    foreign!(
        "a Triton kernel",
        kernel!(),
        &[|line| line.starts_with("def ") && line.contains("tl.constexpr"),]
    ),
    foreign!(
        "source of CUDA",
        kernel!(),
        &[|line| line.contains("__global__ ")]
    ),
    foreign!(
        "a printed ExportedProgram of PyTorch",
        "write it by torch.export.save(program, \"model.pt2\"), and open that file",
        &[
            |line| line == "ExportedProgram:",
            |line| line.starts_with("class GraphModule(")
        ]
    ),
    foreign!(
        "a printed graph of PyTorch",
        export!(),
        &[
            |line| is_class_of_module(line) && line.contains("GraphModule("),
            is_forward
        ]
    ),
    foreign!(
        "a printed graph of PyTorch",
        export!(),
        &[
            |line| line.starts_with("graph("),
            |line| line.starts_with('%') && line.contains(" = ")
        ]
    ),
    foreign!(
        "the source of a PyTorch module",
        export!(),
        &[is_class_of_module, is_forward]
    ),
    foreign!(
        "a printed PyTorch model, which does not say how data flows",
        export!(),
        &[is_open_module, is_printed_module]
    ),
    foreign!(
        "HLO text of XLA",
        file!(),
        &[|line| line.starts_with("HloModule ")]
    ),
    foreign!(
        "HLO text of XLA",
        file!(),
        &[
            |line| line.starts_with("ENTRY ") && line.ends_with('{'),
            |line| line.starts_with("ROOT ")
        ]
    ),
    foreign!(
        "MLIR text of a compiler",
        file!(),
        &[|line| line.starts_with("func.func ")]
    ),
];

/// `class FeedForward(nn.Module):`
fn is_class_of_module(line: &str) -> bool {
    let base = |class: &str| class.contains("Module)") || class.contains("Module,");
    line.strip_prefix("class ").is_some_and(base) && line.ends_with(':')
}

/// `def forward(self, x):`
fn is_forward(line: &str) -> bool {
    line.starts_with("def forward(self")
}

/// `Sequential(`
fn is_open_module(line: &str) -> bool {
    let name = line.rsplit(": ").next().unwrap_or(line);
    name.strip_suffix('(').is_some_and(is_type)
}

/// `(0): Linear(in_features=512, out_features=2048, bias=True)`
fn is_printed_module(line: &str) -> bool {
    let module = line
        .strip_prefix('(')
        .and_then(|rest| rest.split_once("): "));
    module.is_some_and(|(name, module)| {
        let (name_of_type, _) = module.split_once('(').unwrap_or((module, ""));
        !name.contains(' ') && module.contains('(') && is_type(name_of_type)
    })
}

/// The name of a class.
fn is_type(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What a text of another tool is; `None` for any other text. `O(text)`.
pub fn foreign_text(text: &str) -> Option<&'static ForeignText> {
    recognised(text).map(|(foreign, _)| foreign)
}

/// The one error of a text of another tool.
pub(super) fn refusal(text: &str) -> Option<Diagnostic> {
    let (foreign, at) = recognised(text)?;
    let problem = format!("this text is {}", foreign.what);
    Some(
        Diagnostic::error(Code::ForeignText, problem)
            .at(at)
            .hint(foreign.way),
    )
}

/// The first text that fits, and the line with its first sign.
fn recognised(text: &str) -> Option<(&'static ForeignText, Span)> {
    let line_with = |sign: &fn(&str) -> bool| {
        let line = text.lines().map(str::trim).find(|line| sign(line))?;
        let start = line.as_ptr().addr() - text.as_ptr().addr();
        Some(Span::new(start, start + line.len()))
    };
    TEXTS.iter().find_map(|foreign| {
        let lines: Vec<Span> = foreign.signs.iter().map(line_with).collect::<Option<_>>()?;
        Some((foreign, *lines.first()?))
    })
}
