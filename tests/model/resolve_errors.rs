//! One invalid input for each diagnostic of resolving: severity, code, position, message and hint.

use crate::resolve::resolved;
use fuseline_core::model::diagnostic::line_and_column;
use fuseline_core::{Code, Severity};

pub(crate) struct Case {
    pub(crate) text: &'static str,
    severity: Severity,
    code: Code,
    /// Line and column.
    at: (usize, usize),
    message: &'static str,
    hint: &'static str,
}

const fn error(
    text: &'static str,
    code: Code,
    at: (usize, usize),
    message: &'static str,
    hint: &'static str,
) -> Case {
    Case {
        text,
        severity: Severity::Error,
        code,
        at,
        message,
        hint,
    }
}

#[rustfmt::skip]
pub(crate) const CASES: &[Case] = &[
    error("input x : f16[4]\ny = gellu(x)", Code::UnknownFunction, (2, 5),
        "there is no function `gellu`", "did you mean `gelu`?"),
    error("input x : f16[4]\ny = rleu(x)", Code::UnknownFunction, (2, 5),
        "there is no function `rleu`", "did you mean `relu`?"),
    error("input x : f16[4]\ny = wavelet(x)", Code::UnknownFunction, (2, 5),
        "there is no function `wavelet`",
        "use a listed function, or `elementwise` or `reduction` with a shape after a colon"),
    error("input x : f16[4]\ny = add(x)", Code::WrongInputCount, (2, 5),
        "`add` takes 2 inputs, not 1", "name 1 more input"),
    error("input x : f16[4]\ny = relu(x, x, x)", Code::WrongInputCount, (2, 5),
        "`relu` takes 1 input, not 3", "remove 2 inputs"),
    error("input x : f16[4]\ny = linear(x)", Code::WrongInputCount, (2, 5),
        "`linear` takes 2 to 3 inputs, not 1", "name 1 more input"),
    error("input x : f16[4]\ny = concat(x)", Code::WrongInputCount, (2, 5),
        "`concat` takes 2 or more inputs, not 1", "name 1 more input"),
    error("input x : f16[4]\ny = softmax(x, axs=0)", Code::UnknownAttribute, (2, 16),
        "`softmax` has no attribute `axs`", "did you mean `axis`? `softmax` takes `axis`"),
    error("input x : f16[4]\ny = relu(x, axis=0)", Code::UnknownAttribute, (2, 13),
        "`relu` has no attribute `axis`", "remove it"),
    error("input x : f16[4]\ny = elementwise(x, axis=0) : f16[4]", Code::UnknownAttribute, (2, 20),
        "`elementwise` has no attribute `axis`", "remove it"),
    error("input x : f16[4]\ny = softmax(x, axis=all)", Code::UnknownParam, (2, 16),
        "no param is called `all`", "declare it: `param all = 1024`"),
    error("a = relu(b) : f16[4]\nb = relu(c) : f16[4]\nc = relu(a) : f16[4]", Code::Cycle, (1, 1),
        "the ops form a cycle: a → c → b → a", "break the cycle: one of these ops must read another tensor"),
    error("x = relu(x)", Code::Cycle, (1, 1),
        "the ops form a cycle: x → x", "an op cannot read its own output: give the output another name"),
    Case { text: "input x : f16[8, 6]\ny = matmul(x, w) : f16[8, 5]", severity: Severity::Warning,
        code: Code::UndeclaredTensor, at: (2, 15),
        message: "`w` is not declared: the other shapes of its reader require f16[6, 5]",
        hint: "declare it: `weight w : f16[6, 5]`" },
    Case { text: "input x : f16[8, 6]\ny = add(x, b) : f16[8, 6]", severity: Severity::Warning,
        code: Code::UndeclaredTensor, at: (2, 12),
        message: "`b` is not declared: its assumed size is that of `y`, f16[8, 6]",
        hint: "declare it: `input b : f16[8, 6]`" },
    error("param heads = 4\ninput x : f16[headz]\ny = relu(x)", Code::UnknownParam, (2, 15),
        "no param is called `headz`", "did you mean `heads`?"),
    error("input x : f16[2*Q]\ny = relu(x)", Code::UnknownParam, (1, 17),
        "no param is called `Q`", "declare it: `param Q = 1024`"),
    error("input x : f16[8, 6]\ninput z : f16[7, 6]\ny = add(x, z)", Code::ShapeMismatch, (3, 12),
        "`z` f16[7, 6] does not broadcast with `x` f16[8, 6]",
        "from the last dimension back, each pair of sizes must be equal, or one of them 1"),
    error("input q : bf16[1, 8, 16, 64]\ninput k : bf16[1, 3, 16, 64]\no = sdpa(q, k, k, enable_gqa=true)", Code::ShapeMismatch, (3, 13),
        "`k` bf16[1, 3, 16, 64] and `q` bf16[1, 8, 16, 64] differ in their number of heads",
        "q has a multiple of the heads of k and v, but 8 is no multiple of 3"),
    error("y = softmax(x, axis=2) : f16[4, 8]", Code::UnknownAttribute, (1, 16),
        "`axis` is 2, but `x` f16[4, 8] has 2 dimensions", "use a number from -2 to 1"),
    error("y = sum(x, axis=2) : f16[4, 1]", Code::UnknownAttribute, (1, 12),
        "`axis` is 2, but `x` f16[4, 1] has 2 dimensions", "use a number from -2 to 1"),
    error("y = sum(x, axis=[0, 4], keepdim=false) : f16[4, 8]", Code::UnknownAttribute, (1, 12),
        "`axis` is 4, but `x` f16[4, 8, 1, 1] has 4 dimensions", "use a number from -4 to 3"),
    error("y = flip(x, axis=-3) : f16[4, 8]", Code::UnknownAttribute, (1, 13),
        "`axis` is -3, but `x` f16[4, 8] has 2 dimensions", "use a number from -2 to 1"),
    error("input a : f16[4, 6]\ny = concat(a, x, axis=2) : f16[4, 8]", Code::UnknownAttribute, (2, 18),
        "`axis` is 2, but `a` f16[4, 6] has 2 dimensions", "use a number from -2 to 1"),
    error("y = transpose(x, perm=[0, 0]) : f16[4, 8]", Code::UnknownAttribute, (1, 18),
        "`perm` must name each dimension of `y` f16[4, 8] once", "write the numbers from 0 to 1 in some order"),
    error("input x : i64[8, 6]\ny = F.softmax(x, dim=-1)", Code::ShapeMismatch, (2, 15),
        "`softmax` takes floats, which `x` i64[8, 6] does not hold", "convert it first: `cast(x, dtype=f32)`"),
    error("input x : f16[8, 6]\ninput w : i32[6]\ny = layer_norm(x, w)", Code::ShapeMismatch, (3, 19),
        "`layer_norm` takes floats, which `w` i32[6] does not hold", "convert it first: `cast(w, dtype=f32)`"),
    error("input q : f16[1, 8, 6]\ninput k : i8[1, 8, 6]\ny = sdpa(q, k, q)", Code::ShapeMismatch, (3, 13),
        "`sdpa` takes floats, which `k` i8[1, 8, 6] does not hold", "convert it first: `cast(k, dtype=f32)`"),
    error("input x : f16[8, 6]\ny = sum(x) : f16[8]", Code::AnnotationMismatch, (2, 14),
        "`y` is annotated as [8], but `sum` gives [8, 1]", "remove or correct the annotation, or correct the inputs"),
    error("input x : f16[8, 6]\ny = matmul(x, x, transpose_b=true) : f16[8, 6]", Code::AnnotationMismatch, (2, 38),
        "`y` is annotated as [8, 6], but `matmul` gives [8, 8]",
        "remove or correct the annotation, or give `k=` if the operands hold more than the op reads"),
    error("input x : f16[8, 6]\ny = relu(x) : f32[8, 6]", Code::AnnotationMismatch, (2, 15),
        "`y` is annotated as f32, but `relu` gives f16", "write f16, or add a `cast` where the element type changes"),
    error("input x : f16[8]\ny = cast(x, dtype=f32) : bf16[8]", Code::AnnotationMismatch, (2, 26),
        "`y` is annotated as bf16, but `cast` gives f32", "write f32, or change the attribute to match"),
    error("input x : f16[8, 6]\ny = elementwise(x)", Code::MissingShape, (2, 5),
        "`elementwise` needs a shape", "write it after a colon, such as `: f16[8, 6]`"),
    error("y = reduction()", Code::MissingShape, (1, 5),
        "`reduction` needs a shape", "write it after a colon, such as `: f16[1024]`"),
    error("input x : f16[8, 6]\ny = reshape(x)", Code::MissingShape, (2, 5),
        "a reshape needs its new shape", "write it after a colon, such as `: f16[...]`, or as `shape=[...]`"),
    error("input x : f16[8, 6]\ny = matmul(x, w)", Code::MissingShape, (2, 15),
        "the shape of `y` depends on `w`, which is not declared",
        "declare it, such as `weight w : f16[6, 1024]`, or write the op's own shape after a colon"),
    error("y = relu(x)", Code::MissingShape, (1, 10),
        "the shape of `y` depends on `x`, which is not declared",
        "declare it, such as `input x : f16[1024, 1024]`, or write the op's own shape after a colon"),
    error("input embedding : f32[8, 6]\na = relu(embedding)\ny = relu(embeding)", Code::MissingShape, (3, 10),
        "the shape of `y` depends on `embeding`, which is not declared", "did you mean `embedding`?"),
    error("param S = 4\ninput x : f16[S - 4]\ny = relu(x)", Code::NonPositiveSize, (2, 15),
        "`S - 4` is 0", "every size is at least 1"),
    error("param H = 4096\nparam n = 33\ninput x : f16[H / n, 2]\ny = relu(x)", Code::InexactDivision, (3, 15),
        "`H/n` is 4096 / 33, which leaves a remainder of 4", "choose sizes of which one divides the other"),
    error("param H = 8\ninput x : f16[H / (H - 8)]\ny = relu(x)", Code::InexactDivision, (2, 15),
        "`H/(H - 8)` divides by zero", "divide by a number that is not zero"),
    error("param H = 9223372036854775807\ninput x : f16[H * 2]\ny = relu(x)", Code::Overflow, (2, 15),
        "`H*2` exceeds 2^63", "use smaller sizes"),
    error("param H = 4000000000\ninput x : f16[H, H]\ny = relu(x)", Code::Overflow, (2, 11),
        "the bytes of `x` f16[4000000000, 4000000000] exceed 2^63", "use smaller sizes"),
    error("input x : f16[4000000000, 1]\ninput z : f16[1, 4000000000]\ny = add(x, z)", Code::Overflow, (3, 1),
        "the bytes of `y` f16[4000000000, 4000000000] exceed 2^63", "use smaller sizes"),
    Case { text: "input p : f16[7, 3]\ninput q : f16[9, 6]\ny = matmul(p, q, k=unknown) : f16[8, 5]", severity: Severity::Note,
        code: Code::UnknownK, at: (3, 5),
        message: "the contraction length of `y` is unknown, so it has no FLOPs and no point on the roofline",
        hint: "declare its operands, or give it as `k=1024`" },
    Case { text: "input x : f16[8]\ninput z : f16[8]\ny = relu(x)", severity: Severity::Note,
        code: Code::UnusedTensor, at: (2, 7),
        message: "no op reads `z`", hint: "remove it, or name it as an input" },
];

