//! Very many parts of a placed graph as few paths, for a picture so small that nobody can read its words.

use super::looks::Looks;
use super::sight::Sight;
use super::{DagLayout, Edge, PillKind, Rect};
use crate::core::KernelId;
use crate::present::badge::COLORS;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Everything but the edges. Path data each, with corners on whole pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boxes {
    /// Panels of kernels: the kernels of one colour as one path, by the first kernel that has the colour.
    pub panels: Vec<(KernelId, String)>,
    /// Boxes of ops.
    pub ops: String,
    /// Pills of inputs and results.
    pub activations: String,
    /// Pills of weights.
    pub weights: String,
}

/// Edges that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    /// How they look.
    pub style: EdgeStyle,
    /// Their path data.
    pub data: String,
}

/// How an edge of an overview looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeStyle {
    /// It goes through memory.
    pub is_dram: bool,
    /// It brings a weight.
    pub is_weight: bool,
    /// Width of its line in whole pixels; 1 on chip.
    pub width_px: u8,
}

/// The panels, ops and pills in sight.
pub fn boxes(layout: &DagLayout, sight: &Sight) -> Boxes {
    let mut boxes = Boxes::default();
    let mut panels = vec![String::new(); COLORS];
    for &kernel in &sight.kernels {
        if let (Some(panel), Some(path)) = (
            layout.panels.get(kernel),
            panels.get_mut(kernel.index() % COLORS),
        ) {
            push_rect(path, panel);
        }
    }
    boxes.panels = (panels.into_iter().enumerate())
        .filter(|(_, path)| !path.is_empty())
        .map(|(kernel, path)| (KernelId::new(kernel), path))
        .collect();
    for op in sight.ops.iter().filter_map(|&op| layout.ops.get(op)) {
        push_rect(&mut boxes.ops, &op.rect);
    }
    for pill in sight
        .pills
        .iter()
        .filter_map(|&pill| layout.pills.get(pill))
    {
        let path = match pill.kind {
            PillKind::Weight => &mut boxes.weights,
            PillKind::Input | PillKind::Output => &mut boxes.activations,
        };
        push_rect(path, &pill.rect);
    }
    boxes
}

/// The edges in sight, thin and quiet ones first.
pub fn edges(layout: &DagLayout, sight: &Sight, looks: &Looks) -> Vec<Edges> {
    let mut paths: BTreeMap<EdgeStyle, String> = BTreeMap::new();
    for edge in sight
        .edges
        .iter()
        .filter_map(|&edge| layout.edges.get(edge))
    {
        let path = paths.entry(style(layout, edge, looks)).or_default();
        push_way(path, edge);
    }
    (paths.into_iter())
        .map(|(style, data)| Edges { style, data })
        .collect()
}

fn style(layout: &DagLayout, edge: &Edge, looks: &Looks) -> EdgeStyle {
    let look = looks.edge(edge);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an edge is between 1.5 and 7.5 pixels wide"
    )]
    let width_px = look.width_px.round() as u8;
    EdgeStyle {
        is_dram: look.is_dram,
        is_weight: layout.brings_weight(edge),
        width_px: if look.is_dram { width_px } else { 1 },
    }
}

fn push_rect(path: &mut String, rect: &Rect) {
    let [left, top, right, bottom] = [rect.x, rect.y, rect.right(), rect.bottom()].map(f64::round);
    // A string takes whatever is written to it.
    let _ = write!(path, "M{left} {top}H{right}V{bottom}H{left}Z");
}

fn push_way(path: &mut String, edge: &Edge) {
    for (place, point) in edge.points.iter().enumerate() {
        let command = if place == 0 { 'M' } else { 'L' };
        // As above.
        let _ = write!(path, "{command}{} {}", point.x.round(), point.y.round());
    }
}
