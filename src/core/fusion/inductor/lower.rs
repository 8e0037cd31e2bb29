//! Lowers ops to nodes of the scheduler, each at its turn.

use super::as_value::AsValues;
use super::attention::{flash_kernels, result_layout};
use super::copied::CopyOfBuffer;
use super::facts::{
    copies_before, elements, is_across, is_call, is_position, is_repeat, is_windowed, keeps_shape,
    window_of,
};
use super::in_place::BufferReaders;
use super::layout::{Layouts, layouts};
use super::library::{bias_adds, matmul_space};
use super::locality::{Step, has_fixed_row_values, lowering_order, positions};
use super::node::{BufferId, NodeId, SchedulerNode};
use super::sort::is_generated_sort;
use super::store::{index_of, is_store};
use super::uses::{Uses, uses};
use super::value::{LoweredValue, buffer_value, looked_up, placed, turned_halves, with_border};
use super::view::{View, broadcast};
use super::weight_only::replace_int8;
use crate::fusion::decision::{Decision, Log};
use crate::fusion::loops::Loop;
use crate::model::functions::{Function, ShapeRule};
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;
use crate::model::options::ReshapeCost;
use crate::model::partition::OperandCopy;
use std::collections::{HashMap, HashSet};

/// Inputs of the compiler beside the graph.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) max_autotune: bool,
    /// Torch 2.15, not 2.11.
    pub(super) is_2_15: bool,
    /// 0 if the device has none.
    pub(super) multiprocessors: u64,
    /// Whether the copies that views stand for count as those of the views.
    pub(super) reshape: ReshapeCost,
}

/// What the scheduler gets.
pub(super) struct Lowered {
    /// Each after those that it reads.
    pub(super) nodes: IdVec<NodeId, SchedulerNode>,
    /// How many buffers there are.
    pub(super) buffers: usize,
    /// By ascending op.
    pub(super) copies: Vec<OperandCopy>,
    /// Those of them that have nodes of their own.
    pub(super) copies_of_buffers: Vec<CopyOfBuffer>,
    /// Reshapes that are copied, ascending.
    pub(super) copied_views: Vec<OpId>,
    /// Nodes that copy the result of an op in place into the memory of its first input.
    pub(super) copied_back: Vec<(NodeId, OpId)>,
    /// Ops in place that compute a value of all of their tensor, ascending.
    pub(super) of_whole: Vec<OpId>,
    /// Reductions whose rows are cut into pieces, ascending.
    pub(super) split: Vec<OpId>,
    /// Pieces that are written where a concatenation has them, behind the concatenation, ascending.
    pub(super) placed: Vec<(OpId, TensorId)>,
}

