//! The op list, as text or as a table.

use super::diagnostics::DiagnosticsList;
use super::editor::Editor;
use super::open_file::OpenButton;
use super::ops_table::OpsTable;
use crate::platform::{self, set_attribute, set_flag};
use crate::state::{OpsView, Page, set_if_changed};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

const PANEL_ID: &str = "ops";
const TABS_ID: &str = "ops-tabs";
/// Each view with the ids of its tab and its panel.
const VIEWS: [(OpsView, &str, &str); 2] = [
    (OpsView::Text, "tab-text", "panel-text"),
    (OpsView::Table, "tab-table", "panel-table"),
];

/// Two tabs over one text.
#[component]
pub fn Ops(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    platform::effect(move || show_view(page.ops_view.get()));
    platform::listen(TABS_ID, &["click", "keydown"], move |event| {
        let Some(tab) = platform::closest_id(event, "[role=tab]") else {
            return;
        };
        let is_other = match platform::event_as::<KeyboardEvent>(event) {
            None => false,
            Some(key) if matches!(key.key().as_str(), "ArrowLeft" | "ArrowRight") => true,
            Some(_) => return,
        };
        for (view, id, _) in VIEWS {
            if (id == tab) != is_other {
                set_if_changed(page.ops_view, view);
                platform::focus(id);
            }
        }
    });
    view! {
        <section class="panel ops" id=PANEL_ID aria-labelledby="ops-title">
            <header class="panel-head">
                <h2 id="ops-title">"Operations"</h2>
                <div class="tabs" role="tablist" id=TABS_ID aria-labelledby="ops-title">
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

fn show_view(shown: OpsView) {
    platform::set_class(PANEL_ID, "is-table", shown == OpsView::Table);
    for (view, tab, panel) in VIEWS {
        let is_shown = view == shown;
        set_attribute(
            tab,
            "aria-selected",
            if is_shown { "true" } else { "false" },
        );
        set_attribute(tab, "tabindex", if is_shown { "0" } else { "-1" });
        set_flag(panel, "hidden", !is_shown);
    }
}
