//! Prints a program as text.

use crate::model::program::{
    Argument, Attribute, AttributeValue, BinaryOp, Block, Declaration, Expr, ExprKind, Name,
    OpStatement, Param, Program, TypeAnnotation,
};
use crate::notation::lexer::written_name;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Widest column that is padded, in characters, so that one long name does not indent all others.
const WIDEST_COLUMN: usize = 24;

/// Prints a program so that [`super::parse`] gives the same program again, except for its spans.
///
/// Params come first, then declarations, ops and outputs, one on each line, with names in columns.
/// Each block is printed in this order, too, and so are the statements between two blocks.
/// `O(program)`.
///
/// ```
/// use fuseline_core::notation::{parse, print};
/// let text = "param S=8 in 1..64\nfirst: y=add(x,b)\nresult=gelu(y):f16[S,4*S]";
/// let tidy = print(&parse(text).program);
/// assert_eq!(tidy, "\
/// param S = 8 in 1..64
/// first: y      = add(x, b)
///        result = gelu(y) : f16[S, 4*S]
/// ");
/// ```
pub fn print(program: &Program) -> String {
    print_commented(program, &[])
}

/// As [`print`], with a comment before the ops that have one; `comments` are those of the ops by
/// index, empty for none. Equal comments of ops that follow each other are one.
pub fn print_commented(program: &Program, comments: &[String]) -> String {
    let mut text = String::new();
    let name_width = column_width(program.params.iter().map(|p| &p.name));
    for param in &program.params {
        print_param(&mut text, param, name_width);
    }
    for derived in &program.derived {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "param {} = {}",
            written_name(&derived.name.text),
            print_expr(&derived.value)
        );
    }
    let derived = program.derived.iter().map(|derived| &derived.name);
    let params = program.params.iter().map(|param| &param.name);
    let params: HashSet<&str> = params
        .chain(derived)
        .map(|name| name.text.as_str())
        .collect();
    let (mut declarations, mut ops, mut outputs) = (0, 0, 0);
    for block in &program.blocks {
        Section {
            indent: "",
            declarations: between(
                &program.declarations,
                declarations,
                block.declarations.start,
            ),
            ops: between(&program.ops, ops, block.ops.start),
            comments: between(comments, ops, block.ops.start),
            outputs: between(&program.outputs, outputs, block.outputs.start),
        }
        .print(&mut text, &params);
        (declarations, ops, outputs) = (block.declarations.end, block.ops.end, block.outputs.end);
        print_header(&mut text, block);
        Section {
            indent: "  ",
            declarations: between(
                &program.declarations,
                block.declarations.start,
                declarations,
            ),
            ops: between(&program.ops, block.ops.start, ops),
            comments: between(comments, block.ops.start, ops),
            outputs: between(&program.outputs, block.outputs.start, outputs),
        }
        .print(&mut text, &params);
        text.push_str("}\n");
    }
    Section {
        indent: "",
        declarations: between(
            &program.declarations,
            declarations,
            program.declarations.len(),
        ),
        ops: between(&program.ops, ops, program.ops.len()),
        comments: between(comments, ops, program.ops.len()),
        outputs: between(&program.outputs, outputs, program.outputs.len()),
    }
    .print(&mut text, &params);
    text
}

fn between<T>(items: &[T], start: usize, end: usize) -> &[T] {
    items.get(start..end).unwrap_or(&[])
}

fn print_header(text: &mut String, block: &Block) {
    let _ = write!(text, "repeat {}", print_expr(&block.count));
    for (place, carried) in block.carried.iter().enumerate() {
        let before = if place == 0 { " with" } else { "," };
        let [name, from] = [&carried.name, &carried.from].map(|name| written_name(&name.text));
        let _ = write!(text, "{before} {name} = {from}");
    }
    text.push_str(" {\n");
}

/// The statements of a block, or those between two blocks.
struct Section<'a> {
    indent: &'static str,
    declarations: &'a [Declaration],
    ops: &'a [OpStatement],
    /// Those of the ops; none if the program has none.
    comments: &'a [String],
    outputs: &'a [Name],
}

