//! The op list as a table with form controls. Every control edits the text.

use super::op_edit::{Refused, commit, field_value};
use super::op_row::{ROW, Row, add_problems, add_row};
use crate::app::history::Origin;
use crate::app::state::{OpsView, Page, Selection, SetIfChanged};
use crate::browser::{self, Event, Place, focus_soon};
use crate::core::model::diagnostic::{Diagnostic, Severity, has_errors};
use crate::core::model::op::shape_text;
use crate::core::notation::edit::{add_op, move_op, remove_op, set_callee};
use crate::core::{OpId, Program};
use crate::markup::{ABSENT, Markup};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 60;
/// Tensors that are suggested.
const SUGGESTED: usize = 200;
const TABLE_ID: &str = "op-rows";
/// Id of the list of suggestions.
pub(super) const SUGGESTIONS_ID: &str = "tensor-suggestions";

/// One row for each op that could be read, kept up to date while the table is what is shown.
#[component]
pub fn OpsTable(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    let table = Rc::new(Table {
        page,
        limit: Cell::new(PAGE_ROWS),
        refused: RefCell::default(),
        changed: Trigger::new(),
    });
    let mut place = Place::new(TABLE_ID);
    let mut problems = Vec::new();
    let shown = table.clone();
    Effect::new(move || {
        if page.ops_view.get() == OpsView::Table {
            shown.changed.track();
            if place.show(rows(&shown)) {
                problems.clear();
            }
            show_problems(page, &mut problems);
        }
    });
    browser::listen(
        TABLE_ID,
        &["focusin", "click", "input", "change", "keydown"],
        move |event| table.hear(event),
    );
    view! { <div class="op-rows" id="op-rows"></div> }
}

struct Table {
    page: Page,
    limit: Cell<usize>,
    /// What was typed and could not be taken over.
    refused: RefCell<Vec<Refused>>,
    /// Wakes the effect when one of the two above has changed.
    changed: Trigger,
}

impl Table {
    fn hear(&self, event: &Event) {
        let part = browser::closest_attribute(event, "data-part").unwrap_or_default();
        let part = part.as_str();
        let kind = event.type_();
        let Some(op) = browser::closest_number(event, ROW) else {
            if kind == "click" {
                self.press_below(part);
            }
            return;
        };
        match kind.as_str() {
            "click" => {
                self.select(op);
                self.press(op, part);
            }
            "change" => self.take_over(op, part, event),
            "keydown" => self.give_up(op, part, event),
            _ => {
                if kind == "focusin" {
                    self.select(op);
                }
                if part == "inputs" {
                    suggest(self.page, &browser::input_value(event));
                }
            }
        }
    }

    fn select(&self, statement: usize) {
        let op = (self.page.shown).with_untracked(|shown| {
            let mut ops = shown.statement_of_op.iter_enumerated();
            ops.find_map(|(op, &own)| (own == statement).then_some(op))
        });
        if let (Some(op), false) = (op, self.page.is_stale.get_untracked()) {
            self.page.selection.set_if_changed(Selection::Op(op));
        }
    }

    /// Up, down, add, remove; the focus stays with the op that was moved.
    fn press(&self, op: usize, button: &str) {
        let count = || self.page.parsed.with_untracked(|p| p.program.ops.len());
        let change = |change: &dyn Fn(&str, &Program) -> String| {
            self.page.change(Origin::Single, change);
        };
        match button {
            "up" | "down" => {
                let to = if button == "up" {
                    op.wrapping_sub(1)
                } else {
                    op + 1
                };
                if to < count() {
                    change(&|text, program| move_op(text, program, op, to));
                    focus_soon(format!("op-{to}-{button}"));
                }
            }
            "add" => {
                change(&|text, program| add_op(text, program, Some(op)));
                focus_soon(format!("op-{}-name", op + 1));
            }
            "remove" => {
                change(&|text, program| remove_op(text, program, op));
                focus_soon(match count() {
                    0 => "op-add".to_owned(),
                    left => format!("op-{}-remove", op.min(left - 1)),
                });
            }
            _ => {}
        }
    }

