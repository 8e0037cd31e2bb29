//! The *Steps* tab: goes through the decisions of the policy, while graph, charts and figures
//! follow.

use crate::app::state::{Page, Selection, SetIfChanged};
use crate::components::keyed_rows::row_at;
use crate::components::sentence::sentence;
use crate::components::work_line::WorkLine;
use fuseline_browser::{self as browser, Debounce};
use fuseline_view::present::format::format_count;
use fuseline_view::present::steps::{StepLine, page_of_step, step_of};
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use std::time::Duration;

/// Up to this many ops the page follows each step at once. With more it follows when the controls
/// rest.
const FOLLOW_AT_ONCE_OPS: usize = 500;

/// The controls rest when they have not moved for this long.
const REST: Duration = Duration::from_millis(150);

/// The state of the controls.
#[derive(Clone, Copy)]
struct Stepper {
    page: Page,
    /// The step of the controls while the page has not followed yet.
    ahead: RwSignal<Option<usize>>,
    rest: Debounce,
    /// Number of decisions.
    count: Memo<usize>,
    /// Number of decisions that are made at the step of the controls.
    step: Memo<usize>,
    /// Whether the line of the present step shall take the focus.
    wants_focus: RwSignal<bool>,
}

impl Stepper {
    fn new(page: Page) -> Self {
        let ahead = RwSignal::new(None);
        let count = Memo::new(move |_| {
            page.stepping
                .steps
                .with(|steps| steps.as_ref().map_or(0, |steps| steps.count()))
        });
        let step = Memo::new(move |_| {
            let step = ahead.get().or_else(|| page.stepping.step.get());
            step.unwrap_or(usize::MAX).min(count.get())
        });
        Self {
            page,
            ahead,
            rest: Debounce::after(REST),
            count,
            step,
            wants_focus: RwSignal::new(false),
        }
    }

    /// Goes to `step`, or to the last one if there are fewer.
    fn go(self, step: usize) {
        let step = step.min(self.count.get_untracked());
        let follow = move || {
            self.page.show_step(step);
            self.ahead.set_if_changed(None);
        };
        let ops = (self.page.analysis).with_untracked(|analysis| analysis.graph.ops.len());
        if ops <= FOLLOW_AT_ONCE_OPS {
            follow();
        } else {
            self.ahead.set(Some(step));
            self.rest.call(follow);
        }
    }

    /// Goes to `step` and focuses its line.
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

    /// Handles a key of the controls. `false` if it is none of them.
    fn press(self, event: &KeyboardEvent) -> bool {
        match event.key().as_str() {
            "ArrowLeft" | "ArrowUp" => self.back(),
            "ArrowRight" | "ArrowDown" => self.forward(),
            "Home" => self.go(0),
            "End" => self.go(usize::MAX),
            _ => return false,
        }
        // Keeps the page from scrolling.
        event.prevent_default();
        true
    }
}

/// The content of the tab. Its controls are docked at the lower edge of the window, so that the
/// graph is visible with them.
#[component]
pub fn StepsPanel() -> impl IntoView {
    let page = Page::of_context();
    let stepper = Stepper::new(page);
    // Starts after the last decision. Closing the tab shows the final kernels again.
    page.stepping.step.set(Some(usize::MAX));
    browser::set_root_attribute("data-dock", Some("steps"));
    on_cleanup(move || {
        browser::set_root_attribute("data-dock", None);
        page.stepping.step.set(None);
        if matches!(page.selection.get_untracked(), Selection::Kernel(_)) {
            // At an earlier step the number belongs to another kernel.
            page.select(Selection::Nothing);
        }
    });
    let present = Memo::new(move |_| {
        let step = stepper.step.get();
        (page.stepping.steps).with(|steps| {
            let steps = steps.as_ref()?;
            Some((page.analysis).with(|analysis| steps.sentence(&analysis.graph, step)))
        })
    });
    view! {
        <div>
            <div class="steps-dock">
                <Show when=move || { stepper.count.get() > 0 }>
                    <Controls stepper />
                </Show>
                <p class="steps-now" role="status" aria-live="polite">
                    {move || present.with(|present| present.as_deref().map(sentence))}
                </p>
            </div>
            <Show when=move || page.stepping.is_awaited.get()>
                <WorkLine />
            </Show>
            <Lines stepper />
        </div>
    }
}

