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
//! The layout depends on names, ranks, reads and groups only, never on sizes: nothing moves while a slider moves,
//! and the unfused view uses the layout of the fused one.

pub mod badge;
mod boxes;
mod columns;
mod draw;
mod join;
mod kernel;
mod lanes;
mod layered;
mod layers;
mod layout;
pub mod looks;
pub mod metrics;
pub mod path;
mod pins;
mod routes;
mod sides;
pub mod steps;
mod tracks;
pub mod viewport;

pub use boxes::has_same_picture;
pub use layout::layout;

use crate::core::{OpId, TensorId};
use serde::Serialize;

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
    /// A pill, by its index.
    Pill(usize),
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
    pub ops: Vec<OpBox>,
    /// For each kernel the panel around its ops.
    pub panels: Vec<Rect>,
    /// External tensors and results.
    pub pills: Vec<Pill>,
    /// Edges, by producer and consumer.
    pub edges: Vec<Edge>,
    /// For each op the place of the size label that says how large its output is; `None` where a pill says it.
    pub size_labels: Vec<Option<Rect>>,
}
