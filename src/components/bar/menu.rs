//! A button that opens a panel below itself.

use crate::browser::{has_focus_within, is_within, on_window};
use leptos::prelude::*;
use leptos::{ev, html};

/// The panel is mounted while the menu is open. A pointer that goes down elsewhere closes it, and so does Escape.
#[component]
pub fn Menu(
    /// What the button says.
    label: &'static str,
    /// A choice in the panel is not the default.
    #[prop(optional, into)]
    is_changed: Signal<bool>,
    /// The panel ends where the button ends, instead of starting where it starts.
    #[prop(optional)]
    is_at_end: bool,
    /// Further classes of the panel.
    #[prop(optional)]
    panel_class: &'static str,
    /// The menu is open. For a parent that opens it.
    #[prop(default = RwSignal::new(false))]
    is_open: RwSignal<bool>,
    /// What the panel holds.
    children: ChildrenFn,
) -> impl IntoView {
    let menu = NodeRef::<html::Details>::new();
    let button = NodeRef::<html::Summary>::new();
    let open_menu = move || menu.get_untracked().filter(|_| is_open.get_untracked());
    on_window(ev::pointerdown, move |event| {
        if open_menu().is_some_and(|menu| !is_within(&event, &menu)) {
            is_open.set(false);
        }
    });
    on_window(ev::keydown, move |event| {
        if event.key() != "Escape" {
            return;
        }
        if let Some(menu) = open_menu() {
            // What has the focus leaves the page with the panel.
            if has_focus_within(&menu)
                && let Some(button) = button.get_untracked()
            {
                // An element in the page takes the focus.
                let _ = button.focus();
            }
            is_open.set(false);
        }
    });
    let toggle = move |event: ev::MouseEvent| {
        // The signal opens the element, not the browser, so that the two never differ.
        event.prevent_default();
        is_open.update(|is_open| *is_open = !*is_open);
    };
    view! {
        <details class="menu" class:at-end=is_at_end open=is_open node_ref=menu>
            <summary class="button" class:is-changed=is_changed node_ref=button on:click=toggle>
                {label}
            </summary>
            <Show when=move || is_open.get()>
                <div class=format!("menu-panel {panel_class}")>{children()}</div>
            </Show>
        </details>
    }
}
