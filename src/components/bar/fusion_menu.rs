//! The options of the policy.

use super::menu::Menu;
use crate::app::history::Origin;
use crate::app::state::Page;
use crate::components::radio_button::RadioButton;
use fuseline_browser as browser;
use fuseline_core::model::options::{MIN_SPEEDUP_PERCENT, Switch};
use fuseline_core::{Device, FusionOptions, Objective, Policy};
use fuseline_view::present::calibration::{measured_patterns, speedup_text};
use fuseline_view::present::format::format_seconds;
use fuseline_view::present::options::{switch_is_idle, switch_name, switch_sentence};
use leptos::html;
use leptos::prelude::*;
use strum::VariantArray;

/// Greatest launch time of the slider, in µs.
const MAX_LAUNCH_US: &str = "20";

/// The options that the chosen policy has.
#[component]
pub fn FusionMenu() -> impl IntoView {
    let page = Page::of_context();
    let is_changed = move || {
        page.chosen.fusion.get() != FusionOptions::default()
            || page.chosen.device.with(Device::has_own_launch)
    };
    let is_search = move || page.chosen.policy.get() == Policy::Optimal;
    let switches = move || {
        let policy = page.chosen.policy.get();
        let switches = Switch::VARIANTS.iter().copied();
        // Without marks their switch would do nothing.
        let has_marks = page.marks_kernels() || page.chosen.fusion.get().keeps_marks;
        switches.filter(move |&switch| {
            switch.concerns(policy) && (has_marks || switch != Switch::KernelMarks)
        })
    };
    view! {
        <Menu label="Options" is_changed=Signal::derive(is_changed)>
            <Show when=is_search>
                <ObjectiveChoice />
            </Show>
            <fieldset>
                <legend>"Kernels"</legend>
                <For each=switches key=|switch| switch.name() let:switch>
                    <SwitchBox switch />
                </For>
            </fieldset>
            <LaunchChoice />
        </Menu>
    }
}

/// What a search minimises.
#[component]
fn ObjectiveChoice() -> impl IntoView {
    let page = Page::of_context();
    let choices = Objective::VARIANTS.iter().map(|&objective| {
        view! {
            <RadioButton
                set="objective"
                is_chosen=move || page.chosen.fusion.with(|fusion| fusion.objective == objective)
                choose=move || page.choose(|choices| choices.fusion.objective = objective)
            >
                {objective.noun()}
            </RadioButton>
        }
    });
    view! {
        <fieldset>
            <legend>"Minimize"</legend>
            {choices.collect_view()}
            <Show when=move || page.chosen.fusion.with(|fusion| fusion.objective == Objective::Measured)>
                <SpeedupChoice />
            </Show>
        </fieldset>
    }
}

/// Above which measured speed-up the ops of a pattern are one kernel.
#[component]
fn SpeedupChoice() -> impl IntoView {
    let page = Page::of_context();
    let percent = move || page.chosen.fusion.with(|fusion| fusion.min_speedup_percent);
    let source = move || {
        page.analysis
            .with(|analysis| measured_patterns(&analysis.options))
    };
    let has_own = move || page.chosen.own_calibrations.with(Option::is_some);
    view! {
        <label class="speedup">
            <span>"Fuse if the measured speedup is more than " {move || speedup_text(percent())}</span>
            <input
                type="range"
                min=MIN_SPEEDUP_PERCENT.start().to_string()
                max=MIN_SPEEDUP_PERCENT.end().to_string()
                step="5"
                aria-valuetext=move || speedup_text(percent())
                prop:value=move || percent().to_string()
                on:input:target=move |event| {
                    if let Ok(percent) = event.target().value().parse() {
                        page.choose_by(Origin::Range("speedup"), |choices| {
                            choices.fusion.min_speedup_percent = percent;
                        });
                    }
                }
            />
            <small>{source}</small>
        </label>
        <Show when=has_own>
            <button type="button" on:click=move |_| page.chosen.own_calibrations.set(None)>"Use the GPU's own records"</button>
        </Show>
    }
}

/// An option that is on or off.
#[component]
fn SwitchBox(
    /// The option.
    switch: Switch,
) -> impl IntoView {
    let page = Page::of_context();
    let is_on = move || {
        let mut fusion = page.chosen.fusion.get();
        *switch.flag(&mut fusion)
    };
    let idle = Memo::new(move |_| {
        page.analysis
            .with(|analysis| switch_is_idle(analysis, switch))
    });
    let idle_words = move || idle.get().map(|words| format!(" {words}"));
    view! {
        <label class="radio">
            <input
                type="checkbox"
                prop:checked=move || is_on() || idle.get().is_some()
                disabled=move || !is_on() && idle.get().is_some()
                on:change:target=move |event| {
                    let is_on = event.target().checked();
                    page.choose(|choices| *switch.flag(&mut choices.fusion) = is_on);
                }
            />
            <span>{switch_name(switch)}<small>{switch_sentence(switch)} {idle_words}</small></span>
        </label>
    }
}

/// The time that one launch adds.
#[component]
fn LaunchChoice() -> impl IntoView {
    let page = Page::of_context();
    let slider = NodeRef::<html::Input>::new();
    let launch_s = move || page.chosen.device.with(|device| device.launch_s.value);
    let set_launch = move |launch_s: f64| {
        page.choose_by(Origin::Range("launch"), |choices| {
            choices.device = choices.device.clone().with_launch_s(launch_s);
        });
    };
    let reset = move |_| {
        let listed_s = page.chosen.device.with_untracked(Device::listed_launch_s);
        set_launch(listed_s.unwrap_or_default());
        // The focused button is about to be removed.
        browser::focus(slider);
    };
    view! {
        <fieldset>
            <legend>"Launch time per kernel"</legend>
            <div class="launch">
                <input
                    type="range"
                    node_ref=slider
                    aria-label="Launch time per kernel"
                    aria-valuetext=move || format_seconds(launch_s())
                    min="0"
                    max=MAX_LAUNCH_US
                    step="0.5"
                    prop:value=move || (launch_s() * 1e6).to_string()
                    on:input:target=move |event| {
                        if let Ok(launch_us) = event.target().value().parse::<f64>() {
                            set_launch(launch_us * 1e-6);
                            page.slider.drag();
                        }
                    }
                />
                <span>{move || format_seconds(launch_s())}</span>
            </div>
            <Show when=move || page.chosen.device.with(Device::has_own_launch)>
                <button type="button" class="link" on:click=reset>"Reset the launch time"</button>
            </Show>
        </fieldset>
    }
}
