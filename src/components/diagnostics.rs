//! What is wrong with the text, or assumed about it, as a list that leads to the places.

use super::announcer::Announcer;
use super::editor::go_to;
use super::words::with_code;
use crate::core::diagnostic::line_and_column;
use crate::core::{Diagnostic, Severity};
use crate::state::Page;
use leptos::prelude::*;

/// Findings that are listed; more are counted.
const LISTED: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Finding {
    severity: Severity,
    place: String,
    message: String,
    hint: String,
}

impl Finding {
    /// Its place moves only when it moves: a longer number in front of it leaves the list alone.
    fn of(diagnostic: &Diagnostic, text: &str) -> Self {
        Self {
            severity: diagnostic.severity,
            place: diagnostic.span.map_or(String::new(), |span| {
                let (line, column) = line_and_column(text, span.start);
                format!("{line}:{column}")
            }),
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone().unwrap_or_default(),
        }
    }
}

/// The word for people.
pub const fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The list below the editor.
#[component]
pub fn DiagnosticsList(
    /// The page whose text is judged.
    page: Page,
) -> impl IntoView {
    let findings = Memo::new(move |_| {
        page.diagnostics.with(|all| {
            page.text.with(|text| {
                all.iter()
                    .take(LISTED)
                    .map(|d| Finding::of(d, text))
                    .collect::<Vec<_>>()
            })
        })
    });
    let open = move |finding: &Finding| {
        let span = page.diagnostics.with_untracked(|all| {
            page.text
                .with_untracked(|text| all.iter().find(|d| Finding::of(d, text) == *finding)?.span)
        });
        if let Some(span) = span {
            go_to(page, span);
        }
    };
    let unlisted = Memo::new(move |_| {
        page.diagnostics
            .with(|all| all.len().saturating_sub(LISTED))
    });
    let mut voice = Announcer::new("diagnostics-status");
    crate::platform::effect(move || voice.say(summary(page)));
    view! {
        <div class="diagnostics" id="diagnostics" class:is-empty=move || findings.with(Vec::is_empty)>
            <ul aria-label="Problems in the text">
                <For each=move || findings.get().into_iter().enumerate() key=Clone::clone let((_, finding))>
                    {show_finding(finding, open)}
                </For>
            </ul>
            <Show when=move || { unlisted.get() > 0 }>
                <p class="quiet">{move || format!("and {} more", unlisted.get())}</p>
            </Show>
            <p class="sr-only" id="diagnostics-status" role="status" aria-live="polite"></p>
        </div>
    }
}

fn show_finding(finding: Finding, open: impl Fn(&Finding) + 'static) -> impl IntoView {
    let word = severity_word(finding.severity);
    let place = finding.place.clone();
    let (message, hint) = (with_code(&finding.message), with_code(&finding.hint));
    view! {
        <li class=format!("diagnostic is-{word}")>
            <button type="button" on:click=move |_| open(&finding)>
                <span class="diagnostic-place"><span class="diagnostic-word">{word}</span>" "{place}</span>
                <span class="diagnostic-message">{message}</span>
                <span class="diagnostic-hint">{hint}</span>
            </button>
        </li>
    }
}

fn summary(page: Page) -> String {
    let Some((worst, count)) = page.worst() else {
        return "The text has no problems.".to_owned();
    };
    let plural = if count == 1 { "" } else { "s" };
    let stale = if page.is_stale.get() {
        " The pictures show the last text without errors."
    } else {
        ""
    };
    format!(
        "{count} {}{plural} in the text.{stale}",
        severity_word(worst)
    )
}
