//! The op list, as text or as a table.

use super::diagnostics::DiagnosticsList;
use super::editor::Editor;
use super::open_file::OpenButton;
use super::ops_table::OpsTable;
use super::results::tabs::{TabList, panel_id, tab_id};
use crate::app::state::{OpsView, Page};
use leptos::prelude::*;

/// Two tabs over one text.
#[component]
pub fn Ops(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    let is_hidden = move |view| move || page.ops_view.get() != view;
    view! {
        <section
            class="panel ops"
            class:is-table=move || page.ops_view.get() == OpsView::Table
            id="ops"
            aria-labelledby="ops-title"
        >
            <header class="panel-head">
                <h2 id="ops-title">"Operations"</h2>
                <TabList open=page.ops_view label=OpsView::label labelled_by="ops-title" />
                <OpenButton page />
            </header>
            <div
                class="ops-panel"
                role="tabpanel"
                id=panel_id(OpsView::Text)
                aria-labelledby=tab_id(OpsView::Text)
                hidden=is_hidden(OpsView::Text)
            >
                <Editor page />
            </div>
            <div
                class="ops-panel"
                role="tabpanel"
                id=panel_id(OpsView::Table)
                aria-labelledby=tab_id(OpsView::Table)
                hidden=is_hidden(OpsView::Table)
            >
                <OpsTable page />
            </div>
            <DiagnosticsList page />
        </section>
    }
}
