//! The outer level of the layout: kernels and pills in layers, and the nets between them.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel, tensor and node ids are dense indices of one graph"
)]

use super::kernel::{Access, open_sides};
use super::layered::{Layered, NodeId};
use super::layers::kernel_layers;
use super::layout::{Branch, Picture, Port};
use super::metrics::{FONT_PX, OP_PADDING, PILL_HEIGHT, PILL_WIDTHS, fit_text, text_width};
use super::sides::{Lane, OpenSides, Side, SidePill};
use super::{EdgeEnd, Pill, PillKind, Rect};
use crate::core::sorting::sort_pairs;
use crate::core::{OpId, TensorId, TensorRole};

/// Largest number of layers between readers that share a pill; readers farther apart get pills of their own.
const SHARED_PILL_LAYERS: usize = 12;
/// Most readers that share one pill.
const SHARED_PILL_READERS: usize = 3;
/// Most pills beside one op; the last one represents all remaining tensors.
const PILLS_PER_OP: usize = 6;

/// The rows and ops that a lane enters.
type Enters = Vec<(usize, OpId)>;

impl Picture<'_> {
    /// Builds the layers of kernels and pills, and all nets between them.
    pub(super) fn join(&mut self) {
        let layers = kernel_layers(self.graph, self.partition);
        let count = layers.iter().max().map_or(0, |l| l + 1);
        self.outer = Layered::new(count);
        for (&layer, inside) in layers.iter().zip(&self.kernel_layouts) {
            self.kernel_node
                .push(self.outer.add_node(layer, inside.half, inside.half));
        }
        let mut pills_beside = vec![0_usize; self.graph.ops.len()];
        for tensor in 0..self.graph.tensors.len() {
            let known = &self.graph.tensors[tensor];
            match known.producer {
                Some(op) => {
                    let kernel = self.partition.group_of[op];
                    let readers: Vec<OpId> = self.graph.consumers[tensor]
                        .iter()
                        .copied()
                        .filter(|&c| layers[self.partition.group_of[c]] > layers[kernel])
                        .collect();
                    self.add_net(tensor, EdgeEnd::Op(op), self.kernel_node[kernel], &readers);
                }
                None => self.add_external(tensor, &layers, &mut pills_beside),
            }
        }
    }

    /// Adds the pills of an external tensor: one above its readers, or one beside each of them.
    fn add_external(&mut self, tensor: TensorId, layers: &[usize], pills_beside: &mut [usize]) {
        let known = &self.graph.tensors[tensor];
        let readers = self.graph.consumers[tensor].to_vec();
        let layer_of = |&op: &OpId| layers[self.partition.group_of[op]];
        let first = readers.iter().map(layer_of).min().unwrap_or(1);
        let last = readers.iter().map(layer_of).max().unwrap_or(1);
        if known.role == TensorRole::Input
            && (2..=SHARED_PILL_READERS).contains(&readers.len())
            && last - first <= SHARED_PILL_LAYERS
        {
            self.add_pill_above(tensor, first - 1, &readers);
            return;
        }
        for op in readers {
            let position = self.positions[op];
            let leads = known.role == TensorRole::Input
                && self.graph.predecessors[op].is_empty()
                && self.graph.inputs[op].first() == Some(&tensor);
            let above = layers[self.partition.group_of[op]] - 1;
            match position.access {
                Access::Top if leads => self.add_pill_above(tensor, above, &[op]),
                Access::Through => {
                    self.add_pill_above(tensor, above, &[op]);
                }
                Access::Top if self.open_sides(op) == OpenSides::Neither => {
                    self.add_pill_above(tensor, above, &[op]);
                }
                Access::Top | Access::Side(_) => {
                    self.add_pill_beside(tensor, op, &mut pills_beside[op]);
                }
            }
        }
    }

    fn open_sides(&self, op: OpId) -> OpenSides {
        let inside = &self.kernel_layouts[self.partition.group_of[op]];
        open_sides(&inside.graph, self.positions[op].node)
    }

    pub(super) fn new_pill(&mut self, tensor: TensorId, kind: PillKind) -> usize {
        let name = self.graph.tensor_name(tensor);
        let room = PILL_WIDTHS.1 - 2.0 * OP_PADDING;
        let text = fit_text(name, room, FONT_PX.1);
        let width = (text_width(&text, FONT_PX.1) + 2.0 * OP_PADDING)
            .clamp(PILL_WIDTHS.0, PILL_WIDTHS.1)
            .ceil();
        self.layout.pills.push(Pill {
            tensors: vec![tensor],
            kind,
            rect: Rect {
                x: 0.0,
                y: 0.0,
                width,
                height: PILL_HEIGHT,
            },
            text,
        });
        self.layout.pills.len() - 1
    }

    fn external_kind(&self, tensor: TensorId) -> PillKind {
        match self.graph.tensors[tensor].role {
            TensorRole::Input => PillKind::Input,
            TensorRole::Weight => PillKind::Weight,
        }
    }

    fn add_pill_above(&mut self, tensor: TensorId, layer: usize, readers: &[OpId]) {
        let pill = self.new_pill(tensor, self.external_kind(tensor));
        let half = self.layout.pills[pill].rect.width / 2.0;
        let node = self.outer.add_node(layer, half, half);
        self.pill_nodes.push((pill, node));
        self.add_net(tensor, EdgeEnd::Pill(pill), node, readers);
    }

    fn add_pill_beside(&mut self, tensor: TensorId, op: OpId, count: &mut usize) {
        let kernel = self.partition.group_of[op];
        *count += 1;
        if *count > PILLS_PER_OP
            && let Some(last) = self.side_pills[kernel].iter().rfind(|p| p.op == op)
        {
            let pill = &mut self.layout.pills[last.pill];
            pill.tensors.push(tensor);
            pill.text = format!("{} more", pill.tensors.len());
            return;
        }
        let pill = self.new_pill(tensor, self.external_kind(tensor));
        let fixed_side = self.open_sides(op).only();
        self.side_pills[kernel].push(SidePill {
            pill,
            op,
            width: self.layout.pills[pill].rect.width,
            fixed_side,
        });
    }

    /// Adds a net from a source to all ops that read it. How it enters a kernel depends on the rows of its
    /// readers.
    fn add_net(&mut self, tensor: TensorId, from: EdgeEnd, source: NodeId, readers: &[OpId]) {
        let mut targets = Vec::new();
        let mut ports: Vec<(usize, Port)> = Vec::new();
        // Readers of one kernel need not be adjacent in the list.
        let mut by_kernel: Vec<(usize, OpId)> = readers
            .iter()
            .map(|&op| (self.partition.group_of[op], op))
            .collect();
        sort_pairs(&mut by_kernel);
        for readers in by_kernel.chunk_by(|a, b| a.0 == b.0) {
            let kernel = readers[0].0;
            let mut beside: Vec<(Option<Side>, Enters)> = Vec::new();
            for &(_, op) in readers {
                match self.positions[op].access {
                    Access::Top => {
                        targets.push(self.kernel_node[kernel]);
                        ports.push((kernel, Port::Top(op)));
                    }
                    Access::Through => {
                        let entries = &self.kernel_layouts[kernel].entries;
                        let entry = entries.partition_point(|e| (e.1, e.0) < (op, 0));
                        let own = entries[entry..].iter().take_while(|e| e.1 == op);
                        if let Some(nth) = own.map(|e| e.0).position(|t| t == tensor) {
                            targets.push(self.kernel_node[kernel]);
                            ports.push((kernel, Port::Through(entry + nth)));
                        }
                    }
                    Access::Side(side) => {
                        let enter = (self.positions[op].row, op);
                        match beside.iter_mut().find(|b| b.0 == side || side.is_none()) {
                            Some(lane) => lane.1.push(enter),
                            None => beside.push((side, vec![enter])),
                        }
                    }
                }
            }
            for (side, mut enters) in beside {
                sort_pairs(&mut enters);
                self.lanes[kernel].push(Lane {
                    link: usize::MAX,
                    enters,
                    fixed_side: side,
                    preferred_side: Side::Right,
                });
                targets.push(self.kernel_node[kernel]);
                ports.push((kernel, Port::Beside));
            }
        }
        if targets.is_empty() {
            return;
        }
        let links = self.outer.add_net(source, &targets);
        for (link, (kernel, port)) in links.into_iter().zip(ports) {
            if matches!(port, Port::Beside)
                && let Some(lane) = self.lanes[kernel].iter_mut().find(|l| l.link == usize::MAX)
            {
                lane.link = link;
                self.outer.links[link].is_beside = true;
            }
            self.branches.push(Branch {
                tensor,
                from,
                kernel,
                link,
                port,
            });
        }
    }
}
