//! The second level of the layout: kernels and pills in layers, and the nets between them.

use super::builder::{Branch, LayoutBuilder, Port};
use super::dag_layout::{EdgeEnd, Pill, PillId, PillKind};
use super::frames::Body;
use super::geometry::Rect;
use super::kernel_layers::kernel_layers;
use super::kernel_layout::{EdgeApproach, RowId, open_sides};
use super::layered::{LayerId, Layered, NodeId};
use super::metrics::{OP_PADDING, PILL_HEIGHT, PILL_WIDTHS, SMALL_FONT_PX, fit_name, text_width};
use super::panel_sides::{Lane, SidePill};
use super::side::{OpenSides, Side};
use crate::present::format::format_count;
use fuseline_core::{IdVec, KernelId, OpId, TensorId, TensorRole};
use std::ops::Range;

/// Layers over which one pill serves several readers; if they are farther apart, each has a pill of
/// its own.
const SHARED_PILL_LAYERS: usize = 12;
/// Pills side by side that are no wider than the op below them.
const PILLS_ABOVE_OP: usize = 2;
/// Readers that share one pill.
const SHARED_PILL_READERS: usize = 3;
/// Pills beside one op; the last one stands for all further tensors.
const PILLS_PER_OP: usize = 6;

/// Rows and ops that a lane enters.
type Enters = Vec<(RowId, OpId)>;

