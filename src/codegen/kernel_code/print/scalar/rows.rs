//! A row by the threads of a group, each of which has its own columns.

use super::{Printer, THREADS, Threads};
use crate::kernel_code::expression::{Expr, ExprId, SharedId};
use crate::kernel_code::index::{IndexId, VariableId};
use crate::kernel_code::kernel::{Kernel, Statement, visit};
use crate::kernel_code::print::names::shared_name;

/// Threads of a row: a power of two, no more than there are columns of the widest loop over them.
pub(super) fn threads_of_row(kernel: &Kernel) -> u64 {
    widest_column(kernel).next_power_of_two().clamp(1, THREADS)
}

/// The columns of the widest loop over them.
pub(super) fn widest_column(kernel: &Kernel) -> u64 {
    let mut widest = 1;
    visit(&kernel.body, &mut |statement| {
        if let Some(column) = kernel.column_of(statement) {
            widest = widest.max(kernel.expressions.variables[column].extent);
        }
    });
    widest
}

impl<L: Threads> Printer<'_, L> {
    /// Writes the loop over the columns of a thread.
    pub(super) fn columns(&mut self, column: VariableId, inside: impl FnOnce(&mut Self)) {
        let threads = threads_of_row(self.texts.kernel);
        let (extent, name) = (self.extent(column), self.name(column));
        let lane = self.texts.language.lane();
        let items = extent.div_ceil(threads);
        self.open_loop("item", "0", &items.to_string(), 1);
        let place = format!("item * {threads} + {lane}");
        self.index(&name, &place);
        let is_whole = extent % threads == 0;
        if !is_whole {
            self.open_if(&format!("{name} < {extent}"));
        }
        self.is_in_columns = true;
        inside(self);
        self.is_in_columns = false;
        if !is_whole {
            self.close();
        }
        self.close();
    }

    /// A fold by all threads of a row.
    pub(super) fn reduce(&mut self, result: ExprId, body: &[Statement]) {
        let Expr::Fold(fold, column, value) = self.texts.expr(result) else {
            return;
        };
        let name = self.texts.named(result);
        let own = self.texts.names.other(&format!("own_{name}"));
        let start = self.texts.language.number(fold.start());
        self.variable(&own, &start);
        self.columns(column, |printer| {
            printer.statements(body);
            let value = printer.texts.folded_value(fold, value);
            let folded = printer.texts.language.folded(fold, &own, &value);
            printer.line(format!("{own} = {folded};"));
        });
        let constant = self.texts.language.constant();
        let across = self.texts.language.across(fold, &own);
        self.line(format!("{constant} {name} = {across};"));
        self.removed(result);
    }

    pub(super) fn share(&mut self, shared: SharedId, place: IndexId, value: ExprId) {
        let value = self.texts.value(value);
        let name = shared_name(shared.index());
        let place = self.texts.index(place);
        let element = self.texts.language.shared(&name, &place);
        self.line(format!("{element} = {value};"));
    }
}
