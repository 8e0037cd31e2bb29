//! The way to the optimum, step by step.

use crate::app::puzzling::{Puzzling, Walk};
use fuseline_browser as browser;
use fuseline_learn::puzzle::PuzzleStep;
use leptos::html;
use leptos::prelude::*;

/// The steps to the optimum, once the visitor has asked for them. Each shows the kernels after it.
#[component]
pub fn WalkSteps(puzzling: Puzzling) -> impl IntoView {
    let walk = puzzling.walk;
    let words = move || puzzling.language();
    let at = Memo::new(move |_| walk.with(|walk| walk.as_ref().map_or(0, |walk| walk.at)));
    let count = Memo::new(move |_| {
        let steps = |walk: &Walk| walk.steps.len();
        walk.with(|walk| walk.as_ref().map(steps))
    });
    let steps = move || {
        count.track();
        let steps = walk.with_untracked(|walk| Some(walk.as_ref()?.steps.clone()));
        let row = |(index, step): (usize, &PuzzleStep)| {
            let number = index + 1;
            let is_current = move || (at.get() == number).then_some("step");
            view! {
                <li class:is-ahead=move || { at.get() < number }>
                    // The engine says in English what it did.
                    <button type="button" lang="en" aria-current=is_current on:click=move |_| puzzling.walk_to(number)>
                        {step.done.clone()}
                    </button>
                </li>
            }
        };
        Some(steps?.iter().enumerate().map(row).collect_view())
    };
    let list = NodeRef::<html::Ol>::new();
    Effect::watch(
        move || at.get(),
        move |_, _, _| {
            // The bar shows a few steps of many.
            browser::after_picture(move || browser::reveal_within(list, "[aria-current]"));
        },
        false,
    );
    let place = move || match count.get().unwrap_or_default() {
        0 => words().nothing_left().to_owned(),
        count => words().step_to_optimum(at.get(), count),
    };
    view! {
        <Show when=move || count.get().is_some()>
            <section class="puzzle-walk" aria-label=move || words().way_to_optimum()>
                <div class="puzzle-walk-head">
                    <p aria-live="polite">{place}</p>
                    <button
                        type="button"
                        aria-disabled=move || (at.get() == 0).then_some("true")
                        on:click=move |_| puzzling.walk_to(at.get_untracked().saturating_sub(1))
                    >
                        {move || words().previous_step()}
                    </button>
                    <button
                        type="button"
                        aria-disabled=move || (Some(at.get()) == count.get()).then_some("true")
                        on:click=move |_| puzzling.walk_to(at.get_untracked() + 1)
                    >
                        {move || words().next_step()}
                    </button>
                </div>
                <ol node_ref=list>{steps}</ol>
            </section>
        </Show>
    }
}
