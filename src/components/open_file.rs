//! Opens pasted, dropped and chosen files. JSON, `Op(...)` lines, printed graphs and models are
//! converted to notation; a measurement is shown beside the program that is open.

use crate::app::history::{Origin, example_after};
use crate::app::state::{Notice, NoticeAction, Page};
use crate::components::file_reading::FileReading;
use crate::components::open_profile::open_profile;
use fuseline_browser as browser;
use fuseline_browser::{Event, File};
use fuseline_core::input::check_size;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::diagnostic::Code;
use fuseline_core::notation::edit::paste_lines;
use fuseline_core::notation::{leads_to_export, parse};
use fuseline_core::{Diagnostic, Span};
use fuseline_learn::results::handed_in::{begins_results, handed_in};
use fuseline_view::opened::model_file::{FileKind, ModelFormat, ModelReader, START_BYTES, kind_of};
use fuseline_view::opened::{TextError, converted};
use fuseline_view::present::calibration::taken;
use fuseline_view::present::words::with_hint;
use leptos::ev;
use leptos::prelude::*;
use std::sync::Arc;

/// Opens a file that is dropped anywhere on the page. Without this the browser would open it
/// instead of the page.
pub fn open_dropped_files(page: Page) {
    browser::on_window(ev::dragover, |event| {
        if browser::drags_file(&event) {
            event.prevent_default();
        }
    });
    browser::on_window(ev::drop, move |event| {
        if let Some(file) = browser::dropped_files(&event).into_iter().next() {
            event.prevent_default();
            open_file(page, file);
        }
    });
}

/// Opens a file: a measurement beside the program, anything else in its place, as one undo step.
/// The first bytes of the file say which it is.
pub fn open_file(page: Page, file: File) {
    browser::spawn(async move {
        let file = FileReading::begin(page, file);
        let Some(start) = file.slice(0..file.bytes().min(START_BYTES)).await else {
            return;
        };
        match kind_of(&file.name(), &start) {
            FileKind::Text => open_text(page, &file).await,
            FileKind::Model(format) => open_model(page, &file, format).await,
            FileKind::Calibrations => open_calibrations(page, &file).await,
            FileKind::Device => {
                if let Some(text) = file.text().await {
                    page.take_device(&text);
                }
            }
            FileKind::Measurements => page.tell_failure(
                "This file was not opened: it holds measured patterns. `fuseline calibrate FILE --json` makes records of them, which open here.".to_owned(),
            ),
            FileKind::Profile(kind) => open_profile(page, &file, kind).await,
            FileKind::Other(what) => {
                page.tell_failure(format!("This file was not opened: {what}."));
            }
        }
    });
}

async fn open_text(page: Page, file: &FileReading) {
    let bytes = usize::try_from(file.bytes()).unwrap_or(usize::MAX);
    if let Err(problem) = check_size(bytes) {
        page.tell_failure(format!("This file was not opened: {problem}."));
        return;
    }
    match file.text().await {
        Some(text) if text.trim().is_empty() => {
            page.tell_failure("This file was not opened: it is empty.".to_owned());
        }
        Some(text) if begins_results(&text) => match handed_in(&text) {
            Ok(results) => page.origin.handed_in.set(results),
            Err(problem) => page.tell_failure(problem),
        },
        Some(text) => open(page, &text),
        None => {}
    }
}

/// Takes records of fused patterns, by which the search can decide.
async fn open_calibrations(page: Page, file: &FileReading) {
    let Some(text) = file.text().await else {
        return;
    };
    match Calibrations::read(&text) {
        Ok(calibrations) => {
            page.tell(taken(&calibrations));
            page.chosen
                .own_calibrations
                .set(Some(Arc::new(calibrations)));
        }
        Err(problem) => page.tell_failure(format!(
            "These records of fused patterns were not taken: {problem}."
        )),
    }
}

