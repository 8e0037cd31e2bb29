//! Horizontal positions: nodes on one vertical line form a block, as in the method of Brandes and
//! Köpf. Blocks are packed from the left, then each moves to the mean of those that it is linked
//! with, as far as its neighbours let it.

use super::layered::{LayerId, Layered, LinkId, NodeId, NodePositions};
use super::metrics::LANE_GAP;
use fuseline_core::model::adjacency::Adjacency;
use fuseline_core::model::ids::{IdVec, define_ids};
use std::cmp::Reverse;
use std::collections::BTreeMap;

define_ids! {
    /// Nodes on one vertical line.
    struct BlockId;
}

/// Passes over all blocks in which each moves to the mean of those that it is linked with.
const PASSES: usize = 8;

/// The anchor of each node, such that the leftmost box or lane starts at 0. `gap` is the distance
/// between two boxes; lanes need less. `O(links log links)`.
pub(super) fn columns(graph: &Layered, gap: f64) -> IdVec<NodeId, f64> {
    if graph.layers.iter().all(|layer| layer.len() <= 1) && graph.is_straight() {
        let left = graph.nodes.iter().map(|node| node.left);
        let mut x = IdVec::from_elem(left.fold(0.0, f64::max), graph.nodes.len());
        graph.place_detours(&mut x);
        return x;
    }
    let blocks = Blocks::new(graph);
    let constraints = Constraints::new(graph, &blocks, gap);
    let mut order = constraints.left_to_right();
    let mut x = IdVec::from_elem(0.0, blocks.count);
    for &block in &order {
        let (low, _) = constraints.limits(block, &x);
        x[block] = low.max(constraints.start[block]);
    }
    for _ in 0..PASSES {
        // Alternately from the right and from the left: a block that moves makes room for the next
        // one.
        order.reverse();
        for &block in &order {
            constraints.move_to_mean(block, &mut x);
        }
    }
    anchors(graph, &blocks, &x, gap)
}

/// Smallest distance between the anchors of two neighbours in a layer.
fn distance(graph: &Layered, left: NodeId, right: NodeId, gap: f64) -> f64 {
    let (a, b) = (&graph.nodes[left], &graph.nodes[right]);
    let gap = if a.is_lane || b.is_lane {
        LANE_GAP
    } else {
        gap
    };
    a.right + gap + b.left
}

/// Which nodes are on one vertical line.
struct Blocks {
    count: usize,
    /// The block of each node; `None` outside of the layers.
    block_of: IdVec<NodeId, Option<BlockId>>,
    /// From the line of its block to each node's anchor.
    shift: IdVec<NodeId, f64>,
}

impl Blocks {
    fn new(graph: &Layered) -> Self {
        let place = graph.places();
        let mut blocks = Self {
            count: 0,
            block_of: IdVec::from_elem(None, graph.nodes.len()),
            shift: IdVec::from_elem(0.0, graph.nodes.len()),
        };
        for (layer, nodes) in graph.layers.iter_enumerated() {
            if let Some(upper) = layer.above() {
                for id in straight_links(graph, &place, upper) {
                    let link = &graph.links[id];
                    blocks.block_of[link.lower] = blocks.block_of[link.upper];
                    blocks.shift[link.lower] =
                        blocks.shift[link.upper] + link.upper_offset - link.lower_offset;
                }
            }
            for &node in nodes {
                blocks.block_of[node].get_or_insert_with(|| {
                    blocks.count += 1;
                    BlockId::new(blocks.count - 1)
                });
            }
        }
        blocks
    }
}

/// The links below layer `upper` that are drawn straight: lanes first, then those on the longest
/// paths, and none that crosses one chosen before.
fn straight_links(graph: &Layered, place: &NodePositions, upper: LayerId) -> Vec<LinkId> {
    let mut wanted: Vec<LinkId> = Vec::new();
    for &node in &graph.layers[upper] {
        let down = graph.below(node);
        let is_in_lane = |&l: &LinkId| graph.nodes[graph.links[l].lower].is_lane;
        let lane = if graph.nodes[node].is_lane {
            down.iter().copied().find(is_in_lane)
        } else {
            None
        };
        wanted.extend(lane.or_else(|| graph.heaviest(down)));
    }
    // Remembered for each box, because very many links can reach one.
    let mut heaviest: BTreeMap<NodeId, Option<LinkId>> = BTreeMap::new();
    wanted.retain(|&id| {
        let lower = graph.links[id].lower;
        let mut of_lower = || graph.heaviest(graph.above(lower));
        graph.nodes[lower].is_lane
            || *heaviest.entry(lower).or_insert_with(&mut of_lower) == Some(id)
    });
    wanted.sort_by_key(|&l| {
        let link = &graph.links[l];
        let is_lane = graph.nodes[link.upper].is_lane && graph.nodes[link.lower].is_lane;
        (Reverse(is_lane), Reverse(graph.weight(l)), l)
    });
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    wanted.retain(|&id| {
        let link = &graph.links[id];
        let (from, to) = (place[link.upper], place[link.lower]);
        // The chosen links do not cross, so they have the same order above and below, and a new one
        // needs to be compared with its two neighbours only.
        let before = taken.range(..from).next_back().map(|(_, &to)| to);
        let after = taken.range(from..).next().map(|(_, &to)| to);
        let fits = before.is_none_or(|b| b < to) && after.is_none_or(|a| a > to);
        if fits {
            taken.insert(from, to);
        }
        fits
    });
    wanted
}

