//! Programs from outside: pasted, dropped or opened; JSON and `Op(...)` lines become notation.

use super::editor::{TEXT_ID, follow_change};
use crate::app::history::{Origin, keeps_little};
use crate::app::state::{Notice, Page};
use crate::browser;
use crate::core::notation::edit::paste_lines;
use crate::core::notation::import::{Form, OpList, form_of, program_of_op_list, read_op_lines};
use crate::core::notation::{Parsed, print};
use crate::core::{Severity, Span};
use crate::picture::code::{byte_of_utf16, line_at};
use crate::views::words::with_hint;
use leptos::prelude::*;

/// Largest file that is opened, in bytes.
const MAX_FILE_BYTES: f64 = 8e6;
const BUTTON_ID: &str = "open-file";

/// A program that came in another form.
struct Converted {
    text: String,
    ops: usize,
    form: &'static str,
    problem: Option<String>,
}

/// The notation of `text` when it is a JSON list or holds `Op(...)` lines.
fn convert(text: &str) -> Option<Result<Converted, String>> {
    let (form, parsed) = match form_of(text) {
        Form::Notation => return None,
        Form::OpLines => ("Op(...) lines", read_op_lines(text)),
        Form::Json => {
            let json = browser::from_json(text);
            match json.and_then(|json| OpList::new(json).map_err(str::to_owned)) {
                Ok(list) => ("JSON", program_of_op_list(&list)),
                Err(problem) => {
                    return Some(Err(format!("This is no JSON list of ops: {problem}.")));
                }
            }
        }
    };
    Some(converted(form, text, &parsed))
}

fn converted(form: &'static str, text: &str, parsed: &Parsed) -> Result<Converted, String> {
    let errors: Vec<_> = parsed
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .collect();
    let problem = errors.first().map(|first| with_hint(first));
    if parsed.program.ops.is_empty() {
        let problem = problem.unwrap_or_else(|| "it holds no ops".to_owned());
        return Err(format!(
            "Nothing could be read from this {form}: {problem}."
        ));
    }
    let mut notation = print(&parsed.program);
    // Lines that could not be read are kept, as comments.
    for span in errors.iter().filter_map(|d| d.span) {
        for line in line_at(text, span.start).slice(text).lines() {
            notation.push_str("# not read: ");
            notation.push_str(line.trim());
            notation.push('\n');
        }
    }
    Ok(Converted {
        text: notation,
        ops: parsed.program.ops.len(),
        form,
        problem,
    })
}

/// Replaces the text by a program in any of its forms, as one step back.
fn open(page: Page, text: &str) {
    let problem = match convert(text) {
        None => None,
        Some(Ok(converted)) => {
            let is_changed = page.open(converted.text.clone(), None);
            return tell(page, &converted, is_changed);
        }
        Some(Err(problem)) => Some(problem),
    };
    // What could not be converted stays at hand as it is.
    page.open(text.replace("\r\n", "\n"), None);
    if let Some(problem) = problem {
        page.tell_failure(problem);
    }
}

fn tell(page: Page, converted: &Converted, is_changed: bool) {
    let plural = if converted.ops == 1 { "op" } else { "ops" };
    let (problem, is_failure) = match &converted.problem {
        Some(problem) => (format!(" Some of it could not be read: {problem}."), true),
        None => (String::new(), false),
    };
    page.notice.set(Some(Notice {
        text: format!(
            "{} {plural} from {} became notation.{problem}",
            converted.ops, converted.form
        ),
        is_failure,
        offers_undo: is_changed,
    }));
}

/// Pasted ops go where notation would, in lines of their own; notation is pasted as it is, by the browser.
pub fn paste(page: Page, event: &browser::Event) {
    let Some(pasted) = browser::pasted_text(event) else {
        return;
    };
    match convert(&pasted) {
        None => {}
        // The browser still pastes it, and that ends what was said before.
        Some(Err(problem)) => browser::next_frame(move || page.tell_failure(problem)),
        Some(Ok(converted)) => {
            event.prevent_default();
            let text = page.text.get_untracked();
            let selected = browser::caret(TEXT_ID).unwrap_or_default();
            let byte = |units| byte_of_utf16(&text, units as usize);
            let selected = Span::new(byte(selected.start), byte(selected.end));
            let joined = paste_lines(&text, selected, &converted.text);
            let example = page.example.get_untracked();
            let example = example.filter(|_| !keeps_little(&text, &joined));
            let is_changed = page.replace(joined, Origin::Single, example, None);
            tell(page, &converted, is_changed);
            follow_change(page, &text);
        }
    }
}

/// Opens a dropped file.
pub fn drop_file(page: Page, event: &browser::Event) {
    if let Some(file) = browser::dropped_file(event) {
        event.prevent_default();
        open_file(page, &file);
    }
}

fn open_file(page: Page, file: &browser::File) {
    if file.size() > MAX_FILE_BYTES {
        page.tell_failure("This file is too large for an op list.");
        return;
    }
    browser::read_file(file, move |text| match text {
        Some(text) => open(page, &text),
        None => page.tell_failure("The browser could not read this file."),
    });
}

/// A button that opens a file.
#[component]
pub fn OpenButton(
    /// The page whose text is replaced.
    page: Page,
) -> impl IntoView {
    browser::listen(BUTTON_ID, &["change"], move |event| {
        if let Some(file) = browser::chosen_file(event) {
            open_file(page, &file);
        }
    });
    view! {
        <label class="button open-button" id="open-file" title="Notation, a JSON list of ops, or Op(...) lines">
            <input
                type="file"
                class="sr-only"
                accept=".fuse,.txt,.json,.py,text/plain,application/json"
            />
            "Open…"
        </label>
    }
}
