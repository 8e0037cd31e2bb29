//! Culling: which parts of a layout are in sight, so that the page holds elements for these only.

use super::dag_layout::{DagLayout, Edge, PillId};
use super::geometry::{Point, Rect};
use fuseline_core::model::ids::Id;
use fuseline_core::{IdVec, KernelId, OpId};

/// Ops up to which the page holds the whole graph, in sight or not: that costs little, and the
/// browser's own search finds every op.
const SMALL_GRAPH_OPS: usize = 100;
/// Scale below which an op's texts cannot be read.
const READABLE_SCALE: f64 = 0.3;
/// Ops in sight up to which they are drawn in full at any scale.
const FULL_OPS: usize = 100;
/// Ops in sight up to which they are drawn in full where their texts can be read.
pub const FULL_READABLE_OPS: usize = 300;

/// Edges in sight up to which each is an element of its own, which follows sizes and the selection.
const FULL_EDGES: usize = 1_000;

/// Whether the page holds the whole graph, in sight or not.
pub const fn is_small(op_count: usize) -> bool {
    op_count <= SMALL_GRAPH_OPS
}

/// Whether the ops in sight are drawn as an overview instead of in full.
pub fn is_overview(ops_in_sight: usize, scale: f64) -> bool {
    let is_readable = scale >= READABLE_SCALE;
    let max_ops = if is_readable {
        FULL_READABLE_OPS
    } else {
        FULL_OPS
    };
    ops_in_sight > max_ops
}

/// Whether the edges in sight are drawn as a few paths instead of one by one: few ops can have very
/// many.
pub const fn are_edges_many(edges_in_sight: usize) -> bool {
    edges_in_sight > FULL_EDGES
}

/// The parts of a layout that are in sight, each list ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Boxes of ops.
    pub ops: Vec<OpId>,
    /// Panels of kernels.
    pub kernels: Vec<KernelId>,
    /// Edges, as indices into [`DagLayout::edges`].
    pub edges: Vec<usize>,
    /// Size labels, by the op whose output they describe.
    pub size_labels: Vec<OpId>,
    pub pills: Vec<PillId>,
}

impl Sight {
    /// The parts of which some is in `region`; all parts without a region.
    /// `O(ops + corners of edges)`.
    pub fn of(layout: &DagLayout, region: Option<Rect>) -> Self {
        let is_in = |rect: &Rect| region.is_none_or(|region| region.meets(rect));
        let is_edge_in = |edge: &Edge| region.is_none_or(|region| passes(edge, &region));
        Self {
            ops: ids_of(&layout.ops, |op, place| {
                layout.shows_op(op) && is_in(&place.rect)
            }),
            kernels: ids_of(&layout.panels, |kernel, panel| {
                layout.repeats.shows_kernel(kernel) && is_in(panel)
            }),
            edges: (layout.edges.iter().enumerate())
                .filter(|(_, edge)| is_edge_in(edge))
                .map(|(place, _)| place)
                .collect(),
            size_labels: ids_of(&layout.size_labels, |_, label| {
                label.as_ref().is_some_and(is_in)
            }),
            pills: ids_of(&layout.pills, |_, pill| is_in(&pill.rect)),
        }
    }
}

fn ids_of<I: Id, T>(parts: &IdVec<I, T>, is_in: impl Fn(I, &T) -> bool) -> Vec<I> {
    (parts.iter_enumerated())
        .filter(|&(id, part)| is_in(id, part))
        .map(|(id, _)| id)
        .collect()
}

/// Whether some of an edge is in `region`.
fn passes(edge: &Edge, region: &Rect) -> bool {
    let is_in = |[a, b]: [Point; 2]| region.meets(&Rect::between(a, b));
    (edge.points.array_windows()).any(|&piece| is_in(piece))
}

/// Reorders `wanted`, which is ascending: items that were there `before` keep their relative order,
/// and new ones take the places of those that are gone, or come last.
///
/// A keyed list in this order moves no element of the page. An element that is moved loses the
/// focus.
pub fn keep_places<T: Copy + Ord>(before: &[T], wanted: &[T]) -> Vec<T> {
    let mut old = before.to_vec();
    old.sort_unstable();
    let mut new = (wanted.iter().copied()).filter(|item| old.binary_search(item).is_err());
    let mut kept = Vec::with_capacity(wanted.len());
    for item in before {
        if wanted.binary_search(item).is_ok() {
            kept.push(*item);
        } else {
            kept.extend(new.next());
        }
    }
    kept.extend(new);
    kept
}
