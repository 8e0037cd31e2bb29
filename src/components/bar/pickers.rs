//! The pickers of the example, the element type and the policy.

use crate::app::history::Origin;
use crate::app::state::{Page, Selection};
use crate::components::picker::Picker;
use fuseline_core::examples::{EXAMPLES, example};
use fuseline_core::notation::edit::{main_dtype, set_dtype};
use fuseline_core::{DType, Policy};
use fuseline_view::present::options::{policy_gloss, policy_summary, policy_title};
use leptos::prelude::*;
use strum::VariantArray;

/// Replaces the text by an example.
#[component]
pub fn ExamplePicker() -> impl IntoView {
    let page = Page::of_context();
    let choose = move |id: String| {
        if let Some(chosen) = example(&id) {
            page.open_example(chosen);
            page.select(Selection::Nothing);
        }
    };
    let groups = EXAMPLES.chunk_by(|a, b| a.group == b.group);
    let groups = groups.map(|examples| {
        let options = examples
            .iter()
            .map(|example| view! { <option value=example.id>{example.title}</option> });
        view! {
            <optgroup label=examples.first().map(|first| first.group)>
                {options.collect_view()}
            </optgroup>
        }
    });
    view! {
        <Picker
            label="Example"
            has_long_names=true
            value=Signal::derive(move || page.origin.example.get().unwrap_or_default().to_owned())
            choose
        >
            <option value="" disabled>"Your own"</option>
            {groups.collect_view()}
        </Picker>
    }
}

/// Changes the element type of the declarations.
#[component]
pub fn TypePicker() -> impl IntoView {
    let page = Page::of_context();
    let main = Memo::new(move |_| page.parsed.with(|parsed| main_dtype(&parsed.program)));
    let choose = move |name: String| {
        if let Ok(dtype) = name.parse::<DType>() {
            page.change(Origin::Single, |text, program| {
                set_dtype(text, program, dtype)
            });
        }
    };
    let options = DType::VARIANTS
        .iter()
        .map(|&dtype| view! { <option value=dtype.name()>{dtype.name()}</option> });
    view! {
        <Picker
            label="Type"
            title="The element type that most declarations name; changing it rewrites them."
            value=Signal::derive(move || main.get().map_or("", DType::name).to_owned())
            choose
        >
            <option value="" disabled>"–"</option>
            {options.collect_view()}
        </Picker>
    }
}

/// Chooses the fusion policy.
#[component]
pub fn PolicyPicker() -> impl IntoView {
    let page = Page::of_context();
    let choose = move |name: String| {
        if let Ok(policy) = name.parse::<Policy>() {
            page.choose_policy(policy);
        }
    };
    // Only the open list shows the names of the groups.
    let options = Policy::VARIANTS.iter().map(move |&policy| {
        view! {
            <optgroup label=policy_gloss(policy)>
                <option value=policy.name()>{move || policy_title(policy, page.chosen.fusion.with(|fusion| fusion.objective))}</option>
            </optgroup>
        }
    });
    view! {
        <Picker
            label="Fusion"
            title=Signal::derive(move || policy_summary(page.chosen.policy.get()).to_owned())
            value=Signal::derive(move || page.chosen.policy.get().name().to_owned())
            choose
        >
            {options.collect_view()}
        </Picker>
    }
}
