//! A text field of the table of ops.

use super::table::{SUGGESTIONS_ID, Table};
use crate::app::history::Origin;
use crate::app::op_edit::{OpField, with_field};
use crate::app::state::Page;
use crate::present::op_rows::OpRow;
use leptos::ev::KeyboardEvent;
use leptos::html::Input;
use leptos::prelude::*;

/// What was typed and could not be taken over.
#[derive(Clone, PartialEq, Eq)]
struct Refused {
    /// What the text stated. When it states something else, what was typed is history.
    stated: String,
    /// What was typed.
    typed: String,
    /// Why that cannot be.
    reason: String,
}

/// A field that edits the text when it is left or Enter is pressed. What cannot be taken over stays, with the reason.
#[component]
pub fn Field(
    /// The table that it is in.
    table: Table,
    /// The op's place among the statements that could be read.
    place: ReadSignal<usize>,
    /// What the row shows.
    row: Memo<OpRow>,
    /// What is typed here.
    field: OpField,
    /// What the text states.
    value: Memo<String>,
    /// What an empty field shows; else what is typed here.
    #[prop(optional, into)]
    placeholder: Option<Signal<String>>,
    /// The field itself.
    #[prop(optional)]
    node_ref: NodeRef<Input>,
) -> impl IntoView {
    let page = Page::of_context();
    let refused = RwSignal::new(None::<Refused>);
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
    let take_over = move |typed: String| {
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
                // What is stated may be written in another way than it was typed.
                write(&value.get_untracked());
            }
            Err(reason) => refused.set(Some(Refused {
                stated,
                typed,
                reason,
            })),
        }
    };
    // Escape takes back what is being typed. While something is, it and undo mean the field and not the page.
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
            on:change:target=move |event| take_over(event.target().value())
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