impl Section<'_> {
    fn print(&self, text: &mut String, params: &HashSet<&str>) {
        let indent = self.indent;
        let roles = self.declarations.iter().map(|d| d.role.name().len());
        let role_width = roles.max().unwrap_or(0);
        let name_width = column_width(self.declarations.iter().map(|d| &d.name));
        for declaration in self.declarations {
            let role = declaration.role.name();
            let name = written_name(&declaration.name.text);
            let annotation = print_type(&declaration.annotation);
            let _ = writeln!(
                text,
                "{indent}{role:<role_width$} {name:<name_width$} : {annotation}"
            );
        }
        let label_width = match column_width(self.ops.iter().filter_map(|op| op.label.as_ref())) {
            0 => 0,
            width => width + ": ".len(),
        };
        let output_width = column_width(self.ops.iter().map(|op| &op.output));
        let mut last = "";
        for (index, op) in self.ops.iter().enumerate() {
            if let Some(comment) = self.comments.get(index).filter(|own| **own != last) {
                last = comment;
                if !comment.is_empty() {
                    let _ = writeln!(text, "{indent}# {comment}");
                }
            }
            let label = match &op.label {
                Some(label) => format!("{}: ", written_name(&label.text)),
                None => String::new(),
            };
            let output = written_name(&op.output.text);
            let call = call_text(op, &|name| params.contains(name));
            let _ = writeln!(
                text,
                "{indent}{label:<label_width$}{output:<output_width$} = {call}"
            );
        }
        for output in self.outputs {
            let _ = writeln!(text, "{indent}output {}", written_name(&output.text));
        }
    }
}

/// Width of the widest printed name that fits a column.
fn column_width<'a>(names: impl Iterator<Item = &'a Name>) -> usize {
    names
        .map(|name| written_name(&name.text).chars().count())
        .filter(|&width| width <= WIDEST_COLUMN)
        .max()
        .unwrap_or(0)
}

fn print_param(text: &mut String, param: &Param, name_width: usize) {
    let name = written_name(&param.name.text);
    let _ = write!(text, "param {name:<name_width$} = {}", param.value);
    if let Some(range) = &param.range {
        let _ = write!(text, " in {}..{}", range.min, range.max);
        if range.step != 1 {
            let _ = write!(text, " step {}", range.step);
        }
        if let Some(dividend) = &range.dividing {
            let _ = write!(text, " dividing {}", print_expr(dividend));
        }
    }
    text.push('\n');
}

/// From the callee to the end of the statement.
fn call_text(op: &OpStatement, is_param: &dyn Fn(&str) -> bool) -> String {
    let inputs = (op.arguments().into_iter()).map(|(argument, _)| match argument {
        Argument::Tensor(name) => written_name(name),
        Argument::Literal(number) => number.to_owned(),
    });
    let attributes = op.attributes.iter().map(|attribute| {
        let name = written_name(&attribute.name.text);
        format!("{name}={}", attribute_text(attribute, is_param))
    });
    let arguments: Vec<String> = inputs.chain(attributes).collect();
    let mut text = format!(
        "{}({})",
        written_name(&op.callee.text),
        arguments.join(", ")
    );
    if let Some(annotation) = &op.annotation {
        let _ = write!(text, " : {}", print_type(annotation));
    }
    if let Some(kernel) = &op.kernel {
        let _ = write!(text, " @kernel {}", kernel.number);
    }
    text
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

/// A type as the notation writes it: `f16[S, 4*H]`.
pub fn print_type(annotation: &TypeAnnotation) -> String {
    format!(
        "{}{}",
        annotation.dtype.name(),
        sizes_text(&annotation.dims)
    )
}

fn sizes_text(sizes: &[Expr]) -> String {
    let sizes: Vec<String> = sizes.iter().map(print_expr).collect();
    format!("[{}]", sizes.join(", "))
}

/// A size expression as the notation writes it: `4*H`, `(S + 1)*H`.
pub fn print_expr(expr: &Expr) -> String {
    expr_text(expr, 0)
}

/// `expr`, in brackets if its operator binds more weakly than `binding`.
fn expr_text(expr: &Expr, binding: u8) -> String {
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Param(name) => written_name(name),
        ExprKind::Negate(operand) => match operand.kind {
            // `-1` is a literal; `-(1)` is the negation of a literal.
            ExprKind::Int(value) if value >= 0 => format!("-({value})"),
            _ => format!("-{}", expr_text(operand, NEGATION)),
        },
        ExprKind::Binary(operator, left, right) => {
            let (own, symbol) = match operator {
                BinaryOp::Add => (SUM, " + "),
                BinaryOp::Sub => (SUM, " - "),
                BinaryOp::Mul => (PRODUCT, "*"),
                BinaryOp::Div => (PRODUCT, "/"),
            };
            let (left, right) = (expr_text(left, own), expr_text(right, own + 1));
            if own < binding {
                format!("({left}{symbol}{right})")
            } else {
                format!("{left}{symbol}{right}")
            }
        }
    }
}

const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const NEGATION: u8 = 3;
