//! A layered graph: nodes in layers, and nets that lead from one node to others in lower layers.
//!
//! `lanes` splits nets that span several layers, `ordering` orders each layer, `columns` assigns
//! horizontal positions.

use fuseline_core::model::adjacency::Adjacency;
use fuseline_core::model::ids::{IdVec, define_ids};

define_ids! {
    /// A box or one layer of a lane.
    pub(super) struct NodeId;
    /// One step of a net from a layer to the next.
    pub(super) struct LinkId;
    /// A tensor on its way to all who read it.
    pub(super) struct NetId;
    /// A layer, counted from the top.
    pub(super) struct LayerId;
}

impl LayerId {
    /// The next layer downwards.
    pub(super) const fn below(self) -> Self {
        Self::new(self.index() + 1)
    }

    /// The next layer upwards; the first one has none.
    pub(super) const fn above(self) -> Option<Self> {
        match self.index().checked_sub(1) {
            Some(index) => Some(Self::new(index)),
            None => None,
        }
    }

    /// How many layers it is below `upper`.
    pub(super) const fn since(self, upper: Self) -> usize {
        self.index().saturating_sub(upper.index())
    }
}

/// The position of each node in its layer, from the left.
pub(super) type NodePositions = IdVec<NodeId, usize>;

/// A box or one layer of a lane, which the literature calls a dummy node.
#[derive(Clone, Debug)]
pub(super) struct LayeredNode {
    pub(super) layer: LayerId,
    /// Width to the left of its anchor.
    pub(super) left: f64,
    /// Width to the right of its anchor.
    pub(super) right: f64,
    /// A net passes through the layer here.
    pub(super) is_lane: bool,
    /// It is the lower end of a detour, to the right of all layers and in none of them.
    pub(super) is_outside: bool,
}

/// One step of a net from a layer to the next.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) net: NetId,
    pub(super) upper: NodeId,
    pub(super) lower: NodeId,
    /// Where it leaves the upper node, from that node's anchor.
    pub(super) upper_offset: f64,
    /// Where it reaches the lower node, from that node's anchor.
    pub(super) lower_offset: f64,
    /// It ends beside its lower node, so nothing is gained by drawing it straight.
    pub(super) is_beside: bool,
}

/// A tensor on its way to all who read it.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) source: NodeId,
    /// Where it leaves the source, from that node's anchor.
    pub(super) source_offset: f64,
    /// The last link to each target.
    pub(super) ends: Vec<LinkId>,
    /// The lower ends of its detour, from top to bottom.
    pub(super) outside: Vec<NodeId>,
}

/// Nodes in layers. After [`Layered::order`] every link leads from one layer to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Layered {
    pub(super) nodes: IdVec<NodeId, LayeredNode>,
    pub(super) links: IdVec<LinkId, Link>,
    pub(super) nets: IdVec<NetId, Net>,
    /// Nodes of each layer, from left to right.
    pub(super) layers: IdVec<LayerId, Vec<NodeId>>,
    /// Links by their lower and by their upper node; filled by [`Layered::order`], like the next
    /// two.
    above: Adjacency<NodeId, LinkId>,
    below: Adjacency<NodeId, LinkId>,
    /// Links on the longest path from above to each node, and from the node downwards.
    pub(super) depth: IdVec<NodeId, u32>,
    pub(super) height: IdVec<NodeId, u32>,
}

impl Layered {
    pub(super) fn new(layers: usize) -> Self {
        Self {
            layers: IdVec::from_elem(Vec::new(), layers),
            ..Self::default()
        }
    }

    pub(super) fn add_node(&mut self, layer: LayerId, left: f64, right: f64) -> NodeId {
        let id = self.nodes.push(LayeredNode {
            layer,
            left,
            right,
            is_lane: false,
            is_outside: false,
        });
        self.layers[layer].push(id);
        id
    }

