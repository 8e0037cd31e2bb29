//! The effect of fusion on the whole program, in one line.

use super::announcer::Announcer;
use super::memory_warning::MemoryWarning;
use super::pin::Pin;
use crate::app::learning::points_at;
use crate::app::presenting::is_presented;
use crate::app::state::Page;
use crate::app::view::View;
use crate::present::headline::{Headline as Figures, headline};
use leptos::prelude::*;

/// Bytes, kernels and time, before and after.
#[component]
pub fn Headline() -> impl IntoView {
    let page = Page::of_context();
    let figures = figures_of(page);
    let sentence = Memo::new(move |_| figures.with(Figures::sentence));
    view! {
        <section class="headline" class:is-stale=page.is_grey class:is-pointed=points_at(View::Headline) class:is-presented=is_presented(View::Headline) aria-labelledby="headline-title">
            <h2 id="headline-title" class="sr-only">"Result"</h2>
            {move || figure_line(figures.get())}
            <Pin />
            <MemoryWarning />
            <Announcer text=sentence />
        </section>
    }
}

/// The same figures where the graph fills the screen and hides the headline.
#[component]
pub fn FullScreenHeadline() -> impl IntoView {
    let page = Page::of_context();
    let figures = figures_of(page);
    view! { <div class="headline" class:is-stale=page.is_grey>{move || figure_line(figures.get())}</div> }
}

fn figures_of(page: Page) -> Memo<Figures> {
    Memo::new(move |_| page.analysis.with(|analysis| headline(analysis)))
}

/// Only a change is emphasized.
const fn badge(is_changed: bool) -> &'static str {
    if is_changed { "saved" } else { "quiet" }
}

fn figure_line(figures: Figures) -> impl IntoView {
    let Figures {
        unfused_bytes,
        fused_bytes,
        change,
        is_changed,
        exact_bytes,
        unfused_kernels,
        fused_kernels,
        time_label,
        unfused_time,
        fused_time,
        ratio,
        is_time_changed,
        bounds,
        time_note,
        search,
    } = figures;
    view! {
        <p class="headline-figure" title=exact_bytes>
            <span class="headline-label">"memory traffic"</span>
            <span class="before">{unfused_bytes}</span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"becomes"</span>
            <strong>{fused_bytes}</strong>
            <span class=badge(is_changed)>{change}</span>
        </p>
        <p class="headline-figure">
            <span class="headline-label">"kernels"</span>
            <span class="before">{unfused_kernels}</span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"become"</span>
            <strong>{fused_kernels}</strong>
        </p>
        <p class="headline-figure" title=time_note>
            <span class="headline-label">{time_label}</span>
            <span class="before">{unfused_time}</span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"becomes"</span>
            <strong>{fused_time}</strong>
            {ratio.map(|ratio| view! { <span class=badge(is_time_changed)>{ratio}</span> })}
            {bounds.map(|bounds| view! { <span class="quiet">{bounds}</span> })}
        </p>
        {search.map(|search| view! {
            <p class="headline-figure">
                <span class="headline-label">{search.objective}</span>
                <span>{search.certificate}</span>
            </p>
        })}
    }
}
