//! The box of a kernel.

use super::placed::StoredGraph;
use super::plan::MergeRole;
use super::state::Graph;
use crate::app::state::Page;
use fuseline_core::KernelId;
use fuseline_view::picture::dag::Rect;
use fuseline_view::picture::dag::badge::badge;
use fuseline_view::picture::dag::focus::FocusTarget;
use fuseline_view::present::pinned::KernelAgainst;
use leptos::prelude::*;

/// A box around the ops of a kernel, with the number of the kernel. It can be dragged onto another
/// one.
#[component]
pub(super) fn KernelBox(graph: Graph, placed: StoredGraph, kernel: KernelId) -> impl IntoView {
    let placed = placed.get_value();
    let panel = *placed.layout.panels.get(kernel)?;
    let look = placed.kernel_looks.get(kernel).copied().unwrap_or_default();
    let badge = badge(kernel, look.form, panel);
    let target = FocusTarget::Kernel(kernel);
    let number = placed.number;
    let name = graph.name(number, move |looks| looks.panel_name(kernel));
    let is_selected = move || graph.is_selected(target);
    let role = move || graph.merge_role(target);
    let page = Page::of_context();
    let is_new = move || {
        page.against.kernels.with(|all| {
            let against = all.as_ref().and_then(|all| all.get(kernel));
            against == Some(&KernelAgainst::New)
        })
    };
    let name = move || {
        let against = if is_new() {
            ", not in the pinned state"
        } else {
            ""
        };
        format!("{}{against}", name.get())
    };
    let node = NodeRef::new();
    graph.take_requests(target, node);
    let first_op = *placed.analysis.partition.kernels.get(kernel)?.first()?;
    let (panel_node, badge_node) = (NodeRef::new(), NodeRef::new());
    graph.grow(panel_node, |motion| motion.panel(first_op));
    graph.travel(badge_node, corner(panel), |motion| {
        motion.panel(first_op).map(corner)
    });
    Some(view! {
        <g
            class=format!("dag-kernel {}", look.class())
            class:is-selected=is_selected
            class:is-new=is_new
            class:is-merging=move || role() == Some(MergeRole::Merging)
            class:is-partner=move || role() == Some(MergeRole::Partner)
            class:is-refused=move || role() == Some(MergeRole::Refused)
            role="button"
            tabindex=move || graph.tab_index(target)
            aria-pressed=move || is_selected().to_string()
            aria-label=name
            node_ref=node
            on:pointerdown=move |event| graph.press_part(target, &event)
            on:click=move |event| {
                event.stop_propagation();
                graph.click(target);
            }
            on:focus=move |_| graph.on_focus(target)
            on:blur=move |_| graph.on_blur(number)
        >
            <title>{name}</title>
            <rect class="dag-panel" node_ref=panel_node x=panel.x y=panel.y width=panel.width height=panel.height rx="12"></rect>
            <g class="dag-badge" node_ref=badge_node>
                <path d=badge.outline></path>
                <text x=badge.center.x y=badge.center.y + 4.0>{kernel.number()}</text>
            </g>
        </g>
    })
}

/// The upper left corner of a panel, where its badge is.
fn corner(panel: Rect) -> Rect {
    Rect {
        width: 1.0,
        height: 1.0,
        ..panel
    }
}
