//! What the visitor has clicked, with its arithmetic, the reason and what can be done: beside the
//! graph, on a phone at the bottom of the screen.

use crate::app::covers::closes_on_back;
use crate::app::queries::WhySeparate;
use crate::app::state::{FocusRequest, Page, Selection, SetIfChanged, Tab};
use crate::components::charts::enlarged_chart::EnlargedChart;
use crate::components::keyed_rows::row_at;
use crate::components::merge_buttons::MergeButtons;
use crate::components::number::Parts;
use crate::components::sentence::sentence;
use crate::components::verdict::VerdictWords;
use fuseline_browser as browser;
use fuseline_core::OpId;
use fuseline_core::analysis::advice::Advice;
use fuseline_view::picture::dag::looks::iteration_note;
use fuseline_view::present::inspect::{
    Fact, Inspected, inspect_edge, inspect_kernel, inspect_op, inspect_tensor,
};
use fuseline_view::present::manual::Change;
use fuseline_view::present::verdict::VerdictText;
use leptos::prelude::*;
use std::sync::Arc;

/// The part of the canvas that the card and the buttons below it cover at most.
pub(super) const CARD_SHARE: f64 = 0.79;

/// The card. It follows the selection, and is closed by its button and by Escape.
#[component]
pub fn Inspector() -> impl IntoView {
    let page = Page::of_context();
    let inspected = Memo::new(move |_| {
        let selection = page.inspected();
        let mut inspected = page.analysis.with(|analysis| match selection {
            Selection::Nothing => None,
            Selection::Op(op) => inspect_op(analysis, op),
            Selection::Kernel(kernel) => inspect_kernel(analysis, kernel),
            Selection::Edge { producer, consumer } => inspect_edge(analysis, producer, consumer),
            Selection::Tensor(tensor) => inspect_tensor(analysis, tensor),
        })?;
        if let Some(kernel) = inspected.kernel {
            let note = page
                .pictures
                .drawing
                .with(|drawn| iteration_note(&drawn.layout.repeats, kernel));
            inspected.notes.extend(note);
        }
        // The figures are of the fused kernel, whatever the pictures show.
        if matches!(selection, Selection::Kernel(_)) && !page.chosen.is_fused.get() {
            inspected.heading.push_str(", once fused");
        }
        Some(inspected)
    });
    let of = Memo::new(move |_| inspected.get().unwrap_or_default());
    let is_shown = move || inspected.with(Option::is_some);
    closes_on_back(
        move || is_shown() && browser::shows_sheets(),
        move || close(page),
    );
    view! {
        <Show when=is_shown>
            <Card of />
        </Show>
    }
}

fn close(page: Page) {
    page.keep_focus();
    page.select(Selection::Nothing);
}

#[component]
fn Card(of: Memo<Inspected>) -> impl IntoView {
    let page = Page::of_context();
    let number = move || {
        let kernel = of.with(|of| of.kernel);
        kernel.map(|kernel| {
            view! { <span class=format!("badge {}", page.kernel_class(kernel))>{kernel.number()}</span> }
        })
    };
    let facts = Memo::new(move |_| of.with(|of| of.facts.clone()));
    let derivation = move || {
        let lines = of.with(|of| of.derivation.clone()).into_iter();
        lines.map(|line| view! { <li>{line}</li> }).collect_view()
    };
    let notes = move || {
        let notes = of.with(|of| of.notes.clone());
        let notes = notes.iter().map(|note| view! { <p>{sentence(note)}</p> });
        notes.collect_view()
    };
    // A puzzle asks for the reason, and the text and the tabs are out of sight.
    let tells_all = move || !page.screen.plays_puzzle();
    view! {
        <section
            class="inspector"
            class:is-short=move || !tells_all()
            aria-labelledby="inspector-title"
            style=("--card-share", CARD_SHARE.to_string())
        >
            <header>
                {number}
                <h3 id="inspector-title">{move || of.with(|of| of.heading.clone())}</h3>
                <button type="button" class="icon-button" aria-label="Close" on:click=move |_| close(page)>
                    <span aria-hidden="true">"×"</span>
                </button>
            </header>
            <dl class="inspector-facts">
                <ForEnumerate
                    each=move || facts.get()
                    key=|fact| (fact.what, fact.parts.iter().map(|part| part.figure).collect::<Vec<_>>())
                    children=move |index, fact| view! { <FactLine fact=row_at(facts, index, fact) /> }
                />
            </dl>
            <Show when=tells_all>
                <Reason of />
            </Show>
            {notes}
            <Show when=tells_all>
                <ul class="inspector-derivation">{derivation}</ul>
            </Show>
            <Actions of />
        </section>
    }
}

