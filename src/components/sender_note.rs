//! What the sender of a link says about the program.

use crate::app::state::Page;
use leptos::prelude::*;

/// The note that came with the link, as plain text, until the visitor hides it. *Share* still sends
/// it with the unchanged program.
#[component]
pub fn SenderNote() -> impl IntoView {
    let page = Page::of_context();
    let hide = move |_| {
        page.keep_focus();
        page.origin.sent.update(|sent| sent.is_note_hidden = true);
    };
    move || {
        page.shown_note().map(|note| {
            view! {
                <div class="sender-note" role="note">
                    // A note that is written from right to left leaves the words before it where
                    // they are.
                    <p><strong>{move || page.note_label()}</strong><bdi>{note.to_string()}</bdi></p>
                    <button type="button" class="icon-button" aria-label="Hide the note" on:click=hide>
                        <span aria-hidden="true">"×"</span>
                    </button>
                </div>
            }
        })
    }
}
