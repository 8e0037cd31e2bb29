//! How a reader obtains a tensor: from which buffers, and what of them.

use super::facts::is_repeat;
use super::node::BufferId;
use super::view::{View, broadcast_to};
use crate::model::functions::Function;
use crate::model::graph::{Graph, Tensor};
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Indexing, Window};
use rustc_hash::FxHasher;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// How a reader obtains a tensor: it reads these buffers and computes these ops.
#[derive(Clone, Default)]
pub(super) struct LoweredValue {
    pub(super) reads: Vec<BufferView>,
    pub(super) ops: Vec<OpId>,
    /// The results of the ops as if they were in buffers, once for each index that an element
    /// needs: an expression over a short row computes an op for each element of the row.
    pub(super) computed: Vec<BufferView>,
}

/// A buffer, and for each element of a tensor the element of it that is read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferView {
    pub(super) buffer: BufferId,
    /// `None` if no view says it.
    pub(super) view: Option<View>,
    /// If no view says it, a hash of the way to the element: of the op that picks it and its input,
    /// or of where it lies in a larger tensor, and of all views before and behind. Equal hashes are
    /// equal indices.
    pub(super) hidden: Option<u64>,
    /// How often an expression loads it.
    pub(super) loads: u32,
}

impl BufferView {
    pub(super) const fn new(buffer: BufferId, view: Option<View>) -> Self {
        Self {
            buffer,
            view,
            hidden: None,
            loads: 1,
        }
    }

    /// Whether the caller gives the buffer.
    pub(super) fn is_given(&self, graph: &Graph) -> bool {
        self.buffer.tensor(graph).is_some_and(Tensor::is_external)
    }

    /// The same elements through a view, or in another way as an input of an op.
    fn see(&mut self, view: Option<&View>, input: (OpId, usize)) {
        if let (Some(view), Some(own)) = (view, self.view.as_ref())
            && let Some(seen) = view.through(own)
        {
            self.view = Some(seen);
            return;
        }
        match (view, self.hidden) {
            // A view of everything in order, such as a reshape, changes no index.
            (Some(view), Some(_)) if view.is_flat() => {}
            (Some(view), _) => self.hide(view),
            (None, _) => self.hide(input),
        }
    }

    /// The elements that no view says: those that are found in this way among the present ones.
    fn hide(&mut self, way: impl Hash) {
        let mut hasher = FxHasher::default();
        (self.hidden, self.view.take()).hash(&mut hasher);
        way.hash(&mut hasher);
        self.hidden = Some(hasher.finish());
    }
}

impl LoweredValue {
    /// Adds the reads and the ops of another value. [`Self::sort`] follows after the last.
    pub(super) fn append(&mut self, other: &Self) {
        self.ops.extend(&other.ops);
        self.computed.extend(other.computed.iter().cloned());
        self.reads.extend(other.reads.iter().cloned());
    }

    /// Adds the op that computes the value from what it has so far.
    pub(super) fn compute(&mut self, graph: &Graph, op: OpId) {
        self.ops.push(op);
        let output = graph.output[op];
        let elements = graph.tensors[output].elements().unwrap_or(0);
        let result = BufferView::new(BufferId::of_tensor(output), Some(View::whole(elements)));
        self.computed.push(result);
    }

    /// What it reads and what it computes, at their indices.
    fn indices(&mut self) -> impl Iterator<Item = &mut BufferView> {
        self.reads.iter_mut().chain(&mut self.computed)
    }

    /// The value of a tensor that shows this one through a view, or in another way as an input of
    /// an op.
    pub(super) fn see(&mut self, view: Option<&View>, input: (OpId, usize)) {
        for read in self.indices() {
            read.see(view, input);
        }
    }

    /// The value of what an op looks up in this one.
    pub(super) fn look_up(&mut self, part: &LookedUp<'_>) {
        for read in self.indices() {
            let seen = read.view.as_ref().and_then(|view| part.view.through(view));
            // A buffer with one value for all elements along the axes is read as by any other op.
            let is_row = read.view.as_ref().is_some_and(|view| {
                let strides = view.strides_along(part.shape, part.axes);
                strides.is_some_and(|strides| strides.iter().all(|&stride| stride == 0))
            });
            if is_row && seen.is_some() {
                read.view = seen;
            } else {
                read.hide(&part.view);
            }
        }
    }

    /// The value of a larger tensor in which this one lies.
    pub(super) fn place(&mut self, part: &Placed<'_>) {
        for read in self.indices() {
            let view = read.view.as_ref();
            match view.and_then(|view| view.placed(part)) {
                Some(view) => read.view = Some(view),
                // In the same place of as large a tensor it is the same index.
                None => read.hide(part),
            }
        }
    }

    /// Each op and each read once. Reads stay in the order in which they are computed.
    pub(super) fn sort(&mut self) {
        self.ops.sort_unstable();
        self.ops.dedup();
        self.computed.sort_unstable();
        self.computed.dedup();
        let mut reads: Vec<(usize, BufferView)> = self.reads.drain(..).enumerate().collect();
        reads.sort_by(|(_, a), (_, b)| a.cmp(b));
        reads.dedup_by(|(_, again), (_, first)| {
            let is_same = (again.buffer, &again.view, &again.hidden)
                == (first.buffer, &first.view, &first.hidden);
            if is_same {
                first.loads = first.loads.saturating_add(again.loads);
            }
            is_same
        });
        reads.sort_unstable_by_key(|&(place, _)| place);
        self.reads.extend(reads.into_iter().map(|(_, read)| read));
    }
}

