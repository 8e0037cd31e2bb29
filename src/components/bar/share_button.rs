//! The share link.

use crate::app::sharing;
use crate::app::state::Page;
use fuseline_browser as browser;
use leptos::html;
use leptos::prelude::*;

/// Copies the link, or shows it if the clipboard refuses.
#[component]
pub fn ShareButton() -> impl IntoView {
    let page = Page::of_context();
    let shown_link = RwSignal::new(None);
    let share = move |_| {
        shown_link.set(None);
        browser::spawn(async move {
            match sharing::link(page).await {
                Err(problem) => page.tell_failure(problem),
                Ok(link) if browser::copy(&link).await => {
                    page.tell("Link copied. It carries the whole page and sends nothing anywhere.");
                }
                Ok(link) => shown_link.set(Some(link)),
            }
        });
    };
    view! {
        <button type="button" on:click=share>"Share"</button>
        {move || shown_link.get().map(|link| view! { <LinkField link close=move || shown_link.set(None) /> })}
    }
}

/// The link in a field, selected, so that the visitor can copy it.
#[component]
fn LinkField(
    /// The link.
    link: String,
    /// Removes the field.
    close: impl Fn() + 'static,
) -> impl IntoView {
    let field = NodeRef::<html::Input>::new();
    field.on_load(move |element| {
        browser::focus(field);
        element.select();
    });
    view! {
        <div class="share-field">
            <label for="share-link">"Copy this link:"</label>
            <input type="text" id="share-link" node_ref=field readonly value=link />
            <button type="button" on:click=move |_| close()>"Done"</button>
        </div>
    }
}
