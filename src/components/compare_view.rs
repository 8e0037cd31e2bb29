//! All policies side by side, in a table and, when asked, on one roofline.

use super::charts::Chart;
use crate::app::state::{Page, SetIfChanged, shared_memo};
use crate::browser::{self, Place, listen};
use crate::core::Policy;
use crate::core::analysis::compare::compare;
use crate::picture::charts::roofline_compare::{policy_of, scene};
use crate::picture::charts::scene::MarkKey;
use crate::views::compare::{legend, rows};
use leptos::prelude::*;
use std::sync::Arc;

const SWITCH_ID: &str = "compare-draw";

/// The tab.
#[component]
pub fn CompareView(
    /// The page whose program is compared.
    page: Page,
    /// All policies are shown on one roofline, too.
    is_drawn: RwSignal<bool>,
) -> impl IntoView {
    let all = shared_memo(move |_| Arc::new(page.analysis.with(|analysis| compare(analysis))));
    let (mut table, mut names) = (Place::new("compare-rows"), Place::new("compare-legend"));
    Effect::new(move || {
        let policy = page.analysis.with(|analysis| analysis.options.policy);
        all.with(|all| {
            table.show(rows(all, policy));
            names.show(legend(all));
        });
    });
    let draw = move |width: f64| {
        let size = (width, (width * 0.5).clamp(260.0, 560.0));
        page.analysis
            .with(|analysis| all.with(|all| scene(analysis, all, size)))
    };
    let choose = move |mark: MarkKey| {
        if let Some(policy) = policy_of(mark.role) {
            page.policy.set_if_changed(policy);
        }
    };
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
            <div hidden=move || !is_drawn.get()>
                <ul class="legend" id="compare-legend"></ul>
                <p class="quiet" id="compare-note">"Markers that share a place stand on each other: all belong where the lowest is."</p>
                <Show when=move || is_drawn.get()>
                    <Chart id="compare" draw on_press=Callback::new(choose) />
                </Show>
            </div>
        </div>
    }
}
