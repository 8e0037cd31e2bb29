//! A stepper through the decisions of the policy; graph, charts and figures follow it.

use super::dag_parts::stop_id;
use crate::app::state::{Page, Selection, SetIfChanged};
use crate::browser::{
    self, Event, Later, Place, listen, set_attribute, set_class, set_flag, set_value_of,
};
use crate::core::fusion::record::{Decision, Record};
use crate::core::{Analysis, OpId};
use crate::picture::dag::steps::Stop;
use crate::views::steps::{line_id, list, present};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use std::time::Duration;

const LIST: &str = "steps-list";
const SLIDER: &str = "steps-slider";
/// Ops up to which the graph is drawn anew at every step; with more of them it waits for the controls to rest.
const AT_ONCE_OPS: usize = 500;
const REST: Duration = Duration::from_millis(150);

/// The tab. Its controls stand at the lower edge of the window, so that they and the graph are seen together.
#[component]
pub fn StepsView(
    /// The page whose policy is replayed.
    page: Page,
) -> impl IntoView {
    // Before the graph and the charts, where those take long.
    let at = RwSignal::new(usize::MAX);
    // Opened, it shows where the decisions led; left, the page shows that again.
    Effect::new(move || {
        browser::set_root_attribute("data-dock", Some("steps"));
        page.step.set_if_changed(Some(usize::MAX));
    });
    on_cleanup(move || {
        mark(untrack(|| decided_ops(page)), Vec::new());
        browser::set_root_attribute("data-dock", None);
        page.step.set(None);
        if matches!(page.selection.get_untracked(), Selection::Kernel(_)) {
            // Kernels have other numbers on the way.
            page.selection.set(Selection::Nothing);
        }
    });
    // Whoever sends the page to the end takes the controls along.
    Effect::new(move || {
        if page.step.get() == Some(usize::MAX) {
            at.set_if_changed(usize::MAX);
        }
    });
    let (mut now, mut all) = (Place::new("steps-now"), Place::new(LIST));
    Effect::new(move || {
        let step = at.get();
        if page.step.get().is_none() {
            return;
        }
        let (analysis, record) = (page.analysis.get(), page.record.get());
        let count = record.decisions.len();
        let step = step.min(count);
        now.show(present(&analysis.graph, &record, step));
        all.show(list(&analysis.graph, &record, step));
        browser::next_frame(move || browser::reveal_in(LIST, &line_id(step)));
        set_attribute(SLIDER, "max", &count.to_string());
        set_value_of(SLIDER, &step.to_string());
        let place = [&step.to_string(), " of ", &count.to_string()];
        set_attribute(SLIDER, "aria-valuetext", &place.concat());
        for (id, is_end) in [
            ("steps-first", step == 0),
            ("steps-back", step == 0),
            ("steps-forward", step == count),
            ("steps-last", step == count),
        ] {
            // A disabled button would lose the focus on the way.
            set_attribute(id, "aria-disabled", if is_end { "true" } else { "false" });
        }
        set_flag("steps-tools", "hidden", count == 0);
    });
    let mut marked = Vec::new();
    Effect::new(move || {
        // Drawn anew, the graph has lost its marks.
        page.analysis.track();
        let ops = decided_ops(page);
        mark(std::mem::replace(&mut marked, ops.clone()), ops);
    });
    let rest = Later::after(REST);
    listen("steps", &["click", "input", "keydown"], move |event| {
        if hear(page, at, event).is_some() {
            let ops = page
                .analysis
                .with_untracked(|analysis| analysis.graph.ops.len());
            if ops <= AT_ONCE_OPS {
                follow(page, at);
            } else {
                rest.call(move || follow(page, at));
            }
        }
    });
    view! {
        <div id="steps">
            <div class="steps-dock">
                <div class="steps-tools" id="steps-tools" role="group" aria-label="Steps">
                    <button type="button" id="steps-first" class="icon-button" aria-label="First step" title="Before the first step (Home)"><span aria-hidden="true">"|◀"</span></button>
                    <button type="button" id="steps-back" class="icon-button" aria-label="Step back" title="Step back (←)"><span aria-hidden="true">"◀"</span></button>
                    <button type="button" id="steps-forward" class="icon-button" aria-label="Step forward" title="Step forward (→)"><span aria-hidden="true">"▶"</span></button>
                    <button type="button" id="steps-last" class="icon-button" aria-label="Last step" title="Last step (End)"><span aria-hidden="true">"▶|"</span></button>
                    <input type="range" id=SLIDER aria-label="Step" min="0" step="1" />
                </div>
                <p class="steps-now" id="steps-now" role="status" aria-live="polite"></p>
            </div>
            <ol class="steps-list" id=LIST aria-label="Decisions"></ol>
        </div>
    }
}