/// The constraints on the position of each block.
struct Constraints {
    /// The leftmost position of each block at which none of its nodes starts left of 0.
    start: IdVec<BlockId, f64>,
    /// Blocks next to it on the left, and the least distance from them.
    left: Adjacency<BlockId, (BlockId, f64)>,
    /// Blocks next to it on the right, and the least distance from them.
    right: Adjacency<BlockId, (BlockId, f64)>,
    /// Blocks that it is linked with, and the distance from them at which the link is straight.
    linked: Adjacency<BlockId, (BlockId, f64)>,
}

impl Constraints {
    fn new(graph: &Layered, blocks: &Blocks, gap: f64) -> Self {
        let Blocks {
            count,
            block_of,
            shift,
        } = blocks;
        let mut start = IdVec::from_elem(f64::NEG_INFINITY, *count);
        for (node, block) in block_of.iter_enumerated() {
            if let Some(block) = *block {
                start[block] = start[block].max(graph.nodes[node].left - shift[node]);
            }
        }
        let mut left = Vec::new();
        let mut right = Vec::new();
        for pair in graph.layers.iter().flat_map(|layer| layer.windows(2)) {
            if let &[a, b] = pair
                && let (Some(of_a), Some(of_b)) = (block_of[a], block_of[b])
            {
                let least = distance(graph, a, b, gap) + shift[a] - shift[b];
                left.push((of_b, (of_a, least)));
                right.push((of_a, (of_b, least)));
            }
        }
        // Links of lanes count only for blocks that no other link leads to.
        let mut linked = Vec::new();
        let mut by_lanes = Vec::new();
        let mut is_linked = IdVec::from_elem(false, *count);
        for link in &graph.links {
            let (Some(upper), Some(lower)) = (block_of[link.upper], block_of[link.lower]) else {
                continue;
            };
            if upper == lower {
                continue;
            }
            let offset =
                shift[link.upper] + link.upper_offset - shift[link.lower] - link.lower_offset;
            let ends = [(lower, (upper, offset)), (upper, (lower, -offset))];
            if graph.nodes[link.upper].is_lane || graph.nodes[link.lower].is_lane {
                by_lanes.extend(ends);
            } else {
                linked.extend(ends);
                is_linked[upper] = true;
                is_linked[lower] = true;
            }
        }
        by_lanes.retain(|&(block, _)| !is_linked[block]);
        linked.extend(by_lanes);
        Self {
            start,
            left: Adjacency::from_pairs(*count, left.into_iter()),
            right: Adjacency::from_pairs(*count, right.into_iter()),
            linked: Adjacency::from_pairs(*count, linked.into_iter()),
        }
    }

    /// All blocks, each after those to the left of it.
    fn left_to_right(&self) -> Vec<BlockId> {
        let mut waits_for: IdVec<BlockId, usize> = self.left.iter().map(<[_]>::len).collect();
        let mut order: Vec<BlockId> = waits_for.ids().filter(|&b| waits_for[b] == 0).collect();
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            next += 1;
            for &(other, _) in &self.right[block] {
                waits_for[other] -= 1;
                if waits_for[other] == 0 {
                    order.push(other);
                }
            }
        }
        order
    }

    /// How far left and right a block may move while all others stay.
    fn limits(&self, block: BlockId, x: &IdVec<BlockId, f64>) -> (f64, f64) {
        let left = self.left[block].iter().map(|&(b, least)| x[b] + least);
        let right = self.right[block].iter().map(|&(b, least)| x[b] - least);
        (
            left.fold(f64::NEG_INFINITY, f64::max),
            right.fold(f64::INFINITY, f64::min),
        )
    }

    /// Moves a block to the mean of the positions at which its links are straight, within its
    /// limits.
    fn move_to_mean(&self, block: BlockId, x: &mut IdVec<BlockId, f64>) {
        let linked = &self.linked[block];
        if linked.is_empty() {
            return;
        }
        let sum: f64 = linked.iter().map(|&(b, offset)| x[b] + offset).sum();
        let (low, high) = self.limits(block, x);
        // Rounding can leave an empty range, on which `clamp` panics.
        if low <= high {
            x[block] = (sum / linked.len() as f64).clamp(low, high);
        }
    }
}

/// Positions of all nodes from those of the blocks, shifted to start at 0. Neighbours that overlap
/// all the same are moved apart.
fn anchors(
    graph: &Layered,
    blocks: &Blocks,
    at: &IdVec<BlockId, f64>,
    gap: f64,
) -> IdVec<NodeId, f64> {
    let mut x: IdVec<NodeId, f64> = (blocks.block_of.iter().zip(&blocks.shift))
        .map(|(block, shift)| block.map_or(0.0, |block| at[block].round()) + shift)
        .collect();
    let mut least = f64::INFINITY;
    for layer in &graph.layers {
        for pair in layer.windows(2) {
            if let &[left, right] = pair {
                let nearest = x[left] + distance(graph, left, right, gap);
                // A pixel of slack, because blocks were rounded to whole pixels.
                if x[right] < nearest - 1.0 {
                    x[right] = nearest;
                }
            }
        }
        if let Some(&first) = layer.first() {
            least = least.min(x[first] - graph.nodes[first].left);
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
    graph.place_detours(&mut x);
    x
}
