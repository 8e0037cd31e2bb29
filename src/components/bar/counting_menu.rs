//! The conventions by which bytes are counted and matmuls are computed.

use super::menu::Menu;
use crate::app::state::Page;
use crate::components::radio_button::RadioButton;
use fuseline_core::Conventions;
use fuseline_view::present::options::{
    ChoiceWords, externals_words, f32_matmul_words, reshape_words,
};
use leptos::prelude::*;
use strum::VariantArray;

/// How external tensors and reshapes count, and in which type f32 matmuls are computed.
#[component]
pub fn CountingMenu() -> impl IntoView {
    let page = Page::of_context();
    let is_changed = move || page.conventions.get() != Conventions::default();
    view! {
        <Menu label="Byte counting" is_changed=Signal::derive(is_changed)>
            <fieldset>
                <legend>"Inputs and weights count"</legend>
                {choices("externals", externals_words, |c: &mut Conventions| &mut c.externals)}
            </fieldset>
            <fieldset>
                <legend>"A reshape is"</legend>
                {choices("reshape", reshape_words, |c: &mut Conventions| &mut c.reshape)}
            </fieldset>
            <fieldset>
                <legend>"A matmul on f32 is computed in"</legend>
                {choices("f32_matmul", f32_matmul_words, |c: &mut Conventions| &mut c.f32_matmul)}
            </fieldset>
            <p class="quiet">
                "A kernel reads each tensor that it needs from outside once, and writes each of its outputs once that another kernel or nobody reads. Bytes are exact."
            </p>
        </Menu>
    }
}

/// A button for each value of one convention.
fn choices<T: VariantArray + Copy + PartialEq + Send + Sync>(
    set: &'static str,
    words: fn(T) -> ChoiceWords,
    part: fn(&mut Conventions) -> &mut T,
) -> impl IntoView {
    let page = Page::of_context();
    let choice = move |&value: &T| {
        let ChoiceWords { name, sentence } = words(value);
        view! {
            <RadioButton
                set
                is_chosen=move || *part(&mut page.conventions.get()) == value
                choose=move || page.conventions.update(|c| *part(c) = value)
            >
                {name}
                <small>{sentence}</small>
            </RadioButton>
        }
    };
    T::VARIANTS.iter().map(choice).collect_view()
}
