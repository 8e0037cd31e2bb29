//! How a net gets from its source to targets several layers below: by a lane, one node in each
//! layer between, or, where lanes would outnumber the boxes by far, by a detour to the right of the
//! whole graph.

use super::intervals::assign_lines;
use super::layered::{LayerId, Layered, LayeredNode, LinkId, NetId, NodeId};
use super::metrics::LANE_GAP;
use fuseline_core::model::ids::IdVec;

/// Lane nodes that a graph may hold for each box, and in any case. Training steps keep every
/// activation for the backward pass, so their lanes would make the graph quadratic.
const LANES_PER_NODE: usize = 12;
const LANES_AT_LEAST: usize = 4_000;

impl Layered {
    /// Leads every net through the layers between its source and its targets.
    pub(super) fn add_lanes(&mut self) {
        let max_span = self.max_lane_span();
        for net in self.nets.ids() {
            let source = self.nets[net].source;
            let ends = std::mem::take(&mut self.nets[net].ends);
            let first = self.nodes[source].layer;
            let layer_of = |end: LinkId| self.nodes[self.links[end].lower].layer;
            let mut by_layer: Vec<(LayerId, LinkId)> =
                ends.iter().map(|&end| (layer_of(end), end)).collect();
            // The nearest target first, so that one lane is extended and serves all of them.
            by_layer.sort_unstable();
            // The net has reached this layer, at this node.
            let (mut at, mut upper) = (first, source);
            for (layer, end) in by_layer {
                // A detour takes one node for each layer with targets, however long it is.
                if layer.since(first) > max_span {
                    let outside = match self.nets[net].outside.last() {
                        Some(&last) if self.nodes[last].layer.below() == layer => last,
                        _ => self.add_outside(net, layer.above().unwrap_or(layer)),
                    };
                    self.links[end].upper = outside;
                    continue;
                }
                while at.below() < layer {
                    at = at.below();
                    let lane = self.add_lane(at, false);
                    self.layers[at].push(lane);
                    self.add_link(net, upper, lane);
                    upper = lane;
                }
                self.links[end].upper = upper;
            }
        }
    }

    fn add_outside(&mut self, net: NetId, layer: LayerId) -> NodeId {
        let node = self.add_lane(layer, true);
        self.nets[net].outside.push(node);
        node
    }

    fn add_lane(&mut self, layer: LayerId, is_outside: bool) -> NodeId {
        self.nodes.push(LayeredNode {
            layer,
            left: 0.0,
            right: 0.0,
            is_lane: true,
            is_outside,
        })
    }

    /// Layers that a net may span in lanes, so that the graph does not hold too many.
    fn max_lane_span(&self) -> usize {
        let max_lanes = LANES_AT_LEAST.max(self.nodes.len() * LANES_PER_NODE);
        let mut max_span = self.layers.len();
        loop {
            let lanes: usize = (self.nets.iter())
                .map(|net| {
                    let first = self.nodes[net.source].layer;
                    let layers = (net.ends.iter())
                        .map(|&end| self.nodes[self.links[end].lower].layer.since(first))
                        .filter(|&span| span <= max_span);
                    layers.max().unwrap_or(0).saturating_sub(1)
                })
                .sum();
            if lanes <= max_lanes || max_span <= 1 {
                return max_span;
            }
            // Halved, so that the links are counted `O(log layers)` times.
            max_span /= 2;
        }
    }

    /// Gives every detour a vertical line to the right of all boxes and lanes, `x` being the
    /// anchors of the nodes.
    pub(super) fn place_detours(&self, x: &mut IdVec<NodeId, f64>) {
        let mut right: f64 = 0.0;
        for &node in self.layers.iter().flatten() {
            right = right.max(x[node] + self.nodes[node].right);
        }
        let mut spans: Vec<(LayerId, LayerId, NetId)> = (self.nets.iter_enumerated())
            .filter_map(|(id, net)| {
                let last = net.outside.last()?;
                Some((self.nodes[net.source].layer, self.nodes[*last].layer, id))
            })
            .collect();
        spans.sort_unstable();
        let lines = assign_lines(spans.iter().map(|&(first, last, _)| (first, last)));
        for (&(_, _, net), line) in spans.iter().zip(lines) {
            for &node in &self.nets[net].outside {
                x[node] = right + LANE_GAP * (line + 1) as f64;
            }
        }
    }
}
