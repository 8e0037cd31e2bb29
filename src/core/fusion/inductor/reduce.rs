//! Lowers reductions: in one kernel or two, and norms as row values and a pointwise op on them.

use super::cut::{Pieces, axes_of};
use super::direction::{directions, directions_of_pieces};
use super::facts::{keeps_shape, reduced_axes, reduction_space};
use super::locality::has_fixed_row_values;
use super::lower::Lowering;
use super::node::{BufferId, ReducedRows, SchedulerNode};
use super::reduced::{
    Reduced, has_rows_of_channels, has_two_row_values, is_softmax, is_variance, row_view,
};
use super::split::{UnsplitReduction, pieces};
use super::value::{BufferView, LoweredValue, buffer_value};
use super::view::View;
use crate::fusion::loops::Loop;
use crate::fusion::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::element_count;

/// Row values and partial results are kept in f32.
pub(super) const ROW_VALUE_BYTES: u32 = 4;

impl Lowering<'_> {
    /// Row values as the elements of a norm read them: two buffers are read twice.
    pub(super) fn row_value(&self, buffer: BufferId, view: View) -> LoweredValue {
        let mut value = buffer_value(buffer, view);
        for read in &mut value.reads {
            read.loads += u32::from(self.pairs.contains(&buffer));
        }
        value
    }

    /// Adds the nodes of a reduction. `value` computes all of it.
    pub(super) fn reduction(&mut self, op: OpId, value: LoweredValue) {
        let graph = self.graph;
        let output = graph.output[op];
        let definition = &graph.ops[op];
        let function = definition.function;
        let input = Reduced::input(graph, op);
        if function == Some(Function::Cumsum) || !self.has_row_values(op) && keeps_shape(graph, op)
        {
            // A scan writes each element itself.
            let is_split =
                function == Some(Function::Cumsum) && self.pieces(op, &value, &input) > 1;
            let space = reduction_space(graph, op);
            self.write_along(value, space, output, &input, None);
            if is_split {
                self.last_waits();
            }
            return;
        }
        if self.reduce_partial(op) {
            return;
        }
        if !keeps_shape(graph, op) {
            let rows = self.rows(op, &value, &input);
            self.halves(op, value, &input, rows, BufferId::of_tensor(output));
            return;
        }
        let Some(row_view) = row_view(definition) else {
            self.write(value, reduction_space(graph, op), output, &input.shape);
            return;
        };
        let reduced = input.grouped(definition);
        // A norm is a reduction to row values and a pointwise op on them, which its readers inline.
        let mut first = match graph.inputs[op].first() {
            Some(&tensor) => {
                let mut first = self.values[tensor].clone();
                let seen = self.seen_by(op, 0, tensor);
                let seen = seen.filter(|_| !self.crosses_rows(op, &first, tensor));
                first.see(seen.as_ref(), (op, 0));
                first
            }
            None => LoweredValue::default(),
        };
        first.ops.push(op);
        let rows = self.rows(op, &first, &reduced);
        let is_split = self.pieces(op, &first, &reduced) > 1;
        let mut row_values = vec![self.new_buffer(ROW_VALUE_BYTES)];
        if is_split && is_softmax(definition) && !self.target.is_2_15 {
            // One kernel finds maximum and sum together. Split, each of them takes two kernels in
            // torch 2.11 (`prepare_softmax_online` in `torch/_inductor/lowering.py`).
            row_values.push(self.new_buffer(ROW_VALUE_BYTES));
        } else if has_two_row_values(definition) {
            self.pairs.extend(&row_values);
        }
        let mut read = value.clone();
        for &buffer in &row_values {
            read.append(&buffer_value(buffer, row_view.clone()));
        }
        let is_buffer = self.is_buffer(&read, output) || self.uses[output].is_viewed;
        if !is_split && is_buffer && !has_rows_of_channels(definition) {
            // The row values and the elements fuse in any case.
            let space = reduction_space(graph, op);
            self.write_along(value, space, output, &reduced, Some(rows));
            self.normed.insert(BufferId::of_tensor(output), space);
            return;
        }
        let mut value = value;
        for (place, &buffer) in row_values.iter().enumerate() {
            let mut half = first.clone();
            if place > 0 {
                // The sum reads the maximum. The op belongs to the kernel of the maximum.
                half.ops.clear();
                half.reads.extend(
                    row_values
                        .first()
                        .map(|&b| BufferView::new(b, Some(row_view.clone()))),
                );
            }
            self.halves(op, half, &reduced, rows, buffer);
            value.append(&self.row_value(buffer, row_view.clone()));
        }
        value.sort();
        if is_buffer && has_fixed_row_values(graph, op) {
            self.elements.insert(op, value);
        } else if is_buffer {
            let space = Loop::Pointwise(element_count(&definition.shape).unwrap_or(0));
            self.write(value, space, output, &definition.shape);
        } else {
            self.inline(op, value);
        }
    }

    /// Adds the node of a reduction to one value for each row, or all if it is split.
    fn halves(
        &mut self,
        op: OpId,
        value: LoweredValue,
        reduced: &Reduced,
        rows: ReducedRows,
        buffer: BufferId,
    ) {
        let graph = self.graph;
        let space = reduction_space(graph, op);
        let Loop::Reduction {
            rows: count,
            width,
            inner,
        } = space
        else {
            return;
        };
        let (shape, axes) = (&reduced.shape[..], reduced.axes);
        let (along, across) = directions(&value, shape, axes);
        let cut = self.cut(op, &value, reduced);
        let (first, pieces) = match cut {
            Cut::Pieces(0 | 1) => {
                self.whole(op, value, space, reduced, rows, buffer);
                return;
            }
            Cut::Pieces(pieces) => (
                Loop::Reduction {
                    rows: count.saturating_mul(pieces),
                    width: width.div_ceil(pieces),
                    inner,
                },
                pieces,
            ),
            Cut::Rows(before, rows) => (before, rows),
            Cut::Across(rows, width) => {
                let along = Loop::Reduction {
                    rows,
                    width,
                    inner: 1,
                };
                (along, rows)
            }
        };
        self.split.push(op);
        let mut value = value;
        if count == 1 && matches!(cut, Cut::Pieces(_)) {
            self.write_input(op);
            // Pieces of a single row follow the memory of a transposed input.
            if let Some(dimension) = self.dense_dimension(op, shape) {
                value.see(Some(&View::with_last(shape, dimension)), (op, 0));
            }
        }
        let again = match cut {
            Cut::Pieces(pieces) => self.cut_again(&value, reduced, (count, width, pieces)),
            _ => 1,
        };
        let (first, pieces) = match first {
            Loop::Reduction { rows, width, inner } if again > 1 => (
                Loop::Reduction {
                    rows: rows.saturating_mul(again),
                    width: width.div_ceil(again),
                    inner,
                },
                pieces.saturating_mul(again),
            ),
            _ => (first, pieces),
        };
        let mut partial = self.new_buffer(ROW_VALUE_BYTES);
        // In the rows of an earlier reduction the way along a row is that reduction's, whose axes
        // the rows themselves do not say.
        let axes = if matches!(cut, Cut::Rows(..)) {
            0
        } else {
            axes
        };
        let mut node = match cut {
            Cut::Across(rows, width) => self.node_along(value, first, &[rows, width], 0b10),
            _ => self.node_along(value, first, shape, axes),
        };
        if let (Cut::Rows(before, _), Some(indices)) = (&cut, &mut node.indices) {
            indices.axes = axes_of(*before, shape);
        }
        if matches!(cut, Cut::Pieces(_)) {
            let pieces = Pieces {
                rows: count,
                width,
                count: pieces,
                keeps_index: !(count > 1 && along < across) && width.is_multiple_of(pieces),
            };
            pieces.cut_reads(&mut node, shape, axes);
        }
        let partials = View::whole(count.saturating_mul(pieces));
        let node = node.writing(partial, &partials, &[count, pieces], ROW_VALUE_BYTES);
        self.reduced.insert(partial, first);
        // In the compiler a variance is a mean, a sum of squares and a weight: three nodes that
        // read the same.
        let readings = if is_variance(&graph.ops[op]) { 3 } else { 1 };
        self.push(SchedulerNode {
            rows: Some(rows),
            readings,
            ..node
        });
        let mut left = pieces;
        if again > 1 {
            left = pieces / again;
            let next = self.new_buffer(ROW_VALUE_BYTES);
            self.combine(partial, (count, left, again), next);
            partial = next;
        }
        if is_variance(&graph.ops[op]) && count > 1 && along <= across {
            // A variance of pieces is a reduction like any other
            // (`WelfordReduction.create_multilayer`).
            // A row is cut into fewer pieces than it has elements, so this ends.
            while let again @ 2.. = self.pieces_of(count, left, false) {
                let next = self.new_buffer(ROW_VALUE_BYTES);
                let width = left.div_ceil(again);
                self.combine(partial, (count, again, width), next);
                (partial, left) = (next, again);
            }
        }
        self.combine(partial, (count, 1, left), buffer);
    }

    /// Adds the node of a reduction that is not split.
    fn whole(
        &mut self,
        op: OpId,
        value: LoweredValue,
        space: Loop,
        reduced: &Reduced,
        rows: ReducedRows,
        buffer: BufferId,
    ) {
        let graph = self.graph;
        let bytes = self.width_of(buffer);
        let node = self.node_along(value, space, &reduced.shape, reduced.axes);
        let tensor = graph.output[op];
        let mut node = match &node.indices {
            Some(indices) if buffer == BufferId::of_tensor(tensor) => {
                let layout = self.reduced_layout(tensor, indices);
                self.values[tensor] = buffer_value(buffer, layout.clone());
                let own = graph.tensor_shape(tensor).unwrap_or(&[]);
                node.writing(buffer, &layout, own, bytes)
            }
            _ => node.writing(buffer, &View::whole(rows.count), &[rows.count], bytes),
        };
        // One value for a whole row: who moves along it reads other elements.
        node.writes.step = Some(0);
        self.reduced.insert(buffer, space);
        self.push(SchedulerNode {
            rows: Some(rows),
            ..node
        });
    }

    /// How a reduction to few values is cut.
    fn cut(&self, op: OpId, value: &LoweredValue, reduced: &Reduced) -> Cut {
        match self.rows_before(op, value, &reduced.shape) {
            Some((
                Loop::Reduction {
                    rows,
                    width,
                    inner: 2..,
                },
                _,
            )) => Cut::Across(rows, width),
            Some((before, rows)) => Cut::Rows(before, rows),
            None => Cut::Pieces(self.pieces(op, value, reduced)),
        }
    }

    /// Into how many pieces each piece of a row is cut again. As rows they may be read across, by
    /// what is broadcast.
    fn cut_again(
        &self,
        value: &LoweredValue,
        reduced: &Reduced,
        (count, width, pieces): (u64, u64, u64),
    ) -> u64 {
        let piece = width.div_ceil(pieces);
        let (inner, outer) = directions_of_pieces(value, reduced, width, piece);
        if inner + outer == 0 {
            return 1;
        }
        let rows = count.saturating_mul(pieces);
        self.pieces_of(rows, piece, inner > outer).max(1)
    }

    /// Adds a node without ops that reduces pieces of rows: so many rows, pieces that are left of
    /// each, and pieces that make one.
    pub(super) fn combine(
        &mut self,
        from: BufferId,
        (count, left, width): (u64, u64, u64),
        into: BufferId,
    ) {
        let rows = count.saturating_mul(left);
        let value = buffer_value(from, View::whole(rows.saturating_mul(width)));
        let space = Loop::Reduction {
            rows,
            width,
            inner: 1,
        };
        let node = self.node_along(value, space, &[rows, width], 0b10);
        self.push(node.writing(into, &View::whole(rows), &[rows], self.width_of(into)));
        self.reduced.insert(into, space);
    }

    fn pieces(&self, op: OpId, value: &LoweredValue, reduced: &Reduced) -> u64 {
        // Source: `should_split` in `num_splits`, `torch/_inductor/ir.py`.
        if let Some(Function::Argmax | Function::Argmin) = self.graph.ops[op].function {
            return 1;
        }
        let domain = RowDomain::of_op(self.graph, op);
        let (inner, outer) = directions(value, &reduced.shape, reduced.axes);
        if domain.rows > 1 && inner + outer == 0 {
            // Nothing is read whole.
            return 1;
        }
        self.pieces_of(domain.rows, domain.width, inner > outer)
    }

    pub(super) fn pieces_of(&self, rows: u64, width: u64, is_inner: bool) -> u64 {
        let whole = UnsplitReduction {
            rows,
            width,
            is_inner,
        };
        match self.target.multiprocessors {
            0 => 1,
            multiprocessors => pieces(whole, multiprocessors),
        }
    }

    fn rows(&self, op: OpId, value: &LoweredValue, reduced: &Reduced) -> ReducedRows {
        let domain = RowDomain::of_op(self.graph, op);
        let (shape, axes) = (&reduced.shape[..], reduced.axes);
        let last = shape
            .len()
            .checked_sub(1)
            .is_some_and(|last| last < 32 && axes >> last & 1 == 1);
        let is_along = |view: &Option<View>| {
            let only_last = reduced_axes(0, shape.len());
            let strides = view
                .as_ref()
                .and_then(|view| view.strides_along(shape, only_last));
            // 0 is a broadcast, which the compiler takes as contiguous (`is_contiguous_load`).
            strides.is_some_and(|strides| strides.iter().all(|&stride| stride <= 1))
        };
        let name = self.graph.ops[op].function;
        ReducedRows {
            count: domain.rows,
            width: domain.width,
            is_contiguous: last && value.reads.iter().all(|read| is_along(&read.view)),
            is_sum: matches!(name, Some(Function::Sum | Function::Mean | Function::Prod)),
        }
    }
}

/// How a reduction to few values is cut.
enum Cut {
    /// Each row into this many pieces.
    Pieces(u64),
    /// Into the rows of an earlier reduction, so many.
    Rows(Loop, u64),
    /// Into as many pieces as an earlier reduction has rows, of their width. Those rows lie across
    /// in memory, so the pieces do not have their elements.
    Across(u64, u64),
}
