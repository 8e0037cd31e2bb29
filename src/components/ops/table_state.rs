//! What the rows of the table of ops share, and what their buttons do.

use crate::app::history::Origin;
use crate::app::state::Page;
use fuseline_browser as browser;
use fuseline_core::notation::edit::{add_op, move_op, remove_op};
use fuseline_view::present::op_rows::{FunctionOption, OpRow, OpSource, function_options};
use leptos::html::Button;
use leptos::prelude::*;

/// Id of the list of suggestions, for the `list` attribute of the fields.
pub(super) const SUGGESTIONS_ID: &str = "tensor-suggestions";

/// Rows that a table lists at first, and by how many a button adds more.
pub(super) const PAGE_ROWS: usize = 60;

/// The rows of a table, from the present text, at most this many, and the rows before.
pub(super) fn rows<R>(
    page: Page,
    max_rows: RwSignal<usize>,
    rows: fn(OpSource<'_>, usize, &[R]) -> Vec<R>,
) -> Memo<Vec<R>>
where
    R: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |before: Option<&Vec<R>>| {
        let (parsed, diagnostics, fixes) = (
            page.parsed.get(),
            page.checked.diagnostics.get(),
            page.checked.fixes.get(),
        );
        let present = page.present.get();
        let text = page.text.read();
        let source = OpSource {
            text: &text,
            program: &parsed.program,
            diagnostics: &diagnostics,
            fixes: &fixes,
            analysed: (present.as_ref()).map(|p| (&**p.analysis(), p.statement_of_op().as_ref())),
        };
        rows(source, max_rows.get(), before.map_or(&[], Vec::as_slice))
    })
}

/// A control of a row that can get the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowControl {
    /// The field of the op's name.
    Name,
    /// The button that moves the op up.
    Up,
    /// The button that moves it down.
    Down,
    /// The button that removes it.
    Remove,
}

/// The state that the rows share.
#[derive(Clone, Copy)]
pub struct TableState {
    pub(super) page: Page,
    rows: Memo<Vec<OpRow>>,
    max_rows: RwSignal<usize>,
    /// The id of a row and its control that shall get the focus, until the row has taken the
    /// request. Set after the text is edited: effects run in the order in which they are notified,
    /// so the rows are updated before one takes the request.
    pub(super) focus_request: RwSignal<Option<(usize, RowControl)>>,
    /// The text of the focused field of inputs.
    pub(super) typed_inputs: RwSignal<Option<String>>,
    /// All functions by op type.
    pub(super) functions: StoredValue<Vec<(&'static str, Vec<FunctionOption>)>>,
    /// The button that adds an op at the end.
    pub(super) add_button: NodeRef<Button>,
}

impl TableState {
    /// The state of a table that shows `rows`, which lists at most `max_rows`.
    pub(super) fn new(page: Page, rows: Memo<Vec<OpRow>>, max_rows: RwSignal<usize>) -> Self {
        Self {
            page,
            rows,
            max_rows,
            focus_request: RwSignal::new(None),
            typed_inputs: RwSignal::new(None),
            functions: StoredValue::new(function_options()),
            add_button: NodeRef::new(),
        }
    }

    /// Adds an op after the one at this index, or at the end.
    pub(super) fn add(self, after: Option<usize>) {
        self.page
            .change(Origin::Single, |text, program| add_op(text, program, after));
        let index = after.map_or_else(|| self.op_count().saturating_sub(1), |after| after + 1);
        if after.is_none() {
            self.max_rows
                .update(|rows| *rows = index.max(*rows - 1) + 1);
        }
        self.request_focus(index, RowControl::Name);
    }

    /// Moves an op from one index to another. Its `control` keeps the focus.
    pub(super) fn move_op(self, from: usize, to: usize, control: RowControl) {
        if to < self.op_count() {
            self.page.change(Origin::Single, |text, program| {
                move_op(text, program, from, to)
            });
            self.request_focus(to, control);
        }
    }

    /// Removes the op at this index. The next one gets the focus.
    pub(super) fn remove(self, index: usize) {
        self.page.change(Origin::Single, |text, program| {
            remove_op(text, program, index)
        });
        match self.op_count().checked_sub(1) {
            Some(last) => self.request_focus(index.min(last), RowControl::Remove),
            None => browser::focus(self.add_button),
        }
    }

    fn request_focus(self, index: usize, control: RowControl) {
        let row = (self.rows).with_untracked(|rows| rows.get(index).map(|row| row.id));
        self.focus_request.set(row.map(|row| (row, control)));
    }

    fn op_count(self) -> usize {
        (self.page.parsed).with_untracked(|parsed| parsed.program.ops.len())
    }
}
