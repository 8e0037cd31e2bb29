//! A warning while the fused program does not fit the device's memory.

use super::announcer::Announcer;
use crate::app::state::Page;
use crate::present::memory::memory_warning;
use leptos::prelude::*;

/// The warning in a sentence; nothing while the program fits.
#[component]
pub fn MemoryWarning() -> impl IntoView {
    let page = Page::of_context();
    let warning = Memo::new(move |_| page.analysis.with(|analysis| memory_warning(analysis)));
    let spoken = Memo::new(move |_| warning.get().unwrap_or_default());
    view! {
        {move || warning.get().map(|warning| view! { <p class="memory-warning">{warning}</p> })}
        <Announcer text=spoken />
    }
}
