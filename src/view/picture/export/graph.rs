//! The graph as elements of SVG, with the classes of the page.

use super::drawing::Drawing;
use super::element::SvgElement;
use crate::picture::dag::badge::badge;
use crate::picture::dag::frames::{Frame, ROUND};
use crate::picture::dag::looks::{Looks, Way};
use crate::picture::dag::metrics::MARK_HALF;
use crate::picture::dag::path::path_data;
use crate::picture::dag::repeats::Repeat;
use crate::picture::dag::{DagLayout, Edge, Pill, PillKind, Rect};
use crate::picture::path_data::rounded;
use crate::present::badge::{KernelLook, kernel_looks};
use crate::present::headline::headline;
use fuseline_core::{Analysis, KernelId, OpId};
use std::sync::Arc;

/// Radius of the corners of an edge.
const CORNER: f64 = 10.0;

/// The drawing of a layout of `analysis`, fused or op by op.
pub fn graph(analysis: &Arc<Analysis>, layout: &DagLayout, is_fused: bool) -> Drawing {
    let looks = Looks::new(analysis.clone(), is_fused);
    let kernel_looks = kernel_looks(&analysis.partition);
    let kernel_look = |kernel: KernelId| kernel_looks.get(kernel).copied().unwrap_or_default();
    let look_of = |op: OpId| {
        let kernel = analysis.partition.kernel_of.get(op).copied();
        kernel.map(kernel_look).unwrap_or_default()
    };
    let (repeats, runs) = (&layout.repeats, layout.repeats.runs());
    let frames = layout.frames.iter().flat_map(frame);
    let kernels = layout.panels.iter_enumerated();
    let kernels = kernels
        .filter(|&(kernel, _)| is_fused && repeats.shows_kernel(kernel))
        .map(|(kernel, &panel)| {
            let name = looks.panel_name(kernel);
            kernel_box(kernel, panel, kernel_look(kernel), name)
        });
    let edges = (layout.edges.iter()).map(|edge| edge_line(layout, edge, &looks));
    let ops = layout.ops.iter_enumerated();
    let ops = ops
        .filter(|&(op, _)| layout.shows_op(op))
        .map(|(op, place)| {
            let inside = layout.inside(op);
            let look = looks.op(op, &inside, place.rect.width);
            let middle = place.rect.center();
            let words = text(middle.x, middle.y - 3.0)
                .holding(span("dag-function", &place.function))
                .holding(span("dag-label", &place.label).with("dx", 6));
            let shape = SvgElement {
                text: look.second_line,
                ..text(middle.x, middle.y + 11.5).with("class", "dag-shape")
            };
            SvgElement::of_class("g", format!("dag-op {}", look_of(op).class()))
                .holding(SvgElement::words("title", looks.op_name(op, &inside)))
                .holding(rect(place.rect, 7.0))
                .holding(words)
                .holding(shape)
        });
    let labels = layout.size_labels.iter_enumerated();
    let labels = labels.filter_map(|(op, label)| Some(size_label((*label)?, op, &looks)));
    let pills = layout.pills.iter().map(|place| pill(place, &looks));
    let tags = layout.frames.iter().zip(runs);
    let tags = tags.flat_map(|(frame, run)| tag(frame, run, &looks));
    let elements = frames.chain(kernels).chain(edges).chain(ops);
    let elements = elements.chain(labels).chain(pills).chain(tags);
    drawing(analysis, layout, is_fused, elements.collect())
}

/// The drawing of a graph that has these elements.
pub(super) fn drawing(
    analysis: &Analysis,
    layout: &DagLayout,
    is_fused: bool,
    elements: Vec<SvgElement>,
) -> Drawing {
    Drawing {
        class: if is_fused { "dag" } else { "dag is-unfused" },
        size: layout.size(),
        title: if is_fused { "Graph" } else { "Graph, unfused" }.to_owned(),
        description: headline(analysis).sentence(),
        elements,
    }
}

fn px(value: f64) -> f64 {
    rounded(value, 2)
}

fn rect(place: Rect, radius: f64) -> SvgElement {
    SvgElement::new("rect")
        .with("x", px(place.x))
        .with("y", px(place.y))
        .with("width", px(place.width))
        .with("height", px(place.height))
        .with("rx", px(radius))
}

fn text(x: f64, y: f64) -> SvgElement {
    SvgElement::new("text").with("x", px(x)).with("y", px(y))
}

