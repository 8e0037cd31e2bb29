//! A layout as SVG text with the page's classes: the page's drawing without a browser.

use fuseline::core::{Analysis, KernelId};
use fuseline::picture::dag::looks::Looks;
use fuseline::picture::dag::metrics::MARK_HALF;
use fuseline::picture::dag::path::path_data;
use fuseline::picture::dag::{DagLayout, PillKind, layout};
use fuseline::present::badge::kernel_looks;
use std::fmt::Write as _;
use std::sync::Arc;

/// The drawing of an analysis, fused or op by op.
pub(crate) fn svg(analysis: &Analysis, is_fused: bool) -> String {
    let picture = layout(&analysis.graph, &analysis.partition);
    draw(analysis, &picture, is_fused)
}

pub(crate) fn draw(analysis: &Analysis, picture: &DagLayout, is_fused: bool) -> String {
    let looks = Looks::new(Arc::new(analysis.clone()), is_fused);
    let kernel_looks = kernel_looks(&analysis.partition);
    let view = if is_fused { "is-fused" } else { "is-unfused" };
    let (width, height) = (picture.width, picture.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dag {view}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    );
    for frame in &picture.frames {
        let _ = writeln!(
            out,
            "<path class=\"dag-repeat-border\" d=\"{}\"/>",
            frame.path()
        );
    }
    let is_hidden = |kernel| !picture.repeats.shows_kernel(KernelId::new(kernel));
    for (kernel, panel) in picture.panels.iter().enumerate() {
        if is_hidden(kernel) {
            continue;
        }
        let _ = writeln!(
            out,
            "<rect class=\"dag-panel kernel-{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"12\"/>",
            kernel_looks[KernelId::new(kernel)].color + 1,
            panel.x,
            panel.y,
            panel.width,
            panel.height
        );
    }
    for edge in &picture.edges {
        let look = looks.edge(edge);
        let memory = if look.is_dram {
            "is-dram"
        } else {
            "is-on-chip"
        };
        let width = if look.is_dram { look.width_px } else { 1.5 };
        let _ = writeln!(
            out,
            "<path class=\"dag-edge {memory}\" stroke-width=\"{width:.2}\" d=\"{}\"/>",
            path_data(&edge.points, 10.0)
        );
    }
    for (id, op) in picture.ops.iter_enumerated() {
        if !picture.repeats.shows_op(id) {
            continue;
        }
        let look = looks.op(id, op.rect.width);
        let middle = op.rect.center();
        let _ = writeln!(
            out,
            "<g class=\"dag-op\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"7\"/><text class=\"dag-title\" x=\"{}\" y=\"{}\"><tspan class=\"dag-function\">{}</tspan><tspan class=\"dag-label\" dx=\"6\">{}</tspan></text><text class=\"dag-shape\" x=\"{}\" y=\"{}\">{}</text></g>",
            escaped(&look.name),
            op.rect.x,
            op.rect.y,
            op.rect.width,
            op.rect.height,
            middle.x,
            middle.y - 3.0,
            escaped(&op.function),
            escaped(&op.label),
            middle.x,
            middle.y + 11.5,
            escaped(&look.shape)
        );
    }
    for (kernel, panel) in picture.panels.iter().enumerate() {
        if is_hidden(kernel) {
            continue;
        }
        let _ = writeln!(
            out,
            "<g class=\"dag-badge kernel-{}\"><circle cx=\"{}\" cy=\"{}\" r=\"9.5\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            kernel_looks[KernelId::new(kernel)].color + 1,
            panel.x + 3.0,
            panel.y + 3.0,
            panel.x + 3.0,
            panel.y + 7.0,
            kernel + 1
        );
    }
    for (op, label) in picture.size_labels.iter_enumerated() {
        let look = looks.size_label(op);
        if let (Some(label), true) = (label, look.is_shown) {
            let width = look.width_px;
            let _ = writeln!(
                out,
                "<g class=\"dag-size-label\"><rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"9\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
                label.center().x - width / 2.0,
                label.y,
                label.height,
                label.center().x,
                label.center().y + 4.0,
                escaped(&look.text)
            );
        }
    }
    draw_pills(&mut out, picture, &looks);
    draw_tags(&mut out, picture, &looks);
    out.push_str("</svg>\n");
    out
}

fn draw_tags(out: &mut String, picture: &DagLayout, looks: &Looks) {
    for (frame, run) in picture.frames.iter().zip(picture.repeats.runs()) {
        let look = looks.repeat(run);
        let _ = writeln!(
            out,
            "<g class=\"dag-repeat-tag\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"13\"/><text x=\"{}\" y=\"{}\">{} {}</text></g>",
            look.name,
            frame.tag.x,
            frame.tag.y,
            frame.tag.width,
            frame.tag.height,
            frame.tag.x + 28.0,
            frame.tag.center().y + 4.5,
            look.count,
            look.bytes
        );
        for mark in frame.entries.iter().chain(&frame.exits) {
            let _ = writeln!(
                out,
                "<g class=\"dag-repeat-mark\"><circle cx=\"{}\" cy=\"{}\" r=\"{MARK_HALF}\"/></g>",
                mark.x, mark.y
            );
        }
    }
}

fn draw_pills(out: &mut String, picture: &DagLayout, looks: &Looks) {
    for pill in &picture.pills {
        let look = looks.pill(pill);
        let kind = match pill.kind {
            PillKind::Input => "is-input",
            PillKind::Weight => "is-weight",
            PillKind::Output => "is-output",
        };
        let (rect, middle) = (pill.rect, pill.rect.center());
        let _ = writeln!(
            out,
            "<g class=\"dag-pill {kind}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"15\"/><text class=\"dag-name\" x=\"{}\" y=\"{}\">{}</text><text class=\"dag-bytes\" x=\"{}\" y=\"{}\">{}</text></g>",
            rect.x,
            rect.y,
            rect.width,
            rect.height,
            middle.x,
            middle.y - 2.0,
            escaped(&pill.text),
            middle.x,
            middle.y + 10.0,
            escaped(&look.text)
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
