//! From a text to ops: shapes, element types, K, and one bad input for each diagnostic.

use fuseline::core::diagnostic::line_and_column;
use fuseline::core::notation::parse;
use fuseline::core::resolve::{Resolved, resolve};
use fuseline::core::{Code, DType, Op, OpType, Severity};

fn resolved(text: &str) -> Resolved {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    resolve(&parsed.program)
}

/// The ops of a text about which there is nothing to say.
fn ops(text: &str) -> Vec<Op> {
    let resolved = resolved(text);
    assert_eq!(resolved.diagnostics, [], "{text}");
    resolved.ops
}

#[test]
fn the_notation_of_the_readme_resolves() {
    let ops = ops("param S = 2048 in 128..16384 step 128
param H = 4096 in 256..16384 step 256
input  x : f16[S, H]
weight w : f16[H, 4*H]
weight b : f16[4*H]
ffn_up: y1 = matmul(x, w)
        y2 = add(y1, b)
        y3 = gelu(y2)
        y4 = elementwise(y3) : f16[S, 4*H]
");
    let names: Vec<_> = ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(names, ["ffn_up", "y2", "y3", "y4"]);
    assert!(ops.iter().all(|op| op.shape == [2048, 16384]));
    assert!(
        ops.iter()
            .all(|op| op.dtype == Some(DType::F16) && op.bytes_per_element == 2)
    );
    assert_eq!(ops[0].contraction, Some(4096));
    assert_eq!(ops[3].function, None);
    assert_eq!(ops[3].op_type, OpType::Elementwise);
}

#[test]
fn a_typo_costs_one_diagnostic_and_what_hangs_on_it_is_left_out() {
    let text = "input x : f16[8]\ny = gellu(x)\nz = relu(y)\nu = neg(x)";
    let resolved = resolved(text);
    assert_eq!(resolved.ops.len(), 1);
    assert_eq!(resolved.statement_of_op, [2]);
    let [problem] = &resolved.diagnostics[..] else {
        panic!("{:?}", resolved.diagnostics);
    };
    assert_eq!(
        (problem.severity, problem.code),
        (Severity::Error, Code::UnknownFunction)
    );
    assert_eq!(problem.hint.as_deref(), Some("did you mean `gelu`?"));
    let at = line_and_column(text, problem.span.map_or(0, |s| s.start));
    assert_eq!(at, (2, 5));
}
