//! The tab on attention as one kernel: sizes of its own, and how bytes grow with the length of the sequence.

use super::chart::{Chart, show_chart};
use crate::app::state::{Page, SetIfChanged};
use crate::browser::{self, Event, Place, listen};
use crate::core::Analysis;
use crate::core::fusion::attention::{AttentionShape, LoopOrder, find};
use crate::picture::charts::attention_growth;
use crate::views::attention::{Sizes, controls, figures};
use leptos::prelude::*;
use std::sync::Arc;

/// Tiles, bytes and their chart. Its sizes begin as those of the program's own attention.
#[component]
pub fn AttentionView(
    /// The page whose device is looked at.
    page: Page,
    /// The sizes that are looked at; none before the tab is opened for the first time.
    chosen: RwSignal<Option<Sizes>>,
) -> impl IntoView {
    let draw = move |analysis: &Arc<Analysis>, width: f64| {
        let sizes = chosen.get_untracked().unwrap_or_default();
        let view = sizes.view(&analysis.options.device);
        attention_growth::scene(&view, (width, (width * 0.6).clamp(240.0, 420.0)))
    };
    let chart = show_chart(Chart::new(page, "attention", draw));
    let (mut fields, mut table) = (
        Place::new("attention-fields"),
        Place::new("attention-figures"),
    );
    Effect::new(move || {
        let analysis = page.analysis.get();
        let device = &analysis.options.device;
        let in_program = in_program(&analysis);
        let now = chosen.get().unwrap_or_else(|| first(in_program));
        chosen.set_if_changed(Some(now));
        fields.show(controls(&now, device, in_program));
        table.show(figures(&now, device));
        chart.renew();
    });
    listen("attention", &["input", "change", "click"], move |event| {
        let before = chosen.get_untracked().unwrap_or_default();
        if let Some(now) = heard(page, before, event) {
            chosen.set(Some(now));
        }
    });
    view! {
        <div class="attention" id="attention">
            <div class="attention-fields" id="attention-fields" role="group" aria-label="Sizes of the attention"></div>
            <div class="chart-slot" id="attention-slot">
                <ul class="legend">
                    <li><span class="curve-key key-square" aria-hidden="true"></span>"three kernels, scores in memory"</li>
                    <li><span class="curve-key key-tile" aria-hidden="true"></span>"one kernel, each tile fetched anew"</li>
                    <li><span class="curve-key key-line" aria-hidden="true"></span>"one kernel, every tensor once"</li>
                </ul>
                <div class="chart-box">
                    <div id="attention-picture"></div>
                    <div class="chart-tip" id="attention-tip" aria-hidden="true" hidden></div>
                </div>
            </div>
            <div class="attention-figures table-scroll" id="attention-figures" role="group" aria-label="Tiles and bytes" tabindex="0"></div>
        </div>
    }
}

fn in_program(analysis: &Analysis) -> Option<AttentionShape> {
    find(&analysis.graph).first().map(|found| found.shape)
}

fn first(in_program: Option<AttentionShape>) -> Sizes {
    let sizes = Sizes::default();
    in_program.map_or(sizes, |shape| sizes.of_program(shape))
}

/// The sizes after an event; `None` where it changes nothing.
fn heard(page: Page, before: Sizes, event: &Event) -> Option<Sizes> {
    if event.type_() == "click" {
        return match browser::closest_id(event, "button")?.as_str() {
            "attention-device" => Some(Sizes {
                own_on_chip_bytes: None,
                ..before
            }),
            "attention-program" => {
                let shape = page.analysis.with_untracked(|a| in_program(a))?;
                Some(before.of_program(shape))
            }
            _ => None,
        };
    }
    let field = browser::closest_id(event, "input")?;
    let order = match field.as_str() {
        "attention-order-queries" => Some(LoopOrder::Queries),
        "attention-order-keys" => Some(LoopOrder::Keys),
        _ => None,
    };
    match order {
        Some(order) => Some(Sizes { order, ..before }),
        None => before.with(&field, &browser::input_value(event)),
    }
}
