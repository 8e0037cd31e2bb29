//! What is wrong with the text, or assumed about it, as a list that leads to the places.

use super::announcer::Announcer;
use super::editor::go_to;
use crate::app::state::Page;
use crate::browser::{self, Place};
use crate::core::model::diagnostic::line_and_column;
use crate::core::{Diagnostic, Severity};
use crate::markup::Markup;
use crate::views::words::add_with_code;
use leptos::prelude::*;

/// Findings that are listed; more are counted.
const LISTED: usize = 40;
const PANEL_ID: &str = "diagnostics";
const LIST_ID: &str = "findings";
const FINDING_ID: &str = "finding-";
const STATUS_ID: &str = "diagnostics-status";
const MORE_ID: &str = "findings-more";

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
    let mut list = Place::new(LIST_ID);
    Effect::new(move || {
        let all = page.diagnostics.get();
        list.show(page.text.with(|text| findings(&all, text)));
        browser::set_class(PANEL_ID, "is-empty", all.is_empty());
        let unlisted = all.len().saturating_sub(LISTED);
        browser::set_flag(MORE_ID, "hidden", unlisted == 0);
        browser::set_text(MORE_ID, &format!("and {unlisted} more"));
    });
    browser::listen(LIST_ID, &["click"], move |event| {
        let button = browser::closest_id(event, "button").unwrap_or_default();
        let finding = button
            .strip_prefix(FINDING_ID)
            .and_then(|place| place.parse().ok());
        let all = page.diagnostics.get_untracked();
        if let Some(span) = finding.and_then(|finding: usize| all.get(finding)?.span) {
            go_to(page, span);
        }
    });
    let mut voice = Announcer::new(STATUS_ID);
    Effect::new(move || voice.say(summary(page)));
    view! {
        <div class="diagnostics" id="diagnostics">
            <ul id="findings" aria-label="Problems in the text"></ul>
            <p class="quiet" id="findings-more" hidden></p>
            <p class="sr-only" id="diagnostics-status" role="status" aria-live="polite"></p>
        </div>
    }
}

fn findings(all: &[Diagnostic], text: &str) -> Markup {
    let mut list = Markup::new();
    for (place, finding) in all.iter().take(LISTED).enumerate() {
        let word = severity_word(finding.severity);
        let at = finding.span.map_or(String::new(), |span| {
            let (line, column) = line_and_column(text, span.start);
            format!(" {line}:{column}")
        });
        list.fill(
            r#"<li class="{}"><button type="button" id="{}"><span class="diagnostic-place"><span class="diagnostic-word">{}</span><span>{}</span></span><span class="diagnostic-message">"#,
            &[&["diagnostic is-", word].concat(), &[FINDING_ID, &place.to_string()].concat(), word, &at],
        );
        add_with_code(&mut list, &finding.message);
        list.raw(r#"</span><span class="diagnostic-hint">"#);
        add_with_code(&mut list, finding.hint.as_deref().unwrap_or_default());
        list.raw("</span></button></li>");
    }
    list
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
