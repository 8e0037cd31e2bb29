//! A warning while the fused program does not fit the device's memory.

use super::announcer::Announcer;
use crate::app::state::Page;
use crate::components::number::Parts;
use fuseline_view::present::figure::Part;
use fuseline_view::present::memory::memory_warning;
use leptos::prelude::*;

/// The warning in a sentence; nothing while the program fits.
#[component]
pub fn MemoryWarning() -> impl IntoView {
    let page = Page::of_context();
    let warning = Memo::new(move |_| page.analysis.with(|analysis| memory_warning(analysis)));
    let parts = Memo::new(move |_| warning.get().unwrap_or_default());
    let spoken = Memo::new(move |_| parts.with(|parts| Part::text_of(parts)));
    view! {
        <Show when=move || warning.with(Option::is_some)>
            <p class="memory-warning"><Parts parts /></p>
        </Show>
        <Announcer text=spoken />
    }
}
