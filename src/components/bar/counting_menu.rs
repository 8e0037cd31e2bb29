//! The conventions by which bytes are counted.

use super::menu::Menu;
use crate::app::state::Page;
use crate::components::radio_button::RadioButton;
use crate::core::{Conventions, Externals, ReshapeCost};
use crate::present::options::{externals_words, reshape_words};
use leptos::prelude::*;
use strum::VariantArray;

/// How external tensors and reshapes count.
#[component]
pub fn CountingMenu() -> impl IntoView {
    let page = Page::of_context();
    let is_changed = move || page.conventions.get() != Conventions::default();
    let externals = move |&externals: &Externals| {
        let words = externals_words(externals);
        view! {
            <RadioButton
                set="externals"
                is_chosen=move || page.conventions.with(|c| c.externals == externals)
                choose=move || page.conventions.update(|c| c.externals = externals)
            >
                {words.name}
                <small>{words.sentence}</small>
            </RadioButton>
        }
    };
    let reshape = move |&reshape: &ReshapeCost| {
        let words = reshape_words(reshape);
        view! {
            <RadioButton
                set="reshape"
                is_chosen=move || page.conventions.with(|c| c.reshape == reshape)
                choose=move || page.conventions.update(|c| c.reshape = reshape)
            >
                {words.name}
                <small>{words.sentence}</small>
            </RadioButton>
        }
    };
    view! {
        <Menu label="Counting" is_changed=Signal::derive(is_changed)>
            <fieldset>
                <legend>"Inputs and weights count"</legend>
                {Externals::VARIANTS.iter().map(externals).collect_view()}
            </fieldset>
            <fieldset>
                <legend>"A reshape is"</legend>
                {ReshapeCost::VARIANTS.iter().map(reshape).collect_view()}
            </fieldset>
            <p class="quiet">
                "A kernel reads each tensor that it needs from outside once, and writes each of its outputs once that another kernel or nobody reads. Bytes are exact; times are predicted."
            </p>
        </Menu>
    }
}
