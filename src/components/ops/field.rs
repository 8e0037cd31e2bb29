//! A text field in a row of the table of ops.

use super::table_state::{SUGGESTIONS_ID, TableState};
use crate::app::history::Origin;
use crate::app::op_edit::{OpField, with_field};
use crate::app::state::Page;
use crate::present::op_rows::OpRow;
use leptos::ev::KeyboardEvent;
use leptos::html::Input;
use leptos::prelude::*;

/// An input that could not be written into the text.
#[derive(Clone, PartialEq, Eq)]
struct RefusedInput {
    /// The value in the text at that time. When it changes, the refused input is dropped.
    stated: String,
    /// The input.
    typed: String,
    /// Why it was refused.
    reason: String,
}

/// A field that edits the text when it is left or Enter is pressed. A refused input stays in the field, with the reason.
#[component]
pub fn Field(
    /// The state of the table.
    table: TableState,
    /// The index of the op among the parsed statements.
    place: ReadSignal<usize>,
    /// The values of the row.
    row: Memo<OpRow>,
    /// Which field of the op it is.
    field: OpField,
    /// The value in the text.
    value: Memo<String>,
    /// The placeholder; the label of the field if there is none.
    #[prop(optional, into)]
    placeholder: Option<Signal<String>>,
    /// The element, for a parent that focuses it.
    #[prop(optional)]
    node_ref: NodeRef<Input>,
) -> impl IntoView {
    let page = Page::of_context();
    let refused = RwSignal::new(None::<RefusedInput>);
    let refusal = Memo::new(move |_| {
        let stated = value.get();
        refused.get().filter(|refused| refused.stated == stated)
    });
    let problem_id = row.with_untracked(|row| format!("op-{}-{}-problem", row.id, field.label()));
    let problem_id = problem_id.replace(' ', "-");
    let described_by = problem_id.clone();
    let write = move |text: &str| {
        if let Some(input) = node_ref.get_untracked() {
            input.set_value(text);
        }
    };
    let commit = move |typed: String| {
        let stated = value.get_untracked();
        let text = page.text.with_untracked(|text| {
            page.parsed.with_untracked(|parsed| {
                with_field(text, parsed, place.get_untracked(), field, &typed)
            })
        });
        match text {
            Ok(text) => {
                refused.set(None);
                page.edit(text, Origin::Single);
                // The text may state it in another form than it was typed.
                write(&value.get_untracked());
            }
            Err(reason) => refused.set(Some(RefusedInput {
                stated,
                typed,
                reason,
            })),
        }
    };
    // While the field differs from the text, Escape and undo act on the field and not on the page.
    let press = move |event: KeyboardEvent| {
        let is_undo =
            (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("z");
        let is_escape = event.key() == "Escape";
        let typed = node_ref.get_untracked().map(|input| input.value());
        let stated = value.get_untracked();
        if !(is_undo || is_escape) || typed.as_ref() == Some(&stated) {
            return;
        }
        event.stop_propagation();
        if is_escape {
            refused.set(None);
            write(&stated);
        }
    };
    let is_inputs = field == OpField::Inputs;
    let suggest = move |typed: Option<String>| {
        if is_inputs {
            table.typed_inputs.set(typed);
        }
    };
    view! {
        <input
            type="text"
            node_ref=node_ref
            aria-label=move || row.with(|row| format!("{} of {}", field.label(), row.name))
            aria-invalid=move || refusal.with(Option::is_some).to_string()
            aria-describedby=move || refusal.with(Option::is_some).then(|| described_by.clone())
            placeholder=move || placeholder.map_or_else(|| field.label().to_owned(), |p| p.get())
            list=is_inputs.then_some(SUGGESTIONS_ID)
            spellcheck="false"
            autocomplete="off"
            autocapitalize="off"
            prop:value=move || refusal.get().map_or_else(|| value.get(), |refused| refused.typed)
            on:change:target=move |event| commit(event.target().value())
            on:keydown=press
            on:focus:target=move |event| suggest(Some(event.target().value()))
            on:input:target=move |event| suggest(Some(event.target().value()))
            on:blur=move |_| suggest(None)
        />
        <p
            class="cell-problem"
            id=problem_id
            role="alert"
            hidden=move || refusal.with(Option::is_none)
        >
            {move || refusal.get().map(|refused| refused.reason)}
        </p>
    }
}
