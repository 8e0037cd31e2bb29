//! The notation: statements, printing, highlighting.

use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::program::{AttributeValue, ExprKind};
use fuseline_core::notation::{parse, print};
use fuseline_core::{DType, TensorRole};

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

#[test]
fn highlighting_names_every_piece() {
    use fuseline_core::notation::{TokenKind::*, highlight};
    let text = "param S = 8 in 1..64 # ten\ninput input : f16[S, 4]\nup: y = f(input, k=S, w=no, d=f32, s=[S]) : f17[$]\n";
    let pieces = highlight(text, Span::new(0, text.len()));
    let joined: String = pieces.iter().map(|(span, _)| span.slice(text)).collect();
    assert_eq!(joined, text);
    let named: Vec<(&str, _)> = pieces
        .iter()
        .filter(|(_, kind)| !matches!(kind, Space | Punctuation))
        .map(|&(span, kind)| (span.slice(text), kind))
        .collect();
    let expected = [
        ("param", Keyword),
        ("S", Param),
        ("8", Number),
        ("in", Keyword),
        ("1", Number),
        ("64", Number),
        ("# ten", Comment),
        ("input", Keyword),
        ("input", Tensor),
        ("f16", Dtype),
        ("S", Param),
        ("4", Number),
        ("up", Label),
        ("y", Tensor),
        ("f", Function),
        ("input", Tensor),
        ("k", Attribute),
        ("S", Param),
        ("w", Attribute),
        ("no", Keyword),
        ("d", Attribute),
        ("f32", Dtype),
        ("s", Attribute),
        ("S", Param),
        ("f17", Error),
        ("$", Error),
    ];
    assert_eq!(named, expected);
}

#[test]
fn inf_is_a_number_unless_a_tensor_has_this_name() {
    let numbers = |text: &str| {
        let parsed = parse(text);
        assert_eq!(parsed.diagnostics, [], "{text}");
        assert_eq!(
            parse(&print(&parsed.program)).program.ops[0].inputs.len(),
            { parsed.program.ops[0].inputs.len() }
        );
        let literals = &parsed.program.ops[0].literals;
        let placed = literals
            .iter()
            .map(|literal| (literal.place, literal.text.clone()));
        placed.collect::<Vec<_>>()
    };
    let infinity = |place: usize| (place, "inf".to_owned());
    assert_eq!(numbers("y = where(m, x, inf)"), [infinity(2)]);
    assert_eq!(numbers("y = where(m, inf, x)"), [infinity(1)]);
    assert_eq!(numbers("y = minimum(inf, x)"), [infinity(0)]);
    assert_eq!(
        numbers("y = where(inf, inf, 2)"),
        [infinity(0), infinity(1), (2, "2".to_owned())]
    );
    assert_eq!(numbers("input inf : f16[8]\ny = add(x, inf)"), []);
    assert_eq!(numbers("y = add(x, inf)\ninf = relu(x)"), []);
}

#[test]
fn inf_is_a_number_as_an_attribute_unless_it_is_a_param() {
    let text = "f = full(value=-inf) : f32[4, 4]\ny = clamp(f, min=0, max=inf)\n";
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let value = |op: usize, at: usize| &parsed.program.ops[op].attributes[at].value;
    assert_eq!(value(0, 0), &AttributeValue::Number("-inf".to_owned()));
    assert_eq!(value(1, 1), &AttributeValue::Number("inf".to_owned()));
    assert_eq!(parse(&print(&parsed.program)).program, parsed.program);
    let of_param = parse(&format!("param inf = 8\n{text}")).program;
    assert!(matches!(
        of_param.ops[1].attributes[1].value,
        AttributeValue::Size(_)
    ));
}
