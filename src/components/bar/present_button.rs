//! The way to presenting.

use crate::app::presenting::Presenting;
use leptos::prelude::*;

/// Presents the open lesson, else the program.
#[component]
pub fn PresentButton() -> impl IntoView {
    let presenting = Presenting::of_context();
    let begin = move |_| {
        if let Some(presenting) = presenting {
            presenting.begin();
        }
    };
    view! {
        <button type="button" class="present-button" title="One or two views fill the screen, with notes in a second window" on:click=begin>
            "Present"
        </button>
    }
}
