//! The field that finds ops and tensors by name.

use crate::app::state::{FocusRequest, Page, Selection};
use fuseline_browser as browser;
use fuseline_view::present::search::{Found, found, position_words};
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;

/// Least number of ops for which there is a field: fewer are found at a glance.
const MIN_OPS: usize = 30;

/// Finds ops and tensors by name, and selects the match, so that the graph shows it or the part
/// that stands for it.
#[component]
pub fn GraphSearch() -> impl IntoView {
    let page = Page::of_context();
    let is_large = Memo::new(move |_| {
        page.pictures
            .drawing
            .with(|d| d.analysis.graph.ops.len() >= MIN_OPS)
    });
    let field = NodeRef::<html::Input>::new();
    Effect::new(move || {
        if page.screen.focus_request.get() == Some(FocusRequest::Find) {
            page.screen.focus_request.set(None);
            browser::focus(field);
        }
    });
    view! {
        <Show when=move || is_large.get()>
            <Field field />
        </Show>
    }
}

#[component]
fn Field(field: NodeRef<html::Input>) -> impl IntoView {
    let page = Page::of_context();
    let query = RwSignal::new(String::new());
    let index = RwSignal::new(0_usize);
    // Names change with the layout only, not with sizes.
    let matches = Memo::new(move |_| {
        page.pictures
            .drawing
            .with(|drawn| query.with(|query| found(&drawn.analysis.graph, query)))
    });
    let go = move |to: usize| {
        index.set(to);
        let what = matches.with_untracked(|matches| matches.get(to).copied());
        match what {
            Some(Found::Op(op)) => page.select(Selection::Op(op)),
            Some(Found::Tensor(tensor)) => page.select(Selection::Tensor(tensor)),
            None => {}
        }
    };
    let step = move |is_back: bool| {
        let count = matches.with_untracked(Vec::len);
        if count > 0 {
            let step = if is_back { count - 1 } else { 1 };
            go((index.get_untracked().min(count - 1) + step) % count);
        }
    };
    let clear = move || {
        query.set(String::new());
        index.set(0);
    };
    let press = move |event: KeyboardEvent| match &*event.key() {
        "Enter" => {
            event.prevent_default();
            step(event.shift_key());
        }
        "Escape" if query.with_untracked(|query| !query.is_empty()) => {
            event.prevent_default();
            event.stop_propagation();
            if matches.with_untracked(Vec::is_empty) {
                page.select(Selection::Nothing);
            } else {
                // The match gets the focus, as in a browser's own search.
                page.screen.focus_request.set(Some(FocusRequest::Graph));
            }
            clear();
        }
        _ => {}
    };
    let has_query = move || query.with(|query| !query.trim().is_empty());
    let has_several = move || matches.with(|matches| matches.len() > 1);
    let words = move || {
        has_query().then(|| matches.with(|matches| position_words(index.get(), matches.len())))
    };
    view! {
        <div class="graph-search" role="search" aria-label="Operations and tensors of the graph">
            <span class="graph-search-field">
            <input
                type="search"
                aria-label="Find an operation or tensor"
                placeholder="Find by name"
                title="Enter: next, Shift+Enter: previous, Escape: to the graph"
                autocomplete="off"
                spellcheck="false"
                node_ref=field
                prop:value=query
                on:input:target=move |event| {
                    query.set(event.target().value());
                    go(0);
                }
                on:keydown=press
            />
            <span class="graph-search-place" role="status">{words}</span>
            </span>
            <Show when=has_several>
                <button type="button" class="icon-button" aria-label="Previous match" on:click=move |_| step(true)>
                    <span aria-hidden="true">"↑"</span>
                </button>
                <button type="button" class="icon-button" aria-label="Next match" on:click=move |_| step(false)>
                    <span aria-hidden="true">"↓"</span>
                </button>
            </Show>
        </div>
    }
}
