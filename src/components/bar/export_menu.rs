//! Exports.

use super::menu::Menu;
use crate::app::jobs::{Answer, Question};
use crate::app::state::Page;
use crate::browser::download;
use crate::present::export::OpList;
use crate::present::report::Report;
use leptos::prelude::*;
use serde::Serialize;

const ANALYSIS_FILE: &str = "fuseline-analysis.json";

/// Saves the text, the analysis or the list of ops as a file.
#[component]
pub fn ExportMenu() -> impl IntoView {
    let page = Page::of_context();
    let export_text = move |_| page.save_text();
    let export_analysis = move |_| {
        let shown = page.shown.get_untracked();
        if shown.is_long() {
            let job = shown.asked(Question::Report);
            page.worker.when_answered(&job, |answer| {
                if let Some(Answer::Report(json)) = answer {
                    download(ANALYSIS_FILE, "application/json", json);
                }
            });
            return;
        }
        let report = page.diagnostics.with_untracked(|all| {
            page.text
                .with_untracked(|text| Report::new(&shown.analysis, all, text))
                .with_attributes(&shown.parsed.program, &shown.statement_of_op)
        });
        save(page, ANALYSIS_FILE, &report);
    };
    let export_ops = move |_| {
        let shown = page.shown.get_untracked();
        let list = OpList::new(&shown.analysis.graph)
            .with_attributes(&shown.parsed.program, &shown.statement_of_op);
        save(page, "fuseline-ops.json", &list);
    };
    view! {
        <Menu label="Export" is_at_end=true closes_on_choice=true panel_class="menu-list">
            <button type="button" on:click=export_text>
                "Text "<small>"the notation, as it stands"</small>
            </button>
            <button type="button" on:click=export_analysis>
                "Analysis "<small>"JSON, every number"</small>
            </button>
            <button type="button" on:click=export_ops>
                "Op list "<small>"JSON, shapes resolved"</small>
            </button>
        </Menu>
    }
}

fn save(page: Page, name: &str, content: &impl Serialize) {
    match serde_json::to_string_pretty(content) {
        Ok(json) => download(name, "application/json", &json),
        Err(problem) => page.tell_failure(format!("This cannot be written as JSON: {problem}.")),
    }
}
