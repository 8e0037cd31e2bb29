//! The *Sweep* tab: a param along an axis, every policy as a curve, and where something changes.

use super::policy_legend::{Marker, PolicyLegend};
use crate::app::state::{ExplanationOf, Page, SetIfChanged};
use crate::app::sweeping::Sweeping;
use crate::components::charts::{LargeChart, height_of};
use crate::components::check::Check;
use crate::components::number::{Number, NumberTable};
use crate::components::picker::Picker;
use crate::components::sentence::sentence;
use crate::components::work_line::WorkLine;
use fuseline_core::analysis::sweep::{Measure, Sweep};
use fuseline_core::{Objective, Policy};
use fuseline_view::picture::charts::scene::{Mark, Scene};
use fuseline_view::picture::charts::sweep::{SweepView, scene};
use fuseline_view::present::figure::swept_explanation;
use fuseline_view::present::options::policy_title;
use fuseline_view::present::sweep::{
    CrossingRow, SweepRow, crossing_rows, measure_name, param_text, sweep_rows,
};
use leptos::prelude::*;
use std::sync::Arc;
use strum::VariantArray;

/// The content of the tab.
#[component]
pub fn SweepPanel(
    /// The choices of the tab, which outlive it.
    sweeping: Sweeping,
) -> impl IntoView {
    let has_param = Memo::new(move |_| sweeping.param.with(Option::is_some));
    view! {
        <div class="sweep">
            <Show when=move || has_param.get() fallback=|| view! { <NoParam /> }>
                <Choices sweeping />
                <SweepResult sweeping />
            </Show>
        </div>
    }
}

#[component]
fn NoParam() -> impl IntoView {
    view! {
        <p class="quiet">
            "No param of this program has a range. Write "
            <code>"param S = 1024 in 128..8192 step 128"</code>
            " and use "<code>"S"</code>" in a shape."
        </p>
    }
}

/// The param and what is measured.
#[component]
fn Choices(sweeping: Sweeping) -> impl IntoView {
    let param = move || {
        sweeping
            .param
            .with(|param| param.as_ref().map(|p| p.name.clone()))
    };
    let measure = move || <&str>::from(sweeping.measure.get()).to_owned();
    let measures = Measure::VARIANTS.iter().map(|&measure| {
        let value: &str = measure.into();
        view! { <option value=value>{measure_name(measure)}</option> }
    });
    let params = move || {
        sweeping.params.with(|params| {
            let options = params.iter().map(|param| {
                view! { <option value=param.name.clone()>{param.name.clone()}</option> }
            });
            options.collect_view()
        })
    };
    view! {
        <div class="sweep-choices">
            <Picker
                label="Along"
                title="the param along the axis"
                value=Signal::derive(move || param().unwrap_or_default())
                choose=move |name| sweeping.choose(name)
            >
                {params}
            </Picker>
            <Picker
                label="Show"
                value=Signal::derive(measure)
                choose=move |name| {
                    if let Ok(measure) = name.parse() {
                        sweeping.measure.set_if_changed(measure);
                    }
                }
            >
                {measures.collect_view()}
            </Picker>
            <Check is_set=sweeping.is_relative words="relative to no fusion" />
        </div>
    }
}

/// The curves, the crossings and the values, as far as they are known.
#[component]
pub fn SweepResult(
    /// The choices, and the sweep.
    sweeping: Sweeping,
) -> impl IntoView {
    let swept = sweeping.swept;
    let sweep = Memo::new(move |_| swept.with(|swept| swept.sweep.clone()));
    let is_known = Memo::new(move |_| sweep.with(Option::is_some));
    let is_present = move || swept.with(|swept| swept.is_present);
    let of_sweep = Signal::derive(move || sweep.get());
    view! {
        <Show when=move || !is_present()>
            <WorkLine />
        </Show>
        <Show
            when=move || is_known.get()
            fallback=move || {
                view! {
                    <Show when=is_present>
                        <p class="quiet">"The program can be analyzed at fewer than two values of this size: widen its range."</p>
                    </Show>
                }
            }
        >
            <Curves sweep=of_sweep sweeping />
            <div class="sweep-results">
                <Crossings sweep=of_sweep />
                <Values sweep=of_sweep sweeping />
            </div>
        </Show>
    }
}

#[component]
fn Curves(
    /// The sweep, which is known.
    sweep: Signal<Option<Arc<Sweep>>>,
    sweeping: Sweeping,
) -> impl IntoView {
    let page = Page::of_context();
    let policies = Signal::derive(move || policies_of(sweep));
    let legend = move || view! { <PolicyLegend policies /> };
    let present = Memo::new(move |_| {
        let name = sweep.with(|sweep| sweep.as_ref().map(|sweep| sweep.param.clone()))?;
        page.parsed.with(|parsed| {
            let mut params = parsed.program.params.iter();
            Some(params.find(|param| param.name.text == name)?.value)
        })
    });
    let device = Memo::new(move |_| page.analysis.with(|a| a.options.device.clone()));
    let draw = move |(width, _): (f64, _)| {
        let size = (width, height_of(width, 0.5, 260.0..=460.0));
        sweep.with(|sweep| match sweep {
            None => Scene::default(),
            Some(sweep) => device.with(|device| {
                let view = SweepView {
                    sweep,
                    measure: sweeping.measure.get(),
                    is_relative: sweeping.is_relative.get(),
                    present: present.get().unwrap_or_default(),
                    device,
                };
                scene(view, size)
            }),
        })
    };
    let on_press = Callback::new(move |mark: Mark| {
        if let Some(value) = mark.param_value {
            set(page, sweep, value);
        }
    });
    view! {
        <div class="sweep-chart">
            {legend()}
            <LargeChart id="sweep" title="Sweep" legend draw on_press />
        </div>
    }
}

