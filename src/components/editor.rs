//! The op list as text: a text area over coloured lines.
//!
//! Both lie in one cell of a grid inside one scroller. The lines give the cell its size and the text area
//! fills it, so the two never scroll apart.

use super::open_file::{drop_file, paste};
use crate::core::{OpId, Severity, Span};
use crate::history::{Origin, end_of_change};
use crate::picture::code::{CodeLine, byte_of_utf16, code_lines, line_at, line_of, utf16_of_byte};
use crate::platform::{self, Caret};
use crate::state::{OpsView, Page, Selection, set_if_changed};
use leptos::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Id of the text area.
pub const TEXT_ID: &str = "program-text";
const SCROLLER_ID: &str = "program-scroller";

/// Text area, colours, marks and the band of the selected op.
#[component]
pub fn Editor(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    let lines = Memo::new(move |_| {
        page.text
            .with(|text| page.diagnostics.with(|d| code_lines(text, d)))
    });
    let keyed = move || {
        lines.with(|lines| {
            lines
                .iter()
                .enumerate()
                .map(|(number, line)| (key(number, line), line.clone()))
                .collect::<Vec<_>>()
        })
    };
    let bands = Memo::new(move |_| selected_lines(page));
    let has_error = move || {
        page.worst()
            .is_some_and(|(worst, _)| worst == Severity::Error)
    };
    let follow_caret = move || {
        if let Some(op) = op_at_caret(page) {
            set_if_changed(page.selection, Selection::Op(op));
        }
    };
    view! {
        <div
            class="editor"
            id=SCROLLER_ID
            // Without this the browser would leave the page to show the file.
            on:dragover=|event| event.prevent_default()
            on:drop=move |event| drop_file(page, &event)
        >
            <div class="editor-cell">
                <For each=move || bands.get() key=|line| *line let(line)>
                    <div class="code-band" style:top=format!("calc(var(--code-line) * {line})")></div>
                </For>
                <pre class="code" aria-hidden="true">
                    <For each=keyed key=|(key, _)| *key let((_, line))>{show_line(line)}</For>
                </pre>
                <textarea
                    id=TEXT_ID
                    class="code code-input"
                    aria-label="Operations as text"
                    aria-describedby="diagnostics"
                    aria-invalid=move || has_error().to_string()
                    spellcheck="false"
                    autocomplete="off"
                    autocapitalize="off"
                    wrap="off"
                    prop:value=move || page.text.get()
                    on:input=move |event| page.edit(event_target_value(&event), Origin::Typing)
                    on:paste=move |event| paste(page, &event)
                    on:keyup=move |_| follow_caret()
                    on:click=move |_| follow_caret()
                ></textarea>
            </div>
        </div>
    }
}

fn key(number: usize, line: &CodeLine) -> u64 {
    let mut hasher = DefaultHasher::new();
    (number, line).hash(&mut hasher);
    hasher.finish()
}

fn show_line(line: CodeLine) -> impl IntoView {
    let class = match line.worst {
        Some(Severity::Error) => "line has-error",
        Some(Severity::Warning) => "line has-warning",
        Some(Severity::Note) | None => "line",
    };
    let pieces: Vec<_> = line
        .pieces
        .into_iter()
        .map(|piece| {
            let mark = match piece.mark {
                Some(Severity::Error) => " squiggle is-error",
                Some(_) => " squiggle is-warning",
                None => "",
            };
            view! { <span class=format!("{}{mark}", piece.class)>{piece.text}</span> }
        })
        .collect();
    view! { <div class=class>{pieces}"\n"</div> }
}

/// The lines of the selected op, or of all ops of the selected kernel.
fn selected_lines(page: Page) -> Vec<usize> {
    let ops: Vec<OpId> = match page.selection.get() {
        Selection::Nothing => Vec::new(),
        Selection::Op(op) => vec![op],
        Selection::Kernel(kernel) => page.analysis.with(|analysis| {
            let kernel = analysis.fused.kernels.get(kernel);
            kernel.map(|k| k.ops.clone()).unwrap_or_default()
        }),
    };
    let mut lines: Vec<usize> = page.text.with(|text| {
        ops.into_iter()
            .filter_map(|op| page.span_of_op(op))
            .flat_map(|span| line_of(text, span.start)..=line_of(text, span.end))
            .collect()
    });
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// The op on whose lines the caret stands.
fn op_at_caret(page: Page) -> Option<OpId> {
    let caret = platform::caret(TEXT_ID)?;
    page.text.with_untracked(|text| {
        let line = line_at(text, byte_of_utf16(text, caret.start as usize));
        page.shown.with_untracked(|shown| {
            if shown.is_stale {
                return None;
            }
            shown.statement_of_op.iter().position(|&statement| {
                let op = shown.program.ops.get(statement);
                op.is_some_and(|op| op.span.start <= line.end && line.start <= op.span.end)
            })
        })
    })
}

/// Shows a place of the text, selects it and puts the focus there.
pub fn go_to(page: Page, span: Span) {
    page.ops_view.set(OpsView::Text);
    // The editor may have been hidden until now.
    request_animation_frame(move || {
        platform::focus(TEXT_ID);
        put_caret(page, span);
    });
}

/// After undo and redo: the caret goes to the end of what changed, if the editor has the focus.
pub fn follow_change(page: Page, before: &str) {
    if !platform::is_focused(TEXT_ID) {
        return;
    }
    let end = page
        .text
        .with_untracked(|after| end_of_change(before, after));
    request_animation_frame(move || put_caret(page, Span::new(end, end)));
}

fn put_caret(page: Page, span: Span) {
    page.text.with_untracked(|text| {
        let units = |byte| u32::try_from(utf16_of_byte(text, byte)).unwrap_or(u32::MAX);
        platform::set_caret(
            TEXT_ID,
            Caret {
                start: units(span.start),
                end: units(span.end),
            },
        );
        let lines = line_of(text, text.len()) + 1;
        platform::scroll_to_line(SCROLLER_ID, line_of(text, span.start), lines);
    });
}
