//! The choices of the top bar: example, device, type, policy and conventions.

use super::device_figures::{CUSTOM, FIGURES_ID, choose_device, is_confirmed};
use super::fusion_options::{OPTIONS_ID, has_own_launch};
use crate::app::history::Origin;
use crate::app::state::{Page, Selection};
use crate::browser::{self, Event};
use crate::core::examples::{EXAMPLES, example};
use crate::core::notation::edit::{main_dtype, set_dtype};
use crate::core::{Conventions, DEVICES, DType, Externals, FusionOptions, Policy, ReshapeCost};
use crate::markup::{ABSENT, Markup};
use crate::present::options::policy_summary;
use leptos::prelude::*;

/// Adds all choices as they are.
pub(super) fn add_choices(bar: &mut Markup, page: Page) {
    begin_picker(
        bar,
        "pick-example",
        "Example",
        ABSENT,
        &value_of(page, "pick-example"),
    );
    bar.raw(r#"<option value="" disabled>Your own</option>"#);
    let mut group = "";
    for example in EXAMPLES {
        if example.group != group {
            if !group.is_empty() {
                bar.raw("</optgroup>");
            }
            group = example.group;
            bar.fill(r#"<optgroup label="{}">"#, &[group]);
        }
        add_option(bar, example.id, example.title, "");
    }
    bar.raw("</optgroup>");
    end_picker(bar);
    begin_picker(
        bar,
        "pick-device",
        "GPU",
        ABSENT,
        &value_of(page, "pick-device"),
    );
    for device in DEVICES {
        add_option(
            bar,
            &device.id,
            &device.name,
            if is_confirmed(device) { "" } else { " ?" },
        );
    }
    add_option(bar, CUSTOM, "Custom…", "");
    end_picker(bar);
    bar.fill(
        r#"<details class="menu" id="figures-menu"><summary class="button">Figures</summary><div class="menu-panel figures" id="{}"></div></details>"#,
        &[FIGURES_ID],
    );
    let title = "The element type that most declarations name; changing it rewrites them.";
    begin_picker(
        bar,
        "pick-type",
        "Type",
        title,
        &value_of(page, "pick-type"),
    );
    bar.raw(r#"<option value="" disabled>–</option>"#);
    for dtype in DType::ALL {
        add_option(bar, dtype.name(), dtype.name(), "");
    }
    end_picker(bar);
    let summary = policy_summary(page.policy.get());
    begin_picker(
        bar,
        "pick-policy",
        "Fusion",
        summary,
        &value_of(page, "pick-policy"),
    );
    for policy in Policy::ALL {
        add_option(bar, policy.name(), policy.name(), "");
    }
    end_picker(bar);
    let is_usual =
        page.fusion.get() == FusionOptions::default() && !page.device.with(has_own_launch);
    bar.fill(
        r#"<details class="menu" id="fusion-menu"><summary class="{}">Options</summary><div class="menu-panel" id="{}"></div></details>"#,
        &[if is_usual { "button" } else { "button is-changed" }, OPTIONS_ID],
    );
    add_conventions(bar, page.conventions.get());
}

fn begin_picker(bar: &mut Markup, id: &str, label: &str, title: &str, value: &str) {
    bar.fill(
        r#"<label class="picker" title="{}"><span>{}</span><select id="{}" value="{}">"#,
        &[title, label, id, value],
    );
}

fn add_option(bar: &mut Markup, value: &str, title: &str, mark: &str) {
    let title = [title, mark].concat();
    bar.fill(r#"<option value="{}">{}</option>"#, &[value, &title]);
}

fn end_picker(bar: &mut Markup) {
    bar.raw("</select></label>");
}

/// What a picker should show.
fn value_of(page: Page, picker: &str) -> String {
    match picker {
        "pick-example" => page.example.get().unwrap_or("").to_owned(),
        "pick-device" => page.device.with(|d| d.id.to_string()),
        "pick-type" => {
            let main = page.parsed.with(|p| main_dtype(&p.program));
            main.map_or("", DType::name).to_owned()
        }
        _ => page.policy.get().name().to_owned(),
    }
}

/// Takes over what was chosen in the picker or radio button of this id.
pub(super) fn choose(page: Page, id: &str, event: &Event) {
    let value = browser::input_value(event);
    match id {
        "pick-example" => {
            if let Some(chosen) = example(&value) {
                page.open(chosen.text.to_owned(), Some(chosen.id));
                page.selection.set(Selection::Nothing);
            }
        }
        "pick-device" => choose_device(page, &value),
        "pick-type" => {
            if let Some(dtype) = DType::from_name(&value) {
                page.change(Origin::Single, |text, program| {
                    set_dtype(text, program, dtype)
                });
            }
        }
        "pick-policy" => {
            if let Some(policy) = Policy::from_name(&value) {
                page.policy.set(policy);
            }
        }
        _ => return choose_convention(page, id),
    }
    // A choice that was not taken over gives way to what holds.
    browser::set_value(event, &untrack(|| value_of(page, id)));
}

/// What an external tensor counts, for people.
const fn externals_words(externals: Externals) -> (&'static str, &'static str) {
    match externals {
        Externals::Declared => (
            "as declared",
            "Inputs and weights count as declared, else as the other shapes force them to be, else as large as their reader's output.",
        ),
        Externals::KnownOnly => (
            "0 bytes",
            "Only tensors that an op computes count. Some published answers do this.",
        ),
        Externals::OutputShape => (
            "as their reader's output",
            "Every input and weight counts as large as the output of the op that reads it, whatever is declared.",
        ),
    }
}

/// What a reshape costs, for people.
const fn reshape_words(reshape: ReshapeCost) -> (&'static str, &'static str) {
    match reshape {
        ReshapeCost::Copy => (
            "a copy",
            "A reshape that stands alone reads its input and writes its output like any op.",
        ),
        ReshapeCost::View => (
            "a view",
            "A reshape only indexes the same bytes in another way: it moves nothing and nobody launches it.",
        ),
    }
}

const EXTERNALS: &str = "externals-";
const RESHAPE: &str = "reshape-";

fn add_conventions(bar: &mut Markup, conventions: Conventions) {
    let is_default = conventions == Conventions::default();
    bar.fill(
        r#"<details class="menu"><summary class="{}">Counting</summary><div class="menu-panel"><fieldset><legend>Inputs and weights count</legend>"#,
        &[if is_default { "button" } else { "button is-changed" }],
    );
    for (place, this) in Externals::ALL.into_iter().enumerate() {
        let is_chosen = conventions.externals == this;
        add_radio(bar, EXTERNALS, place, externals_words(this), is_chosen);
    }
    bar.raw("</fieldset><fieldset><legend>A reshape is</legend>");
    for (place, this) in ReshapeCost::ALL.into_iter().enumerate() {
        let is_chosen = conventions.reshape == this;
        add_radio(bar, RESHAPE, place, reshape_words(this), is_chosen);
    }
    bar.raw(r#"</fieldset><p class="quiet">A kernel reads each tensor that it needs from outside once, and writes each of its outputs once that another kernel or nobody reads. Bytes are exact; times are predicted.</p></div></details>"#);
}

fn add_radio(
    bar: &mut Markup,
    group: &str,
    place: usize,
    (word, sentence): (&str, &str),
    is_chosen: bool,
) {
    bar.fill(
        r#"<label class="radio"><input type="radio" name="{}" id="{}" checked="{}"><span>{}<small>{}</small></span></label>"#,
        &[
            group,
            &[group, &place.to_string()].concat(),
            if is_chosen { "" } else { ABSENT },
            word,
            sentence,
        ],
    );
}

fn choose_convention(page: Page, id: &str) {
    let place = |group: &str| id.strip_prefix(group)?.parse::<usize>().ok();
    page.conventions.update(|conventions| {
        if let Some(&this) = place(EXTERNALS).and_then(|place| Externals::ALL.get(place)) {
            conventions.externals = this;
        }
        if let Some(&this) = place(RESHAPE).and_then(|place| ReshapeCost::ALL.get(place)) {
            conventions.reshape = this;
        }
    });
}
