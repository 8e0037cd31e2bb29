//! The result of the layout: where each op, kernel, external tensor and edge is drawn.

use super::frames::Frame;
use super::geometry::{Point, Rect};
use super::inside::Inside;
use super::metrics::MARGIN;
use super::repeats::Repeats;
use super::viewport::Size;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::model::ids::define_ids;
use fuseline_core::{IdVec, KernelId, OpId, TensorId};
use serde::Serialize;

define_ids! {
    /// A pill of a [`DagLayout`].
    pub struct PillId;
}

/// A graph with positions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct DagLayout {
    pub width: f64,
    pub height: f64,
    pub ops: IdVec<OpId, OpBox>,
    /// The panel of each kernel, which encloses its ops.
    pub panels: IdVec<KernelId, Rect>,
    /// Tensors that enter or leave the program.
    pub pills: IdVec<PillId, Pill>,
    /// Sorted by producer and consumer.
    pub edges: Vec<Edge>,
    /// For each op the place of the label with its output's size; `None` where a pill shows the
    /// size.
    pub size_labels: IdVec<OpId, Option<Rect>>,
    /// Kernels that are repeated and drawn once. Hidden ops have the places of the shown ops that
    /// stand for them.
    pub repeats: Repeats,
    /// The ops that are drawn in the box of another op.
    pub inside: Inside,
    /// Around the shown iteration of each repeat.
    pub frames: Vec<Frame>,
}

impl DagLayout {
    pub const fn size(&self) -> Size {
        (self.width, self.height)
    }

    /// The horizontal place in the middle of the first view: that of the first kernel, or one a
    /// little to the left, so that no tag of a frame is cut off by the left border of a canvas of
    /// this width.
    pub fn start_x(&self, canvas_width: f64) -> f64 {
        let first = self.panels.iter().next();
        let center = first.map_or(self.width / 2.0, |panel| panel.center().x);
        let border = center - canvas_width / 2.0;
        let tags = self.frames.iter().map(|frame| frame.tag);
        let lefts = tags
            .filter(|tag| tag.right() > border)
            .map(|tag| tag.x - MARGIN);
        lefts.fold(border, f64::min) + canvas_width / 2.0
    }

    pub fn shown_op_count(&self) -> usize {
        let shown = (self.ops.ids()).filter(|&op| self.shows_op(op));
        shown.count()
    }

    /// The op that is drawn in place of this one: itself, unless it is in a later iteration or
    /// inside a kernel that is drawn as what it writes.
    pub fn shown_op(&self, op: OpId) -> OpId {
        self.inside.box_of(self.repeats.shown_op(op))
    }

    /// Whether this op has a box of its own.
    pub fn shows_op(&self, op: OpId) -> bool {
        self.shown_op(op) == op
    }

    /// The ops for which the box of `op` stands beside itself, in the order in which they run.
    /// `O(ops)`.
    pub fn inside(&self, op: OpId) -> Vec<OpId> {
        if self.inside.is_empty() {
            return Vec::new();
        }
        let is_inside = |&other: &OpId| other != op && self.inside.box_of(other) == op;
        self.ops.ids().filter(is_inside).collect()
    }

    /// Whether an edge starts at the pill of a weight.
    pub fn brings_weight(&self, edge: &Edge) -> bool {
        let EdgeEnd::Pill(pill) = edge.from else {
            return false;
        };
        (self.pills.get(pill)).is_some_and(|pill| pill.kind == PillKind::Weight)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct OpBox {
    pub rect: Rect,
    /// The function, or the op type when no function is known.
    pub function: String,
    /// The op's name, cut to the width that the function leaves.
    pub label: String,
}

/// A tensor that enters or leaves the program.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Pill {
    /// One tensor; several in the last pill of an op that reads very many.
    pub tensors: Vec<TensorId>,
    /// How the tensor takes part in the program.
    pub kind: PillKind,
    pub rect: Rect,
    /// The tensor's name, cut to the width of the pill.
    pub text: String,
}

/// How the tensor of a pill takes part in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum PillKind {
    /// An activation from outside.
    Input,
    /// A parameter of the model.
    Weight,
    /// A result, which no op reads.
    Output,
}

/// A tensor drawn from its producer to one consumer.
///
/// Edges of one tensor share their first points, so they look like one line that branches.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Edge {
    pub tensor: TensorId,
    pub from: EdgeEnd,
    pub to: EdgeEnd,
    /// Corners, ends included; every piece is horizontal or vertical.
    pub points: Vec<Point>,
}

/// An end of an edge; ops sort before pills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum EdgeEnd {
    Op(OpId),
    Pill(PillId),
}

impl EdgeEnd {
    pub const fn op(self) -> Option<OpId> {
        match self {
            Self::Op(op) => Some(op),
            Self::Pill(_) => None,
        }
    }
}
