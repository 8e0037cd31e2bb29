//! Views among the ops of a program, and the index order that several of them give.

use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::program::{AttributeValue, Expr, ExprKind, OpStatement};
use fuseline_core::notation::print_expr;

/// Whether an op shows bytes of its input and loads none.
pub(super) fn is_view(op: &OpStatement) -> bool {
    op.inputs.len() == 1
        && op.function().is_some_and(|function| {
            let row = function.row();
            row.op_type == OpType::Reshape && row.is_view
        })
}

/// What an op does to its inputs: equal views of one tensor have one text.
pub(super) fn view_text(op: &OpStatement) -> String {
    let list = |list: &[Expr]| list.iter().map(print_expr).collect::<Vec<_>>().join(", ");
    let attributes = op.attributes.iter().map(|attribute| {
        let value = match &attribute.value {
            AttributeValue::Size(expr) => print_expr(expr),
            AttributeValue::Sizes(sizes) => list(sizes),
            AttributeValue::Number(text) | AttributeValue::Word(text) => text.clone(),
        };
        format!("{}={value}", attribute.name.text)
    });
    let mut attributes: Vec<String> = attributes.collect();
    attributes.sort_unstable();
    let shape = op.annotation.as_ref().map(|own| list(&own.dims));
    format!("{} {attributes:?} {shape:?}", op.callee.text)
}

/// The index order of a tensor compared with that of what it shows, from the last view back, both
/// of one shape.
#[derive(Default)]
pub(super) struct Order {
    steps: Vec<Step>,
    /// Whether the bits are those of another element type.
    is_cast: bool,
}

/// A view of all elements.
enum Step {
    /// In row-major order.
    Reshape,
    /// For each dimension that of the tensor before.
    Perm(Vec<i64>),
}

impl Order {
    /// Whether all views together change nothing.
    pub(super) fn is_kept(&self) -> bool {
        !self.is_cast && matches!(self.steps.as_slice(), [] | [Step::Reshape])
    }

    /// Adds the view before. `None` if the op does not show all elements once.
    pub(super) fn view(&mut self, op: &OpStatement) -> Option<()> {
        let before = match op.function()? {
            Function::Reshape => Step::Reshape,
            Function::Transpose => Step::Perm(perm(op)?),
            Function::Bitcast => {
                self.is_cast = !self.is_cast;
                return Some(());
            }
            _ => return None,
        };
        let joined = match (self.steps.pop(), before) {
            (Some(Step::Reshape), Step::Reshape) => Step::Reshape,
            (Some(Step::Perm(last)), Step::Perm(before)) => {
                let of = |&axis: &i64| before.get(usize::try_from(axis).ok()?).copied();
                let perm: Vec<i64> = last.iter().map(of).collect::<Option<_>>()?;
                if (0..).zip(&perm).all(|(axis, &own)| axis == own) {
                    return Some(());
                }
                Step::Perm(perm)
            }
            (other, before) => {
                self.steps.extend(other);
                before
            }
        };
        self.steps.push(joined);
        Some(())
    }
}

/// The order of dimensions that a transpose states.
pub(super) fn perm(op: &OpStatement) -> Option<Vec<i64>> {
    let mut attributes = op.attributes.iter();
    let stated = attributes.find(|attribute| attribute.is(AttributeName::Perm))?;
    let AttributeValue::Sizes(list) = &stated.value else {
        return None;
    };
    let value = |expr: &Expr| match expr.kind {
        ExprKind::Int(value) => Some(value),
        _ => None,
    };
    list.iter().map(value).collect()
}
