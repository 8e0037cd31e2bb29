//! Signs of the texts of other tools, line by line.

/// A line without what a log of PyTorch or the quotation of a reply puts before it; indentation
/// stays. `O(line)`.
pub fn without_head(line: &str) -> &str {
    let mut line = line.trim_start_matches("\u{1b}[0m");
    while let Some(quoted) = line.strip_prefix('>') {
        // The blank belongs to the mark.
        line = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    let mut start = line.bytes();
    let is_log = start.next().is_some_and(|level| b"VDIWEC".contains(&level))
        && start.by_ref().take(4).all(|digit| digit.is_ascii_digit())
        && start.next() == Some(b' ');
    if !is_log {
        return line;
    }
    // `V1129 02:28:11.017000 28705 torch/_dynamo/output_graph.py:2417] [0/0] [__aot_graphs] `
    let mut rest = line.split_once("] ").map_or("", |(_, rest)| rest);
    while let Some((_, behind)) = rest
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        rest = behind.strip_prefix(' ').unwrap_or(behind);
    }
    rest
}

/// `class FeedForward(nn.Module):`, whose bases may follow on lines of their own.
pub(super) fn is_derived_class(line: &str) -> bool {
    let class = line.strip_prefix("class ");
    class
        .and_then(|class| class.split_once('('))
        .is_some_and(|(name, _)| is_name(name))
}

/// `def forward(self, x):`, whose parameters may follow on lines of their own.
pub(super) fn is_forward(line: &str) -> bool {
    line.starts_with("def forward(")
}

/// `relu = torch.ops.aten.relu.default(x);  x = None`: only generated code frees each tensor.
pub(super) fn is_line_of_graph(line: &str) -> bool {
    line.contains("torch.ops.") || line.contains(";  ") && line.ends_with(" = None")
}

/// `(0): Linear(in_features=512, out_features=2048, bias=True)`
pub(super) fn is_member(line: &str) -> bool {
    let member = line.strip_prefix('(');
    let member = member.and_then(|rest| rest.split_once("): "));
    member.is_some_and(|(name, module)| {
        // `(0-31): 32 x LlamaDecoderLayer(`
        let class = module.rsplit(" x ").next().unwrap_or(module);
        !name.contains(' ') && class_of_call(class).is_some()
    })
}

/// `Linear(in_features=512, out_features=2048, bias=True)`, but not an op that reads a tensor.
pub(super) fn is_printed_module(line: &str) -> bool {
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
pub(super) fn is_import(line: &str) -> bool {
    line.starts_with("import ") || line.starts_with("from ") && line.contains(" import ")
}

/// `using Flux, CUDA`
pub(super) fn is_import_of_julia(line: &str) -> bool {
    let packages = line.strip_prefix("using ");
    packages.is_some_and(|packages| !packages.is_empty() && !packages.contains([':', ';', '=']))
}

/// `def main():`, `class Config:`, `if __name__ == "__main__":`
pub(super) fn is_definition(line: &str) -> bool {
    ["def ", "class ", "if __name__"]
        .iter()
        .any(|word| line.starts_with(word))
}

/// Whether a line is these words, as the head of a table.
pub(super) fn has_words(line: &str, words: &[&str]) -> bool {
    line.split_ascii_whitespace().eq(words.iter().copied())
}

/// `{ lambda ; a:f32[128,256] b:f32[256,512]. let`
pub(super) fn is_jaxpr(line: &str) -> bool {
    let is_lambda = line.starts_with("{ lambda ") || line.starts_with("{lambda ");
    is_lambda && line.contains(';')
}

/// `main_graph (float[1, 3] x) => (float[1, 8] y) {`, or `graph main_graph (`
pub(super) fn is_onnx_graph(line: &str) -> bool {
    line.ends_with('{') && line.contains(") => (")
        || line.starts_with("graph ") && line.ends_with('(')
}

/// `int main() {`, `torch::Tensor forward(torch::Tensor x) {`, `using Gemm = cutlass::Gemm<Half>;`
pub(super) fn is_declaration_of_c(line: &str) -> bool {
    let begins = [
        "int main(",
        "template <",
        "template<",
        "using ",
        "namespace ",
        "torch::",
        "at::",
        "std::",
        "auto ",
        "void ",
        "struct ",
        "extern \"C\"",
        "static ",
        "float ",
        "typedef ",
    ];
    begins.iter().any(|word| line.starts_with(word))
        && (line.contains('(') || line.ends_with(['{', ';', '>']))
}

/// `<!DOCTYPE html>`, `<html lang="en">`
pub(super) fn is_declared_in_html(line: &str) -> bool {
    let start = line.get(..9).unwrap_or(line).to_ascii_lowercase();
    start == "<!doctype" || start.starts_with("<html")
}

/// `hidden_size: 4096`, but not the op of a label, which has a call.
pub(super) fn is_key(line: &str) -> bool {
    let key = line
        .trim_start_matches("- ")
        .split(':')
        .next()
        .unwrap_or(line);
    line.contains(':')
        && !line.contains(['=', '('])
        && !line.contains('[')
        && is_name(key.trim())
        && !key.trim().is_empty()
}

/// Words in a row, of which no statement of the notation has so many.
pub(super) fn is_sentence(line: &str) -> bool {
    let letters = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count();
    let words: Vec<usize> = line.split_ascii_whitespace().map(letters).collect();
    let is_long = words.iter().filter(|&&letters| letters >= 3).count() >= 3;
    is_long && words.len() >= 5 && !line.contains(['=', '[', '{', '|'])
}
