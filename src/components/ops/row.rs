//! One row of the table of ops: its fields and buttons.

use super::field::Field;
use super::problems::Problems;
use super::table_state::{RowControl, TableState};
use crate::app::history::Origin;
use crate::app::op_edit::{OpField, with_field};
use crate::app::state::{Page, Selection};
use fuseline_browser as browser;
use fuseline_core::OpId;
use fuseline_core::notation::Parsed;
use fuseline_core::notation::edit::set_callee;
use fuseline_view::present::op_rows::{FunctionOption, OpRow, is_callable};
use leptos::html::{Button, Input};
use leptos::prelude::*;

/// The controls of one op.
#[component]
pub fn Row(
    table: TableState,
    /// The index of the op among the parsed statements.
    index: ReadSignal<usize>,
    /// The values of the row.
    row: Memo<OpRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let id = row.with_untracked(|row| row.id);
    let name_field = NodeRef::<Input>::new();
    let [up, down, remove] = [(); 3].map(|()| NodeRef::<Button>::new());
    Effect::new(move || {
        if let Some((wanted, control)) = table.focus_request.get()
            && wanted == id
        {
            table.focus_request.set(None);
            match control {
                RowControl::Name => browser::focus(name_field),
                RowControl::Up => browser::focus(up),
                RowControl::Down => browser::focus(down),
                RowControl::Remove => browser::focus(remove),
            }
        }
    });
    let select = move || {
        let op = row.with_untracked(|row| row.op);
        if let Some(op) = op.filter(|_| !page.checked.is_stale.get_untracked()) {
            page.select(Selection::Op(op));
        }
    };
    let is_selected = move || !page.checked.is_stale.get() && row.with(|row| belongs(row, page));
    let kernel = Memo::new(move |_| row.with(|row| row.kernel));
    let name = Memo::new(move |_| row.with(|row| row.name.clone()));
    let badge = move || {
        let kernel = kernel.get()?;
        Some(view! { <span class="badge">{kernel.number()}</span> })
    };
    let at = move || index.get_untracked();
    let button = move |node, label: &'static str, title, sign, press: fn(TableState, usize)| {
        view! {
            <button
                type="button"
                class="small-button"
                node_ref=node
                aria-label=move || format!("{label} {}", name.get())
                title=title
                on:click=move |_| press(table, at())
            >
                {sign}
            </button>
        }
    };
    let evaluated = move || row.with(|row| row.evaluated_type().unwrap_or_default().to_owned());
    let type_placeholder = Signal::derive(move || {
        // An empty field shows the inferred shape.
        let shape = row.with(|row| row.shape.clone());
        Some(shape)
            .filter(|s| !s.is_empty())
            .unwrap_or_else(|| "type and shape".to_owned())
    });
    view! {
        <tr
            role="row"
            class=move || format!("op-row {}", kernel.get().map(|kernel| page.kernel_class(kernel)).unwrap_or_default())
            class:is-selected=is_selected
            on:focusin=move |_| select()
            // In the capture phase, so that the op is selected before a button in the row removes
            // or moves it.
            on:click:capture=move |_| select()
        >
            <td role="cell" class="op-kernel">{badge}</td>
            <td role="cell" class="op-name">
                <OpFieldView index row field=OpField::Name value=name node_ref=name_field />
            </td>
            <td role="cell" class="op-callee">
                <FunctionPicker table index row />
            </td>
            <td role="cell" class="op-actions">
                {button(up, "Move up:", "Move up", "↑", |table, at| {
                    table.move_op(at, at.wrapping_sub(1), RowControl::Up);
                })}
                {button(down, "Move down:", "Move down", "↓", |table, at| {
                    table.move_op(at, at + 1, RowControl::Down);
                })}
                {button(NodeRef::new(), "Add an op after", "Add an op after", "+", |table, at| {
                    table.add(Some(at));
                })}
                {button(remove, "Remove", "Remove", "×", TableState::remove)}
            </td>
            <td role="cell" class="op-inputs">
                <Inputs table index row />
            </td>
            <td role="cell" class="op-type">
                <OpFieldView
                    index
                    row
                    field=OpField::Type
                    value=Memo::new(move |_| row.with(|row| row.stated_type.clone()))
                    placeholder=type_placeholder
                />
                <span class="op-shape">{evaluated}</span>
            </td>
            <Problems problems=Memo::new(move |_| row.with(|row| row.problems.clone())) />
        </tr>
    }
}

