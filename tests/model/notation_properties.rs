//! Properties of the notation: parsing is total; printing and parsing are inverse.

use crate::spans::without_spans;
use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::functions::pytorch::alias;
use fuseline_core::model::program::{
    Attribute, AttributeValue, BinaryOp, Block, Carried, Declaration, Expr, ExprKind, KernelMark,
    Literal, Name, OpStatement, Param, ParamRange, Program, TypeAnnotation,
};
use fuseline_core::notation::{TokenKind, highlight, parse, print};
use fuseline_core::{DType, TensorRole};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::collections::HashSet;
use strum::VariantArray;

/// Fragments of the notation, so that random texts resemble it.
const PIECES: &[&str] = &[
    "param",
    "input",
    "weight",
    "in",
    "step",
    "repeat",
    "with",
    "repeat 3 {\n",
    "repeat S with x = y {\n",
    "{",
    "}",
    "\n}\n",
    "x",
    "y",
    "S",
    "h.0",
    "..",
    ".",
    " ",
    "\n",
    "\r\n",
    "\t",
    "=",
    ":",
    ",",
    "(",
    ")",
    "[",
    "]",
    "+",
    "-",
    "*",
    "/",
    "#",
    "`",
    "\\",
    "f16",
    "f17",
    "0",
    "1",
    "4096",
    "1e9",
    "0.5",
    "99999999999999999999",
    "relu",
    "matmul",
    "@",
    "@kernel ",
    "é",
    "×",
    "\u{feff}",
    "\"",
];

fn near_text() -> impl Strategy<Value = String> {
    vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

fn check_total(text: &str) -> Result<(), TestCaseError> {
    let parsed = parse(text);
    for diagnostic in &parsed.diagnostics {
        let span = diagnostic.span.unwrap();
        prop_assert!(
            text.get(span.start..span.end)
                .is_some_and(|s| !s.is_empty())
        );
        prop_assert!(diagnostic.hint.is_some());
    }
    prop_assert!(parsed.diagnostics.len() <= text.lines().count());
    let again = parse(&print(&parsed.program));
    let mut readable = without_spans(parsed.program);
    readable.unreadable.clear();
    readable.mentioned.clear();
    prop_assert_eq!(without_spans(again.program), readable);
    let all = Span::new(0, text.len());
    let pieces = highlight(text, all);
    let joined: String = pieces.iter().map(|(span, _)| span.slice(text)).collect();
    prop_assert_eq!(joined, text);
    for (line_start, _) in text.match_indices('\n') {
        let rest = Span::new(line_start + 1, all.end);
        let after = |(span, _): &&(Span, TokenKind)| span.start >= rest.start;
        // White space before the line is one piece with that of the line.
        let tokens = |pieces: &[(Span, TokenKind)]| -> Vec<_> {
            let tokens = pieces.iter().filter(after);
            tokens
                .filter(|(_, kind)| *kind != TokenKind::Space)
                .copied()
                .collect()
        };
        prop_assert_eq!(tokens(&highlight(text, rest)), tokens(&pieces));
    }
    Ok(())
}

fn name() -> impl Strategy<Value = Name> {
    let text = prop_oneof![
        4 => "[a-z]{1,2}",
        1 => "[a-zA-Zé_][a-z0-9_.]{0,8}",
        1 => any::<String>(),
        1 => prop::sample::select(&["param", "input", "weight", "output", "in", "step", "repeat", "with", "f16", "<img onerror=alert(1)>"][..])
            .prop_map(str::to_owned),
    ];
    text.prop_map(|text| Name {
        text,
        span: Span::default(),
    })
}

fn expr() -> impl Strategy<Value = Expr> {
    let new = |kind| Expr {
        kind,
        span: Span::default(),
    };
    let leaf = prop_oneof![
        any::<i64>().prop_map(ExprKind::Int),
        (0..9_i64).prop_map(ExprKind::Int),
        name().prop_map(|n| ExprKind::Param(n.text)),
    ];
    let operator =
        prop::sample::select(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div][..]);
    leaf.prop_map(new).prop_recursive(5, 20, 2, move |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(move |e| new(ExprKind::Negate(Box::new(e)))),
            (operator.clone(), inner.clone(), inner)
                .prop_map(move |(o, a, b)| { new(ExprKind::Binary(o, Box::new(a), Box::new(b))) }),
        ]
    })
}

