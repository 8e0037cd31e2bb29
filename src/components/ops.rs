//! The op list, as text or as a table.

use super::diagnostics::DiagnosticsList;
use super::editor::Editor;
use super::open_file::OpenButton;
use super::ops_table::OpsTable;
use crate::platform;
use crate::state::{OpsView, Page};
use leptos::prelude::*;

const TEXT_TAB: &str = "tab-text";
const TABLE_TAB: &str = "tab-table";

/// Two tabs over one text.
#[component]
pub fn Ops(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    let view = page.ops_view;
    let tab = move |this: OpsView, id: &'static str, panel: &'static str, name: &'static str| {
        let is_shown = move || view.get() == this;
        view! {
            <button
                type="button"
                role="tab"
                id=id
                aria-controls=panel
                aria-selected=move || is_shown().to_string()
                tabindex=move || if is_shown() { "0" } else { "-1" }
                on:click=move |_| view.set(this)
                on:keydown=move |event| {
                    if matches!(event.key().as_str(), "ArrowLeft" | "ArrowRight") {
                        let (other, id) = match this {
                            OpsView::Text => (OpsView::Table, TABLE_TAB),
                            OpsView::Table => (OpsView::Text, TEXT_TAB),
                        };
                        view.set(other);
                        platform::focus(id);
                    }
                }
            >
                {name}
            </button>
        }
    };
    view! {
        <section class="panel ops" class:is-table=move || view.get() == OpsView::Table aria-labelledby="ops-title">
            <header class="panel-head">
                <h2 id="ops-title">"Operations"</h2>
                <div class="tabs" role="tablist" aria-labelledby="ops-title">
                    {tab(OpsView::Text, TEXT_TAB, "panel-text", "Text")}
                    {tab(OpsView::Table, TABLE_TAB, "panel-table", "Table")}
                </div>
                <OpenButton page />
            </header>
            <div
                class="ops-panel"
                role="tabpanel"
                id="panel-text"
                aria-labelledby=TEXT_TAB
                hidden=move || view.get() != OpsView::Text
            >
                <Editor page />
            </div>
            <div
                class="ops-panel"
                role="tabpanel"
                id="panel-table"
                aria-labelledby=TABLE_TAB
                hidden=move || view.get() != OpsView::Table
            >
                <Show when=move || view.get() == OpsView::Table>
                    <OpsTable page />
                </Show>
            </div>
            <DiagnosticsList page />
        </section>
    }
}
