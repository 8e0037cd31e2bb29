//! A graph in layers: nets become links between neighbouring layers, long ones through lanes, and an order
//! within each layer is found that crosses few links.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and layer ids are dense indices of one graph"
)]

use super::lanes::Net;
use std::cmp::Reverse;

/// Rounds of sweeps, and nodes up to which neighbours are also swapped one by one.
const ROUNDS: usize = 6;
const SWAP_LIMIT: usize = 6_000;

pub(super) type NodeId = usize;
pub(super) type LinkId = usize;

/// A box or one layer of a lane.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) layer: usize,
    /// Room to the left of its anchor.
    pub(super) left: f64,
    /// Room to the right of its anchor.
    pub(super) right: f64,
    /// It is a piece of a net on its way through a layer.
    pub(super) is_lane: bool,
    /// It is the lower end of a detour: right of its layer and no part of it.
    pub(super) is_outside: bool,
}

/// One step of a net from a layer to the next.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) net: usize,
    pub(super) upper: NodeId,
    pub(super) lower: NodeId,
    /// Where it leaves the upper node, from that node's anchor.
    pub(super) upper_offset: f64,
    /// Where it reaches the lower node, from that node's anchor.
    pub(super) lower_offset: f64,
    /// It ends beside its lower node and not on it, so it is no part of a spine.
    pub(super) is_beside: bool,
}

/// Nodes in layers. Every link leads from one layer to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Layered {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// Nodes of each layer, from left to right.
    pub(super) layers: Vec<Vec<NodeId>>,
    /// Links by their lower and by their upper node, known after [`Layered::order`]: for each node the end of
    /// its links, behind a leading 0, and the links.
    above: (Vec<usize>, Vec<LinkId>),
    below: (Vec<usize>, Vec<LinkId>),
    /// Longest way up and down from each node, in links; known after [`Layered::order`].
    depth: Vec<u32>,
    height: Vec<u32>,
    /// Nets, by the numbers in their links.
    pub(super) nets: Vec<Net>,
}

impl Layered {
    pub(super) fn new(layers: usize) -> Self {
        Self {
            layers: vec![Vec::new(); layers],
            ..Self::default()
        }
    }

    pub(super) fn add_node(&mut self, layer: usize, left: f64, right: f64) -> NodeId {
        let id = self.nodes.len();
        self.layers[layer].push(id);
        self.nodes.push(Node {
            layer,
            left,
            right,
            is_lane: false,
            is_outside: false,
        });
        id
    }

    /// Links that reach a node from above.
    pub(super) fn above(&self, node: NodeId) -> &[LinkId] {
        &self.above.1[self.above.0[node]..self.above.0[node + 1]]
    }

    /// Links that leave a node downwards.
    pub(super) fn below(&self, node: NodeId) -> &[LinkId] {
        &self.below.1[self.below.0[node]..self.below.0[node + 1]]
    }

    /// Whether every link leads straight down.
    pub(super) fn is_straight(&self) -> bool {
        self.links
            .iter()
            .all(|link| link.upper_offset == 0.0 && link.lower_offset == 0.0)
    }

    /// How much a straight line matters here: the longest way that leads over this link. Lanes come last,
    /// for the spine of a picture is made of boxes.
    pub(super) fn weight(&self, link: LinkId) -> u32 {
        let Link {
            upper,
            lower,
            is_beside,
            ..
        } = self.links[link];
        if is_beside || self.nodes[upper].is_lane || self.nodes[lower].is_lane {
            0
        } else {
            // A chain is not measured: all its links are spine.
            let known = |of: &[u32], node: NodeId| of.get(node).copied().unwrap_or(0);
            known(&self.depth, upper) + known(&self.height, lower) + 1
        }
    }

    /// The one link among `links` that carries the spine; `None` when two are equally long.
    pub(super) fn heaviest(&self, links: &[LinkId]) -> Option<LinkId> {
        if let &[only] = links {
            return Some(only);
        }
        let best = links.iter().copied().max_by_key(|&l| self.weight(l))?;
        let weight = self.weight(best);
        let is_only = links.iter().filter(|&&l| self.weight(l) == weight).count() == 1;
        (is_only && weight > 0).then_some(best)
    }

