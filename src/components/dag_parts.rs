//! The parts of the graph's picture, each with an id by which `dag_updates` finds it again.
//!
//! Nothing here is reactive and nothing listens: with thousands of parts, one effect that writes what has
//! changed and one listener on the canvas cost less than one for each.

use crate::components::badge::kernel_class;
use crate::core::{Analysis, OpId, OpType};
use crate::markup::Markup;
use crate::picture::dag::badge::badge;
use crate::picture::dag::looks::{EdgeLook, Looks, OpLook, PanelLook, PillLook, SizeLabelLook};
use crate::picture::dag::path::path_data;
use crate::picture::dag::steps::FocusTarget as Stop;
use crate::picture::dag::{DagLayout, Edge, EdgeEnd, OpBox, Pill, PillKind, Rect};

/// Radius of an edge's corners.
const CORNER: f64 = 10.0;

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
pub(super) fn picture(analysis: &Analysis, layout: &DagLayout, looks: &Looks) -> Markup {
    let mut markup = Markup::new();
    for (kernel, (panel, look)) in layout.panels.iter().zip(&looks.panels).enumerate() {
        kernel_part(&mut markup, kernel, *panel, look);
    }
    markup.raw(r#"<g class="dag-edges" aria-hidden="true">"#);
    for (index, (edge, look)) in layout.edges.iter().zip(&looks.edges).enumerate() {
        edge_part(&mut markup, analysis, layout, (index, edge), *look);
    }
    markup.raw("</g>");
    for (op, (place, look)) in layout.ops.iter().zip(&looks.ops).enumerate() {
        op_part(&mut markup, analysis, op, place, look);
    }
    markup.raw(r#"<g aria-hidden="true">"#);
    for (op, (place, look)) in layout
        .size_labels
        .iter()
        .zip(&looks.size_labels)
        .enumerate()
    {
        if let Some(place) = place {
            size_label_part(&mut markup, op, *place, look);
        }
    }
    markup.raw("</g>");
    for (index, (pill, look)) in layout.pills.iter().zip(&looks.pills).enumerate() {
        pill_part(&mut markup, index, pill, look);
    }
    markup
}

/// The panel of a kernel and the badge on its corner.
fn kernel_part(markup: &mut Markup, kernel: usize, panel: Rect, look: &PanelLook) {
    let id = stop_id(Stop::Kernel(kernel));
    let badge = badge(kernel, panel);
    markup.fill(
        r#"<g id="{}" class="{}" role="button" tabindex="-1" aria-pressed="false" aria-label="{}"><title id="{}">{}</title>"#,
        &[
            &id,
            &["dag-kernel ", &kernel_class(kernel)].concat(),
            &look.name,
            &[&id, "-name"].concat(),
            &look.name,
        ],
    );
    rect(
        markup,
        r#"<rect class="dag-panel" x="{}" y="{}" width="{}" height="{}" rx="12"></rect>"#,
        panel,
    );
    markup.fill(
        r#"<g class="dag-badge"><path d="{}"></path><text x="{}" y="{}">{}</text></g></g>"#,
        &[
            &badge.outline,
            &badge.center.x.to_string(),
            &(badge.center.y + 4.0).to_string(),
            &(kernel + 1).to_string(),
        ],
    );
}

/// The box of an op. The words stand beside the button, whose name says them in full where the box is too narrow.
fn op_part(markup: &mut Markup, analysis: &Analysis, op: OpId, place: &OpBox, look: &OpLook) {
    let id = stop_id(Stop::Op(op));
    let middle = place.rect.center();
    let kernel = analysis.partition.group_of.get(op).copied().unwrap_or(0);
    markup.fill(
        r#"<g class="{}"><g id="{}" class="dag-op-box" role="button" tabindex="-1" aria-pressed="false" aria-label="{}"><title id="{}">{}</title>"#,
        &[
            &["dag-op ", &kernel_class(kernel)].concat(),
            &id,
            &look.name,
            &[&id, "-name"].concat(),
            &look.name,
        ],
    );
    rect(
        markup,
        r#"<rect x="{}" y="{}" width="{}" height="{}" rx="7"></rect></g>"#,
        place.rect,
    );
    let x = middle.x.to_string();
    markup.fill(
        r#"<g class="dag-op-words" aria-hidden="true"><text x="{}" y="{}"><tspan class="dag-function">{}</tspan><tspan class="dag-label" dx="6">{}</tspan></text><text id="{}" class="dag-shape" x="{}" y="{}">{}</text></g></g>"#,
        &[
            &x,
            &(middle.y - 3.0).to_string(),
            &place.function,
            &place.label,
            &[&id, "-shape"].concat(),
            &x,
            &(middle.y + 11.5).to_string(),
            &look.shape,
        ],
    );
}

/// An edge: a line through memory over a dotted one on chip, of which one is seen.
fn edge_part(
    markup: &mut Markup,
    analysis: &Analysis,
    layout: &DagLayout,
    (index, edge): (usize, &Edge),
    look: EdgeLook,
) {
    let is_weight = match edge.from {
        EdgeEnd::Pill(pill) => (layout.pills.get(pill)).is_some_and(|p| p.kind == PillKind::Weight),
        EdgeEnd::Op(_) => false,
    };
    let class = match (is_weight, look.is_dram) {
        (false, false) => "dag-edge",
        (true, false) => "dag-edge is-weight",
        (false, true) => "dag-edge is-dram",
        (true, true) => "dag-edge is-weight is-dram",
    };
    let data = path_data(&edge.points, CORNER);
    let id = ["dag-edge-", &index.to_string()].concat();
    markup.fill(r#"<g id="{}" class="{}">"#, &[&id, class]);
    if may_stay_on_chip(analysis, edge) {
        markup.fill(r#"<path class="dag-on-chip" d="{}"></path>"#, &[&data]);
    }
    markup.fill(
        r#"<path id="{}" class="dag-dram" d="{}" stroke-width="{}"></path></g>"#,
        &[&[&id, "-line"].concat(), &data, &look.width_px.to_string()],
    );
}

/// Only tensors inside a kernel and around reshapes, which may be free views, ever leave memory out.
fn may_stay_on_chip(analysis: &Analysis, edge: &Edge) -> bool {
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

/// The size label, which says how large the output of an op is.
fn size_label_part(markup: &mut Markup, op: OpId, place: Rect, look: &SizeLabelLook) {
    let middle = place.center();
    let class = if look.is_shown {
        "dag-size-label is-shown"
    } else {
        "dag-size-label"
    };
    let id = ["dag-size-label-", &op.to_string()].concat();
    markup.fill(
        r#"<g id="{}" class="{}"><title id="{}">{}</title><rect id="{}""#,
        &[
            &id,
            class,
            &[&id, "-title"].concat(),
            &look.title,
            &[&id, "-box"].concat(),
        ],
    );
    pill_shape(
        markup,
        Rect {
            x: middle.x - look.width_px / 2.0,
            width: look.width_px,
            ..place
        },
    );
    markup.fill(
        r#"<text id="{}" x="{}" y="{}">{}</text></g>"#,
        &[
            &[&id, "-text"].concat(),
            &middle.x.to_string(),
            &(middle.y + 4.0).to_string(),
            &look.text,
        ],
    );
}

/// The pill of a tensor that enters or leaves the program.
fn pill_part(markup: &mut Markup, index: usize, pill: &Pill, look: &PillLook) {
    let class = match pill.kind {
        PillKind::Input => "dag-pill is-input",
        PillKind::Weight => "dag-pill is-weight",
        PillKind::Output => "dag-pill is-output",
    };
    let id = ["dag-pill-", &index.to_string()].concat();
    let middle = pill.rect.center();
    let x = middle.x.to_string();
    markup.fill(
        r#"<g id="{}" class="{}" role="img" aria-label="{}"><title id="{}">{}</title><rect"#,
        &[
            &id,
            class,
            &look.title,
            &[&id, "-title"].concat(),
            &look.title,
        ],
    );
    pill_shape(markup, pill.rect);
    markup.fill(
        r#"<text class="dag-name" x="{}" y="{}">{}</text><text id="{}" class="dag-bytes" x="{}" y="{}">{}</text></g>"#,
        &[
            &x,
            &(middle.y - 2.0).to_string(),
            &pill.text,
            &[&id, "-text"].concat(),
            &x,
            &(middle.y + 10.0).to_string(),
            &look.text,
        ],
    );
}

fn rect(markup: &mut Markup, template: &'static str, rect: Rect) {
    markup.numbers(template, &[rect.x, rect.y, rect.width, rect.height]);
}

/// The rest of a `<rect` with round ends.
fn pill_shape(markup: &mut Markup, rect: Rect) {
    markup.numbers(
        r#" x="{}" y="{}" width="{}" height="{}" rx="{}"></rect>"#,
        &[rect.x, rect.y, rect.width, rect.height, rect.height / 2.0],
    );
}
