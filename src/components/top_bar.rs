//! The bar at the top: what is analysed, under which choices, and what can be done with it.

use super::device_picker::DevicePicker;
use super::editor::follow_change;
use super::export_menu::ExportMenu;
use super::picker::Picker;
use super::share_button::ShareButton;
use crate::core::edit::{main_dtype, set_dtype};
use crate::core::examples::{EXAMPLES, example};
use crate::core::{DType, Externals, Policy, ReshapeCost};
use crate::history::Origin;
use crate::state::{Page, Selection, Theme};
use leptos::prelude::*;

/// Pickers, undo and redo, share, export and theme.
#[component]
pub fn TopBar(
    /// The page that is steered.
    page: Page,
) -> impl IntoView {
    view! {
        <header class="top-bar">
            <h1>"Fuseline"</h1>
            <div class="bar-choices">
                <ExamplePicker page />
                <DevicePicker page />
                <DtypePicker page />
                <PolicyPicker page />
                <ConventionsMenu page />
            </div>
            <div class="bar-end">
                <UndoButtons page />
                <ShareButton page />
                <ExportMenu page />
                <ThemeButton theme=page.theme />
            </div>
        </header>
    }
}

#[component]
fn ExamplePicker(page: Page) -> impl IntoView {
    let value = Signal::derive(move || page.example.get().unwrap_or("").to_owned());
    let choose = move |id: String| {
        if let Some(chosen) = example(&id) {
            page.edit(chosen.text.to_owned(), Origin::Single);
            page.example.set(Some(chosen.id));
            page.selection.set(Selection::Nothing);
        }
    };
    let options = EXAMPLES
        .iter()
        .map(|e| view! { <option value=e.id>{e.title}</option> })
        .collect_view();
    view! {
        <label class="picker">
            <span>"Example"</span>
            <Picker value choose>
                <option value="" disabled=true>"Your own"</option>
                {options}
            </Picker>
        </label>
    }
}

#[component]
fn DtypePicker(page: Page) -> impl IntoView {
    let main = Memo::new(move |_| page.parsed.with(|p| main_dtype(&p.program)));
    let value = Signal::derive(move || main.get().map_or("", DType::name).to_owned());
    let choose = move |name: String| {
        if let Some(dtype) = DType::from_name(&name) {
            page.change(Origin::Single, |text, program| {
                set_dtype(text, program, dtype)
            });
        }
    };
    let options = DType::ALL
        .into_iter()
        .map(|dtype| view! { <option value=dtype.name()>{dtype.name()}</option> })
        .collect_view();
    view! {
        <label class="picker" title="The element type that most declarations name; changing it rewrites them.">
            <span>"Type"</span>
            <Picker value choose>
                <option value="" disabled=true>"–"</option>
                {options}
            </Picker>
        </label>
    }
}

#[component]
fn PolicyPicker(page: Page) -> impl IntoView {
    let value = Signal::derive(move || page.policy.get().name().to_owned());
    let choose = move |name: String| {
        if let Some(policy) = Policy::from_name(&name) {
            page.policy.set(policy);
        }
    };
    let options = Policy::ALL
        .into_iter()
        .map(|policy| view! { <option value=policy.name()>{policy.name()}</option> })
        .collect_view();
    view! {
        <label class="picker" title=move || page.policy.get().summary()>
            <span>"Fusion"</span>
            <Picker value choose>{options}</Picker>
        </label>
    }
}

/// What an external tensor counts, for people.
const fn externals_words(externals: Externals) -> (&'static str, &'static str) {
    match externals {
        Externals::Declared => (
            "as declared",
            "Inputs and weights count as declared, else as the other shapes force them to be, else as large as their reader's output.",
        ),
        Externals::KnownOnly => (
            "0 bytes",
            "Only tensors that an op computes count. Some published answers do this.",
        ),
        Externals::OutputShape => (
            "as their reader's output",
            "Every input and weight counts as large as the output of the op that reads it, whatever is declared.",
        ),
    }
}

