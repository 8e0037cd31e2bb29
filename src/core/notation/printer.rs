//! Prints a program as text.

use super::lexer::written_name;
use crate::core::model::op::TensorRole;
use crate::core::model::program::{
    Attribute, AttributeValue, BinaryOp, Declaration, Expr, ExprKind, Name, OpStatement, Param,
    ParamRange, Program, TypeAnnotation,
};
use std::collections::HashSet;

/// Widest column that is padded, in characters, so that one long name does not indent all others.
const WIDEST_COLUMN: usize = 24;

/// Prints a program so that [`super::parse`] gives the same program again, except for its spans.
///
/// Params come first, then declarations, then ops, one on each line, with names in columns. `O(program)`.
///
/// ```
/// use fuseline::core::notation::{parse, print};
/// let tidy = print(&parse("param S=8 in 1..64\nfirst: y=add(x,b)\nresult=gelu(y):f16[S,4*S]").program);
/// assert_eq!(tidy, "\
/// param S = 8 in 1..64
/// first: y      = add(x, b)
///        result = gelu(y) : f16[S, 4*S]
/// ");
/// ```
pub fn print(program: &Program) -> String {
    let mut text = String::new();
    let name_width = column_width(program.params.iter().map(|p| &p.name));
    for param in &program.params {
        print_param(&mut text, param, name_width);
    }
    let role_width = if program.declarations.iter().any(is_weight) {
        "weight".len()
    } else {
        "input".len()
    };
    let name_width = column_width(program.declarations.iter().map(|d| &d.name));
    for Declaration {
        role,
        name,
        annotation,
        ..
    } in &program.declarations
    {
        let role = match role {
            TensorRole::Input => "input",
            TensorRole::Weight => "weight",
        };
        text.push_str(&padded(role, role_width));
        text.push(' ');
        text.push_str(&padded(&written_name(&name.text), name_width));
        text.push_str(" : ");
        print_annotation(&mut text, annotation);
        text.push('\n');
    }
    let params: HashSet<&str> = program
        .params
        .iter()
        .map(|p| p.name.text.as_str())
        .collect();
    let label_width = match column_width(program.ops.iter().filter_map(|op| op.label.as_ref())) {
        0 => 0,
        width => width + ": ".len(),
    };
    let output_width = column_width(program.ops.iter().map(|op| &op.output));
    for op in &program.ops {
        let label = match &op.label {
            Some(label) => format!("{}: ", written_name(&label.text)),
            None => String::new(),
        };
        text.push_str(&padded(&label, label_width));
        text.push_str(&padded(&written_name(&op.output.text), output_width));
        text.push_str(" = ");
        print_call(&mut text, op, &|name| params.contains(name));
        text.push('\n');
    }
    text
}

fn is_weight(declaration: &Declaration) -> bool {
    declaration.role == TensorRole::Weight
}

/// Width of the widest printed name that fits a column.
fn column_width<'a>(names: impl Iterator<Item = &'a Name>) -> usize {
    names
        .map(|name| written_name(&name.text).chars().count())
        .filter(|&width| width <= WIDEST_COLUMN)
        .max()
        .unwrap_or(0)
}

fn padded(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

fn print_param(text: &mut String, param: &Param, name_width: usize) {
    let name = padded(&written_name(&param.name.text), name_width);
    let range = match param.range {
        Some(ParamRange { min, max, step: 1 }) => format!(" in {min}..{max}"),
        Some(ParamRange { min, max, step }) => format!(" in {min}..{max} step {step}"),
        None => String::new(),
    };
    text.extend([
        "param ",
        &name,
        " = ",
        &param.value.to_string(),
        &range,
        "\n",
    ]);
}

/// Prints a call, from the callee to the kernel mark.
fn print_call(text: &mut String, op: &OpStatement, is_param: &dyn Fn(&str) -> bool) {
    text.push_str(&written_name(&op.callee.text));
    text.push('(');
    let inputs = op.inputs.iter().map(|input| written_name(&input.text));
    let attributes = op.attributes.iter().map(|attribute| {
        let name = written_name(&attribute.name.text);
        format!("{name}={}", attribute_text(attribute, is_param))
    });
    let arguments: Vec<String> = inputs.chain(attributes).collect();
    text.push_str(&arguments.join(", "));
    text.push(')');
    if let Some(annotation) = &op.annotation {
        text.push_str(" : ");
        print_annotation(text, annotation);
    }
    if let Some(kernel) = &op.kernel {
        text.extend([" @kernel ", &kernel.number.to_string()]);
    }
}

fn attribute_text(attribute: &Attribute, is_param: &dyn Fn(&str) -> bool) -> String {
    match &attribute.value {
        AttributeValue::Size(expr) => match &expr.kind {
            // Without brackets or backquotes it would be parsed as a word.
            ExprKind::Param(name) if !is_param(name) || written_name(name) != *name => {
                format!("({})", written_name(name))
            }
            _ => print_expr(expr),
        },
        AttributeValue::Sizes(sizes) => sizes_text(sizes),
        AttributeValue::Number(number) => number.clone(),
        AttributeValue::Word(word) if is_param(word) && written_name(word) == *word => {
            format!("`{word}`")
        }
        AttributeValue::Word(word) => written_name(word),
    }
}

fn print_annotation(text: &mut String, annotation: &TypeAnnotation) {
    text.push_str(annotation.dtype.name());
    text.push_str(&sizes_text(&annotation.dims));
}

fn sizes_text(sizes: &[Expr]) -> String {
    let sizes: Vec<String> = sizes.iter().map(print_expr).collect();
    format!("[{}]", sizes.join(", "))
}

/// A size expression as the notation writes it: `4*H`, `(S + 1)*H`.
pub fn print_expr(expr: &Expr) -> String {
    let mut text = String::new();
    push_expr(&mut text, expr, 0);
    text
}

/// Prints `expr`, in brackets if its operator binds weaker than `binding`.
fn push_expr(text: &mut String, expr: &Expr, binding: u8) {
    match &expr.kind {
        ExprKind::Int(value) => text.push_str(&value.to_string()),
        ExprKind::Param(name) => text.push_str(&written_name(name)),
        ExprKind::Negate(operand) => {
            text.push('-');
            // `-1` is a literal; `-(1)` is the negation of a literal.
            let is_literal = matches!(operand.kind, ExprKind::Int(value) if value >= 0);
            if is_literal {
                text.push('(');
            }
            push_expr(text, operand, NEGATION);
            if is_literal {
                text.push(')');
            }
        }
        ExprKind::Binary(operator, left, right) => {
            let (own, symbol) = match operator {
                BinaryOp::Add => (SUM, " + "),
                BinaryOp::Sub => (SUM, " - "),
                BinaryOp::Mul => (PRODUCT, "*"),
                BinaryOp::Div => (PRODUCT, "/"),
            };
            if own < binding {
                text.push('(');
            }
            push_expr(text, left, own);
            text.push_str(symbol);
            push_expr(text, right, own + 1);
            if own < binding {
                text.push(')');
            }
        }
    }
}

const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const NEGATION: u8 = 3;
