//! The panel below the pictures: tabs, each a view in a file of its own.

use super::attention_view::AttentionView;
use super::compare_view::CompareView;
use super::kernel_details::KernelDetails;
use super::kernels::KernelsTable;
use super::limits_view::LimitsView;
use super::measured_view::MeasuredView;
use super::steps_view::StepsView;
use super::tabs::{Tabs, tabs};
use super::why_view::WhyView;
use crate::state::{Page, Tab};
use leptos::prelude::*;

const TABS_ID: &str = "results-tabs";

/// All tabs. A view in a tab begins its effects with `if !page.is_open(tab) { return; }`, so that a slider
/// event costs what the open one costs.
#[component]
pub fn Results(
    /// The page whose results are shown.
    page: Page,
) -> impl IntoView {
    tabs(
        page,
        &Tabs {
            list: TABS_ID,
            names: &Tab::NAMES,
            open: |page| page.tab.get().place(),
            choose: |page, place| {
                let tab = Tab::ALL.get(place).copied();
                page.tab.set_if_changed(tab.unwrap_or_default());
            },
        },
    );
    view! {
        <section class="panel results" id="results" aria-labelledby="results-title">
            <h2 class="sr-only" id="results-title">"Details"</h2>
            <div class="tabs" role="tablist" id=TABS_ID aria-labelledby="results-title">
                <button type="button" role="tab" id="tab-kernels" aria-controls="panel-kernels">"Kernels"</button>
                <button type="button" role="tab" id="tab-compare" aria-controls="panel-compare">"Compare"</button>
                <button type="button" role="tab" id="tab-why" aria-controls="panel-why">"Why not"</button>
                <button type="button" role="tab" id="tab-steps" aria-controls="panel-steps">"Steps"</button>
                <button type="button" role="tab" id="tab-limits" aria-controls="panel-limits">"Limits"</button>
                <button type="button" role="tab" id="tab-attention" aria-controls="panel-attention">"Attention"</button>
                <button type="button" role="tab" id="tab-measured" aria-controls="panel-measured">"Measured"</button>
            </div>
            <div role="tabpanel" id="panel-kernels" aria-labelledby="tab-kernels">
                <div class="kernels-body">
                    <div class="kernels-main"><KernelsTable page /></div>
                    <KernelDetails page />
                </div>
            </div>
            <div role="tabpanel" id="panel-compare" aria-labelledby="tab-compare" hidden><CompareView page /></div>
            <div role="tabpanel" id="panel-why" aria-labelledby="tab-why" hidden><WhyView page /></div>
            <div role="tabpanel" id="panel-steps" aria-labelledby="tab-steps" hidden><StepsView page /></div>
            <div role="tabpanel" id="panel-limits" aria-labelledby="tab-limits" hidden><LimitsView page /></div>
            <div role="tabpanel" id="panel-attention" aria-labelledby="tab-attention" hidden><AttentionView page /></div>
            <div role="tabpanel" id="panel-measured" aria-labelledby="tab-measured" hidden><MeasuredView page /></div>
        </section>
    }
}
