//! A layered graph, as in Sugiyama's method: nets become links between adjacent layers, long ones through dummy
//! nodes, and each layer is ordered to reduce crossings.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and layer ids are dense indices of one graph"
)]

use crate::core::sorting::{rank_of, rank_of_float, sort_by_rank};

/// Number of rounds of sweeps, and the largest number of nodes for which adjacent nodes are also swapped one by
/// one.
const ROUNDS: usize = 6;
const SWAP_LIMIT: usize = 6_000;

pub(super) type NodeId = usize;
pub(super) type LinkId = usize;

/// A box or a dummy.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) layer: usize,
    /// Space to the left of its anchor.
    pub(super) left: f64,
    /// Space to the right of its anchor.
    pub(super) right: f64,
    /// Whether it is a dummy: the point at which a net crosses a layer.
    pub(super) is_dummy: bool,
    /// Whether it is the lower end of a detour, which is to the right of its layer and not part of it.
    pub(super) is_detour: bool,
}

/// The part of a net between two adjacent layers.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) net: usize,
    pub(super) upper: NodeId,
    pub(super) lower: NodeId,
    /// Offset of its port at the upper node, from that node's anchor.
    pub(super) upper_offset: f64,
    /// Offset of its port at the lower node, from that node's anchor.
    pub(super) lower_offset: f64,
    /// Whether it ends beside its lower node and not at its top. Such links are not aligned.
    pub(super) is_beside: bool,
}

/// A hyperedge: a tensor with its source and all its readers.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) source: NodeId,
    /// Offset of the port at the source from that node's anchor.
    pub(super) source_offset: f64,
    /// The last link to each target.
    pub(super) ends: Vec<LinkId>,
    /// The nodes in which its detour returns to the layers, from top to bottom.
    pub(super) detour: Vec<NodeId>,
}

/// A graph in layers. Every link is between adjacent layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Layered {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// Nodes of each layer, from left to right.
    pub(super) layers: Vec<Vec<NodeId>>,
    /// Links by lower node and by upper node, set by [`Layered::order`]: for each node the end of its range,
    /// after a leading 0, and the links.
    above: (Vec<usize>, Vec<LinkId>),
    below: (Vec<usize>, Vec<LinkId>),
    /// Length in links of the longest paths above and below each node, set by [`Layered::order`].
    depth: Vec<u32>,
    height: Vec<u32>,
    /// Nets; links contain their index.
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
            is_dummy: false,
            is_detour: false,
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

    /// Whether every link is a vertical line.
    pub(super) fn is_straight(&self) -> bool {
        self.links
            .iter()
            .all(|link| link.upper_offset == 0.0 && link.lower_offset == 0.0)
    }

    /// Priority of drawing this link as a straight line: the length of the longest path through it. 0 for links
    /// of dummies, because the longest path should be straight between boxes.
    pub(super) fn weight(&self, link: LinkId) -> u32 {
        let Link {
            upper,
            lower,
            is_beside,
            ..
        } = self.links[link];
        if is_beside || self.nodes[upper].is_dummy || self.nodes[lower].is_dummy {
            0
        } else {
            // Not measured if each layer has a single node; all priorities are then equal.
            let known = |of: &[u32], node: NodeId| of.get(node).copied().unwrap_or(0);
            known(&self.depth, upper) + known(&self.height, lower) + 1
        }
    }

    /// The link with the highest priority; `None` on a tie.
    pub(super) fn heaviest(&self, links: &[LinkId]) -> Option<LinkId> {
        if let &[only] = links {
            return Some(only);
        }
        let best = links.iter().copied().max_by_key(|&l| self.weight(l))?;
        let weight = self.weight(best);
        let is_only = links.iter().filter(|&&l| self.weight(l) == weight).count() == 1;
        (is_only && weight > 0).then_some(best)
    }

    /// Orders each layer. A depth-first walk gives an order without crossings for nested skips and branches. If
    /// crossings remain, sweeps by barycentre and swaps of adjacent nodes follow, and the best order is kept.
    /// `O(nodes + links log links)` for a fixed number of rounds.
    pub(super) fn order(&mut self) {
        self.insert_dummies();
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

    /// Orders nodes by a depth-first walk. After a node come the nodes above it that are not placed yet, the end
    /// of the shortest net first, then the nodes below it, the longest path first. So a skip is to the right of
    /// the nodes that it skips.
    fn walk(&mut self) {
        let mut roots: Vec<NodeId> = self.layers.iter().flatten().copied().collect();
        sort_by_rank(&mut roots, |&n| {
            let reach = rank_of(self.height[n] + self.depth[n]);
            (-reach, rank_of(self.nodes[n].layer), 0)
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
                // Pushed in reverse, because the stack pops the last one first.
                stack.extend(
                    self.below(node)
                        .iter()
                        .map(|&l| self.links[l].lower)
                        .filter(|&n| !is_placed[n] && !self.nodes[n].is_dummy),
                );
                sort_by_rank(&mut stack[from..], |&n| {
                    (rank_of(self.height[n]), -rank_of(n), 0)
                });
                let from = stack.len();
                stack.extend(
                    self.above(node)
                        .iter()
                        .map(|&l| self.links[l].upper)
                        .filter(|&n| !is_placed[n] && !self.nodes[n].is_detour),
                );
                // The net from the deepest source is the shortest.
                sort_by_rank(&mut stack[from..], |&n| {
                    (rank_of(self.source_layer(n)), -rank_of(n), 0)
                });
            }
        }
        self.layers = layers;
    }

    /// The layer of a box, or for a dummy the layer of its net's source.
    fn source_layer(&self, node: NodeId) -> usize {
        match self.above(node).first() {
            Some(&link) if self.nodes[node].is_dummy => {
                self.nodes[self.nets[self.links[link].net].source].layer
            }
            _ => self.nodes[node].layer,
        }
    }

    /// For each node its index in its layer; for nodes of detours the number of nodes in the layer.
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
            sort_by_rank(&mut nodes, |&n| (rank_of_float(keys[n]), 0, 0));
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

    /// Number of crossings over all layers.
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

/// Crossings between the links to `left` and those to `right`, both sorted, with `left`'s node on the left.
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

/// A Fenwick tree of counts by position; prefix sums in `O(log n)`.
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

    /// Sum of the counts up to `place`.
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
