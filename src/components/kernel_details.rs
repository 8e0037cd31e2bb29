//! The selected kernel in detail: what it moves, what vanished, and how each figure came about.

use super::badge::Badge;
use crate::core::explain::{
    LedgerRow, flops_text, ledger, op_names, source_reason, source_text, time_lines,
};
use crate::core::format::format_bytes;
use crate::core::{Analysis, SizeSource};
use crate::state::Page;
use leptos::prelude::*;

/// Ops whose FLOPs are spelled out; a kernel of more says how many are left.
const SPELLED_OPS: usize = 24;

/// Tensors that are listed.
const LISTED_TENSORS: usize = 60;

/// A row of the ledger as it is shown.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    tensor: String,
    size: String,
    source: String,
    reason: String,
    read: String,
    written: String,
    vanished: String,
}

impl Line {
    fn of(analysis: &Analysis, row: &LedgerRow) -> Self {
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
        Self {
            tensor: analysis
                .graph
                .tensors
                .get(row.tensor)
                .map(|t| t.name.clone())
                .unwrap_or_default(),
            size: row.size.clone(),
            source: format!("{mark}{}", source_text(row.source)),
            reason: source_reason(&analysis.graph, row.tensor, row.source),
            read: bytes(row.bytes_read),
            written: bytes(row.bytes_written),
            vanished: bytes(row.bytes_vanished),
        }
    }
}

/// Everything that is said about one kernel.
#[derive(Clone, Debug, PartialEq)]
struct Details {
    kernel: usize,
    ops: String,
    lines: Vec<Line>,
    unlisted: usize,
    flops: Vec<(String, String)>,
    unspelled: usize,
    times: Vec<String>,
}

impl Details {
    fn of(analysis: &Analysis, kernel: usize) -> Option<Self> {
        let fused = analysis.fused.kernels.get(kernel)?;
        let name = |op: usize| analysis.graph.ops.get(op).map_or("", |o| o.name.as_str());
        let ledger = ledger(analysis, kernel);
        Some(Self {
            kernel,
            ops: op_names(&analysis.graph, fused),
            unlisted: ledger.len().saturating_sub(LISTED_TENSORS),
            lines: ledger
                .iter()
                .take(LISTED_TENSORS)
                .map(|row| Line::of(analysis, row))
                .collect(),
            flops: fused
                .ops
                .iter()
                .take(SPELLED_OPS)
                .map(|&op| (name(op).to_owned(), flops_text(&analysis.graph, op)))
                .collect(),
            unspelled: fused.ops.len().saturating_sub(SPELLED_OPS),
            times: time_lines(fused, &analysis.options.device),
        })
    }
}

/// The panel beside the table of kernels.
#[component]
pub fn KernelDetails(
    /// The page whose selected kernel is shown.
    page: Page,
) -> impl IntoView {
    let details = Memo::new(move |_| {
        let selection = page.selection.get();
        page.analysis.with(|a| {
            selection
                .kernel(a)
                .and_then(|kernel| Details::of(a, kernel))
        })
    });
    move || {
        details.get().map_or_else(
            || {
                view! {
                    <p class="quiet">
                        "Select a kernel to see which tensors it moves, which bytes vanished, and how each figure is computed."
                    </p>
                }
                .into_any()
            },
            |details| show(details).into_any(),
        )
    }
}

fn show(details: Details) -> impl IntoView {
    let lines = details
        .lines
        .into_iter()
        .map(|line| {
            view! {
                <tr>
                    <th scope="row">{line.tensor}</th>
                    <td class="number">{line.size}</td>
                    <td title=line.reason>{line.source}</td>
                    <td class="number">{line.read}</td>
                    <td class="number">{line.written}</td>
                    <td class="number vanished">{line.vanished}</td>
                </tr>
            }
        })
        .collect_view();
    let flops = details
        .flops
        .into_iter()
        .map(|(op, text)| view! { <div><dt>{op}</dt><dd>{text}</dd></div> })
        .collect_view();
    let more = |count: usize, what: &str| {
        (count > 0).then(|| view! { <p class="quiet">{format!("and {count} more {what}")}</p> })
    };
    let more_tensors = more(details.unlisted, "tensors");
    let more_ops = more(details.unspelled, "ops");
    let times = details
        .times
        .into_iter()
        .map(|line| view! { <li>{line}</li> })
        .collect_view();
    view! {
        <h3 class="details-title"><Badge kernel=details.kernel /> <span>{details.ops}</span></h3>
        <div class="table-scroll" role="group" aria-label="Tensors of this kernel" tabindex="0">
            <table class="ledger">
                <caption class="sr-only">"Tensors of this kernel"</caption>
                <thead>
                    <tr>
                        <th scope="col">"tensor"</th>
                        <th scope="col" class="number">"size of one access"</th>
                        <th scope="col">"source"</th>
                        <th scope="col" class="number">"read"</th>
                        <th scope="col" class="number">"written"</th>
                        <th scope="col" class="number">"vanished"</th>
                    </tr>
                </thead>
                <tbody>{lines}</tbody>
            </table>
        </div>
        {more_tensors}
        <h4>"FLOPs"</h4>
        <dl class="formulas">{flops}</dl>
        {more_ops}
        <h4>"Predicted time"</h4>
        <ul class="formulas">{times}</ul>
    }
}