fn words(x: f64, y: f64, words: impl Into<String>) -> SvgElement {
    SvgElement {
        text: words.into(),
        ..text(x, y)
    }
}

fn span(class: &str, words: &str) -> SvgElement {
    SvgElement {
        text: words.to_owned(),
        ..SvgElement::of_class("tspan", class)
    }
}

pub(super) fn frame(frame: &Frame) -> impl Iterator<Item = SvgElement> {
    let parts = frame.parts.iter();
    let parts = parts.map(|&part| rect(part, 16.0).with("class", "dag-repeat-ground"));
    let border = SvgElement::of_class("path", "dag-repeat-border").with("d", frame.path());
    parts.chain([border])
}

fn kernel_box(kernel: KernelId, panel: Rect, look: KernelLook, name: String) -> SvgElement {
    let badge = badge(kernel, look.form, panel);
    let number = kernel.number().to_string();
    let badge = SvgElement::of_class("g", "dag-badge")
        .holding(SvgElement::new("path").with("d", badge.outline))
        .holding(words(badge.center.x, badge.center.y + 4.0, number));
    SvgElement::of_class("g", format!("dag-kernel {}", look.class()))
        .holding(SvgElement::words("title", name))
        .holding(rect(panel, 12.0).with("class", "dag-panel"))
        .holding(badge)
}

fn edge_line(layout: &DagLayout, edge: &Edge, looks: &Looks) -> SvgElement {
    let look = looks.edge(edge);
    let path =
        |class| SvgElement::of_class("path", class).with("d", path_data(&edge.points, CORNER));
    let line = match look.way {
        Way::Dram => path("dag-dram").with("stroke-width", px(look.width_px)),
        Way::OnChip | Way::View => path("dag-on-chip"),
    };
    let weight = if layout.brings_weight(edge) {
        " is-weight"
    } else {
        ""
    };
    SvgElement::of_class("g", format!("{}{weight}", look.way.class())).holding(line)
}

fn size_label(place: Rect, op: OpId, looks: &Looks) -> SvgElement {
    let look = looks.size_label(op, place.width);
    let middle = place.center();
    let ground = Rect {
        x: middle.x - look.width_px / 2.0,
        width: look.width_px,
        ..place
    };
    let text = words(look.text_x(middle.x), middle.y + 4.0, look.text.as_str());
    if !look.is_dram {
        return SvgElement::of_class("g", "dag-size-label").holding(text);
    }
    SvgElement::of_class("g", "dag-size-label is-dram")
        .holding(SvgElement::words("title", looks.size_label_title(op)))
        .holding(rect(ground, place.height / 2.0))
        .holding(text)
}

fn pill(pill: &Pill, looks: &Looks) -> SvgElement {
    let class = match pill.kind {
        PillKind::Input => "dag-pill is-input",
        PillKind::Weight => "dag-pill is-weight",
        PillKind::Output => "dag-pill is-output",
    };
    let middle = pill.rect.center();
    let name = words(middle.x, middle.y - 2.0, pill.text.as_str()).with("class", "dag-name");
    let bytes = words(middle.x, middle.y + 10.0, looks.pill_text(pill)).with("class", "dag-bytes");
    SvgElement::of_class("g", class)
        .holding(SvgElement::words("title", looks.pill_title(pill)))
        .holding(rect(pill.rect, pill.rect.height / 2.0))
        .holding(name)
        .holding(bytes)
}

/// The marks on the border of a frame, and its tag.
fn tag(frame: &Frame, run: &Repeat, looks: &Looks) -> impl Iterator<Item = SvgElement> {
    let look = looks.repeat(run);
    let marks = frame.entries.iter().chain(&frame.exits).map(|at| {
        let place = format!("translate({} {})", px(at.x), px(at.y));
        SvgElement::of_class("g", "dag-repeat-mark")
            .with("transform", place)
            .holding(SvgElement::new("circle").with("r", MARK_HALF))
            .holding(SvgElement::new("path").with("d", ROUND))
    });
    // Without the plus of the page: nothing unfolds in a file.
    let words = text(frame.tag.x + 14.0, frame.tag.center().y + 4.5)
        .holding(span("dag-function", &look.count))
        .holding(span("dag-label", &look.bytes).with("dx", 7));
    let tag = SvgElement::of_class("g", "dag-repeat-tag")
        .holding(rect(frame.tag, frame.tag.height / 2.0))
        .holding(words);
    marks.chain([tag])
}
