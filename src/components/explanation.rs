//! The explanation of a number: beside it, on a phone at the bottom of the screen.

use crate::app::covers::closes_on_back;
use crate::app::state::Page;
use fuseline_browser::{self as browser, on_window};
use fuseline_view::present::derivation::{Derivation, Term};
use fuseline_view::present::figure::{Convention, Explanation};
use leptos::prelude::*;
use leptos::{ev, html};

/// The explanation of the number that was pressed. It follows the page, and ends with its number,
/// on Escape and on a press elsewhere, but not on a slider.
#[component]
pub fn ExplanationCard() -> impl IntoView {
    let page = Page::of_context();
    let card = NodeRef::<html::Div>::new();
    let explanation = Memo::new(move |_| page.explanation());
    let is_explained = Memo::new(move |_| explanation.with(Option::is_some));
    let is_asked = Memo::new(move |_| page.screen.explained.with(Option::is_some));
    Effect::new(move || {
        if is_asked.get() && !is_explained.get() {
            close(page, card);
        }
    });
    closes_on_back(
        move || is_explained.get() && browser::shows_sheets(),
        move || close(page, card),
    );
    Effect::new(move || {
        explanation.track();
        page.screen.tab.track();
        // Rows and tabs are unmounted after this effect.
        browser::next_frame(move || {
            let is_gone = page.screen.explained.try_with_untracked(|explained| {
                let opener = explained.as_ref().map(|explained| &explained.opener);
                opener.is_some_and(|opener| !opener.is_mounted())
            });
            if is_gone == Some(true) {
                close(page, card);
            }
        });
    });
    view! {
        // Not only while it is explained: the focus can return only from a card that is still there
        // when its number goes, whichever effect runs first.
        <Show when=move || is_asked.get()>
            <Card card explanation />
        </Show>
    }
}

/// Ends the explanation. With the focus in it, that returns to the number.
fn close(page: Page, card: NodeRef<html::Div>) {
    let card = browser::mounted(card);
    if card.is_some_and(|card| browser::has_focus_within(&card)) {
        page.screen.explained.with_untracked(|explained| {
            if let Some(explained) = explained {
                explained.opener.focus();
            }
        });
        // The number may be gone.
        page.keep_focus();
    }
    page.stop_explaining();
}

#[component]
fn Card(
    card: NodeRef<html::Div>,
    /// The explanation; `None` only until the card closes.
    explanation: Memo<Option<Explanation>>,
) -> impl IntoView {
    let page = Page::of_context();
    Effect::new(move || {
        page.screen.explained.with(|explained| {
            if let (Some(explained), Some(_)) = (explained, card.get()) {
                browser::show_beside(card, &explained.opener);
            }
        });
    });
    on_window(ev::pointerdown, move |event| {
        let is_inside = |card: &_| browser::is_within(&event, card);
        let is_here = card.get_untracked().is_some_and(|card| is_inside(&card));
        // A slider shows what the number does, and another number takes the card.
        if !is_here && !browser::is_on(&event, ".slider, .explains") {
            page.stop_explaining();
        }
    });
    on_window(ev::keydown, move |event| {
        if event.key() == "Escape" {
            close(page, card);
        }
    });
    let part = move |part: fn(&Explanation) -> String| {
        move || explanation.with(|explanation| explanation.as_ref().map(part))
    };
    let exact = move || {
        let exact = explanation.with(|explanation| explanation.as_ref()?.exact());
        exact.map(|exact| view! { <span class="quiet">"= " {exact}</span> })
    };
    let derivation = move || {
        explanation.with(|explanation| {
            Some(derivation_view(
                explanation.as_ref()?.term.as_ref()?.derivation.as_ref()?,
            ))
        })
    };
    let notes = move || {
        explanation.with(|explanation| {
            let notes = explanation
                .iter()
                .flat_map(|explanation| &explanation.notes);
            notes
                .map(|note| view! { <p>{note.clone()}</p> })
                .collect_view()
        })
    };
    let conventions = move || {
        explanation.with(|explanation| {
            let conventions = explanation
                .iter()
                .flat_map(|explanation| &explanation.conventions);
            let line = |convention: &Convention| {
                let Convention { choice, sentence } = convention.clone();
                view! { <li>{choice}". "<span class="quiet">{sentence}</span></li> }
            };
            conventions.map(line).collect_view()
        })
    };
    let sources = move || {
        explanation.with(|explanation| {
            let sources = explanation
                .iter()
                .flat_map(|explanation| &explanation.sources);
            sources
                .map(|source| view! { <li>{source.clone()}</li> })
                .collect_view()
        })
    };
    let has = move |of: fn(&Explanation) -> bool| {
        move || explanation.with(|explanation| explanation.as_ref().is_some_and(of))
    };
    view! {
        <div
            class="explanation"
            popover="manual"
            role="dialog"
            tabindex="-1"
            aria-labelledby="explanation-title"
            node_ref=card
        >
            <div class="explanation-head">
                <h2 id="explanation-title">{part(|explanation| explanation.title.clone())}</h2>
                <button type="button" class="icon-button" aria-label="Close" on:click=move |_| close(page, card)>
                    <span aria-hidden="true">"×"</span>
                </button>
            </div>
            <p class="quiet">{part(|explanation| explanation.subject.clone())}</p>
            <p class="explanation-value"><strong>{part(|explanation| explanation.value.clone())}</strong>" "{exact}</p>
            <p class="explanation-formula">{part(|explanation| format!("= {}", explanation.formula))}</p>
            {derivation}
            {notes}
            <Show when=has(|explanation| !explanation.conventions.is_empty())>
                <h3>"How it is counted"</h3>
                <ul>{conventions}</ul>
            </Show>
            <Show when=has(|explanation| !explanation.sources.is_empty())>
                <h3>"Source"</h3>
                <ul>{sources}</ul>
            </Show>
        </div>
    }
}

/// A calculation, on one line or on a line for each term. The derivations of the terms stand below.
fn derivation_view(derivation: &Derivation) -> AnyView {
    let derivation = derivation.simplest();
    let line = derivation.line();
    let is_listed = line.is_none();
    let terms = derivation
        .terms
        .iter()
        .filter(|term| is_listed || term.derivation.is_some());
    let terms = terms.map(term_view).collect_view();
    view! {
        {line.map(|line| view! { <p class="explanation-line">"= " {line}</p> })}
        <ul class="explanation-terms">{terms}</ul>
    }
    .into_any()
}

fn term_view(term: &Term) -> impl IntoView + use<> {
    // A term without a name is called by its calculation.
    let line = term.derivation.as_ref().and_then(Derivation::line);
    let (name, found) = match line.filter(|_| term.name.is_empty()) {
        Some(line) => (line, None),
        None => (
            term.name.clone(),
            term.derivation.as_ref().map(derivation_view),
        ),
    };
    view! {
        <li>
            <span>{name}</span>
            <span class="number">{term.text()}</span>
            {found}
        </li>
    }
}
