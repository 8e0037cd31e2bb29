//! The notation: what it reads, and one bad input for each of its diagnostics.

use fuseline::core::notation::{parse, print};
use fuseline::core::program::{AttributeValue, ExprKind};
use fuseline::core::{DType, TensorRole};

const TIDY: &str = "\
param S = 2048 in 128..16384 step 128
param H = 4096 in 256..16384 step 256
input  x : f16[S, H]
weight w : f16[H, 4*H]
weight b : f16[4*H]
ffn_up: y1 = matmul(x, w)
        y2 = add(y1, b)
        y3 = gelu(y2)
        y4 = elementwise(y3) : f16[S, 4*H]
";

#[test]
fn all_forms_of_statements_are_read() {
    let parsed = parse(TIDY);
    assert_eq!(parsed.diagnostics, []);
    let program = parsed.program;
    assert_eq!((program.params.len(), program.declarations.len()), (2, 3));
    assert_eq!(program.params[0].value_span.slice(TIDY), "2048");
    assert_eq!(program.declarations[1].role, TensorRole::Weight);
    let up = &program.ops[0];
    assert_eq!(up.name().text, "ffn_up");
    assert_eq!(up.span.slice(TIDY), "ffn_up: y1 = matmul(x, w)");
    let last = program.ops[3].annotation.as_ref().unwrap();
    assert_eq!((last.dtype, last.dims.len()), (DType::F16, 2));
    assert_eq!(last.span.slice(TIDY), "f16[S, 4*H]");
}

#[test]
fn a_tidy_text_is_printed_as_it_is() {
    assert_eq!(print(&parse(TIDY).program), TIDY);
}

#[test]
fn attributes_are_sizes_lists_numbers_and_words() {
    let text = "param n = 4\ny = f(x, axis=-1, perm=[0, 2, 1], p=-0.5, keep=false, k=n, u=unknown, q=(m),)";
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let value = |name: &str| {
        let attributes = &parsed.program.ops[0].attributes;
        let found = attributes.iter().find(|a| a.name.text == name);
        found.map(|a| a.value.clone()).unwrap()
    };
    let size = |name: &str| match value(name) {
        AttributeValue::Size(expr) => expr.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(size("axis"), ExprKind::Int(-1));
    assert!(matches!(value("perm"), AttributeValue::Sizes(v) if v.len() == 3));
    assert_eq!(value("p"), AttributeValue::Number("-0.5".into()));
    assert_eq!(value("keep"), AttributeValue::Word("false".into()));
    assert_eq!(size("k"), ExprKind::Param("n".into()));
    assert_eq!(value("u"), AttributeValue::Word("unknown".into()));
    assert_eq!(size("q"), ExprKind::Param("m".into()));
}
