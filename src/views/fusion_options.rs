//! The options of a policy: only what it looks at.

use crate::core::decimal::shortest;
use crate::core::model::options::Switch;
use crate::core::{FusionOptions, Objective, Policy};
use crate::markup::{ABSENT, Markup};
use crate::present::format::format_seconds;
use crate::present::options::{switch_name, switch_sentence};

/// Id of the slider of the launch.
pub const LAUNCH_ID: &str = "launch-us";
/// Id of the button that gives the launch back to the device.
pub const LAUNCH_RESET_ID: &str = "launch-reset";

/// Longest launch that can be chosen, in µs.
const MAX_LAUNCH_US: &str = "20";

/// What one launch adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// How long it takes.
    pub seconds: f64,
    /// The visitor chose it; else it is the device's.
    pub is_chosen: bool,
}

/// Objective, switches and launch, as far as they concern `policy`.
pub fn options(policy: Policy, fusion: FusionOptions, launch: Launch) -> Markup {
    let mut panel = Markup::new();
    if policy == Policy::Optimal {
        panel.raw("<fieldset><legend>Cheapest in</legend>");
        for (place, objective) in Objective::ALL.into_iter().enumerate() {
            let name = objective.name();
            panel.fill(
                r#"<label class="radio"><input type="radio" name="objective" id="{}" data-objective="{}" checked="{}"><span>{}</span></label>"#,
                &[
                    &["objective-", name].concat(),
                    &place.to_string(),
                    if fusion.objective == objective { "" } else { ABSENT },
                    name,
                ],
            );
        }
        panel.raw("</fieldset>");
    }
    panel.raw("<fieldset><legend>Kernels</legend>");
    for (place, switch) in Switch::ALL.into_iter().enumerate() {
        let mut chosen = fusion;
        if switch.concerns(policy) {
            panel.fill(
                r#"<label class="radio"><input type="checkbox" id="{}" data-switch="{}" checked="{}"><span>{}<small>{}</small></span></label>"#,
                &[
                    &["switch-", switch.name()].concat(),
                    &place.to_string(),
                    if *switch.flag(&mut chosen) { "" } else { ABSENT },
                    switch_name(switch),
                    switch_sentence(switch),
                ],
            );
        }
    }
    let us = launch.seconds * 1e6;
    let time = format_seconds(launch.seconds);
    panel.fill(
        r#"</fieldset><fieldset><legend>Launch of a kernel</legend><div class="launch"><input type="range" id="{}" aria-label="Launch of a kernel" aria-valuetext="{}" min="0" max="{}" step="0.5" value="{}"><span>{}</span></div>"#,
        &[LAUNCH_ID, &time, MAX_LAUNCH_US, &shortest(us), &time],
    );
    if launch.is_chosen {
        panel.fill(
            r#"<button type="button" class="link" id="{}">As the device</button>"#,
            &[LAUNCH_RESET_ID],
        );
    }
    panel.raw("</fieldset>");
    panel
}
