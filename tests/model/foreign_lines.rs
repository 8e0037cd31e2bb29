//! Lines that newcomers write or paste: what the hint says, and what its first fix that holds makes
//! of them.

use fuseline_core::fixes::sound_fixes;
use fuseline_core::{Options, Severity, analyze_program, notation};

/// The text, a part of the hint of its first error, and the corrected text; empty where nothing is
/// certain.
const DECLARATIONS: &[(&str, &str, &str)] = &[
    // Tensors
    (
        "x = torch.randn(4, 8)",
        "write `input x : f32[4, 8]`",
        "input x : f32[4, 8]",
    ),
    (
        "x = torch.randn((4, 8))",
        "write `input x : f32[4, 8]`",
        "input x : f32[4, 8]",
    ),
    (
        "x = torch.randn(4, 8, device=\"cuda\", dtype=torch.float16)",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "param S = 64\nx = torch.empty(S, 4*S)",
        "write `input x : f32[S, 4*S]`",
        "param S = 64\ninput x : f32[S, 4*S]",
    ),
    (
        "w = nn.Parameter(torch.randn(4, 8))",
        "write `weight w : f32[4, 8]`",
        "weight w : f32[4, 8]",
    ),
    (
        "x = torch.tensor([1.0, 2.0])",
        "declare the tensor with its type",
        "",
    ),
    ("x = torch.zeros((4, 8))", "write `full` with the shape", ""),
    (
        "x = input(4, 8)",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "x = input(f16[4, 8])",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "w = weight([4, 8])",
        "write `weight w : f16[4, 8]`",
        "weight w : f16[4, 8]",
    ),
    (
        "x = input()",
        "declare the tensor with its type: `input x : f16[1024, 4096]`",
        "",
    ),
    (
        "input x 4 8",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "input x [4, 8]",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "input x(4, 8)",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "input x: 4, 8",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    (
        "input x = bf16[4, 8]",
        "write `input x : bf16[4, 8]`",
        "input x : bf16[4, 8]",
    ),
    (
        "input f32[4, 8] x",
        "write `input x : f32[4, 8]`",
        "input x : f32[4, 8]",
    ),
    (
        "weight w 4 8",
        "write `weight w : f16[4, 8]`",
        "weight w : f16[4, 8]",
    ),
    (
        "input x, y : f16[4, 8]",
        "write `input x : f16[4, 8]`, `input y : f16[4, 8]`",
        "input x : f16[4, 8]\ninput y : f16[4, 8]",
    ),
    (
        "x : f16[4, 8]",
        "write `input x : f16[4, 8]`",
        "input x : f16[4, 8]",
    ),
    // Sizes
    ("S = 2048", "write `param S = 2048`", "param S = 2048"),
    ("param S 2048", "write `param S = 2048`", "param S = 2048"),
    ("param S: 2048", "write `param S = 2048`", "param S = 2048"),
    (
        "B, T = x.shape",
        "write each size as a param: `param B = 1024`",
        "",
    ),
    // Modules
    (
        "self.fc1 = nn.Linear(784, 256)",
        "`y = linear(x, fc1_w, fc1_b)` where it is called",
        "weight fc1_w : f32[256, 784]\nweight fc1_b : f32[256]",
    ),
    (
        "fc = nn.Linear(784, 256, bias=False)",
        "`y = linear(x, fc_w)` where it is called",
        "weight fc_w : f32[256, 784]",
    ),
    (
        "input x : f32[4, 8]\ny = nn.Linear(8, 16)(x)",
        "`y = linear(x, y_w, y_b)`",
        "input x : f32[4, 8]\nweight y_w : f32[16, 8]\nweight y_b : f32[16]\ny = linear(x, y_w, y_b)",
    ),
    ("y = self.fc(x)", "write what the module does", ""),
    ("x = relu(x)", "give the output another name", ""),
];

const HEAD: &str = "input x : f16[8, 8]\nweight w : f16[8, 8]\n";

/// The same for texts behind these declarations.
const OPS: &[(&str, &str, &str)] = &[
    // Statements of Python and other languages
    ("import torch\na = exp(x)", "remove the line", "a = exp(x)"),
    (
        "from torch import nn\na = exp(x)",
        "remove the line",
        "a = exp(x)",
    ),
    (
        "@torch.compile\na = exp(x)",
        "remove the line",
        "a = exp(x)",
    ),
    ("a = exp(x)\nprint(a)", "remove the line", "a = exp(x)\n"),
    (
        "a = exp(x)\nreturn a",
        "a tensor that no op reads is a result",
        "a = exp(x)\n",
    ),
    ("def f(x):", "declare its inputs", ""),
    (
        "class Net(nn.Module):",
        "write the ops of its `forward`",
        "",
    ),
    ("for i in range(12):", "write `repeat 12 with x = y {`", ""),
    (
        "let y = relu(x)",
        "begin with the name of the output",
        "y = relu(x)",
    ),
    (
        "\"\"\"A block.\"\"\"a = exp(x)",
        "begin a comment with `#`",
        "# \"\"\"A block.\"\"\"a = exp(x)",
    ),
    (
        "y = relu(x) // first",
        "begin a comment with `#`",
        "y = relu(x) # first",
    ),
    (
        "y = relu(x);",
        "write one statement per line",
        "y = relu(x)\n",
    ),
    // Assignments
    ("y := relu(x)", "write one `=`", "y = relu(x)"),
    ("y == relu(x)", "write one `=`", "y = relu(x)"),
    (
        "x += b",
        "write `x_2 = add(x, b)`, and read `x_2` below",
        "",
    ),
    (
        "x *= 2",
        "write `x_2 = mul(x, 2)`, and read `x_2` below",
        "",
    ),
    (
        "q, k = x.chunk(2, dim=-1)",
        "write `q = split(x, parts=2, index=0)`",
        "q = split(x, parts=2, index=0)\nk = split(x, parts=2, index=1)",
    ),
    (
        "q, k = x.chunk(2)",
        "write `q = split(x, parts=2, index=0)`",
        "",
    ),
    (
        "output y = relu(x)",
        "`output y` on its own line",
        "y = relu(x)",
    ),
    // Calls
    ("relu(x)", "name the output: `y = relu(x)`", "y = relu(x)"),
    (
        "y = relu x",
        "write the inputs in parentheses: `relu(x)`",
        "y = relu(x)",
    ),
    (
        "y = add x, w",
        "write the inputs in parentheses: `add(x, w)`",
        "y = add(x, w)",
    ),
    (
        "y = x[0]",
        "write a part of a tensor as `slice(x, start=0, end=1, axis=0)`",
        "",
    ),
    ("y = x @ w", "write `matmul(x, w)`", "y = matmul(x, w)"),
    (
        "y = x @ w.T",
        "`transpose`, `matmul`",
        "y_transpose = transpose(w)\ny = matmul(x, y_transpose)",
    ),
    // Sizes that are expressions
    (
        "param H = 4\ny = reshape(x, H/2, -1)",
        "write `reshape(x, shape=[H/2, -1])`",
        "param H = 4\ny = reshape(x, shape=[H/2, -1])",
    ),
    (
        "param H = 4\ny = x.view(H//2, 2*H, 4)",
        "write `torch.view(x, shape=[H/2, 2*H, 4])`",
        "param H = 4\ny = torch.view(x, shape=[H/2, 2*H, 4])",
    ),
    (
        "param H = 4\ny = relu(x).reshape(H/2, 32)",
        "`relu`, `torch.reshape`",
        "param H = 4\ny_relu = relu(x)\ny = torch.reshape(y_relu, shape=[H/2, 32])",
    ),
    // The type before the call
    (
        "y : f16[8, 8] = relu(x)",
        "write it after the call: `y = relu(x) : f16[8, 8]`",
        "y = relu(x) : f16[8, 8]",
    ),
    ("y = x.T", "write `transpose(x)`", "y = transpose(x)"),
    (
        "y = relu(x).exp().T",
        "`relu`, `torch.exp`, `transpose`",
        "y_relu = relu(x)\ny_exp = torch.exp(y_relu)\ny = transpose(y_exp)",
    ),
    // What is more than a declaration stays an op.
    (
        "y = linear(x, w) + x",
        "`linear`, `add`",
        "y_linear = linear(x, w)\ny = add(y_linear, x)",
    ),
    ("y = torch.randn(8, 8) + x", "`torch.randn`, `add`", ""),
    (
        "y = F.gelu(x, approximate=\"tanh\")",
        "write a word without quotes: `tanh`",
        "y = F.gelu(x, approximate=tanh)",
    ),
    ("y = x.cuda()", "all tensors are in GPU memory", ""),
];

fn assert_told(head: &str, cases: &[(&str, &str, &str)]) {
    for &(line, hint, corrected) in cases {
        let text = format!("{head}{line}");
        let parsed = notation::parse(&text);
        let outcome = analyze_program(&parsed.program, &Options::default());
        let all = [parsed.diagnostics, outcome.diagnostics].concat();
        let first = all.iter().position(|d| d.severity == Severity::Error);
        let first = first.unwrap_or_else(|| panic!("{text}: {all:?}"));
        let told = all[first].hint.as_deref().unwrap_or_default();
        assert!(told.contains(hint), "{text}: {told}");
        let fixes = &sound_fixes(&text, &all)[first];
        let mended = fixes.first().map(|fix| fix.applied(&text).unwrap());
        let mended = mended
            .as_deref()
            .map(|text| text.strip_prefix(head).unwrap());
        assert_eq!(mended.unwrap_or_default(), corrected, "{text}");
    }
}

#[test]
fn each_line_is_told_the_right_form() {
    assert_told("", DECLARATIONS);
    assert_told(HEAD, OPS);
}

/// Words of other languages are names like any others.
#[test]
fn names_of_tensors_may_be_such_words() {
    let text = "input def : f16[4, 8]\nimport = relu(def)\ninput = exp(import)\nreturn = add(import, input)\n";
    let parsed = notation::parse(text);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.program.ops.len(), 3);
}
