//! Files to take away.

use crate::app::state::Page;
use crate::browser;
use crate::present::report::Report;
use leptos::prelude::*;
use serde::Serialize;

const JSON: &str = "application/json";

/// Offers the text as it stands.
pub(super) fn export_text(page: Page) {
    page.text
        .with_untracked(|text| browser::download("fuseline.fuse", "text/plain", text));
}

/// Offers every number, as JSON.
pub(super) fn export_analysis(page: Page) {
    let analysis = page.analysis.get_untracked();
    let diagnostics = page.diagnostics.get_untracked();
    let report = (page.text).with_untracked(|text| Report::new(&analysis, &diagnostics, text));
    save(page, "fuseline-analysis.json", &report);
}

/// Offers the ops with their shapes, as JSON.
pub(super) fn export_ops(page: Page) {
    save(
        page,
        "fuseline-ops.json",
        &page.analysis.get_untracked().graph.ops,
    );
}

fn save(page: Page, name: &str, content: &impl Serialize) {
    match serde_json::to_string_pretty(content) {
        Ok(json) => browser::download(name, JSON, &json),
        Err(problem) => page.tell_failure(format!("This cannot be written as JSON: {problem}.")),
    }
}
