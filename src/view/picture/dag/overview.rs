//! The overview of a layout: its boxes and edges as a few paths, for scales at which texts cannot
//! be read.

use super::dag_layout::{DagLayout, Edge, PillKind};
use super::geometry::Rect;
use super::looks::{Looks, Way};
use super::sight::Sight;
use crate::picture::path_data::push_command;
use crate::present::badge::{COLORS, KernelLook};
use fuseline_core::{IdVec, KernelId};
use std::collections::BTreeMap;

/// Path data of everything but the edges, with corners on whole pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boxes {
    /// Panels of kernels: one path for each colour.
    pub panels: Vec<(KernelLook, String)>,
    pub ops: String,
    /// Pills of inputs and results.
    pub activations: String,
    pub weights: String,
}

/// Edges of one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    pub style: EdgeStyle,
    pub data: String,
}

/// The style of an edge in an overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeStyle {
    /// How the tensor comes to its reader.
    pub way: Way,
    /// The tensor is a weight.
    pub is_weight: bool,
    /// Width of the line in whole pixels; 1 for an on-chip edge.
    pub width_px: u8,
}

impl EdgeStyle {
    /// Its CSS classes.
    pub const fn class(self) -> &'static str {
        match (self.way, self.is_weight) {
            (Way::OnChip | Way::View, _) => "dag-on-chip",
            (Way::Dram, false) => "dag-dram",
            (Way::Dram, true) => "dag-dram is-weight",
        }
    }
}

/// The panels, ops and pills in sight; kernels have the colours of `looks`.
pub fn boxes(layout: &DagLayout, sight: &Sight, looks: &IdVec<KernelId, KernelLook>) -> Boxes {
    let mut boxes = Boxes::default();
    let mut panels = vec![String::new(); COLORS];
    for &kernel in &sight.kernels {
        if let (Some(panel), Some(path)) = (
            layout.panels.get(kernel),
            looks
                .get(kernel)
                .and_then(|look| panels.get_mut(look.color)),
        ) {
            push_rect(path, panel);
        }
    }
    boxes.panels = (panels.into_iter().enumerate())
        .filter(|(_, path)| !path.is_empty())
        .map(|(color, path)| (KernelLook { color, form: 0 }, path))
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

/// The edges in sight: on-chip edges first, then thin ones. Corners are on multiples of `step_px`,
/// and those that fall together are one.
pub fn edges(layout: &DagLayout, sight: &Sight, looks: &Looks, step_px: f64) -> Vec<Edges> {
    let mut paths: BTreeMap<EdgeStyle, String> = BTreeMap::new();
    for edge in sight
        .edges
        .iter()
        .filter_map(|&edge| layout.edges.get(edge))
    {
        let path = paths.entry(style(layout, edge, looks)).or_default();
        push_polyline(path, edge, step_px);
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
        reason = "an edge is between 1.5 and 8 pixels wide"
    )]
    let width_px = look.width_px.round() as u8;
    EdgeStyle {
        way: look.way,
        is_weight: layout.brings_weight(edge),
        width_px: if look.way == Way::Dram { width_px } else { 1 },
    }
}

fn push_rect(path: &mut String, rect: &Rect) {
    let [left, top, right, bottom] = [rect.x, rect.y, rect.right(), rect.bottom()].map(f64::round);
    push_command(path, "M", &[left, top]);
    push_command(path, "H", &[right]);
    push_command(path, "V", &[bottom]);
    push_command(path, "H", &[left]);
    path.push('Z');
}

fn push_polyline(path: &mut String, edge: &Edge, step_px: f64) {
    let mut last = None;
    for point in &edge.points {
        let corner = [point.x, point.y].map(|px| (px / step_px).round() * step_px);
        if last != Some(corner) {
            push_command(path, if last.is_none() { "M" } else { "L" }, &corner);
            last = Some(corner);
        }
    }
}