fn annotation() -> impl Strategy<Value = TypeAnnotation> {
    let dtype = prop::sample::select(DType::VARIANTS);
    (dtype, vec(expr(), 0..4)).prop_map(|(dtype, dims)| TypeAnnotation {
        dtype,
        dtype_span: Span::default(),
        dims,
        span: Span::default(),
    })
}

fn attribute() -> impl Strategy<Value = Attribute> {
    let value = prop_oneof![
        expr().prop_map(AttributeValue::Size),
        vec(expr(), 0..4).prop_map(AttributeValue::Sizes),
        "-?[0-9]{1,3}\\.[0-9]{1,3}(e-?[0-9])?".prop_map(AttributeValue::Number),
        name().prop_map(|n| AttributeValue::Word(n.text)),
    ];
    (name(), value).prop_map(|(name, value)| Attribute {
        name,
        value,
        span: Span::default(),
    })
}

fn param() -> impl Strategy<Value = Param> {
    let range = (1..9_i64, 0..9_i64, 1..3_i64, option::of(expr()));
    let range = option::of(range).prop_map(|range| {
        range.map(|(min, length, step, dividing)| ParamRange {
            min,
            max: min + length,
            step,
            dividing,
        })
    });
    (name(), 1..=i64::MAX, range).prop_map(|(name, value, range)| Param {
        name,
        value,
        value_span: Span::default(),
        range,
        span: Span::default(),
    })
}

fn declaration() -> impl Strategy<Value = Declaration> {
    let role = prop::sample::select(&[TensorRole::Input, TensorRole::Weight][..]);
    (role, name(), annotation()).prop_map(|(role, name, annotation)| Declaration {
        role,
        name,
        annotation,
        span: Span::default(),
    })
}

/// A tensor, or a number in its place.
fn argument() -> impl Strategy<Value = Result<Name, String>> {
    prop_oneof![
        3 => name().prop_map(Ok),
        1 => "-?[0-9]{1,3}(\\.[0-9]{1,3})?(e-?[0-9])?|-inf".prop_map(Err),
    ]
}

fn op() -> impl Strategy<Value = OpStatement> {
    (
        option::of(name()),
        name(),
        name(),
        vec(argument(), 0..4),
        vec(attribute(), 0..3),
        option::of(annotation()),
        option::of(any::<u32>()),
    )
        .prop_map(
            |(label, output, callee, arguments, attributes, annotation, kernel)| {
                let mut names = HashSet::new();
                let (mut inputs, mut literals) = (Vec::new(), Vec::new());
                for (place, argument) in arguments.into_iter().enumerate() {
                    match argument {
                        Ok(name) => inputs.push(name),
                        Err(text) => literals.push(Literal {
                            place,
                            text,
                            span: Span::default(),
                        }),
                    }
                }
                OpStatement {
                    label: label.filter(|l| l.text != output.text),
                    output,
                    callee,
                    inputs,
                    literals,
                    attributes: attributes
                        .into_iter()
                        .filter(|a| names.insert(a.name.text.clone()))
                        .collect(),
                    annotation,
                    kernel: kernel.map(|number| KernelMark {
                        number,
                        span: Span::default(),
                    }),
                    span: Span::default(),
                }
            },
        )
}

/// A count, what is carried, and where its declarations, ops and outputs begin and end among those
/// of the program.
fn block() -> impl Strategy<Value = (Expr, Vec<Carried>, [[usize; 2]; 3])> {
    let carried = (name(), name()).prop_map(|(name, from)| Carried { name, from });
    let ends = prop::array::uniform2(0..6_usize);
    (expr(), vec(carried, 0..3), prop::array::uniform3(ends))
}

