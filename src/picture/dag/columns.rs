//! Horizontal positions: what belongs on one straight line becomes a block, blocks are packed from the left,
//! then moved towards their neighbours as far as there is room.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and block ids are dense indices of one graph"
)]

use super::layered::{Layered, LinkId, NodeId};
use super::metrics::LANE_GAP;

/// Passes in which blocks move towards their neighbours.
const PASSES: usize = 8;

/// Nodes that share one vertical line.
struct Block {
    members: Vec<NodeId>,
    x: f64,
}

struct Columns<'a> {
    graph: &'a Layered,
    /// Between two boxes; lanes need less.
    gap: f64,
    place: Vec<usize>,
    block_of: Vec<usize>,
    /// From a block's line to a member's anchor.
    shift: Vec<f64>,
    blocks: Vec<Block>,
}

/// The anchor of each node, the leftmost box or lane touching 0. `O(links log links)`.
pub(super) fn columns(graph: &Layered, gap: f64) -> Vec<f64> {
    let mut columns = Columns {
        graph,
        gap,
        place: graph.places(),
        block_of: vec![0; graph.nodes.len()],
        shift: vec![0.0; graph.nodes.len()],
        blocks: Vec::new(),
    };
    columns.form_blocks();
    let order = columns.left_to_right();
    columns.pack(&order);
    for pass in 0..PASSES {
        if pass % 2 == 0 {
            for &block in order.iter().rev() {
                columns.settle(block);
            }
        } else {
            for &block in &order {
                columns.settle(block);
            }
        }
    }
    columns.anchors()
}

