//! The effect of fusion on the whole program: a sentence, and the figures behind it.

use super::announcer::Announcer;
use super::memory_warning::MemoryWarning;
use super::next_action::NextAction;
use super::number::{Number, Parts};
use super::pin::Pin;
use super::sender_note::SenderNote;
use crate::app::stage::is_staged;
use crate::app::state::{ExplanationOf, Page};
use fuseline_browser as browser;
use fuseline_view::page::view::View;
use fuseline_view::present::bottleneck::Bottleneck;
use fuseline_view::present::claim::{claim, counting_claim};
use fuseline_view::present::figure::Part;
use fuseline_view::present::headline::{Headline as Figures, SearchResult, headline};
use fuseline_view::present::prediction_error::unverified;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::times::outside_text;
use leptos::html;
use leptos::prelude::*;
use std::time::Duration;

/// How long the saved share counts up in the sentence when kernels fuse.
const COUNTING: Duration = Duration::from_millis(600);

/// The sentence that leads the page, what to press next, and the figures behind it.
#[component]
pub fn Headline() -> impl IntoView {
    let page = Page::of_context();
    let figures = figures_of(page);
    let at_rest = Memo::new(move |_| {
        let is_fused = page.chosen.is_fused.get();
        page.analysis.with(|analysis| claim(analysis, is_fused))
    });
    let counted = counted(page);
    let parts = Memo::new(move |_| {
        let share = counted.get();
        if share < 1.0 && page.chosen.is_fused.get() {
            (page.analysis).with(|analysis| counting_claim(analysis, share))
        } else {
            at_rest.get()
        }
    });
    let spoken = Memo::new(move |_| at_rest.with(|parts| Part::text_of(parts)));
    let row = NodeRef::<html::Div>::new();
    // The page does not scroll while a slider is held.
    let is_out_of_sight = Memo::new(move |_| {
        page.slider.is_held()
            && browser::mounted(row).is_some_and(|row| !browser::is_in_window(&row))
    });
    view! {
        <section class="headline" class:is-stale=page.checked.is_grey class:is-staged=is_staged(View::Headline) aria-labelledby="headline-title">
            <h2 id="headline-title" class="sr-only">"Result"</h2>
            <div class="claim-row">
                <p class="claim"><Parts parts /></p>
                <SenderNote />
                <NextAction />
            </div>
            <div class="figures-row" node_ref=row>
                <FigureLine figures />
                <Pin />
            </div>
            <MemoryWarning />
            <Announcer text=spoken />
        </section>
        <Show when=move || is_out_of_sight.get()>
            <HeldFigure figures />
        </Show>
    }
}

/// The figures in short, at the top of a phone whose slider is held below them. Screen readers have
/// the sentence.
#[component]
fn HeldFigure(figures: Memo<Figures>) -> impl IntoView {
    let page = Page::of_context();
    let words = move || figures.with(|figures| figures.in_short(page.shows_fused()));
    view! { <p class="held-figure" aria-hidden="true">{words}</p> }
}

/// How far the saved share has counted up since the kernels were shown fused, from 0 to 1. It does
/// not count between two policies, because it would begin at a value that was not shown.
fn counted(page: Page) -> ReadSignal<f64> {
    let (counted, set_counted) = signal(1.0);
    let is_fused = Memo::new(move |_| page.chosen.is_fused.get());
    Effect::watch(
        move || is_fused.get(),
        move |&is_fused, _, _| {
            if is_fused {
                browser::during(COUNTING, move |share| {
                    // Does nothing where the page is gone by then.
                    let _ = set_counted.try_set(share);
                });
            }
        },
        false,
    );
    counted
}

/// The figures of the headline where the graph fills the screen and hides it.
#[component]
pub fn FullScreenHeadline() -> impl IntoView {
    let page = Page::of_context();
    let figures = figures_of(page);
    view! { <div class="headline" class:is-stale=page.checked.is_grey><FigureLine figures /></div> }
}

fn figures_of(page: Page) -> Memo<Figures> {
    Memo::new(move |_| page.analysis.with(|analysis| headline(analysis)))
}

#[component]
fn FigureLine(figures: Memo<Figures>) -> impl IntoView {
    let page = Page::of_context();
    let text = move |part: fn(&Figures) -> &String| move || figures.with(|all| part(all).clone());
    let memory_time = move || figures.with(|all| all.memory_time.clone());
    let error = Memo::new(move |_| figures.with(|all| all.error));
    let outside = Memo::new(move |_| figures.with(|all| all.outside));
    // Before *Fuse* is pressed the figures are of what is shown, and do not give away the result.
    let is_fused = Memo::new(move |_| page.shows_fused());
    let search = move || {
        figures.with(|all| all.search.clone()).map(|search| {
            let SearchResult { proof, certificate } = search;
            view! { <p class="headline-figure search-result" title=certificate>{proof}</p> }
        })
    };
    let pair = move |quantity, before: fn(&Figures) -> &String, after: fn(&Figures) -> &String| {
        view! {
            <span class="before">
                <Number explanation=Figure::unfused(Subject::Program, quantity)>{text(before)}</Number>
            </span>
            <Show when=move || is_fused.get()>
                <span class="arrow" aria-hidden="true">"→"</span>
                <span class="sr-only">"becomes"</span>
                <strong>
                    <Number explanation=Figure::fused(Subject::Program, quantity)>{text(after)}</Number>
                </strong>
            </Show>
        }
    };
    view! {
        <p class="headline-figure" title=text(|all| &all.exact_bytes)>
            <span class="headline-label">"memory traffic"</span>
            {pair(Quantity::Bytes, |all| &all.unfused_bytes, |all| &all.fused_bytes)}
        </p>
        <p class="headline-figure" title=text(|all| &all.time_note)>
            <span class="headline-label">{move || figures.with(|all| all.time_kind)}</span>
            {pair(Quantity::Time, |all| &all.unfused_time, |all| &all.fused_time)}
            {move || error.get().map(|error| {
                let explanation = ExplanationOf::own(move || {
                    Some(page.analysis.with(|analysis| error.explanation(analysis)))
                });
                view! { <span class="prediction-error" title=error.sentence()><Number explanation>{error.text()}</Number></span> }
            })}
            {move || outside.get().map(|outside| {
                let explanation = ExplanationOf::own(move || {
                    Some(page.analysis.with(|analysis| unverified(analysis, outside)))
                });
                view! { <span class="prediction-error" title=outside_text(outside)><Number explanation>"unverified"</Number></span> }
            })}
            // On a phone it has a line of its own, which is kept before anything is fused.
            <span class="bottleneck">
                {move || is_fused.get().then(memory_time).flatten().map(|words| {
                    let explanation = ExplanationOf::own(move || page.analysis.with(|analysis| Bottleneck::explanation(analysis)));
                    view! { <Number explanation>{words}</Number> }
                })}
            </span>
        </p>
        {move || is_fused.get().then(search).flatten()}
    }
}