/// The nodes of a graph. `O(ops + reads)`, because the size of a value is bounded.
pub(super) fn nodes(graph: &Graph, target: Target, log: &mut Log) -> Lowered {
    let as_values = AsValues::of(graph);
    let is_view = |op: OpId| graph.ops[op].is_view();
    let before = layouts(graph, &[], is_view, |op| as_values.is_in_place(graph, op));
    let mut replaced = flash_kernels(graph, &before);
    replace_int8(graph, &mut replaced);
    let mut members_of: IdVec<OpId, Vec<OpId>> = IdVec::from_elem(Vec::new(), graph.ops.len());
    for (op, &last) in replaced.iter_enumerated() {
        if let Some(last) = last {
            members_of[last].push(op);
        }
    }
    let results: Vec<(TensorId, View)> = (members_of.iter_enumerated())
        .filter(|(_, members)| !members.is_empty())
        .map(|(last, members)| {
            (
                graph.output[last],
                result_layout(graph, &before, last, members),
            )
        })
        .collect();
    // These calls are found by the layouts of their operands and decide those of their results,
    // so the layouts after them are computed again.
    let layouts = if results.is_empty() {
        before
    } else {
        layouts(graph, &results, is_view, |op| {
            as_values.is_in_place(graph, op)
        })
    };
    let adds = bias_adds(graph);
    let order = lowering_order(graph);
    let mut lowering = Lowering {
        graph,
        target,
        uses: uses(graph, &layouts, &replaced, &adds, &as_values),
        adds,
        as_values,
        has_convolution: graph.ops.iter().any(Op::is_convolution),
        values: (layouts.iter_enumerated())
            .map(|(tensor, layout)| buffer_value(BufferId::of_tensor(tensor), layout.clone()))
            .collect(),
        layouts,
        copies: HashMap::new(),
        copied: Vec::new(),
        copied_buffers: Vec::new(),
        copied_views: Vec::new(),
        copied_back: Vec::new(),
        split: Vec::new(),
        placed: Vec::new(),
        pieces: HashMap::new(),
        widths: (graph.tensors.iter())
            .map(|tensor| tensor.addressed_bytes().unwrap_or(0))
            .collect(),
        unwritten: HashSet::new(),
        fixed: HashSet::new(),
        reduced: HashMap::new(),
        position: positions(graph, &order),
        readers: BufferReaders::of(graph, &order),
        pairs: HashSet::new(),
        normed: HashMap::new(),
        elements: HashMap::new(),
        is_lowered: IdVec::from_elem(false, graph.ops.len()),
        replaced,
        nodes: IdVec::new(),
        log,
    };
    // For each bias add the matmul whose library call includes it.
    let mut bias_of = IdVec::from_elem(None, graph.ops.len());
    for step in order {
        let op = match step {
            // Its elements are left.
            Step::Op(op) if has_fixed_row_values(graph, op) => {
                lowering.write_elements(op);
                continue;
            }
            Step::RowValues(op) | Step::Op(op) => op,
        };
        lowering.is_lowered[op] = true;
        if lowering.writes_in_place(op) {
            lowering.write_readers(op);
        }
        if lowering.replaced[op].is_some() {
            let members = std::mem::take(&mut members_of[op]);
            if !members.is_empty() {
                lowering.call(&members, Loop::Library);
            }
        } else if let Some(matmul) = bias_of[op] {
            let space = matmul_space(graph, op, target.max_autotune);
            lowering.call(&[matmul, op], space);
        } else if is_call(&graph.ops[op]) && graph.ops[op].op_type != OpType::Matmul {
            lowering.call(&[op], Loop::Library);
            if copies_before(graph, op) {
                lowering.launch_beside(BufferId::of_tensor(graph.output[op]));
            }
        } else if graph.ops[op].op_type != OpType::Matmul {
            lowering.place(op);
        } else if let Some(add) = lowering.adds[op] {
            // Lowered at its add, because the call also reads what the add adds.
            bias_of[add] = Some(op);
        } else {
            lowering.call(&[op], matmul_space(graph, op, target.max_autotune));
        }
    }
    lowering.copy_into_memory();
    // A matmul is lowered at the add that its call includes.
    lowering.copied.sort_by_key(|copy| copy.op);
    lowering.copied_views.sort_unstable();
    lowering.copied_views.dedup();
    lowering.split.sort_unstable();
    lowering.split.dedup();
    lowering.placed.sort_unstable();
    lowering.placed.dedup();
    Lowered {
        nodes: lowering.nodes,
        buffers: lowering.widths.len(),
        copies: lowering.copied,
        copies_of_buffers: lowering.copied_buffers,
        copied_views: lowering.copied_views,
        copied_back: lowering.copied_back,
        of_whole: lowering.as_values.of_whole,
        split: lowering.split,
        placed: lowering.placed,
    }
}

