//! The device whose times are shown, and its figures.

use super::device_figures::DeviceFigures;
use super::menu::Menu;
use crate::app::state::Page;
use crate::components::picker::Picker;
use crate::core::model::device::CUSTOM_ID;
use crate::core::{DEVICES, device};
use crate::present::custom_device::custom_copy;
use crate::present::devices::is_confirmed;
use leptos::prelude::*;

/// The picker of the device, and the menu of its figures. Choosing *Custom* opens the menu.
#[component]
pub fn DeviceChoice() -> impl IntoView {
    let page = Page::of_context();
    let is_figures_open = RwSignal::new(false);
    let choose = move |id: String| {
        if let Some(known) = device(&id) {
            page.device.set(known.clone());
        } else {
            page.device.update(|device| *device = custom_copy(device));
            is_figures_open.set(true);
        }
    };
    let options = DEVICES.iter().map(|device| {
        let mark = if is_confirmed(device) { "" } else { " ?" };
        view! { <option value=&*device.id>{format!("{}{mark}", device.name)}</option> }
    });
    view! {
        <Picker
            label="GPU"
            has_long_names=true
            value=Signal::derive(move || page.device.with(|device| device.id.to_string()))
            choose
        >
            {options.collect_view()}
            <option value=CUSTOM_ID>"Custom…"</option>
        </Picker>
        <Menu label="GPU figures" panel_class="figures" is_open=is_figures_open>
            <DeviceFigures />
        </Menu>
    }
}
