//! The parts of the graph's picture, each with an id by which `dag_updates` finds it again.
//!
//! Nothing here is reactive and nothing listens: with thousands of parts, one effect that writes what has
//! changed and one listener on the canvas cost less than one for each.

use super::badge::kernel_class;
use crate::core::{Analysis, OpId, OpType};
use crate::picture::dag::badge::badge;
use crate::picture::dag::looks::{ChipLook, EdgeLook, Looks, OpLook, PanelLook, PillLook};
use crate::picture::dag::path::path_data;
use crate::picture::dag::steps::Stop;
use crate::picture::dag::{DagLayout, Edge, EdgeEnd, OpBox, Pill, PillKind, Rect};
use leptos::prelude::*;

/// Radius of an edge's corners.
const CORNER: f64 = 10.0;
/// Radius of a box's and of a panel's corners.
const BOX_CORNER: &str = "7";
const PANEL_CORNER: &str = "12";

/// Id of the element of an op or a kernel.
pub(super) fn stop_id(stop: Stop) -> String {
    match stop {
        Stop::Op(op) => format!("dag-op-{op}"),
        Stop::Kernel(kernel) => format!("dag-kernel-{kernel}"),
    }
}

/// The op or kernel of an element's id.
pub(super) fn stop_of_id(id: &str) -> Option<Stop> {
    let number = |prefix| id.strip_prefix(prefix)?.parse().ok();
    number("dag-op-")
        .map(Stop::Op)
        .or_else(|| number("dag-kernel-").map(Stop::Kernel))
}

/// Everything in the picture, from the bottom to the top.
pub(super) fn picture(
    analysis: &Analysis,
    layout: &DagLayout,
    looks: &Looks,
) -> impl IntoView + use<> {
    let panels: Vec<_> = (layout.panels.iter().zip(&looks.panels).enumerate())
        .map(|(kernel, (panel, look))| kernel_view(kernel, *panel, look))
        .collect();
    let edges: Vec<_> = (layout.edges.iter().zip(&looks.edges).enumerate())
        .map(|(index, (edge, look))| edge_view(analysis, layout, index, edge, *look))
        .collect();
    let ops: Vec<_> = (layout.ops.iter().zip(&looks.ops).enumerate())
        .map(|(op, (place, look))| op_view(analysis, op, place, look))
        .collect();
    let chips: Vec<_> = (layout.chips.iter().zip(&looks.chips).enumerate())
        .filter_map(|(op, (place, look))| Some(chip_view(op, (*place)?, look)))
        .collect();
    let pills: Vec<_> = (layout.pills.iter().zip(&looks.pills).enumerate())
        .map(|(index, (pill, look))| pill_view(index, pill, look))
        .collect();
    view! {
        {panels}
        <g class="dag-edges" aria-hidden="true">{edges}</g>
        {ops}
        <g aria-hidden="true">{chips}</g>
        {pills}
    }
}

/// The panel of a kernel and the badge on its corner.
fn kernel_view(kernel: usize, panel: Rect, look: &PanelLook) -> AnyView {
    let id = stop_id(Stop::Kernel(kernel));
    let badge = badge(kernel, panel);
    view! {
        <g id=id.clone() class=format!("dag-kernel {}", kernel_class(kernel)) role="button" tabindex="-1" aria-pressed="false" aria-label=look.name.clone()>
            <title id=format!("{id}-name")>{look.name.clone()}</title>
            <rect class="dag-panel" x=panel.x y=panel.y width=panel.width height=panel.height rx=PANEL_CORNER></rect>
            <g class="dag-badge">
                <path d=badge.outline></path>
                <text x=badge.center.x y=badge.center.y + 4.0>{kernel + 1}</text>
            </g>
        </g>
    }
    .into_any()
}

/// The box of an op.
fn op_view(analysis: &Analysis, op: OpId, place: &OpBox, look: &OpLook) -> AnyView {
    let id = stop_id(Stop::Op(op));
    let (rect, middle) = (place.rect, place.rect.center());
    let kernel = analysis.partition.group_of.get(op).copied().unwrap_or(0);
    view! {
        <g class=format!("dag-op {}", kernel_class(kernel))>
            // The words stand beside the button, whose name says them in full where the box is too narrow.
            <g id=id.clone() class="dag-op-box" role="button" tabindex="-1" aria-pressed="false" aria-label=look.name.clone()>
                <title id=format!("{id}-name")>{look.name.clone()}</title>
                <rect x=rect.x y=rect.y width=rect.width height=rect.height rx=BOX_CORNER></rect>
            </g>
            <g class="dag-op-words" aria-hidden="true">
                <text x=middle.x y=middle.y - 3.0>
                    <tspan class="dag-function">{place.function.clone()}</tspan>
                    <tspan class="dag-label" dx="6">{place.label.clone()}</tspan>
                </text>
                <text id=format!("{id}-shape") class="dag-shape" x=middle.x y=middle.y + 11.5>{look.shape.clone()}</text>
            </g>
        </g>
    }
    .into_any()
}

