//! Where nets meet the kernels: on which side of a panel, and at which place.

use super::builder::{LayoutBuilder, Port};
use super::dag_layout::EdgeEnd;
use super::kernel_layout::spread_links;
use super::layered::{LinkId, NodeId};
use super::metrics::{LANE_GAP, MARGIN};
use super::panel_sides::PanelSides;
use super::side::Side;
use fuseline_core::{IdVec, KernelId, OpId};

impl LayoutBuilder<'_> {
    /// Decides on which side of its panel each lane and pill is, and so how wide each kernel is.
    pub(super) fn assign_sides(&mut self) {
        let place = self.outer.places();
        let mut links_from_above: IdVec<KernelId, Vec<LinkId>> =
            IdVec::from_elem(Vec::new(), self.kernels.len());
        for branch in &self.branches {
            if !matches!(branch.port, Port::Side) {
                links_from_above[branch.kernel].push(branch.link);
            }
        }
        for (kernel, links) in links_from_above.iter_enumerated() {
            let from = |&link: &LinkId| place[self.outer.links[link].upper];
            let first = links.iter().map(from).min();
            let mut lanes = std::mem::take(&mut self.lanes[kernel]);
            for lane in &mut lanes {
                // On the right, it would cross what comes down to the top of the panel.
                if first.is_some_and(|first| from(&lane.link) < first) {
                    lane.preferred = Side::Left;
                }
            }
            let sides = PanelSides::new(lanes, &self.side_pills[kernel]);
            let node = &mut self.outer.nodes[self.kernel_node[kernel]];
            node.left = self.kernels[kernel].half + sides.width(Side::Left);
            node.right = self.kernels[kernel].half + sides.width(Side::Right);
            self.sides.push(sides);
        }
    }

    /// Sets where each link leaves its upper node and reaches its lower one.
    pub(super) fn attach_ports(&mut self) {
        for branch in &self.branches {
            if let EdgeEnd::Op(op) = branch.from {
                let kernel = &self.kernels[self.partition.kernel_of[op]];
                let exit = kernel.exit(op).map(|exit| kernel.x[exit.bottom]);
                let net = self.outer.links[branch.link].net;
                self.outer.nets[net].source_offset = exit.unwrap_or(self.positions[op].x);
            }
        }
        // After the sources, because the first link of a net starts where the net leaves its
        // source.
        self.outer.start_links();
        let place = self.outer.places();
        let mut tops: Vec<(OpId, LinkId)> = Vec::new();
        for branch in &self.branches {
            match branch.port {
                Port::Top(op) => tops.push((op, branch.link)),
                Port::Entry(entry) => {
                    let kernel = &self.kernels[branch.kernel];
                    let top = kernel.entries[entry].top;
                    self.outer.links[branch.link].lower_offset = kernel.x[top];
                }
                Port::Side => {}
            }
        }
        tops.sort_unstable();
        for tops in tops.chunk_by(|a, b| a.0 == b.0) {
            if let Some(&(op, _)) = tops.first() {
                let middle = self.positions[op].x;
                let links = tops.iter().map(|&(_, link)| link).collect();
                spread_links(&mut self.outer, &place, links, middle, self.op_width);
            }
        }
        for (kernel, sides) in self.sides.iter_enumerated() {
            for side in Side::BOTH {
                for (index, lane) in sides.lanes[side].iter().enumerate() {
                    self.outer.links[lane.link].lower_offset = side.sign()
                        * (self.kernels[kernel].half + sides.lane_distance(side, index));
                }
            }
        }
    }

    /// Moves each lane beside a panel outwards to below the place where it comes from, so that it
    /// has no bend, unless something else is in between.
    pub(super) fn align_lanes(&mut self, x: &IdVec<NodeId, f64>) {
        let place = self.outer.places();
        for (kernel, sides) in self.sides.iter_enumerated() {
            let node = self.kernel_node[kernel];
            let layer = &self.outer.layers[self.outer.nodes[node].layer];
            for side in Side::BOTH {
                let neighbour = match side {
                    Side::Left => place[node].checked_sub(1),
                    Side::Right => Some(place[node] + 1),
                };
                let neighbour = neighbour.and_then(|n| layer.get(n)).copied();
                // Distances from the centre of the panel.
                let mut limit = match (neighbour, side) {
                    (Some(left), Side::Left) => {
                        x[node] - (x[left] + self.outer.nodes[left].right) - LANE_GAP
                    }
                    (Some(right), Side::Right) => {
                        x[right] - self.outer.nodes[right].left - x[node] - LANE_GAP
                    }
                    // The picture starts at 0 and grows to the right only.
                    (None, Side::Left) => x[node] - MARGIN,
                    (None, Side::Right) => f64::INFINITY,
                };
                // From the outermost lane, which limits those nearer to the panel.
                for lane in sides.lanes[side].iter().rev() {
                    let link = &mut self.outer.links[lane.link];
                    let present = side.sign() * link.lower_offset;
                    if self.outer.nodes[link.upper].is_outside {
                        limit = present - LANE_GAP;
                        continue;
                    }
                    let straight = side.sign() * (x[link.upper] + link.upper_offset - x[node]);
                    // Going only a part of the way would not save the bend.
                    let aligned = if (present..=limit).contains(&straight) {
                        straight
                    } else {
                        present
                    };
                    link.lower_offset = side.sign() * aligned;
                    limit = aligned - LANE_GAP;
                }
            }
        }
    }
}
