//! The task of a step, and the judgement of its answer.

use super::prose::inlines;
use crate::app::learning::Learning;
use crate::app::state::SetIfChanged;
use crate::components::sentence::sentence;
use fuseline_browser as browser;
use fuseline_learn::language::Language;
use fuseline_learn::lesson::answer::{Answer, Judged};
use fuseline_learn::lesson::options::TaskOption;
use fuseline_learn::lesson::task::{Task, TaskKind};
use fuseline_learn::lesson::value::{AnswerUnit, Unit};
use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::prelude::*;

/// The question with its answer field, and the judgement once it is answered.
#[component]
pub fn TaskView(
    learning: Learning,
    /// The task of the present step.
    task: Task,
    /// What stands below the task once it is answered.
    after: NodeRef<html::Div>,
) -> impl IntoView {
    let words = task.language;
    let (task_node, verdict_node) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let (problem_node, nudge_node) = (NodeRef::<html::P>::new(), NodeRef::<html::P>::new());
    let (hint_node, form) = (
        NodeRef::<html::Details>::new(),
        NodeRef::<html::Form>::new(),
    );
    let asked = learning.seen.get_untracked().map(|seen| seen.asked);
    let problem = RwSignal::new(String::new());
    let is_answered = move || learning.judged.with(Option::is_some);
    let is_missed = move || learning.nudge.with(|nudge| !nudge.is_empty());
    // The reply to a press comes into view, also the second time. Of parts that do not fit in the
    // window together, the last one is in view.
    let answer = move |answer: &Answer| {
        problem.set_if_changed(learning.answer(answer).err().unwrap_or_default());
        if untrack(is_answered) {
            return;
        }
        if untrack(is_missed) {
            if let Some(hint) = browser::mounted(hint_node) {
                hint.set_open(true);
            }
            browser::focus_field(form);
        }
        browser::after_picture(move || {
            browser::reveal_node(task_node);
            browser::reveal_node(nudge_node);
            browser::reveal_node(problem_node);
        });
    };
    Effect::watch(
        is_answered,
        move |&is_answered, _, _| {
            if is_answered {
                browser::after_picture(move || {
                    browser::reveal_node(after);
                    browser::reveal_node(verdict_node);
                });
            }
        },
        false,
    );
    // The nudge is about an earlier answer, so it is hidden beside one that cannot be read.
    let nudge = move || {
        let nudge = learning.nudge.get();
        let is_told = !nudge.is_empty() && problem.with(String::is_empty);
        is_told.then(|| sentence(&words.not_quite(&nudge)))
    };
    let try_again = move |_| {
        learning.show_asked();
        // The field is enabled after this handler.
        browser::after_picture(move || browser::focus_field(form));
    };
    let field = match &task.kind {
        TaskKind::Number { .. } | TaskKind::First { .. } => {
            let unit = task.kind.unit().unwrap_or(Unit::Count);
            view! { <NumberField words unit form answer is_answered=Signal::derive(is_answered) /> }
                .into_any()
        }
        TaskKind::Choose(_) | TaskKind::Each { .. } => {
            let seen = learning.seen.get_untracked();
            let options = seen.and_then(|seen| task.options(&seen.answered).ok());
            let options: Vec<_> = options.unwrap_or_default();
            let is_one = matches!(task.kind, TaskKind::Choose(_))
                && options.iter().filter(|option| option.is_right).count() == 1;
            let are_names = matches!(task.kind, TaskKind::Each { .. });
            view! { <Choices learning words options is_one are_names form answer is_answered=Signal::derive(is_answered) /> }
                .into_any()
        }
        TaskKind::Do { .. } => view! { <ToDo learning words /> }.into_any(),
    };
    let others = {
        let task = task.clone();
        move || untrack(|| learning.states()).and_then(|states| task.other_ways(&states))
    };
    let Task { ask, hint, .. } = task;
    let hint = (!hint.is_empty()).then(|| {
        let hint = inlines(&hint, asked.as_deref());
        let reveal_hint = move |_| browser::reveal_node(hint_node);
        view! {
            <details class="task-hint" node_ref=hint_node on:toggle=reveal_hint>
                <summary>{words.hint()}</summary>
                <p lang=move || learning.lang()>{hint}</p>
            </details>
        }
    });
    view! {
        <div class="task" class:is-answered=is_answered node_ref=task_node>
            <p class="task-question" id="task-question" lang=move || learning.lang()>{inlines(&ask, asked.as_deref())}</p>
            {field}
            <p class="task-problem" role="alert" node_ref=problem_node>{move || problem.get()}</p>
            <p class="task-again" role="status" node_ref=nudge_node>{nudge}</p>
            <Show when=move || !is_answered()>
                <button type="button" class="show-me" on:click=move |_| learning.give_up()>
                    {words.show_me()}
                </button>
            </Show>
            {hint}
            <div role="status" class="task-verdict" node_ref=verdict_node>
                {move || learning.judged.with(|judged| judged.as_ref().map(|judged| verdict(judged, &others)))}
            </div>
            <Show when=move || learning.judged.with(|judged| judged.as_ref().is_some_and(|judged| !judged.is_right))>
                <button type="button" class="link-button" on:click=try_again>{words.try_again()}</button>
            </Show>
        </div>
    }
}

