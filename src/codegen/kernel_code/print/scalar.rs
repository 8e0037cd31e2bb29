//! Languages in which a thread computes one element at a time.

mod rows;
mod tile;

use super::code::{Access, Code};
use super::language::Language;
use super::names::{Names, kept_name, shared_name};
use super::text::{Element, Texts};
use crate::calculator::Fold;
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::{IndexId, VariableId};
use crate::kernel_code::kernel::{Grid, Kernel, Statement, visit};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::TensorId;

use rows::{threads_of_row, widest_column};
pub use tile::TILE;
use tile::{STEPS, numbered};

/// Threads of a group that computes elements or tiles, and most threads of a row.
pub(super) const THREADS: u64 = 256;

/// How a language with threads writes statements.
pub(super) trait Threads: Language {
    /// The words that declare a value that does not change.
    fn constant(&self) -> &'static str;
    /// A number that changes.
    fn variable(&self, name: &str, value: &str) -> String;
    /// Several numbers of a thread, all 0 at first.
    fn array(&self, name: &str, elements: u64) -> String;
    /// An index that does not change.
    fn index(&self, name: &str, value: &str) -> String;
    /// The head of a loop from a start to below an end.
    fn head(&self, name: &str, start: &str, end: &str, step: u64) -> String;
    /// The index of the thread in its group.
    fn lane(&self) -> &'static str;
    fn group(&self) -> &'static str;
    /// Whether a launch may start more groups than there is work for.
    fn has_spare_groups(&self) -> bool;
    /// Waits for all threads of a group.
    fn barrier(&self) -> &'static str;
    /// Folds one value of each thread of a row and gives the result to all of them.
    fn across(&self, fold: Fold, value: &str) -> String;
    /// Both values, folded.
    fn folded(&self, fold: Fold, a: &str, b: &str) -> String;
    fn when(&self, condition: &str) -> String {
        format!("if ({condition}) {{")
    }
    /// Writes a number to a tensor.
    fn write(&self, tensor: &str, dtype: DType, place: &str, value: &str) -> String;
}

/// Writes the body of a kernel.
pub(super) struct Printer<'a, L> {
    pub(super) texts: Texts<'a, L>,
    pub(super) code: Code,
    pub(super) indent: usize,
    /// The values that each thread of a row keeps in its registers.
    kept: Vec<ExprId>,
    /// Whether the statement is inside a loop over columns.
    is_in_columns: bool,
}

/// How many threads run a kernel.
#[derive(Clone, Copy)]
pub(super) struct Launch {
    pub(super) groups: u64,
    /// Threads of each group.
    pub(super) threads: u64,
}

/// The number of groups and threads; `None` if 64 bits cannot count them.
pub(super) fn launch(kernel: &Kernel) -> Option<Launch> {
    let extent = |variable: VariableId| kernel.expressions.variables[variable].extent;
    Some(match kernel.grid {
        Grid::Elements(element) => Launch {
            groups: extent(element).div_ceil(THREADS),
            threads: THREADS,
        },
        Grid::Rows(row) => Launch {
            groups: extent(row),
            threads: threads_of_row(kernel),
        },
        Grid::Tiles { batch, row, column } => {
            let [down, across] = [row, column].map(|side| extent(side).div_ceil(TILE));
            Launch {
                groups: extent(batch).checked_mul(down)?.checked_mul(across)?,
                threads: THREADS,
            }
        }
    })
}

/// The arrays in shared memory, each with its name and its number of elements.
pub(super) fn shared_arrays(kernel: &Kernel) -> Vec<(String, u64)> {
    match kernel.grid {
        Grid::Elements(_) => Vec::new(),
        Grid::Rows(_) => (kernel.shared.iter().enumerate())
            .map(|(place, &elements)| (shared_name(place), elements))
            .collect(),
        Grid::Tiles { .. } => {
            let rights = kernel.tile().map_or(0, |tile| tile.rights.len());
            let names = (0..rights).map(|place| numbered("right_tile", place));
            std::iter::once("left_tile".to_owned())
                .chain(names)
                .map(|name| (name, TILE * STEPS))
                .collect()
        }
    }
}

