//! The conventions by which bytes are counted and matmuls are computed.

use super::menu::Menu;
use crate::app::state::Page;
use crate::components::radio_button::RadioButton;
use crate::core::{Conventions, Externals, F32Matmul, ReshapeCost};
use crate::present::options::{externals_words, f32_matmul_words, reshape_words};
use leptos::prelude::*;
use strum::VariantArray;

/// How external tensors and reshapes count, and in which type f32 matmuls are computed.
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
    let f32_matmul = move |&f32_matmul: &F32Matmul| {
        let words = f32_matmul_words(f32_matmul);
        view! {
            <RadioButton
                set="f32_matmul"
                is_chosen=move || page.conventions.with(|c| c.f32_matmul == f32_matmul)
                choose=move || page.conventions.update(|c| c.f32_matmul = f32_matmul)
            >
                {words.name}
                <small>{words.sentence}</small>
            </RadioButton>
        }
    };
    view! {
        <Menu label="Byte counting" is_changed=Signal::derive(is_changed)>
            <fieldset>
                <legend>"Inputs and weights count"</legend>
                {Externals::VARIANTS.iter().map(externals).collect_view()}
            </fieldset>
            <fieldset>
                <legend>"A reshape is"</legend>
                {ReshapeCost::VARIANTS.iter().map(reshape).collect_view()}
            </fieldset>
            <fieldset>
                <legend>"A matmul on f32 is computed in"</legend>
                {F32Matmul::VARIANTS.iter().map(f32_matmul).collect_view()}
            </fieldset>
            <p class="quiet">
                "A kernel reads each tensor that it needs from outside once, and writes each of its outputs once that another kernel or nobody reads. Bytes are exact."
            </p>
        </Menu>
    }
}
