//! The op list as text: a text area over coloured lines.
//!
//! Both are in one grid cell of one scroller. The lines give the cell its size and the text area fills it, so both scroll
//! together.

use super::code::{CodeLines, LINE_STEP};
use crate::app::history::{Origin, end_of_change, keeps_little};
use crate::app::state::{FocusRequest, OpsView, Page, Selection, SetIfChanged};
use crate::browser::{
    Caret, caret, first_line_in_view, focus, has_focus_within, scroll_to_line, set_caret,
};
use crate::components::open_file::{is_too_large, paste};
use crate::core::Span;
use crate::picture::code::{byte_of_utf16, line_at, line_of, text_size, utf16_of_byte};
use leptos::html::{Div, Textarea};
use leptos::prelude::*;

/// The text area, with colours, marks and a band behind the selected lines.
#[component]
pub fn Editor() -> impl IntoView {
    let page = Page::of_context();
    let scroller = NodeRef::<Div>::new();
    let area = NodeRef::<Textarea>::new();
    let size = Memo::new(move |_| page.text.with(|text| text_size(text)));
    let first_line = RwSignal::new(0);
    let text_in_area = StoredValue::new(String::new());

    let select = move |span: Span| {
        let (Some(area), Some(scroller)) = (area.get_untracked(), scroller.get_untracked()) else {
            return;
        };
        page.text.with_untracked(|text| {
            let units = |byte| u32::try_from(utf16_of_byte(text, byte)).unwrap_or(u32::MAX);
            let (start, end) = (units(span.start), units(span.end));
            set_caret(&area, Caret { start, end });
            scroll_to_line(
                &scroller,
                line_of(text, span.start),
                size.get_untracked().lines,
            );
        });
    };
    // Written by hand and not by `prop:value`: the caret has to be set in the same turn as the text, so that it does not
    // override what the visitor does next, and a typed text is in the area already.
    Effect::new(move || {
        let Some(area) = area.get() else {
            return;
        };
        let end_of_change = page.text.with(|text| {
            text_in_area.try_update_value(|in_area| {
                (in_area != text).then(|| {
                    area.set_value(text);
                    let end = end_of_change(in_area, text);
                    in_area.clone_from(text);
                    end
                })
            })
        });
        if let Some(end) = end_of_change.flatten()
            && has_focus_within(&area)
        {
            select(Span::new(end, end));
        }
    });
    Effect::new(move || {
        if let Some(FocusRequest::Text(span)) = page.focus_request.get()
            && area.get().is_some()
        {
            page.focus_request.set(None);
            focus(area);
            select(span);
        }
    });

    let follow_scroll = move |_| {
        if let Some(scroller) = scroller.get_untracked() {
            let line = first_line_in_view(&scroller, size.get_untracked().lines);
            first_line.set_if_changed(line / LINE_STEP * LINE_STEP);
        }
    };
    let typed = move |text: String| {
        if is_too_large(page, &text) {
            // Back to the last text.
            if let Some(area) = area.get_untracked() {
                page.text.with_untracked(|text| area.set_value(text));
            }
            return;
        }
        text_in_area.set_value(text.clone());
        let is_another = page
            .text
            .with_untracked(|before| keeps_little(before, &text));
        let example = page.example.get_untracked().filter(|_| !is_another);
        page.replace(text, Origin::Typing, example, None);
    };
    let selected_span = move || {
        let caret = caret(&area.get_untracked()?)?;
        page.text.with_untracked(|text| {
            let byte = |units: u32| byte_of_utf16(text, units as usize);
            Some(Span::new(byte(caret.start), byte(caret.end)))
        })
    };
    let select_op_at_caret = move || {
        let selection = selected_span().and_then(|span| op_on_line(page, span.start));
        if let Some(selection) = selection {
            page.select(selection);
        }
    };
    view! {
        <div
            class="editor"
            node_ref=scroller
            on:scroll=follow_scroll
        >
            <div class="editor-cell">
                <Show when=move || page.ops_view.get() == OpsView::Text>
                    <CodeLines size first_line />
                </Show>
                <textarea
                    class="code code-input"
                    node_ref=area
                    aria-label="Operations as text"
                    aria-describedby="diagnostics"
                    aria-invalid=move || page.has_error.get().to_string()
                    spellcheck="false"
                    autocomplete="off"
                    autocapitalize="off"
                    wrap="off"
                    on:input:target=move |event| typed(event.target().value())
                    on:paste=move |event| paste(page, &event, selected_span().unwrap_or_default())
                    on:keyup=move |_| select_op_at_caret()
                    on:click=move |_| select_op_at_caret()
                ></textarea>
            </div>
        </div>
    }
}

/// The op on the line of a byte of the text, or nothing; `None` while the spans are those of an older text.
fn op_on_line(page: Page, byte: usize) -> Option<Selection> {
    if page.is_stale.get_untracked() {
        return None;
    }
    let line = page.text.with_untracked(|text| line_at(text, byte));
    page.shown.with_untracked(|shown| {
        let op = (shown.statement_of_op.iter_enumerated()).find(|&(_, &statement)| {
            let op = shown.parsed.program.ops.get(statement);
            op.is_some_and(|op| op.span.start <= line.end && line.start <= op.span.end)
        });
        Some(op.map_or(Selection::Nothing, |(op, _)| Selection::Op(op)))
    })
}
