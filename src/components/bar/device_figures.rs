//! The figures of the device, and their source.

use crate::app::state::Page;
use fuseline_core::Device;
use fuseline_core::model::device::Source;
use fuseline_view::present::custom_device::CustomFigure;
use fuseline_view::present::devices::figure_rows;
use leptos::prelude::*;

/// The figures of the device, with a form for those of a custom one.
#[component]
pub fn DeviceFigures() -> impl IntoView {
    let page = Page::of_context();
    let is_custom = move || {
        page.chosen
            .device
            .with(|device| device.source == Source::Custom)
    };
    let is_measured = move || page.chosen.device.with(|device| device.probe.is_some());
    let rows = move || {
        let rows = page.chosen.device.with(figure_rows).into_iter();
        rows.map(|row| view! { <div><dt>{row.what}</dt><dd>{row.figure}</dd></div> })
            .collect_view()
    };
    let list = move || view! { <dl class="figure-list">{rows}</dl> };
    view! {
        <Show when=is_custom fallback=list>
            <CustomForm />
        </Show>
        <p class="quiet">
            "Source: "<span>{move || page.chosen.device.with(Device::citation)}</span>"."
        </p>
        <Show when=is_measured>
            <button type="button" on:click=move |_| page.forget_device()>
                "Remove this GPU from the list"
            </button>
        </Show>
        <p class="quiet">"Dense peak rates. ? = unverified figure."</p>
    }
}

/// A field for each figure of a custom device.
#[component]
fn CustomForm() -> impl IntoView {
    let page = Page::of_context();
    let problem = RwSignal::new(String::new());
    let enter = move |figure: CustomFigure, typed: &str| {
        let device = (page.chosen.device).with_untracked(|device| figure.typed(device, typed));
        problem.set(match device {
            Ok(device) => {
                page.choose(|choices| choices.device = device);
                String::new()
            }
            Err(problem) => problem.to_string(),
        });
    };
    let fields = CustomFigure::all().map(|figure| {
        let text = move |device: &Device| figure.text(device);
        view! {
            <label class="field">
                <span>{figure.label()}</span>
                <input
                    type="number"
                    min="0"
                    step="any"
                    placeholder=figure.if_empty()
                    prop:value=move || page.chosen.device.with(text)
                    on:change:target=move |event| {
                        let field = event.target();
                        enter(figure, &field.value());
                        // Shows the present figure again if the typed one was refused.
                        field.set_value(&page.chosen.device.with_untracked(text));
                    }
                />
            </label>
        }
    });
    view! {
        {fields.collect_view()}
        <p class="is-failure" role="status">{problem}</p>
    }
}
