//! Horizontal coordinates. As in Brandes and Köpf's method, nodes are aligned into vertical blocks and the
//! blocks are packed from the left; then each block moves towards its neighbours while there is space.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and block ids are dense indices of one graph"
)]

use super::layered::{Layered, LinkId, NodeId};
use super::metrics::LANE_GAP;
use crate::core::sorting::{rank_of, sort_by_rank};
use std::collections::BTreeMap;

/// Number of passes that move blocks towards their neighbours.
const PASSES: usize = 8;

/// The anchor of each node; the leftmost box or dummy touches 0. `gap` is the distance of two boxes; dummies
/// need less. `O(links log links)`.
pub(super) fn columns(graph: &Layered, gap: f64) -> Vec<f64> {
    if graph.layers.iter().all(|layer| layer.len() <= 1) && graph.is_straight() {
        let left = graph.nodes.iter().map(|node| node.left);
        let mut x = vec![left.fold(0.0, f64::max); graph.nodes.len()];
        graph.place_detours(&mut x);
        return x;
    }
    let alignment = Alignment::new(graph);
    let constraints = Constraints::new(graph, &alignment, gap);
    let order = constraints.left_to_right();
    let mut x = vec![0.0; alignment.count];
    for &block in &order {
        let (low, _) = constraints.limits(block, &x);
        x[block] = low.max(constraints.start[block]);
    }
    for pass in 0..PASSES {
        for step in 0..order.len() {
            let back = order.len() - 1 - step;
            let block = order[if pass % 2 == 0 { back } else { step }];
            constraints.move_to_neighbours(block, &mut x);
        }
    }
    anchors(graph, &alignment, &x, gap)
}

/// Smallest distance between the anchors of two neighbours.
fn distance(graph: &Layered, left: NodeId, right: NodeId, gap: f64) -> f64 {
    let (a, b) = (&graph.nodes[left], &graph.nodes[right]);
    let gap = if a.is_dummy || b.is_dummy {
        LANE_GAP
    } else {
        gap
    };
    a.right + gap + b.left
}

/// The vertical alignment of nodes into blocks.
struct Alignment {
    /// Number of blocks.
    count: usize,
    /// For each node its block; `usize::MAX` for nodes of detours, which are outside the layers.
    block_of: Vec<usize>,
    /// For each node the distance of its anchor from the line of its block.
    shift: Vec<f64>,
}

impl Alignment {
    fn new(graph: &Layered) -> Self {
        let place = graph.places();
        let mut alignment = Self {
            count: 0,
            block_of: vec![usize::MAX; graph.nodes.len()],
            shift: vec![0.0; graph.nodes.len()],
        };
        for (layer, nodes) in graph.layers.iter().enumerate() {
            if let Some(upper) = layer.checked_sub(1) {
                for id in straight_links(graph, &place, upper) {
                    let link = &graph.links[id];
                    alignment.block_of[link.lower] = alignment.block_of[link.upper];
                    alignment.shift[link.lower] =
                        alignment.shift[link.upper] + link.upper_offset - link.lower_offset;
                }
            }
            for &node in nodes {
                if alignment.block_of[node] == usize::MAX {
                    alignment.block_of[node] = alignment.count;
                    alignment.count += 1;
                }
            }
        }
        alignment
    }
}

