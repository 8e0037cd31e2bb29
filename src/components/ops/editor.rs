//! The op list as text: a text area over coloured lines.
//!
//! Both are in one grid cell of one scroller. The lines give the cell its size and the text area
//! fills it, so both scroll together.

use super::code::{CodeLines, LINE_STEP};
use super::completion::{CompletionList, Completions, LIST_ID};
use super::line_fixes::LineFixes;
use crate::app::history::{Origin, end_of_change, example_after};
use crate::app::stage::has_ops_open;
use crate::app::state::{FocusRequest, OpsView, Page, Selection, SetIfChanged};
use crate::components::open_file::{is_too_large, paste};
use fuseline_browser::{
    Caret, caret, first_line_in_view, focus, has_focus_within, place_in_view, scroll_to_line,
    set_caret,
};
use fuseline_core::Span;
use fuseline_view::picture::code::{
    TextSize, byte_of_utf16, line_at, line_of, text_size, utf16_of_byte,
};
use leptos::ev::KeyboardEvent;
use leptos::html::{Div, Textarea};
use leptos::prelude::*;

/// The text area in its scroller.
#[derive(Clone, Copy)]
struct TextArea {
    page: Page,
    scroller: NodeRef<Div>,
    area: NodeRef<Textarea>,
    size: Memo<TextSize>,
    written: StoredValue<String>,
    /// The caret as a byte of the text, while the area has the focus.
    caret: RwSignal<Option<usize>>,
}

impl TextArea {
    fn new(page: Page) -> Self {
        Self {
            page,
            scroller: NodeRef::new(),
            area: NodeRef::new(),
            size: Memo::new(move |_| page.text.with(|text| text_size(text))),
            written: StoredValue::new(String::new()),
            caret: RwSignal::new(None),
        }
    }

    /// Selects a part of the text and brings it into view.
    fn select(self, span: Span) {
        let (area, scroller) = (self.area.get_untracked(), self.scroller.get_untracked());
        let (Some(area), Some(scroller)) = (area, scroller) else {
            return;
        };
        self.page.text.with_untracked(|text| {
            let units = |byte| u32::try_from(utf16_of_byte(text, byte)).unwrap_or(u32::MAX);
            let (start, end) = (units(span.start), units(span.end));
            set_caret(&area, Caret { start, end });
            let lines = self.size.get_untracked().lines;
            scroll_to_line(&scroller, line_of(text, span.start), lines);
        });
    }

    /// Writes the text into the area. By hand and not by `prop:value`: the caret has to be set in
    /// the same turn as the text, so that it does not override what the visitor does next, and a
    /// typed text is in the area already. Returns whether the text was another one. Tracked.
    fn write(self) -> bool {
        let Some(area) = self.area.get() else {
            return false;
        };
        let end_of_change = self.page.text.with(|text| {
            self.written.try_update_value(|written| {
                (written != text).then(|| {
                    area.set_value(text);
                    let end = end_of_change(written, text);
                    written.clone_from(text);
                    end
                })
            })
        });
        let end_of_change = end_of_change.flatten();
        if let Some(end) = end_of_change
            && has_focus_within(&area)
        {
            self.select(Span::new(end, end));
            self.caret.set(Some(end));
        }
        end_of_change.is_some()
    }

    /// Takes what was typed into the text.
    fn typed(self, text: String) {
        let page = self.page;
        if is_too_large(page, &text) {
            // Back to the last text.
            if let Some(area) = self.area.get_untracked() {
                page.text.with_untracked(|text| area.set_value(text));
            }
            return;
        }
        self.written.set_value(text.clone());
        let example = page.origin.example.get_untracked();
        let example = (page.text).with_untracked(|before| example_after(example, before, &text));
        let choices = page.choices_with(&text);
        page.replace(text, Origin::Typing, example, choices);
    }

    fn selected_span(self) -> Option<Span> {
        let caret = caret(&self.area.get_untracked()?)?;
        self.page.text.with_untracked(|text| {
            let byte = |units: u32| byte_of_utf16(text, units as usize);
            Some(Span::new(byte(caret.start), byte(caret.end)))
        })
    }

    /// Where the caret is now.
    fn follow_caret(self) -> Option<usize> {
        let byte = self.selected_span().map(|span| span.end);
        self.caret.set_if_changed(byte);
        byte
    }

