//! The selected kernel in detail: what it moves, what vanished, and how each figure came about.

use super::badge::kernel_class;
use crate::core::explain::{
    LedgerRow, flops_text, ledger, op_names, source_reason, source_text, time_lines,
};
use crate::core::format::format_bytes;
use crate::core::{Analysis, SizeSource};
use crate::markup::Markup;
use crate::platform::{Place, effect};
use crate::state::{Page, Tab};
use leptos::prelude::*;

/// Ops whose FLOPs are spelled out; a kernel of more says how many are left.
const SPELLED_OPS: usize = 24;

/// Tensors that are listed.
const LISTED_TENSORS: usize = 60;

/// The panel beside the table of kernels.
#[component]
pub fn KernelDetails(
    /// The page whose selected kernel is shown.
    page: Page,
) -> impl IntoView {
    let mut place = Place::new("kernel-details");
    effect(move || {
        if !page.is_open(Tab::Kernels) {
            return;
        }
        let analysis = page.analysis.get();
        let mut markup = Markup::new();
        let kernel = page.selection.get().kernel(&analysis);
        if kernel
            .and_then(|kernel| details(&mut markup, &analysis, kernel))
            .is_none()
        {
            markup.raw(r#"<p class="quiet">Select a kernel to see which tensors it moves, which bytes vanished, and how each figure is computed.</p>"#);
        }
        place.show(markup);
    });
    view! { <div class="kernels-details" id="kernel-details"></div> }
}

/// Everything that is said about one kernel.
fn details(markup: &mut Markup, analysis: &Analysis, kernel: usize) -> Option<()> {
    let fused = analysis.fused.kernels.get(kernel)?;
    let class = ["badge ", &kernel_class(kernel)].concat();
    markup.fill(
        r#"<h3 class="details-title"><span class="{}">{}</span> <span>{}</span></h3>
<div class="table-scroll" role="group" aria-label="Tensors of this kernel" tabindex="0" id="ledger"><table class="ledger"><caption class="sr-only">Tensors of this kernel</caption>
<thead><tr><th scope="col">tensor</th><th scope="col" class="number">size of one access</th><th scope="col">source</th><th scope="col" class="number">read</th><th scope="col" class="number">written</th><th scope="col" class="number">vanished</th></tr></thead><tbody>"#,
        &[&class, &(kernel + 1).to_string(), &op_names(&analysis.graph, fused)],
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
    let tensor = analysis.graph.tensors.get(row.tensor);
    markup.fill(
        r#"<tr><th scope="row">{}</th><td class="number">{}</td><td title="{}">{}</td><td class="number">{}</td><td class="number">{}</td><td class="number vanished">{}</td></tr>"#,
        &[
            tensor.map_or("", |t| t.name.as_str()),
            &row.size,
            &source_reason(&analysis.graph, row.tensor, row.source),
            &[mark, source_text(row.source)].concat(),
            &bytes(row.bytes_read),
            &bytes(row.bytes_written),
            &bytes(row.bytes_vanished),
        ],
    );
}
