//! Routes long nets through the layers. As in Sugiyama's method, a net has a dummy node in each layer between
//! its source and its targets. If that takes too many dummies, the longest nets get detours, which are vertical
//! lines to the right of the whole drawing.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and net ids are dense indices of one graph"
)]

use super::layered::{Layered, Link, LinkId, Net, Node, NodeId};
use super::metrics::LANE_GAP;
use crate::core::sorting::{rank_of, sort_by_rank, sort_pairs};
use std::collections::BTreeSet;

/// Limit for the dummies of a drawing. A training step keeps every activation for its backward pass, so that
/// without a limit the number of dummies is quadratic.
const DUMMIES_PER_NODE: usize = 12;
const MIN_DUMMIES: usize = 4_000;

impl Layered {
    /// Adds a net from `source` to `targets`, which are in lower layers. Gives the last link to each target.
    /// [`Layered::order`] adds the dummies above these links; all targets share them.
    pub(super) fn add_net(&mut self, source: NodeId, targets: &[NodeId]) -> Vec<LinkId> {
        let net = self.nets.len();
        let ends: Vec<LinkId> = (targets.iter())
            .map(|&target| self.add_link(net, source, target))
            .collect();
        self.nets.push(Net {
            source,
            source_offset: 0.0,
            ends: ends.clone(),
            detour: Vec::new(),
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

    /// Inserts the dummies and detours of every net.
    pub(super) fn insert_dummies(&mut self) {
        let reach = self.reach();
        for net in 0..self.nets.len() {
            let source = self.nets[net].source;
            let ends = std::mem::take(&mut self.nets[net].ends);
            let first = self.nodes[source].layer;
            let layer_of = |end: LinkId| self.nodes[self.links[end].lower].layer;
            let mut by_layer: Vec<(usize, LinkId)> =
                ends.iter().map(|&end| (layer_of(end), end)).collect();
            sort_pairs(&mut by_layer);
            // The dummy of the net in layer `at`, or its source.
            let (mut at, mut upper) = (first, source);
            for (layer, end) in by_layer {
                if layer - first > reach {
                    let detour = match self.nets[net].detour.last() {
                        Some(&last) if self.nodes[last].layer + 1 == layer => last,
                        _ => self.add_detour(net, layer - 1),
                    };
                    self.links[end].upper = detour;
                    continue;
                }
                while at + 1 < layer {
                    at += 1;
                    let dummy = self.add_dummy(at, false);
                    self.layers[at].push(dummy);
                    self.add_link(net, upper, dummy);
                    upper = dummy;
                }
                self.links[end].upper = upper;
            }
        }
    }

    fn add_detour(&mut self, net: usize, layer: usize) -> NodeId {
        let node = self.add_dummy(layer, true);
        self.nets[net].detour.push(node);
        node
    }

    fn add_dummy(&mut self, layer: usize, is_detour: bool) -> NodeId {
        self.nodes.push(Node {
            layer,
            left: 0.0,
            right: 0.0,
            is_dummy: true,
            is_detour,
        });
        self.nodes.len() - 1
    }

    /// Largest number of layers that a net may cross with dummies, so that the number of dummies stays below
    /// its limit.
    fn reach(&self) -> usize {
        let most = MIN_DUMMIES.max(self.nodes.len() * DUMMIES_PER_NODE);
        let mut reach = self.layers.len();
        loop {
            let dummies: usize = (self.nets.iter())
                .map(|net| {
                    let first = self.nodes[net.source].layer;
                    let layers = (net.ends.iter())
                        .map(|&end| self.nodes[self.links[end].lower].layer - first)
                        .filter(|&span| span <= reach);
                    layers.max().unwrap_or(0).saturating_sub(1)
                })
                .sum();
            if dummies <= most || reach <= 1 {
                return reach;
            }
            reach /= 2;
        }
    }

    /// Sets the upper offset of the first links of every net.
    pub(super) fn start_links(&mut self) {
        for link in &mut self.links {
            let net = &self.nets[link.net];
            if link.upper == net.source {
                link.upper_offset = net.source_offset;
            }
        }
    }

    /// Gives every detour a line to the right of the drawing; `x` are the anchors of the nodes.
    pub(super) fn place_detours(&self, x: &mut [f64]) {
        let mut right: f64 = 0.0;
        for &node in self.layers.iter().flatten() {
            right = right.max(x[node] + self.nodes[node].right);
        }
        let mut spans: Vec<(usize, usize, usize)> = (self.nets.iter().enumerate())
            .filter_map(|(id, net)| {
                let last = net.detour.last()?;
                Some((self.nodes[net.source].layer, self.nodes[*last].layer, id))
            })
            .collect();
        sort_by_rank(&mut spans, |&(first, last, net)| {
            (rank_of(first), rank_of(last), rank_of(net))
        });
        // Lines that are free, and those in use, by the layer in which their use ends.
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
            for &node in &self.nets[net].detour {
                x[node] = right + LANE_GAP * (line + 1) as f64;
            }
        }
    }
}
