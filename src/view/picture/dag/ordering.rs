//! Crossing reduction: the order of the nodes in each layer.

use super::layered::{LayerId, Layered, NodeId, NodePositions};
use fuseline_core::model::ids::IdVec;
use std::cmp::Reverse;

/// Passes, each of a sweep down and a sweep up.
const PASSES: usize = 6;
/// Nodes up to which adjacent ones are also swapped one by one.
const SWAP_LIMIT: usize = 6_000;

/// The layer next to a node's own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Adjacent {
    Above,
    Below,
}

impl Layered {
    /// Adds the lanes and orders each layer: first by a depth-first walk, which is free of
    /// crossings for nested skip connections and branches; where links still cross, by barycentre
    /// sweeps and swaps of adjacent nodes, of which the best order is kept.
    ///
    /// `O(nodes + links log links)` for a fixed number of passes.
    pub(super) fn order(&mut self) {
        self.add_lanes();
        self.index_links();
        // A chain, in which nothing can cross.
        if self.layers.iter().all(|layer| layer.len() <= 1) {
            return;
        }
        self.order_depth_first();
        let mut place = self.places();
        let mut best = self.crossings(&place);
        let mut best_layers = self.layers.clone();
        for pass in 0..PASSES {
            if best == 0 {
                break;
            }
            let mut directions = [Adjacent::Above, Adjacent::Below];
            // Passes start downwards and upwards in turn, so that neither direction is preferred.
            directions.rotate_left(pass % 2);
            for fixed in directions {
                self.sweep(&mut place, fixed);
                if self.nodes.len() <= SWAP_LIMIT {
                    self.swap_adjacent(&mut place);
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

    /// Orders nodes by a depth-first walk: down along the longest path first; before it goes on
    /// below a node, it visits what else leads into that node, the shortest lane first. So a skip
    /// connection is to the right of all that it skips.
    fn order_depth_first(&mut self) {
        let mut roots: Vec<NodeId> = self.layers.iter().flatten().copied().collect();
        roots.sort_by_key(|&n| (Reverse(self.height[n] + self.depth[n]), self.nodes[n].layer));
        let mut layers = IdVec::from_elem(Vec::new(), self.layers.len());
        let mut is_placed = IdVec::from_elem(false, self.nodes.len());
        let mut stack = Vec::new();
        let mut next = Vec::new();
        for root in roots {
            stack.push(root);
            while let Some(node) = stack.pop() {
                if std::mem::replace(&mut is_placed[node], true) {
                    continue;
                }
                layers[self.nodes[node].layer].push(node);
                // The last pushed is visited first: so what leads in comes before what follows, the
                // longest path last.
                let lowers = self.lowers(node);
                next.extend(lowers.filter(|&n| !is_placed[n] && !self.nodes[n].is_lane));
                next.sort_by_key(|&n| (self.height[n], Reverse(n)));
                stack.append(&mut next);
                let uppers = self.uppers(node);
                next.extend(uppers.filter(|&n| !is_placed[n] && !self.nodes[n].is_outside));
                // The deeper its source, the shorter is a lane.
                next.sort_by_key(|&n| (self.source_layer(n), Reverse(n)));
                stack.append(&mut next);
            }
        }
        self.layers = layers;
    }

    /// For a lane the layer of its net's source, for a box its own layer.
    fn source_layer(&self, node: NodeId) -> LayerId {
        match self.above(node).first() {
            Some(&link) if self.nodes[node].is_lane => {
                self.nodes[self.nets[self.links[link].net].source].layer
            }
            _ => self.nodes[node].layer,
        }
    }

    /// Positions of a node's neighbours in the adjacent layer, one for each link.
    fn neighbours(&self, node: NodeId, adjacent: Adjacent, place: &NodePositions) -> Vec<usize> {
        match adjacent {
            Adjacent::Above => self.uppers(node).map(|upper| place[upper]).collect(),
            Adjacent::Below => self.lowers(node).map(|lower| place[lower]).collect(),
        }
    }

    /// Sorts each layer by the mean position of its nodes' neighbours in the adjacent layer, which
    /// was sorted before it.
    fn sweep(&mut self, place: &mut NodePositions, fixed: Adjacent) {
        let mut layers: Vec<LayerId> = self.layers.ids().collect();
        if fixed == Adjacent::Below {
            layers.reverse();
        }
        for layer in layers {
            let nodes = std::mem::take(&mut self.layers[layer]);
            let barycentre = |node: NodeId| {
                let neighbours = self.neighbours(node, fixed, place);
                if neighbours.is_empty() {
                    place[node] as f64
                } else {
                    neighbours.iter().sum::<usize>() as f64 / neighbours.len() as f64
                }
            };
            let mut keyed: Vec<(f64, NodeId)> = (nodes.into_iter())
                .map(|node| (barycentre(node), node))
                .collect();
            // A stable sort: nodes with equal barycentres keep the order of the walk.
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            let nodes: Vec<NodeId> = keyed.into_iter().map(|(_, node)| node).collect();
            for (index, &node) in nodes.iter().enumerate() {
                place[node] = index;
            }
            self.layers[layer] = nodes;
        }
    }

    /// Swaps adjacent nodes of a layer whose links cross less often afterwards.
    fn swap_adjacent(&mut self, place: &mut NodePositions) {
        for layer in self.layers.ids() {
            for right in 1..self.layers[layer].len() {
                let Some(&[a, b]) = self.layers[layer].get(right - 1..=right) else {
                    continue;
                };
                let crossings = |first: NodeId, second: NodeId| -> usize {
                    let in_gap = |adjacent| {
                        pair_crossings(
                            self.neighbours(first, adjacent, place),
                            self.neighbours(second, adjacent, place),
                        )
                    };
                    in_gap(Adjacent::Above) + in_gap(Adjacent::Below)
                };
                if crossings(b, a) < crossings(a, b) {
                    self.layers[layer].swap(right - 1, right);
                    (place[a], place[b]) = (place[b], place[a]);
                }
            }
        }
    }

    /// Pairs of links that cross, over all layers.
    fn crossings(&self, place: &NodePositions) -> u64 {
        let mut total = 0;
        for (layer, nodes) in self.layers.iter_enumerated() {
            let width = self.layers.get(layer.below()).map_or(0, Vec::len);
            let mut ends_so_far = PrefixCounts::new(width);
            let mut count = 0;
            for &node in nodes {
                let ends = self.neighbours(node, Adjacent::Below, place);
                for &end in &ends {
                    total += count - ends_so_far.up_to(end);
                }
                // After all are counted, because links of one node do not cross each other.
                for &end in &ends {
                    ends_so_far.add(end);
                    count += 1;
                }
            }
        }
        total
    }
}

/// Crossings of the links to `left` with those to `right`, when the node of `left` is to the left.
fn pair_crossings(mut left: Vec<usize>, mut right: Vec<usize>) -> usize {
    left.sort_unstable();
    right.sort_unstable();
    let lower = |end: usize| right.partition_point(|&other| other < end);
    left.into_iter().map(lower).sum()
}

/// How often each position was added, as a Fenwick tree: sums of prefixes in `O(log n)`.
struct PrefixCounts(Vec<u64>);

impl PrefixCounts {
    fn new(len: usize) -> Self {
        Self(vec![0; len + 1])
    }

    fn add(&mut self, place: usize) {
        let mut i = place + 1;
        while let Some(count) = self.0.get_mut(i) {
            *count += 1;
            i += i & i.wrapping_neg();
        }
    }

    /// How many were added at `place` or left of it.
    fn up_to(&self, place: usize) -> u64 {
        let mut i = place + 1;
        let mut sum = 0;
        while i > 0 {
            sum += self.0.get(i).copied().unwrap_or(0);
            i &= i - 1;
        }
        sum
    }
}
