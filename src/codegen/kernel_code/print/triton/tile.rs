//! A tile of a product, with the statements that follow it.

use super::language::type_of;
use super::{Printer, WARPS};
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::VariableId;
use crate::kernel_code::kernel::{RightOperand, Statement, Tile};
use fuseline_core::model::dtype::DType;

/// Rows and columns of a tile and steps of K: of 16-bit operands, and of wider ones.
const NARROW_TILE: [u64; 3] = [128, 128, 64];
const WIDE_TILE: [u64; 3] = [64, 64, 32];
/// The fewest rows, columns and steps that `tl.dot` takes. Of fewer, matrix units would multiply
/// mostly zeros, and the time is that of loading the longer operand.
const FEWEST: u64 = 16;
/// Without `tl.dot`: the longer side of a tile, and the products of a tile in one step.
const LONG_SIDE: u64 = 64;
const PRODUCTS_OF_STEP: u64 = 8192;

impl Printer<'_> {
    /// Writes a tile and returns how many programs run it and with which options.
    pub(super) fn tile(
        &mut self,
        [batch, row, column]: [VariableId; 3],
    ) -> Result<(u64, u64), CodegenError> {
        let kernel = self.texts.kernel;
        let Some(Tile {
            over,
            left: (left, left_body),
            rights,
            rest,
        }) = kernel.tile()
        else {
            return Err(CodegenError::NoProduct);
        };
        let own = self.operand_type(left);
        let is_same = |right: &RightOperand| self.operand_type(right.value) == own;
        let dtype = if rights.iter().all(is_same) {
            own
        } else {
            DType::F32
        };
        let is_narrow = matches!(dtype, DType::F16 | DType::Bf16) || dtype.is_f8();
        let [rows, columns, k, batches] =
            [row, column, over, batch].map(|variable| self.extent(variable));
        let is_thin = rows < FEWEST || columns < FEWEST;
        let float = self.texts.language.float;
        let [tile_rows, tile_columns, steps] = if is_thin {
            thin_tile(rows, columns, k)
        } else if is_narrow {
            NARROW_TILE
        } else {
            WIDE_TILE
        };
        // All products together have as many accumulators as one product alone would.
        let tile_columns = (tile_columns / (rights.len() as u64).next_power_of_two()).max(1);
        let (down, across) = (rows.div_ceil(tile_rows), columns.div_ceil(tile_columns));
        let variables = [row, column, over, batch];
        let [row_name, column_name, step, batch] = variables.map(|variable| self.name(variable));
        let program = self.program();
        self.line(format!("program = {program}"));
        self.line(format!("{batch} = program // {}", down * across));
        self.line(format!(
            "{row_name} = (program // {across} % {down} * {tile_rows} + tl.arange(0, {tile_rows}))[:, None]"
        ));
        self.line(format!(
            "{column_name} = (program % {across} * {tile_columns} + tl.arange(0, {tile_columns}))[None, :]"
        ));
        for right in rights {
            let sum = self.texts.named(right.result);
            self.line(format!(
                "{sum} = tl.zeros(({tile_rows}, {tile_columns}), {float})"
            ));
        }
        self.line(format!("for first_k in range(0, {k}, {steps}):"));
        self.indent += 1;
        let outside = |name: &str, extent: u64, tile: u64| {
            (!extent.is_multiple_of(tile)).then(|| format!("({name} < {extent})"))
        };
        let masks = |parts: [Option<String>; 2]| {
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join(" & "))
        };
        let along = |axis: &str| format!("{step} = (first_k + tl.arange(0, {steps})){axis}");
        self.begin_block(&[row, over]);
        self.line(along("[None, :]"));
        let own = outside(&row_name, rows, tile_rows);
        self.texts.language.mask = masks([own, outside(&step, k, steps)]);
        // Vector units multiply in the type of the sum.
        let operand_type = if is_thin { float } else { type_of(dtype) };
        self.operand("left", (left, left_body), operand_type);
        self.begin_block(&[column, over]);
        self.line(along("[:, None]"));
        let own = outside(&column_name, columns, tile_columns);
        self.texts.language.mask = masks([own, outside(&step, k, steps)]);
        let precision = if is_narrow {
            ""
        } else {
            ", input_precision=\"ieee\""
        };
        for right in rights {
            self.operand("right", (right.value, &right.body), operand_type);
            let sum = self.texts.named(right.result);
            self.line(if is_thin {
                format!("{sum} += tl.sum(left[:, :, None] * right[None, :, :], axis=1)")
            } else {
                format!("{sum} = tl.dot(left, right, {sum}{precision})")
            });
        }
        self.indent -= 1;
        self.begin_block(&[row, column]);
        self.texts.language.mask = masks([
            outside(&row_name, rows, tile_rows),
            outside(&column_name, columns, tile_columns),
        ]);
        for right in rights {
            self.removed(right.result);
        }
        self.statements(rest);
        let warps = if is_narrow && !is_thin { 8 } else { WARPS };
        Ok((batches * down * across, warps))
    }

    /// The part of an operand that a step of K takes.
    fn operand(&mut self, name: &str, (value, body): (ExprId, &[Statement]), operand_type: &str) {
        self.statements(body);
        let mut text = self.texts.value(value);
        let is_read = matches!(self.texts.expr(value), Expr::Read { only_if: None, .. });
        if let (Some(mask), false) = (&self.texts.language.mask, is_read) {
            text = format!("tl.where({mask}, {text}, 0.0)");
        }
        self.line(format!("{name} = ({text}).to({operand_type})"));
    }

    /// The element type in which matrix units take an operand: that of its tensor, if the operand
    /// is an element of one, else f32.
    fn operand_type(&self, value: ExprId) -> DType {
        let expressions = &self.texts.kernel.expressions;
        let named = expressions
            .names
            .get(&value)
            .and_then(|&tensor| self.texts.graph.tensors[tensor].dtype);
        let read = || match self.texts.expr(value) {
            Expr::Read { tensor, .. } => Some(self.texts.dtype(tensor)),
            Expr::Select(_, a, _) => match self.texts.expr(a) {
                Expr::Read { tensor, .. } => Some(self.texts.dtype(tensor)),
                _ => None,
            },
            _ => None,
        };
        named.or_else(read).unwrap_or(DType::F32)
    }
}

/// Rows and columns of a tile, of which there are few in one direction, and steps of K.
fn thin_tile(rows: u64, columns: u64, k: u64) -> [u64; 3] {
    let [rows, columns] = [rows, columns].map(|side| side.min(LONG_SIDE).next_power_of_two());
    let steps = (PRODUCTS_OF_STEP / (rows * columns)).max(1);
    [rows, columns, steps.min(k.next_power_of_two())]
}
