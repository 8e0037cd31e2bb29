//! What the sender of a link says about the program.

use crate::app::state::Page;
use leptos::prelude::*;

/// The note that came with the link, as plain text, until the visitor dismisses it.
#[component]
pub fn SenderNote() -> impl IntoView {
    let page = Page::of_context();
    let dismiss = move |_| {
        page.keep_focus();
        page.sender_note.set(None);
    };
    move || {
        page.sender_note.get().map(|note| {
            view! {
                <div class="sender-note" role="note">
                    // A note that is written from right to left leaves the words before it where they are.
                    <p><strong>"Note from the sender: "</strong><bdi>{note.to_string()}</bdi></p>
                    <button type="button" class="icon-button" aria-label="Dismiss the note" on:click=dismiss>
                        <span aria-hidden="true">"×"</span>
                    </button>
                </div>
            }
        })
    }
}
