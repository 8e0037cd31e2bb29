//! The *Profiler* tab: the kernels over time and the table of one kernel, as profilers would show
//! them, with their commands.

use crate::app::state::{Page, Selection};
use crate::components::charts::Chart;
use crate::components::number::{Number, NumberTable};
use crate::components::radio_button::RadioButton;
use fuseline_core::analysis::launches::{Launcher, PYTHON_LAUNCH_S, launch_timeline};
use fuseline_view::picture::charts::launches;
use fuseline_view::picture::charts::scene::Mark;
use fuseline_view::present::format::format_seconds;
use fuseline_view::present::names::kernel_ops;
use fuseline_view::present::profiler::{COMMANDS, Metric, Section, claim, launcher_name, sections};
use leptos::prelude::*;

/// The timeline above, the table of a kernel and the commands below.
#[component]
pub fn ProfilerView(
    /// Who launches the kernels.
    launcher: RwSignal<Launcher>,
) -> impl IntoView {
    let page = Page::of_context();
    let timeline = Memo::new(move |_| {
        (page.analysis).with(|analysis| launch_timeline(analysis, launcher.get()))
    });
    let draw = move |(width, _): (f64, _)| {
        page.analysis.with(|analysis| {
            timeline.with(|timeline| launches::scene(analysis, timeline, launcher.get(), width))
        })
    };
    let on_press = Callback::new(move |mark: Mark| {
        if let Some(kernel) = mark.kernel {
            page.toggle(Selection::Kernel(kernel));
        }
    });
    let title = move || timeline.with(|timeline| claim(timeline, launcher.get()));
    view! {
        <div class="profiler">
            <section class="profiler-timeline" aria-labelledby="profiler-claim">
                <h3 id="profiler-claim">{title}</h3>
                <fieldset class="profiler-launcher">
                    <legend>"Kernels launched by"</legend>
                    {[Launcher::Python, Launcher::CudaGraph]
                        .map(|of| {
                            view! {
                                <RadioButton
                                    set="launcher"
                                    is_chosen=move || launcher.get() == of
                                    choose=move || launcher.set(of)
                                >
                                    {launcher_name(of)}
                                </RadioButton>
                            }
                        })}
                </fieldset>
                <Chart id="launches" draw selected_kernel=Signal::derive(move || page.selected_kernel()) on_press />
                <p class="quiet">
                    {format!(
                        "Predicted. Python takes about {} for a launch, measured with PyTorch beside an H200. Other hosts differ.",
                        format_seconds(PYTHON_LAUNCH_S),
                    )}
                </p>
            </section>
            <KernelTable />
            <Commands />
        </div>
    }
}

/// The table of the selected kernel.
#[component]
fn KernelTable() -> impl IntoView {
    let page = Page::of_context();
    let kernel = Memo::new(move |_| page.selected_kernel());
    let table = Memo::new(move |_| {
        let kernel = kernel.get()?;
        (page.analysis).with(|analysis| sections(analysis, kernel))
    });
    let heading = move || match kernel.get() {
        Some(kernel) => {
            let ops = page.analysis.with(|analysis| kernel_ops(analysis, kernel));
            format!("Nsight Compute on kernel {}: {ops}", kernel.number())
        }
        None => "Nsight Compute on one kernel".to_owned(),
    };
    let groups = move || {
        let sections = table.get().unwrap_or_default();
        sections.into_iter().map(group).collect_view()
    };
    let missing = move || match kernel.get() {
        Some(_) => {
            "The multiprocessors of this GPU are unknown, so there is no table. Choose another GPU."
        }
        None => "Select a kernel, here or in the graph, to see its table.",
    };
    view! {
        <section class="profiler-kernel" aria-labelledby="profiler-kernel">
            <h3 id="profiler-kernel">{heading}</h3>
            <Show
                when=move || table.with(Option::is_some)
                fallback=move || view! { <p class="quiet">{missing}</p> }
            >
                <div class="table-scroll" role="group" aria-label="Sections of Nsight Compute" tabindex="0">
                    <NumberTable class="profiler-table">
                        <thead>
                            <tr>
                                <th scope="col">"Metric Name"</th>
                                <th scope="col">"Metric Unit"</th>
                                <th scope="col" class="number">"Metric Value"</th>
                            </tr>
                        </thead>
                        {groups}
                    </NumberTable>
                </div>
                <p class="quiet">"Predicted, with a flushed cache. Dash: not in the model."</p>
            </Show>
        </section>
    }
}

/// A section with its metrics.
fn group(section: Section) -> impl IntoView {
    let rows = section.metrics.into_iter().map(|metric: Metric| {
        let value = metric.value.unwrap_or_else(|| "–".to_owned());
        let value = match metric.figure {
            Some(explanation) => view! { <Number explanation>{value}</Number> }.into_any(),
            None => value.into_any(),
        };
        view! {
            <tr>
                <th scope="row">{metric.name}</th>
                <td>{metric.unit}</td>
                <td class="number">{value}</td>
            </tr>
        }
    });
    view! {
        <tbody>
            <tr>
                <th scope="rowgroup" colspan="3" class="tiling-group">
                    "Section: "
                    {section.name}
                    <small>{section.reading}</small>
                </th>
            </tr>
            {rows.collect_view()}
        </tbody>
    }
}

#[component]
fn Commands() -> impl IntoView {
    let rows = COMMANDS.map(|command| {
        view! {
            <dt>{command.shows}</dt>
            <dd><code>{command.line}</code></dd>
        }
    });
    view! {
        <section class="profiler-commands" aria-labelledby="profiler-commands">
            <h3 id="profiler-commands">"Profile it yourself"</h3>
            <dl>{rows.collect_view()}</dl>
            <p class="quiet">"Open the file under "<i>"Measured"</i>", or drop it on this page."</p>
        </section>
    }
}
