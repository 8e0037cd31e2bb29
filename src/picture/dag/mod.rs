//! The layout of the graph of ops: positions of boxes, panels, pills, size labels and edges.
//!
//! Kernels are panels that do not overlap, so the layout has two levels. Inside a kernel ops are in rows
//! (`kernel`); outside, kernels and the pills of external tensors are in layers (`join`). Both levels use
//! Sugiyama's layered drawing: layer assignment, ordering with dummy nodes (`layered`), coordinates
//! (`columns`), and orthogonal routing with tracks between the layers (`routes`, `tracks`). A *net* is a tensor
//! with its source and all its readers, drawn as one line that branches.
//!
//! ```text
//!            ( input )
//!          +-----|----------+
//!  (w) ----|-> matmul       |     a skip connection passes beside the kernel
//!          |     :          |  |
//!          |    gelu        |  |
//!          +-----|----------+  |
//!             [33 MB]          |
//!          +-----|----------+  |
//!          |    add  <------|--+
//! ```
//!
//! The layout depends on names, ranks, reads and kernels, never on sizes: nothing moves when a slider moves,
//! and the unfused view has the same layout as the fused one.

pub mod badge;
mod boxes;
mod columns;
mod draw;
mod join;
mod kernel;
mod layered;
mod layers;
mod layout;
pub mod looks;
pub mod metrics;
mod nets;
pub mod path;
mod ports;
mod routes;
mod sides;
pub mod steps;
mod tracks;
pub mod viewport;

pub use boxes::has_same_picture;
pub use layout::layout;

use crate::core::{OpId, TensorId};
use serde::Serialize;

/// A point of the drawing, in CSS pixels at scale 1, y downwards.
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

/// A rectangle of the drawing.
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

    /// Whether it contains a point.
    pub fn holds(&self, point: Point) -> bool {
        (self.x..=self.right()).contains(&point.x) && (self.y..=self.bottom()).contains(&point.y)
    }

    /// The smallest rectangle that contains both.
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
    /// Its rectangle.
    pub rect: Rect,
    /// The function, or the op type if there is no function.
    pub function: String,
    /// The op's name, cut to the space that is left.
    pub label: String,
}

/// The role of a pill's tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PillKind {
    /// An external activation.
    Input,
    /// A parameter of the network.
    Weight,
    /// A result of the program, which no op reads.
    Output,
}

/// A tensor that enters or leaves the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pill {
    /// The tensors: one, except for the last pill of an op that reads very many.
    pub tensors: Vec<TensorId>,
    /// The role of the tensor.
    pub kind: PillKind,
    /// Its rectangle.
    pub rect: Rect,
    /// The tensor's name, cut to the width of the pill.
    pub text: String,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeEnd {
    /// The box of this op.
    Op(OpId),
    /// The pill with this index.
    Pill(usize),
}

/// An edge: a tensor from its producer to one consumer.
///
/// Edges of one tensor share their first points, so that they look like one line that branches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// The tensor.
    pub tensor: TensorId,
    /// Its start.
    pub from: EdgeEnd,
    /// Its end.
    pub to: EdgeEnd,
    /// The corners, with both ends; every segment is horizontal or vertical.
    pub points: Vec<Point>,
}

/// The layout of a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DagLayout {
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
    /// For each op its box.
    pub ops: Vec<OpBox>,
    /// For each kernel the panel around its ops.
    pub panels: Vec<Rect>,
    /// External tensors and results.
    pub pills: Vec<Pill>,
    /// Edges, by producer and consumer.
    pub edges: Vec<Edge>,
    /// For each op the rectangle of its output's size label; `None` if a pill shows the size.
    pub size_labels: Vec<Option<Rect>>,
}