impl Columns<'_> {
    /// Smallest distance of two neighbours' anchors.
    fn distance(&self, left: NodeId, right: NodeId) -> f64 {
        let (a, b) = (&self.graph.nodes[left], &self.graph.nodes[right]);
        let gap = if a.is_lane || b.is_lane {
            LANE_GAP
        } else {
            self.gap
        };
        a.right + gap + b.left
    }

    fn form_blocks(&mut self) {
        for layer in 0..self.graph.layers.len() {
            let straight = match layer.checked_sub(1) {
                Some(upper) => self.straight_links(upper),
                None => Vec::new(),
            };
            for &link in &straight {
                let link = &self.graph.links[link];
                let block = self.block_of[link.upper];
                self.block_of[link.lower] = block;
                self.shift[link.lower] =
                    self.shift[link.upper] + link.upper_offset - link.lower_offset;
                self.blocks[block].members.push(link.lower);
            }
            let mut is_joined = vec![false; self.graph.layers[layer].len()];
            for &link in &straight {
                is_joined[self.place[self.graph.links[link].lower]] = true;
            }
            for (place, &node) in self.graph.layers[layer].iter().enumerate() {
                if !is_joined[place] {
                    self.block_of[node] = self.blocks.len();
                    self.blocks.push(Block {
                        members: vec![node],
                        x: 0.0,
                    });
                }
            }
        }
    }

    /// The links below layer `upper` that are drawn straight: lanes first, then the longest ways, none that
    /// crosses one taken before.
    fn straight_links(&self, upper: usize) -> Vec<LinkId> {
        let graph = self.graph;
        let mut wanted: Vec<LinkId> = Vec::new();
        for &node in &graph.layers[upper] {
            let down = &graph.below[node];
            if graph.nodes[node].is_lane {
                // A lane goes on straight; only its last piece ends at a box.
                wanted.extend(
                    down.iter()
                        .copied()
                        .find(|&l| graph.nodes[graph.links[l].lower].is_lane)
                        .or_else(|| graph.heaviest(down)),
                );
            } else {
                wanted.extend(graph.heaviest(down));
            }
        }
        let class = |&l: &LinkId| {
            let link = &graph.links[l];
            let lanes = graph.nodes[link.upper].is_lane && graph.nodes[link.lower].is_lane;
            (!lanes, std::cmp::Reverse(graph.weight(l)), l)
        };
        wanted.sort_unstable_by_key(class);
        let mut taken = std::collections::BTreeMap::new();
        let mut is_used = vec![false; graph.layers.get(upper + 1).map_or(0, Vec::len)];
        let mut straight = Vec::new();
        for id in wanted {
            let link = &graph.links[id];
            let lower_is_lane = graph.nodes[link.lower].is_lane;
            let is_spine_above =
                lower_is_lane || graph.heaviest(&graph.above[link.lower]) == Some(id);
            let (from, to) = (self.place[link.upper], self.place[link.lower]);
            let before = taken.range(..from).next_back().map(|(_, &to)| to);
            let after = taken.range(from..).next().map(|(_, &to)| to);
            if is_spine_above
                && !is_used[to]
                && before.is_none_or(|b| b < to)
                && after.is_none_or(|a| a > to)
            {
                taken.insert(from, to);
                is_used[to] = true;
                straight.push(id);
            }
        }
        straight
    }

    /// Blocks so that each comes after all that lie left of it.
    fn left_to_right(&self) -> Vec<usize> {
        let mut waits_for = vec![0_usize; self.blocks.len()];
        let right_of = |node: NodeId| -> Option<NodeId> {
            let layer = &self.graph.layers[self.graph.nodes[node].layer];
            layer.get(self.place[node] + 1).copied()
        };
        for layer in &self.graph.layers {
            for &node in layer.iter().skip(1) {
                waits_for[self.block_of[node]] += 1;
            }
        }
        let mut order: Vec<usize> = (0..self.blocks.len())
            .filter(|&b| waits_for[b] == 0)
            .collect();
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            next += 1;
            for &member in &self.blocks[block].members {
                if let Some(right) = right_of(member) {
                    let other = self.block_of[right];
                    waits_for[other] -= 1;
                    if waits_for[other] == 0 {
                        order.push(other);
                    }
                }
            }
        }
        order
    }

    /// Each block as far left as its left neighbours let it, the first ones at 0.
    fn pack(&mut self, order: &[usize]) {
        for &block in order {
            let start = self.blocks[block]
                .members
                .iter()
                .map(|&node| self.graph.nodes[node].left - self.shift[node])
                .fold(f64::NEG_INFINITY, f64::max);
            self.blocks[block].x = self.limits(block).0.max(start);
        }
    }

    /// How far left and right a block may go while all others stay.
    fn limits(&self, block: usize) -> (f64, f64) {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for &node in &self.blocks[block].members {
            let layer = &self.graph.layers[self.graph.nodes[node].layer];
            let place = self.place[node];
            if let Some(&left) = place.checked_sub(1).and_then(|left| layer.get(left)) {
                low = low.max(self.anchor(left) + self.distance(left, node) - self.shift[node]);
            }
            if let Some(&right) = layer.get(place + 1) {
                high = high.min(self.anchor(right) - self.distance(node, right) - self.shift[node]);
            }
        }
        (low, high)
    }

    fn anchor(&self, node: NodeId) -> f64 {
        self.blocks[self.block_of[node]].x + self.shift[node]
    }

    /// Moves a block to the middle of what it is linked with, within its limits.
    fn settle(&mut self, block: usize) {
        let graph = self.graph;
        // Boxes pull; lanes only follow, unless nothing else pulls.
        let mut pulls = [(0.0, 0_usize); 2];
        for &node in &self.blocks[block].members {
            let ends = graph.above[node]
                .iter()
                .map(|&l| (&graph.links[l], true))
                .chain(graph.below[node].iter().map(|&l| (&graph.links[l], false)));
            for (link, is_above) in ends {
                let (own, other, own_offset, other_offset) = if is_above {
                    (link.lower, link.upper, link.lower_offset, link.upper_offset)
                } else {
                    (link.upper, link.lower, link.upper_offset, link.lower_offset)
                };
                if self.block_of[other] == block {
                    continue;
                }
                let wish = self.anchor(other) + other_offset - own_offset - self.shift[own];
                let is_soft = graph.nodes[own].is_lane || graph.nodes[other].is_lane;
                let pull = &mut pulls[usize::from(is_soft)];
                *pull = (pull.0 + wish, pull.1 + 1);
            }
        }
        let Some((sum, count)) = pulls.into_iter().find(|&(_, count)| count > 0) else {
            return;
        };
        let (low, high) = self.limits(block);
        if low <= high {
            self.blocks[block].x = (sum / count as f64).clamp(low, high);
        }
    }

    /// Positions of all nodes, shifted to start at 0. A last scan keeps neighbours apart whatever the
    /// blocks came to.
    fn anchors(&self) -> Vec<f64> {
        let mut x: Vec<f64> = (0..self.graph.nodes.len())
            .map(|n| self.blocks[self.block_of[n]].x.round() + self.shift[n])
            .collect();
        let mut least = f64::INFINITY;
        for layer in &self.graph.layers {
            for pair in layer.windows(2) {
                let (left, right) = (pair[0], pair[1]);
                let nearest = x[left] + self.distance(left, right);
                if x[right] < nearest - 1.0 {
                    x[right] = nearest;
                }
            }
            if let Some(&first) = layer.first() {
                least = least.min(x[first] - self.graph.nodes[first].left);
            }
        }
        let origin = if least.is_finite() {
            least.floor()
        } else {
            0.0
        };
        for x in &mut x {
            *x -= origin;
        }
        x
    }
}
