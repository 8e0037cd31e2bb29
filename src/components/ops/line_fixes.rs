//! Corrections at their place in the text editor.

use crate::app::state::Page;
use crate::components::fixes::FixButtons;
use fuseline_view::picture::code::{column_of, line_at, line_of};
use fuseline_view::present::findings::fixes_on_line;
use leptos::prelude::*;

/// The corrections on the line of the caret, behind its end.
#[component]
pub fn LineFixes(
    /// The caret, as a byte of the text, while the text area has the focus.
    #[prop(into)]
    caret: Signal<Option<usize>>,
) -> impl IntoView {
    let page = Page::of_context();
    let here = Memo::new(move |_| {
        let caret = caret.get()?;
        let text = page.text.read();
        let (all, fixes) = (page.checked.diagnostics.get(), page.checked.fixes.get());
        let fixes = fixes_on_line(&all, &fixes, &text, caret);
        let end = line_at(&text, caret).end;
        let line_and_column = (line_of(&text, end), column_of(&text, end));
        (!fixes.is_empty()).then(|| (line_and_column, fixes.to_vec()))
    });
    move || {
        here.get().map(|((line, column), fixes)| {
            view! {
                <div
                    class="line-fixes"
                    style:top=format!("calc(var(--code-line) * {line} + var(--space-1))")
                    style=("--column", column.to_string())
                >
                    <FixButtons fixes />
                </div>
            }
        })
    }
}