/// Buttons and a slider.
#[component]
fn Controls(stepper: Stepper) -> impl IntoView {
    let is_first = Signal::derive(move || stepper.step.get() == 0);
    let is_last = Signal::derive(move || stepper.step.get() == stepper.count.get());
    // One closure, so that `max` is set before `value`: a range input clamps its value.
    let slider = move || {
        let (step, count) = (stepper.step.get(), stepper.count.get());
        view! {
            <input
                type="range"
                aria-label="Step"
                min="0"
                step="1"
                max=count
                aria-valuetext=step_of(step, count)
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
    stepper: Stepper,
    label: &'static str,
    /// The tooltip: what the button does, and the key that does the same.
    title: &'static str,
    /// The sign that it shows.
    sign: &'static str,
    /// Whether there is no step to go to.
    is_end: Signal<bool>,
    /// Goes to the step.
    go: fn(Stepper),
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="icon-button"
            aria-label=label
            title=title
            // Not `disabled`, because a disabled button loses the focus.
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

/// The page of decisions that contains the present one.
#[component]
fn Lines(
    /// The state that choosing a line changes.
    stepper: Stepper,
) -> impl IntoView {
    let page = stepper.page;
    let listed = Memo::new(move |_| page_of_step(stepper.step.get(), stepper.count.get()));
    let lines = Memo::new(move |_| {
        let lines = page.stepping.steps.with(|steps| {
            let steps = steps.as_ref()?;
            Some((page.analysis).with(|analysis| steps.lines(&analysis.graph, listed.get())))
        });
        lines.unwrap_or_default()
    });
    let list = NodeRef::<html::Ol>::new();
    let to_step = move |step: usize| {
        view! {
            <li>
                <button type="button" class="link" on:click=move |_| stepper.go_to_line(step)>
                    {format!("To step {}", format_count(step))}
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
                children=move |index, line| {
                    let step = line.step;
                    view! { <Line stepper list step line=row_at(lines, index, line) /> }
                }
            />
            {move || later().map(to_step)}
        </ol>
    }
}

/// A decision. A click goes to its step. The tab key reaches only one line of the list.
#[component]
fn Line(
    stepper: Stepper,
    /// The list that contains it.
    list: NodeRef<html::Ol>,
    /// The number of the decision.
    step: usize,
    /// The text of the line.
    line: Memo<StepLine>,
) -> impl IntoView {
    let is_done = Memo::new(move |_| step <= stepper.step.get());
    let is_present = Memo::new(move |_| step == stepper.step.get());
    // Step 0 has no line, so the first line stands for it.
    let is_tab_stop = Memo::new(move |_| step == stepper.step.get().max(1));
    let button = NodeRef::<html::Button>::new();
    Effect::new(move || {
        if is_tab_stop.get()
            && let (Some(list), Some(element)) = (list.get(), button.get())
        {
            browser::reveal_in(&list, &element);
            if stepper.wants_focus.get() {
                browser::focus(button);
                stepper.wants_focus.set(false);
            }
        }
    });
    view! {
        <li class:is-present=is_present class:is-to-come=move || !is_done.get()>
            <button
                type="button"
                class="link"
                node_ref=button
                tabindex=move || if is_tab_stop.get() { "0" } else { "-1" }
                aria-current=move || if is_present.get() { "step" } else { "false" }
                on:click=move |_| stepper.go_to_line(step)
            >
                <span class="step-number">{format_count(step)}</span>
                " "
                <span class="step-words">{move || line.with(|line| sentence(&line.decision))}</span>
                " "
                <span class="step-kernels">{move || line.with(|line| line.kernels.clone())}</span>
            </button>
        </li>
    }
}
