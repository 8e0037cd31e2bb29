//! How a net gets from its source to targets in lower layers: as a lane through each layer between, or, where
//! lanes would outnumber all else, on a detour right of the whole picture.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and net ids are dense indices of one graph"
)]

use super::layered::{Layered, Link, LinkId, Node, NodeId};
use super::metrics::LANE_GAP;
use std::collections::BTreeSet;

/// Lanes that a picture may hold: some for each box, and some in any case. Every activation of a training step
/// that is kept for the way back would else make the picture quadratic.
const LANES_PER_NODE: usize = 12;
const LANES_AT_LEAST: usize = 4_000;

/// A tensor on its way to all who read it.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) source: NodeId,
    /// Where it leaves the source, from that node's anchor.
    pub(super) source_offset: f64,
    /// The last link of each target.
    ends: Vec<LinkId>,
    /// The lower ends of its detour, from top to bottom.
    pub(super) outside: Vec<NodeId>,
}

impl Layered {
    /// Joins `source` with each of `targets`, which lie in lower layers; the net runs as one trunk as far
    /// as its deepest target. Gives the last link of each target; what lies above it is settled by
    /// [`Layered::order`].
    pub(super) fn add_net(&mut self, source: NodeId, targets: &[NodeId]) -> Vec<LinkId> {
        let net = self.nets.len();
        let ends: Vec<LinkId> = (targets.iter())
            .map(|&target| self.add_link(net, source, target))
            .collect();
        self.nets.push(Net {
            source,
            source_offset: 0.0,
            ends: ends.clone(),
            outside: Vec::new(),
        });
        ends
    }

    fn add_link(&mut self, net: usize, upper: NodeId, lower: NodeId) -> LinkId {
        let id = self.links.len();
        self.links.push(Link {
            net,
            upper,
            lower,
            upper_offset: 0.0,
            lower_offset: 0.0,
            is_beside: false,
        });
        id
    }

    /// Leads every net through the layers between its source and its targets.
    pub(super) fn lay_lanes(&mut self) {
        let reach = self.reach();
        for net in 0..self.nets.len() {
            let source = self.nets[net].source;
            let ends = std::mem::take(&mut self.nets[net].ends);
            let first = self.nodes[source].layer;
            let layer_of = |end: LinkId| self.nodes[self.links[end].lower].layer;
            let mut by_layer: Vec<(usize, LinkId)> =
                ends.iter().map(|&end| (layer_of(end), end)).collect();
            by_layer.sort_unstable();
            // The lane that carries the net out of layer `at`.
            let (mut at, mut upper) = (first, source);
            for (layer, end) in by_layer {
                if layer - first > reach {
                    let outside = match self.nets[net].outside.last() {
                        Some(&last) if self.nodes[last].layer + 1 == layer => last,
                        _ => self.add_outside(net, layer - 1),
                    };
                    self.links[end].upper = outside;
                    continue;
                }
                while at + 1 < layer {
                    at += 1;
                    let lane = self.add_lane(at, false);
                    self.layers[at].push(lane);
                    self.add_link(net, upper, lane);
                    upper = lane;
                }
                self.links[end].upper = upper;
            }
        }
    }

    fn add_outside(&mut self, net: usize, layer: usize) -> NodeId {
        let node = self.add_lane(layer, true);
        self.nets[net].outside.push(node);
        node
    }

    fn add_lane(&mut self, layer: usize, is_outside: bool) -> NodeId {
        self.nodes.push(Node {
            layer,
            left: 0.0,
            right: 0.0,
            is_lane: true,
            is_outside,
        });
        self.nodes.len() - 1
    }

    /// Layers that a net may cross in lanes, so that all lanes together stay within their number.
    fn reach(&self) -> usize {
        let most = LANES_AT_LEAST.max(self.nodes.len() * LANES_PER_NODE);
        let mut reach = self.layers.len();
        loop {
            let lanes: usize = (self.nets.iter())
                .map(|net| {
                    let first = self.nodes[net.source].layer;
                    let layers = (net.ends.iter())
                        .map(|&end| self.nodes[self.links[end].lower].layer - first)
                        .filter(|&span| span <= reach);
                    layers.max().unwrap_or(0).saturating_sub(1)
                })
                .sum();
            if lanes <= most || reach <= 1 {
                return reach;
            }
            reach /= 2;
        }
    }

    /// Starts the first links of every net where it leaves its source.
    pub(super) fn start_links(&mut self) {
        for link in &mut self.links {
            let net = &self.nets[link.net];
            if link.upper == net.source {
                link.upper_offset = net.source_offset;
            }
        }
    }

    /// Gives every detour its line right of all else, `x` being the anchors of the nodes.
    pub(super) fn place_detours(&self, x: &mut [f64]) {
        let mut right: f64 = 0.0;
        for &node in self.layers.iter().flatten() {
            right = right.max(x[node] + self.nodes[node].right);
        }
        let mut spans: Vec<(usize, usize, usize)> = (self.nets.iter().enumerate())
            .filter_map(|(id, net)| {
                let last = net.outside.last()?;
                Some((self.nodes[net.source].layer, self.nodes[*last].layer, id))
            })
            .collect();
        spans.sort_unstable();
        // Lines that are free again, and those in use by the layer in which they end.
        let mut free: BTreeSet<usize> = BTreeSet::new();
        let mut busy: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut count = 0;
        for (first, last, net) in spans {
            while let Some(&(end, line)) = busy.first() {
                if end >= first {
                    break;
                }
                busy.pop_first();
                free.insert(line);
            }
            let line = free.pop_first().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            busy.insert((last, line));
            for &node in &self.nets[net].outside {
                x[node] = right + LANE_GAP * (line + 1) as f64;
            }
        }
    }
}
