//! A tile of a product by the threads of a group, with the statements that follow it.

use super::{Printer, THREADS, Threads};
use crate::kernel_code::expression::ExprId;
use crate::kernel_code::index::VariableId;
use crate::kernel_code::kernel::{Statement, Tile};

/// Rows and columns of a product that a group of threads computes.
pub const TILE: u64 = 64;
/// Steps of K that a tile takes at once.
pub(super) const STEPS: u64 = 16;
/// Threads along each side of a tile; each computes every 16th row and column.
const SIDE: u64 = 16;
/// Rows, and columns, of a tile that one thread computes.
const OWN: u64 = TILE / SIDE;

/// A name that is distinct for each product of a tile.
pub(super) fn numbered(name: &str, place: usize) -> String {
    match place {
        0 => name.to_owned(),
        _ => format!("{name}_{}", place + 1),
    }
}

impl<L: Threads> Printer<'_, L> {
    /// Writes a tile of a product: steps of K through shared memory, then the statements that
    /// follow for each element.
    pub(super) fn tile(&mut self, variables: [VariableId; 3]) {
        let kernel = self.texts.kernel;
        let Some(Tile {
            over,
            left: (left, left_body),
            rights,
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
        for place in 0..rights.len() {
            self.array(&numbered("sums", place), OWN * OWN);
        }
        self.open_loop("first_k", "0", &k.to_string(), STEPS);
        self.load_side("left_tile", left, left_body, (row, "first_row"), over, true);
        for (place, right) in rights.iter().enumerate() {
            self.load_side(
                &numbered("right_tile", place),
                right.value,
                &right.body,
                (column, "first_column"),
                over,
                false,
            );
        }
        self.barrier();
        self.open_loop("step", "0", &STEPS.to_string(), 1);
        self.open_own(&format!("{lane} / {SIDE}"), &format!("{lane} % {SIDE}"));
        for place in 0..rights.len() {
            let language = &self.texts.language;
            let left = language.shared("left_tile", &format!("tile_row * {STEPS} + step"));
            let tile = numbered("right_tile", place);
            let right = language.shared(&tile, &format!("step * {TILE} + tile_column"));
            let sums = numbered("sums", place);
            self.line(format!("{sums}[down * {OWN} + right] += {left} * {right};"));
        }
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
        for (place, right) in rights.iter().enumerate() {
            let name = self.texts.named(right.result);
            let sums = numbered("sums", place);
            self.line(format!("{constant} {name} = {sums}[down * {OWN} + right];"));
            self.removed(right.result);
        }
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
