//! A slider and a number box for every `param` of the text.

use crate::app::history::Origin;
use crate::app::state::Page;
use crate::browser::{self, Event, Place, listen};
use crate::core::model::program::Param;
use crate::core::notation::edit::set_param;
use crate::markup::{ABSENT, Markup};
use leptos::prelude::*;

/// All params, in text order.
#[component]
pub fn Sliders(
    /// The page whose text holds them.
    page: Page,
) -> impl IntoView {
    let mut place = Place::new("slider-list");
    Effect::new(move || {
        let parsed = page.parsed.get();
        let params = &parsed.program.params;
        let mut markup = Markup::new();
        for (index, param) in params.iter().enumerate() {
            slider(&mut markup, index, param);
        }
        if params.is_empty() {
            markup.raw(r#"<p class="quiet">Write <code>param S = 1024 in 128..8192 step 128</code> to get a slider for <code>S</code>.</p>"#);
        }
        place.show(markup);
    });
    listen(
        "slider-list",
        &["input", "change", "focusout"],
        move |event| {
            hear(page, event);
        },
    );
    view! {
        <section class="panel sliders" aria-labelledby="sliders-title">
            <h2 id="sliders-title">"Sizes"</h2>
            <div class="slider-list" id="slider-list"></div>
        </section>
    }
}

fn slider(markup: &mut Markup, index: usize, param: &Param) {
    let name = &param.name.text;
    let (index, value) = (index.to_string(), param.value.to_string());
    let id = ["param-", &index].concat();
    let box_id = [&id, "-box"].concat();
    let [min, max, step] = match &param.range {
        Some(range) => [
            range.min.to_string(),
            range.max.to_string(),
            range.step.to_string(),
        ],
        None => [ABSENT, ABSENT, "1"].map(str::to_owned),
    };
    if param.range.is_some() {
        markup.fill(
            r#"<div class="slider has-range" data-param="{}"><label for="{}">{}</label><input type="range" id="{}" min="{}" max="{}" step="{}" value="{}">"#,
            &[&index, &id, name, &id, &min, &max, &step, &value],
        );
    } else {
        markup.fill(
            r#"<div class="slider" data-param="{}"><label for="{}">{}</label>"#,
            &[&index, &box_id, name],
        );
    }
    markup.fill(
        r#"<input type="number" id="{}" aria-label="{}" inputmode="numeric" min="{}" max="{}" step="{}" value="{}"></div>"#,
        &[&box_id, &[name, ", exact value"].concat(), &min, &max, &step, &value],
    );
}

fn hear(page: Page, event: &Event) -> Option<()> {
    if event.type_() == "focusout" {
        // Each press of an arrow is a change; as long as they follow each other they are one step back.
        page.seal();
        return None;
    }
    let place = browser::closest_number(event, "data-param")?;
    let parsed = page.parsed.get_untracked();
    let param = parsed.program.params.get(place)?;
    let is_box = browser::closest_id(event, "[type=number]").is_some();
    let is_change = event.type_() == "change";
    let fits = |value: i64| (param.range.as_ref()).is_none_or(|r| (r.min..=r.max).contains(&value));
    let value = browser::input_value(event).parse::<i64>().ok();
    let value = match (is_box, is_change) {
        (false, false) => value,
        (false, true) => None,
        // A number on its way to another one is not applied while it is out of range.
        (true, false) => value.filter(|&value| fits(value)),
        (true, true) => value.map(|value| {
            (param.range.as_ref()).map_or(value, |r| value.clamp(r.min, r.max.max(r.min)))
        }),
    };
    if let Some(value) = value {
        page.change(Origin::Param(param.name.text.clone()), |text, program| {
            set_param(text, program, place, value)
        });
        if !is_box {
            page.hurry();
        }
    }
    if is_change && is_box {
        // What was out of range or no number at all gives way to what holds.
        let parsed = page.parsed.get_untracked();
        let holds = parsed.program.params.get(place)?.value;
        browser::set_value(event, &holds.to_string());
    }
    Some(())
}
