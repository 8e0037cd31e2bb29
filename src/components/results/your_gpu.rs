//! The *Your GPU* tab: the program on the GPU of the visitor, beside what is predicted for it.

use super::kernel_rows::SelectedKernel;
use crate::app::state::{Page, Selection};
use crate::app::your_gpu::{Ran, Running, YourGpu};
use crate::components::charts::Chart;
use crate::components::sentence::sentence;
use fuseline_codegen::your_gpu::{Failure, Outcome};
use fuseline_core::KernelId;
use fuseline_core::model::device::DeviceProbe;
use fuseline_view::picture::charts::gpu_times::{GpuTimeRows, scene};
use fuseline_view::present::quantity::Subject;
use fuseline_view::present::your_gpu::{
    NOT_MEASURED, TimePair, TimeRow, check_rows, failure_text, headline, notes, rates_text,
    sum_row, time_rows, tolerance_note, total_row,
};
use leptos::either::{Either, EitherOf4};
use leptos::prelude::*;
use std::sync::Arc;

/// Kernels that have a row in the table.
const MAX_ROWS: usize = 200;

/// The button that runs the program, and the results of the run.
#[component]
pub fn YourGpu(your_gpu: YourGpu) -> impl IntoView {
    let running = your_gpu.running;
    let is_busy = Memo::new(move |_| running.with(|running| matches!(running, Running::Busy(_))));
    let press = move |_| {
        if is_busy.get_untracked() {
            your_gpu.stop();
        } else {
            your_gpu.run();
        }
    };
    let label = move || {
        if is_busy.get() {
            "Stop"
        } else {
            "Run on this GPU"
        }
    };
    let status = move || {
        running.with(|running| match running {
            Running::Idle => EitherOf4::A(()),
            Running::Busy(what) => EitherOf4::B(view! {
                <p class="work-line">
                    <progress aria-label="Run on this GPU"></progress>
                    <span>{what.clone()}"…"</span>
                </p>
                <p class="measured-found">{move || your_gpu.verdict.get().map(|verdict| sentence(&verdict))}</p>
            }),
            Running::Ended(Err(failure)) => {
                let found = your_gpu.verdict.get_untracked();
                EitherOf4::C(view! { <Failed failure=failure.clone() found /> })
            }
            Running::Ended(Ok(ran)) => EitherOf4::D(view! { <Headline ran=Arc::clone(ran) /> }),
        })
    };
    let ran = Memo::new_with_compare(
        move |_| {
            running.with(|running| match running {
                Running::Ended(Ok(ran)) => Some(Arc::clone(ran)),
                _ => None,
            })
        },
        |a: Option<&Option<Arc<Ran>>>, b| match (
            a.and_then(Option::as_ref),
            b.and_then(Option::as_ref),
        ) {
            (Some(a), Some(b)) => !Arc::ptr_eq(a, b),
            (a, b) => a.is_some() != b.is_some(),
        },
    );
    view! {
        <section class="your-gpu" aria-labelledby="your-gpu-title">
            <h3 id="your-gpu-title">"Your GPU"</h3>
            <p class="quiet">
                "Runs this program on this GPU with WebGPU, both with each op as a separate kernel and with the kernels of the chosen policy. Results are compared with the interpreter's, and times with this GPU's roofline. The program runs at the sizes of the sliders if they fit, else at the largest sizes that fit. Nothing leaves this machine."
            </p>
            <button type="button" on:click=press>{label}</button>
            <div role="status" aria-live="polite">{status}</div>
            {move || your_gpu.measured.get().map(|measured| view! { <AsDevice your_gpu measured is_busy /> })}
            {move || ran.get().map(|ran| view! { <Shown ran /> })}
        </section>
    }
}

