//! Places of panels, op boxes, size labels and pills.

use super::builder::LayoutBuilder;
use super::dag_layout::{Edge, EdgeEnd, PillId, PillKind};
use super::geometry::{Point, Rect};
use super::heights::Heights;
use super::kernel_layout::{OpPosition, RowId};
use super::layered::{LayerId, NodeId};
use super::metrics::{
    APPROACH, MARK_HALF, PILL_GAP, PILL_HEIGHT, SIZE_LABEL_HEIGHT, SIZE_LABEL_MARGIN,
};
use super::side::Side;
use fuseline_core::{IdVec, KernelId, OpId};

/// For each kernel the height of the first track below each of its layers.
pub(super) type InnerTracks = IdVec<KernelId, IdVec<LayerId, f64>>;

impl LayoutBuilder<'_> {
    /// Places everything but the edges between ops.
    pub(super) fn place_panels(
        &mut self,
        x: &IdVec<NodeId, f64>,
        heights: &Heights,
    ) -> InnerTracks {
        for &(pill, node) in &self.pill_nodes {
            let layer = self.outer.nodes[node].layer;
            let rect = &mut self.layout.pills[pill].rect;
            rect.x = x[node] - rect.width / 2.0;
            // Close to its readers, however tall the other boxes of the layer are.
            rect.y = heights.bottom[layer] - SIZE_LABEL_MARGIN - PILL_HEIGHT;
        }
        self.layout.size_labels = IdVec::from_elem(None, self.graph.ops.len());
        let mut tracks = IdVec::with_capacity(self.kernels.len());
        for kernel in self.kernels.ids() {
            let node = self.kernel_node[kernel];
            let top = heights.top[self.outer.nodes[node].layer];
            tracks.push(self.place_kernel(kernel, x[node], top, heights));
        }
        tracks
    }

    /// Places the panel, ops, size labels and pills of a kernel. Returns the height of the first
    /// track below each layer.
    fn place_kernel(
        &mut self,
        kernel: KernelId,
        x: f64,
        top: f64,
        outside: &Heights,
    ) -> IdVec<LayerId, f64> {
        let inside = &self.kernels[kernel];
        let heights = self.row_heights(kernel);
        let mut row_top: IdVec<RowId, f64> = IdVec::with_capacity(inside.rows);
        let mut first_track = IdVec::with_capacity(inside.rows + 1);
        let border = first_track.push(top + inside.first_track(LayerId::new(0)));
        let mut y = top + inside.gap(border);
        for (row, height) in heights.iter_enumerated() {
            row_top.push(y);
            y += height;
            first_track.push(y + inside.first_track(row.layer()));
            y += inside.gap(row.layer());
        }
        let panel = Rect {
            x: x - inside.half,
            y: top,
            width: 2.0 * inside.half,
            height: y - top,
        };
        self.layout.panels.push(panel);
        let rows = inside.rows;
        for &op in &self.partition.kernels[kernel] {
            let OpPosition { row, x: op_x, .. } = self.positions[op];
            let middle = row_top[row] + heights[row] / 2.0;
            let stacks = self.sides[kernel].stacks(op).cloned().unwrap_or_default();
            // As tall as its lanes need: each lane reaches the box at a height of its own.
            let height = stacks.left.op_height().max(stacks.right.op_height());
            self.layout.ops[op].rect = Rect {
                x: x + op_x - self.op_width / 2.0,
                y: middle - height / 2.0,
                width: self.op_width,
                height,
            };
            self.place_output(op, row.index() + 1 == rows, panel, outside);
            for side in Side::BOTH {
                let (_, centers) = stacks[side].centers();
                for (&pill, offset) in stacks[side].pills.iter().zip(centers) {
                    self.place_side_pill(pill, op, side, panel, middle + offset);
                }
            }
        }
        first_track
    }

    /// Places the size label of an op's output, or adds the pill of a result.
    fn place_output(&mut self, op: OpId, is_last_row: bool, panel: Rect, heights: &Heights) {
        let rect = self.layout.ops[op].rect;
        let tensor = self.graph.output[op];
        let x = rect.center().x;
        // A label below the last row stands outside the panel, where the tensor leaves the kernel.
        let bottom = if is_last_row {
            panel.bottom()
        } else {
            rect.bottom()
        };
        let y = bottom + SIZE_LABEL_MARGIN;
        if self.graph.is_final(tensor) {
            let frame = self.frame_above_result(op, heights);
            let pill = self.new_pill(tensor, PillKind::Output);
            let place = &mut self.layout.pills[pill].rect;
            place.x = x - place.width / 2.0;
            place.y = match frame.filter(|_| is_last_row) {
                Some(frame) => frame + MARK_HALF + APPROACH,
                None => y + APPROACH,
            };
            let end = Point::new(x, place.y);
            self.layout.edges.push(Edge {
                tensor,
                from: EdgeEnd::Op(op),
                to: EdgeEnd::Pill(pill),
                points: vec![Point::new(x, rect.bottom()), end],
            });
        } else {
            self.layout.size_labels[op] = Some(Rect {
                x: rect.x,
                y,
                width: rect.width,
                height: SIZE_LABEL_HEIGHT,
            });
        }
    }

    /// Places a pill beside the panel, with its edge to `op`.
    fn place_side_pill(&mut self, pill: PillId, op: OpId, side: Side, panel: Rect, y: f64) {
        let rect = self.layout.ops[op].rect;
        let place = &mut self.layout.pills[pill];
        place.rect.y = y - PILL_HEIGHT / 2.0;
        let (from, to) = match side {
            Side::Left => {
                place.rect.x = panel.x - PILL_GAP - place.rect.width;
                (place.rect.right(), rect.x)
            }
            Side::Right => {
                place.rect.x = panel.right() + PILL_GAP;
                (place.rect.x, rect.right())
            }
        };
        if let Some(&tensor) = place.tensors.first() {
            self.layout.edges.push(Edge {
                tensor,
                from: EdgeEnd::Pill(pill),
                to: EdgeEnd::Op(op),
                points: vec![Point::new(from, y), Point::new(to, y)],
            });
        }
    }
}