    fn select_op_at_caret(self) {
        self.follow_caret();
        let span = self.selected_span();
        if let Some(selection) = span.and_then(|span| op_on_line(self.page, span.start)) {
            self.page.select(selection);
        }
    }

    /// Whether a line is in the lower half of the visible part of the editor.
    fn is_low(self, line: usize) -> bool {
        let lines = self.size.get_untracked().lines;
        let scroller = self.scroller.get_untracked();
        scroller.is_some_and(|scroller| place_in_view(&scroller, line, lines) > 0.5)
    }
}

/// The text area, with colours, marks and a band behind the selected lines, and what is offered at
/// the caret.
#[component]
pub fn Editor() -> impl IntoView {
    let page = Page::of_context();
    let text_area = TextArea::new(page);
    let TextArea {
        scroller,
        area,
        size,
        caret,
        ..
    } = text_area;
    let completions = Completions::new(page);
    let first_line = RwSignal::new(0);
    Effect::new(move || {
        if text_area.write() {
            // The completions are for another text.
            completions.close();
        }
    });
    Effect::new(move || {
        if let Some(FocusRequest::Text(span)) = page.screen.focus_request.get()
            && area.get().is_some()
        {
            page.screen.focus_request.set(None);
            focus(area);
            text_area.select(span);
            text_area.follow_caret();
        }
    });
    let follow_scroll = move |_| {
        if let Some(scroller) = scroller.get_untracked() {
            let line = first_line_in_view(&scroller, size.get_untracked().lines);
            first_line.set_if_changed(line / LINE_STEP * LINE_STEP);
        }
    };
    let typed = move |text: String| {
        text_area.typed(text);
        if let Some(byte) = text_area.follow_caret() {
            completions.typed(byte);
        }
    };
    let press = move |event: KeyboardEvent| {
        let Some(byte) = text_area.follow_caret() else {
            return;
        };
        if (event.ctrl_key() || event.meta_key()) && event.key() == "." {
            event.prevent_default();
            completions.close();
            page.correct_line(byte);
        } else {
            completions.press(&event, byte);
        }
    };
    let leave = move |_| {
        completions.close();
        caret.set(None);
    };
    let has_ops_open = has_ops_open(page.screen);
    let selected_span = move || text_area.selected_span().unwrap_or_default();
    view! {
        <div
            class="editor"
            node_ref=scroller
            on:scroll=follow_scroll
        >
            <div class="editor-cell">
                <Show when=move || has_ops_open() && page.screen.ops_view.get() == OpsView::Text>
                    <CodeLines size first_line />
                </Show>
                <textarea
                    class="code code-input"
                    node_ref=area
                    aria-label="Operations as text"
                    aria-describedby="diagnostics"
                    aria-invalid=move || page.checked.has_error.get().to_string()
                    aria-autocomplete="list"
                    aria-haspopup="listbox"
                    aria-controls=move || completions.is_open().then_some(LIST_ID)
                    aria-activedescendant=move || completions.active_id()
                    aria-keyshortcuts="Control+Space Control+."
                    spellcheck="false"
                    autocomplete="off"
                    autocapitalize="off"
                    wrap="off"
                    on:input:target=move |event| typed(event.target().value())
                    on:paste=move |event| paste(page, &event, selected_span())
                    on:keydown=press
                    on:keyup=move |_| text_area.select_op_at_caret()
                    on:click=move |_| {
                        completions.close();
                        text_area.select_op_at_caret();
                    }
                    on:blur=leave
                ></textarea>
                <LineFixes caret />
                <CompletionList completions is_low=Callback::new(move |line| text_area.is_low(line)) />
            </div>
        </div>
    }
}

/// The op on the line of a byte of the text, or nothing; `None` while the spans are those of an
/// older text.
fn op_on_line(page: Page, byte: usize) -> Option<Selection> {
    if page.checked.is_stale.get_untracked() {
        return None;
    }
    let line = page.text.with_untracked(|text| line_at(text, byte));
    page.shown.with_untracked(|shown| {
        let op = (shown.statement_of_op().iter_enumerated()).find(|&(_, &statement)| {
            let op = shown.program().ops.get(statement);
            op.is_some_and(|op| op.span.start <= line.end && line.start <= op.span.end)
        });
        Some(op.map_or(Selection::Nothing, |(op, _)| Selection::Op(op)))
    })
}
