//! A stepper through the decisions of the policy; graph, charts and figures follow it.

use crate::app::state::{Page, Selection, SetIfChanged};
use crate::browser::{self, Later};
use crate::components::keyed_rows::row_at;
use crate::components::sentence::sentence;
use crate::present::steps::{StepLine, page_of_step, step_lines, step_sentence};
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use std::time::Duration;

/// Ops up to which the graph is drawn anew at every step; with more of them it waits for the controls to rest.
const AT_ONCE_OPS: usize = 500;

/// A pause after which the controls rest.
const REST: Duration = Duration::from_millis(150);

/// Where the controls are.
#[derive(Clone, Copy)]
struct Stepper {
    page: Page,
    /// The step of the controls while the page has not followed them.
    ahead: RwSignal<Option<usize>>,
    rest: Later,
    /// How many decisions there are.
    count: Memo<usize>,
    /// How many of them are shown as done.
    step: Memo<usize>,
    /// The line of the present step takes the focus.
    wants_focus: RwSignal<bool>,
}

impl Stepper {
    fn new(page: Page) -> Self {
        let ahead = RwSignal::new(None);
        let count = Memo::new(move |_| page.record.with(|record| record.decisions.len()));
        let step = Memo::new(move |_| {
            let step = ahead.get().or_else(|| page.step.get());
            step.unwrap_or(usize::MAX).min(count.get())
        });
        Self {
            page,
            ahead,
            rest: Later::after(REST),
            count,
            step,
            wants_focus: RwSignal::new(false),
        }
    }

    /// Moves the controls to `step`, or to the last one, and takes the page along.
    fn go(self, step: usize) {
        let step = step.min(self.count.get_untracked());
        let follow = move || {
            self.page.show_step(step);
            self.ahead.set_if_changed(None);
        };
        let ops = (self.page.analysis).with_untracked(|analysis| analysis.graph.ops.len());
        if ops <= AT_ONCE_OPS {
            follow();
        } else {
            self.ahead.set(Some(step));
            self.rest.call(follow);
        }
    }

    /// The same, and the line of that step takes the focus.
    fn go_to_line(self, step: usize) {
        self.wants_focus.set(true);
        self.go(step);
    }

    fn back(self) {
        self.go(self.step.get_untracked().saturating_sub(1));
    }

    fn forward(self) {
        self.go(self.step.get_untracked() + 1);
    }

    /// Moves the controls as a key says. Whether it is one of theirs.
    fn press(self, event: &KeyboardEvent) -> bool {
        match event.key().as_str() {
            "ArrowLeft" | "ArrowUp" => self.back(),
            "ArrowRight" | "ArrowDown" => self.forward(),
            "Home" => self.go(0),
            "End" => self.go(usize::MAX),
            _ => return false,
        }
        // The arrows would scroll the page.
        event.prevent_default();
        true
    }
}

/// The tab. Its controls stand at the lower edge of the window, so that they and the graph are seen together.
#[component]
pub fn StepsPanel() -> impl IntoView {
    let page = Page::of_context();
    let stepper = Stepper::new(page);
    // Opened, it shows where the decisions led; left, the page shows that again.
    page.step.set(Some(usize::MAX));
    browser::set_root_attribute("data-dock", Some("steps"));
    on_cleanup(move || {
        browser::set_root_attribute("data-dock", None);
        page.step.set(None);
        if matches!(page.selection.get_untracked(), Selection::Kernel(_)) {
            // Kernels have other numbers on the way.
            page.selection.set(Selection::Nothing);
        }
    });
    let present = Memo::new(move |_| {
        let step = stepper.step.get();
        (page.record).with(|record| {
            page.analysis
                .with(|a| step_sentence(&a.graph, record, step))
        })
    });
    view! {
        <div>
            <div class="steps-dock">
                <Show when=move || { stepper.count.get() > 0 }>
                    <Controls stepper />
                </Show>
                <p class="steps-now" role="status" aria-live="polite">
                    {move || present.with(|present| sentence(present))}
                </p>
            </div>
            <Lines stepper />
        </div>
    }
}