#[component]
fn OpFieldView(
    /// The index of the op among the parsed statements.
    index: ReadSignal<usize>,
    /// The values of the row.
    row: Memo<OpRow>,
    field: OpField,
    value: Memo<String>,
    /// The placeholder; the label of the field if there is none.
    #[prop(optional, into)]
    placeholder: Option<Signal<String>>,
    /// Set to what is typed while the field has the focus.
    #[prop(optional)]
    typed: Option<RwSignal<Option<String>>>,
    #[prop(optional)] node_ref: NodeRef<Input>,
) -> impl IntoView {
    let id = row.with_untracked(|row| format!("op-{}-{}", row.id, field.label().replace(' ', "-")));
    let edited = move |text: &str, parsed: &Parsed, typed: &str| {
        with_field(text, parsed, index.get_untracked(), field, typed)
    };
    view! {
        <Field
            id
            what=field.label()
            owner=Signal::derive(move || row.with(|row| row.name.clone()))
            value
            edited
            placeholder
            typed
            node_ref
        />
    }
}

/// Whether the selection is or contains the op of the row, in any iteration of its block.
fn belongs(row: &OpRow, page: Page) -> bool {
    let Some(own) = row.op else { return false };
    let selection = page.selection.get();
    page.shown.with(|shown| {
        let is_own = |op: OpId| op == own || shown.share_statement(op, own);
        match selection {
            Selection::Nothing | Selection::Tensor(_) => false,
            Selection::Op(op) => is_own(op),
            Selection::Edge { producer, consumer } => is_own(producer) || is_own(consumer),
            Selection::Kernel(kernel) => {
                let kernel = shown.partition().kernels.get(kernel);
                kernel.is_some_and(|ops| ops.iter().any(|&op| is_own(op)))
            }
        }
    })
}

/// The function that an op calls.
#[component]
fn FunctionPicker(
    table: TableState,
    /// The index of the op among the parsed statements.
    index: ReadSignal<usize>,
    /// The values of the row.
    row: Memo<OpRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let callee = Memo::new(move |_| row.with(|row| row.callee.clone()));
    // Any listed function can be written. If it does not fit the inputs, a diagnostic says so.
    let choose = move |function: &str| {
        page.change(Origin::Single, |text, program| {
            set_callee(text, program, index.get_untracked(), function)
        });
    };
    // A hundred options in each of sixty rows would be most of the elements of a large program's
    // table. So a picker gets them when the visitor reaches it; until then it has the chosen one
    // alone.
    let is_reached = RwSignal::new(false);
    let reach = move || is_reached.set(true);
    let chosen = move || {
        let callee = callee.get();
        let label = if is_callable(&callee) {
            callee.clone()
        } else {
            format!("{callee} ?")
        };
        view! { <option value=callee>{label}</option> }
    };
    let unknown = move || (!is_callable(&callee.get())).then(chosen);
    let functions = move || {
        let chosen = callee.get_untracked();
        table.functions.with_value(|groups| {
            let group = |(op_type, functions): &(&'static str, Vec<_>)| {
                let options = functions.iter().map(|function| option(function, &chosen));
                view! { <optgroup label=*op_type>{options.collect_view()}</optgroup> }
            };
            groups.iter().map(group).collect_view()
        })
    };
    view! {
        <select
            aria-label=move || row.with(|row| format!("function of {}", row.name))
            prop:value=callee
            on:focus=move |_| reach()
            on:pointerenter=move |_| reach()
            on:pointerdown=move |_| reach()
            on:change:target=move |event| choose(&event.target().value())
        >
            <Show when=move || is_reached.get() fallback=chosen>
                {unknown}
                {functions}
            </Show>
        </select>
    }
}

fn option(function: &FunctionOption, chosen: &str) -> impl IntoView + use<> {
    let label = match function.summary {
        "" => format!("{} (any)", function.name),
        _ => function.name.to_owned(),
    };
    view! {
        <option value=function.name title=function.summary selected=function.name == chosen>
            {label}
        </option>
    }
}

/// The tensors that an op reads.
#[component]
fn Inputs(
    table: TableState,
    /// The index of the op among the parsed statements.
    index: ReadSignal<usize>,
    /// The values of the row.
    row: Memo<OpRow>,
) -> impl IntoView {
    let inputs = Memo::new(move |_| row.with(|row| row.inputs.clone()));
    let is_separable = Memo::new(move |_| row.with(|row| row.has_separable_inputs));
    let in_text_alone = move || {
        view! { <span title="A name holds a comma: edit the inputs in the text">{inputs}</span> }
    };
    view! {
        <Show when=move || is_separable.get() fallback=in_text_alone>
            <OpFieldView index row field=OpField::Inputs value=inputs typed=table.typed_inputs />
        </Show>
    }
}
