//! Programs without spans, for comparing the meaning of two texts.

use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::program::{AttributeValue, Expr, ExprKind, Program, TypeAnnotation};

/// The same program with every span empty.
pub(crate) fn without_spans(mut program: Program) -> Program {
    let empty = Span::default();
    for param in &mut program.params {
        (param.span, param.value_span, param.name.span) = (empty, empty, empty);
        if let Some(dividend) = param
            .range
            .as_mut()
            .and_then(|range| range.dividing.as_mut())
        {
            clear_expr(dividend);
        }
    }
    for derived in &mut program.derived {
        (derived.span, derived.name.span) = (empty, empty);
        clear_expr(&mut derived.value);
    }
    for declaration in &mut program.declarations {
        (declaration.span, declaration.name.span) = (empty, empty);
        clear_annotation(&mut declaration.annotation);
    }
    for op in &mut program.ops {
        op.span = empty;
        let names = [&mut op.output, &mut op.callee];
        for name in names.into_iter().chain(&mut op.label).chain(&mut op.inputs) {
            name.span = empty;
        }
        for literal in &mut op.literals {
            literal.span = empty;
        }
        for attribute in &mut op.attributes {
            (attribute.span, attribute.name.span) = (empty, empty);
            match &mut attribute.value {
                AttributeValue::Size(size) => clear_expr(size),
                AttributeValue::Sizes(sizes) => sizes.iter_mut().for_each(clear_expr),
                AttributeValue::Number(_) | AttributeValue::Word(_) => {}
            }
        }
        if let Some(annotation) = &mut op.annotation {
            clear_annotation(annotation);
        }
        if let Some(kernel) = &mut op.kernel {
            kernel.span = empty;
        }
    }
    for block in &mut program.blocks {
        (block.header, block.span) = (empty, empty);
        clear_expr(&mut block.count);
        for carried in &mut block.carried {
            (carried.name.span, carried.from.span) = (empty, empty);
        }
    }
    for name in program.unreadable.iter_mut().chain(&mut program.outputs) {
        name.span = empty;
    }
    program
}

fn clear_annotation(annotation: &mut TypeAnnotation) {
    (annotation.span, annotation.dtype_span) = (Span::default(), Span::default());
    annotation.dims.iter_mut().for_each(clear_expr);
}

fn clear_expr(expr: &mut Expr) {
    expr.span = Span::default();
    match &mut expr.kind {
        ExprKind::Int(_) | ExprKind::Param(_) => {}
        ExprKind::Negate(operand) => clear_expr(operand),
        ExprKind::Binary(_, left, right) => {
            clear_expr(left);
            clear_expr(right);
        }
    }
}