pub(super) struct Lowering<'a> {
    pub(super) log: &'a mut Log,
    pub(super) graph: &'a Graph,
    pub(super) target: Target,
    pub(super) layouts: Layouts,
    pub(super) uses: IdVec<TensorId, Uses>,
    /// For each matmul the add that its library call includes.
    pub(super) adds: IdVec<OpId, Option<OpId>>,
    pub(super) as_values: AsValues,
    pub(super) has_convolution: bool,
    pub(super) values: IdVec<TensorId, LoweredValue>,
    pub(super) nodes: IdVec<NodeId, SchedulerNode>,
    /// Copies for libraries, by operand and bytes.
    pub(super) copies: HashMap<(TensorId, u64), BufferId>,
    /// What they move.
    pub(super) copied: Vec<OperandCopy>,
    /// Nodes that copy the result of an op in place into the memory of its first input.
    pub(super) copied_back: Vec<(NodeId, OpId)>,
    pub(super) copied_buffers: Vec<CopyOfBuffer>,
    /// Reductions whose rows are cut into pieces.
    pub(super) split: Vec<OpId>,
    /// Pieces that are written where a concatenation has them, behind the concatenation.
    pub(super) placed: Vec<(OpId, TensorId)>,
    /// Reshapes whose copy a library or the caller reads.
    pub(super) copied_views: Vec<OpId>,
    /// For the buffer of a concatenation those of its other pieces, which a reader waits for, too.
    pub(super) pieces: HashMap<BufferId, Vec<BufferId>>,
    /// For each buffer the bytes of an element: one for each tensor, then those that no tensor
    /// names.
    pub(super) widths: Vec<u32>,
    /// For each buffer that a reduction writes its loop.
    pub(super) reduced: HashMap<BufferId, Loop>,
    /// For each op its position in the order of lowering.
    pub(super) position: IdVec<OpId, usize>,
    /// What a write in place must wait for.
    pub(super) readers: BufferReaders,
    /// The buffers of row values that are two buffers in the compiler.
    pub(super) pairs: HashSet<BufferId>,
    /// The operands of calls that are copies of what no buffer held.
    pub(super) unwritten: HashSet<TensorId>,
    /// The tensors whose layout a reduction to a single value has fixed.
    pub(super) fixed: HashSet<TensorId>,
    /// For each buffer of the elements of a norm the loop of its row values.
    pub(super) normed: HashMap<BufferId, Loop>,
    /// For each norm of which only the row values are lowered the value of its elements, if they
    /// are written.
    pub(super) elements: HashMap<OpId, LoweredValue>,
    /// Whether an op is lowered; of a norm, its row values.
    pub(super) is_lowered: IdVec<OpId, bool>,
    /// For each op that a call of a library replaces with others the last of them.
    pub(super) replaced: IdVec<OpId, Option<OpId>>,
}

