//! Opens pasted, dropped and chosen programs. JSON, `Op(...)` lines and ONNX models are converted to notation.

use crate::app::history::{Origin, keeps_little};
use crate::app::model_file::{FileKind, START_BYTES, converted_onnx, kind_of, stopped};
use crate::app::opened::{Converted, converted};
use crate::app::state::{Notice, NoticeAction, Page};
use crate::browser;
use crate::browser::{Event, File};
use crate::core::Span;
use crate::core::input::check_size;
use crate::core::notation::edit::paste_lines;
use crate::core::onnx::Skim;
use leptos::ev;
use leptos::prelude::*;
use std::cell::Cell;

/// Opens a file that is dropped anywhere on the page. Without this the browser would open it instead of the page.
pub fn open_dropped_files(page: Page) {
    browser::on_window(ev::dragover, |event| {
        if browser::drags_file(&event) {
            event.prevent_default();
        }
    });
    browser::on_window(ev::drop, move |event| {
        if let Some(file) = browser::dropped_file(&event) {
            event.prevent_default();
            open_file(page, file);
        }
    });
}

/// Opens a file, as one undo step. What it is, its first bytes tell.
pub fn open_file(page: Page, file: File) {
    let request = LATEST.get().wrapping_add(1);
    LATEST.set(request);
    browser::spawn(async move {
        let bytes = size_of(&file);
        let start = browser::read_slice(&file, 0..bytes.min(START_BYTES as u64)).await;
        match start.as_deref().map(kind_of) {
            None => page.tell_failure(UNREADABLE),
            Some(FileKind::Text) => open_text(page, &file).await,
            Some(FileKind::Onnx) => open_onnx(page, &file, request).await,
            Some(FileKind::Other(what)) => {
                page.tell_failure(format!("This file was not opened: {what}."));
            }
        }
    });
}

thread_local! {
    /// The number of the last file that was to be opened: one that takes long ends when another follows it.
    static LATEST: Cell<u32> = const { Cell::new(0) };
}

const UNREADABLE: &str = "The browser could not read this file.";

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of bytes; a float past the largest integer becomes that integer"
)]
fn size_of(file: &File) -> u64 {
    file.size() as u64
}

async fn open_text(page: Page, file: &File) {
    let bytes = usize::try_from(size_of(file)).unwrap_or(usize::MAX);
    if let Err(problem) = check_size(bytes) {
        page.tell_failure(format!("This file was not opened: {problem}."));
        return;
    }
    match browser::read_file(file).await {
        Some(text) => open(page, &text),
        None => page.tell_failure(UNREADABLE),
    }
}

/// Opens a model, of which only the graph is read, slice by slice. Between two slices the page stays alive.
async fn open_onnx(page: Page, file: &File, request: u32) {
    let mut skim = Skim::new(size_of(file));
    let mut told_ms = browser::now_ms();
    while let Some(wanted) = skim.wanted() {
        let Some(slice) = browser::read_slice(file, wanted).await else {
            page.tell_failure(UNREADABLE);
            return;
        };
        if LATEST.get() != request {
            return;
        }
        if let Err(problem) = skim.feed(&slice) {
            page.tell_failure(stopped(&problem));
            return;
        }
        if browser::now_ms() - told_ms > TELL_EVERY_MS {
            told_ms = browser::now_ms();
            page.tell(format!(
                "{}: {:.0} % read.",
                file.name(),
                100.0 * skim.progress()
            ));
        }
    }
    match converted_onnx(skim) {
        Ok(converted) => {
            let is_changed = page.open(converted.text.clone(), None);
            tell(page, converted, is_changed);
        }
        Err(problem) => page.tell_failure(problem),
    }
}

/// How often the visitor sees how much of a file has been read.
const TELL_EVERY_MS: f64 = 300.0;

/// Replaces the text by a program in any form, as one undo step.
fn open(page: Page, text: &str) {
    match converted(text) {
        Some(Ok(converted)) => {
            let is_changed = page.open(converted.text.clone(), None);
            tell(page, converted, is_changed);
        }
        other => {
            // Notation, or a text that could not be converted, is shown as it is.
            page.open(text.replace("\r\n", "\n"), None);
            if let Some(Err(problem)) = other {
                page.tell_failure(problem);
            }
        }
    }
}

/// Whether a text for the editor is too large. Then the visitor is told.
pub fn is_too_large(page: Page, text: &str) -> bool {
    let problem = check_size(text.len()).err();
    if let Some(problem) = &problem {
        page.tell_failure(format!("This text was not taken: {problem}."));
    }
    problem.is_some()
}

/// Replaces the selected text by pasted ops, as lines of notation. The browser pastes what is notation already.
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
            tell(page, converted, is_changed);
        }
        Err(problem) => {
            let before = text.get(..selected.start).unwrap_or(&text);
            let after = text.get(selected.end..).unwrap_or_default();
            let joined = format!("{before}{}{after}", pasted.replace("\r\n", "\n"));
            replace(page, &text, joined);
            page.tell_failure(problem);
        }
    }
}

/// Replaces `text` by `now`. The text counts as its example as long as most of it stays.
fn replace(page: Page, text: &str, now: String) -> bool {
    let example = page.example.get_untracked();
    let example = example.filter(|_| !keeps_little(text, &now));
    page.replace(now, Origin::Single, example, None)
}

fn tell(page: Page, converted: Converted, is_changed: bool) {
    page.notice.set(Some(Notice {
        text: converted.summary,
        is_failure: converted.is_incomplete,
        action: is_changed.then_some(NoticeAction::Undo),
    }));
}
