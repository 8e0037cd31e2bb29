//! The layout of the graph of ops: where every box, panel, pill, size label and edge lies.
//!
//! Kernels are drawn as panels that never overlap, so the layout has two levels. Inside a kernel ops stand in
//! rows (`kernel`); outside, kernels and the pills of external tensors stand in layers (`layout`). Both levels
//! share the same three steps: order each layer (`layered`), find columns (`columns`), give each horizontal run
//! between two layers its own height (`tracks`).
//!
//! ```text
//!            ( input )
//!          +-----|----------+
//!  (w) ----|-> matmul       |     a lane carries a skip past what it skips
//!          |     :          |  |
//!          |    gelu        |  |
//!          +-----|----------+  |
//!             [33 MB]          |
//!          +-----|----------+  |
//!          |    add  <------|--+
//! ```
//!
//! The layout depends on names, ranks, reads and kernels only, never on sizes: nothing moves while a slider moves,
//! and the unfused view uses the layout of the fused one.

pub mod badge;
mod boxes;
mod columns;
mod draw;
pub mod focus;
mod join;
mod kernel;
mod lanes;
mod layered;
mod layers;
mod layout;
pub mod looks;
pub mod metrics;
pub mod overview;
pub mod path;
mod pins;
mod routes;
mod sides;
pub mod sight;
mod tracks;
pub mod viewport;

use crate::core::model::ids::define_ids;
use crate::core::{IdVec, KernelId, OpId, TensorId};
pub use boxes::has_same_picture;
use focus::FocusTarget;
pub use layout::layout;
use serde::Serialize;

define_ids! {
    /// A pill of a [`DagLayout`].
    pub struct PillId;
}

/// A point of the picture, in CSS pixels at scale 1, y downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// From the left border.
    pub x: f64,
    /// From the top border.
    pub y: f64,
}

impl Point {
    /// The point (`x`, `y`).
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// A rectangle of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rect {
    /// Left side.
    pub x: f64,
    /// Upper side.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rect {
    /// Right side.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Lower side.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Whether a point lies on it.
    pub fn holds(&self, point: Point) -> bool {
        (self.x..=self.right()).contains(&point.x) && (self.y..=self.bottom()).contains(&point.y)
    }

    /// Whether both have a point in common, be it on their borders.
    pub fn meets(&self, other: &Self) -> bool {
        self.x <= other.right()
            && other.x <= self.right()
            && self.y <= other.bottom()
            && other.y <= self.bottom()
    }

    /// The smallest rectangle that holds two points.
    pub fn between(a: Point, b: Point) -> Self {
        Self {
            x: a.x.min(b.x),
            y: a.y.min(b.y),
            width: (a.x - b.x).abs(),
            height: (a.y - b.y).abs(),
        }
    }

    /// The smallest rectangle around both.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self {
            x,
            y,
            width: self.right().max(other.right()) - x,
            height: self.bottom().max(other.bottom()) - y,
        }
    }

    /// Middle.
    pub fn center(&self) -> Point {
        Point::new(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

/// The box of one op.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpBox {
    /// Its place.
    pub rect: Rect,
    /// The function, or the op type when no function is known.
    pub function: String,
    /// The op's name, cut to the room that is left.
    pub label: String,
}

/// What a pill stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PillKind {
    /// An activation that comes from outside.
    Input,
    /// A parameter of the model.
    Weight,
    /// A result of the program, which no op reads.
    Output,
}

/// A tensor that enters or leaves the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pill {
    /// The tensors: one, but for the last pill of an op that reads very many.
    pub tensors: Vec<TensorId>,
    /// What it stands for.
    pub kind: PillKind,
    /// Its place.
    pub rect: Rect,
    /// The tensor's name, cut to the room there is.
    pub text: String,
}

/// What an edge joins; ordered ops before pills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeEnd {
    /// The box of an op.
    Op(OpId),
    /// A pill.
    Pill(PillId),
}

impl EdgeEnd {
    /// The op, if it is one.
    pub const fn op(self) -> Option<OpId> {
        match self {
            Self::Op(op) => Some(op),
            Self::Pill(_) => None,
        }
    }
}

/// A tensor on its way from its producer to one consumer.
///
/// Edges of one tensor share their first points, so that they look like a trunk that branches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// What flows.
    pub tensor: TensorId,
    /// Where it starts.
    pub from: EdgeEnd,
    /// Where it ends.
    pub to: EdgeEnd,
    /// Corners of the way, ends included; every piece is horizontal or vertical.
    pub points: Vec<Point>,
}

/// A placed graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DagLayout {
    /// Width of the whole.
    pub width: f64,
    /// Height of the whole.
    pub height: f64,
    /// For each op its box.
    pub ops: IdVec<OpId, OpBox>,
    /// For each kernel the panel around its ops.
    pub panels: IdVec<KernelId, Rect>,
    /// External tensors and results.
    pub pills: IdVec<PillId, Pill>,
    /// Edges, by producer and consumer.
    pub edges: Vec<Edge>,
    /// For each op the place of the label that says how large its output is; `None` where a pill says it.
    pub size_labels: IdVec<OpId, Option<Rect>>,
}

impl DagLayout {
    /// Where an op or a kernel lies; `None` when the graph has no such part.
    pub fn rect_of(&self, target: FocusTarget) -> Option<Rect> {
        match target {
            FocusTarget::Op(op) => self.ops.get(op).map(|op| op.rect),
            FocusTarget::Kernel(kernel) => self.panels.get(kernel).copied(),
        }
    }

    /// The kernel whose panel lies under a point.
    pub fn kernel_at(&self, point: Point) -> Option<KernelId> {
        let mut panels = self.panels.iter_enumerated();
        panels.find_map(|(kernel, panel)| panel.holds(point).then_some(kernel))
    }

    /// What lies under a point: an op, else a kernel.
    pub fn target_at(&self, point: Point) -> Option<FocusTarget> {
        let mut ops = self.ops.iter_enumerated();
        let op = ops.find_map(|(op, place)| place.rect.holds(point).then_some(op));
        op.map(FocusTarget::Op)
            .or_else(|| self.kernel_at(point).map(FocusTarget::Kernel))
    }

    /// Whether an edge comes from the pill of a weight.
    pub fn brings_weight(&self, edge: &Edge) -> bool {
        match edge.from {
            EdgeEnd::Pill(pill) => {
                (self.pills.get(pill)).is_some_and(|pill| pill.kind == PillKind::Weight)
            }
            EdgeEnd::Op(_) => false,
        }
    }
}
