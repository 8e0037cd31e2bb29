//! Choosing an op of the program.

use fuseline_core::{IdVec, OpId};
use leptos::html;
use leptos::prelude::*;

/// Up to this many ops are listed to choose from; a list of 20,000 takes the browser a second.
const MAX_LISTED_OPS: usize = 1_000;

/// Chooses an op: from a list of all, or by its name where there are many.
#[component]
pub fn OpPicker(
    label: &'static str,
    /// The names of the ops, by their ids.
    names: Memo<IdVec<OpId, String>>,
    chosen: Memo<OpId>,
    /// Called with the op that the visitor chooses.
    #[prop(into)]
    choose: Callback<OpId>,
) -> impl IntoView {
    let are_many = Memo::new(move |_| names.with(|names| names.len() > MAX_LISTED_OPS));
    let list = move || view! { <OpList label names chosen choose /> };
    view! {
        <Show when=move || are_many.get() fallback=list>
            <OpName label names chosen choose />
        </Show>
    }
}

/// A list of all ops.
#[component]
fn OpList(
    label: &'static str,
    /// The names of the ops, by their ids.
    names: Memo<IdVec<OpId, String>>,
    chosen: Memo<OpId>,
    /// Called with the op that the visitor chooses.
    choose: Callback<OpId>,
) -> impl IntoView {
    let options = move || {
        let chosen = chosen.get();
        let option = |(op, name): (OpId, &String)| {
            view! { <option value=op.to_string() prop:selected=op == chosen>{name.clone()}</option> }
        };
        names.with(|names| names.iter_enumerated().map(option).collect_view())
    };
    view! {
        <select
            aria-label=label
            on:change:target=move |event| {
                if let Ok(op) = event.target().value().parse() {
                    choose.run(op);
                }
            }
        >
            {options}
        </select>
    }
}

/// A field for the name of an op.
#[component]
fn OpName(
    label: &'static str,
    /// The names of the ops, by their ids.
    names: Memo<IdVec<OpId, String>>,
    chosen: Memo<OpId>,
    /// Called with the op that the visitor chooses.
    choose: Callback<OpId>,
) -> impl IntoView {
    let name = move || names.with(|names| names.get(chosen.get()).cloned().unwrap_or_default());
    let field = NodeRef::<html::Input>::new();
    let take = move |typed: String| {
        let op = names.with_untracked(|names| {
            let mut ops = names.iter_enumerated();
            ops.find(|(_, name)| *name == typed.trim())
                .map(|(op, _)| op)
        });
        if let Some(op) = op {
            choose.run(op);
        } else if let Some(field) = field.get_untracked() {
            // There is no op of this name.
            field.set_value(&untrack(name));
        }
    };
    view! {
        <input
            type="text"
            node_ref=field
            aria-label=label
            title="the name of an op; a click on an edge of the graph fills in both"
            spellcheck="false"
            autocomplete="off"
            prop:value=name
            on:change:target=move |event| take(event.target().value())
        />
    }
}