/// The rates of the GPU, and the way to a device of the picker.
#[component]
fn AsDevice(
    your_gpu: YourGpu,
    measured: Arc<DeviceProbe>,
    /// Whether the GPU is at work.
    is_busy: Memo<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let rates = rates_text(&measured);
    let is_chosen = {
        let measured = Arc::clone(&measured);
        Memo::new(move |_| {
            page.chosen
                .device
                .with(|device| device.probe.as_ref() == Some(&measured))
        })
    };
    let keep = move |_| page.take_your_gpu(&measured);
    let chosen = move || {
        if is_chosen.get() {
            Either::Left(view! { <span>"It is the chosen GPU."</span> })
        } else {
            let keep = keep.clone();
            Either::Right(view! { <button type="button" on:click=keep>"Keep as a device"</button> })
        }
    };
    view! {
        <p>{rates}</p>
        <p class="your-gpu-device">
            {chosen}
            <Show when=move || !is_busy.get()>
                <button type="button" on:click=move |_| your_gpu.measure()>"Measure again"</button>
            </Show>
        </p>
        <p class="quiet">{NOT_MEASURED}</p>
    }
}

/// Why it was not run, and the way that is left.
#[component]
fn Failed(
    failure: Failure,
    /// Whether results are right, where they were compared before it failed.
    found: Option<String>,
) -> impl IntoView {
    let page = Page::of_context();
    let offer = failure.offers_script().then(|| {
        view! {
            <p>
                "Its PyTorch script measures it on any GPU with PyTorch. "
                <button type="button" on:click=move |_| page.save_script()>"Save the PyTorch script"</button>
            </p>
        }
    });
    view! {
        {found.map(|found| view! { <p class="measured-found">{sentence(&found)}</p> })}
        <p class="your-gpu-failure">{sentence(&failure_text(&failure))}</p>
        {offer}
    }
}

/// The results of the run, in sentences.
#[component]
fn Headline(ran: Arc<Ran>) -> impl IntoView {
    let page = Page::of_context();
    let verdict = headline(&ran.outcome).join(" ");
    let is_older = move || page.shown.with(|shown| !ran.is_of(shown));
    view! {
        <p class="measured-found">{sentence(&verdict)}</p>
        <Show when=is_older>
            <p class="quiet">"This run used an earlier program or choice. Run again for the current one."</p>
        </Show>
    }
}

/// Bars and tables of a run.
#[component]
fn Shown(ran: Arc<Ran>) -> impl IntoView {
    let bars = |id: &'static str, rows| {
        let ran = Arc::clone(&ran);
        let draw = move |(width, _): (f64, _)| scene(&ran.outcome, rows, width);
        view! { <Chart id draw /> }
    };
    let total = bars("gpu-total", GpuTimeRows::Total);
    let kernels = bars("gpu-kernels", GpuTimeRows::Kernels);
    let notes = notes(&ran.outcome).into_iter();
    let notes = notes
        .map(|note| view! { <p class="quiet">{note}</p> })
        .collect_view();
    view! {
        <ul class="legend">
            <li><span class="bar-key key-measured-time" aria-hidden="true"></span>"measured"</li>
            <li><span class="bar-key key-predicted-time" aria-hidden="true"></span>"predicted"</li>
        </ul>
        {total}
        {kernels}
        <TimeTable ran=Arc::clone(&ran) />
        <Results outcome=&ran.outcome />
        {notes}
    }
}

