//! The colours of the page.

use crate::app::state::{Page, Theme};
use leptos::prelude::*;

/// Switches between the system's colours, light and dark.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let page = Page::of_context();
    let title = move || format!("Colours: {}", <&str>::from(page.screen.theme.get()));
    let sign = move || match page.screen.theme.get() {
        Theme::Auto => "◐",
        Theme::Light => "☀",
        Theme::Dark => "☾",
    };
    let choose_next = move |_| {
        page.screen.theme.update(|theme| {
            *theme = match theme {
                Theme::Auto => Theme::Light,
                Theme::Light => Theme::Dark,
                Theme::Dark => Theme::Auto,
            };
        });
    };
    view! {
        <button
            type="button"
            aria-label=move || format!("{}. Change", title())
            on:click=choose_next
        >
            <span aria-hidden="true">{sign}" "</span>
            {title}
        </button>
    }
}
