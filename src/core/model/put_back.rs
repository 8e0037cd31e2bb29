//! Parts of a tensor that are written in place and put back where they are.
//!
//! `w` writes into a view of a part of `x`. Its result is that part. The value of all of `x` after
//! the write is `slice_scatter_(x, w, ...)` over the range of the view, which moves nothing: the
//! elements are there already. PyTorch's graphs have these puts after each write into a view.

use crate::model::functions::{Function, ShapeRule};
use crate::model::graph::Graph;
use crate::model::ids::{Id, IdVec, OpId};
use crate::model::in_place::{MOST_VIEWS, OpsInPlace};
use crate::model::op::{Indexing, Op};

/// For each op in place that puts a part back where it is, the writes into that part.
pub(crate) struct PutBacks<O> {
    writes: IdVec<O, Option<Vec<O>>>,
}

impl PutBacks<OpId> {
    /// Those of a graph.
    pub(crate) fn of_graph(graph: &Graph) -> Self {
        Self::of(&OpsInPlace {
            op_of: &|op: OpId| graph.ops.get(op),
            inputs: &graph.inputs,
            output_of: &|op: OpId| graph.output.get(op).copied(),
            tensors: graph.tensors.len(),
        })
    }
}

impl<O: Id> PutBacks<O> {
    /// `O(ops + reads)`, because the number of views that are followed is bounded.
    pub(crate) fn of<T: Id>(in_place: &OpsInPlace<'_, O, T>) -> Self {
        let mut producers: IdVec<T, Option<O>> = IdVec::from_elem(None, in_place.tensors);
        for op in in_place.inputs.ids() {
            if let Some(output) = (in_place.output_of)(op) {
                producers[output] = Some(op);
            }
        }
        let paths = Paths {
            in_place,
            producers,
        };
        let writes = in_place.inputs.ids().map(|op| paths.writes_into_part(op));
        Self {
            writes: writes.collect(),
        }
    }

    /// Whether an op puts a part back where it is.
    pub(crate) fn contains(&self, op: O) -> bool {
        self.writes[op].is_some()
    }

    /// The writes into the part that an op puts back where it is.
    pub(crate) fn writes(&self, op: O) -> &[O] {
        self.writes[op].as_deref().unwrap_or_default()
    }

    /// Whether `op` puts back what `write` has written, perhaps after other puts.
    pub(crate) fn puts_back(&self, op: O, write: O) -> bool {
        let Some(first) = &self.writes[op] else {
            return false;
        };
        let mut found = first.clone();
        let mut at = 0;
        while let Some(&own) = found.get(at).filter(|_| at < MOST_VIEWS) {
            if own == write {
                return true;
            }
            found.extend(self.writes[own].iter().flatten());
            at += 1;
        }
        false
    }
}

/// A tensor before a view and the view itself.
struct Seen<'a, T> {
    op: &'a Op,
    of: T,
}

struct Paths<'p, 'a, O, T> {
    in_place: &'p OpsInPlace<'a, O, T>,
    producers: IdVec<T, Option<O>>,
}

impl<'a, O: Id, T: Id> Paths<'_, 'a, O, T> {
    /// The writes into the part that an op puts back where it is; `None` of any other op.
    fn writes_into_part(&self, op: O) -> Option<Vec<O>> {
        let put = (self.in_place.op_of)(op)?;
        if !put.in_place || put.function != Some(Function::SliceScatter) {
            return None;
        }
        let &[target, source] = &self.in_place.inputs[op] else {
            return None;
        };
        let range = put.indexing.as_ref()?;
        let mut writes = Vec::new();
        let mut order = Order::default();
        let mut tensor = source;
        for _ in 0..MOST_VIEWS {
            let producer = self.producers[tensor]?;
            let own = (self.in_place.op_of)(producer)?;
            if own.in_place {
                writes.push(producer);
                tensor = *self.in_place.inputs[producer].first()?;
                continue;
            }
            let Seen { op, of } = self.view(tensor)?;
            let is_same_range = || {
                let own = op.indexing.as_ref();
                own.is_some_and(|own| is_piece(op) && is_same_range(own, range))
            };
            if order.is_kept() && is_same_range() && self.is_same(of, target) {
                return Some(writes);
            }
            order.view(op, self.shape(of)?)?;
            tensor = of;
        }
        None
    }

    /// The view that gives a tensor.
    fn view(&self, tensor: T) -> Option<Seen<'a, T>> {
        let producer = self.producers[tensor]?;
        let op = (self.in_place.op_of)(producer).filter(|op| op.is_view())?;
        let of = *self.in_place.inputs[producer].first()?;
        Some(Seen { op, of })
    }

    fn shape(&self, tensor: T) -> Option<&'a [u64]> {
        let op = (self.in_place.op_of)(self.producers[tensor]?)?;
        Some(&op.shape)
    }

    /// Whether two tensors are one, or equal views of one.
    fn is_same(&self, first: T, second: T) -> bool {
        let (mut first, mut second) = (first, second);
        for _ in 0..MOST_VIEWS {
            if first == second {
                return true;
            }
            let (Some(one), Some(other)) = (self.view(first), self.view(second)) else {
                return false;
            };
            let is_equal = one.op.function == other.op.function
                && one.op.indexing == other.op.indexing
                && one.op.shape == other.op.shape;
            if !is_equal {
                return false;
            }
            (first, second) = (one.of, other.of);
        }
        false
    }
}

fn is_piece(op: &Op) -> bool {
    let rule = op.function.map(|function| function.row().shape_rule);
    matches!(rule, Some(ShapeRule::Slice | ShapeRule::Split))
}

fn is_same_range(one: &Indexing, other: &Indexing) -> bool {
    (one.axis, one.start, one.step) == (other.axis, other.start, other.step)
}

/// The index order of a tensor compared with that of what it shows, from the last view back.
#[derive(Default)]
struct Order {
    steps: Vec<Step>,
}

/// A view of all elements.
enum Step {
    /// Of row-major order.
    Shape { from: Vec<u64>, to: Vec<u64> },
    /// For each dimension that of the tensor before.
    Perm(Vec<usize>),
}

impl Order {
    /// Whether all views together change nothing.
    fn is_kept(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds the view before. `None` if it does not show all elements once.
    fn view(&mut self, op: &Op, from: &[u64]) -> Option<()> {
        let perm = op.indexing.as_ref().map_or(&[][..], |own| &own.perm);
        let before = match op.function?.row().shape_rule {
            _ if op.keeps_order() => Step::Shape {
                from: from.to_vec(),
                to: op.shape.clone(),
            },
            ShapeRule::Transpose => Step::Perm(perm.to_vec()),
            _ => return None,
        };
        let joined = match (self.steps.pop(), before) {
            (Some(Step::Shape { to, .. }), Step::Shape { from, .. }) => Step::Shape { from, to },
            (Some(Step::Perm(last)), Step::Perm(before)) => {
                let of = |&axis: &usize| before.get(axis).copied();
                Step::Perm(last.iter().map(of).collect::<Option<_>>()?)
            }
            (other, before) => {
                self.steps.extend(other);
                before
            }
        };
        let is_kept = match &joined {
            Step::Shape { from, to } => from == to,
            Step::Perm(perm) => perm.iter().copied().eq(0..perm.len()),
        };
        if !is_kept {
            self.steps.push(joined);
        }
        Some(())
    }
}
