//! One op of the ops table.

use super::badge::kernel_class;
use super::ops_table::{RowData, SUGGESTIONS_ID};
use super::picker::Picker;
use super::text_cell::TextCell;
use crate::core::edit::{
    add_op, move_op, remove_op, rename_op, set_annotation, set_callee, set_inputs,
};
use crate::core::functions::{self, FUNCTIONS};
use crate::core::notation::parse;
use crate::core::{Diagnostic, OpType, Program};
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
    let part =
        move |part: fn(&RowData) -> &String| Signal::derive(move || row.with(|r| part(r).clone()));
    let named = move |what: &'static str| {
        Signal::derive(move || row.with(|r| format!("{what} of {}", r.name)))
    };
    let kernel = Memo::new(move |_| {
        let op = row.with(|r| r.op)?;
        page.outcome
            .with(|o| o.analysis.as_ref()?.partition.group_of.get(op).copied())
    });
    let is_selected = Memo::new(move |_| {
        let selection = page.selection.get();
        let is_in_kernel = match selection {
            Selection::Nothing => false,
            Selection::Op(op) => row.with(|r| r.op) == Some(op),
            Selection::Kernel(selected) => kernel.get() == Some(selected),
        };
        is_in_kernel && !page.is_stale.get()
    });
    let select = move || {
        if let Some(op) = row
            .with_untracked(|r| r.op)
            .filter(|_| !page.is_stale.get_untracked())
        {
            set_if_changed(page.selection, Selection::Op(op));
        }
    };
    let rename =
        move |name: &str| commit(page, |text, program| rename_op(text, program, place, name));
    let set_inputs = move |inputs: &str| {
        let names: Vec<String> = inputs
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        commit(page, |text, program| {
            Ok(set_inputs(text, program, place, &names))
        })
    };
    let annotate = move |annotation: &str| {
        let annotation = annotation.trim_start_matches(':').trim();
        let stated = (!annotation.is_empty()).then_some(annotation);
        commit(page, |text, program| {
            Ok(set_annotation(text, program, place, stated))
        })
    };
    let call = move |callee: String| {
        // A name of the table always fits; whether it suits the inputs is for the diagnostics to say.
        page.change(Origin::Single, |text, program| {
            set_callee(text, program, place, &callee)
        });
    };
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
            <td role="cell" class="op-name">
                <TextCell
                    id=format!("op-{place}-name")
                    name=named("name")
                    value=part(|r| &r.name)
                    placeholder="name"
                    commit=rename
                />
            </td>
            <td role="cell" class="op-callee">
                <FunctionPicker name=named("function") value=part(|r| &r.callee) choose=call />
            </td>
            <td role="cell" class="op-actions"><Actions page place row /></td>
            <td role="cell" class="op-inputs">
                {move || {
                    if row.with(|r| r.has_comma) {
                        view! { <span title="A name holds a comma: edit the inputs in the text">{part(|r| &r.inputs)}</span> }
                            .into_any()
                    } else {
                        view! {
                            <TextCell
                                id=format!("op-{place}-inputs")
                                name=named("inputs")
                                value=part(|r| &r.inputs)
                                placeholder="inputs"
                                commit=set_inputs
                                typed
                                suggestions=SUGGESTIONS_ID
                            />
                        }
                            .into_any()
                    }
                }}
            </td>
            <td role="cell" class="op-type">
                <TextCell
                    id=format!("op-{place}-type")
                    name=named("stated type")
                    value=part(|r| &r.annotation)
                    placeholder=Signal::derive(move || row.with(|r| if r.shape.is_empty() { "type and shape".to_owned() } else { r.shape.clone() }))
                    commit=annotate
                />
                <span class="op-shape">{move || row.with(|r| if r.annotation.is_empty() || r.annotation == r.shape { String::new() } else { r.shape.clone() })}</span>
            </td>
            <Show when=move || row.with(|r| !r.problems.is_empty())>
                <td role="cell" class="op-problems">
                    {move || {
                        row.with(|r| r.problems.clone())
                            .into_iter()
                            .map(|(severity, text)| {
                                view! { <p class=format!("is-{}", super::diagnostics::severity_word(severity))>{text}</p> }
                            })
                            .collect_view()
                    }}
                </td>
            </Show>
        </tr>
    }
}

