//! The op list, as text or as a table.

pub mod code;
pub mod completion;
pub mod editor;
pub mod field;
pub mod from_pytorch;
pub mod functions;
pub mod line_fixes;
pub mod open_menu;
pub mod problems;
pub mod row;
pub mod table;
pub mod table_state;
pub mod tensors;

use crate::app::stage::{has_ops_open, is_staged};
use crate::app::state::{OpsView, Page};
use crate::components::diagnostics::DiagnosticsList;
use crate::components::tabs::{TabList, panel_id, tab_id};
use editor::Editor;
use functions::FunctionsPanel;
use fuseline_view::page::view::View;
use leptos::prelude::*;
use open_menu::OpenMenu;
use table::OpsTable;

/// The op list as text and as a table, and what an op may call; or, folded, the tab that opens
/// them. The text area stays mounted all the time, so that it keeps its caret and its scroll
/// position.
#[component]
pub fn Ops() -> impl IntoView {
    let page = Page::of_context();
    let is_open = move |view| page.screen.ops_view.get() == view;
    let has_ops_open = has_ops_open(page.screen);
    let is_folded = move || !has_ops_open();
    let panel = |view: OpsView, content: fn() -> AnyView| {
        view! {
            <Show when=move || page.screen.ops_view.get() == view>
                <div class="ops-panel" role="tabpanel" id=panel_id(view) aria-labelledby=tab_id(view)>{content()}</div>
            </Show>
        }
    };
    view! {
        <section
            class="panel ops"
            class:is-folded=is_folded
            class:is-table=move || is_open(OpsView::Table)
            class:is-staged=is_staged(View::Operations)
            aria-labelledby="ops-title"
        >
            <FoldButton />
            <div class="ops-body" hidden=is_folded>
                <header class="panel-head">
                    <h2 id="ops-title" class="sr-only">"Operations"</h2>
                    <TabList open=page.screen.ops_view label=OpsView::label labelled_by="ops-title" />
                    <OpenMenu />
                </header>
                <div
                    class="ops-panel"
                    role="tabpanel"
                    id=panel_id(OpsView::Text)
                    aria-labelledby=tab_id(OpsView::Text)
                    hidden=move || !is_open(OpsView::Text)
                >
                    <Editor />
                </div>
                {panel(OpsView::Table, || view! { <OpsTable /> }.into_any())}
                {panel(OpsView::Functions, || view! { <FunctionsPanel /> }.into_any())}
                <DiagnosticsList />
            </div>
        </section>
    }
}

/// Folds the pane to this button, and opens it again.
#[component]
fn FoldButton() -> impl IntoView {
    let page = Page::of_context();
    let sign = move || {
        if page.screen.is_ops_open.get() {
            "‹"
        } else {
            "›"
        }
    };
    view! {
        <button
            type="button"
            class="fold-button"
            aria-expanded=move || page.screen.is_ops_open.get().to_string()
            title=move || if page.screen.is_ops_open.get() { "Hide the program" } else { "Edit the program as text or as a table" }
            on:click=move |_| page.screen.is_ops_open.update(|is_open| *is_open = !*is_open)
        >
            <span>"Program"</span>
            <span class="fold-sign" aria-hidden="true">{sign}</span>
        </button>
    }
}
