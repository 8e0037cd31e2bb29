//! A button that opens a panel below it.

use crate::app::covers::closes_on_back;
use fuseline_browser::{
    focus, has_focus_within, is_within, keep_in_window, on_window, shows_sheets,
};
use leptos::prelude::*;
use leptos::{ev, html};

/// The panel is mounted only while the menu is open. Escape or a press outside closes it.
#[component]
pub fn Menu(
    /// The label of the button.
    label: &'static str,
    /// Whether a choice in the panel differs from the default.
    #[prop(optional, into)]
    is_changed: Signal<bool>,
    /// Whether the panel is aligned with the end of the button instead of its start.
    #[prop(optional)]
    is_at_end: bool,
    /// Further classes of the panel.
    #[prop(optional)]
    panel_class: &'static str,
    /// Whether the menu is open. A parent passes it to open the menu itself.
    #[prop(default = RwSignal::new(false))]
    is_open: RwSignal<bool>,
    /// The button. A parent passes it to give it the focus.
    #[prop(default = NodeRef::new())]
    button: NodeRef<html::Summary>,
    /// Whether a press on a button of the panel closes it.
    #[prop(optional)]
    closes_on_choice: bool,
    /// The content of the panel.
    children: ChildrenFn,
) -> impl IntoView {
    let menu = NodeRef::<html::Details>::new();
    let open_menu = move || menu.get_untracked().filter(|_| is_open.get_untracked());
    let leave = move || {
        // The focused element is about to be removed with the panel. Firefox would lose what was
        // typed into it: an element that is removed changes nothing there.
        if open_menu().is_some_and(|menu| has_focus_within(&menu)) {
            focus(button);
        }
        is_open.set(false);
    };
    on_window(ev::pointerdown, move |event| {
        if open_menu().is_some_and(|menu| !is_within(&event, &menu)) {
            leave();
        }
    });
    on_window(ev::keydown, move |event| {
        if event.key() == "Escape" && open_menu().is_some() {
            leave();
        }
    });
    // Elsewhere than on a phone it covers little of the page.
    closes_on_back(move || is_open.get() && shows_sheets(), leave);
    let toggle = move |event: ev::MouseEvent| {
        // Only the signal opens the element: the browser would toggle it on its own.
        event.prevent_default();
        is_open.update(|is_open| *is_open = !*is_open);
    };
    let choose = move |_: ev::MouseEvent| {
        if closes_on_choice {
            focus(button);
            is_open.set(false);
        }
    };
    let panel = NodeRef::new();
    keep_in_window(panel);
    view! {
        <details class="menu" class:at-end=is_at_end open=is_open node_ref=menu>
            <summary class="button" class:is-changed=is_changed node_ref=button on:click=toggle>
                {label}
            </summary>
            <Show when=move || is_open.get()>
                <div class=format!("menu-panel {panel_class}") node_ref=panel on:click=choose>{children()}</div>
            </Show>
        </details>
    }
}
