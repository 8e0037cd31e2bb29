//! The bar at the top of the page.

use super::counting_menu::CountingMenu;
use super::device_choice::DeviceChoice;
use super::export_menu::ExportMenu;
use super::history_buttons::HistoryButtons;
use super::learn_button::LearnButton;
use super::pickers::{ExamplePicker, TypePicker};
use super::present_button::PresentButton;
use super::share_button::ShareButton;
use super::theme_button::ThemeButton;
use leptos::prelude::*;

/// Pickers of what is analysed and how, undo and redo, share, export and theme.
#[component]
pub fn TopBar() -> impl IntoView {
    view! {
        <header class="top-bar">
            <h1>"Fuseline"</h1>
            <div class="bar-choices">
                <ExamplePicker />
                <DeviceChoice />
                <TypePicker />
                <CountingMenu />
            </div>
            <div class="bar-end">
                <LearnButton />
                <PresentButton />
                <HistoryButtons />
                <ShareButton />
                <ExportMenu />
                <ThemeButton />
            </div>
        </header>
    }
}
