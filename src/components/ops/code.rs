//! The coloured lines behind the editor's text area.

use crate::app::state::{Page, Selection};
use crate::core::model::diagnostic::{Severity, Span};
use crate::picture::code::{CodeLine, TextSize, code_lines};
use leptos::either::Either;
use leptos::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Of a long text only the lines around the visible ones are in the page, in steps of this many.
pub(super) const STEP: usize = 100;
/// Lines that are in the page at once: a step before the visible ones and, on any screen, one behind them.
const WINDOW: usize = 4 * STEP;

/// The lines around the visible ones, in a box of the size of the whole text.
#[component]
pub fn CodeLines(
    /// The size of the text.
    size: Memo<TextSize>,
    /// The first line in view, from 0, or one up to a step before it.
    #[prop(into)]
    first_line: Signal<usize>,
) -> impl IntoView {
    let page = Page::of_context();
    let first = Memo::new(move |_| {
        let last = size.get().lines.saturating_sub(WINDOW);
        (first_line.get().saturating_sub(STEP)).min(last.next_multiple_of(STEP))
    });
    let selected = Memo::new(move |_| selected_spans(page));
    let lines = Memo::new(move |_| {
        let lines = first.get()..first.get() + WINDOW;
        let lines = page.text.with(|text| {
            page.diagnostics
                .with(|all| selected.with(|selected| code_lines(text, lines, all, selected)))
        });
        with_places(lines)
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

/// Each line with the number of equal ones before it. That is its identity: a line that is edited is another one, and
/// those around it keep their elements.
fn with_places(lines: Vec<CodeLine>) -> Vec<(Arc<CodeLine>, usize)> {
    let mut counts: HashMap<Arc<CodeLine>, usize> = HashMap::new();
    let place = |line: CodeLine| {
        let line = Arc::new(line);
        let count = counts.entry(line.clone()).or_default();
        *count += 1;
        (line, *count)
    };
    lines.into_iter().map(place).collect()
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

/// The places of the selected op, or of those of the selected kernel or edge.
fn selected_spans(page: Page) -> Vec<Span> {
    let ops = match page.selection.get() {
        Selection::Nothing => Vec::new(),
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
