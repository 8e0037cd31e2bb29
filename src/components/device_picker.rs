//! Which device times are predicted for, and where its figures come from.

use super::picker::Picker;
use crate::core::device::Figure;
use crate::core::format::{format_bandwidth, format_intensity, format_rate, format_seconds};
use crate::core::{DEVICES, DType, Device, device, ridge_point};
use crate::platform;
use crate::state::Page;
use leptos::prelude::*;

const CUSTOM: &str = "custom";

/// A select with all devices and a menu with the figures of the chosen one.
#[component]
pub fn DevicePicker(
    /// The page whose device is chosen.
    page: Page,
) -> impl IntoView {
    let id = Memo::new(move |_| page.device.with(|d| d.id.clone().into_owned()));
    let is_open = RwSignal::new(false);
    let choose = move |id: String| {
        if let Some(known) = device(&id) {
            page.device.set(known.clone());
        } else {
            let present = CustomFigures::of(&page.device.get_untracked());
            page.device.set(present.device());
            is_open.set(true);
        }
    };
    let options = DEVICES
        .iter()
        .map(|device| {
            let mark = if is_confirmed(device) { "" } else { " ?" };
            view! { <option value=&*device.id>{format!("{}{mark}", device.name)}</option> }
        })
        .collect_view();
    view! {
        <label class="picker">
            <span>"GPU"</span>
            <Picker value=id choose=choose>
                {options}
                <option value=CUSTOM>"Custom…"</option>
            </Picker>
        </label>
        <details class="menu" prop:open=is_open on:toggle=move |event| is_open.set(platform::is_open(&event))>
            <summary class="button">"Figures"</summary>
            <div class="menu-panel figures">
                <Show when=move || id.with(|id| id == CUSTOM)>
                    <CustomFields page />
                </Show>
                <Figures device=page.device />
            </div>
        </details>
    }
}

/// Whether the figures that most programs need had their source at hand.
fn is_confirmed(device: &Device) -> bool {
    let rates = [device.vector_flops_per_s, device.matrix_f16_flops_per_s];
    device.memory_bytes_per_s.is_confirmed
        && rates
            .into_iter()
            .flatten()
            .all(|figure| figure.is_confirmed)
}

#[component]
fn Figures(device: RwSignal<Device>) -> impl IntoView {
    let rows = Memo::new(move |_| device.with(rows));
    let source = move || device.with(|d| d.source.citation());
    view! {
        <dl class="figure-list">
            <For each=move || rows.get() key=Clone::clone let((what, figure))>
                <div><dt>{what}</dt><dd>{figure}</dd></div>
            </For>
        </dl>
        <p class="quiet">"Source: " {source} "."</p>
        <p class="quiet">"Dense peak rates. ? marks a figure that was recalled and not looked up again."</p>
    }
}

fn rows(device: &Device) -> Vec<(&'static str, String)> {
    let marked = |text: String, figure: Figure| {
        if figure.is_confirmed {
            text
        } else {
            format!("{text} ?")
        }
    };
    let rate = |figure: Option<Figure>| figure.map(|f| marked(format_rate(f.value), f));
    let mut rows = vec![(
        "memory bandwidth",
        marked(
            format_bandwidth(device.memory_bytes_per_s.value),
            device.memory_bytes_per_s,
        ),
    )];
    let rates = [
        ("vector units, f32", device.vector_flops_per_s),
        ("matrix units, f32 as TF32", device.matrix_tf32_flops_per_s),
        ("matrix units, f16 and bf16", device.matrix_f16_flops_per_s),
        ("matrix units, f8", device.matrix_f8_flops_per_s),
        ("matrix units, i8", device.matrix_i8_flops_per_s),
    ];
    rows.extend(
        rates
            .into_iter()
            .map(|(what, figure)| (what, rate(figure).unwrap_or_else(|| "no figure".to_owned()))),
    );
    if let Some(ridge) = ridge_point(device, DType::F16) {
        rows.push(("ridge for f16", format_intensity(ridge)));
    }
    rows.push((
        "launch of a kernel",
        marked(format_seconds(device.launch_s.value), device.launch_s),
    ));
    rows
}

/// A custom device in the units of its form.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CustomFigures {
    gb_per_s: f64,
    matrix_tflops: f64,
    vector_tflops: f64,
    launch_us: f64,
}

impl CustomFigures {
    fn of(device: &Device) -> Self {
        let tera = |figure: Option<Figure>| figure.map_or(0.0, |f| rounded(f.value / 1e12));
        Self {
            gb_per_s: rounded(device.memory_bytes_per_s.value / 1e9),
            matrix_tflops: tera(device.matrix_f16_flops_per_s),
            vector_tflops: tera(device.vector_flops_per_s),
            launch_us: rounded(device.launch_s.value * 1e6),
        }
    }

    fn device(self) -> Device {
        Device::custom(
            self.gb_per_s * 1e9,
            self.matrix_tflops * 1e12,
            self.vector_tflops * 1e12,
            self.launch_us * 1e-6,
        )
    }
}

/// Without the last digits that a change of units leaves behind.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Reads one field of the form.
type Part = fn(&CustomFigures) -> f64;
/// Writes one field of the form.
type SetPart = fn(&mut CustomFigures, f64);

const FIELDS: [(&str, Part, SetPart); 4] = [
    ("bandwidth, GB/s", |c| c.gb_per_s, |c, v| c.gb_per_s = v),
    (
        "matrix units, TFLOP/s",
        |c| c.matrix_tflops,
        |c, v| c.matrix_tflops = v,
    ),
    (
        "vector units, TFLOP/s",
        |c| c.vector_tflops,
        |c, v| c.vector_tflops = v,
    ),
    ("launch, µs", |c| c.launch_us, |c, v| c.launch_us = v),
];

#[component]
fn CustomFields(page: Page) -> impl IntoView {
    let figures = Memo::new(move |_| page.device.with(CustomFigures::of));
    FIELDS
        .into_iter()
        .map(|(name, part, set_part)| {
            let is_launch = name.starts_with("launch");
            let value = move || figures.with(part).to_string();
            view! {
                <label class="field">
                    <span>{name}</span>
                    <input
                        type="number"
                        min="0"
                        step="any"
                        prop:value=value
                        on:change=move |event| {
                            if let Ok(value) = event_target_value(&event).parse::<f64>()
                                && value.is_finite()
                                && (value > 0.0 || is_launch && value == 0.0)
                            {
                                let mut changed = figures.get_untracked();
                                set_part(&mut changed, value);
                                page.device.set(changed.device());
                            }
                            // What cannot be gives way to what holds.
                            platform::set_value(&event, &figures.with_untracked(part).to_string());
                        }
                    />
                </label>
            }
        })
        .collect_view()
}
