//! The layout of the graph of ops: places of boxes, kernel panels, pills, size labels and edges.
//!
//! Kernels are drawn as panels that never overlap, so the layout has two levels. Inside a kernel,
//! ops are placed in rows (`kernel_layout`). Outside, kernels and the pills of external tensors are
//! the nodes of another graph (`outer_graph`). Both levels are drawn by Sugiyama's method for
//! layered graphs: order each layer (`ordering`), assign horizontal positions (`columns`), and give
//! each horizontal segment between two layers its own height (`tracks`).
//!
//! ```text
//!            ( input )
//!          +-----|----------+
//!  (w) ----|-> matmul       |     a lane leads a skip connection past the
//!          |     :          |  |  layers that it skips
//!          |    gelu        |  |
//!          +-----|----------+  |
//!            [y 33 MB]         |
//!          +-----|----------+  |
//!          |    add  <------|--+
//! ```
//!
//! A drawing that is taller than its frame is broken into columns (`wrap` chooses how many,
//! `in_columns` breaks it).
//!
//! Of equal kernels that follow each other again and again (`repeats`) one iteration is drawn
//! (`folded`), in a frame (`frames`). In a large puzzle a kernel is drawn as what it writes
//! (`inside`).
//!
//! The layout depends on names, ranks, reads and kernels only, never on sizes: nothing moves while
//! a slider moves, and the unfused view uses the layout of the fused one.

pub mod badge;
mod breaks;
mod builder;
mod columns;
mod dag_layout;
mod edges;
pub mod focus;
mod folded;
pub mod frames;
mod framing;
mod geometry;
mod heights;
pub mod in_columns;
mod inside;
pub mod intervals;
mod kernel_layers;
mod kernel_layout;
mod lanes;
mod layered;
pub mod looks;
pub mod metrics;
pub mod minimap;
pub mod motion;
mod op_boxes;
mod ordering;
mod outer_graph;
pub mod overview;
mod panel_sides;
mod panels;
pub mod path;
mod ports;
pub mod repeats;
mod routes;
mod side;
pub mod sight;
mod tracks;
pub mod viewport;
pub mod wrap;

use builder::LayoutBuilder;
use columns::columns;
pub use dag_layout::{DagLayout, Edge, EdgeEnd, OpBox, Pill, PillId, PillKind};
pub use folded::{Folding, folded_layout, layout_of};
use frames::Body;
use fuseline_core::{Graph, Partition};
pub use geometry::{Point, Rect};
use metrics::{MARGIN, PANEL_GAP};
pub use op_boxes::has_same_picture;
use routes::routes;

/// Places every op of `graph`, with the ops of each kernel of `partition` in one panel.
///
/// `O(n log n)` in ops and reads.
pub fn layout(graph: &Graph, partition: &Partition) -> DagLayout {
    framed_layout(graph, partition, Vec::new())
}

/// The layout with a frame around each of `bodies`.
fn framed_layout(graph: &Graph, partition: &Partition, bodies: Vec<Body>) -> DagLayout {
    let mut builder = LayoutBuilder::new(graph, partition, bodies);
    builder.build_outer_graph();
    builder.outer.order();
    // Between the order, from which a lane gets its side, and the columns, because lanes beside a
    // panel widen it.
    builder.assign_sides();
    builder.attach_ports();
    let mut x = columns(&builder.outer, PANEL_GAP);
    for x in &mut x {
        *x += MARGIN;
    }
    // Before the routes: a lane that has become straight takes no track.
    builder.align_lanes(&x);
    let routes = routes(&builder.outer, &x);
    let heights = builder.heights(&routes);
    let inner_tracks = builder.place_panels(&x, &heights);
    builder.add_edges(&x, &routes, &heights, &inner_tracks);
    builder.add_frames(&heights);
    builder.finish(&x, heights.end)
}
