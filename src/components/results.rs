//! The panel below the pictures: tabs, each a view in a file of its own.

use super::attention_view::AttentionView;
use super::compare_view::CompareView;
use super::kernel_details::KernelDetails;
use super::kernels::KernelsTable;
use super::limits_view::LimitsView;
use super::measured_view::{MeasuredView, View};
use super::steps_view::StepsView;
use super::tabs::{TabList, panel_id, tab_id};
use super::why_view::WhyView;
use crate::app::state::{Page, Tab};
use leptos::prelude::*;
use std::rc::Rc;

/// All tabs. Only the open one is mounted, so that a slider event costs what that one costs. What has to outlive the
/// closing of a tab is a signal here.
#[component]
pub fn Results() -> impl IntoView {
    let page = Page::of_context();
    let is_compare_drawn = RwSignal::new(false);
    let asked_why = RwSignal::new(None);
    let attention_sizes = RwSignal::new(None);
    let measured = StoredValue::new_local(Rc::new(View::new()));
    let panel = move |tab| match tab {
        Tab::Kernels => view! {
            <div class="kernels-body">
                <div class="kernels-main"><KernelsTable /></div>
                <KernelDetails page />
            </div>
        }
        .into_any(),
        Tab::Compare => view! { <CompareView page is_drawn=is_compare_drawn /> }.into_any(),
        Tab::Why => view! { <WhyView page asked=asked_why /> }.into_any(),
        Tab::Steps => view! { <StepsView page /> }.into_any(),
        Tab::Limits => view! { <LimitsView /> }.into_any(),
        Tab::Attention => view! { <AttentionView page chosen=attention_sizes /> }.into_any(),
        Tab::Measured => view! { <MeasuredView page view=measured /> }.into_any(),
    };
    // A tab that is chosen again is not mounted anew.
    let open = Memo::new(move |_| page.tab.get());
    view! {
        <section class="panel results" id="results" aria-labelledby="results-title">
            <h2 class="sr-only" id="results-title">"Details"</h2>
            <TabList open=page.tab label=Tab::label labelled_by="results-title" />
            {move || {
                let tab = open.get();
                view! {
                    <div role="tabpanel" id=panel_id(tab) aria-labelledby=tab_id(tab)>{panel(tab)}</div>
                }
            }}
        </section>
    }
}