    /// Orders each layer: a walk along the spine first, which is free of crossings for nested skips and
    /// branches; where it is not, sweeps by barycentre and swaps of neighbours, of which the best is kept.
    /// `O(nodes + links log links)` for a fixed number of rounds.
    pub(super) fn order(&mut self) {
        self.lay_lanes();
        self.above = self.by_node(|link| link.lower);
        self.below = self.by_node(|link| link.upper);
        if self.layers.iter().all(|layer| layer.len() <= 1) {
            return;
        }
        self.measure();
        self.walk();
        let mut place = self.places();
        let mut best = self.crossings(&place);
        let mut best_layers = self.layers.clone();
        for round in 0..ROUNDS {
            if best == 0 {
                break;
            }
            for downwards in [round % 2 == 0, round % 2 != 0] {
                self.sweep(&mut place, downwards);
                if self.nodes.len() <= SWAP_LIMIT {
                    self.swap_neighbours(&mut place);
                }
                let crossings = self.crossings(&place);
                if crossings < best {
                    best = crossings;
                    best_layers.clone_from(&self.layers);
                }
            }
        }
        self.layers = best_layers;
    }

    fn by_node(&self, node_of: impl Fn(&Link) -> NodeId) -> (Vec<usize>, Vec<LinkId>) {
        let mut ends = vec![0; self.nodes.len() + 1];
        for link in &self.links {
            ends[node_of(link) + 1] += 1;
        }
        for node in 0..self.nodes.len() {
            ends[node + 1] += ends[node];
        }
        let mut next = ends.clone();
        let mut links = vec![0; self.links.len()];
        for (id, link) in self.links.iter().enumerate() {
            let place = &mut next[node_of(link)];
            links[*place] = id;
            *place += 1;
        }
        (ends, links)
    }

    fn measure(&mut self) {
        let mut depth = vec![0; self.nodes.len()];
        let mut height = vec![0; self.nodes.len()];
        for &node in self.layers.iter().flatten() {
            let uppers = self.above(node).iter().map(|&l| self.links[l].upper);
            depth[node] = uppers.map(|upper| depth[upper] + 1).max().unwrap_or(0);
        }
        for &node in self.layers.iter().rev().flatten() {
            let lowers = self.below(node).iter().map(|&l| self.links[l].lower);
            height[node] = lowers.map(|lower| height[lower] + 1).max().unwrap_or(0);
        }
        (self.depth, self.height) = (depth, height);
    }

    /// Places nodes in the order of a depth-first walk: down along the longest way first, and whatever else
    /// feeds a node before going on below it, the shortest lane first. So a skip lies right of all that it skips.
    fn walk(&mut self) {
        let mut roots: Vec<NodeId> = self.layers.iter().flatten().copied().collect();
        roots.sort_by_key(|&n| {
            let reach = self.height[n] + self.depth[n];
            (Reverse(reach), self.nodes[n].layer)
        });
        let mut layers = vec![Vec::new(); self.layers.len()];
        let mut is_placed = vec![false; self.nodes.len()];
        let mut stack = Vec::new();
        for root in roots {
            stack.push(root);
            while let Some(node) = stack.pop() {
                if std::mem::replace(&mut is_placed[node], true) {
                    continue;
                }
                layers[self.nodes[node].layer].push(node);
                let from = stack.len();
                // The stack is last in, first out: lower neighbours first, least important first.
                stack.extend(
                    self.below(node)
                        .iter()
                        .map(|&l| self.links[l].lower)
                        .filter(|&n| !is_placed[n] && !self.nodes[n].is_lane),
                );
                stack[from..].sort_by_key(|&n| (self.height[n], Reverse(n)));
                let from = stack.len();
                stack.extend(
                    self.above(node)
                        .iter()
                        .map(|&l| self.links[l].upper)
                        .filter(|&n| !is_placed[n] && !self.nodes[n].is_outside),
                );
                // A deep source is the end of a short lane.
                stack[from..].sort_by_key(|&n| (self.lane_start(n), Reverse(n)));
            }
        }
        self.layers = layers;
    }

    /// Layer of the node itself, or for a lane the layer in which its net starts.
    fn lane_start(&self, node: NodeId) -> usize {
        match self.above(node).first() {
            Some(&link) if self.nodes[node].is_lane => {
                self.nodes[self.nets[self.links[link].net].source].layer
            }
            _ => self.nodes[node].layer,
        }
    }

