//! The device whose times are shown.

use crate::app::state::Page;
use crate::components::picker::Picker;
use fuseline_core::model::device::{CUSTOM_ID, DeviceProbe};
use fuseline_core::{DEVICES, Device, device};
use fuseline_view::present::custom_device::custom_copy;
use fuseline_view::present::devices::is_confirmed;
use leptos::prelude::*;

/// The picker of the device.
#[component]
pub fn DeviceChoice(
    /// Set when *Custom* is chosen, whose figures are to be entered.
    is_model_open: RwSignal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let choose = move |id: String| {
        if let Some(known) = device(&id) {
            page.choose(|choices| choices.device.clone_from(known));
        } else if let Some(probe) = DeviceProbe::of_json(&id) {
            page.choose(|choices| choices.device = probe.device());
        } else {
            page.choose(|choices| choices.device = custom_copy(&choices.device));
            is_model_open.set(true);
        }
    };
    let (confirmed, unverified): (Vec<&Device>, Vec<&Device>) =
        DEVICES.iter().partition(|device| is_confirmed(device));
    let options = |devices: Vec<&'static Device>| {
        let option =
            |device: &'static Device| view! { <option value=&*device.id>{&*device.name}</option> };
        devices.into_iter().map(option).collect_view()
    };
    // The chosen one is selected here, because it may come after the picker got its value.
    let measured = move || {
        let chosen = page.chosen.device.with(|device| device.probe.clone());
        let probes = page.chosen.measured_devices.get().into_iter();
        probes
            .map(|probe| {
                let is_chosen = chosen.as_ref() == Some(&probe);
                view! { <option value=probe.json() selected=is_chosen>{probe.title()}</option> }
            })
            .collect_view()
    };
    view! {
        <Picker
            label="GPU"
            has_long_names=true
            value=Signal::derive(move || page.chosen.device.with(value_of))
            choose
        >
            {options(confirmed)}
            <optgroup label="with unverified figures">{options(unverified)}</optgroup>
            {measured}
            <option value=CUSTOM_ID>"Custom…"</option>
        </Picker>
    }
}

/// What the option of a device stands for: its id, or what was measured.
fn value_of(device: &Device) -> String {
    let measured = device.probe.as_ref().map(|probe| probe.json());
    measured.unwrap_or_else(|| device.id.to_string())
}
