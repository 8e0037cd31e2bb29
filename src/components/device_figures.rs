//! Which device times are predicted for, and where its figures come from.

use crate::app::state::Page;
use crate::browser::{self, Event};
use crate::core::decimal::{exact, parse_decimal};
use crate::core::device;
use crate::core::model::device::{
    Figure, MatrixUnits, OWN_BYTES_PER_S, OWN_FLOPS_PER_S, OWN_LAUNCH_S,
};
use crate::core::{DType, Device, ridge_point};
use crate::markup::Markup;
use crate::present::devices::computed_as;
use crate::present::format::{format_bandwidth, format_intensity, format_rate, format_seconds};
use leptos::prelude::*;
use std::ops::RangeInclusive;

/// Id of the custom device.
pub(super) const CUSTOM: &str = "custom";

/// Id of the panel of figures.
pub(super) const FIGURES_ID: &str = "device-figures";

/// Predicts for the device of this id; for the custom one, which starts as the present one, opens its form.
pub(super) fn choose_device(page: Page, id: &str) {
    if let Some(known) = device(id) {
        page.device.set(known.clone());
    } else {
        page.device
            .update(|device| *device = CustomFigures::of(device).device());
        browser::set_flag("figures-menu", "open", true);
    }
}

/// Whether the figures that most programs need had their source at hand.
pub(super) fn is_confirmed(device: &Device) -> bool {
    let rates = [device.vector_flops_per_s, device.matrix_f16_flops_per_s];
    device.memory_bytes_per_s.is_confirmed
        && rates
            .into_iter()
            .flatten()
            .all(|figure| figure.is_confirmed)
}

/// The form of a custom device, and the figures of any.
pub(super) fn figures(device: &Device) -> Markup {
    let mut panel = Markup::new();
    if device.id == CUSTOM {
        let figures = CustomFigures::of(device);
        for (place, (name, part, ..)) in FIELDS.iter().enumerate() {
            let place = place.to_string();
            panel.fill(
                r#"<label class="field"><span>{}</span><input type="number" min="0" step="any" id="{}" data-figure="{}" value="{}"></label>"#,
                &[name, &["figure-", &place].concat(), &place, &exact(part(&figures))],
            );
        }
        panel.raw(r#"<p class="is-failure" role="status" id="figure-problem"></p>"#);
    }
    panel.raw(r#"<dl class="figure-list">"#);
    for (what, figure) in rows(device) {
        panel.fill("<div><dt>{}</dt><dd>{}</dd></div>", &[what, &figure]);
    }
    panel.fill(
        r#"</dl><p class="quiet">Source: <span>{}</span>.</p><p class="quiet">Dense peak rates. ? marks a figure from memory, not checked against its source.</p>"#,
        &[device.source.citation()],
    );
    panel
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
        (
            match device.matrix_units {
                MatrixUnits::Absent => "vector units, f16; there are no matrix units",
                MatrixUnits::F16 => "matrix units, f16; not bf16",
                MatrixUnits::F16AndBf16 => "matrix units, f16 and bf16",
            },
            device.matrix_f16_flops_per_s,
        ),
        ("matrix units, f8", device.matrix_f8_flops_per_s),
        ("matrix units, i8", device.matrix_i8_flops_per_s),
    ];
    let f8_as = device
        .matmul_peak(DType::F8)
        .map_or("", |peak| computed_as(&peak));
    for (what, figure) in rates {
        let none = if what.ends_with("f8") && !f8_as.is_empty() {
            ["no figure; computed", f8_as].concat()
        } else {
            "no figure".to_owned()
        };
        rows.push((what, rate(figure).unwrap_or(none)));
    }
    if let Some(ridge) = ridge_point(device, DType::F16) {
        rows.push(("ridge for f16", format_intensity(ridge)));
    }
    rows.push((
        "launch of a kernel",
        marked(format_seconds(device.launch_s.value), device.launch_s),
    ));
    rows
}

const GIGA: f64 = 1e9;
const TERA: f64 = 1e12;
const MICRO: f64 = 1e-6;

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
        let tera = |figure: Option<Figure>| figure.map_or(0.0, |f| rounded(f.value / TERA));
        Self {
            gb_per_s: rounded(device.memory_bytes_per_s.value / GIGA),
            matrix_tflops: tera(device.matrix_f16_flops_per_s),
            vector_tflops: tera(device.vector_flops_per_s),
            launch_us: rounded(device.launch_s.value / MICRO),
        }
    }

    fn device(self) -> Device {
        Device::custom(
            self.gb_per_s * GIGA,
            self.matrix_tflops * TERA,
            self.vector_tflops * TERA,
            self.launch_us * MICRO,
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

/// Name, access, unit, and the range that the device takes.
const FIELDS: [(&str, Part, SetPart, f64, RangeInclusive<f64>); 4] = [
    (
        "bandwidth, GB/s",
        |c| c.gb_per_s,
        |c, v| c.gb_per_s = v,
        GIGA,
        OWN_BYTES_PER_S,
    ),
    (
        "matrix units, TFLOP/s",
        |c| c.matrix_tflops,
        |c, v| c.matrix_tflops = v,
        TERA,
        OWN_FLOPS_PER_S,
    ),
    (
        "vector units, TFLOP/s",
        |c| c.vector_tflops,
        |c, v| c.vector_tflops = v,
        TERA,
        OWN_FLOPS_PER_S,
    ),
    (
        "launch, µs",
        |c| c.launch_us,
        |c, v| c.launch_us = v,
        MICRO,
        OWN_LAUNCH_S,
    ),
];

/// Takes over what was typed into a field of the custom device.
pub(super) fn set_custom_figure(page: Page, place: usize, event: &Event) {
    let Some((name, part, set_part, unit, range)) = FIELDS.get(place) else {
        return;
    };
    let mut figures = page.device.with_untracked(CustomFigures::of);
    let typed = parse_decimal(&browser::input_value(event));
    let problem = match typed.filter(|value| range.contains(&(value * unit))) {
        Some(value) => {
            set_part(&mut figures, value);
            page.device.set(figures.device());
            String::new()
        }
        None => [
            name,
            ": from ",
            &exact(range.start() / unit),
            " to ",
            &exact(range.end() / unit),
        ]
        .concat(),
    };
    browser::set_text("figure-problem", &problem);
    // What is out of range gives way to what holds.
    browser::set_value(event, &exact(part(&figures)));
}