/// A fact about the selection. Its words may change, but each number keeps its explanation.
#[component]
fn FactLine(fact: Memo<Fact>) -> impl IntoView {
    let what = fact.with_untracked(|fact| fact.what);
    let parts = Signal::derive(move || fact.with(|fact| fact.parts.clone()));
    view! {
        <div>
            <dt>{what}</dt>
            <dd><Parts parts /></dd>
        </div>
    }
}

/// Why two ops are not fused.
#[component]
fn Reason(of: Memo<Inspected>) -> impl IntoView {
    let page = Page::of_context();
    let asked = Memo::new(move |_| of.with(|of| of.asked));
    let is_asked = move || asked.with(Option::is_some);
    let verdict = Memo::new(move |_| {
        let (producer, consumer) = asked.get()?;
        let verdict = page.ask(WhySeparate(producer, consumer));
        let awaited = || Arc::new(VerdictText::words("Computing why they are separate."));
        Some(verdict.unwrap_or_else(awaited))
    });
    let names = move || of.with(|of| sentence(&of.asked_names));
    view! {
        <Show when=is_asked>
            <p>{names} <VerdictWords ops=asked verdict /></p>
        </Show>
    }
}

/// What can be done.
#[component]
fn Actions(of: Memo<Inspected>) -> impl IntoView {
    let page = Page::of_context();
    let enlarged = EnlargedChart::of_context();
    let selection = Memo::new(move |_| page.inspected());
    let change = Memo::new(move |last: Option<&Option<Change>>| {
        let change = of.with(|of| of.change);
        if page.slider.is_held() && last == Some(&change) {
            // While a slider is held, what was possible stays so.
            return change;
        }
        let proposal = page.proposal(change?)?;
        proposal.text.as_ref().and(change)
    });
    let is_attention = Memo::new(move |_| of.with(|of| of.is_attention));
    let attention_button = move || {
        let follow = move |_| {
            page.keep_focus();
            page.follow(Advice::Attention);
        };
        (is_attention.get() && !page.screen.plays_puzzle()).then(|| {
            view! {
                <button type="button" on:click=follow>
                    "Call "<code>"scaled_dot_product_attention"</code>
                </button>
            }
        })
    };
    let change_button = move || {
        let change = change.get()?;
        let words = match change {
            Change::Merge(a, b) | Change::MergeOnTop(a, b) => {
                format!(
                    "Merge kernels {} and {}",
                    a.min(b).number(),
                    a.max(b).number()
                )
            }
            Change::Cut { .. } => "Cut its kernel before it".to_owned(),
        };
        let make = move |_| page.make(change, FocusRequest::GraphKernel);
        Some(view! { <button type="button" on:click=make>{words}</button> })
    };
    let in_text = move || {
        let op = op_of(selection.get()).filter(|_| !page.screen.plays_puzzle())?;
        let show = move |_| {
            if let Some(span) = untrack(|| page.span_of_op(op)) {
                enlarged.close();
                page.show_in_text(span);
            }
        };
        Some(view! { <button type="button" on:click=show>"Show in the text"</button> })
    };
    let in_table = move || {
        let Selection::Kernel(kernel) = selection.get() else {
            return None;
        };
        if page.screen.plays_puzzle() {
            return None;
        }
        let open = move |_| {
            enlarged.close();
            page.screen.tab.set_if_changed(Tab::Kernels);
            // Without the card, which on a phone would cover them.
            page.select(Selection::Kernel(kernel));
            page.screen
                .focus_request
                .set(Some(FocusRequest::KernelDetails(kernel)));
        };
        Some(view! { <button type="button" on:click=open>"Its tensors"</button> })
    };
    // The buttons of an edge merge its two ends.
    let merged = Memo::new(move |_| match selection.get() {
        Selection::Op(_) | Selection::Kernel(_) => of.with(|of| of.kernel),
        _ => None,
    });
    let its_kernel = move || {
        let (Selection::Op(_), Some(kernel)) = (selection.get(), merged.get()) else {
            return None;
        };
        let show = move |_| {
            page.keep_focus();
            page.toggle(Selection::Kernel(kernel));
        };
        Some(
            view! { <button type="button" on:click=show>{format!("Show kernel {}", kernel.number())}</button> },
        )
    };
    view! {
        <p class="inspector-actions">
            <MergeButtons kernel=merged />
            {change_button} {attention_button} {its_kernel} {in_text} {in_table}
        </p>
    }
}

/// The op whose line in the text is shown.
fn op_of(selection: Selection) -> Option<OpId> {
    match selection {
        Selection::Op(op) | Selection::Edge { consumer: op, .. } => Some(op),
        Selection::Nothing | Selection::Kernel(_) | Selection::Tensor(_) => None,
    }
}