    /// A net without targets.
    pub(super) fn add_net(&mut self, source: NodeId) -> NetId {
        self.nets.push(Net {
            source,
            source_offset: 0.0,
            ends: Vec::new(),
            outside: Vec::new(),
        })
    }

    /// Leads a net to `target` in a lower layer, and returns the last link on the way;
    /// [`Layered::order`] adds those above it. All targets share the lanes as far as the deepest
    /// one.
    pub(super) fn add_target(&mut self, net: NetId, target: NodeId) -> LinkId {
        let link = self.add_link(net, self.nets[net].source, target);
        self.nets[net].ends.push(link);
        link
    }

    pub(super) fn add_link(&mut self, net: NetId, upper: NodeId, lower: NodeId) -> LinkId {
        self.links.push(Link {
            net,
            upper,
            lower,
            upper_offset: 0.0,
            lower_offset: 0.0,
            is_beside: false,
        })
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

    /// Indexes the links by their nodes, and measures the longest paths.
    pub(super) fn index_links(&mut self) {
        let links = self.links.iter_enumerated();
        let by_lower = links.clone().map(|(id, link)| (link.lower, id));
        let by_upper = links.map(|(id, link)| (link.upper, id));
        self.above = Adjacency::from_pairs(self.nodes.len(), by_lower);
        self.below = Adjacency::from_pairs(self.nodes.len(), by_upper);
        let mut depth = IdVec::from_elem(0, self.nodes.len());
        let mut height = IdVec::from_elem(0, self.nodes.len());
        for &node in self.layers.iter().flatten() {
            let uppers = self.uppers(node);
            depth[node] = uppers.map(|upper| depth[upper] + 1).max().unwrap_or(0);
        }
        for &node in self.layers.iter().rev().flatten() {
            let lowers = self.lowers(node);
            height[node] = lowers.map(|lower| height[lower] + 1).max().unwrap_or(0);
        }
        (self.depth, self.height) = (depth, height);
    }

    /// Links that reach a node from above.
    pub(super) fn above(&self, node: NodeId) -> &[LinkId] {
        &self.above[node]
    }

    /// Links that leave a node downwards.
    pub(super) fn below(&self, node: NodeId) -> &[LinkId] {
        &self.below[node]
    }

    /// The upper ends of the links that reach a node from above.
    pub(super) fn uppers(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.above(node).iter().map(|&link| self.links[link].upper)
    }

    /// The lower ends of the links that leave a node downwards.
    pub(super) fn lowers(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.below(node).iter().map(|&link| self.links[link].lower)
    }

    /// The position of each node in its layer; behind the last one for nodes outside of the layers.
    pub(super) fn places(&self) -> NodePositions {
        let outside = |node: &LayeredNode| self.layers[node.layer].len();
        let mut place: NodePositions = self.nodes.iter().map(outside).collect();
        for layer in &self.layers {
            for (index, &node) in layer.iter().enumerate() {
                place[node] = index;
            }
        }
        place
    }

    /// Whether every link leaves and reaches its nodes at their anchors.
    pub(super) fn is_straight(&self) -> bool {
        self.links
            .iter()
            .all(|link| link.upper_offset == 0.0 && link.lower_offset == 0.0)
    }

    /// The weight of a link, by which links are drawn straight: the length of the longest path over
    /// it. Links of lanes come last, because the eye follows the boxes.
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
            self.depth[upper] + self.height[lower] + 1
        }
    }

    /// The one link of greatest weight; `None` when several are equal.
    pub(super) fn heaviest(&self, links: &[LinkId]) -> Option<LinkId> {
        if let &[only] = links {
            return Some(only);
        }
        let best = links.iter().copied().max_by_key(|&l| self.weight(l))?;
        // Of several equal links none is preferred, so that branches are drawn symmetrically.
        let weight = self.weight(best);
        let is_only = links.iter().filter(|&&l| self.weight(l) == weight).count() == 1;
        (is_only && weight > 0).then_some(best)
    }
}