/// The judgement of an answer. `others` is the note that other answers are right, too.
fn verdict(judged: &Judged, others: &dyn Fn() -> Option<String>) -> impl IntoView + use<> {
    let Judged { words, reason, .. } = judged;
    let answer = words.strip_suffix(reason.as_str()).unwrap_or(words);
    let others = if judged.is_right { None } else { others() };
    view! {
        <p class:is-right=judged.is_right>
            <span class="verdict-mark" aria-hidden="true">{if judged.is_right { "✓" } else { "→" }}</span>
            <span>{sentence(answer)}<span lang="en">{sentence(reason)}</span>{others.map(|others| sentence(&others))}</span>
        </p>
    }
}

/// A number to predict.
#[component]
fn NumberField(
    /// The fixed strings.
    words: Language,
    unit: Unit,
    form: NodeRef<html::Form>,
    /// Takes the answer.
    answer: impl Fn(&Answer) + Copy + 'static,
    is_answered: Signal<bool>,
) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        answer(&Answer::Text(text.get_untracked()));
    };
    view! {
        <form class="task-number" node_ref=form on:submit=submit>
            <input
                type="text"
                aria-labelledby="task-question"
                autocomplete="off"
                placeholder=unit.form_in(words)
                bind:value=text
                disabled=is_answered
            />
            <button type="submit" class="is-primary" disabled=is_answered>{words.predict()}</button>
        </form>
    }
}

/// Options to choose from.
#[component]
fn Choices(
    learning: Learning,
    /// The fixed strings.
    words: Language,
    options: Vec<TaskOption>,
    /// Whether exactly one is right.
    is_one: bool,
    /// Whether they are names of tensors or kernels, and not sentences.
    are_names: bool,
    form: NodeRef<html::Form>,
    /// Takes the answer.
    answer: impl Fn(&Answer) + Copy + 'static,
    is_answered: Signal<bool>,
) -> impl IntoView {
    let chosen = RwSignal::new(Vec::<usize>::new());
    let choose = move |at: usize, is_chosen: bool| {
        chosen.update(|chosen| {
            if is_one {
                chosen.clear();
            }
            chosen.retain(|&other| other != at);
            if is_chosen {
                chosen.push(at);
            }
        });
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        answer(&Answer::Chosen(chosen.get_untracked()));
    };
    let options = options.into_iter().enumerate().map(|(at, option)| {
        let TaskOption { label, about, .. } = option;
        let about = (!about.is_empty()).then(|| view! { " " <small>{about}</small> });
        view! {
            <label class="task-option">
                <input
                    type=if is_one { "radio" } else { "checkbox" }
                    name="task-options"
                    disabled=is_answered
                    prop:checked=move || chosen.with(|chosen| chosen.contains(&at))
                    on:change:target=move |event| choose(at, event.target().checked())
                />
                <span>{sentence(&label)} {about}</span>
            </label>
        }
    });
    view! {
        <form node_ref=form on:submit=submit>
            <fieldset class="task-options" class:is-names=are_names lang=move || learning.lang() aria-labelledby="task-question">{options.collect_view()}</fieldset>
            <button type="submit" class="is-primary" disabled=is_answered>{words.answer()}</button>
        </form>
    }
}

/// What a task to do still wants.
#[component]
fn ToDo(
    learning: Learning,
    /// The fixed strings.
    words: Language,
) -> impl IntoView {
    let rows = move || {
        // Once it was done it stays so, whatever the visitor tries next.
        let was_done = learning
            .judged
            .with(|judged| judged.as_ref().is_some_and(|judged| judged.is_right));
        let wanted = learning.wanted.get();
        let rows = wanted
            .iter()
            .filter(|wanted| wanted.is_goal && !was_done)
            .map(|wanted| {
                let state = wanted
                    .holds
                    .then(|| view! { <span class="sr-only">{words.goal_done()}</span> });
                view! {
                    <li class:is-done=wanted.holds>
                        {state}
                        {sentence(&wanted.words)}
                    </li>
                }
            });
        rows.collect_view()
    };
    view! { <ul class="task-wanted">{rows}</ul> }
}
