//! The effect of fusion on the whole program, in one line.

use super::announcer::Announcer;
use super::memory_warning::MemoryWarning;
use crate::app::state::Page;
use crate::present::headline::{Headline as Figures, headline};
use leptos::prelude::*;

/// Bytes, kernels and predicted time, before and after.
#[component]
pub fn Headline() -> impl IntoView {
    let page = Page::of_context();
    let figures = Memo::new(move |_| page.analysis.with(|analysis| headline(analysis)));
    let sentence = Memo::new(move |_| figures.with(Figures::sentence));
    view! {
        <section class="headline" class:is-stale=page.is_grey aria-labelledby="headline-title">
            <h2 id="headline-title" class="sr-only">"Result"</h2>
            {move || figure_line(figures.get())}
            <MemoryWarning />
            <Announcer text=sentence />
        </section>
    }
}

fn figure_line(figures: Figures) -> impl IntoView {
    let Figures {
        unfused_bytes,
        fused_bytes,
        change,
        exact_bytes,
        unfused_kernels,
        fused_kernels,
        speedup,
        times,
        search,
        device,
    } = figures;
    view! {
        <p class="headline-figure" title=exact_bytes>
            <span class="headline-label">"memory traffic"</span>
            <span class="before">{unfused_bytes}</span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"becomes"</span>
            <strong>{fused_bytes}</strong>
            <span class="saved">{change}</span>
        </p>
        <p class="headline-figure">
            <span class="headline-label">"kernels"</span>
            <span class="before">{unfused_kernels}</span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"become"</span>
            <strong>{fused_kernels}</strong>
        </p>
        <p class="headline-figure" title=times>
            <span class="headline-label">"predicted"</span>
            <strong>{speedup}</strong>
            <span>{format!("as fast on {device}")}</span>
        </p>
        {search.map(|search| view! {
            <p class="headline-figure">
                <span class="headline-label">{search.objective}</span>
                <span>{search.certificate}</span>
            </p>
        })}
    }
}
