//! Lowers reductions: in one kernel or two, and norms as row values and a pointwise op on them.

use super::direction::directions;
use super::facts::{keeps_shape, reduced_axes, reduction_space};
use super::lower::Lowering;
use super::node::{BufferId, ReducedRows, SchedulerNode};
use super::split::{UnsplitReduction, pieces};
use super::value::{BufferView, LoweredValue, buffer_value};
use super::view::{Loops, View, broadcast};
use crate::fusion::loops::Loop;
use crate::fusion::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;

impl Lowering<'_> {
    /// Adds the nodes of a reduction. `value` computes all of it.
    pub(super) fn reduction(&mut self, op: OpId, value: LoweredValue) {
        let graph = self.graph;
        let output = graph.output[op];
        let definition = &graph.ops[op];
        let function = definition.function;
        let input = graph.inputs[op]
            .first()
            .and_then(|&t| graph.tensor_shape(t));
        let shape = input.unwrap_or(&definition.shape);
        if function == Some(Function::Cumsum) || !self.has_row_values(op) && keeps_shape(graph, op)
        {
            // A scan writes each element itself.
            let is_split = function == Some(Function::Cumsum) && self.pieces(op, &value, shape) > 1;
            self.write(value, reduction_space(graph, op), output, shape);
            if is_split {
                self.last_waits();
            }
            return;
        }
        if !keeps_shape(graph, op) {
            let rows = self.rows(op, &value, shape);
            self.halves(op, value, shape, rows, BufferId::of_tensor(output));
            return;
        }
        let Some(row_view) = row_view(definition) else {
            self.write(value, reduction_space(graph, op), output, shape);
            return;
        };
        // A norm is a reduction to row values and a pointwise op on them, which its readers inline.
        let mut first = match graph.inputs[op].first() {
            Some(&tensor) => {
                let mut first = self.values[tensor].clone();
                let seen = self.seen_by(definition, 0, tensor);
                let seen = seen.filter(|_| !self.crosses_rows(op, &first, tensor));
                first.see(seen.as_ref(), (op, 0));
                first
            }
            None => LoweredValue::default(),
        };
        first.ops.push(op);
        let rows = self.rows(op, &first, shape);
        let is_split = self.pieces(op, &first, shape) > 1;
        let is_buffer = self.is_buffer(&value, output);
        if !is_split && is_buffer {
            // The row values and the elements fuse in any case.
            let space = reduction_space(graph, op);
            self.write_rows(value, space, output, shape, Some(rows));
            return;
        }
        let mut row_values = vec![self.new_buffer()];
        if is_split && matches!(function, Some(Function::Softmax | Function::LogSoftmax)) {
            // One kernel finds maximum and sum together. Split, each of them takes two kernels.
            row_values.push(self.new_buffer());
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
            self.halves(op, half, shape, rows, buffer);
            value.append(&buffer_value(buffer, row_view.clone()));
        }
        value.sort();
        if is_buffer {
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
        shape: &[u64],
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
        let written = View::whole(count);
        // A buffer without a tensor holds row values, which are kept in f32.
        let bytes = buffer
            .tensor(graph)
            .and_then(|t| t.bytes_per_element)
            .unwrap_or(4);
        let (along, across) = self.directions(op, &value, shape);
        let cut = match self.rows_before(op, &value, shape) {
            Some((before, rows)) => Cut::Rows(before, rows),
            None => Cut::Pieces(self.pieces(op, &value, shape)),
        };
        let (first, pieces) = match cut {
            Cut::Pieces(0 | 1) => {
                let node = self.node(value, space, shape);
                let node = node.writing(buffer, &written, &[count], bytes);
                self.push(SchedulerNode {
                    rows: Some(rows),
                    ..node
                });
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
        };
        if count == 1 && matches!(cut, Cut::Pieces(_)) {
            self.write_input(op);
        }
        let again = self.cut_again(&value, first, matches!(cut, Cut::Pieces(_)) && count == 1);
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
        let mut partial = self.new_buffer();
        let mut node = self.node(value, first, shape);
        if matches!(cut, Cut::Pieces(_)) {
            // Equal pieces of contiguous rows keep the index of the whole rows; others get an index
            // that no reader of whole rows shares.
            if inner != 1 || !width.is_multiple_of(pieces) {
                for read in &mut node.reads {
                    read.access = read.access.in_pieces(pieces);
                }
            }
            if count == 1 {
                for read in &mut node.reads {
                    read.loops = Loops::of(&[pieces, width.div_ceil(pieces)]);
                    if !read.is_flat {
                        // A piece of it begins at a quotient, which counts as another element at
                        // each place.
                        read.access = read.access.in_pieces(pieces);
                        let tensor = read.buffer.tensor(graph);
                        let bytes = tensor.and_then(|tensor| tensor.bytes_per_element);
                        read.bytes = width.saturating_mul(bytes.unwrap_or(4).into());
                    }
                }
            }
        }
        let partials = View::whole(count.saturating_mul(pieces));
        let node = node.writing(partial, &partials, &[count, pieces], 4);
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
            let next = self.new_buffer();
            self.combine(partial, (count, left, again), next, 4);
            partial = next;
        }
        if is_variance(&graph.ops[op]) && count > 1 && along <= across {
            // A variance of pieces is a reduction like any other
            // (`WelfordReduction.create_multilayer`).
            // A row is cut into fewer pieces than it has elements, so this ends.
            while let again @ 2.. = self.pieces_of(count, left, false) {
                let next = self.new_buffer();
                let width = left.div_ceil(again);
                self.combine(partial, (count, again, width), next, 4);
                (partial, left) = (next, again);
            }
        }
        self.combine(partial, (count, 1, left), buffer, bytes);
    }

    /// Writes the input of a reduction to one value in pieces to a buffer, which later ops read.
    /// Source: `Reduction.check_for_split_dense_dim_reindexing` in `torch/_inductor/ir.py`.
    fn write_input(&mut self, op: OpId) {
        let graph = self.graph;
        let Some(&input) = graph.inputs[op].first() else {
            return;
        };
        let mut tensor = input;
        while let Some(view) = graph.tensors[tensor]
            .producer
            .filter(|&op| graph.ops[op].is_view())
            && let Some(&source) = graph.inputs[view].first()
        {
            tensor = source;
        }
        let is_wide = (graph.tensors[tensor].bytes_per_element).is_some_and(|bytes| bytes >= 4);
        let definition = &graph.ops[op];
        let converts = definition.function == Some(Function::Mean) && !is_wide;
        let value = self.values[tensor].clone();
        let is_inlined = !value.ops.is_empty() && !converts && !is_variance(definition);
        let producer = graph.tensors[tensor].producer;
        let is_read_later = producer.is_some_and(|producer| {
            let mut readers = graph.successors[producer].iter();
            readers.any(|&reader| reader > op)
        });
        if let (true, true, Some(producer)) = (is_inlined, is_read_later, producer) {
            let shape = &graph.ops[producer].shape;
            let elements = element_count(shape).unwrap_or(0);
            self.write(value, Loop::Pointwise(elements), tensor, shape);
            let layout = self.layouts[tensor].clone();
            self.values[tensor] = buffer_value(BufferId::of_tensor(tensor), layout);
        }
    }

    /// Into how many pieces each piece of a single row is cut again. As rows they may be read
    /// across, by what is broadcast.
    fn cut_again(&self, value: &LoweredValue, first: Loop, is_lone: bool) -> u64 {
        let Loop::Reduction { rows, width, .. } = first else {
            return 1;
        };
        let (inner, outer) = directions(value, &[rows, width], 0b10);
        if !is_lone || inner + outer == 0 {
            return 1;
        }
        self.pieces_of(rows, width, inner > outer).max(1)
    }

    /// Adds a node without ops that reduces pieces of rows: so many rows, pieces that are left of
    /// each, and pieces that make one.
    fn combine(
        &mut self,
        from: BufferId,
        (count, left, width): (u64, u64, u64),
        into: BufferId,
        bytes: u32,
    ) {
        let rows = count.saturating_mul(left);
        let value = LoweredValue {
            reads: vec![BufferView::new(
                from,
                Some(View::whole(rows.saturating_mul(width))),
            )],
            ops: Vec::new(),
        };
        let space = Loop::Reduction {
            rows,
            width,
            inner: 1,
        };
        let node = self.node(value, space, &[rows, width]);
        self.push(node.writing(into, &View::whole(rows), &[rows], bytes));
    }

    /// The loop of the row values from which a single value is reduced: it is cut into their rows,
    /// if they are of as many elements. Source: `extract_input_node_reduction_ranges` in
    /// `torch/_inductor/dependencies.py`.
    fn rows_before(&self, op: OpId, value: &LoweredValue, shape: &[u64]) -> Option<(Loop, u64)> {
        let elements = element_count(shape)?;
        if RowDomain::of_op(self.graph, op).rows != 1 || self.pieces_of(1, elements, true) <= 1 {
            return None;
        }
        let mut loops = value
            .reads
            .iter()
            .filter_map(|read| self.reduced_in(read.buffer));
        let first = loops.next()?;
        let Loop::Reduction { rows, width, .. } = first else {
            return None;
        };
        (loops.all(|other| other == first) && rows.checked_mul(width) == Some(elements))
            .then_some((first, rows))
    }

    fn pieces(&self, op: OpId, value: &LoweredValue, shape: &[u64]) -> u64 {
        let domain = RowDomain::of_op(self.graph, op);
        let (inner, outer) = self.directions(op, value, shape);
        if domain.rows > 1 && inner + outer == 0 {
            // Nothing is read whole.
            return 1;
        }
        self.pieces_of(domain.rows, domain.width, inner > outer)
    }

    fn pieces_of(&self, rows: u64, width: u64, is_inner: bool) -> u64 {
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

    fn rows(&self, op: OpId, value: &LoweredValue, shape: &[u64]) -> ReducedRows {
        let domain = RowDomain::of_op(self.graph, op);
        let axes = reduced_axes(self.graph.ops[op].axes, shape.len());
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
            is_sum: matches!(name, Some(Function::Sum | Function::Mean)),
        }
    }
}

