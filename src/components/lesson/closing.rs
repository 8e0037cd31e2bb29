//! The end of a lesson: what the visitor can now say, what to look at again, and what to try.

use crate::app::learning::{Learning, Room};
use crate::components::sentence::sentence;
use fuseline_browser as browser;
use fuseline_learn::lesson::progress::StepOutcome;
use leptos::html;
use leptos::prelude::*;

/// The card after the last step.
#[component]
pub fn ClosingCard(learning: Learning) -> impl IntoView {
    let heading = NodeRef::<html::H4>::new();
    // A visitor who ends a lesson reads this next: with a screen reader, too.
    heading.on_load(move |_| browser::focus(heading));
    let Some(open) = learning.open.get_untracked() else {
        return ().into_any();
    };
    let lesson = open.lesson.clone();
    let words = lesson.lang.language();
    let says = lesson.says.iter();
    let says = says
        .map(|say| view! { <li>{sentence(say)}</li> })
        .collect_view();
    let has_says = !lesson.says.is_empty();
    let missed = Memo::new(move |_| learning.missed_steps());
    let missed_rows = move || {
        let rows = missed.get().into_iter().map(|(at, title, outcome)| {
            let how = outcome.map_or(words.not_done(), |outcome: StepOutcome| outcome.words_in(words));
            view! {
                <li>
                    <button type="button" class="link-button" on:click=move |_| learning.go(at)>{words.step(at + 1, &title)}</button>
                    " " <small>{how}</small>
                </li>
            }
        });
        rows.collect_view()
    };
    view! {
        <div class="lesson-closing">
            <h4 node_ref=heading tabindex="-1">{words.end_of(&lesson.title)}</h4>
            {has_says.then(|| view! {
                <p>{words.can_say()}</p>
                <ul lang=lesson.lang.as_str().to_owned()>{says}</ul>
            })}
            // A class has not answered one by one.
            <div class="closing-own">
                <Show when=move || missed.with(|missed| !missed.is_empty()) fallback=move || view! { <p>{words.all_answered()}</p> }>
                    <p>{words.look_again()}</p>
                    <ul class="lesson-missed">{missed_rows}</ul>
                </Show>
            </div>
            {(!lesson.try_next.is_empty()).then(|| view! { <p><strong>{words.try_own_program()}</strong><span lang=lesson.lang.as_str().to_owned()>{sentence(&lesson.try_next)}</span></p> })}
            <button type="button" on:click=move |_| learning.room.set(Room::HandIn)>{words.hand_in()}</button>
        </div>
    }
    .into_any()
}
