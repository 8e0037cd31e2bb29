//! The coloured lines behind the text area of the editor.

use crate::app::state::{Page, Selection};
use fuseline_core::model::diagnostic::{Severity, Span};
use fuseline_view::picture::code::{CodeLine, TextSize, code_lines};
use leptos::either::Either;
use leptos::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// The mounted range of lines moves in steps of this many.
pub(super) const LINE_STEP: usize = 100;
/// Number of lines that are mounted: the visible ones and at least a step before and after them.
const MOUNTED_LINES: usize = 4 * LINE_STEP;

/// The lines around the visible ones, in a box as large as the whole text.
#[component]
pub fn CodeLines(
    size: Memo<TextSize>,
    /// A line, from 0, that is at most one step before the first line in view.
    #[prop(into)]
    first_line: Signal<usize>,
) -> impl IntoView {
    let page = Page::of_context();
    let first = Memo::new(move |_| {
        let last = size.get().lines.saturating_sub(MOUNTED_LINES);
        (first_line.get().saturating_sub(LINE_STEP)).min(last.next_multiple_of(LINE_STEP))
    });
    let selected = Memo::new(move |_| selected_spans(page));
    let lines = Memo::new(move |_| {
        let lines = first.get()..first.get() + MOUNTED_LINES;
        let lines = page.text.with(|text| {
            page.checked
                .diagnostics
                .with(|all| selected.with(|selected| code_lines(text, lines, all, selected)))
        });
        with_keys(lines)
    });
    let height_of = |lines: usize| format!("calc(var(--code-line) * {lines})");
    let min_width = move || {
        let columns = size.get().columns;
        format!("calc(var(--gutter) + {columns}ch + var(--space-4))")
    };
    view! {
        <pre
            class="code"
            aria-hidden="true"
            style:height=move || height_of(size.get().lines)
            style:padding-top=move || height_of(first.get())
            style:counter-reset=move || format!("line {}", first.get())
            style:min-width=min_width
        >
            <For each=move || lines.get() key=Clone::clone children=|(line, _)| line_view(&line) />
        </pre>
    }
}

/// Each line with a number that distinguishes it from equal ones: the key of the line. An edited
/// line has another key, and all others keep their elements.
fn with_keys(lines: Vec<CodeLine>) -> Vec<(Arc<CodeLine>, usize)> {
    let mut counts: HashMap<Arc<CodeLine>, usize> = HashMap::new();
    let with_key = |line: CodeLine| {
        let line = Arc::new(line);
        let count = counts.entry(line.clone()).or_default();
        *count += 1;
        (line, *count)
    };
    lines.into_iter().map(with_key).collect()
}

fn line_view(line: &CodeLine) -> impl IntoView + use<> {
    let pieces = line.pieces.iter().map(|piece| {
        let text = piece.text.clone();
        let mark = match piece.mark {
            Some(Severity::Error) => " squiggle is-error",
            Some(_) => " squiggle is-warning",
            None => "",
        };
        let class = format!("{}{mark}", piece.class);
        if class.is_empty() {
            Either::Left(text)
        } else {
            Either::Right(view! { <span class=class>{text}</span> })
        }
    });
    let pieces = pieces.collect_view();
    view! {
        <div
            class="line"
            class:has-error=line.worst == Some(Severity::Error)
            class:has-warning=line.worst == Some(Severity::Warning)
            class:code-band=line.is_selected
        >
            {pieces}
        </div>
    }
}

/// Where the selected ops are in the text.
fn selected_spans(page: Page) -> Vec<Span> {
    let ops = match page.selection.get() {
        Selection::Nothing | Selection::Tensor(_) => Vec::new(),
        Selection::Op(op) => vec![op],
        Selection::Edge { producer, consumer } => vec![producer, consumer],
        Selection::Kernel(kernel) => page.analysis.with(|analysis| {
            let kernel = analysis.fused.kernels.get(kernel);
            kernel.map(|k| k.ops.to_vec()).unwrap_or_default()
        }),
    };
    ops.into_iter()
        .filter_map(|op| page.span_of_op(op))
        .collect()
}
