//! Languages in which a thread computes one element after the other.

use super::names::{Names, kept_name, shared_name};
use super::text::{Language, Texts};
use super::{Access, Code};
use crate::core::kernel_code::expression::{Expr, ExprId, Fold};
use crate::core::kernel_code::index::{IndexId, VariableId};
use crate::core::kernel_code::{Grid, Kernel, SharedId, Statement, Tile};
use crate::core::model::dtype::DType;
use crate::core::model::graph::Graph;
use crate::core::model::ids::TensorId;

/// Threads of a group that computes elements or tiles, and most threads of a row.
pub(super) const THREADS: u64 = 256;
/// Rows and columns of a tile.
const TILE: u64 = 64;
/// Steps of K that a tile takes at once.
const STEPS: u64 = 16;
/// Threads along each side of a tile; each computes every 16th row and column.
const SIDE: u64 = 16;
/// Rows, and columns, of a tile that one thread computes.
const OWN: u64 = TILE / SIDE;

/// How a language with threads writes statements.
pub(super) trait Threads: Language {
    /// A value that does not change: what stands before the name.
    fn constant(&self) -> &'static str;
    /// A number that changes.
    fn variable(&self, name: &str, value: &str) -> String;
    /// Several numbers of a thread, all 0 at first.
    fn array(&self, name: &str, elements: u64) -> String;
    /// An index that does not change.
    fn index(&self, name: &str, value: &str) -> String;
    /// The head of a loop from a start to below an end.
    fn head(&self, name: &str, start: &str, end: &str, step: u64) -> String;
    /// The place of the thread in its group.
    fn lane(&self) -> &'static str;
    /// Which group it is.
    fn group(&self) -> &'static str;
    /// Whether a launch may start more groups than there is work for.
    fn has_spare_groups(&self) -> bool;
    /// Waits for all threads of a group.
    fn barrier(&self) -> &'static str;
    /// Folds a value of each thread of a row to one that all have.
    fn across(&self, fold: Fold, value: &str) -> String;
    /// Both values, folded.
    fn folded(&self, fold: Fold, a: &str, b: &str) -> String;
    /// A condition.
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
    /// Where each thread of a row keeps its part of a value.
    kept: Vec<ExprId>,
    /// What is not moved and has no lines yet.
    is_in_columns: bool,
}

/// Threads of a row: a power of two, no more than there are columns of the widest loop over them.
pub(super) fn threads_of_row(kernel: &Kernel) -> u64 {
    widest_column(kernel).next_power_of_two().clamp(1, THREADS)
}

/// How many threads run a kernel.
#[derive(Clone, Copy)]
pub(super) struct Launch {
    pub(super) groups: u64,
    /// Threads of each group.
    pub(super) threads: u64,
}

/// `None` if they are more than 64 bits count.
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

/// The numbers that the threads of a group share, by name, and how many they are.
pub(super) fn shared_arrays(kernel: &Kernel) -> Vec<(String, u64)> {
    match kernel.grid {
        Grid::Elements(_) => Vec::new(),
        Grid::Rows(_) => (kernel.shared.iter().enumerate())
            .map(|(place, &elements)| (shared_name(place), elements))
            .collect(),
        Grid::Tiles { .. } => ["left_tile", "right_tile"]
            .map(|name| (name.to_owned(), TILE * STEPS))
            .to_vec(),
    }
}

fn widest_column(kernel: &Kernel) -> u64 {
    let mut widest = 1;
    crate::core::kernel_code::schedule::visit(&kernel.body, &mut |statement| {
        if let Some(column) = kernel.column_of(statement) {
            widest = widest.max(kernel.expressions.variables[column].extent);
        }
    });
    widest
}

