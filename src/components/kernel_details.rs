//! The selected kernel in detail: what it moves, what vanished, and how each figure came about.

use super::badge::kernel_class;
use super::manual::{apply, proposal};
use crate::app::state::Page;
use crate::browser::{Event, Place, closest_attribute, listen, set_text};
use crate::core::{Analysis, KernelId, OpId, Policy, SizeSource};
use crate::markup::Markup;
use crate::present::explain::{LedgerRow, flops_text, ledger, source_reason, source_text};
use crate::present::format::format_bytes;
use crate::present::names::op_names;
use crate::present::times::time_lines;
use crate::views::manual::Change;
use leptos::prelude::*;

/// Ops whose FLOPs are spelled out; a kernel of more says how many are left.
const SPELLED_OPS: usize = 24;

/// How kernels are merged, where somebody looks who has no keyboard in mind.
const MERGE_HINT: &str = "In the graph, drag the number of a kernel onto another kernel to merge them, or press M on it.";

/// Edges on chip that can be cut here.
const CUT_EDGES: usize = 24;

/// Tensors that are listed.
const LISTED_TENSORS: usize = 60;

/// The panel beside the table of kernels.
#[component]
pub fn KernelDetails(
    /// The page whose selected kernel is shown.
    page: Page,
) -> impl IntoView {
    let mut place = Place::new("kernel-details");
    let looked_at = StoredValue::new(None);
    Effect::new(move || {
        let analysis = page.analysis.get();
        let mut markup = Markup::new();
        let kernel = page.selection.get().kernel(&analysis);
        if kernel
            .and_then(|kernel| details(&mut markup, &analysis, kernel))
            .is_none()
        {
            markup.raw(r#"<p class="quiet">Select a kernel to see which tensors it moves, which bytes vanished, and how each figure is computed.</p>"#);
        }
        if analysis.fused.kernels.len() > 1 {
            markup.fill(r#"<p class="quiet">{}</p>"#, &[MERGE_HINT]);
        }
        place.show(markup);
        if looked_at.get_value().is_some() {
            // What a cut would bring has changed.
            looked_at.set_value(None);
            set_text("cut-status", "");
        }
    });
    listen(
        "kernel-details",
        &["click", "focusin", "pointerover"],
        move |event| hear(page, looked_at, event),
    );
    view! {
        <div class="kernels-details">
            <div id="kernel-details"></div>
            <p class="cut-status" id="cut-status" role="status" aria-live="polite"></p>
        </div>
    }
}

/// The number that the text gives a kernel, where it is not the one of the pictures.
fn other_number(analysis: &Analysis, kernel: KernelId) -> Option<String> {
    let first = *analysis.fused.kernels.get(kernel)?.ops.first()?;
    let number = analysis.graph.ops.get(first)?.kernel?;
    let is_other = analysis.options.policy == Policy::Manual && number as usize != kernel.number();
    is_other.then(|| ["@kernel ", &number.to_string(), " in the text"].concat())
}

/// Everything that is said about one kernel.
fn details(markup: &mut Markup, analysis: &Analysis, kernel: KernelId) -> Option<()> {
    let fused = analysis.fused.kernels.get(kernel)?;
    let class = ["badge ", &kernel_class(kernel)].concat();
    markup.fill(
        r#"<h3 class="details-title"><span class="{}">{}</span> <span>{}</span> <small class="quiet">{}</small></h3>
<div class="table-scroll" role="group" aria-label="Tensors of this kernel" tabindex="0" id="ledger"><table class="ledger"><caption class="sr-only">Tensors of this kernel</caption>
<thead><tr><th scope="col">tensor</th><th scope="col" class="number">size of one access</th><th scope="col">source</th><th scope="col" class="number">read</th><th scope="col" class="number">written</th><th scope="col" class="number">vanished</th></tr></thead><tbody>"#,
        &[
            &class,
            &kernel.number().to_string(),
            &op_names(&analysis.graph, &fused.ops),
            &other_number(analysis, kernel).unwrap_or_default(),
        ],
    );
    let rows = ledger(analysis, kernel);
    for row in rows.iter().take(LISTED_TENSORS) {
        tensor(markup, analysis, row);
    }
    markup.raw("</tbody></table></div>");
    more(
        markup,
        rows.len().saturating_sub(LISTED_TENSORS),
        " more tensors",
    );
    cuts(markup, analysis, kernel);
    markup.raw(r#"<h4>FLOPs</h4><dl class="formulas">"#);
    for &op in fused.ops.iter().take(SPELLED_OPS) {
        let name = analysis.graph.ops.get(op).map_or("", |o| o.name.as_str());
        let text = flops_text(&analysis.graph, op);
        markup.fill("<div><dt>{}</dt><dd>{}</dd></div>", &[name, &text]);
    }
    markup.raw("</dl>");
    more(
        markup,
        fused.ops.len().saturating_sub(SPELLED_OPS),
        " more ops",
    );
    markup.raw(r#"<h4>Predicted time</h4><ul class="formulas">"#);
    for line in time_lines(fused, &analysis.options.device) {
        markup.fill("<li>{}</li>", &[&line]);
    }
    markup.raw("</ul>");
    Some(())
}

/// A button for each edge that stays on chip, which cuts it.
fn cuts(markup: &mut Markup, analysis: &Analysis, kernel: KernelId) -> Option<()> {
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let consumers = partition.kernels.get(kernel)?;
    if consumers.len() < 2 {
        return None;
    }
    markup.raw(r#"<h4>Stays on chip</h4><ul class="cuts">"#);
    let is_inside = |op: OpId| partition.kernel_of.get(op) == Some(&kernel);
    let mut count = 0;
    for &consumer in consumers {
        for &producer in graph.predecessors.get(consumer)? {
            if !is_inside(producer) {
                continue;
            }
            count += 1;
            if count > CUT_EDGES {
                continue;
            }
            let name = |op: OpId| graph.ops.get(op).map_or("", |op| op.name.as_str());
            let (from, to) = (producer.to_string(), consumer.to_string());
            markup.fill(
                r#"<li><span>{}</span> <button type="button" id="{}" data-producer="{}" data-consumer="{}" aria-label="{}">Cut before this op</button></li>"#,
                &[
                    &[name(producer), " → ", name(consumer)].concat(),
                    &["cut-", &from, "-", &to].concat(),
                    &from,
                    &to,
                    &["Cut before this op: ", name(producer), " to ", name(consumer)].concat(),
                ],
            );
        }
    }
    markup.raw("</ul>");
    more(
        markup,
        usize::saturating_sub(count, CUT_EDGES),
        " more edges",
    );
    Some(())
}

/// Pointing at a button says what its cut would bring, a click does it.
fn hear(page: Page, looked_at: StoredValue<Option<(OpId, OpId)>>, event: &Event) {
    // Elsewhere the last words stay: a page that scrolls moves other things under the pointer.
    let op = |name| closest_attribute(event, name)?.parse::<OpId>().ok();
    let (Some(producer), Some(consumer)) = (op("data-producer"), op("data-consumer")) else {
        return;
    };
    let edge = Some((producer, consumer));
    let is_click = event.type_() == "click";
    if edge == looked_at.get_value() && !is_click {
        return;
    }
    looked_at.set_value(edge);
    let planned = proposal(page, Change::Cut { producer, consumer });
    set_text("cut-status", &planned.words);
    if is_click {
        apply(page, &planned, consumer, "kernel-button-");
    }
}

/// Says how many are not listed.
fn more(markup: &mut Markup, count: usize, what: &str) {
    if count > 0 {
        let text = ["and ", &count.to_string(), what].concat();
        markup.fill(r#"<p class="quiet">{}</p>"#, &[&text]);
    }
}

/// A row of the ledger.
fn tensor(markup: &mut Markup, analysis: &Analysis, row: &LedgerRow) {
    let bytes = |bytes: u64| {
        if bytes == 0 {
            "–".to_owned()
        } else {
            format_bytes(bytes)
        }
    };
    let mark = if row.source == SizeSource::Assumed {
        "~ "
    } else {
        ""
    };
    markup.fill(
        r#"<tr><th scope="row">{}</th><td class="number">{}</td><td title="{}">{}</td><td class="number">{}</td><td class="number">{}</td><td class="number vanished">{}</td></tr>"#,
        &[
            analysis.graph.tensor_name(row.tensor),
            &row.size,
            &source_reason(&analysis.graph, row.tensor, row.source),
            &[mark, source_text(row.source)].concat(),
            &bytes(row.bytes_read),
            &bytes(row.bytes_written),
            &bytes(row.bytes_vanished),
        ],
    );
}
