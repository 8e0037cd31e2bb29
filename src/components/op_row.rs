//! One op of the ops table.

use super::badge::kernel_class;
use super::diagnostics::severity_word;
use super::op_cells::{FunctionCell, InputsCell, NameCell, TypeCell};
use super::ops_table::RowData;
use super::words::with_code;
use crate::core::edit::{add_op, move_op, remove_op};
use crate::history::Origin;
use crate::platform;
use crate::state::{Page, Selection, set_if_changed};
use leptos::prelude::*;

/// The controls of one op.
#[component]
pub fn OpRow(
    /// The page whose text is edited.
    page: Page,
    /// The op's place among the statements that could be read.
    place: usize,
    /// What the row shows.
    row: Memo<RowData>,
    /// Told of what is typed into the inputs.
    typed: Callback<String>,
) -> impl IntoView {
    let op = Memo::new(move |_| row.with(|r| r.op));
    let kernel = Memo::new(move |_| {
        let op = op.get()?;
        page.outcome
            .with(|o| o.analysis.as_ref()?.partition.group_of.get(op).copied())
    });
    let is_selected = Memo::new(move |_| {
        let is_meant = match page.selection.get() {
            Selection::Nothing => false,
            Selection::Op(selected) => op.get() == Some(selected),
            Selection::Kernel(selected) => kernel.get() == Some(selected),
        };
        is_meant && !page.is_stale.get()
    });
    let select = move || {
        if let (Some(op), false) = (op.get_untracked(), page.is_stale.get_untracked()) {
            set_if_changed(page.selection, Selection::Op(op));
        }
    };
    let problems = Memo::new(move |_| row.with(|r| r.problems.clone()));
    view! {
        <tr
            role="row"
            class=move || {
                let colored = kernel.get().map(kernel_class).unwrap_or_default();
                format!("op-row {colored}{}", if is_selected.get() { " is-selected" } else { "" })
            }
            on:focusin=move |_| select()
            on:click=move |_| select()
        >
            <td role="cell" class="op-kernel">
                {move || kernel.get().map(|kernel| view! { <span class="badge">{kernel + 1}</span> })}
            </td>
            <NameCell page place row />
            <FunctionCell page place row />
            <Actions page place row />
            <InputsCell page place row typed />
            <TypeCell page place row />
            <Show when=move || problems.with(|p| !p.is_empty())>
                <td role="cell" class="op-problems">
                    {move || {
                        problems
                            .get()
                            .into_iter()
                            .map(|(severity, text)| {
                                view! { <p class=format!("is-{}", severity_word(severity))>{with_code(&text)}</p> }
                            })
                            .collect_view()
                    }}
                </td>
            </Show>
        </tr>
    }
}

/// Up, down, add, remove; the focus stays with the op that was moved.
#[component]
fn Actions(page: Page, place: usize, row: Memo<RowData>) -> impl IntoView {
    let count = move || page.parsed.with_untracked(|p| p.program.ops.len());
    let focus_soon = |id: String| {
        request_animation_frame(move || {
            platform::focus(&id);
        });
    };
    let shift = move |to: usize, button: &'static str| {
        if to < count() {
            page.change(Origin::Single, |text, program| {
                move_op(text, program, place, to)
            });
            focus_soon(format!("op-{to}-{button}"));
        }
    };
    let add = move || {
        page.change(Origin::Single, |text, program| {
            add_op(text, program, Some(place))
        });
        focus_soon(format!("op-{}-name", place + 1));
    };
    let remove = move || {
        page.change(Origin::Single, |text, program| {
            remove_op(text, program, place)
        });
        focus_soon(match count() {
            0 => "op-add".to_owned(),
            left => format!("op-{}-remove", place.min(left - 1)),
        });
    };
    let button = move |id: &str,
                       what: &'static str,
                       title: &'static str,
                       sign: &'static str,
                       act: Box<dyn Fn()>| {
        view! {
            <button
                type="button"
                class="small-button"
                id=format!("op-{place}-{id}")
                aria-label=move || row.with(|r| format!("{what} {}", r.name))
                title=title
                on:click=move |_| act()
            >
                {sign}
            </button>
        }
    };
    view! {
        <td role="cell" class="op-actions">
            {button("up", "Move up:", "Move up", "↑", Box::new(move || shift(place.wrapping_sub(1), "up")))}
            {button("down", "Move down:", "Move down", "↓", Box::new(move || shift(place + 1, "down")))}
            {button("add", "Add an op after", "Add an op after", "+", Box::new(add))}
            {button("remove", "Remove", "Remove", "×", Box::new(remove))}
        </td>
    }
}
