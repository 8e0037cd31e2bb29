//! A text field of the ops table: what was typed stays until it could be taken over.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// A field that hands its text over when the visitor leaves it or presses Enter.
#[component]
pub fn TextCell(
    /// Its id, unique on the page.
    id: String,
    /// Its accessible name.
    #[prop(into)]
    name: Signal<String>,
    /// What holds now.
    #[prop(into)]
    value: Signal<String>,
    /// Shown while the field is empty.
    #[prop(into)]
    placeholder: Signal<String>,
    /// Takes a text over, or says why it cannot.
    commit: impl Fn(&str) -> Result<(), String> + 'static,
    /// Told of the text while it is typed, for suggestions.
    #[prop(optional)]
    typed: Option<Callback<String>>,
    /// The id of the list of suggestions.
    #[prop(optional)]
    suggestions: Option<&'static str>,
) -> impl IntoView {
    let draft = RwSignal::new(None::<String>);
    let problem = RwSignal::new(None::<String>);
    let shown = move || draft.get().unwrap_or_else(|| value.get());
    let suggest = move |text: String| {
        if let Some(typed) = typed {
            typed.run(text);
        }
    };
    let give_up = move || {
        draft.set(None);
        problem.set(None);
    };
    let press = move |event: KeyboardEvent| {
        let is_undo =
            (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("z");
        if draft.get_untracked().is_some() && (is_undo || event.key() == "Escape") {
            // Here the keys mean what is being typed, not the page.
            event.stop_propagation();
            if !is_undo {
                give_up();
            }
        }
    };
    let problem_id = format!("{id}-problem");
    let described_by = {
        let problem_id = problem_id.clone();
        move || problem.with(Option::is_some).then(|| problem_id.clone())
    };
    view! {
        <input
            type="text"
            id=id
            aria-label=name
            aria-invalid=move || problem.with(Option::is_some).to_string()
            aria-describedby=described_by
            placeholder=placeholder
            list=suggestions
            spellcheck="false"
            autocomplete="off"
            autocapitalize="off"
            prop:value=shown
            on:focus=move |_| suggest(shown())
            on:input=move |event| {
                let text = event_target_value(&event);
                suggest(text.clone());
                draft.set(Some(text));
            }
            on:change=move |event| {
                match commit(event_target_value(&event).trim()) {
                    Ok(()) => give_up(),
                    Err(reason) => problem.set(Some(reason)),
                }
            }
            on:keydown=press
        />
        {move || problem.get().map(|text| {
            view! { <p class="cell-problem" id=problem_id.clone() role="alert">{text}</p> }
        })}
    }
}
