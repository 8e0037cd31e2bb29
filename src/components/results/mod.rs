//! The panel below the pictures: tabs, each a view in a file of its own.

pub mod advice;
pub mod attention;
pub mod compare;
pub mod devices;
pub mod figure_cells;
pub mod kernel_code;
pub mod kernel_details;
pub mod kernel_rows;
pub mod kernels;
pub mod limits;
pub mod measured;
pub mod online_softmax;
pub mod op_picker;
pub mod policy_legend;
pub mod precision;
pub mod profiler;
pub mod steps;
pub mod sweep;
pub mod tiling;
pub mod why;
pub mod your_gpu;
pub mod your_measurement;

use crate::app::stage::is_staged;
use crate::app::state::{Page, Tab};
use crate::app::sweeping::Sweeping;
use crate::app::your_gpu::YourGpu;
use crate::components::tabs::{TabList, panel_id, tab_id};
use advice::AdvicePanel;
use attention::AttentionView;
use compare::ComparePanel;
use fuseline_browser as browser;
use fuseline_codegen::interpret::Setup;
use fuseline_core::Objective;
use fuseline_view::page::view::View;
use fuseline_view::present::attention::AttentionChoice;
use fuseline_view::present::kernels::fused_kernels_note;
use fuseline_view::present::tiling::TilingChoice;
use kernel_details::KernelDetailsPanel;
use kernels::KernelsTable;
use leptos::prelude::*;
use leptos::{ev, html};
use limits::LimitsView;
use measured::{MeasuredState, MeasuredView};
use precision::PrecisionView;
use profiler::ProfilerView;
use steps::StepsPanel;
use sweep::SweepPanel;
use tiling::TilingView;
use why::WhyPanel;
use your_gpu::YourGpu;
use your_measurement::YourMeasurement;

/// A tab that is opened scrolls into view unless this much of it is visible.
const SEEN_PX: f64 = 240.0;

/// All tabs. Only the open one is mounted, so that a slider event updates no other. State that must
/// survive the closing of a tab is a signal here.
#[component]
pub fn Results() -> impl IntoView {
    let page = Page::of_context();
    let is_compare_drawn = RwSignal::new(false);
    let are_devices_shown = RwSignal::new(false);
    let ranked_by = RwSignal::new(Objective::default());
    let edge_order = RwSignal::new(None);
    let attention = RwSignal::new(AttentionChoice::default());
    let tiling = RwSignal::new(TilingChoice::default());
    let sweeping = Sweeping::new(page);
    let measured = MeasuredState::new();
    let your_gpu = YourGpu::new(page);
    let precision_setup = RwSignal::new(Setup::default());
    let panel = move |tab| match tab {
        Tab::Kernels => {
            let details = NodeRef::new();
            view! {
                <div class="kernels-body">
                    <div class="kernels-main"><KernelsTable details /></div>
                    <KernelDetailsPanel panel=details />
                </div>
            }
            .into_any()
        }
        Tab::Advice => view! { <AdvicePanel /> }.into_any(),
        Tab::Compare => {
            view! { <ComparePanel is_drawn=is_compare_drawn are_devices_shown ranked_by /> }
                .into_any()
        }
        Tab::Sweep => view! { <SweepPanel sweeping /> }.into_any(),
        Tab::Why => view! { <WhyPanel chosen_order=edge_order /> }.into_any(),
        Tab::Steps => view! { <StepsPanel /> }.into_any(),
        Tab::Limits => view! { <LimitsView /> }.into_any(),
        Tab::Tiling => view! { <TilingView choice=tiling /> }.into_any(),
        Tab::Attention => view! { <AttentionView choice=attention /> }.into_any(),
        Tab::Precision => view! { <PrecisionView setup=precision_setup /> }.into_any(),
        Tab::Profiler => view! { <ProfilerView launcher=page.screen.launcher /> }.into_any(),
        Tab::Measured => view! {
            <YourMeasurement />
            <MeasuredView state=measured />
        }
        .into_any(),
        Tab::Gpu => view! { <YourGpu your_gpu /> }.into_any(),
    };
    // A memo, so that choosing the open tab again does not mount it again.
    let open = Memo::new(move |_| page.screen.tab.get());
    let section = NodeRef::<html::Section>::new();
    let reveal = move |event: ev::MouseEvent| {
        if !browser::is_on(&event, "[role=tab]") {
            return;
        }
        browser::after_picture(move || {
            if let Some(section) = browser::mounted(section) {
                browser::reveal_unless_seen(&section, SEEN_PX);
            }
        });
    };
    view! {
        <section node_ref=section on:click=reveal class="panel results" class:is-stale=page.checked.is_grey class:is-staged=is_staged(View::Details) aria-labelledby="results-title">
            <h2 class="sr-only" id="results-title">"Details"</h2>
            <TabList open=page.screen.tab label=Tab::label group=Tab::group labelled_by="results-title" />
            {move || {
                let tab = open.get();
                view! {
                    <div role="tabpanel" id=panel_id(tab) aria-labelledby=tab_id(tab)>
                        {tab.is_of_fused_kernels().then(|| view! { <FusedNote /> })}
                        {panel(tab)}
                    </div>
                }
            }}
        </section>
    }
}

/// Which kernels the tab is about, while the pictures show the ops unfused.
#[component]
fn FusedNote() -> impl IntoView {
    let page = Page::of_context();
    let note = Memo::new(move |_| {
        let is_fused = page.chosen.is_fused.get();
        page.analysis.with(|a| fused_kernels_note(a, is_fused))
    });
    view! {
        <Show when=move || note.with(Option::is_some)>
            <p class="quiet panel-note">
                {move || note.get()}
                " "
                <button type="button" class="link" on:click=move |_| page.show_fused()>"Show them fused"</button>
            </p>
        </Show>
    }
}