/// Buttons and a slider.
#[component]
fn Controls(
    /// What they move.
    stepper: Stepper,
) -> impl IntoView {
    let is_first = Signal::derive(move || stepper.step.get() == 0);
    let is_last = Signal::derive(move || stepper.step.get() == stepper.count.get());
    // One closure, so that `max` is written before the value that it would cut off.
    let slider = move || {
        let (step, count) = (stepper.step.get(), stepper.count.get());
        view! {
            <input
                type="range"
                aria-label="Step"
                min="0"
                step="1"
                max=count
                aria-valuetext=format!("{step} of {count}")
                prop:value=step.to_string()
                on:input:target=move |event| {
                    if let Ok(step) = event.target().value().parse() {
                        stepper.go(step);
                    }
                }
            />
        }
    };
    view! {
        <div class="steps-tools" role="group" aria-label="Steps">
            <StepButton
                stepper
                label="First step"
                title="Before the first step (Home)"
                sign="|◀"
                is_end=is_first
                go=|stepper| stepper.go(0)
            />
            <StepButton stepper label="Step back" title="Step back (←)" sign="◀" is_end=is_first go=Stepper::back />
            <StepButton
                stepper
                label="Step forward"
                title="Step forward (→)"
                sign="▶"
                is_end=is_last
                go=Stepper::forward
            />
            <StepButton
                stepper
                label="Last step"
                title="Last step (End)"
                sign="▶|"
                is_end=is_last
                go=|stepper| stepper.go(usize::MAX)
            />
            {slider}
        </div>
    }
}

/// A button that goes to another step.
#[component]
fn StepButton(
    /// What it moves.
    stepper: Stepper,
    /// Its name.
    label: &'static str,
    /// What it does, and the key that does the same.
    title: &'static str,
    /// What it shows.
    sign: &'static str,
    /// There is nowhere to go.
    is_end: Signal<bool>,
    /// Goes there.
    go: fn(Stepper),
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="icon-button"
            aria-label=label
            title=title
            // A disabled button would lose the focus on the way.
            aria-disabled=move || is_end.get().to_string()
            on:click=move |_| go(stepper)
            on:keydown=move |event| {
                stepper.press(&event);
            }
        >
            <span aria-hidden="true">{sign}</span>
        </button>
    }
}

/// The decisions around the present one.
#[component]
fn Lines(
    /// What choosing a line moves.
    stepper: Stepper,
) -> impl IntoView {
    let page = stepper.page;
    let listed = Memo::new(move |_| page_of_step(stepper.step.get(), stepper.count.get()));
    let lines = Memo::new(move |_| {
        page.record.with(|record| {
            page.analysis
                .with(|analysis| step_lines(&analysis.graph, record, listed.get()))
        })
    });
    let list = NodeRef::<html::Ol>::new();
    let to_step = move |step: usize| {
        view! {
            <li>
                <button type="button" class="link" on:click=move |_| stepper.go_to_line(step)>
                    {format!("To step {step}")}
                </button>
            </li>
        }
    };
    let earlier = move || listed.with(|listed| (listed.start > 1).then(|| listed.start - 1));
    let later =
        move || listed.with(|listed| (listed.end <= stepper.count.get()).then_some(listed.end));
    view! {
        <ol
            class="steps-list"
            aria-label="Decisions"
            node_ref=list
            on:keydown=move |event| {
                if stepper.press(&event) {
                    stepper.wants_focus.set(true);
                }
            }
        >
            {move || earlier().map(to_step)}
            <ForEnumerate
                each=move || lines.get()
                key=|line| line.step
                children=move |place, line| {
                    let step = line.step;
                    view! { <Line stepper list step line=row_at(lines, place, line) /> }
                }
            />
            {move || later().map(to_step)}
        </ol>
    }
}

/// A decision; choosing it goes there. One line is reached by the tab key.
#[component]
fn Line(
    /// What choosing the line moves.
    stepper: Stepper,
    /// The list that it stands in.
    list: NodeRef<html::Ol>,
    /// Its number.
    step: usize,
    /// What it says.
    line: Memo<StepLine>,
) -> impl IntoView {
    let is_done = Memo::new(move |_| step <= stepper.step.get());
    let is_present = Memo::new(move |_| step == stepper.step.get());
    // Before the first step it is the first line.
    let is_reached = Memo::new(move |_| step == stepper.step.get().max(1));
    let button = NodeRef::<html::Button>::new();
    Effect::new(move || {
        if is_reached.get()
            && let (Some(list), Some(button)) = (list.get(), button.get())
        {
            browser::reveal_in(&list, &button);
            if stepper.wants_focus.get() {
                // An element in the page takes the focus.
                let _ = button.focus();
                stepper.wants_focus.set(false);
            }
        }
    });
    view! {
        <li class:is-done=is_done class:is-present=is_present class:is-to-come=move || !is_done.get()>
            <button
                type="button"
                class="link"
                node_ref=button
                tabindex=move || if is_reached.get() { "0" } else { "-1" }
                aria-current=move || if is_present.get() { "step" } else { "false" }
                on:click=move |_| stepper.go_to_line(step)
            >
                <span class="step-number">{step}</span>
                " "
                <span class="step-words">{move || line.with(|line| sentence(&line.decision))}</span>
                " "
                <span class="step-kernels">{move || line.with(|line| line.kernels.clone())}</span>
            </button>
        </li>
    }
}