/// The links below layer `upper` that become straight lines, without crossings: between dummies first, then
/// those on the longest paths.
fn straight_links(graph: &Layered, place: &[usize], upper: usize) -> Vec<LinkId> {
    let mut wanted: Vec<LinkId> = Vec::new();
    for &node in &graph.layers[upper] {
        let down = graph.below(node);
        let goes_on = |&l: &LinkId| graph.nodes[graph.links[l].lower].is_dummy;
        let is_dummy = graph.nodes[node].is_dummy;
        // A dummy aligns with the next dummy of its net; only the last one aligns with a box.
        let next = down.iter().copied().find(|l| is_dummy && goes_on(l));
        wanted.extend(next.or_else(|| graph.heaviest(down)));
    }
    wanted.retain(|&id| {
        let lower = graph.links[id].lower;
        graph.nodes[lower].is_dummy || graph.heaviest(graph.above(lower)) == Some(id)
    });
    sort_by_rank(&mut wanted, |&l| {
        let link = &graph.links[l];
        let is_dummy = graph.nodes[link.upper].is_dummy && graph.nodes[link.lower].is_dummy;
        (i64::from(!is_dummy), -rank_of(graph.weight(l)), rank_of(l))
    });
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    wanted.retain(|&id| {
        let link = &graph.links[id];
        let (from, to) = (place[link.upper], place[link.lower]);
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

/// The constraints on the position of each block, in flat lists.
struct Constraints {
    /// For each block its smallest coordinate.
    start: Vec<f64>,
    /// Blocks to the left, with the smallest distance of the two lines.
    left: Flat<(usize, f64)>,
    /// The same for blocks to the right.
    right: Flat<(usize, f64)>,
    /// Linked blocks, with the offset of this line from theirs at which the link is straight.
    pulls: Flat<(usize, f64)>,
}

impl Constraints {
    fn new(graph: &Layered, alignment: &Alignment, gap: f64) -> Self {
        let Alignment {
            count,
            block_of,
            shift,
        } = alignment;
        let mut start = vec![f64::NEG_INFINITY; *count];
        let inside = |&(_, &block): &(usize, &usize)| block != usize::MAX;
        for (node, &block) in block_of.iter().enumerate().filter(inside) {
            start[block] = start[block].max(graph.nodes[node].left - shift[node]);
        }
        let mut left = Vec::new();
        let mut right = Vec::new();
        for pair in graph.layers.iter().flat_map(|layer| layer.windows(2)) {
            let (a, b) = (pair[0], pair[1]);
            let apart = distance(graph, a, b, gap) + shift[a] - shift[b];
            left.push((block_of[b], (block_of[a], apart)));
            right.push((block_of[a], (block_of[b], apart)));
        }
        // Links between boxes attract. Links to dummies do only if the block has no other link.
        let mut hard = Vec::new();
        let mut soft = Vec::new();
        let mut is_pulled = vec![false; *count];
        for link in &graph.links {
            let (upper, lower) = (block_of[link.upper], block_of[link.lower]);
            if upper == lower || graph.nodes[link.upper].is_detour {
                continue;
            }
            let offset =
                shift[link.upper] + link.upper_offset - shift[link.lower] - link.lower_offset;
            let ends = [(lower, (upper, offset)), (upper, (lower, -offset))];
            if graph.nodes[link.upper].is_dummy || graph.nodes[link.lower].is_dummy {
                soft.extend(ends);
            } else {
                hard.extend(ends);
                is_pulled[upper] = true;
                is_pulled[lower] = true;
            }
        }
        soft.retain(|&(block, _)| !is_pulled[block]);
        hard.extend(soft);
        Self {
            start,
            left: Flat::new(*count, &left),
            right: Flat::new(*count, &right),
            pulls: Flat::new(*count, &hard),
        }
    }

    /// The blocks in an order in which each follows all blocks to its left.
    fn left_to_right(&self) -> Vec<usize> {
        let count = self.start.len();
        let mut waits_for: Vec<usize> = (0..count).map(|b| self.left.of(b).len()).collect();
        let mut order: Vec<usize> = (0..count).filter(|&b| waits_for[b] == 0).collect();
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            next += 1;
            for &(other, _) in self.right.of(block) {
                waits_for[other] -= 1;
                if waits_for[other] == 0 {
                    order.push(other);
                }
            }
        }
        order
    }

    /// The interval in which a block can move while all others stay.
    fn limits(&self, block: usize, x: &[f64]) -> (f64, f64) {
        let left = self.left.of(block).iter().map(|&(b, apart)| x[b] + apart);
        let right = self.right.of(block).iter().map(|&(b, apart)| x[b] - apart);
        (
            left.fold(f64::NEG_INFINITY, f64::max),
            right.fold(f64::INFINITY, f64::min),
        )
    }

    /// Moves a block to the mean of the positions that its links prefer, within its limits.
    fn move_to_neighbours(&self, block: usize, x: &mut [f64]) {
        let pulls = self.pulls.of(block);
        if pulls.is_empty() {
            return;
        }
        let sum: f64 = pulls.iter().map(|&(b, offset)| x[b] + offset).sum();
        let (low, high) = self.limits(block, x);
        if low <= high {
            x[block] = (sum / pulls.len() as f64).clamp(low, high);
        }
    }
}

/// Positions of all nodes, shifted to start at 0. A last scan separates neighbours that are still too close.
fn anchors(graph: &Layered, alignment: &Alignment, at: &[f64], gap: f64) -> Vec<f64> {
    let mut x: Vec<f64> = (alignment.block_of.iter().zip(&alignment.shift))
        .map(|(&block, shift)| at.get(block).map_or(0.0, |x| x.round()) + shift)
        .collect();
    let mut least = f64::INFINITY;
    for layer in &graph.layers {
        for pair in layer.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let nearest = x[left] + distance(graph, left, right, gap);
            if x[right] < nearest - 1.0 {
                x[right] = nearest;
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

/// Lists of items for each block, in one array.
struct Flat<T> {
    ends: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy> Flat<T> {
    /// Sorts the pairs of block and item by block, stably.
    fn new(blocks: usize, pairs: &[(usize, T)]) -> Self {
        let mut ends = vec![0; blocks + 1];
        for &(block, _) in pairs {
            ends[block + 1] += 1;
        }
        for block in 0..blocks {
            ends[block + 1] += ends[block];
        }
        let mut next = ends.clone();
        let mut items: Vec<T> = pairs.iter().map(|p| p.1).collect();
        for &(block, item) in pairs {
            items[next[block]] = item;
            next[block] += 1;
        }
        Self { ends, items }
    }

    fn of(&self, block: usize) -> &[T] {
        &self.items[self.ends[block]..self.ends[block + 1]]
    }
}
