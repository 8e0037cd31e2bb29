//! The conventions by which bytes are counted.

use super::menu::Menu;
use crate::app::state::Page;
use crate::core::{Conventions, Externals, ReshapeCost};
use crate::present::options::{ChoiceWords, externals_words, reshape_words};
use leptos::prelude::*;
use strum::VariantArray;

/// How external tensors and reshapes count.
#[component]
pub fn CountingMenu() -> impl IntoView {
    let page = Page::of_context();
    let is_changed = move || page.conventions.get() != Conventions::default();
    let externals = move || {
        let choices = Externals::VARIANTS.iter().map(|&externals| {
            view! {
                <Choice
                    group="externals"
                    words=externals_words(externals)
                    is_chosen=Signal::derive(move || page.conventions.with(|c| c.externals == externals))
                    choose=move || page.conventions.update(|c| c.externals = externals)
                />
            }
        });
        choices.collect_view()
    };
    let reshapes = move || {
        let choices = ReshapeCost::VARIANTS.iter().map(|&reshape| {
            view! {
                <Choice
                    group="reshape"
                    words=reshape_words(reshape)
                    is_chosen=Signal::derive(move || page.conventions.with(|c| c.reshape == reshape))
                    choose=move || page.conventions.update(|c| c.reshape = reshape)
                />
            }
        });
        choices.collect_view()
    };
    view! {
        <Menu label="Counting" is_changed=Signal::derive(is_changed)>
            <fieldset>
                <legend>"Inputs and weights count"</legend>
                {externals()}
            </fieldset>
            <fieldset>
                <legend>"A reshape is"</legend>
                {reshapes()}
            </fieldset>
            <p class="quiet">
                "A kernel reads each tensor that it needs from outside once, and writes each of its outputs once that another kernel or nobody reads. Bytes are exact; times are predicted."
            </p>
        </Menu>
    }
}

/// One of several choices that exclude each other.
#[component]
fn Choice(
    /// The choices among which it is one.
    group: &'static str,
    /// What it is called, and what it means.
    words: ChoiceWords,
    /// It is chosen.
    is_chosen: Signal<bool>,
    /// Chooses it.
    choose: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <label class="radio">
            <input type="radio" name=group prop:checked=is_chosen on:change=move |_| choose() />
            <span>{words.name}<small>{words.sentence}</small></span>
        </label>
    }
}
