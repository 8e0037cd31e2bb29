//! The declared tensors as a table of form controls, above the ops. Each control edits the text.

use super::field::Field;
use super::problems::Problems;
use super::table_state::{PAGE_ROWS, rows};
use crate::app::history::Origin;
use crate::app::op_edit::{TensorField, with_tensor_field};
use crate::app::state::Page;
use crate::components::keyed_rows::row_at;
use crate::components::show_more::ShowMore;
use fuseline_browser as browser;
use fuseline_core::TensorRole;
use fuseline_core::notation::Parsed;
use fuseline_core::notation::edit::{add_declaration, remove_declaration, set_role};
use fuseline_view::present::names::counted;
use fuseline_view::present::tensor_rows::{TensorRow, tensor_rows};
use leptos::html::{Button, Input};
use leptos::prelude::*;

/// The number of declared tensors, which opens to their table.
#[component]
pub fn Tensors() -> impl IntoView {
    let page = Page::of_context();
    let declared = Memo::new(move |_| page.parsed.with(|parsed| parsed.program.declarations.len()));
    let is_open = RwSignal::new(false);
    view! {
        <details class="tensors" on:toggle:target=move |event| is_open.set(event.target().open())>
            <summary>{move || counted(declared.get(), "declared tensor")}</summary>
            <Show when=move || is_open.get()>
                <TensorsTable declared />
            </Show>
        </details>
    }
}

/// A row for each declaration that could be parsed.
#[component]
fn TensorsTable(
    /// Number of declarations.
    declared: Memo<usize>,
) -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let rows = rows(page, max_rows, tensor_rows);
    // The row whose name shall get the focus, until it has taken the request.
    let focus_request = RwSignal::new(None::<usize>);
    let add_button = NodeRef::<Button>::new();
    let declare = move |_| {
        page.change(Origin::Single, add_declaration);
        max_rows.update(|rows| *rows = (*rows).max(declared.get_untracked()));
        focus_request.set(rows.with_untracked(|rows| Some(rows.last()?.id)));
    };
    let remove = move |index: usize| {
        page.change(Origin::Single, |text, program| {
            remove_declaration(text, program, index)
        });
        browser::focus(add_button);
    };
    view! {
        <table class="op-table" role="table" aria-label="Tensors that the program is given">
            <thead>
                <tr role="row" class="op-head op-row tensor-row">
                    <th role="columnheader" scope="col">"tensor"</th>
                    <th role="columnheader" scope="col">"name"</th>
                    <th role="columnheader" scope="col">"type and shape"</th>
                    <th role="columnheader" scope="col"><span class="sr-only">"actions"</span></th>
                </tr>
            </thead>
            <tbody role="rowgroup">
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.id
                    children=move |index, row| {
                        let remove = move || remove(index.get_untracked());
                        view! { <Row index row=row_at(rows, index, row) focus_request remove /> }
                    }
                />
            </tbody>
        </table>
        <div class="op-table-end">
            <ShowMore max_rows step=PAGE_ROWS listed=move || rows.with(Vec::len) total=move || declared.get() />
            <button type="button" node_ref=add_button on:click=declare>"Declare a tensor"</button>
        </div>
    }
}

/// The controls of one tensor.
#[component]
fn Row(
    /// The index of the declaration among the parsed ones.
    index: ReadSignal<usize>,
    /// The values of the row.
    row: Memo<TensorRow>,
    /// The row whose name shall get the focus.
    focus_request: RwSignal<Option<usize>>,
    /// Removes the declaration.
    remove: impl Fn() + Send + Sync + 'static,
) -> impl IntoView {
    let page = Page::of_context();
    let id = row.with_untracked(|row| row.id);
    let name = Memo::new(move |_| row.with(|row| row.name.clone()));
    let stated_type = Memo::new(move |_| row.with(|row| row.stated_type.clone()));
    let name_field = NodeRef::<Input>::new();
    Effect::new(move || {
        if focus_request.get() == Some(id) {
            focus_request.set(None);
            browser::focus(name_field);
        }
    });
    let field = move |field: TensorField, value, node_ref| {
        let edited = move |text: &str, parsed: &Parsed, typed: &str| {
            with_tensor_field(text, parsed, index.get_untracked(), field, typed)
        };
        let field_id = format!("tensor-{id}-{}", field.label().replace(' ', "-"));
        view! { <Field id=field_id what=field.label() owner=name value edited node_ref /> }
    };
    let choose = move |role: &str| {
        let role = [TensorRole::Input, TensorRole::Weight]
            .into_iter()
            .find(|r| r.name() == role);
        if let Some(role) = role {
            page.change(Origin::Single, |text, program| {
                set_role(text, program, index.get_untracked(), role)
            });
        }
    };
    let role = Memo::new(move |_| row.with(|row| row.role.name()));
    let option = |role: TensorRole| view! { <option value=role.name()>{role.name()}</option> };
    view! {
        <tr role="row" class="op-row tensor-row">
            <td role="cell">
                <select
                    aria-label=move || format!("role of {}", name.get())
                    prop:value=role
                    on:change:target=move |event| choose(&event.target().value())
                >
                    {option(TensorRole::Input)}
                    {option(TensorRole::Weight)}
                </select>
            </td>
            <td role="cell">{field(TensorField::Name, name, name_field)}</td>
            <td role="cell">{field(TensorField::Type, stated_type, NodeRef::new())}</td>
            <td role="cell">
                <button
                    type="button"
                    class="small-button"
                    aria-label=move || format!("Remove {}", name.get())
                    title="Remove"
                    on:click=move |_| remove()
                >
                    "×"
                </button>
            </td>
            <Problems problems=Memo::new(move |_| row.with(|row| row.problems.clone())) />
        </tr>
    }
}