/// How a reduction to few values is cut.
enum Cut {
    /// Each row into this many pieces.
    Pieces(u64),
    /// Into the rows of an earlier reduction, so many.
    Rows(Loop, u64),
}

/// Whether the op reduces to a variance, which is three values until the end.
pub(super) fn is_variance(op: &Op) -> bool {
    matches!(
        op.function,
        Some(Function::Var | Function::LayerNorm | Function::GroupNorm | Function::BatchNormTrain)
    )
}

/// For each element of a norm's output its row.
pub(super) fn row_view(norm: &Op) -> Option<View> {
    let groups = norm.indexing.as_ref().map_or(0, |indexing| indexing.groups);
    if let (1.., Some(batch)) = (groups, norm.shape.first()) {
        // Groups of channels are no axes, so the norm is seen as a matrix with a row per group.
        let rows = batch.checked_mul(groups).filter(|&rows| rows > 0)?;
        let width = element_count(&norm.shape)? / rows;
        let reader = Op::new("", OpType::Elementwise, &[], "", &[rows, width], 1);
        return broadcast(&[rows, 1], &reader);
    }
    let axes = reduced_axes(norm.axes, norm.shape.len());
    let shape = norm.shape.iter().enumerate();
    let rows = shape.map(|(place, &size)| {
        let is_reduced = place < 32 && axes >> place & 1 == 1;
        if is_reduced { 1 } else { size }
    });
    let rows: Vec<u64> = rows.collect();
    let reader = Op::new("", OpType::Elementwise, &[], "", &norm.shape, 1);
    broadcast(&rows, &reader)
}
