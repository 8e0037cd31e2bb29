//! A link to everything that the page shows.

use crate::platform;
use crate::session;
use crate::state::Page;
use leptos::prelude::*;

const FIELD_ID: &str = "share-link";

/// Copies the link, or shows it where the clipboard refuses.
#[component]
pub fn ShareButton(
    /// The page that is shared.
    page: Page,
) -> impl IntoView {
    let shown = RwSignal::new(None::<String>);
    let share = move |_| match session::link(page) {
        Err(problem) => page.tell_failure(problem),
        Ok(link) => {
            let copied = link.clone();
            platform::copy(&link, move |is_taken| {
                if is_taken {
                    shown.set(None);
                    page.tell("Link copied. It carries the whole page and sends nothing anywhere.");
                } else {
                    shown.set(Some(copied.clone()));
                    request_animation_frame(|| platform::select_all(FIELD_ID));
                }
            });
        }
    };
    view! {
        <button type="button" on:click=share>"Share"</button>
        <Show when=move || shown.with(Option::is_some)>
            <div class="share-field">
                <label for=FIELD_ID>"Copy this link:"</label>
                <input
                    type="text"
                    id=FIELD_ID
                    readonly=true
                    prop:value=move || shown.get().unwrap_or_default()
                />
                <button type="button" on:click=move |_| shown.set(None)>"Done"</button>
            </div>
        </Show>
    }
}
