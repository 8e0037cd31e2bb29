//! Files to take away.

use crate::app::state::Page;
use crate::browser;
use crate::present::report::Report;
use leptos::prelude::*;

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
    let json = page
        .text
        .with_untracked(|text| browser::to_json(&Report::new(&analysis, &diagnostics, text)));
    save(page, "fuseline-analysis.json", json);
}

/// Offers the ops with their shapes, as JSON.
pub(super) fn export_ops(page: Page) {
    let json = browser::to_json(&page.analysis.get_untracked().graph.ops);
    save(page, "fuseline-ops.json", json);
}

fn save(page: Page, name: &str, json: Option<String>) {
    match json {
        Some(json) => browser::download(name, JSON, &json),
        None => page.tell_failure("The browser could not write this as JSON."),
    }
}
