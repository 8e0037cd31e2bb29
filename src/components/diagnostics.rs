//! The list of errors, warnings and notes below the editor.

use super::announcer::Announcer;
use super::fixes::FixButtons;
use super::sentence::sentence;
use crate::app::state::Page;
use fuseline_view::present::findings::{FindingRow, finding_rows, findings_summary};
use leptos::prelude::*;

/// Number of findings that are listed. Further ones are only counted.
const MAX_ROWS: usize = 40;

/// Errors, warnings and notes, each a button that leads to its place in the text.
#[component]
pub fn DiagnosticsList() -> impl IntoView {
    let page = Page::of_context();
    let rows = Memo::new(move |_| {
        let fixes = page.checked.fixes.get();
        (page.checked.diagnostics).with(|all| {
            page.text
                .with(|text| finding_rows(all, &fixes, text, MAX_ROWS))
        })
    });
    let hidden_count = move || {
        page.checked
            .diagnostics
            .with(|all| all.len().saturating_sub(MAX_ROWS))
    };
    let summary = Memo::new(move |_| {
        let shown = page.checked.shown_in_error.get();
        page.checked
            .diagnostics
            .with(|all| findings_summary(all, shown))
    });
    let findings = move || {
        let rows = rows.get().into_iter();
        rows.map(|row| view! { <Finding row /> }).collect_view()
    };
    view! {
        // The id is the target of `aria-describedby` in the editor.
        <div class="diagnostics" class:is-empty=move || rows.with(Vec::is_empty) id="diagnostics">
            <ul aria-label="Problems in the text">{findings}</ul>
            <Show when=move || { hidden_count() > 0 }>
                <p class="quiet">{move || format!("and {} more", hidden_count())}</p>
            </Show>
            <Announcer text=summary />
        </div>
    }
}

/// A button that leads to the place of a finding.
#[component]
fn Finding(row: FindingRow) -> impl IntoView {
    let page = Page::of_context();
    let FindingRow {
        severity,
        line_and_column,
        message,
        hint,
        span,
        fixes,
        is_from_pytorch,
    } = row;
    let go_there = move |_| {
        if let Some(span) = span {
            page.show_in_text(span);
        }
    };
    view! {
        <li class=format!("diagnostic is-{severity}")>
            <button type="button" class="diagnostic-row" on:click=go_there>
                <span class="diagnostic-place">
                    {severity}
                    {line_and_column.map(|place| format!(" {place}"))}
                </span>
                <span>{sentence(&message)}</span>
                {hint.map(|hint| view! { <span class="diagnostic-hint">{sentence(&hint)}</span> })}
            </button>
            <FixButtons fixes />
            {is_from_pytorch.then(|| view! { <FromPytorchButton /> })}
        </li>
    }
}

/// Leads to the file that writes a PyTorch model in this notation.
#[component]
fn FromPytorchButton() -> impl IntoView {
    let is_open = Page::of_context().screen.is_from_pytorch_open;
    view! {
        <div class="fixes">
            <button type="button" class="fix" aria-haspopup="dialog" on:click=move |_| is_open.set(true)>
                "From PyTorch"
            </button>
        </div>
    }
}
