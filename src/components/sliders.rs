//! A slider and a number box for every param of the text.

use crate::core::edit::set_param;
use crate::core::program::Param;
use crate::history::Origin;
use crate::platform;
use crate::state::Page;
use leptos::prelude::*;

/// All params, in text order.
#[component]
pub fn Sliders(
    /// The page whose text holds them.
    page: Page,
) -> impl IntoView {
    let params = Memo::new(move |_| {
        page.parsed.with(|parsed| {
            parsed
                .program
                .params
                .iter()
                .enumerate()
                .map(|(place, p)| (place, p.name.text.clone(), p.range.is_some()))
                .collect::<Vec<_>>()
        })
    });
    view! {
        <section class="panel sliders" aria-labelledby="sliders-title">
            <h2 id="sliders-title">"Sizes"</h2>
            <div class="slider-list">
                <For each=move || params.get() key=Clone::clone let((place, name, has_range))>
                    <Slider page place name has_range />
                </For>
            </div>
            <Show when=move || params.with(Vec::is_empty)>
                <p class="quiet">
                    "Write " <code>"param S = 1024 in 128..8192 step 128"</code> " to get a slider for " <code>"S"</code> "."
                </p>
            </Show>
        </section>
    }
}

#[component]
fn Slider(page: Page, place: usize, name: String, has_range: bool) -> impl IntoView {
    let param = Memo::new(move |_| {
        page.parsed.with(|p| {
            let Param { value, range, .. } = p.program.params.get(place)?;
            Some((*value, *range))
        })
    });
    let value = move || param.get().map_or(0, |(value, _)| value).to_string();
    let range = move || param.get().and_then(|(_, range)| range);
    let min = move || range().map(|r| r.min.to_string());
    let max = move || range().map(|r| r.max.to_string());
    let step = move || range().map_or("1".to_owned(), |r| r.step.to_string());
    let origin = StoredValue::new(Origin::Param(name.clone()));
    let apply = move |value: i64| {
        page.change(origin.get_value(), |text, program| {
            set_param(text, program, place, value)
        });
    };
    let fits = move |value: i64| range().is_none_or(|r| (r.min..=r.max).contains(&value));
    let id = format!("param-{place}");
    let box_name = format!("{name}, exact value");
    let slider = has_range.then(|| {
        view! {
            <input
                type="range"
                id=id.clone()
                min=min
                max=max
                step=step
                prop:value=value
                on:input=move |event| {
                    if let Ok(value) = event_target_value(&event).parse() {
                        apply(value);
                    }
                }
                on:change=move |_| page.seal()
            />
        }
    });
    view! {
        <div class="slider" class:has-range=has_range>
            <label for=if has_range { id.clone() } else { format!("{id}-box") }>{name}</label>
            {slider}
            <input
                type="number"
                id=format!("{id}-box")
                aria-label=box_name
                inputmode="numeric"
                min=min
                max=max
                step=step
                prop:value=value
                on:input=move |event| {
                    // A number on its way to another one is not applied while it is out of range.
                    if let Some(value) = event_target_value(&event).parse().ok().filter(|&v| fits(v)) {
                        apply(value);
                    }
                }
                on:change=move |event| {
                    if let Ok(value) = event_target_value(&event).parse::<i64>() {
                        apply(range().map_or(value, |r| value.clamp(r.min, r.max.max(r.min))));
                    }
                    // What was out of range or no number at all gives way to what holds.
                    platform::set_value(&event, &param.get_untracked().map_or(0, |(v, _)| v).to_string());
                    page.seal();
                }
            />
        </div>
    }
}
