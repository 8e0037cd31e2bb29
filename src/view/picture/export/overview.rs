//! A graph whose words would be too small to read, as few paths.

use super::drawing::Drawing;
use super::element::SvgElement;
use super::graph::{drawing, frame};
use crate::picture::dag::DagLayout;
use crate::picture::dag::looks::Looks;
use crate::picture::dag::overview::{boxes, edges};
use crate::picture::dag::sight::Sight;
use crate::present::badge::kernel_looks;
use fuseline_core::Analysis;
use std::sync::Arc;

/// Finer details cannot be seen on paper.
const HALF_PX: f64 = 0.5;

/// The drawing of what is in `sight` of a layout of `analysis`, fused or op by op, for so many
/// pixels of paper a unit.
pub(super) fn overview(
    analysis: &Arc<Analysis>,
    layout: &DagLayout,
    sight: &Sight,
    is_fused: bool,
    scale: f64,
) -> Drawing {
    let path = |class: String, data: String| SvgElement::of_class("path", class).with("d", data);
    let boxes = boxes(layout, sight, &kernel_looks(&analysis.partition));
    let panels = boxes.panels.into_iter().filter(|_| is_fused);
    let panels = panels.map(|(look, data)| path(format!("dag-panel {}", look.class()), data));
    let looks = Looks::new(analysis.clone(), is_fused);
    let edges = edges(layout, sight, &looks, (HALF_PX / scale).floor().max(1.0)).into_iter();
    let edges = edges.map(|edges| {
        let width_px = edges.style.width_px;
        path(edges.style.class().to_owned(), edges.data).with("stroke-width", width_px)
    });
    let others = [
        ("dag-ops", boxes.ops),
        ("dag-weights", boxes.weights),
        ("dag-activations", boxes.activations),
    ];
    let others = others.map(|(class, data)| path(class.to_owned(), data));
    let all =
        SvgElement::of_class("g", "dag-overview").holding_all(panels.chain(edges).chain(others));
    let frames = layout.frames.iter().flat_map(frame);
    drawing(analysis, layout, is_fused, frames.chain([all]).collect())
}
