//! What the numbers are made with: the figures of the GPU, the counting conventions and the
//! precision of f32 products.

use super::device_figures::DeviceFigures;
use super::menu::Menu;
use crate::app::state::Page;
use crate::components::radio_button::RadioButton;
use fuseline_core::Conventions;
use fuseline_view::present::options::{
    ChoiceWords, externals_words, f32_conv_words, f32_matmul_words, reshape_words,
};
use leptos::prelude::*;
use strum::VariantArray;

/// All assumptions of the model under three headings.
#[component]
pub fn ModelMenu(
    /// Whether it is open. Choosing a custom GPU opens it.
    is_open: RwSignal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let is_changed = move || page.chosen.conventions.get() != Conventions::default();
    view! {
        <Menu label="Model" is_changed=Signal::derive(is_changed) panel_class="model-menu" is_open>
            <section aria-labelledby="model-gpu">
                <h2 id="model-gpu">"GPU figures"</h2>
                <div class="figures"><DeviceFigures /></div>
            </section>
            <section aria-labelledby="model-counting">
                <h2 id="model-counting">"Counting conventions"</h2>
                {choices("Inputs and weights count", "externals", externals_words, |c| &mut c.externals)}
                {choices("A reshape is", "reshape", reshape_words, |c| &mut c.reshape)}
                <p class="quiet">
                    "A kernel reads each tensor that it needs once. It writes each result, and each output that another kernel reads, once. Bytes are exact under this convention; a row that does not fit on chip is read again, as Limits says."
                </p>
            </section>
            <section aria-labelledby="model-precision">
                <h2 id="model-precision">"Precision"</h2>
                {choices("A matmul on f32 is computed in", "f32_matmul", f32_matmul_words, |c| &mut c.f32_matmul)}
                {choices("A convolution on f32 is computed in", "f32_conv", f32_conv_words, |c| &mut c.f32_conv)}
            </section>
        </Menu>
    }
}

/// A button for each value of one convention.
fn choices<T: VariantArray + Copy + PartialEq + Send + Sync>(
    legend: &'static str,
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
                is_chosen=move || *part(&mut page.chosen.conventions.get()) == value
                choose=move || page.choose(|choices| *part(&mut choices.conventions) = value)
            >
                {name}
                <small>{sentence}</small>
            </RadioButton>
        }
    };
    let choices = T::VARIANTS.iter().map(choice).collect_view();
    view! {
        <fieldset>
            <legend>{legend}</legend>
            {choices}
        </fieldset>
    }
}
