//! The table of fused kernels.

use super::badge::kernel_class;
use crate::core::Analysis;
use crate::core::model::work::Work;
use crate::markup::{ABSENT, Markup};
use crate::platform::{self, Later, List, Place, effect, listen, set_flag, set_text};
use crate::present::explain::has_assumed_size;
use crate::present::format::{
    at_least, format_bytes, format_exact, format_flops, format_intensity, format_seconds,
};
use crate::present::names::op_names;
use crate::present::times::{bound_name, lower_bound_text};
use crate::state::{Page, Selection, Tab};
use crate::value::Value;
use crate::views::limits::warnings;
use leptos::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 100;
/// How long a slider rests before the signs of what hurts follow it.
const SIGNS_REST: Duration = Duration::from_millis(250);
const MORE: &str = "more-kernels";

/// One row for each fused kernel and one for their sum.
#[component]
pub fn KernelsTable(
    /// The page whose kernels are shown.
    page: Page,
) -> impl IntoView {
    let limit = Rc::new(Cell::new(PAGE_ROWS));
    let more = Trigger::new();
    let (mut rows, mut total) = (List::new("kernel-rows"), Place::new("kernel-total"));
    let shown_limit = limit.clone();
    let signs = Value::new(Signs::default());
    let rest = Later::after(SIGNS_REST);
    effect(move || {
        more.track();
        if !page.is_open(Tab::Kernels) {
            return;
        }
        let analysis = page.analysis.get();
        let selected = page.selection.get().kernel(&analysis);
        let count = analysis.fused.kernels.len();
        let shown = count.min(shown_limit.get());
        let hurts = signs.get();
        if !hurts.are_of(&analysis) {
            rest.call(move || signs.set(Signs::of(page.analysis.get_untracked())));
        }
        let row = |kernel| {
            let hurts = hurts.texts.get(kernel).map_or("", String::as_str);
            row(&analysis, kernel, selected == Some(kernel), hurts)
        };
        rows.show((0..shown).filter_map(row).collect());
        total.show(total_row(&analysis));
        set_flag(MORE, "hidden", shown == count);
        if shown < count {
            let of = [
                "Show more (",
                &shown.to_string(),
                " of ",
                &count.to_string(),
                ")",
            ];
            set_text(MORE, &of.concat());
        }
    });
    listen("kernels-table", &["click"], move |event| {
        if let Some(kernel) = platform::closest_number(event, "data-kernel") {
            page.toggle(Selection::Kernel(kernel));
        } else if platform::closest_id(event, "button").as_deref() == Some(MORE) {
            limit.set(limit.get() + PAGE_ROWS);
            more.notify();
        }
    });
    view! {
        <div id="kernels-table">
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
                    <tbody id="kernel-rows"></tbody>
                    <tfoot id="kernel-total"></tfoot>
                </table>
            </div>
            <button type="button" class="more" id="more-kernels" hidden></button>
            <p class="quiet">"Times are at full peak rates (roofline)."</p>
        </div>
    }
}

/// What a kernel and the sum of all have alike.
struct Figures {
    work: Work,
    unfused_bytes: u64,
    fused_bytes: u64,
    bytes_read: u64,
    bytes_written: u64,
    /// Stands before figures that rest on an assumed size.
    mark: &'static str,
    intensity: String,
    bound: &'static str,
    /// Why the time is at least what is shown; empty where it is a prediction.
    open: String,
    unfused_time_s: f64,
    fused_time_s: f64,
}

/// What would hurt, for each kernel of an analysis: found once a slider rests, so that its events do not wait for it.
#[derive(Clone, Default)]
struct Signs {
    of: Option<Arc<Analysis>>,
    texts: Vec<String>,
}

impl Signs {
    fn of(analysis: Arc<Analysis>) -> Self {
        Self {
            texts: warnings(&analysis),
            of: Some(analysis),
        }
    }

    fn are_of(&self, analysis: &Arc<Analysis>) -> bool {
        (self.of.as_ref()).is_some_and(|of| Arc::ptr_eq(of, analysis))
    }
}