#[test]
fn each_bad_input_has_one_finding_at_its_place() {
    for case in CASES {
        let found = resolved(case.text).diagnostics;
        let [one] = &found[..] else {
            panic!("{}: {found:?}", case.text)
        };
        let at = line_and_column(case.text, one.span.unwrap().start);
        assert_eq!(
            (
                one.severity,
                one.code,
                at,
                one.message.as_str(),
                one.hint.as_deref()
            ),
            (
                case.severity,
                case.code,
                case.at,
                case.message,
                Some(case.hint)
            ),
            "{}",
            case.text
        );
    }
}

#[test]
fn an_invalid_line_is_reported_once() {
    let good = "param S = 64 in 1..128\ninput x : f16[S, 8]\nweight w : f16[8, 4]\ny = matmul(x, w)\nl: z = relu(y)\nu = exp(z)\n";
    for (broken, at) in [
        (good.replacen("S = 64", "S = = 64", 1), (1, 11)),
        (good.replacen("x : f16[S", "x : f16[[S", 1), (2, 15)),
        (good.replacen("w : f16", "w : f17", 1), (3, 12)),
        (good.replacen("matmul(", "matmul)", 1), (4, 11)),
        (good.replacen("relu(y)", "relu(y", 1), (5, 12)),
        (good.replacen("l: z = relu(y)", "l: z = ", 1), (5, 6)),
    ] {
        let parsed = fuseline_core::notation::parse(&broken);
        let outcome =
            fuseline_core::analyze_program(&parsed.program, &fuseline_core::Options::default());
        let all = fuseline_core::model::diagnostic::merged(parsed.diagnostics, outcome.diagnostics);
        let errors: Vec<_> = all
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .collect();
        assert_eq!(errors.len(), 1, "{broken}\n{all:#?}");
        let place = line_and_column(&broken, errors[0].span.unwrap().start);
        assert_eq!(place, at, "{broken}\n{all:#?}");
    }
}
