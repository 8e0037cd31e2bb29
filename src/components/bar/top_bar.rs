//! The bar at the top of the page.

use super::device_choice::DeviceChoice;
use super::export_menu::ExportMenu;
use super::history_buttons::HistoryButtons;
use super::learn_button::LearnButton;
use super::model_menu::ModelMenu;
use super::more_menu::MoreMenu;
use super::pickers::{ExamplePicker, TypePicker};
use super::share_button::ShareButton;
use crate::app::stage::is_staged;
use fuseline_view::page::view::View;
use leptos::prelude::*;

/// What is analysed and with which model, the lessons, and what to do with the result. Undo and
/// redo come with the first edit.
#[component]
pub fn TopBar() -> impl IntoView {
    let is_model_open = RwSignal::new(false);
    view! {
        <header class="top-bar">
            <h1>"Fuseline"</h1>
            <div class="bar-choices" class:is-staged=is_staged(View::Model)>
                <ExamplePicker />
                <DeviceChoice is_model_open />
                <TypePicker />
                <ModelMenu is_open=is_model_open />
            </div>
            <div class="bar-end">
                <HistoryButtons />
                <LearnButton />
                <ShareButton />
                <ExportMenu />
                <MoreMenu />
            </div>
        </header>
    }
}