fn row(analysis: &Analysis, kernel: usize, is_selected: bool, hurts: &str) -> Option<Markup> {
    let mut markup = Markup::new();
    let fused = analysis.fused.kernels.get(kernel)?;
    let before = analysis.comparisons.get(kernel)?;
    let (place, number) = (kernel.to_string(), (kernel + 1).to_string());
    let ops = op_names(&analysis.graph, &fused.ops);
    let selected = if is_selected { " is-selected" } else { "" };
    markup.fill(
        // The click reaches the row, which chooses; the button makes the row reachable by keyboard.
        r#"<tr class="{}" data-kernel="{}"><td><button type="button" class="badge" id="{}" aria-pressed="{}" aria-label="{}">{}</button><span class="limit-sign" role="img" aria-label="{}" title="{}" hidden="{}">▲</span></td><td class="op-names">{}</td>"#,
        &[
            &["kernel-row ", &kernel_class(kernel), selected].concat(),
            &place,
            &["kernel-button-", &place].concat(),
            if is_selected { "true" } else { "false" },
            &["kernel ", &number, ": ", &ops].concat(),
            &number,
            &["what hurts: ", hurts].concat(),
            hurts,
            if hurts.is_empty() { "" } else { ABSENT },
            &ops,
        ],
    );
    let unknown = if fused.work.is_unknown {
        "unknown"
    } else {
        "–"
    };
    figures(
        &mut markup,
        &Figures {
            work: fused.work,
            unfused_bytes: before.unfused_bytes,
            fused_bytes: fused.bytes(),
            bytes_read: fused.bytes_read,
            bytes_written: fused.bytes_written,
            mark: if has_assumed_size(fused) { "~" } else { "" },
            intensity: (fused.placement.intensity)
                .map_or_else(|| unknown.to_owned(), format_intensity),
            bound: if fused.is_free {
                "–"
            } else {
                bound_name(fused.placement.bound)
            },
            open: lower_bound_text(fused, &analysis.options.device).unwrap_or_default(),
            unfused_time_s: before.unfused_time_s,
            fused_time_s: fused.placement.time_s,
        },
        if fused.work.is_unknown { "unknown" } else { "" },
    );
    Some(markup)
}

fn total_row(analysis: &Analysis) -> Markup {
    let (before, after) = (&analysis.unfused, &analysis.fused);
    let kernels = after.kernels.iter();
    let work = kernels.fold(Work::default(), |sum, kernel| sum.and(kernel.work));
    let mut markup = Markup::new();
    markup.raw(r#"<tr><td></td><th scope="row">total</th>"#);
    figures(
        &mut markup,
        &Figures {
            work,
            unfused_bytes: before.traffic.total,
            fused_bytes: after.traffic.total,
            bytes_read: after.traffic.bytes_read,
            bytes_written: after.traffic.bytes_written,
            mark: "",
            intensity: String::new(),
            bound: "",
            open: (after.first_lower_bound())
                .and_then(|kernel| lower_bound_text(kernel, &analysis.options.device))
                .unwrap_or_default(),
            unfused_time_s: before.time_s,
            fused_time_s: after.time_s,
        },
        "",
    );
    markup
}

/// The cells from FLOPs on. `flops` stands instead of the figure when it is not empty.
fn figures(markup: &mut Markup, row: &Figures, flops: &str) {
    let known = at_least(row.work.is_unknown, &format_flops(row.work.flops()));
    let exact = [
        &format_exact(row.unfused_bytes.into()),
        " B unfused, ",
        &format_exact(row.fused_bytes.into()),
        " B fused",
    ];
    let is_open = !row.open.is_empty();
    let time = at_least(is_open, &format_seconds(row.fused_time_s));
    let times = [
        &*at_least(is_open, &format_seconds(row.unfused_time_s)),
        " unfused, ",
        &time,
        " fused",
        if is_open { "; " } else { "" },
        &row.open,
    ];
    markup.fill(
        r#"<td class="number">{}</td><td class="number" title="{}"><span class="before">{}</span> → <strong>{}</strong></td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td><td title="{}">{}</td><td class="number" title="{}">{}</td></tr>"#,
        &[
            if flops.is_empty() { &known } else { flops },
            &exact.concat(),
            &format_bytes(row.unfused_bytes),
            &[row.mark, &format_bytes(row.fused_bytes)].concat(),
            &[row.mark, &format_bytes(row.bytes_read)].concat(),
            &format_bytes(row.bytes_written),
            &row.intensity,
            if is_open { &row.open } else { ABSENT },
            row.bound,
            &times.concat(),
            &time,
        ],
    );
}
