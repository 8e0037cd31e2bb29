//! The op list as text: a text area over coloured lines.
//!
//! Both lie in one cell of a grid inside one scroller. The lines give the cell its size and the text area
//! fills it, so the two never scroll apart.

use super::open_file::{drop_file, paste};
use crate::app::history::{Origin, end_of_change, keeps_little};
use crate::app::state::{FocusRequest, Page, Selection, SetIfChanged};
use crate::browser::{self, Caret, set_style};
use crate::core::{Diagnostic, OpId, Severity, Span};
use crate::markup::Markup;
use crate::picture::code::{CodeLine, byte_of_utf16, code_lines, line_at, line_of, utf16_of_byte};
use leptos::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// Id of the text area.
pub const TEXT_ID: &str = "program-text";
const SCROLLER_ID: &str = "program-scroller";
const LINES_ID: &str = "program-lines";
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
    let (scroll, scrolled_to) = (Trigger::new(), Rc::new(Cell::new(0)));
    let (mut lines, first) = (Lines::default(), scrolled_to.clone());
    Effect::new(move || {
        scroll.track();
        lines.follow(page, first.get());
    });
    Effect::new(move || {
        if let Some(FocusRequest::Text(span)) = page.focus_request.get() {
            page.focus_request.set(None);
            browser::focus(TEXT_ID);
            page.text.with_untracked(|text| select(text, span));
        }
    });
    browser::listen(
        SCROLLER_ID,
        &[
            "scroll", "dragover", "drop", "paste", "input", "keyup", "click",
        ],
        move |event| match event.type_().as_str() {
            "scroll" => {
                let lines = page.text.with_untracked(|text| count_lines(text));
                let line = browser::first_line_in_view(SCROLLER_ID, lines) / STEP * STEP;
                if scrolled_to.replace(line) != line {
                    scroll.notify();
                }
            }
            // Without this the browser would leave the page to show the file.
            "dragover" => event.prevent_default(),
            "drop" => drop_file(page, event),
            "paste" => {
                let selected = browser::caret(TEXT_ID).unwrap_or_default();
                let selected = page.text.with_untracked(|text| {
                    let byte = |units: u32| byte_of_utf16(text, units as usize);
                    Span::new(byte(selected.start), byte(selected.end))
                });
                paste(page, event, selected);
            }
            "input" => {
                let text = browser::input_value(event);
                let is_another = (page.text).with_untracked(|before| keeps_little(before, &text));
                let example = page.example.get_untracked().filter(|_| !is_another);
                page.replace(text, Origin::Typing, example, None);
            }
            _ => {
                if let Some(selection) = selection_at_caret(page) {
                    page.selection.set_if_changed(selection);
                }
            }
        },
    );
    view! {
        <div class="editor" id="program-scroller">
            <div class="editor-cell">
                <pre class="code" id="program-lines" aria-hidden="true"></pre>
                <textarea
                    id="program-text"
                    class="code code-input"
                    aria-label="Operations as text"
                    aria-describedby="diagnostics"
                    spellcheck="false"
                    autocomplete="off"
                    autocapitalize="off"
                    wrap="off"
                ></textarea>
            </div>
        </div>
    }
}

/// What the effect of the editor has written.
#[derive(Default)]
struct Lines {
    text: Option<String>,
    diagnostics: Arc<Vec<Diagnostic>>,
    window: Window,
}

/// The lines that are in the page.
#[derive(Clone, Default)]
struct Window {
    all: Arc<Vec<CodeLine>>,
    first: usize,
    selected: Vec<usize>,
}

impl Window {
    fn lines(&self) -> impl DoubleEndedIterator<Item = (&CodeLine, bool)> + ExactSizeIterator {
        let shown = self.all.get(self.first..).unwrap_or_default();
        let shown = shown.get(..WINDOW).unwrap_or(shown);
        let is_selected = |place: usize| self.selected.binary_search(&(self.first + place)).is_ok();
        let lines = shown.iter().enumerate();
        lines.map(move |(place, line)| (line, is_selected(place)))
    }
}

impl Lines {
    fn follow(&mut self, page: Page, scrolled_to: usize) {
        let diagnostics = page.diagnostics.get();
        let before = self.window.clone();
        page.text.with(|text| {
            let is_new_text = self.text.as_ref() != Some(text);
            if is_new_text {
                write_text(self.text.as_deref(), text);
            }
            if is_new_text || !Arc::ptr_eq(&diagnostics, &self.diagnostics) {
                self.window.all = Arc::new(code_lines(text, &diagnostics));
                self.text = Some(text.clone());
                self.diagnostics = diagnostics;
            }
            self.window.selected = selected_lines(page, text);
        });
        let count = self.window.all.len();
        let last_step = count.saturating_sub(WINDOW).next_multiple_of(STEP);
        self.window.first = scrolled_to.saturating_sub(STEP).min(last_step);
        let now = &self.window;
        if !Arc::ptr_eq(&before.all, &now.all) || before.first != now.first {
            write_room(now);
            let is_wrong = page.is_stale.get();
            browser::set_attribute(TEXT_ID, "aria-invalid", &is_wrong.to_string());
        }
        write_lines(&before, now);
    }
}