/// Takes an edit over unless it leaves a statement that can no longer be read.
fn commit(
    page: Page,
    change: impl FnOnce(&str, &Program) -> Result<String, Diagnostic>,
) -> Result<(), String> {
    let (changed, statements) = page.text.with_untracked(|text| {
        page.parsed
            .with_untracked(|p| (change(text, &p.program), p.program.ops.len()))
    });
    let sentence = |diagnostic: &Diagnostic| match &diagnostic.hint {
        Some(hint) => format!("{}: {hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let text = changed.map_err(|diagnostic| sentence(&diagnostic))?;
    let parsed = parse(&text);
    if parsed.program.ops.len() < statements {
        let known = page.parsed.with_untracked(|p| p.diagnostics.clone());
        let news = parsed
            .diagnostics
            .iter()
            .find(|d| !known.iter().any(|k| k.message == d.message));
        return Err(news
            .or(parsed.diagnostics.first())
            .map_or_else(|| "this cannot be read".to_owned(), sentence));
    }
    page.edit(text, Origin::Single);
    Ok(())
}

#[component]
fn FunctionPicker(
    name: Signal<String>,
    value: Signal<String>,
    choose: impl Fn(String) + 'static,
) -> impl IntoView {
    let groups = OpType::ALL
        .into_iter()
        .map(|op_type| {
            let bare = functions::find(op_type.name())
                .is_none()
                .then(|| view! { <option value=op_type.name()>{format!("{} (any)", op_type.name())}</option> });
            let options = FUNCTIONS
                .iter()
                .filter(|f| f.op_type == op_type)
                .map(|f| view! { <option value=f.name title=f.summary>{f.name}</option> })
                .collect_view();
            view! { <optgroup label=op_type.name()>{bare}{options}</optgroup> }
        })
        .collect_view();
    let is_known = move |callee: &String| {
        functions::find(callee).is_some() || OpType::from_name(callee).is_some()
    };
    let unknown = Memo::new(move |_| Some(value.get()).filter(|callee| !is_known(callee)));
    view! {
        <Picker value=value choose=choose name=name>
            {move || unknown.get().map(|callee| view! { <option value=callee.clone()>{format!("{callee} ?")}</option> })}
            {groups}
        </Picker>
    }
}

#[component]
fn Actions(page: Page, place: usize, row: Memo<RowData>) -> impl IntoView {
    let count = move || page.parsed.with_untracked(|p| p.program.ops.len());
    let focus_soon = |id: String| {
        request_animation_frame(move || {
            platform::focus(&id);
        })
    };
    let shift = move |to: usize, button: &'static str| {
        if to < count() {
            page.change(Origin::Single, |text, program| {
                move_op(text, program, place, to)
            });
            focus_soon(format!("op-{to}-{button}"));
        }
    };
    let add = move |_| {
        page.change(Origin::Single, |text, program| {
            add_op(text, program, Some(place))
        });
        focus_soon(format!("op-{}-name", place + 1));
    };
    let remove = move |_| {
        page.change(Origin::Single, |text, program| {
            remove_op(text, program, place)
        });
        focus_soon(match count() {
            0 => "op-add".to_owned(),
            left => format!("op-{}-remove", place.min(left - 1)),
        });
    };
    let label = move |what: &'static str| move || row.with(|r| format!("{what} {}", r.name));
    let id = |button: &'static str| format!("op-{place}-{button}");
    view! {
        <button type="button" class="small-button" id=id("up") aria-label=label("Move up:") title="Move up"
            on:click=move |_| shift(place.wrapping_sub(1), "up")>"↑"</button>
        <button type="button" class="small-button" id=id("down") aria-label=label("Move down:") title="Move down"
            on:click=move |_| shift(place + 1, "down")>"↓"</button>
        <button type="button" class="small-button" id=id("add") aria-label=label("Add an op after") title="Add an op after"
            on:click=add>"+"</button>
        <button type="button" class="small-button" id=id("remove") aria-label=label("Remove") title="Remove"
            on:click=remove>"×"</button>
    }
}
