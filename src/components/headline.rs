//! The effect of fusion on the whole program, in one line.

use super::announcer::Announcer;
use super::memory_warning::MemoryWarning;
use super::number::Number;
use super::pin::Pin;
use crate::app::learning::points_at;
use crate::app::presenting::is_presented;
use crate::app::state::Page;
use fuseline_view::page::view::View;
use fuseline_view::present::figure::{Figure, Of, Quantity};
use fuseline_view::present::headline::{Headline as Figures, headline};
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
            <FigureLine figures />
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
    view! { <div class="headline" class:is-stale=page.is_grey><FigureLine figures /></div> }
}

fn figures_of(page: Page) -> Memo<Figures> {
    Memo::new(move |_| page.analysis.with(|analysis| headline(analysis)))
}

/// Only a change is emphasized.
const fn badge(is_changed: bool) -> &'static str {
    if is_changed { "saved" } else { "quiet" }
}

#[component]
fn FigureLine(
    /// The figures.
    figures: Memo<Figures>,
) -> impl IntoView {
    let text = move |part: fn(&Figures) -> &String| move || figures.with(|all| part(all).clone());
    let maybe = move |part: fn(&Figures) -> &Option<String>| {
        let is_there = Memo::new(move |_| figures.with(|all| part(all).is_some()));
        let text = move || figures.with(|all| part(all).clone());
        (is_there, text)
    };
    let (has_ratio, ratio) = maybe(|all| &all.ratio);
    let (has_bounds, bounds) = maybe(|all| &all.bounds);
    let search = move || {
        figures.with(|all| all.search.clone()).map(|search| {
            view! {
                <p class="headline-figure">
                    <span class="headline-label">{search.objective}</span>
                    <span>{search.certificate}</span>
                </p>
            }
        })
    };
    let [before, after] = [Figure::unfused, Figure::fused];
    view! {
        <p class="headline-figure" title=text(|all| &all.exact_bytes)>
            <span class="headline-label">"memory traffic"</span>
            <span class="before">
                <Number told=before(Of::Program, Quantity::Bytes)>{text(|all| &all.unfused_bytes)}</Number>
            </span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"becomes"</span>
            <strong>
                <Number told=after(Of::Program, Quantity::Bytes)>{text(|all| &all.fused_bytes)}</Number>
            </strong>
            <span class=move || badge(figures.with(|all| all.is_changed))>
                <Number told=after(Of::Program, Quantity::Saving)>{text(|all| &all.change)}</Number>
            </span>
        </p>
        <p class="headline-figure">
            <span class="headline-label">"kernels"</span>
            <span class="before">
                <Number told=before(Of::Program, Quantity::Launches)>{text(|all| &all.unfused_kernels)}</Number>
            </span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"become"</span>
            <strong>
                <Number told=after(Of::Program, Quantity::Launches)>{text(|all| &all.fused_kernels)}</Number>
            </strong>
        </p>
        <p class="headline-figure" title=text(|all| &all.time_note)>
            <span class="headline-label">{text(|all| &all.time_label)}</span>
            <span class="before">
                <Number told=before(Of::Program, Quantity::Time)>{text(|all| &all.unfused_time)}</Number>
            </span>
            <span class="arrow" aria-hidden="true">"→"</span>
            <span class="sr-only">"becomes"</span>
            <strong>
                <Number told=after(Of::Program, Quantity::Time)>{text(|all| &all.fused_time)}</Number>
            </strong>
            <Show when=move || has_ratio.get()>
                <span class=move || badge(figures.with(|all| all.is_time_changed))>
                    <Number told=after(Of::Program, Quantity::Speedup)>{ratio}</Number>
                </span>
            </Show>
            <Show when=move || has_bounds.get()>
                <span class="quiet">
                    <Number told=after(Of::Program, Quantity::BoundSpeedup)>{bounds}</Number>
                </span>
            </Show>
        </p>
        {search}
    }
}