impl<'a, L: Threads> Printer<'a, L> {
    pub(super) fn new(graph: &'a Graph, kernel: &'a Kernel, language: L, names: Names) -> Self {
        let mut kept = Vec::new();
        visit(&kernel.body, &mut |statement| {
            if let Statement::Keep(expr) = statement {
                kept.push(*expr);
            }
        });
        Self {
            texts: Texts::new(graph, kernel, language, names),
            code: Code::default(),
            indent: 0,
            kept,
            is_in_columns: false,
        }
    }

    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.code.push(self.indent, text);
    }

    pub(super) fn open(&mut self, text: impl Into<String>) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self) {
        self.indent = self.indent.saturating_sub(1);
        self.line("}");
    }

    fn index(&mut self, name: &str, value: &str) {
        let line = self.texts.language.index(name, value);
        self.line(line);
    }

    fn variable(&mut self, name: &str, value: &str) {
        let line = self.texts.language.variable(name, value);
        self.line(line);
    }

    fn array(&mut self, name: &str, elements: u64) {
        let line = self.texts.language.array(name, elements);
        self.line(line);
    }

    fn open_if(&mut self, condition: &str) {
        let head = self.texts.language.when(condition);
        self.open(head);
    }

    fn open_loop(&mut self, name: &str, start: &str, end: &str, step: u64) {
        let head = self.texts.language.head(name, start, end, step);
        self.open(head);
    }

    fn barrier(&mut self) {
        let barrier = self.texts.language.barrier();
        self.line(barrier);
    }

    fn access(&mut self, text: String, tensor: TensorId, is_store: bool) {
        let access = Access {
            tensor,
            is_store,
            is_removed: false,
        };
        self.code.push_access(self.indent, text, access);
    }

    fn name(&self, variable: VariableId) -> String {
        self.texts.kernel.expressions.variables[variable]
            .name
            .clone()
    }

    fn extent(&self, variable: VariableId) -> u64 {
        self.texts.kernel.expressions.variables[variable].extent
    }

    /// The whole body, in a function whose head is written.
    pub(super) fn body(&mut self) {
        let kernel = self.texts.kernel;
        let (lane, group) = (self.texts.language.lane(), self.texts.language.group());
        match kernel.grid {
            Grid::Elements(element) => {
                let place = format!("{group} * {THREADS} + {lane}");
                let (name, elements) = (self.name(element), self.extent(element));
                self.index(&name, &place);
                if elements % THREADS != 0 || self.texts.language.has_spare_groups() {
                    self.leave_unless_below(&name, elements);
                }
                self.statements(&kernel.body);
            }
            Grid::Rows(row) => {
                let name = self.name(row);
                self.index(&name, group);
                if self.texts.language.has_spare_groups() {
                    self.leave_unless_below(&name, self.extent(row));
                }
                let threads = threads_of_row(kernel);
                for place in 0..self.kept.len() {
                    let widest = widest_column(kernel).div_ceil(threads);
                    self.array(&kept_name(place), widest);
                }
                self.statements(&kernel.body);
            }
            Grid::Tiles { batch, row, column } => self.tile([batch, row, column]),
        }
    }

    fn leave_unless_below(&mut self, name: &str, extent: u64) {
        self.open_if(&format!("{name} >= {extent}"));
        self.line("return;");
        self.close();
    }

    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement, body);
        }
    }

    fn statement(&mut self, statement: &Statement, body: &[Statement]) {
        match statement {
            Statement::Let(expr) => {
                if !self.texts.is_inlined(*expr, body) {
                    self.value(*expr);
                }
            }
            Statement::Loop { result, body } => self.serial(*result, body),
            Statement::Columns { column, body } => {
                self.columns(*column, |printer| printer.statements(body));
                if body
                    .iter()
                    .any(|inner| matches!(inner, Statement::Share { .. }))
                {
                    self.barrier();
                }
            }
            Statement::Reduce { result, body } => self.reduce(*result, body),
            Statement::Keep(expr) => {
                if let Some(place) = self.kept.iter().position(|kept| kept == expr) {
                    let value = self.texts.value(*expr);
                    self.line(format!("{}[item] = {value};", kept_name(place)));
                }
            }
            Statement::Recall(expr) => {
                if let Some(place) = self.kept.iter().position(|kept| kept == expr) {
                    let name = self.texts.named(*expr);
                    let constant = self.texts.language.constant();
                    self.line(format!("{constant} {name} = {}[item];", kept_name(place)));
                }
            }
            Statement::Share {
                shared,
                place,
                value,
            } => self.share(*shared, *place, *value),
            Statement::Store {
                tensor,
                place,
                value,
                only_if,
            } => self.store(*tensor, *place, *value, *only_if),
            Statement::Products { .. } => {}
        }
    }

    /// Declares a value under its name.
    fn value(&mut self, expr: ExprId) {
        let constant = self.texts.language.constant();
        // The definition is written first: once a value has a name, its text is that name.
        let definition = self.texts.definition(expr);
        let name = self.texts.named(expr);
        let text = format!("{constant} {name} = {definition};");
        match self.texts.expr(expr) {
            Expr::Read { tensor, .. } => self.access(text, tensor, false),
            _ => self.line(text),
        }
        self.removed(expr);
    }

    fn removed(&mut self, value: ExprId) {
        for (element, access) in self.texts.take_removed(value) {
            let Element {
                array,
                dtype,
                place,
                value,
            } = element;
            let language = &self.texts.language;
            let text = if access.is_store {
                language.write(&array, dtype, &place, &value)
            } else {
                let read = language.read(&array, dtype, &place, None);
                format!("{} {value} = {read};", language.constant())
            };
            self.code.push_access(self.indent, text, access);
        }
    }

    /// A fold by one thread.
    fn serial(&mut self, result: ExprId, body: &[Statement]) {
        let Expr::Fold(fold, over, value) = self.texts.expr(result) else {
            return;
        };
        let name = self.texts.named(result);
        let start = self.texts.language.number(fold.start());
        self.variable(&name, &start);
        self.open_loop(&self.name(over), "0", &self.extent(over).to_string(), 1);
        self.statements(body);
        let folded =
            (self.texts.language).folded(fold, &name, &self.texts.folded_value(fold, value));
        self.line(format!("{name} = {folded};"));
        self.close();
        self.removed(result);
    }

    fn store(&mut self, tensor: TensorId, place: IndexId, value: ExprId, only_if: Option<ExprId>) {
        let name = self.texts.names.tensor(tensor).to_owned();
        let place = self.texts.index(place);
        let value = self.texts.value(value);
        let dtype = self.texts.dtype(tensor);
        let text = (self.texts.language).write(&name, dtype, &place, &value);
        // A value that a row has once is stored by one of its threads.
        let is_once = matches!(self.texts.kernel.grid, Grid::Rows(_)) && !self.is_in_columns;
        let lane = self.texts.language.lane();
        let condition = match (only_if, is_once) {
            (Some(only_if), _) => Some(self.texts.truth(only_if)),
            (None, true) => Some(format!("{lane} == 0")),
            (None, false) => None,
        };
        match condition {
            Some(condition) => {
                self.open_if(&condition);
                self.access(text, tensor, true);
                self.close();
            }
            None => self.access(text, tensor, true),
        }
    }
}
