//! All policies side by side, in a table and, when asked, on one roofline.

use super::chart::{Chart, show_chart};
use crate::app::state::{Page, SetIfChanged};
use crate::browser::{self, Place, listen, set_flag};
use crate::core::analysis::compare::{Compared, compare};
use crate::core::{Analysis, Policy};
use crate::picture::charts::roofline_compare::{policy_of, scene};
use crate::views::compare::{legend, rows};
use leptos::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

const SWITCH_ID: &str = "compare-draw";
const CHART: &str = "compare-chart";

/// The policies on one analysis: computed once for the table and the picture.
type Known = Rc<RefCell<Option<(Arc<Analysis>, Rc<Vec<Compared>>)>>>;

/// The tab.
#[component]
pub fn CompareView(
    /// The page whose program is compared.
    page: Page,
    /// All policies are shown on one roofline, too.
    is_drawn: RwSignal<bool>,
) -> impl IntoView {
    let known = Known::default();
    let (mut table, mut names) = (Place::new("compare-rows"), Place::new("compare-legend"));
    let of_table = known.clone();
    Effect::new(move || {
        let analysis = page.analysis.get();
        let all = compared(&of_table, &analysis);
        table.show(rows(&all, analysis.options.policy));
        names.show(legend(&all));
    });
    let draw = move |analysis: &Arc<Analysis>, width: f64| {
        let size = (width, (width * 0.5).clamp(260.0, 560.0));
        scene(analysis, &compared(&known, analysis), size)
    };
    let chart = Chart::new(page, "compare", draw)
        .hidden()
        .pressed(|page, mark| {
            if let Some(policy) = policy_of(mark.role) {
                page.policy.set_if_changed(policy);
            }
        });
    let chart = show_chart(chart);
    Effect::new(move || {
        set_flag(CHART, "hidden", !is_drawn.get());
        chart.set_seen(is_drawn.get());
    });
    listen("compare", &["click", "change"], move |event| {
        if event.type_() == "change" {
            is_drawn.set(browser::is_checked(event));
        } else if let Some(name) = browser::closest_attribute(event, "data-policy")
            && let Some(policy) = Policy::from_name(&name)
        {
            page.policy.set_if_changed(policy);
        }
    });
    view! {
        <div id="compare">
            <div class="table-scroll" role="group" aria-label="Table of policies" tabindex="0">
                <table class="kernels policies">
                    <thead>
                        <tr>
                            <th scope="col">"policy"</th>
                            <th scope="col" class="number">"kernels"</th>
                            <th scope="col" class="number">"bytes"</th>
                            <th scope="col" class="number">"against unfused"</th>
                            <th scope="col" class="number">"predicted time"</th>
                            <th scope="col" class="number" title="tensors that one of the two policies keeps inside a kernel and the other does not">"edges that differ"</th>
                            <th scope="col">"which"</th>
                        </tr>
                    </thead>
                    <tbody id="compare-rows"></tbody>
                </table>
            </div>
            <label class="check"><input type="checkbox" id=SWITCH_ID prop:checked=is_drawn /><span>"All on one roofline"</span></label>
            <div id=CHART hidden>
                <ul class="legend" id="compare-legend"></ul>
                <p class="quiet" id="compare-note">"Markers that share a place stand on each other: all belong where the lowest is."</p>
                <div class="chart-slot" id="compare-slot">
                    <div class="chart-box">
                        <div id="compare-picture"></div>
                        <div class="chart-tip" id="compare-tip" aria-hidden="true" hidden></div>
                    </div>
                </div>
            </div>
        </div>
    }
}

fn compared(known: &Known, analysis: &Arc<Analysis>) -> Rc<Vec<Compared>> {
    let mut known = known.borrow_mut();
    if let Some((of, all)) = known.as_ref()
        && Arc::ptr_eq(of, analysis)
    {
        return all.clone();
    }
    let all = Rc::new(compare(analysis));
    *known = Some((analysis.clone(), all.clone()));
    all
}
