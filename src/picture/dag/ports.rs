//! Ports: the points at which nets enter and leave kernels.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel, tensor and node ids are dense indices of one graph"
)]

use super::EdgeEnd;
use super::kernel::spread_links;
use super::layered::LinkId;
use super::layout::{Picture, Port};
use super::metrics::{LANE_GAP, MARGIN};
use super::sides::{Side, Sides};
use crate::core::OpId;
use crate::core::sorting::sort_pairs;

impl Picture<'_> {
    /// Assigns each lane and pill to a side of its panel. This gives the width of each kernel.
    pub(super) fn assign_sides(&mut self) {
        let place = self.outer.places();
        let mut top_links: Vec<Vec<LinkId>> = vec![Vec::new(); self.kernel_layouts.len()];
        for branch in &self.branches {
            if !matches!(branch.port, Port::Beside) {
                top_links[branch.kernel].push(branch.link);
            }
        }
        for (kernel, tops) in top_links.iter().enumerate() {
            let from = |&link: &LinkId| place[self.outer.links[link].upper];
            let first = tops.iter().map(from).min();
            let mut lanes = std::mem::take(&mut self.lanes[kernel]);
            for lane in &mut lanes {
                if first.is_some_and(|first| from(&lane.link) < first) {
                    lane.preferred_side = Side::Left;
                }
            }
            let sides = Sides::new(lanes, &self.side_pills[kernel]);
            let node = &mut self.outer.nodes[self.kernel_node[kernel]];
            node.left = self.kernel_layouts[kernel].half + sides.room(Side::Left);
            node.right = self.kernel_layouts[kernel].half + sides.room(Side::Right);
            self.sides.push(sides);
        }
    }

    /// Sets the offsets of the ports of every link.
    pub(super) fn place_ports(&mut self) {
        for branch in &self.branches {
            if let EdgeEnd::Op(op) = branch.from {
                let kernel = self.partition.group_of[op];
                let inside = &self.kernel_layouts[kernel];
                let exit = inside.exits.iter().find(|e| e.0 == op);
                let offset = exit.map_or(self.positions[op].x, |e| inside.x[e.1]);
                let net = self.outer.links[branch.link].net;
                self.outer.nets[net].source_offset = offset;
            }
        }
        self.outer.start_links();
        let place = self.outer.places();
        let mut tops: Vec<(OpId, LinkId)> = Vec::new();
        for branch in &self.branches {
            match branch.port {
                Port::Top(op) => tops.push((op, branch.link)),
                Port::Through(entry) => {
                    let inside = &self.kernel_layouts[branch.kernel];
                    self.outer.links[branch.link].lower_offset = inside.x[inside.entries[entry].2];
                }
                Port::Beside => {}
            }
        }
        sort_pairs(&mut tops);
        for links in tops.chunk_by(|a, b| a.0 == b.0) {
            let middle = self.positions[links[0].0].x;
            let links = links.iter().map(|l| l.1).collect();
            spread_links(&mut self.outer, &place, links, middle, self.op_width);
        }
        for (kernel, sides) in self.sides.iter().enumerate() {
            for side in [Side::Left, Side::Right] {
                for (index, lane) in sides.lanes[side as usize].iter().enumerate() {
                    self.outer.links[lane.link].lower_offset = side.sign()
                        * (self.kernel_layouts[kernel].half + sides.lane_distance(side, index));
                }
            }
        }
    }

    /// Moves lanes outwards below their sources while the space beside the panel is free, so that these nets
    /// need no bend.
    pub(super) fn straighten_lanes(&mut self, x: &[f64]) {
        let place = self.outer.places();
        for (kernel, sides) in self.sides.iter().enumerate() {
            let node = self.kernel_node[kernel];
            let layer = &self.outer.layers[self.outer.nodes[node].layer];
            for side in [Side::Left, Side::Right] {
                let neighbour = match side {
                    Side::Left => place[node].checked_sub(1),
                    Side::Right => Some(place[node] + 1),
                };
                let neighbour = neighbour.and_then(|n| layer.get(n)).copied();
                let mut limit = neighbour.map_or(f64::INFINITY, |other| {
                    let near = match side {
                        Side::Left => x[other] + self.outer.nodes[other].right,
                        Side::Right => x[other] - self.outer.nodes[other].left,
                    };
                    side.sign() * (near - x[node]) - LANE_GAP
                });
                if neighbour.is_none() && side == Side::Left {
                    limit = x[node] - MARGIN;
                }
                for lane in sides.lanes[side as usize].iter().rev() {
                    let link = &self.outer.links[lane.link];
                    if self.outer.nodes[link.upper].is_detour {
                        limit = side.sign() * link.lower_offset - LANE_GAP;
                        continue;
                    }
                    let from = x[link.upper] + link.upper_offset - x[node];
                    let own = side.sign() * link.lower_offset;
                    let wish = (side.sign() * from).min(limit).max(own);
                    // A lane that cannot reach the line of its source needs a bend anyway, so it stays.
                    let wish = if wish < side.sign() * from { own } else { wish };
                    self.outer.links[lane.link].lower_offset = side.sign() * wish;
                    limit = wish - LANE_GAP;
                }
            }
        }
    }
}
