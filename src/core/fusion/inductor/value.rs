//! How a reader obtains a tensor: from which buffers, and what of them.

use super::node::BufferId;
use super::view::{View, broadcast_to};
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// How a reader obtains a tensor: it reads these buffers and computes these ops.
#[derive(Clone, Default)]
pub(super) struct LoweredValue {
    pub(super) reads: Vec<BufferView>,
    pub(super) ops: Vec<OpId>,
    /// The ops again, once for each place at which an element needs them, with a hash of the place:
    /// an expression over a short row computes an op for each element of the row.
    places: Vec<(OpId, u64)>,
}

/// A buffer, and for each element of a tensor the element of it that is read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferView {
    pub(super) buffer: BufferId,
    /// `None` if no view says it.
    pub(super) view: Option<View>,
    hidden: Option<Hidden>,
    /// How often an expression loads it.
    pub(super) loads: u32,
}

/// Elements that no view describes, because an op picks them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Hidden {
    /// A hash of the op, of its input, and of all views before and behind: equal hashes are equal
    /// indices.
    index: u64,
    /// Where the elements would lie if the op picked the first one along its axis: what the
    /// compiler sees of the index.
    part: Option<View>,
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

    /// A number for the index, if no view describes it.
    pub(super) fn hidden_index(&self) -> Option<u64> {
        self.hidden.as_ref().map(|hidden| hidden.index)
    }

    /// The part of the index that views describe, and whether it is the whole index.
    pub(super) fn seen(&self) -> Option<(&View, bool)> {
        let part = || self.hidden.as_ref()?.part.as_ref();
        let whole = self.view.as_ref().map(|view| (view, true));
        whole.or_else(|| part().map(|part| (part, false)))
    }

    /// The same elements through a view, or in another way as an input of an op.
    fn see(&mut self, view: Option<&View>, input: (OpId, usize)) {
        if let (Some(view), Some(own)) = (view, self.view.as_ref())
            && let Some(seen) = view.through(own)
        {
            self.view = Some(seen);
            return;
        }
        let part = (self.hidden.as_ref()).and_then(|hidden| view?.through(hidden.part.as_ref()?));
        self.hide(part, view, input);
    }

    fn hide(&mut self, part: Option<View>, by: Option<&View>, input: (OpId, usize)) {
        let mut hasher = FxHasher::default();
        self.hidden_index().hash(&mut hasher);
        self.view.take().hash(&mut hasher);
        match by {
            Some(view) => view.hash(&mut hasher),
            None => input.hash(&mut hasher),
        }
        // A view of everything in order, such as a reshape, changes no index.
        let index = match (by, &self.hidden) {
            (Some(view), Some(hidden)) if view.is_flat() => hidden.index,
            _ => hasher.finish(),
        };
        self.hidden = Some(Hidden { index, part });
    }
}

impl LoweredValue {
    /// Adds the reads and the ops of another value. [`Self::sort`] follows after the last.
    pub(super) fn append(&mut self, other: &Self) {
        self.ops.extend(&other.ops);
        self.places.extend(&other.places);
        self.reads.extend(other.reads.iter().cloned());
    }

    /// Adds the op that computes the value from what it has so far.
    pub(super) fn compute(&mut self, op: OpId) {
        self.ops.push(op);
        self.places.push((op, 0));
    }

    /// The ops, each as often as an expression computes it.
    pub(super) fn computed(&self) -> impl Iterator<Item = OpId> {
        self.places.iter().map(|&(op, _)| op)
    }

    fn move_places(&mut self, view: Option<&View>, input: (OpId, usize)) {
        if view.is_some_and(|view| *view == View::whole(view.elements())) {
            return;
        }
        for (_, place) in &mut self.places {
            let mut hasher = FxHasher::default();
            place.hash(&mut hasher);
            match view {
                Some(view) => view.hash(&mut hasher),
                None => input.hash(&mut hasher),
            }
            *place = hasher.finish();
        }
    }

    /// The value of a tensor that shows this one through a view, or in another way as an input of
    /// an op.
    pub(super) fn see(&mut self, view: Option<&View>, input: (OpId, usize)) {
        self.move_places(view, input);
        for read in &mut self.reads {
            read.see(view, input);
        }
    }

    /// The value of what an op picks of this one.
    pub(super) fn hide(&mut self, part: &HiddenPart<'_>, input: (OpId, usize)) {
        self.move_places(None, input);
        for read in &mut self.reads {
            let seen = read.view.as_ref().and_then(|view| part.view.through(view));
            // A buffer with one value for all elements along the axis is read as by any other op.
            let is_row = read.view.as_ref().is_some_and(|view| {
                let axis = part.axis.filter(|&axis| axis < 32);
                let strides = axis.and_then(|axis| view.strides_along(part.shape, 1 << axis));
                strides.is_some_and(|strides| strides.iter().all(|&stride| stride == 0))
            });
            if is_row && seen.is_some() {
                read.view = seen;
            } else {
                let by = (!part.is_masked).then_some(&part.view);
                read.hide(seen.filter(|_| part.is_masked), by, input);
            }
        }
    }

    /// Each op and each read once. Reads stay in the order in which they are computed.
    pub(super) fn sort(&mut self) {
        self.ops.sort_unstable();
        self.ops.dedup();
        self.places.sort_unstable();
        self.places.dedup();
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

/// What an op picks of an input.
pub(super) struct HiddenPart<'a> {
    /// The shape of the input.
    shape: &'a [u64],
    /// The axis along which it picks.
    axis: Option<usize>,
    /// For each element of the output one of the input in the same row.
    view: View,
    /// The op masks elements at an index of the loop. One that looks them up has an index that
    /// equals that of any other look-up in the same rows, because the compiler names looked-up
    /// positions by their number in an expression.
    is_masked: bool,
}

/// For an input of a gather, a concatenation or a border, of which a reader also knows the row.
pub(super) fn hidden_part(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    place: usize,
) -> Option<HiddenPart<'_>> {
    let definition = &graph.ops[op];
    let shape = graph.tensor_shape(tensor)?;
    let axis = || definition.indexing.as_ref().map(|indexing| indexing.axis);
    let (axis, is_masked) = match definition.function {
        Some(Function::Gather) if place == 0 => (axis()?, false),
        Some(Function::Embedding) if place == 1 => {
            return Some(HiddenPart {
                shape,
                axis: Some(0),
                view: broadcast_to(shape.get(1..)?, &definition.shape)?,
                is_masked: false,
            });
        }
        Some(Function::Concat) => (axis()?, true),
        Some(Function::Pad) => {
            return Some(HiddenPart {
                shape,
                axis: None,
                view: View::of_padded(shape, &definition.shape)?,
                is_masked: true,
            });
        }
        _ => return None,
    };
    Some(HiddenPart {
        shape,
        axis: Some(axis),
        view: View::of_rows(shape, axis, &definition.shape)?,
        is_masked,
    })
}

pub(super) fn buffer_value(buffer: BufferId, view: View) -> LoweredValue {
    LoweredValue {
        reads: vec![BufferView::new(buffer, Some(view))],
        ..LoweredValue::default()
    }
}