impl<'a, L: Threads> Printer<'a, L> {
    pub(super) fn new(graph: &'a Graph, kernel: &'a Kernel, language: L, names: Names) -> Self {
        let mut kept = Vec::new();
        crate::core::kernel_code::schedule::visit(&kernel.body, &mut |statement| {
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

    fn access(&mut self, text: impl Into<String>, tensor: TensorId, is_store: bool) {
        self.line(text);
        if let Some(line) = self.code.lines.last_mut() {
            line.access = Some(Access {
                tensor,
                is_store,
                is_removed: false,
            });
        }
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
            Statement::Product { .. } => {}
        }
    }

    /// A value with a name.
    fn value(&mut self, expr: ExprId) {
        let constant = self.texts.language.constant();
        // Before it has its name, which would stand for itself.
        let definition = self.texts.definition(expr);
        let name = self.texts.named(expr);
        let text = format!("{constant} {name} = {definition};");
        match self.texts.expr(expr) {
            Expr::Read { tensor, .. } => self.access(text, tensor, false),
            _ => self.line(text),
        }
        self.removed(expr);
    }

    /// What would move this value if its ops were kernels of their own.
    fn removed(&mut self, value: ExprId) {
        for removed in self.texts.take_removed(value) {
            let tensor = removed.tensor;
            let array = self.texts.names.tensor(tensor).to_owned();
            let place = self.texts.index(removed.place);
            let name = self.texts.value(value);
            let (language, constant) = (&self.texts.language, self.texts.language.constant());
            let write = language.write(&array, removed.dtype, &place, &name);
            let read = language.read(&array, removed.dtype, &place, None);
            let read = format!("{constant} {name} = {read};");
            let stores = removed.is_store_removed.then_some((write, true));
            let loads = removed.readers.iter().map(|_| (read.clone(), false));
            for (text, is_store) in stores.into_iter().chain(loads) {
                self.access(text, tensor, is_store);
                if let Some(access) = self.code.lines.last_mut().and_then(|l| l.access.as_mut()) {
                    access.is_removed = true;
                }
            }
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

    /// What is done for each column of a thread.
    fn columns(&mut self, column: VariableId, inside: impl FnOnce(&mut Self)) {
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
    fn reduce(&mut self, result: ExprId, body: &[Statement]) {
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

    fn share(&mut self, shared: SharedId, place: IndexId, value: ExprId) {
        let value = self.texts.value(value);
        let name = shared_name(shared.index());
        let place = self.texts.index(place);
        let element = self.texts.language.shared(&name, &place);
        self.line(format!("{element} = {value};"));
    }

    fn store(&mut self, tensor: TensorId, place: IndexId, value: ExprId, only_if: Option<ExprId>) {
        let name = self.texts.names.tensor(tensor).to_owned();
        let place = self.texts.index(place);
        let value = self.texts.value(value);
        let dtype = self.texts.dtype(tensor);
        let text = (self.texts.language).write(&name, dtype, &place, &value);
        // What a row has once is written by one of its threads.
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

    /// A tile of a product: steps of K by way of the memory that threads share, then what follows for each of its elements.
    fn tile(&mut self, variables: [VariableId; 3]) {
        let kernel = self.texts.kernel;
        let Some(Tile {
            result,
            over,
            left: (left, left_body),
            right: (right, right_body),
            rest,
        }) = kernel.tile()
        else {
            return;
        };
        let [batch, row, column] = variables;
        let [rows, columns, k] = [row, column, over].map(|variable| self.extent(variable));
        let (lane, group) = (self.texts.language.lane(), self.texts.language.group());
        let [down, across] = [rows, columns].map(|size| size.div_ceil(TILE));
        let lines = [
            (self.name(batch), format!("{group} / {}", down * across)),
            (
                "first_row".to_owned(),
                format!("{group} / {across} % {down} * {TILE}"),
            ),
            (
                "first_column".to_owned(),
                format!("{group} % {across} * {TILE}"),
            ),
        ];
        for (name, value) in lines {
            self.index(&name, &value);
        }
        if self.texts.language.has_spare_groups() {
            self.leave_unless_below(&self.name(batch), self.extent(batch));
        }
        self.array("sums", OWN * OWN);
        self.open_loop("first_k", "0", &k.to_string(), STEPS);
        self.load_side("left_tile", left, left_body, (row, "first_row"), over, true);
        self.load_side(
            "right_tile",
            right,
            right_body,
            (column, "first_column"),
            over,
            false,
        );
        self.barrier();
        self.open_loop("step", "0", &STEPS.to_string(), 1);
        self.open_own(&format!("{lane} / {SIDE}"), &format!("{lane} % {SIDE}"));
        let [left, right] = [
            self.texts
                .language
                .shared("left_tile", &format!("tile_row * {STEPS} + step")),
            self.texts
                .language
                .shared("right_tile", &format!("step * {TILE} + tile_column")),
        ];
        self.line(format!("sums[down * {OWN} + right] += {left} * {right};"));
        self.close();
        self.close();
        self.close();
        self.barrier();
        self.close();
        self.open_own(&format!("{lane} / {SIDE}"), &format!("{lane} % {SIDE}"));
        for (variable, first, own) in [
            (row, "first_row", "tile_row"),
            (column, "first_column", "tile_column"),
        ] {
            let name = self.name(variable);
            self.index(&name, &format!("{first} + {own}"));
        }
        let inside = format!(
            "{} < {rows} && {} < {columns}",
            self.name(row),
            self.name(column)
        );
        self.open_if(&inside);
        let constant = self.texts.language.constant();
        let name = self.texts.named(result);
        self.line(format!("{constant} {name} = sums[down * {OWN} + right];"));
        self.removed(result);
        self.statements(rest);
        self.close();
        self.close();
        self.close();
    }

    /// The loops over the rows and columns of a tile that a thread computes.
    fn open_own(&mut self, first_row: &str, first_column: &str) {
        for (name, own, first) in [
            ("down", "tile_row", first_row),
            ("right", "tile_column", first_column),
        ] {
            self.open_loop(name, "0", &OWN.to_string(), 1);
            let value = format!("{name} * {SIDE} + {first}");
            self.index(own, &value);
        }
    }

    /// All threads load a part of an operand: rows of the left one, columns of the right one.
    fn load_side(
        &mut self,
        tile: &str,
        value: ExprId,
        body: &[Statement],
        (variable, first): (VariableId, &str),
        over: VariableId,
        is_left: bool,
    ) {
        let lane = self.texts.language.lane();
        let (name, step) = (self.name(variable), self.name(over));
        let (extent, k) = (self.extent(variable), self.extent(over));
        let elements = TILE * STEPS;
        self.open_loop("item", "0", &(elements / THREADS).to_string(), 1);
        self.index("place", &format!("item * {THREADS} + {lane}"));
        let (own, along) = if is_left {
            (
                format!("{first} + place / {STEPS}"),
                format!("first_k + place % {STEPS}"),
            )
        } else {
            (
                format!("{first} + place % {TILE}"),
                format!("first_k + place / {TILE}"),
            )
        };
        for (name, value) in [(&name, own), (&step, along)] {
            self.index(name, &value);
        }
        let zero = self.texts.language.number(0.0);
        self.variable("element", &zero);
        self.open_if(&format!("{name} < {extent} && {step} < {k}"));
        self.statements(body);
        let value = self.texts.value(value);
        self.line(format!("element = {value};"));
        self.close();
        let to = self.texts.language.shared(tile, "place");
        self.line(format!("{to} = element;"));
        self.close();
    }
}