impl LayoutBuilder<'_> {
    /// Adds kernels and pills as nodes, and the nets between them.
    pub(super) fn build_outer_graph(&mut self) {
        let needs_pills = |kernels| self.needs_pills_above(kernels);
        let layers = kernel_layers(self.graph, self.partition, &self.bodies, needs_pills);
        let count = layers.iter().max().map_or(0, |last| last.index() + 1);
        let has_pills = |body: &Body| self.needs_pills_above(body.kernels.clone());
        let has_pills: Vec<bool> = self.bodies.iter().map(has_pills).collect();
        for (body, has_pills) in self.bodies.iter_mut().zip(has_pills) {
            body.find_layers(&layers, has_pills);
        }
        self.outer = Layered::new(count);
        for (&layer, kernel) in layers.iter().zip(&self.kernels) {
            let node = self.outer.add_node(layer, kernel.half, kernel.half);
            self.kernel_node.push(node);
        }
        let mut above_frame = IdVec::from_elem(None, self.graph.tensors.len());
        // From the last one, so that the first body that a tensor enters decides.
        for body in self.bodies.iter().rev() {
            for &tensor in &body.enters {
                above_frame[tensor] = body.layers.start.above();
            }
        }
        let mut pills_beside = IdVec::from_elem(0_usize, self.graph.ops.len());
        for tensor in self.graph.tensors.ids() {
            match self.graph.tensors[tensor].producer {
                Some(op) => {
                    let kernel = self.partition.kernel_of[op];
                    let readers: Vec<OpId> = self.graph.consumers[tensor]
                        .iter()
                        .copied()
                        .filter(|&c| layers[self.partition.kernel_of[c]] > layers[kernel])
                        .collect();
                    self.add_net(tensor, EdgeEnd::Op(op), self.kernel_node[kernel], &readers);
                }
                None => {
                    self.add_external(tensor, above_frame[tensor], &layers, &mut pills_beside);
                }
            }
        }
    }

    /// Adds the pills of an external tensor: one above its readers, or one above or beside each.
    /// What stands for the output of the iteration before a body has its pill in the layer
    /// `above_frame`.
    fn add_external(
        &mut self,
        tensor: TensorId,
        above_frame: Option<LayerId>,
        layers: &IdVec<KernelId, LayerId>,
        pills_beside: &mut IdVec<OpId, usize>,
    ) {
        let mut readers = self.graph.consumers[tensor].to_vec();
        if let Some(layer) = above_frame {
            let is_below = |op: &mut OpId| layers[self.partition.kernel_of[*op]] > layer;
            let below: Vec<OpId> = readers.extract_if(.., is_below).collect();
            self.add_pill_above(tensor, layer, &below);
        }
        let layer_of = |&op: &OpId| layers[self.partition.kernel_of[op]];
        // Layer 0 holds no kernels.
        let above = |layer: LayerId| layer.above().unwrap_or(layer);
        let first = readers.iter().map(layer_of).min();
        let last = readers.iter().map(layer_of).max();
        if self.may_share_pill(tensor, &readers)
            && let (Some(first), Some(last)) = (first, last)
            && last.since(first) <= SHARED_PILL_LAYERS
        {
            self.add_pill_above(tensor, above(first), &readers);
            return;
        }
        for op in readers {
            if self.is_pill_above(tensor, op) {
                let layer = above(layers[self.partition.kernel_of[op]]);
                self.add_pill_above(tensor, layer, &[op]);
            } else {
                self.add_pill_beside(tensor, op, &mut pills_beside[op]);
            }
        }
    }

    /// Whether the pill of a tensor from outside that only `op` reads is above the op and not
    /// beside it.
    fn is_pill_above(&self, tensor: TensorId, op: OpId) -> bool {
        let inputs = &self.graph.inputs[op];
        let is_main_input = || {
            self.graph.tensors[tensor].role == TensorRole::Input && inputs.first() == Some(&tensor)
        };
        // Beside the kernel a pill widens the drawing. Above it, it is in the way of a pill whose
        // edges go on to other readers.
        let is_shared =
            |&input: &TensorId| self.may_share_pill(input, &self.graph.consumers[input]);
        let fits_above = || inputs.len() <= PILLS_ABOVE_OP && !inputs.iter().any(is_shared);
        let is_above = self.graph.predecessors[op].is_empty() && (is_main_input() || fits_above());
        match self.positions[op].approach {
            EdgeApproach::Top => is_above || self.open_sides(op) == OpenSides::Neither,
            EdgeApproach::Through => true,
            EdgeApproach::Side(_) => false,
        }
    }

    /// Whether one pill of a tensor from outside may serve these readers.
    fn may_share_pill(&self, tensor: TensorId, readers: &[OpId]) -> bool {
        self.graph.tensors[tensor].role == TensorRole::Input
            && (2..=SHARED_PILL_READERS).contains(&readers.len())
    }

    /// Whether there may be pills above the first of these kernels, those of what enters a body
    /// aside.
    fn needs_pills_above(&self, kernels: Range<usize>) -> bool {
        let is_within = |op: OpId| kernels.contains(&self.partition.kernel_of[op].index());
        let bodies = &self.bodies;
        let place = bodies.partition_point(|body| body.kernels.start < kernels.start);
        let body = bodies.get(place).filter(|body| body.kernels == kernels);
        let enters = |tensor| body.is_some_and(|body| body.enters.contains(&tensor));
        let kernel_of = |op: OpId| self.partition.kernel_of[op];
        let is_first = |kernel: &KernelId| {
            let members = self.partition.kernels[*kernel].iter();
            let mut producers = members.flat_map(|&op| self.graph.predecessors[op].iter());
            producers.all(|&producer| kernel_of(producer) == *kernel || !is_within(producer))
        };
        let first = kernels.clone().map(KernelId::new).filter(is_first);
        let mut ops = first.flat_map(|kernel| self.partition.kernels[kernel].iter());
        ops.any(|&op| {
            let mut inputs = self.graph.inputs[op].iter().copied();
            inputs.any(|tensor| {
                let is_shared = self.graph.tensors[tensor].role == TensorRole::Input
                    && self.graph.consumers[tensor].len() > 1;
                self.graph.tensors[tensor].is_external()
                    && !enters(tensor)
                    && (is_shared || self.is_pill_above(tensor, op))
            })
        })
    }

    fn open_sides(&self, op: OpId) -> OpenSides {
        let kernel = &self.kernels[self.partition.kernel_of[op]];
        open_sides(&kernel.graph, self.positions[op].node)
    }

    pub(super) fn new_pill(&mut self, tensor: TensorId, kind: PillKind) -> PillId {
        let name = self.graph.tensor_name(tensor);
        let text = fit_name(name, PILL_WIDTHS.1 - 2.0 * OP_PADDING, SMALL_FONT_PX);
        let width = (text_width(&text, SMALL_FONT_PX) + 2.0 * OP_PADDING)
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
        })
    }

    fn external_kind(&self, tensor: TensorId) -> PillKind {
        match self.graph.tensors[tensor].role {
            TensorRole::Input => PillKind::Input,
            TensorRole::Weight => PillKind::Weight,
        }
    }

    fn add_pill_above(&mut self, tensor: TensorId, layer: LayerId, readers: &[OpId]) {
        let pill = self.new_pill(tensor, self.external_kind(tensor));
        let half = self.layout.pills[pill].rect.width / 2.0;
        let node = self.outer.add_node(layer, half, half);
        self.pill_nodes.push((pill, node));
        self.add_net(tensor, EdgeEnd::Pill(pill), node, readers);
    }

    fn add_pill_beside(&mut self, tensor: TensorId, op: OpId, count: &mut usize) {
        let kernel = self.partition.kernel_of[op];
        *count += 1;
        if *count > PILLS_PER_OP
            && let Some(last) = self.side_pills[kernel].iter().rfind(|p| p.op == op)
        {
            let pill = &mut self.layout.pills[last.pill];
            pill.tensors.push(tensor);
            pill.text = format!("{} more", format_count(pill.tensors.len()));
            return;
        }
        let pill = self.new_pill(tensor, self.external_kind(tensor));
        let required = self.open_sides(op).only();
        self.side_pills[kernel].push(SidePill {
            pill,
            op,
            width: self.layout.pills[pill].rect.width,
            required,
        });
    }

    /// Leads a tensor from its source to all ops that read it.
    fn add_net(&mut self, tensor: TensorId, from: EdgeEnd, source: NodeId, readers: &[OpId]) {
        if readers.is_empty() {
            return;
        }
        let net = self.outer.add_net(source);
        let mut add_branch = |kernel: KernelId, port: Port| {
            let link = self.outer.add_target(net, self.kernel_node[kernel]);
            self.outer.links[link].is_beside = matches!(port, Port::Side);
            self.branches.push(Branch {
                tensor,
                from,
                kernel,
                link,
                port,
            });
            link
        };
        // Readers of one kernel need not follow each other in the list.
        let mut by_kernel: Vec<(KernelId, OpId)> = readers
            .iter()
            .map(|&op| (self.partition.kernel_of[op], op))
            .collect();
        by_kernel.sort_unstable();
        for readers in by_kernel.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(kernel, _)) = readers.first() else {
                continue;
            };
            // Lanes by the side that they need, with the rows and ops that they enter.
            let mut lanes: Vec<(Option<Side>, Enters)> = Vec::new();
            for &(_, op) in readers {
                let position = self.positions[op];
                match position.approach {
                    EdgeApproach::Top => {
                        add_branch(kernel, Port::Top(op));
                    }
                    EdgeApproach::Through => {
                        if let Some(entry) = self.kernels[kernel].entry(op, tensor) {
                            add_branch(kernel, Port::Entry(entry));
                        }
                    }
                    EdgeApproach::Side(side) => {
                        let enter = (position.row, op);
                        // An op that both sides reach joins any lane.
                        match lanes.iter_mut().find(|l| l.0 == side || side.is_none()) {
                            Some(lane) => lane.1.push(enter),
                            None => lanes.push((side, vec![enter])),
                        }
                    }
                }
            }
            for (required, mut enters) in lanes {
                enters.sort_unstable();
                let link = add_branch(kernel, Port::Side);
                self.lanes[kernel].push(Lane {
                    link,
                    enters,
                    required,
                    preferred: Side::Right,
                });
            }
        }
    }
}