/// The numbers of the bars.
#[component]
fn TimeTable(ran: Arc<Ran>) -> impl IntoView {
    let page = Page::of_context();
    let selected = SelectedKernel::of(page);
    let all = time_rows(&ran.outcome);
    let left_out = all.len().saturating_sub(MAX_ROWS);
    let is_shown = {
        let of = Arc::clone(&ran);
        Signal::derive(move || page.shown.with(|shown| of.is_of(shown)))
    };
    let rows = all.into_iter().take(MAX_ROWS);
    let rows = rows
        .map(|row| view! { <Row row selected is_shown /> })
        .collect_view();
    let totals = [sum_row(&ran.outcome), total_row(&ran.outcome)].map(|row| {
        let cells = cells(&row);
        view! {
            <tr>
                <td></td>
                <th scope="row">{row.name}</th>
                {cells}
            </tr>
        }
    });
    let more =
        (left_out > 0).then(|| view! { <p class="quiet">"Further kernels: " {left_out}</p> });
    view! {
        <div class="table-scroll" role="group" aria-label="Times on your GPU" tabindex="0">
            <table class="kernels row-lines your-gpu-times">
                <thead>
                    <tr>
                        <th scope="col">"#"</th>
                        <th scope="col">"ops"</th>
                        <th scope="col" class="number">"unfused, predicted"</th>
                        <th scope="col" class="number">"measured"</th>
                        <th scope="col" class="number" title="predicted / measured − 1">"error"</th>
                        <th scope="col" class="number">"fused, predicted"</th>
                        <th scope="col" class="number">"measured"</th>
                        <th scope="col" class="number" title="predicted / measured − 1">"error"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
                <tfoot>{totals}</tfoot>
            </table>
        </div>
        {more}
    }
}

/// A kernel. Its button selects it everywhere, while the page shows what was run.
#[component]
fn Row(
    row: TimeRow,
    selected: SelectedKernel,
    /// Whether the page shows what was run.
    is_shown: Signal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let is_selected = row
        .first_op
        .map(|first_op| selected.is(Subject::Kernel(first_op)));
    let is_selected = Signal::derive(move || {
        is_shown.get() && is_selected.is_some_and(|is_selected| is_selected.get())
    });
    let kernel = row.kernel;
    let class = move || match kernel.filter(|_| is_shown.get()) {
        Some(kernel) => format!("kernel-row {}", page.kernel_class(kernel)),
        None => String::new(),
    };
    let toggle = move |kernel: KernelId| {
        if is_shown.get_untracked() {
            page.toggle(Selection::Kernel(kernel));
        }
    };
    let badge = kernel.map(|kernel| {
        let label = format!("kernel {} on your GPU: {}", kernel.number(), row.name);
        view! {
            <button
                type="button"
                class="badge"
                aria-pressed=move || is_selected.get().to_string()
                aria-disabled=move || (!is_shown.get()).to_string()
                aria-label=label
                on:click=move |_| toggle(kernel)
            >
                {kernel.number()}
            </button>
        }
    });
    view! {
        <tr class=class class:is-selected=is_selected>
            <td>{badge}</td>
            <td class="op-names">{row.name.clone()}</td>
            {cells(&row)}
        </tr>
    }
}

fn cells(row: &TimeRow) -> impl IntoView + use<> {
    let texts = [row.unfused, row.fused]
        .into_iter()
        .flat_map(TimePair::texts);
    texts
        .map(|text| view! { <td class="number">{text}</td> })
        .collect_view()
}

/// Each result beside the interpreter's.
#[component]
fn Results<'a>(outcome: &'a Outcome) -> impl IntoView + use<> {
    let rows = check_rows(outcome).into_iter().map(|row| {
        let [unfused, fused] = row.errors;
        let verdict = if row.is_right {
            Either::Left("right")
        } else {
            Either::Right(view! { <strong class="is-wrong">"wrong"</strong> })
        };
        view! {
            <tr>
                <th scope="row">{row.name}</th>
                <td class="number">{row.elements}</td>
                <td class="number">{unfused}</td>
                <td class="number">{fused}</td>
                <td class="number">{row.tolerance}</td>
                <td>{verdict}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    outcome.checks.is_ok().then(|| {
        view! {
            <div class="table-scroll" role="group" aria-label="Results on your GPU" tabindex="0">
                <table class="kernels row-lines your-gpu-results">
                    <thead>
                        <tr>
                            <th scope="col">"result"</th>
                            <th scope="col" class="number">"elements"</th>
                            <th scope="col" class="number">"largest error, unfused"</th>
                            <th scope="col" class="number">"fused"</th>
                            <th scope="col" class="number">"tolerated"</th>
                            <th scope="col">"verdict"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <p class="quiet">{tolerance_note()}</p>
        }
    })
}