    /// The buttons below the rows.
    fn press_below(&self, button: &str) {
        match button {
            "more" => {
                self.limit.set(self.limit.get() + PAGE_ROWS);
                self.changed.notify();
            }
            "add" => {
                self.page
                    .change(Origin::Single, |text, program| add_op(text, program, None));
                let count = self.page.parsed.with_untracked(|p| p.program.ops.len());
                self.limit.set(self.limit.get().max(count));
                self.changed.notify();
                focus_soon(format!("op-{}-name", count.saturating_sub(1)));
            }
            "text" => self.page.ops_view.set(OpsView::Text),
            _ => {}
        }
    }

    /// Writes a finished field into the text, or keeps it with the reason why it cannot be.
    fn take_over(&self, op: usize, part: &str, event: &Event) {
        let typed = browser::input_value(event);
        if part == "callee" {
            // A name of the table can always be written; whether it suits the inputs is for the diagnostics.
            self.page.change(Origin::Single, |text, program| {
                set_callee(text, program, op, &typed)
            });
            return;
        }
        let value = field_value(self.page, op, part);
        self.refused.borrow_mut().retain(|r| !r.is_at(op, part));
        match commit(self.page, op, part, typed.trim()) {
            Ok(()) => browser::set_value(event, &field_value(self.page, op, part)),
            Err(reason) => self.refused.borrow_mut().push(Refused {
                op,
                part: part.to_owned(),
                value,
                typed,
                reason,
            }),
        }
        self.changed.notify();
    }

    /// Escape takes back what is being typed. There it and undo mean the field and not the page.
    fn give_up(&self, op: usize, part: &str, event: &Event) {
        let Some(key) = browser::event_as::<KeyboardEvent>(event) else {
            return;
        };
        let is_undo = (key.ctrl_key() || key.meta_key()) && key.key().eq_ignore_ascii_case("z");
        let is_field = matches!(part, "name" | "inputs" | "type");
        if !is_field || !is_undo && key.key() != "Escape" {
            return;
        }
        let value = field_value(self.page, op, part);
        if browser::input_value(event) == value {
            return;
        }
        event.stop_propagation();
        if !is_undo {
            browser::set_value(event, &value);
            self.refused.borrow_mut().retain(|r| !r.is_at(op, part));
            self.changed.notify();
        }
    }
}

