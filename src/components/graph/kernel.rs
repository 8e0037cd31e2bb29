//! The panel of a kernel.

use super::by_hand::PlanRole;
use super::state::{Graph, PlacedOnce};
use crate::core::KernelId;
use crate::picture::dag::badge::badge;
use crate::picture::dag::focus::FocusTarget;
use crate::present::badge::kernel_class;
use leptos::prelude::*;

/// A panel around the ops of a kernel, with the kernel's number on its corner. It can be dragged onto another one.
#[component]
pub(super) fn KernelPart(
    /// The graph.
    graph: Graph,
    /// Its layout.
    placed: PlacedOnce,
    /// The kernel.
    kernel: KernelId,
) -> impl IntoView {
    let placed = placed.get_value();
    let panel = *placed.layout.panels.get(kernel)?;
    let badge = badge(kernel, panel);
    let target = FocusTarget::Kernel(kernel);
    let number = placed.number;
    let name = graph.look(number, move |looks| looks.panel_name(kernel));
    let name = move || name.get();
    let is_selected = move || graph.is_selected(target);
    let role = move || graph.role_in_plan(kernel);
    let node = NodeRef::new();
    graph.take_focus(target, node);
    Some(view! {
        <g
            class=format!("dag-kernel {}", kernel_class(kernel))
            class:is-selected=is_selected
            class:is-merging=move || role() == Some(PlanRole::Merging)
            class:is-partner=move || role() == Some(PlanRole::Partner)
            class:is-refused=move || role() == Some(PlanRole::Refused)
            role="button"
            tabindex=move || graph.tab_index(target)
            aria-pressed=move || is_selected().to_string()
            aria-label=name
            node_ref=node
            on:pointerdown=move |_| graph.press_kernel(kernel)
            on:click=move |event| {
                event.stop_propagation();
                graph.click(target);
            }
            on:focus=move |_| graph.on_focus(target)
            on:blur=move |_| graph.on_blur(number)
        >
            <title>{name}</title>
            <rect class="dag-panel" x=panel.x y=panel.y width=panel.width height=panel.height rx="12"></rect>
            <g class="dag-badge">
                <path d=badge.outline></path>
                <text x=badge.center.x y=badge.center.y + 4.0>{kernel.number()}</text>
            </g>
        </g>
    })
}
