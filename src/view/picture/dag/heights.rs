//! Vertical positions: how tall each kernel is, and where each layer of kernels and pills starts.

use super::builder::LayoutBuilder;
use super::kernel_layout::RowId;
use super::layered::LayerId;
use super::metrics::{
    APPROACH, FRAME_FOOT, FRAME_HEAD, MARGIN, OP_HEIGHT, PILL_HEIGHT, SIZE_LABEL_HEIGHT,
    SIZE_LABEL_MARGIN, TRACK_GAP,
};
use super::routes::Routes;
use fuseline_core::{IdVec, KernelId};

/// Vertical positions of the layers.
#[derive(Default)]
pub(super) struct Heights {
    /// Upper side of the boxes of each layer.
    pub(super) top: IdVec<LayerId, f64>,
    /// Lower side of each layer, size labels included.
    pub(super) bottom: IdVec<LayerId, f64>,
    /// The first track below each layer.
    pub(super) first_track: IdVec<LayerId, f64>,
    /// Lower side of the last layer, or of the frame around it.
    pub(super) end: f64,
}

impl LayoutBuilder<'_> {
    pub(super) fn heights(&self, routes: &Routes) -> Heights {
        let mut tallest: IdVec<LayerId, f64> = IdVec::from_elem(0.0, self.outer.layers.len());
        for (kernel, &node) in self.kernel_node.iter_enumerated() {
            let height = &mut tallest[self.outer.nodes[node].layer];
            *height = height.max(self.kernel_height(kernel) + self.height_below(kernel));
        }
        for &(_, node) in &self.pill_nodes {
            let height = &mut tallest[self.outer.nodes[node].layer];
            *height = height.max(PILL_HEIGHT + SIZE_LABEL_MARGIN);
        }
        let mut is_first = IdVec::from_elem(false, tallest.len());
        let mut is_last = is_first.clone();
        for body in &self.bodies {
            is_first[body.layers.start] = true;
            is_last[body.layers.end] = true;
        }
        let mut heights = Heights {
            end: MARGIN,
            ..Heights::default()
        };
        let mut y = MARGIN;
        for (layer, &tall) in tallest.iter_enumerated() {
            if is_first[layer] {
                y += FRAME_HEAD;
            }
            heights.top.push(y);
            let tracks = routes.count[layer];
            // So that a line is seen to leave its box or size label before it branches.
            let lead = if tracks > 0 { TRACK_GAP / 2.0 } else { 0.0 };
            heights.bottom.push(y + tall);
            if is_last[layer] {
                y += FRAME_FOOT;
            }
            heights.end = y + tall;
            heights.first_track.push(y + tall + lead);
            // A layer without boxes and runs takes no height.
            if tall > 0.0 || tracks > 0 {
                y += tall + lead + tracks.saturating_sub(1) as f64 * TRACK_GAP + APPROACH;
            }
        }
        heights
    }

    /// The height of each row of a kernel: its tallest op or stack of lanes and pills.
    pub(super) fn row_heights(&self, kernel: KernelId) -> IdVec<RowId, f64> {
        let mut heights = IdVec::from_elem(OP_HEIGHT, self.kernels[kernel].rows);
        for &op in &self.partition.kernels[kernel] {
            if let Some(stacks) = self.sides[kernel].stacks(op) {
                let height = &mut heights[self.positions[op].row];
                for stack in [&stacks.left, &stacks.right] {
                    *height = height.max(stack.height()).max(stack.op_height());
                }
            }
        }
        heights
    }

    fn kernel_height(&self, kernel: KernelId) -> f64 {
        let rows: f64 = self.row_heights(kernel).iter().sum();
        let kernel = &self.kernels[kernel];
        let layers = (0..=kernel.rows).map(LayerId::new);
        rows + layers.map(|layer| kernel.gap(layer)).sum::<f64>()
    }

    /// Height of the size labels, or the pill of a result, below a kernel.
    fn height_below(&self, kernel: KernelId) -> f64 {
        let mut members = self.partition.kernels[kernel].iter();
        let label = if members.any(|&op| self.graph.is_final(self.graph.output[op])) {
            APPROACH + PILL_HEIGHT
        } else {
            SIZE_LABEL_HEIGHT + SIZE_LABEL_MARGIN
        };
        SIZE_LABEL_MARGIN + label
    }
}
