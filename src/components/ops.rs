//! The op list, as text or as a table.

use super::diagnostics::DiagnosticsList;
use super::editor::Editor;
use super::open_file::OpenButton;
use super::ops_table::OpsTable;
use super::tabs::{Tabs, tabs};
use crate::platform;
use crate::state::{OpsView, Page};
use leptos::prelude::*;

const PANEL_ID: &str = "ops";
const TABS_ID: &str = "ops-tabs";

/// Two tabs over one text.
#[component]
pub fn Ops(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    tabs(
        page,
        &Tabs {
            list: TABS_ID,
            names: &["text", "table"],
            open: |page| usize::from(page.ops_view.get() == OpsView::Table),
            choose: |page, place| {
                let view = [OpsView::Text, OpsView::Table].get(place).copied();
                page.ops_view.set_if_changed(view.unwrap_or_default());
            },
        },
    );
    platform::effect(move || {
        let is_table = page.ops_view.get() == OpsView::Table;
        platform::set_class(PANEL_ID, "is-table", is_table);
    });
    view! {
        <section class="panel ops" id="ops" aria-labelledby="ops-title">
            <header class="panel-head">
                <h2 id="ops-title">"Operations"</h2>
                <div class="tabs" role="tablist" id="ops-tabs" aria-labelledby="ops-title">
                    <button type="button" role="tab" id="tab-text" aria-controls="panel-text">"Text"</button>
                    <button type="button" role="tab" id="tab-table" aria-controls="panel-table">"Table"</button>
                </div>
                <OpenButton page />
            </header>
            <div class="ops-panel" role="tabpanel" id="panel-text" aria-labelledby="tab-text">
                <Editor page />
            </div>
            <div class="ops-panel" role="tabpanel" id="panel-table" aria-labelledby="tab-table">
                <OpsTable page />
            </div>
            <DiagnosticsList page />
        </section>
    }
}