/// Goes where an event asks for.
fn hear(page: Page, at: RwSignal<usize>, event: &Event) -> Option<()> {
    let count = page.record.with_untracked(|record| record.decisions.len());
    let step = at.get_untracked().min(count);
    let line = browser::closest_number(event, "data-step");
    let next = match event.type_().as_str() {
        "click" => match line {
            Some(step) => step,
            None => match browser::closest_id(event, "button")?.as_str() {
                "steps-first" => 0,
                "steps-back" => step.saturating_sub(1),
                "steps-forward" => step + 1,
                _ => count,
            },
        },
        "input" => browser::input_value(event).parse().ok()?,
        // The slider has these keys by itself.
        _ if browser::closest_id(event, "[type=range]").is_some() => return None,
        _ => {
            let next = match browser::event_as::<KeyboardEvent>(event)?.key().as_str() {
                "ArrowLeft" | "ArrowUp" => step.saturating_sub(1),
                "ArrowRight" | "ArrowDown" => step + 1,
                "Home" => 0,
                "End" => count,
                _ => return None,
            };
            // The arrows would scroll the page.
            event.prevent_default();
            next
        }
    };
    let next = next.min(count);
    at.set_if_changed(next);
    if line.is_some() {
        browser::focus_soon(line_id(next));
    }
    Some(())
}

/// The page shows the step that the controls are at.
fn follow(page: Page, at: RwSignal<usize>) {
    if page.step.get_untracked().is_none() {
        return;
    }
    let step = at.get_untracked();
    page.is_fused.set_if_changed(true);
    page.step.set_if_changed(Some(step));
    page.selection.set_if_changed(untrack(|| {
        decided(&page.analysis.get(), &page.record.get(), step)
    }));
}

/// The last of the first `step` decisions.
fn last(record: &Record, step: usize) -> Option<&Decision> {
    let step = step.min(record.decisions.len());
    record.decisions.get(step.checked_sub(1)?)
}

/// The ops of the last decision that is shown.
fn decided_ops(page: Page) -> Vec<OpId> {
    let Some(step) = page.step.get() else {
        return Vec::new();
    };
    (page.record).with(|record| last(record, step).map_or_else(Vec::new, Decision::ops))
}

/// Marks ops in the graph, once it is drawn, and others no longer.
fn mark(before: Vec<OpId>, now: Vec<OpId>) {
    browser::next_frame(move || {
        for (ops, is_decided) in [(before, false), (now, true)] {
            for op in ops {
                set_class(&stop_id(Stop::Op(op)), "is-decided", is_decided);
            }
        }
    });
}

/// What the last decision is about: an edge, an op, or with many ops their kernel.
fn decided(analysis: &Analysis, record: &Record, step: usize) -> Selection {
    let mut ops = match last(record, step) {
        // Not the op that its reason names.
        Some(Decision::Refused { ops, .. }) => ops.clone(),
        Some(decision) => decision.ops(),
        None => return Selection::Nothing,
    };
    // A producer comes before its consumer.
    ops.sort_unstable();
    match ops[..] {
        [] => Selection::Nothing,
        [op] => Selection::Op(op),
        [producer, consumer, ..] => {
            let readers = analysis.graph.successors.get(producer);
            let kernel = |op: OpId| analysis.partition.kernel_of.get(op).copied();
            if ops.len() == 2 && readers.is_some_and(|readers| readers.contains(&consumer)) {
                Selection::Edge { producer, consumer }
            } else if kernel(producer) == kernel(consumer) {
                kernel(producer).map_or(Selection::Nothing, Selection::Kernel)
            } else {
                Selection::Op(producer)
            }
        }
    }
}