/// What a reshape costs, for people.
const fn reshape_words(reshape: ReshapeCost) -> (&'static str, &'static str) {
    match reshape {
        ReshapeCost::Copy => (
            "a copy",
            "A reshape that stands alone reads its input and writes its output like any op.",
        ),
        ReshapeCost::View => (
            "a view",
            "A reshape only indexes the same bytes in another way: it moves nothing and nobody launches it.",
        ),
    }
}

#[component]
fn ConventionsMenu(page: Page) -> impl IntoView {
    let externals = Externals::ALL
        .into_iter()
        .map(|this| {
            let (word, sentence) = externals_words(this);
            radio(
                "externals",
                word,
                sentence,
                move || page.conventions.get().externals == this,
                move || page.conventions.update(|c| c.externals = this),
            )
        })
        .collect_view();
    let reshape = ReshapeCost::ALL
        .into_iter()
        .map(|this| {
            let (word, sentence) = reshape_words(this);
            radio(
                "reshape",
                word,
                sentence,
                move || page.conventions.get().reshape == this,
                move || page.conventions.update(|c| c.reshape = this),
            )
        })
        .collect_view();
    let is_default =
        Memo::new(move |_| page.conventions.get() == crate::core::Conventions::default());
    view! {
        <details class="menu">
            <summary class="button" class:is-changed=move || !is_default.get()>"Counting"</summary>
            <div class="menu-panel">
                <fieldset>
                    <legend>"Inputs and weights count"</legend>
                    {externals}
                </fieldset>
                <fieldset>
                    <legend>"A reshape is"</legend>
                    {reshape}
                </fieldset>
                <p class="quiet">
                    "A kernel reads each tensor that it needs from outside once, and writes each of its outputs once that another kernel or nobody reads. Bytes are exact; times are predicted."
                </p>
            </div>
        </details>
    }
}

fn radio(
    group: &'static str,
    word: &'static str,
    sentence: &'static str,
    is_chosen: impl Fn() -> bool + Send + Sync + 'static,
    choose: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <label class="radio">
            <input type="radio" name=group prop:checked=is_chosen on:change=move |_| choose() />
            <span>{word}<small>{sentence}</small></span>
        </label>
    }
}

#[component]
fn UndoButtons(page: Page) -> impl IntoView {
    let step = move |step: fn(Page) -> bool| {
        let before = page.text.get_untracked();
        if step(page) {
            follow_change(page, &before);
        }
    };
    view! {
        <button
            type="button"
            class="icon-button"
            title="Undo (Ctrl+Z)"
            aria-label="Undo"
            aria-keyshortcuts="Control+Z"
            disabled=move || !page.can_undo.get()
            on:click=move |_| step(Page::undo)
        >
            <span aria-hidden="true">"↶"</span>
        </button>
        <button
            type="button"
            class="icon-button"
            title="Redo (Ctrl+Shift+Z)"
            aria-label="Redo"
            aria-keyshortcuts="Control+Shift+Z Control+Y"
            disabled=move || !page.can_redo.get()
            on:click=move |_| step(Page::redo)
        >
            <span aria-hidden="true">"↷"</span>
        </button>
    }
}

#[component]
fn ThemeButton(theme: RwSignal<Theme>) -> impl IntoView {
    let next = move || match theme.get_untracked() {
        Theme::Auto => Theme::Light,
        Theme::Light => Theme::Dark,
        Theme::Dark => Theme::Auto,
    };
    let sign = move || match theme.get() {
        Theme::Auto => "◐",
        Theme::Light => "☀",
        Theme::Dark => "☾",
    };
    view! {
        <button
            type="button"
            class="icon-button"
            title=move || format!("Colours: {}", theme.get().name())
            aria-label=move || format!("Colours: {}. Change", theme.get().name())
            on:click=move |_| theme.set(next())
        >
            <span aria-hidden="true">{sign}</span>
        </button>
    }
}
