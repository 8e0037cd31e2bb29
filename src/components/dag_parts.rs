//! The parts of the graph's picture. Each takes its place from the layout once, and its texts and widths
//! from the numbers whenever they change.

use super::badge::kernel_class;
use super::dag_view::{Dag, Placed, stop_id};
use crate::core::{Analysis, OpId, OpType};
use crate::picture::dag::badge::badge;
use crate::picture::dag::looks::{ChipLook, EdgeLook, OpLook, PanelLook, PillLook};
use crate::picture::dag::metrics::{FONT_PX, text_width};
use crate::picture::dag::path::path_data;
use crate::picture::dag::steps::Stop;
use crate::picture::dag::{Edge, EdgeEnd, PillKind, Rect};
use crate::state::Selection;
use leptos::prelude::*;

/// Radius of an edge's corners.
const CORNER: f64 = 10.0;
/// Radius of a box's and of a panel's corners.
const BOX_CORNER: &str = "7";
const PANEL_CORNER: &str = "12";

/// The panel of a kernel and the badge on its corner.
pub(super) fn kernel_view(dag: Dag, placed: &Placed, kernel: usize) -> AnyView {
    let Some(&panel) = placed.layout.panels.get(kernel) else {
        return ().into_any();
    };
    let stop = Stop::Kernel(kernel);
    let badge = badge(kernel, panel);
    let name = move || {
        let look = |l: &PanelLook| l.name.clone();
        dag.looks
            .with(|looks| looks.panels.get(kernel).map(look).unwrap_or_default())
    };
    let is_selected = move || dag.selection.get() == Selection::Kernel(kernel);
    view! {
        <g
            id=stop_id(stop)
            class=format!("dag-kernel {}", kernel_class(kernel))
            class:is-selected=is_selected
            role="button"
            tabindex=move || tab_index(dag, stop)
            aria-label=name
            aria-pressed=move || is_selected().to_string()
            on:click=move |event| dag.click(&event, Selection::Kernel(kernel))
            on:focus=move |_| dag.focused(stop)
            on:keydown=move |event| dag.key_on(&event, stop)
        >
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
pub(super) fn op_view(dag: Dag, placed: &Placed, op: OpId) -> AnyView {
    let Some(place) = placed.layout.ops.get(op) else {
        return ().into_any();
    };
    let (rect, middle) = (place.rect, place.rect.center());
    let kernel = placed.analysis.partition.group_of.get(op).copied();
    let stop = Stop::Op(op);
    let text = move |part: fn(&OpLook) -> String| {
        move || {
            dag.looks
                .with(|looks| looks.ops.get(op).map(part).unwrap_or_default())
        }
    };
    let is_selected = move || dag.selection.get() == Selection::Op(op);
    view! {
        <g
            class=format!("dag-op {}", kernel.map(kernel_class).unwrap_or_default())
            class:is-selected=is_selected
            on:click=move |event| dag.click(&event, Selection::Op(op))
        >
            // The words stand beside the button, whose name says them in full where the box is too narrow.
            <g
                id=stop_id(stop)
                class="dag-op-box"
                role="button"
                tabindex=move || tab_index(dag, stop)
                aria-label=text(|o| o.name.clone())
                aria-pressed=move || is_selected().to_string()
                on:focus=move |_| dag.focused(stop)
                on:keydown=move |event| dag.key_on(&event, stop)
            >
                <title>{text(|o| o.name.clone())}</title>
                <rect x=rect.x y=rect.y width=rect.width height=rect.height rx=BOX_CORNER></rect>
            </g>
            <g class="dag-op-words" aria-hidden="true">
                <text x=middle.x y=middle.y - 3.0>
                    <tspan class="dag-function">{place.function.clone()}</tspan>
                    <tspan class="dag-label" dx="6">{place.label.clone()}</tspan>
                </text>
                <text class="dag-shape" x=middle.x y=middle.y + 11.5>{text(|o| o.shape.clone())}</text>
            </g>
        </g>
    }
    .into_any()
}

/// An edge: a line through memory over a dotted one on chip, of which one is seen.
pub(super) fn edge_view(dag: Dag, placed: &Placed, index: usize) -> AnyView {
    let Some(edge) = placed.layout.edges.get(index) else {
        return ().into_any();
    };
    let look = move |part: fn(&EdgeLook) -> f64| {
        move || {
            dag.looks
                .with(|looks| looks.edges.get(index).map_or(0.0, part))
        }
    };
    let is_loud = move || {
        dag.looks
            .with(|looks| looks.edges.get(index).is_none_or(|e| e.is_loud))
    };
    let (from, to) = (op_at(edge.from), op_at(edge.to));
    let kernel_of =
        |op: Option<OpId>| op.and_then(|op| placed.analysis.partition.group_of.get(op).copied());
    let (from_kernel, to_kernel) = (kernel_of(from), kernel_of(to));
    let is_touched = move || match dag.selection.get() {
        Selection::Nothing => false,
        Selection::Op(op) => from == Some(op) || to == Some(op),
        Selection::Kernel(kernel) => from_kernel == Some(kernel) || to_kernel == Some(kernel),
    };
    let pill = match edge.from {
        EdgeEnd::Pill(pill) => placed.layout.pills.get(pill),
        EdgeEnd::Op(_) => None,
    };
    let class = match pill.map(|pill| pill.kind) {
        Some(PillKind::Weight) => "dag-edge is-weight",
        _ => "dag-edge",
    };
    let data = path_data(&edge.points, CORNER);
    let quiet = may_be_quiet(&placed.analysis, edge)
        .then(|| view! { <path class="dag-quiet" d=data.clone()></path> });
    view! {
        <g class=class class:is-loud=is_loud class:is-touched=is_touched>
            {quiet}
            <path class="dag-loud" d=data stroke-width=look(|e| e.width_px)></path>
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

const fn op_at(end: EdgeEnd) -> Option<OpId> {
    match end {
        EdgeEnd::Op(op) => Some(op),
        EdgeEnd::Pill(_) => None,
    }
}

/// The chip that says how large the output of an op is.
pub(super) fn chip_view(dag: Dag, op: OpId, place: Rect) -> AnyView {
    let middle = place.center();
    let chip = move |part: fn(&ChipLook) -> String| {
        move || {
            dag.looks
                .with(|looks| looks.chips.get(op).map(part).unwrap_or_default())
        }
    };
    let is_shown = move || {
        dag.looks
            .with(|looks| looks.chips.get(op).is_some_and(|c| c.is_shown))
    };
    let width = Memo::new(move |_| {
        let text = |c: &ChipLook| text_width(&c.text, FONT_PX.1) + 14.0;
        let width = dag
            .looks
            .with(|looks| looks.chips.get(op).map_or(0.0, text));
        width.min(place.width)
    });
    view! {
        <g class="dag-chip" class:is-shown=is_shown>
            <title>{chip(|c| c.title.clone())}</title>
            <rect x=move || middle.x - width.get() / 2.0 y=place.y width=width height=place.height rx=place.height / 2.0></rect>
            <text x=middle.x y=middle.y + 4.0>{chip(|c| c.text.clone())}</text>
        </g>
    }
    .into_any()
}

/// The pill of a tensor that enters or leaves the program.
pub(super) fn pill_view(dag: Dag, placed: &Placed, index: usize) -> AnyView {
    let Some(pill) = placed.layout.pills.get(index) else {
        return ().into_any();
    };
    let (rect, middle) = (pill.rect, pill.rect.center());
    let text = move |part: fn(&PillLook) -> String| {
        move || {
            dag.looks
                .with(|looks| looks.pills.get(index).map(part).unwrap_or_default())
        }
    };
    let class = match pill.kind {
        PillKind::Input => "dag-pill is-input",
        PillKind::Weight => "dag-pill is-weight",
        PillKind::Output => "dag-pill is-output",
    };
    view! {
        <g class=class role="img" aria-label=text(|p| p.title.clone())>
            <title>{text(|p| p.title.clone())}</title>
            <rect x=rect.x y=rect.y width=rect.width height=rect.height rx=rect.height / 2.0></rect>
            <text class="dag-name" x=middle.x y=middle.y - 2.0>{pill.text.clone()}</text>
            <text class="dag-bytes" x=middle.x y=middle.y + 10.0>{text(|p| p.text.clone())}</text>
        </g>
    }
    .into_any()
}

fn tab_index(dag: Dag, stop: Stop) -> &'static str {
    if dag.stop.get() == stop { "0" } else { "-1" }
}
