//! The op list, as text or as a table.

pub mod code;
pub mod completion;
pub mod editor;
pub mod field;
pub mod from_pytorch;
pub mod line_fixes;
pub mod open_menu;
pub mod problems;
pub mod row;
pub mod table;
pub mod table_state;
pub mod tensors;

use crate::app::learning::points_at;
use crate::app::presenting::is_presented;
use crate::app::state::{OpsView, Page};
use crate::components::diagnostics::DiagnosticsList;
use crate::components::lesson::Learn;
use crate::components::tabs::{TabList, panel_id, tab_id};
use editor::Editor;
use fuseline_view::page::view::View;
use leptos::prelude::*;
use open_menu::OpenMenu;
use table::OpsTable;

/// Two tabs over one text, and the lessons. The text area stays mounted while the table is open, so that it keeps its caret and its scroll
/// position.
#[component]
pub fn Ops() -> impl IntoView {
    let page = Page::of_context();
    let is_open = move |view| page.ops_view.get() == view;
    view! {
        <section
            class="panel ops"
            class:is-table=move || is_open(OpsView::Table)
            class:is-learn=move || is_open(OpsView::Learn)
            class:is-pointed=points_at(View::Operations) class:is-presented=is_presented(View::Operations)
            aria-labelledby="ops-title"
        >
            <header class="panel-head">
                <h2 id="ops-title">"Operations"</h2>
                <TabList open=page.ops_view label=OpsView::label labelled_by="ops-title" />
                <Show when=move || !is_open(OpsView::Learn)>
                    <OpenMenu />
                </Show>
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
            <Show when=move || is_open(OpsView::Table)>
                <div
                    class="ops-panel"
                    role="tabpanel"
                    id=panel_id(OpsView::Table)
                    aria-labelledby=tab_id(OpsView::Table)
                >
                    <OpsTable />
                </div>
            </Show>
            <Show when=move || is_open(OpsView::Learn)>
                <div
                    class="ops-panel"
                    role="tabpanel"
                    id=panel_id(OpsView::Learn)
                    aria-labelledby=tab_id(OpsView::Learn)
                >
                    <Learn />
                </div>
            </Show>
            <DiagnosticsList />
        </section>
    }
}