fn objective_of(sweep: Signal<Option<Arc<Sweep>>>) -> Objective {
    sweep.with(|sweep| {
        sweep
            .as_ref()
            .map(|sweep| sweep.objective)
            .unwrap_or_default()
    })
}

fn policies_of(sweep: Signal<Option<Arc<Sweep>>>) -> Vec<Policy> {
    sweep.with(|sweep| {
        let policies = sweep.as_ref().map(|sweep| sweep.policies.clone());
        policies.unwrap_or_default()
    })
}

fn set(page: Page, sweep: Signal<Option<Arc<Sweep>>>, value: i64) {
    let name = sweep.with_untracked(|sweep| sweep.as_ref().map(|sweep| sweep.param.clone()));
    if let Some(name) = name {
        page.set_param(&name, value);
    }
}

/// Where something changes; each sets the param.
#[component]
fn Crossings(
    /// The sweep, which is known.
    sweep: Signal<Option<Arc<Sweep>>>,
) -> impl IntoView {
    let page = Page::of_context();
    let rows = Memo::new(move |_| {
        page.analysis.with(|analysis| {
            let device = &analysis.options.device;
            sweep.with(|sweep| {
                let rows = sweep.as_ref().map(|sweep| crossing_rows(sweep, device));
                rows.unwrap_or_default()
            })
        })
    });
    let is_complete =
        move || sweep.with(|sweep| sweep.as_ref().is_none_or(|sweep| sweep.is_complete));
    let row = move |row: CrossingRow| {
        let name = sweep.with_untracked(|sweep| sweep.as_ref().map(|sweep| sweep.param.clone()));
        let label = format!("Set {}", param_text(&name.unwrap_or_default(), row.value));
        let value = row.value;
        view! {
            <li>
                <button type="button" class="crossing" title=label on:click=move |_| set(page, sweep, value)>
                    <span class="crossing-number" aria-hidden="true">{row.number}</span>
                    <span>{sentence(&row.sentence)}</span>
                </button>
            </li>
        }
    };
    view! {
        <section aria-labelledby="crossings-title">
            <h3 id="crossings-title">"What changes along the axis"</h3>
            <ol class="crossings" role="list">
                <For each=move || rows.get() key=|row| (row.number, row.sentence.clone()) children=row />
            </ol>
            <Show when=move || rows.with(Vec::is_empty)>
                <p class="quiet">"No policy overtakes another, and no tensor passes the weights."</p>
            </Show>
            <Show when=move || !is_complete()>
                <p class="quiet">"The program is large, so changes may be missing here."</p>
            </Show>
        </section>
    }
}

/// The figures behind the curves.
#[component]
fn Values(
    /// The sweep, which is known.
    sweep: Signal<Option<Arc<Sweep>>>,
    sweeping: Sweeping,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    view! {
        <details class="sweep-values" on:toggle:target=move |event| is_open.set(event.target().open())>
            <summary>
                {move || format!("All values: {}", measure_name(sweeping.measure.get()))}
            </summary>
            <Show when=move || is_open.get()>
                <ValuesTable sweep sweeping />
            </Show>
        </details>
    }
}

#[component]
fn ValuesTable(
    /// The sweep, which is known.
    sweep: Signal<Option<Arc<Sweep>>>,
    sweeping: Sweeping,
) -> impl IntoView {
    let page = Page::of_context();
    let rows = Memo::new(move |_| {
        let measure = sweeping.measure.get();
        sweep.with(|sweep| {
            let rows = sweep.as_ref().map(|sweep| sweep_rows(sweep, measure));
            rows.unwrap_or_default()
        })
    });
    let name = move || sweep.with(|sweep| sweep.as_ref().map(|sweep| sweep.param.clone()));
    let row = move |row: SweepRow| {
        let value = row.value;
        let policies = untrack(|| policies_of(sweep)).into_iter();
        let figures = policies.zip(row.figures).map(|(policy, text)| {
            let explanation = ExplanationOf::own(move || {
                let sweep = sweep.get()?;
                let measure = sweeping.measure.get();
                page.analysis
                    .with(|analysis| swept_explanation(&sweep, value, policy, measure, analysis))
            });
            view! { <td class="number"><Number explanation>{text}</Number></td> }
        });
        view! {
            <tr>
                <th scope="row" class="number">
                    <button type="button" on:click=move |_| set(page, sweep, value)>{row.text}</button>
                </th>
                {figures.collect_view()}
            </tr>
        }
    };
    view! {
        <div class="table-scroll" role="group" aria-label="Table of values" tabindex="0">
            <NumberTable class="kernels">
                <thead>
                    <tr>
                        <th scope="col" class="number">{name}</th>
                        <For each=move || policies_of(sweep) key=|&policy| policy let:policy>
                            <th scope="col" class="number">
                                <Marker policy />
                                {move || policy_title(policy, objective_of(sweep))}
                            </th>
                        </For>
                    </tr>
                </thead>
                <tbody>
                    <For
                        each=move || rows.get()
                        key=|row| (row.value, row.figures.clone())
                        children=row
                    />
                </tbody>
            </NumberTable>
        </div>
    }
}
