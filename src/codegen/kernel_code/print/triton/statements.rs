//! Steps of a kernel, each for all elements of a block.

use super::Printer;
use crate::calculator::{Binary, Fold};
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::VariableId;
use crate::kernel_code::kernel::Statement;
use crate::kernel_code::print::code::Access;
use crate::kernel_code::print::language::Language;
use crate::kernel_code::print::text::Element;
use fuseline_core::model::ids::TensorId;

impl Printer<'_> {
    pub(super) fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Let(expr) => {
                    if !self.texts.is_inlined(*expr, body) {
                        self.value(*expr);
                    }
                }
                Statement::Loop { result, body } => self.serial(*result, body),
                Statement::Columns { column, body } => {
                    self.columns(*column, body);
                    self.leave_columns();
                }
                Statement::Reduce { result, body } => self.reduce(*result, body),
                Statement::Store {
                    tensor,
                    place,
                    value,
                    only_if,
                } => {
                    let place = self.texts.index(*place) + &self.texts.language.zeros;
                    let value = self.texts.value(*value);
                    let name = self.texts.names.tensor(*tensor);
                    let only_if = only_if.map(|only_if| format!("({})", self.texts.truth(only_if)));
                    let masks: Vec<String> = (self.texts.language.mask.clone().into_iter())
                        .chain(only_if)
                        .collect();
                    let mask = if masks.is_empty() {
                        String::new()
                    } else {
                        format!(", mask={}", masks.join(" & "))
                    };
                    let text = format!("tl.store({name} + {place}, {value}{mask})");
                    self.access(text, *tensor, true);
                }
                // A block keeps its values, and nothing is shared.
                Statement::Keep(_)
                | Statement::Recall(_)
                | Statement::Share { .. }
                | Statement::Products { .. } => {}
            }
        }
    }

    fn access(&mut self, text: String, tensor: TensorId, is_store: bool) {
        let access = Access {
            tensor,
            is_store,
            is_removed: false,
        };
        self.code.push_access(self.indent, text, access);
    }

    pub(super) fn removed(&mut self, value: ExprId) {
        for (element, access) in self.texts.take_removed(value) {
            let Element {
                array,
                place,
                value,
                ..
            } = element;
            let text = if access.is_store {
                format!("tl.store({array} + {place}, {value})")
            } else {
                format!("{value} = tl.load({array} + {place})")
            };
            self.code.push_access(self.indent, text, access);
        }
    }

    fn value(&mut self, expr: ExprId) {
        // The definition is written first: once a value has a name, its text is that name.
        let definition = self.texts.definition(expr);
        let name = self.texts.named(expr);
        let text = format!("{name} = {definition}");
        match self.texts.expr(expr) {
            Expr::Read { tensor, .. } => self.access(text, tensor, false),
            _ => self.line(text),
        }
        self.removed(expr);
    }

    fn serial(&mut self, result: ExprId, body: &[Statement]) {
        let Expr::Fold(fold, over, value) = self.texts.expr(result) else {
            return;
        };
        let name = self.texts.named(result);
        let start = self.texts.language.number(fold.start());
        let (block, float) = (self.block, self.texts.language.float);
        self.line(format!("{name} = tl.full([{block}], {start}, {float})"));
        self.line(format!(
            "for {} in range({}):",
            self.name(over),
            self.extent(over)
        ));
        self.indent += 1;
        self.statements(body);
        let value = self.texts.value(value);
        let folded = match fold {
            Fold::Sum => format!("{name} + {value}"),
            Fold::Product => format!("{name} * ({value})"),
            Fold::Maximum => self.texts.language.binary(Binary::Maximum, &name, &value),
            Fold::Minimum => self.texts.language.binary(Binary::Minimum, &name, &value),
        };
        self.line(format!("{name} = {folded}"));
        self.indent -= 1;
        self.removed(result);
    }

    /// Writes the statements for all columns at once.
    fn columns(&mut self, column: VariableId, body: &[Statement]) {
        let extent = self.extent(column);
        self.block = extent.next_power_of_two();
        self.begin_columns(Some(column));
        self.texts.language.mask =
            (self.block != extent).then(|| format!("inside_{}", self.name(column)));
        self.statements(body);
    }

    fn leave_columns(&mut self) {
        self.texts.language.mask = None;
        self.begin_columns(None);
    }

    fn reduce(&mut self, result: ExprId, body: &[Statement]) {
        let Expr::Fold(fold, column, value) = self.texts.expr(result) else {
            return;
        };
        self.columns(column, body);
        let expressions = &self.texts.kernel.expressions;
        let is_block = expressions.depends_on_variable(value, column);
        let value = self.texts.value(value);
        let start = self.texts.language.number(fold.start());
        let (block, float) = (self.block, self.texts.language.float);
        let own = match &self.texts.language.mask {
            Some(mask) => format!("tl.where({mask}, {value}, {start})"),
            None if is_block => value,
            // A value that is the same for all columns is a scalar, and the block needs its shape.
            None => format!("{value} + tl.zeros([{block}], {float})"),
        };
        self.leave_columns();
        let name = self.texts.named(result);
        let folded = match fold {
            Fold::Sum => format!("tl.sum({own}, axis=0)"),
            Fold::Product => format!("tl.reduce({own}, 0, multiply)"),
            Fold::Maximum => format!("tl.max({own}, axis=0)"),
            Fold::Minimum => format!("tl.min({own}, axis=0)"),
        };
        self.line(format!("{name} = {folded}"));
        self.removed(result);
    }
}