impl Lowering<'_> {
    fn place(&mut self, op: OpId) {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let output = graph.output[op];
        if definition.is_view() {
            self.view(op);
            return;
        }
        if is_store(definition) && !self.as_values.contains(op) {
            self.store(op);
            return;
        }
        let concatenates = definition.function == Some(Function::Concat);
        if concatenates && !self.is_inlined_concat(op) {
            self.concat(op);
            return;
        }
        // The compiler lowers a pool to a pointwise loop, although the pool is a reduction here.
        let is_reduction = definition.op_type == OpType::Reduction
            && !is_windowed(definition)
            && !is_position(graph, op);
        let is_unrolled = is_reduction && self.is_unrolled(op);
        let mut value = if is_unrolled {
            self.unrolled(op)
        } else {
            self.inputs(op)
        };
        let loads = super::facts::loads(definition);
        for read in &mut value.reads {
            read.loads = read.loads.saturating_mul(loads);
        }
        value.compute(graph, op);
        if is_generated_sort(definition) {
            self.sort(op, value);
        } else if is_reduction && !is_unrolled {
            self.reduction(op, value);
        } else if self.is_buffer(&value, output) || self.uses[output].is_viewed {
            // A buffer that only the caller views is written beside what its readers compute.
            let inlined = (!self.is_buffer(&value, output)).then(|| value.clone());
            if is_reduction && has_fixed_row_values(graph, op) {
                self.elements.insert(op, value);
            } else {
                self.write_pointwise(op, value);
            }
            if let Some(inlined) = inlined {
                self.inline(op, inlined);
            }
        } else {
            self.inline(op, value);
        }
    }

    /// Writes the elements of a norm whose row values are lowered, if it is not inlined.
    fn write_elements(&mut self, op: OpId) {
        if let Some(value) = self.elements.remove(&op) {
            self.write_pointwise(op, value);
        }
    }

    pub(super) fn inline(&mut self, op: OpId, value: LoweredValue) {
        self.log.note(Decision::Inlined {
            op,
            readers: self.graph.successors[op].len(),
        });
        self.readers.note_inlined(self.graph.output[op], &value);
        self.values[self.graph.output[op]] = value;
    }

    /// The value of all inputs of an op: the buffers and ops from which they are computed.
    pub(super) fn inputs(&self, op: OpId) -> LoweredValue {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let mut value = LoweredValue::default();
        for (place, &tensor) in graph.inputs[op].iter().enumerate() {
            let mut input = self.values[tensor].clone();
            if place == 0 && self.only_overwrites(op, &input) || place > 0 && is_repeat(definition)
            {
                continue;
            }
            if let Some(window) = window_of(definition) {
                // Each element of the window is another read.
                let image = graph.tensor_shape(tensor).unwrap_or(&[]);
                let (image, border) = with_border(image, window);
                if let Some(border) = border {
                    input.place(&border);
                }
                for (element, view) in View::of_window(&image, definition, window).enumerate() {
                    let mut seen = input.clone();
                    seen.see(view.as_ref(), (op, element));
                    value.append(&seen);
                }
                continue;
            }
            for half in turned_halves(graph, op, tensor, place)
                .into_iter()
                .flatten()
            {
                let mut turned = input.clone();
                turned.see(half.slice.as_ref(), (op, place));
                turned.place(&half.place);
                value.append(&turned);
            }
            let seen = self.seen_by(op, place, tensor);
            let seen = seen.filter(|_| !self.crosses_rows(op, &input, tensor));
            if let Some(part) = looked_up(graph, op, tensor, place) {
                input.look_up(&part);
            } else if let Some(part) = placed(graph, op, tensor, place) {
                input.place(&part);
            } else {
                input.see(seen.as_ref(), (op, place));
            }
            value.append(&input);
        }
        value.sort();
        value
    }

    /// Whether an input gives the values of rows that the op broadcasts along other axes than those
    /// that were reduced.
    pub(super) fn crosses_rows(&self, op: OpId, input: &LoweredValue, tensor: TensorId) -> bool {
        let graph = self.graph;
        input.reads.iter().any(|read| {
            let writer = read.buffer.tensor(graph).and_then(|tensor| tensor.producer);
            writer.is_some_and(|writer| {
                graph.ops[writer].op_type == OpType::Reduction
                    && is_across(graph, writer, tensor, &graph.ops[op])
            })
        })
    }

    /// For each element of an op's output the element of an input that it reads, if it is one.
    pub(super) fn seen_by(&self, op: OpId, place: usize, tensor: TensorId) -> Option<View> {
        let graph = self.graph;
        let reader = &graph.ops[op];
        let Some(shape) = graph.tensor_shape(tensor) else {
            // Undeclared, so assumed to be as large as what reads it.
            return Some(View::whole(elements(reader)));
        };
        let rule = reader
            .function
            .map_or(ShapeRule::Broadcast, |function| function.row().shape_rule);
        match (rule, place) {
            // A scale of rows, columns or the whole is broadcast. Of smaller blocks it is read at
            // quotients of the index.
            (
                ShapeRule::Broadcast
                | ShapeRule::SameAsFirst
                | ShapeRule::PerChannel
                | ShapeRule::Blocks,
                _,
            )
            | (ShapeRule::SliceScatter, 0) => broadcast(shape, reader),
            // A reduction reads its input element by element.
            (ShapeRule::Reduce | ShapeRule::Reshape, 0) | (ShapeRule::Gather, 1) => {
                Some(View::whole(element_count(shape)?))
            }
            (ShapeRule::Embedding | ShapeRule::OneHot, 0) => {
                let mut column = shape.to_vec();
                column.push(1);
                broadcast(&column, reader)
            }
            (ShapeRule::Interleave, 0) => View::of_interleaved(shape, &reader.shape),
            (ShapeRule::Concat, 0) if is_repeat(reader) => View::of_repeated(shape, &reader.shape),
            (ShapeRule::Index, 1..) => {
                let indexed = graph.inputs[op].len() - 1;
                index_of(graph, op, tensor, indexed, &reader.shape)
            }
            _ => None,
        }
    }

    /// Whether a norm is split into a reduction to row values and a pointwise op on them. Computed
    /// weights must exist when a kernel that reads them starts, so then it is not.
    pub(super) fn has_row_values(&self, op: OpId) -> bool {
        keeps_shape(self.graph, op) && self.reads_no_op_beside_rows(op)
    }
}