/// An edge: a line through memory over a dotted one on chip, of which one is seen.
fn edge_view(
    analysis: &Analysis,
    layout: &DagLayout,
    index: usize,
    edge: &Edge,
    look: EdgeLook,
) -> AnyView {
    let is_weight = match edge.from {
        EdgeEnd::Pill(pill) => layout
            .pills
            .get(pill)
            .is_some_and(|p| p.kind == PillKind::Weight),
        EdgeEnd::Op(_) => false,
    };
    let class = format!(
        "dag-edge{}{}",
        if is_weight { " is-weight" } else { "" },
        if look.is_loud { " is-loud" } else { "" }
    );
    let data = path_data(&edge.points, CORNER);
    let quiet = may_be_quiet(analysis, edge)
        .then(|| view! { <path class="dag-quiet" d=data.clone()></path> });
    view! {
        <g id=format!("dag-edge-{index}") class=class>
            {quiet}
            <path id=format!("dag-edge-{index}-line") class="dag-loud" d=data stroke-width=look.width_px></path>
        </g>
    }
    .into_any()
}

/// Only tensors inside a kernel and around reshapes, which may be free views, ever leave memory out.
fn may_be_quiet(analysis: &Analysis, edge: &Edge) -> bool {
    let (from, to) = (op_at(edge.from), op_at(edge.to));
    let kernel = |op: OpId| analysis.partition.group_of.get(op);
    let is_reshape = |op: OpId| {
        let op = analysis.graph.ops.get(op);
        op.is_some_and(|op| op.op_type == OpType::Reshape)
    };
    from.zip(to).is_some_and(|(a, b)| kernel(a) == kernel(b))
        || from.is_some_and(is_reshape)
        || to.is_some_and(is_reshape)
}

/// The op at an end of an edge.
pub(super) const fn op_at(end: EdgeEnd) -> Option<OpId> {
    match end {
        EdgeEnd::Op(op) => Some(op),
        EdgeEnd::Pill(_) => None,
    }
}

/// The chip that says how large the output of an op is.
fn chip_view(op: OpId, place: Rect, look: &ChipLook) -> AnyView {
    let middle = place.center();
    let class = if look.is_shown {
        "dag-chip is-shown"
    } else {
        "dag-chip"
    };
    view! {
        <g id=format!("dag-chip-{op}") class=class>
            <title id=format!("dag-chip-{op}-title")>{look.title.clone()}</title>
            <rect
                id=format!("dag-chip-{op}-box")
                x=middle.x - look.width_px / 2.0
                y=place.y
                width=look.width_px
                height=place.height
                rx=place.height / 2.0
            ></rect>
            <text id=format!("dag-chip-{op}-text") x=middle.x y=middle.y + 4.0>{look.text.clone()}</text>
        </g>
    }
    .into_any()
}

/// The pill of a tensor that enters or leaves the program.
fn pill_view(index: usize, pill: &Pill, look: &PillLook) -> AnyView {
    let (rect, middle) = (pill.rect, pill.rect.center());
    let class = match pill.kind {
        PillKind::Input => "dag-pill is-input",
        PillKind::Weight => "dag-pill is-weight",
        PillKind::Output => "dag-pill is-output",
    };
    view! {
        <g id=format!("dag-pill-{index}") class=class role="img" aria-label=look.title.clone()>
            <title id=format!("dag-pill-{index}-title")>{look.title.clone()}</title>
            <rect x=rect.x y=rect.y width=rect.width height=rect.height rx=rect.height / 2.0></rect>
            <text class="dag-name" x=middle.x y=middle.y - 2.0>{pill.text.clone()}</text>
            <text id=format!("dag-pill-{index}-text") class="dag-bytes" x=middle.x y=middle.y + 10.0>{look.text.clone()}</text>
        </g>
    }
    .into_any()
}
