//! A dialog over the page, which cannot be reached meanwhile.

use crate::app::covers::closes_on_back;
use fuseline_browser as browser;
use leptos::prelude::*;
use leptos::{ev, html};

/// A dialog. Escape and the browser's *Back* close it, too.
#[component]
pub fn Dialog(
    #[prop(into)] class: String,
    /// The name of the dialog for screen readers.
    #[prop(into)]
    label: String,
    /// Whether it is shown. *Close* within it clears what this follows.
    #[prop(into)]
    is_open: Signal<bool>,
    /// Called when it was closed, in whatever way: clears what `is_open` follows, which may be
    /// clear already.
    on_close: impl Fn() + 'static,
    /// Whether a press beside it closes it.
    #[prop(optional)]
    is_light_dismissed: bool,
    /// Keys pressed in it.
    #[prop(optional)]
    on_key: Option<Callback<ev::KeyboardEvent>>,
    children: Children,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = Memo::new(move |_| is_open.get());
    // It follows the element, too, which is there after the effects of this mount.
    Effect::new(move || match (dialog.get(), is_open.get()) {
        (None, _) => {}
        (Some(_), true) => browser::show_modal(dialog),
        // A dialog that is removed while it is open would not give the focus back.
        (Some(_), false) => browser::close_modal(dialog),
    });
    closes_on_back(move || is_open.get(), move || browser::close_modal(dialog));
    let press = move |event: ev::MouseEvent| {
        // The backdrop is part of the dialog, so the event has no target within it.
        if is_light_dismissed && event.target() == event.current_target() {
            browser::close_modal(dialog);
        }
    };
    let key = move |event: ev::KeyboardEvent| {
        // The page below does nothing.
        event.stop_propagation();
        if let Some(on_key) = on_key {
            on_key.run(event);
        }
    };
    view! {
        <dialog
            class=class
            node_ref=dialog
            aria-label=label
            on:close=move |_| on_close()
            on:click=press
            on:keydown=key
        >
            {children()}
        </dialog>
    }
}
