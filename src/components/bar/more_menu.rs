//! What few visitors need at first sight.

use super::menu::Menu;
use super::present_button::PresentButton;
use super::theme_button::ThemeButton;
use leptos::prelude::*;

/// Presenting, and the colours of the page.
#[component]
pub fn MoreMenu() -> impl IntoView {
    view! {
        <Menu label="More" is_at_end=true panel_class="more-menu">
            <PresentButton />
            <ThemeButton />
        </Menu>
    }
}
