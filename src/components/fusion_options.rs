//! The panel of options beside the policy.

use crate::app::state::Page;
use crate::browser::{self, Event, Place};
use crate::core::decimal::parse_decimal;
use crate::core::device;
use crate::core::model::options::Switch;
use crate::core::{Device, Objective};
use crate::views::fusion_options::{LAUNCH_ID, LAUNCH_RESET_ID, Launch, options};
use leptos::prelude::*;

/// Id of the panel.
pub(super) const OPTIONS_ID: &str = "fusion-options";
/// Finds the panel from within.
pub(super) const SELECTOR: &str = "#fusion-options";

/// Shows what the chosen policy looks at.
pub(super) fn follow(page: Page) {
    let mut place = Place::new(OPTIONS_ID);
    Effect::new(move || {
        let launch = page.device.with(|present| Launch {
            seconds: present.launch_s.value,
            is_chosen: has_own_launch(present),
        });
        place.show(options(page.policy.get(), page.fusion.get(), launch));
    });
}

/// Takes over what was chosen in the panel.
pub(super) fn hear(page: Page, event: &Event) {
    match event.type_().as_str() {
        "change" => {
            if let Some(place) = browser::closest_number(event, "data-switch")
                && let Some(switch) = Switch::ALL.get(place)
            {
                page.fusion.update(|fusion| {
                    let flag = switch.flag(fusion);
                    *flag = !*flag;
                });
            }
            if let Some(place) = browser::closest_number(event, "data-objective")
                && let Some(&objective) = Objective::ALL.get(place)
            {
                page.fusion.update(|fusion| fusion.objective = objective);
            }
        }
        "input" => {
            if browser::closest_id(event, "[type=range]").as_deref() == Some(LAUNCH_ID)
                && let Some(us) = parse_decimal(&browser::input_value(event))
            {
                set_launch(page, us * 1e-6);
                page.hurry();
            }
        }
        _ => {
            if browser::closest_id(event, "button").as_deref() == Some(LAUNCH_RESET_ID) {
                let listed = page
                    .device
                    .with_untracked(|d| Some(device(&d.id)?.launch_s.value));
                set_launch(page, listed.unwrap_or_default());
                // The button goes.
                browser::focus(LAUNCH_ID);
            }
        }
    }
}

fn set_launch(page: Page, launch_s: f64) {
    page.device
        .update(|device| *device = device.clone().with_launch_s(launch_s));
}

/// Whether the visitor chose what a launch adds on a device of the table.
pub(super) fn has_own_launch(present: &Device) -> bool {
    device(&present.id).is_some_and(|listed| {
        (listed.launch_s.value)
            .total_cmp(&present.launch_s.value)
            .is_ne()
    })
}