/// Gives the lines the size of the whole text.
fn write_room(window: &Window) {
    let count = window.all.len();
    let width = |line: &CodeLine| line.pieces.iter().map(|p| p.text.chars().count()).sum();
    let widest: usize = window.all.iter().map(width).max().unwrap_or(0);
    let first = window.first;
    let height_of = |lines: usize| format!("calc(var(--code-line) * {lines})");
    set_style(LINES_ID, "height", &height_of(count));
    set_style(LINES_ID, "padding-top", &height_of(first));
    set_style(LINES_ID, "counter-reset", &format!("line {first}"));
    let width = format!("calc(var(--gutter) + {widest}ch + var(--space-4))");
    set_style(LINES_ID, "min-width", &width);
}

/// Writes the lines between the first and the last one that differ.
fn write_lines(before: &Window, now: &Window) {
    let is_same =
        |((a, was_selected), (b, is_selected)): &((&CodeLine, bool), (&CodeLine, bool))| {
            was_selected == is_selected && a == b
        };
    let (old, new) = (before.lines().len(), now.lines().len());
    let kept = before.lines().zip(now.lines()).take_while(is_same).count();
    let kept_at_end = before
        .lines()
        .rev()
        .zip(now.lines().rev())
        .take_while(is_same)
        .count();
    let kept_at_end = kept_at_end.min(old.min(new) - kept);
    if kept + kept_at_end < old.max(new) {
        let mut markup = Markup::new();
        for (line, is_selected) in now.lines().take(new - kept_at_end).skip(kept) {
            add_line(&mut markup, line, is_selected);
        }
        browser::splice_markup(LINES_ID, kept, old - kept_at_end - kept, &markup);
    }
}

fn add_line(markup: &mut Markup, line: &CodeLine, is_selected: bool) {
    let worst = match line.worst {
        Some(Severity::Error) => " has-error",
        Some(Severity::Warning) => " has-warning",
        Some(Severity::Note) | None => "",
    };
    let selected = if is_selected { " code-band" } else { "" };
    markup.fill(
        r#"<div class="{}">"#,
        &[&["line", worst, selected].concat()],
    );
    for piece in &line.pieces {
        let mark = match piece.mark {
            Some(Severity::Error) => " squiggle is-error",
            Some(_) => " squiggle is-warning",
            None => "",
        };
        let class = [piece.class, mark].concat();
        markup.fill(r#"<span class="{}">{}</span>"#, &[&class, &piece.text]);
    }
    markup.raw("\n</div>");
}

fn count_lines(text: &str) -> usize {
    line_of(text, text.len()) + 1
}

/// The lines that belong to the selected op, or to an op of the selected kernel, in order.
fn selected_lines(page: Page, text: &str) -> Vec<usize> {
    let ops: Vec<OpId> = match page.selection.get() {
        Selection::Nothing => return Vec::new(),
        Selection::Op(op) => vec![op],
        Selection::Edge { producer, consumer } => vec![producer, consumer],
        Selection::Kernel(kernel) => page.analysis.with(|analysis| {
            let kernel = analysis.fused.kernels.get(kernel);
            kernel.map(|k| k.ops.to_vec()).unwrap_or_default()
        }),
    };
    let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |offset: usize| line_ends.partition_point(|&end| end < offset);
    let mut lines: Vec<usize> = ops
        .into_iter()
        .filter_map(|op| page.span_of_op(op))
        .flat_map(|span| line_of(span.start)..=line_of(span.end))
        .collect();
    lines.sort_unstable();
    lines
}

/// The op on whose lines the caret stands, or nothing there; `None` while what is shown is older than the
/// text.
fn selection_at_caret(page: Page) -> Option<Selection> {
    let caret = browser::caret(TEXT_ID)?;
    let line = page
        .text
        .with_untracked(|text| line_at(text, byte_of_utf16(text, caret.start as usize)));
    page.shown.with_untracked(|shown| {
        let mut ops = shown.statement_of_op.iter_enumerated();
        let op = ops.find_map(|(op, &statement)| {
            let span = shown.parsed.program.ops.get(statement)?.span;
            (span.start <= line.end && line.start <= span.end).then_some(op)
        });
        (!page.is_stale.get_untracked()).then_some(op.map_or(Selection::Nothing, Selection::Op))
    })
}

/// Writes a text that was not typed here. If the editor has the focus, the caret goes to the end of what differs from
/// the text before, as after undo and redo.
fn write_text(before: Option<&str>, text: &str) {
    if browser::value_of(TEXT_ID).as_deref() == Some(text) {
        return;
    }
    browser::set_value_of(TEXT_ID, text);
    if let Some(before) = before.filter(|_| browser::is_focused(TEXT_ID)) {
        let end = end_of_change(before, text);
        select(text, Span::new(end, end));
    }
}

/// Selects a place of the text and scrolls there.
fn select(text: &str, span: Span) {
    let units = |byte| u32::try_from(utf16_of_byte(text, byte)).unwrap_or(u32::MAX);
    browser::set_caret(
        TEXT_ID,
        Caret {
            start: units(span.start),
            end: units(span.end),
        },
    );
    browser::scroll_to_line(SCROLLER_ID, line_of(text, span.start), count_lines(text));
}