/// Blocks one behind the other over lists of these lengths.
fn blocks_in(drawn: Vec<(Expr, Vec<Carried>, [[usize; 2]; 3])>, lengths: [usize; 3]) -> Vec<Block> {
    let mut next = [0; 3];
    let blocks = drawn.into_iter().map(|(count, carried, sizes)| {
        let [declarations, ops, outputs] = [0, 1, 2].map(|kind| {
            let [before, inside] = sizes[kind];
            let start = (next[kind] + before).min(lengths[kind]);
            next[kind] = (start + inside).min(lengths[kind]);
            start..next[kind]
        });
        Block {
            count,
            carried,
            declarations,
            ops,
            outputs,
            header: Span::default(),
            span: Span::default(),
        }
    });
    blocks.collect()
}

/// Programs without duplicate names.
fn program() -> impl Strategy<Value = Program> {
    (
        vec(param(), 0..4),
        vec(declaration(), 0..4),
        vec(op(), 0..6),
        vec(name(), 0..3),
        vec(block(), 0..3),
    )
        .prop_map(|(params, declarations, ops, outputs, blocks)| {
            let (mut param_names, mut tensors, mut op_names, mut output_names) = (
                HashSet::new(),
                HashSet::new(),
                HashSet::new(),
                HashSet::new(),
            );
            let mut program = Program {
                derived: Vec::new(),
                unreadable: Vec::new(),
                mentioned: HashSet::new(),
                blocks: Vec::new(),
                params: params
                    .into_iter()
                    .filter(|p| param_names.insert(p.name.text.clone()))
                    .collect(),
                declarations: declarations
                    .into_iter()
                    .filter(|d| tensors.insert(d.name.text.clone()))
                    .collect(),
                ops: ops
                    .into_iter()
                    .filter(|op| {
                        !tensors.contains(&op.output.text)
                            && !op_names.contains(&op.name().text)
                            && tensors.insert(op.output.text.clone())
                            && op_names.insert(op.name().text.clone())
                    })
                    .collect(),
                outputs: outputs
                    .into_iter()
                    .filter(|name| output_names.insert(name.text.clone()))
                    .collect(),
            };
            let lengths = [
                program.declarations.len(),
                program.ops.len(),
                program.outputs.len(),
            ];
            program.blocks = blocks_in(blocks, lengths);
            program
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        check_total(&text)?;
    }

    #[test]
    fn any_text_near_the_notation_is_read(text in near_text()) {
        check_total(&text)?;
    }

    #[test]
    fn printing_and_reading_are_inverse(program in program()) {
        // A name of PyTorch is read as that of the notation.
        let is_ours = |op: &OpStatement| alias(&op.callee.text).is_none();
        prop_assume!(program.ops.iter().all(is_ours));
        let text = print(&program);
        let parsed = parse(&text);
        prop_assert_eq!(&without_spans(parsed.program), &program, "{}", text);
    }
}

/// Printed with other spaces than it was read with.
#[test]
fn a_derived_param_is_printed_and_read() {
    check_total("param\u{feff}D=H/2").unwrap();
    check_total("param H = 8\nparam  D =  (H + 2) / 2\n").unwrap();
}

#[test]
fn twenty_thousand_ops_are_read() {
    let lines: Vec<String> = (1..=20_000)
        .map(|op| format!("op{op}: t{op} = add(t{}, t{})", op - 1, op / 2))
        .collect();
    let parsed = parse(&lines.join("\n"));
    assert_eq!(
        (parsed.program.ops.len(), parsed.diagnostics.len()),
        (20_000, 0)
    );
    assert_eq!(
        without_spans(parse(&print(&parsed.program)).program),
        without_spans(parsed.program)
    );
}