/// Opens a model, of which only the graph is read, slice by slice. Between two slices the page
/// stays alive.
async fn open_model(page: Page, file: &FileReading, format: ModelFormat) {
    let mut reader = ModelReader::new(format, file.bytes());
    while let Some(wanted) = reader.wanted() {
        let Some(slice) = file.slice(wanted).await else {
            return;
        };
        if let Err(problem) = reader.feed(&slice) {
            page.tell_failure(problem);
            return;
        }
        file.show_progress(reader.progress());
    }
    match reader.finish() {
        Ok(converted) => {
            let is_changed = page.open(converted.text.clone());
            tell_opened(page, converted.summary, converted.is_incomplete, is_changed);
        }
        Err(problem) => page.tell_failure(problem),
    }
}

/// Replaces the text by a program in any form, as one undo step.
fn open(page: Page, text: &str) {
    match converted(text) {
        Some(Ok(converted)) => {
            let is_changed = page.open(converted.text.clone());
            tell_opened(page, converted.summary, converted.is_incomplete, is_changed);
        }
        Some(Err(TextError::Foreign(refusal))) => tell_foreign(page, &refusal),
        other => {
            if let Some(refusal) = foreign(text) {
                tell_foreign(page, &refusal);
                return;
            }
            // Notation, or a text that could not be converted, is shown as it is.
            let is_changed = page.open(text.replace("\r\n", "\n"));
            if let Some(Err(problem)) = other {
                tell_opened(page, problem.to_string(), true, is_changed);
            }
        }
    }
}

/// The refusal of a text of another tool. The editor shows a pasted one with it; a file leaves the
/// visitor's text alone.
fn foreign(text: &str) -> Option<Diagnostic> {
    let mut problems = parse(text).diagnostics.into_iter();
    problems.find(|problem| problem.code == Code::ForeignText)
}

/// Says what a text of another tool is and how its model comes in.
fn tell_foreign(page: Page, refusal: &Diagnostic) {
    page.screen.notice.set(Some(Notice {
        text: format!("This text was not opened: {}.", with_hint(refusal)),
        is_failure: true,
        action: leads_to_export(refusal).then_some(NoticeAction::FromPytorch),
    }));
}

/// Whether a text is too large for the editor. If so, a message says it.
pub fn is_too_large(page: Page, text: &str) -> bool {
    let problem = check_size(text.len()).err();
    if let Some(problem) = &problem {
        page.tell_failure(format!("This text was not taken: {problem}."));
    }
    problem.is_some()
}

/// Replaces the selected text by pasted ops, as lines of notation. The browser pastes what is
/// notation already.
pub fn paste(page: Page, event: &Event, selected: Span) {
    let Some(pasted) = browser::pasted_text(event) else {
        return;
    };
    if is_too_large(page, &pasted) {
        event.prevent_default();
        return;
    }
    let Some(converted) = converted(&pasted) else {
        return;
    };
    event.prevent_default();
    let text = page.text.get_untracked();
    match converted {
        Ok(converted) => {
            let joined = paste_lines(&text, selected, &converted.text);
            let is_changed = replace(page, &text, joined);
            tell_opened(page, converted.summary, converted.is_incomplete, is_changed);
        }
        Err(problem) => {
            let before = text.get(..selected.start).unwrap_or(&text);
            let after = text.get(selected.end..).unwrap_or_default();
            let joined = format!("{before}{}{after}", pasted.replace("\r\n", "\n"));
            replace(page, &text, joined);
            match problem {
                TextError::Foreign(refusal) => tell_foreign(page, &refusal),
                problem => page.tell_failure(problem),
            }
        }
    }
}

/// Replaces `text` by `now`.
fn replace(page: Page, text: &str, now: String) -> bool {
    let example = example_after(page.origin.example.get_untracked(), text, &now);
    let choices = page.choices_with(&now);
    page.replace(now, Origin::Single, example, choices)
}

/// Shows a message about an opened text, with *Undo* if the visitor's text has changed.
fn tell_opened(page: Page, text: String, is_failure: bool, is_changed: bool) {
    page.screen.notice.set(Some(Notice {
        text,
        is_failure,
        action: is_changed.then_some(NoticeAction::Undo),
    }));
}
