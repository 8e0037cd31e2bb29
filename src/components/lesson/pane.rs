//! The open lesson: the step with its prose and task, and the way to the others.

use super::closing::ClosingCard;
use super::prose::prose;
use super::task::TaskView;
use crate::app::learning::Learning;
use crate::app::sharing::{self, lesson_link};
use crate::app::state::Page;
use fuseline_browser as browser;
use fuseline_learn::lesson::LessonStep;
use fuseline_learn::lesson::progress::StepOutcome;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;

/// A step, and how many other steps were shown before it.
#[derive(Clone, PartialEq)]
struct Shown {
    number: usize,
    step: Option<LessonStep>,
}

/// The present step of the open lesson.
#[component]
pub fn LessonPane() -> impl IntoView {
    let Some(learning) = Learning::of_context() else {
        return ().into_any();
    };
    let title = move || {
        learning
            .open
            .with(|open| open.as_ref().map(|open| open.lesson.title.clone()))
    };
    // Each showing of a step has elements of its own: answers of one step are no answers of the
    // next.
    let shown = Memo::new(move |before: Option<&Shown>| {
        let step = learning.present();
        match before {
            Some(before) if before.step == step => before.clone(),
            before => Shown {
                number: before.map_or(0, |before| before.number + 1),
                step,
            },
        }
    });
    let head = NodeRef::<html::Header>::new();
    let words = move || learning.language();
    let step = move |Shown { step, .. }| step.map(|step| view! { <StepView learning step head /> });
    view! {
        <div class="lesson" lang=move || words().tag()>
            <header class="lesson-head" node_ref=head>
                <h3 lang=move || learning.lang()>{title}</h3>
                <button type="button" class="link-button" on:click=move |_| learning.close()>{move || words().all_lessons()}</button>
                <button type="button" class="link-button" title=move || words().leaves_lesson() on:click=move |_| learning.leave()>
                    {move || words().back_to_program()}
                </button>
            </header>
            <StepDots learning />
            <div class="lesson-body" class:is-answered=move || learning.judged.with(Option::is_some)>
                <Show when=move || !learning.is_closing.get() fallback=move || view! { <ClosingCard learning /> }>
                    <For each=move || [shown.get()] key=|shown| shown.number children=step />
                </Show>
            </div>
            <LessonFoot learning />
        </div>
    }
    .into_any()
}

#[component]
fn StepView(
    learning: Learning,
    step: LessonStep,
    /// The top of the lesson.
    head: NodeRef<html::Header>,
) -> impl IntoView {
    let heading = NodeRef::<html::H4>::new();
    // The visitor reads the step next: with a screen reader, too.
    heading.on_load(move |_| {
        if learning.takes_focus() {
            browser::focus(heading);
            // The page gets its layout of a lesson first: what is out of sight before may be in
            // sight after it.
            browser::after_picture(move || browser::reveal_node(head));
        }
    });
    let seen = learning.seen.get_untracked();
    let before = prose(&step.before, seen.as_ref().map(|seen| &*seen.asked));
    let after_node = NodeRef::<html::Div>::new();
    let task = step
        .task
        .map(|task| view! { <TaskView learning task after=after_node /> });
    let has_task = task.is_some();
    let parts = step.after;
    let after = move || {
        let is_shown = !has_task || learning.judged.with(Option::is_some);
        let seen = learning.seen.get_untracked();
        is_shown.then(|| prose(&parts, seen.as_ref().map(|seen| &*seen.answered)))
    };
    view! {
        <div class="lesson-prose" lang=move || learning.lang()>
            <h4 node_ref=heading tabindex="-1">{step.title}</h4>
            {before}
        </div>
        <div class="lesson-work">
            {task}
            <div class="lesson-after" lang=move || learning.lang() node_ref=after_node>{after}</div>
        </div>
    }
}

/// A button for each step.
#[component]
fn StepDots(learning: Learning) -> impl IntoView {
    let dots = move || {
        learning.open.with(|open| {
            let open = open.as_ref()?;
            let steps = open.lesson.steps.iter().enumerate().map(|(at, step)| {
                let id = open.id;
                let outcome = move || learning.progress.with(|progress| progress.outcome(id?, at));
                let words = open.lesson.lang.language();
                let title = words.step(at + 1, &step.title);
                let label = move || match outcome() {
                    Some(outcome) => format!("{title} ({})", outcome.words_in(words)),
                    None => title.clone(),
                };
                let is_present = move || learning.step.get() == at && !learning.is_closing.get();
                view! {
                    <li>
                        <button
                            type="button"
                            class=move || outcome().map(class_of)
                            aria-label=label.clone()
                            title=label
                            aria-current=move || is_present().then_some("step")
                            on:click=move |_| learning.go(at)
                        >
                            {at + 1}
                        </button>
                    </li>
                }
            });
            Some(steps.collect_view())
        })
    };
    view! { <ol class="lesson-steps">{dots}</ol> }
}

/// The class of a step that ended.
const fn class_of(outcome: StepOutcome) -> &'static str {
    match outcome {
        StepOutcome::Skipped => "is-skipped",
        StepOutcome::Shown => "is-shown",
        StepOutcome::Nudged => "is-nudged",
        StepOutcome::Right => "is-right",
    }
}

/// The ways to other steps, and what can be done with the lesson.
#[component]
fn LessonFoot(learning: Learning) -> impl IntoView {
    let page = Page::of_context();
    let words = move || learning.language();
    let is_first = move || learning.step.get() == 0;
    let next = move |event: ev::MouseEvent| {
        // The second press of a double click would skip a step before the visitor has read it.
        if event.detail() > 1 {
            return;
        }
        learning.go_on();
    };
    let share = move |_| {
        let Some(open) = learning.open.get_untracked() else {
            return;
        };
        let step = learning.step.get_untracked();
        let link = async move { lesson_link(&open, step).await };
        sharing::copy(page, link, untrack(words).link_copied());
    };
    let edit = move |_| {
        learning
            .is_edited
            .update(|is_edited| *is_edited = !*is_edited);
    };
    view! {
        <footer class="lesson-foot">
            <Show when=move || learning.has_page_changed()>
                <p class="lesson-changed">{move || words().page_changed()}<q>{move || words().reset_step()}</q>{move || words().reset_goes_back()}</p>
            </Show>
            <div class="lesson-ways">
                <button type="button" disabled=is_first on:click=move |_| learning.go_previous()>{move || words().back()}</button>
                <button type="button" disabled=learning.is_closing on:click=move |_| learning.show_asked()>{move || words().reset_step()}</button>
                <button type="button" class:is-primary=move || !learning.has_open_task() on:click=next>
                    {move || match (learning.is_closing.get(), learning.has_open_task()) {
                        (true, _) if learning.listed_after().is_some() => words().next_lesson(),
                        (true, _) => words().all_lessons(),
                        (false, true) => words().skip(),
                        (false, false) if learning.is_last() => words().to_the_end(),
                        (false, false) => words().next(),
                    }}
                </button>
            </div>
            <div class="lesson-file">
                <button type="button" class="link-button" on:click=share>{move || words().copy_link()}</button>
                <button type="button" class="link-button" title=move || words().worksheet_about() on:click=move |_| learning.is_worksheet_open.set(true)>
                    {move || words().worksheet()}
                </button>
                <button type="button" class="link-button" title=move || words().whole_page_about() on:click=move |_| page.screen.is_learning.set(false)>
                    {move || words().whole_page()}
                </button>
                <button type="button" class="link-button" aria-expanded=move || learning.is_edited.get().to_string() on:click=edit>
                    {move || words().edit()}
                </button>
            </div>
        </footer>
    }
}
