//! The table of fused kernels.

use super::badge::kernel_class;
use crate::core::Analysis;
use crate::core::explain::{has_assumed_size, op_names};
use crate::core::format::{
    format_bytes, format_exact, format_flops, format_intensity, format_seconds,
};
use crate::derived::Part;
use crate::state::{Page, Selection};
use leptos::prelude::*;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 100;

/// The texts of one row.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    ops: String,
    flops: String,
    unfused: String,
    fused: String,
    exact: String,
    read: String,
    written: String,
    intensity: String,
    bound: &'static str,
    time: String,
    times: String,
}

impl Row {
    fn of(analysis: &Analysis, kernel: usize) -> Option<Self> {
        let fused = analysis.fused.kernels.get(kernel)?;
        let before = analysis.comparisons.get(kernel)?;
        let mark = if has_assumed_size(fused) { "~" } else { "" };
        Some(Self {
            ops: op_names(&analysis.graph, fused),
            flops: if fused.work.is_unknown {
                "unknown".to_owned()
            } else {
                format_flops(fused.work.flops())
            },
            unfused: format_bytes(before.unfused_bytes),
            fused: format!("{mark}{}", format_bytes(fused.bytes())),
            exact: format!(
                "{} B unfused, {} B fused",
                format_exact(before.unfused_bytes.into()),
                format_exact(fused.bytes().into())
            ),
            read: format!("{mark}{}", format_bytes(fused.bytes_read)),
            written: format_bytes(fused.bytes_written),
            intensity: fused.placement.intensity.map_or_else(
                || {
                    if fused.work.is_unknown {
                        "unknown"
                    } else {
                        "–"
                    }
                    .to_owned()
                },
                format_intensity,
            ),
            bound: if fused.is_free {
                "–"
            } else {
                fused.placement.bound.name()
            },
            time: format_seconds(fused.placement.time_s),
            times: format!(
                "{} unfused, {} fused",
                format_seconds(before.unfused_time_s),
                format_seconds(fused.placement.time_s)
            ),
        })
    }

    fn total(analysis: &Analysis) -> Self {
        let (before, after) = (&analysis.unfused, &analysis.fused);
        let flops = |e: &crate::core::Execution| {
            e.kernels
                .iter()
                .fold(crate::core::work::Work::default(), |sum, k| sum.and(k.work))
        };
        let work = flops(after);
        Self {
            flops: if work.is_unknown {
                format!("≥ {}", format_flops(work.flops()))
            } else {
                format_flops(work.flops())
            },
            unfused: format_bytes(before.traffic.total),
            fused: format_bytes(after.traffic.total),
            exact: format!(
                "{} B unfused, {} B fused",
                format_exact(before.traffic.total.into()),
                format_exact(after.traffic.total.into())
            ),
            read: format_bytes(after.traffic.bytes_read),
            written: format_bytes(after.traffic.bytes_written),
            time: format_seconds(after.time_s),
            times: format!(
                "{} unfused, {} fused",
                format_seconds(before.time_s),
                format_seconds(after.time_s)
            ),
            ..Self::default()
        }
    }
}

/// One row for each fused kernel and one for their sum.
#[component]
pub fn KernelsTable(
    /// The page whose kernels are shown.
    page: Page,
) -> impl IntoView {
    let limit = RwSignal::new(PAGE_ROWS);
    let count = Memo::new(move |_| page.analysis.with(|a| a.fused.kernels.len()));
    let shown = Memo::new(move |_| count.get().min(limit.get()));
    let selected = Memo::new(move |_| {
        let selection = page.selection.get();
        page.analysis.with(|a| selection.kernel(a))
    });
    let total = Memo::new(move |_| page.analysis.with(|a| Row::total(a)));
    let cell = move |part: fn(&Row) -> String| move || total.with(part);
    view! {
        <div class="table-scroll" role="group" aria-label="Table of kernels" tabindex="0">
            <table class="kernels">
                <thead>
                    <tr>
                        <th scope="col">"#"</th>
                        <th scope="col">"ops"</th>
                        <th scope="col" class="number" title="one multiply-add counts 2">"FLOPs"</th>
                        <th scope="col" class="number wide-pair">"bytes unfused → fused"</th>
                        <th scope="col" class="number">"reads"</th>
                        <th scope="col" class="number">"writes"</th>
                        <th scope="col" class="number" title="FLOPs / (reads + writes)">"intensity"</th>
                        <th scope="col" title="what takes longest">"bound by"</th>
                        <th scope="col" class="number" title="the longest of bytes / bandwidth, matrix FLOPs / peak and vector FLOPs / peak, plus one launch">"predicted time"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || 0..shown.get() key=|kernel| *kernel let(kernel)>
                        <KernelRow analysis=page.analysis selected kernel
                            choose=move || page.toggle(Selection::Kernel(kernel)) />
                    </For>
                </tbody>
                <tfoot>
                    <tr>
                        <td></td>
                        <th scope="row">"total"</th>
                        <td class="number">{cell(|r| r.flops.clone())}</td>
                        <td class="number" title=cell(|r| r.exact.clone())>
                            <span class="before">{cell(|r| r.unfused.clone())}</span>
                            " → "
                            <strong>{cell(|r| r.fused.clone())}</strong>
                        </td>
                        <td class="number">{cell(|r| r.read.clone())}</td>
                        <td class="number">{cell(|r| r.written.clone())}</td>
                        <td></td>
                        <td></td>
                        <td class="number" title=cell(|r| r.times.clone())>{cell(|r| r.time.clone())}</td>
                    </tr>
                </tfoot>
            </table>
        </div>
        <Show when=move || { shown.get() < count.get() }>
            <button type="button" class="more" on:click=move |_| limit.update(|l| *l += PAGE_ROWS)>
                {move || format!("Show more ({} of {})", shown.get(), count.get())}
            </button>
        </Show>
    }
}

#[component]
fn KernelRow(
    analysis: Part<Analysis>,
    selected: Memo<Option<usize>>,
    kernel: usize,
    choose: impl Fn() + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let row = Memo::new(move |_| analysis.with(|a| Row::of(a, kernel)).unwrap_or_default());
    let cell = move |part: fn(&Row) -> String| move || row.with(part);
    let is_selected = Memo::new(move |_| selected.get() == Some(kernel));
    view! {
        <tr class=format!("kernel-row {}", kernel_class(kernel)) class:is-selected=is_selected on:click=move |_| choose()>
            <td>
                // The click reaches the row, which chooses; the button makes the row reachable by keyboard.
                <button
                    type="button"
                    class="badge"
                    aria-pressed=move || is_selected.get().to_string()
                    aria-label=move || row.with(|r| format!("kernel {}: {}", kernel + 1, r.ops))
                >
                    {kernel + 1}
                </button>
            </td>
            <td class="op-names">{cell(|r| r.ops.clone())}</td>
            <td class="number">{cell(|r| r.flops.clone())}</td>
            <td class="number" title=cell(|r| r.exact.clone())>
                <span class="before">{cell(|r| r.unfused.clone())}</span>
                " → "
                <strong>{cell(|r| r.fused.clone())}</strong>
            </td>
            <td class="number">{cell(|r| r.read.clone())}</td>
            <td class="number">{cell(|r| r.written.clone())}</td>
            <td class="number">{cell(|r| r.intensity.clone())}</td>
            <td>{move || row.with(|r| r.bound)}</td>
            <td class="number" title=cell(|r| r.times.clone())>{cell(|r| r.time.clone())}</td>
        </tr>
    }
}
