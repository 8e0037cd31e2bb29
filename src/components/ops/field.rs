//! A text field in a row of the table of ops or tensors.

use super::table_state::SUGGESTIONS_ID;
use crate::app::history::Origin;
use crate::app::state::Page;
use fuseline_core::model::diagnostic::Diagnostic;
use fuseline_core::notation::Parsed;
use fuseline_view::present::words::with_hint;
use leptos::ev::KeyboardEvent;
use leptos::html::Input;
use leptos::prelude::*;

/// An input that could not be written into the text.
#[derive(Clone, PartialEq, Eq)]
struct RefusedInput {
    /// The value in the text at that time. When it changes, the refused input is dropped.
    stated: String,
    typed: String,
    /// Why it was refused.
    reason: String,
}

/// A field that edits the text when it is left or Enter is pressed. A refused input stays in the
/// field, with the reason.
#[component]
pub fn Field(
    /// Prefix of the ids of its elements, unique on the page.
    #[prop(into)]
    id: String,
    /// What it holds: `name`.
    what: &'static str,
    /// The op or tensor that it belongs to, for screen readers.
    #[prop(into)]
    owner: Signal<String>,
    value: Memo<String>,
    /// The text with what was typed as the value, or why that is not possible.
    edited: impl Fn(&str, &Parsed, &str) -> Result<String, Diagnostic>
    + Copy
    + Send
    + Sync
    + 'static,
    /// The placeholder; what the field holds if there is none.
    #[prop(optional_no_strip)]
    placeholder: Option<Signal<String>>,
    /// Set to what is typed while the field has the focus, for suggestions.
    #[prop(optional_no_strip)]
    typed: Option<RwSignal<Option<String>>>,
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
    let problem_id = id + "-problem";
    let described_by = problem_id.clone();
    let write = move |text: &str| {
        if let Some(input) = node_ref.get_untracked() {
            input.set_value(text);
        }
    };
    let commit = move |typed: String| {
        let stated = value.get_untracked();
        let text = (page.text).with_untracked(|text| {
            (page.parsed).with_untracked(|parsed| edited(text, parsed, &typed))
        });
        match text {
            Ok(text) => {
                refused.set(None);
                page.edit(text, Origin::Single);
                // The text may state it in another form than it was typed.
                write(&value.get_untracked());
            }
            Err(problem) => refused.set(Some(RefusedInput {
                stated,
                typed,
                reason: with_hint(&problem),
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
    let suggest = move |text: Option<String>| {
        if let Some(typed) = typed {
            typed.set(text);
        }
    };
    view! {
        <input
            type="text"
            node_ref=node_ref
            aria-label=move || format!("{what} of {}", owner.get())
            aria-invalid=move || refusal.with(Option::is_some).to_string()
            aria-describedby=move || refusal.with(Option::is_some).then(|| described_by.clone())
            placeholder=move || placeholder.map_or_else(|| what.to_owned(), |p| p.get())
            list=typed.map(|_| SUGGESTIONS_ID)
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