fn rows(table: &Table) -> Markup {
    let page = table.page;
    let parsed = page.parsed.get();
    let present = page.present.get();
    let statements = &parsed.program.ops;
    let shown = statements.len().min(table.limit.get());
    let selection = if page.is_stale.get() {
        Selection::Nothing
    } else {
        page.selection.get()
    };
    let mut op_of_statement: Vec<Option<OpId>> = vec![None; statements.len()];
    let statement_of_op = present
        .iter()
        .flat_map(|present| present.statement_of_op.iter_enumerated());
    for (op, &statement) in statement_of_op {
        if let Some(place) = op_of_statement.get_mut(statement) {
            *place = Some(op);
        }
    }
    let mut markup = Markup::new();
    markup.raw(r#"<table class="op-table" role="table" aria-label="Operations as a table"><thead class="sr-only"><tr role="row"><th role="columnheader" scope="col">kernel</th><th role="columnheader" scope="col">name</th><th role="columnheader" scope="col">function</th><th role="columnheader" scope="col">actions</th><th role="columnheader" scope="col">inputs</th><th role="columnheader" scope="col">type and shape</th></tr></thead><tbody role="rowgroup">"#);
    let refused = table.refused.borrow();
    page.text.with(|text| {
        let statements = statements.iter().zip(op_of_statement).take(shown);
        for (place, (statement, op)) in statements.enumerate() {
            let analysis = op.zip(present.as_ref().map(|present| &present.analysis));
            let kernel = analysis.and_then(|(op, a)| a.partition.kernel_of.get(op).copied());
            let resolved = analysis.and_then(|(op, a)| a.graph.ops.get(op));
            let row = Row {
                place,
                statement,
                annotation: statement
                    .annotation
                    .as_ref()
                    .map_or("", |a| a.span.slice(text)),
                shape: resolved.map_or(String::new(), |op| {
                    let dtype = op.element_type().map_or("", |d| d.name());
                    [dtype, &shape_text(&op.shape)].concat()
                }),
                kernel,
                is_selected: match selection {
                    Selection::Nothing => false,
                    Selection::Op(selected) => op == Some(selected),
                    Selection::Edge { producer, consumer } => {
                        op == Some(producer) || op == Some(consumer)
                    }
                    Selection::Kernel(selected) => kernel == Some(selected),
                },
            };
            add_row(&mut markup, &row, &refused);
        }
    });
    let more = format!("Show more ({shown} of {})", statements.len());
    let is_there = |is_there| if is_there { ABSENT } else { "" };
    markup.fill(
        r#"</tbody></table><datalist id="tensor-suggestions"></datalist><div class="op-table-end"><button type="button" data-part="more" hidden="{}">{}</button><button type="button" id="op-add" data-part="add">Add an op</button></div><p class="quiet op-table-note" hidden="{}">Some lines cannot be read. They are not in this table and stay in the <button type="button" class="link" data-part="text">text</button>.</p>"#,
        &[is_there(shown < statements.len()), &more, is_there(has_errors(&parsed.diagnostics))],
    );
    markup
}

/// Writes what is said about each row where that has changed since `before`.
fn show_problems(page: Page, before: &mut Vec<Vec<(Severity, String)>>) {
    let now = page.parsed.with(|parsed| {
        page.diagnostics
            .with(|all| problems_by_statement(&parsed.program, all))
    });
    for (place, problems) in now.iter().enumerate() {
        let shown = before.get(place).map(Vec::as_slice).unwrap_or_default();
        if shown != problems.as_slice() {
            let id = format!("op-{place}-problems");
            let mut markup = Markup::new();
            add_problems(&mut markup, problems);
            browser::write_markup(&id, &markup);
            browser::set_flag(&id, "hidden", problems.is_empty());
        }
    }
    *before = now;
}

/// For each op statement what the diagnostics say about it. Statements stand in text order.
fn problems_by_statement(program: &Program, all: &[Diagnostic]) -> Vec<Vec<(Severity, String)>> {
    let mut problems = vec![Vec::new(); program.ops.len()];
    for diagnostic in all {
        let Some(span) = diagnostic.span else {
            continue;
        };
        let statement = program.ops.partition_point(|op| op.span.end < span.start);
        if let Some(op) = program.ops.get(statement)
            && op.span.start <= span.start
            && let Some(found) = problems.get_mut(statement)
        {
            found.push((
                diagnostic.severity,
                crate::present::words::with_hint(diagnostic),
            ));
        }
    }
    problems
}

/// Offers what can stand at the end of a list of inputs that begins as `typed` does.
fn suggest(page: Page, typed: &str) {
    let before = typed.rfind(',').map_or(String::new(), |comma| {
        [typed.get(..comma).unwrap_or(""), ", "].concat()
    });
    let mut options = Markup::new();
    page.parsed.with_untracked(|parsed| {
        let declared = parsed.program.declarations.iter().map(|d| &d.name.text);
        let computed = parsed.program.ops.iter().map(|op| &op.output.text);
        for name in declared.chain(computed).take(SUGGESTED) {
            options.fill(
                r#"<option value="{}"></option>"#,
                &[&[&before, name.as_str()].concat()],
            );
        }
    });
    browser::write_markup(SUGGESTIONS_ID, &options);
}