/// What an op looks up in an input.
pub(super) struct LookedUp<'a> {
    /// The shape of the input.
    shape: &'a [u64],
    /// The bits of the axes along which it looks.
    axes: u32,
    /// For each element of the output one of the input in the same row. The index equals that of
    /// any other look-up in the same rows, because the compiler names looked-up positions by their
    /// number in an expression.
    view: View,
}

/// For an input of a gather, embedding or index, of which a reader also knows the row.
pub(super) fn looked_up(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    rank: usize,
) -> Option<LookedUp<'_>> {
    let definition = &graph.ops[op];
    let shape = graph.tensor_shape(tensor)?;
    let first = |axes: usize| 1_u32.checked_shl(u32::try_from(axes).ok()?);
    let rows = |axes: usize| broadcast_to(shape.get(axes..)?, &definition.shape);
    let (axes, view) = match (definition.function?, rank) {
        (Function::Gather, 0) => {
            let axis = definition.indexing.as_ref()?.axis;
            (first(axis)?, View::of_rows(shape, axis, &definition.shape)?)
        }
        (Function::Embedding, 1) => (1, rows(1)?),
        (Function::Index, 0) => {
            let axes = graph.inputs[op].len().checked_sub(1)?;
            (first(axes)?.checked_sub(1)?, rows(axes)?)
        }
        _ => return None,
    };
    Some(LookedUp { shape, axes, view })
}

/// Where an input lies in a larger tensor, outside of which its elements are masked.
#[derive(Hash)]
pub(super) struct Placed<'a> {
    /// The shape of the input.
    pub(super) shape: Cow<'a, [u64]>,
    /// For some dimensions the first position of the input, and how many positions there are.
    pub(super) along: Vec<(usize, u64, u64)>,
    /// The compiler does not expand positions in a piece of a concatenation.
    pub(super) is_closed: bool,
}

/// A half of each row of a tensor, in the place of the other half.
pub(super) struct TurnedHalf {
    /// For each element of the half one of the tensor.
    pub(super) slice: Option<View>,
    pub(super) place: Placed<'static>,
}

/// What a rotary embedding reads of its input beside all of it: a concatenation of both halves.
pub(super) fn turned_halves(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    rank: usize,
) -> Option<[TurnedHalf; 2]> {
    let is_turned = graph.ops[op].function == Some(Function::Rotary) && rank == 0;
    let shape = graph.tensor_shape(tensor).filter(|_| is_turned)?;
    let (&size, rows) = shape.split_last()?;
    let half_size = size / 2;
    let half: Vec<u64> = rows.iter().copied().chain([half_size]).collect();
    let turned = |start: u64| {
        let range = Indexing {
            axis: rows.len(),
            start,
            step: 1,
            ..Indexing::default()
        };
        TurnedHalf {
            slice: View::of_slice(shape, &half, &range),
            place: Placed {
                shape: Cow::Owned(half.clone()),
                along: vec![(rows.len(), half_size - start, size)],
                is_closed: true,
            },
        }
    };
    Some([turned(half_size), turned(0)])
}

/// For an input of a concatenation, a border, or what is written over a part.
pub(super) fn placed(graph: &Graph, op: OpId, tensor: TensorId, rank: usize) -> Option<Placed<'_>> {
    let definition = &graph.ops[op];
    let shape = graph.tensor_shape(tensor)?;
    let indexing = definition.indexing.as_ref()?;
    (shape.len() == definition.shape.len()).then_some(())?;
    let sized = |(axis, start)| Some((axis, start, *definition.shape.get(axis)?));
    let is_closed = definition.function == Some(Function::Concat);
    let along = match definition.function? {
        // Copies of one tensor are read through a view.
        Function::Concat if !is_repeat(definition) => {
            let axis = indexing.axis;
            let before = graph.inputs[op].iter().take(rank);
            let lengths = before.map(|&piece| graph.tensor_shape(piece)?.get(axis).copied());
            let start = lengths.sum::<Option<u64>>()?;
            vec![sized((axis, start))?]
        }
        Function::SliceScatter if rank == 1 && indexing.step == 1 => {
            vec![sized((indexing.axis, indexing.start))?]
        }
        Function::Pad => {
            let borders = indexing.borders.iter().copied().enumerate();
            borders.map(sized).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(Placed {
        shape: Cow::Borrowed(shape),
        along,
        is_closed,
    })
}

/// The shape of an image with the border of a window around it, and where the image lies in it if
/// there is one.
pub(super) fn with_border(image: &[u64], window: Window) -> (Vec<u64>, Option<Placed<'_>>) {
    let mut shape = image.to_vec();
    let mut along = Vec::new();
    let first = image.len().saturating_sub(window.padding.len());
    for (axis, (size, border)) in shape.iter_mut().skip(first).zip(window.padding).enumerate() {
        *size = size.saturating_add(border.saturating_mul(2));
        along.push((first + axis, border, *size));
    }
    let is_bordered = window.padding != [0, 0];
    let border = is_bordered.then_some(Placed {
        shape: Cow::Borrowed(image),
        along,
        is_closed: false,
    });
    (shape, border)
}

pub(super) fn buffer_value(buffer: BufferId, view: View) -> LoweredValue {
    LoweredValue {
        reads: vec![BufferView::new(buffer, Some(view))],
        ..LoweredValue::default()
    }
}