    /// For each node its place in its layer; behind the last one for what stands outside.
    pub(super) fn places(&self) -> Vec<usize> {
        let outside = |node: &Node| self.layers[node.layer].len();
        let mut place: Vec<usize> = self.nodes.iter().map(outside).collect();
        for layer in &self.layers {
            for (index, &node) in layer.iter().enumerate() {
                place[node] = index;
            }
        }
        place
    }

    fn sweep(&mut self, place: &mut [usize], downwards: bool) {
        let count = self.layers.len();
        let mut keys = vec![0.0; self.nodes.len()];
        for step in 0..count {
            let layer = if downwards { step } else { count - 1 - step };
            let mut nodes = std::mem::take(&mut self.layers[layer]);
            for &node in &nodes {
                let neighbours = if downwards {
                    self.above(node)
                } else {
                    self.below(node)
                };
                let sum: usize = neighbours
                    .iter()
                    .map(|&l| {
                        let link = &self.links[l];
                        place[if downwards { link.upper } else { link.lower }]
                    })
                    .sum();
                keys[node] = if neighbours.is_empty() {
                    place[node] as f64
                } else {
                    sum as f64 / neighbours.len() as f64
                };
            }
            nodes.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
            for (index, &node) in nodes.iter().enumerate() {
                place[node] = index;
            }
            self.layers[layer] = nodes;
        }
    }

    fn swap_neighbours(&mut self, place: &mut [usize]) {
        for layer in 0..self.layers.len() {
            for right in 1..self.layers[layer].len() {
                let (a, b) = (self.layers[layer][right - 1], self.layers[layer][right]);
                let crossed = |first: NodeId, second: NodeId| {
                    pair_crossings(
                        &self.ends(self.above(first), place, true),
                        &self.ends(self.above(second), place, true),
                    ) + pair_crossings(
                        &self.ends(self.below(first), place, false),
                        &self.ends(self.below(second), place, false),
                    )
                };
                if crossed(b, a) < crossed(a, b) {
                    self.layers[layer].swap(right - 1, right);
                    place.swap(a, b);
                }
            }
        }
    }

    fn ends(&self, links: &[LinkId], place: &[usize], upper: bool) -> Vec<usize> {
        let mut ends: Vec<usize> = links
            .iter()
            .map(|&l| {
                let link = &self.links[l];
                place[if upper { link.upper } else { link.lower }]
            })
            .collect();
        ends.sort_unstable();
        ends
    }

    /// Pairs of links that cross, over all layers.
    pub(super) fn crossings(&self, place: &[usize]) -> u64 {
        let mut total = 0;
        for (layer, nodes) in self.layers.iter().enumerate() {
            let width = self.layers.get(layer + 1).map_or(0, Vec::len);
            let mut seen = Fenwick::new(width);
            let mut count = 0;
            for &node in nodes {
                let ends = self.ends(self.below(node), place, false);
                for &end in &ends {
                    total += count - seen.up_to(end);
                }
                for &end in &ends {
                    seen.add(end);
                    count += 1;
                }
            }
        }
        total
    }
}

/// Crossings of the links to `left` with those to `right`, both sorted, when `left`'s node stands left.
fn pair_crossings(left: &[usize], right: &[usize]) -> usize {
    let mut below = 0;
    let mut total = 0;
    for &end in left {
        while right.get(below).is_some_and(|&r| r < end) {
            below += 1;
        }
        total += below;
    }
    total
}

/// Counts of places, with sums of prefixes in `O(log n)`.
struct Fenwick(Vec<u64>);

impl Fenwick {
    fn new(len: usize) -> Self {
        Self(vec![0; len + 1])
    }

    fn add(&mut self, place: usize) {
        let mut i = place + 1;
        while i < self.0.len() {
            self.0[i] += 1;
            i += i & i.wrapping_neg();
        }
    }

    /// How many were added at `place` or left of it.
    fn up_to(&self, place: usize) -> u64 {
        let mut i = place + 1;
        let mut sum = 0;
        while i > 0 {
            sum += self.0[i];
            i &= i - 1;
        }
        sum
    }
}
