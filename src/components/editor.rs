//! The op list as text: a text area over coloured lines.
//!
//! Both lie in one cell of a grid inside one scroller. The lines give the cell its size and the text area
//! fills it, so the two never scroll apart.

use super::open_file::{drop_file, paste};
use crate::core::{OpId, Severity, Span};
use crate::history::{Origin, end_of_change, keeps_little};
use crate::picture::code::{CodeLine, byte_of_utf16, code_lines, line_at, line_of, utf16_of_byte};
use crate::platform::{self, Caret};
use crate::state::{OpsView, Page, Selection, set_if_changed};
use leptos::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Id of the text area.
pub const TEXT_ID: &str = "program-text";
const SCROLLER_ID: &str = "program-scroller";
/// Of a long text only the lines around the visible ones are in the page, in steps of this many.
const STEP: usize = 100;
/// Lines that are in the page at once: a step before the visible ones and, on any screen, one behind them.
const WINDOW: usize = 4 * STEP;

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
    let count = Memo::new(move |_| lines.with(Vec::len));
    let scrolled_to = RwSignal::new(0);
    let first = Memo::new(move |_| {
        let last_step = count.get().saturating_sub(WINDOW).next_multiple_of(STEP);
        (scrolled_to.get() / STEP * STEP)
            .saturating_sub(STEP)
            .min(last_step)
    });
    let follow_scroll = move || {
        if count.get_untracked() > WINDOW {
            let line = platform::first_line_in_view(SCROLLER_ID, count.get_untracked());
            set_if_changed(scrolled_to, line / STEP * STEP);
        }
    };
    let widest = Memo::new(move |_| {
        page.text
            .with(|text| text.lines().map(|line| line.chars().count()).max())
            .unwrap_or(0)
    });
    let bands = Memo::new(move |_| selected_lines(page, first.get()));
    let keyed = move || {
        let first = first.get();
        lines.with(|lines| {
            lines
                .iter()
                .enumerate()
                .skip(first)
                .take(WINDOW)
                .map(|(number, line)| (key(number, line), line.clone()))
                .collect::<Vec<_>>()
        })
    };
    let has_error = move || {
        page.worst()
            .is_some_and(|(worst, _)| worst == Severity::Error)
    };
    let follow_caret = move || {
        if let Some(selection) = selection_at_caret(page) {
            set_if_changed(page.selection, selection);
        }
    };
    view! {
        <div
            class="editor"
            id=SCROLLER_ID
            // Without this the browser would leave the page to show the file.
            on:dragover=|event| event.prevent_default()
            on:drop=move |event| drop_file(page, &event)
            on:scroll=move |_| follow_scroll()
        >
            <div class="editor-cell">
                <For each=move || bands.get() key=|line| *line let(line)>
                    <div class="code-band" style:top=format!("calc(var(--code-line) * {line})")></div>
                </For>
                <pre
                    class="code"
                    aria-hidden="true"
                    style:height=move || format!("calc(var(--code-line) * {})", count.get())
                    style:min-width=move || format!("calc(var(--gutter) + {}ch + var(--space-4))", widest.get())
                    style:padding-top=move || format!("calc(var(--code-line) * {})", first.get())
                    style:counter-reset=move || format!("line {}", first.get())
                >
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
                    on:input=move |event| {
                        let text = event_target_value(&event);
                        if page.text.with_untracked(|before| keeps_little(before, &text)) {
                            page.example.set(None);
                        }
                        page.edit(text, Origin::Typing);
                    }
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

/// Those of the lines `from..from + WINDOW` that belong to the selected op, or to an op of the selected kernel.
fn selected_lines(page: Page, from: usize) -> Vec<usize> {
    let ops: Vec<OpId> = match page.selection.get() {
        Selection::Nothing => return Vec::new(),
        Selection::Op(op) => vec![op],
        Selection::Kernel(kernel) => page.analysis.with(|analysis| {
            let kernel = analysis.fused.kernels.get(kernel);
            kernel.map(|k| k.ops.to_vec()).unwrap_or_default()
        }),
    };
    let line_ends: Vec<usize> = page
        .text
        .with(|text| text.match_indices('\n').map(|(at, _)| at).collect());
    let line_of = |offset: usize| line_ends.partition_point(|&end| end < offset);
    let mut lines: Vec<usize> = ops
        .into_iter()
        .filter_map(|op| page.span_of_op(op))
        .flat_map(|span| line_of(span.start)..=line_of(span.end))
        .filter(|line| (from..from + WINDOW).contains(line))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// The op on whose lines the caret stands, or nothing there; `None` while what is shown is older than the
/// text.
fn selection_at_caret(page: Page) -> Option<Selection> {
    let caret = platform::caret(TEXT_ID)?;
    let line = page
        .text
        .with_untracked(|text| line_at(text, byte_of_utf16(text, caret.start as usize)));
    page.shown.with_untracked(|shown| {
        let op = shown.statement_of_op.iter().position(|&statement| {
            let op = shown.parsed.program.ops.get(statement);
            op.is_some_and(|op| op.span.start <= line.end && line.start <= op.span.end)
        });
        (!page.is_stale.get_untracked()).then_some(op.map_or(Selection::Nothing, Selection::Op))
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
