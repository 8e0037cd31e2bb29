//! The button below a table that lists only some of its rows.

use fuseline_view::present::format::format_count;
use leptos::prelude::*;

/// Lists `step` more rows. Shown while some are not listed.
#[component]
pub fn ShowMore(
    /// Greatest number of listed rows.
    max_rows: RwSignal<usize>,
    /// By how much a press raises `max_rows`.
    step: usize,
    /// Number of listed rows.
    #[prop(into)]
    listed: Signal<usize>,
    /// Number of all rows.
    #[prop(into)]
    total: Signal<usize>,
) -> impl IntoView {
    view! {
        <Show when=move || listed.get() < total.get()>
            <button type="button" class="more" on:click=move |_| max_rows.update(|rows| *rows += step)>
                {move || format!("Show more ({} of {})", format_count(listed.get()), format_count(total.get()))}
            </button>
        </Show>
    }
}
