//! The tab on the model against measurement. Its files are fetched when it is opened for the first time.

use crate::browser::fetch_text;
use crate::components::charts::Chart;
use crate::core::analysis::measured::Measurements;
use crate::core::json::read_json;
use crate::core::notation::parse;
use crate::picture::charts::measured_scatter;
use crate::present::measured::{
    PredictedRow, Quantity, comparisons, error_summary, patterns, predicted_rows, source_notes,
    table_rows,
};
use leptos::prelude::*;
use std::sync::Arc;
use strum::IntoEnumIterator;

/// The device of the measured files.
const DEVICE: &str = "h200";

/// Each measured file and what is in it.
const FILES: [(&str, &str); 3] = [
    ("h200", "one size of each"),
    ("h200_sizes", "further sizes, seen by the model"),
    ("h200_fresh", "further sizes, not seen by it"),
];

/// What the tab shows. It outlives the tab, so that nothing is fetched twice.
#[derive(Clone, Copy)]
pub struct MeasuredState {
    quantity: RwSignal<Quantity>,
    /// `None` before the tab is opened for the first time.
    request: RwSignal<Option<Request>>,
    answer: LocalResource<Option<Answer>>,
}

/// A place in [`FILES`], and how often it was tried before.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Request {
    file: usize,
    attempt: usize,
}

/// What came of a request: rows with their predictions, or a sentence that says what failed.
#[derive(Clone, PartialEq)]
struct Answer {
    request: Request,
    result: Result<Arc<Predictions>, String>,
}

#[derive(PartialEq)]
struct Predictions {
    file: Measurements,
    rows: Vec<PredictedRow>,
}

impl MeasuredState {
    /// Nothing is fetched before [`MeasuredState::open`].
    pub(super) fn new() -> Self {
        let request = RwSignal::new(None);
        Self {
            request,
            quantity: RwSignal::new(Quantity::default()),
            answer: LocalResource::new(move || {
                let request = request.get();
                async move { Some(answer(request?).await) }
            }),
        }
    }

    /// Fetches the first file, unless one was asked for already.
    fn open(self) {
        if self.request.get_untracked().is_none() {
            self.choose(0);
        }
    }

    fn choose(self, file: usize) {
        self.request.set(Some(Request { file, attempt: 0 }));
    }

    fn retry(self) {
        self.request.update(|request| {
            if let Some(request) = request {
                request.attempt += 1;
            }
        });
    }

    fn file(self) -> usize {
        self.request.get().map_or(0, |request| request.file)
    }

    /// What came of the latest request, as far as it is answered.
    fn result(self) -> Option<Result<Arc<Predictions>, String>> {
        let answer = self.answer.get().flatten()?;
        (Some(answer.request) == self.request.get()).then_some(answer.result)
    }
}

async fn answer(request: Request) -> Answer {
    let file = FILES.get(request.file).map_or("", |(name, _)| name);
    let result = predictions(file).await;
    Answer {
        request,
        result: result.map(Arc::new),
    }
}

async fn predictions(file: &str) -> Result<Predictions, String> {
    let file = file_of(file)
        .await
        .map_err(|problem| format!("The measurements cannot be shown: {problem}."))?;
    // All requests are sent before the first is waited for.
    let names = patterns(&file.rows).into_iter();
    let coming: Vec<_> = names
        .map(|name| (fetch_text(&format!("measured/{name}.fuse")), name))
        .collect();
    let mut programs = Vec::new();
    for (text, name) in coming {
        let Some(text) = text.await else {
            return Err(format!("The pattern {name} did not come."));
        };
        programs.push((name, parse(&text).program));
    }
    let rows = predicted_rows(file.rows.clone(), &programs, DEVICE);
    Ok(Predictions { file, rows })
}

async fn file_of(name: &str) -> Result<Measurements, String> {
    let text = fetch_text(&format!("measured/{name}.json")).await;
    read_json(&text.ok_or("they did not come")?)
}

/// Predicted against measured, as a chart and as a table.
#[component]
pub fn MeasuredView(
    /// What is shown.
    state: MeasuredState,
) -> impl IntoView {
    state.open();
    let result = Memo::new(move |_| state.result());
    let predictions = Memo::new(move |_| result.get().and_then(Result::ok));
    let status = move || match result.get() {
        None => view! { <p class="quiet">"Fetching the measurements."</p> }.into_any(),
        Some(Err(problem)) => view! {
            <p class="is-failure">
                <span>{problem}</span>
                " "
                <button type="button" on:click=move |_| state.retry()>"Try again"</button>
            </p>
        }
        .into_any(),
        Some(Ok(predictions)) => summary(&predictions, state.quantity.get()).into_any(),
    };
    view! {
        <div class="measured">
            <div class="measured-choices">
                <FilePicker state />
                <QuantitySwitch quantity=state.quantity />
            </div>
            <div class="measured-status" role="status" aria-live="polite">{status}</div>
            <Show when=move || predictions.with(Option::is_some)>
                <div class="measured-result">
                    <Scatter predictions quantity=state.quantity />
                    <MeasuredTable predictions quantity=state.quantity />
                </div>
            </Show>
        </div>
    }
}

#[component]
fn FilePicker(state: MeasuredState) -> impl IntoView {
    let options = FILES.iter().enumerate().map(|(place, (_, name))| {
        view! {
            <option value=place.to_string() prop:selected=move || state.file() == place>
                {*name}
            </option>
        }
    });
    let choose = move |event| {
        if let Ok(file) = event_target_value(&event).parse() {
            state.choose(file);
        }
    };
    view! {
        <label class="picker">
            <span>"Measured"</span>
            <select on:change=choose>{options.collect_view()}</select>
        </label>
    }
}

#[component]
fn QuantitySwitch(quantity: RwSignal<Quantity>) -> impl IntoView {
    let options = Quantity::iter().map(|option| {
        view! {
            <label>
                <input
                    type="radio"
                    name="measured-quantity"
                    prop:checked=move || quantity.get() == option
                    on:change=move |_| quantity.set(option)
                />
                <span>{option.name()}</span>
            </label>
        }
    });
    view! {
        <fieldset class="switch">
            <legend class="sr-only">"Compare"</legend>
            {options.collect_view()}
        </fieldset>
    }
}

fn summary(predictions: &Predictions, quantity: Quantity) -> impl IntoView + use<> {
    let errors = error_summary(&comparisons(&predictions.rows, quantity));
    let notes = source_notes(&predictions.file).map(|note| view! { <p class="quiet">{note}</p> });
    view! {
        <p class="measured-errors">{errors}</p>
        {notes.collect_view()}
    }
}

#[component]
fn Scatter(
    predictions: Memo<Option<Arc<Predictions>>>,
    quantity: RwSignal<Quantity>,
) -> impl IntoView {
    let draw = move |width: f64| {
        let size = (width, (width * 0.8).clamp(260.0, 520.0));
        let quantity = quantity.get();
        let points = predictions.with(|predictions| {
            let rows = predictions.as_ref().map_or(&[][..], |all| &all.rows);
            comparisons(rows, quantity)
        });
        measured_scatter::scene(&points, quantity, size)
    };
    // The run that others are compared with has no point of its own.
    let has_eager = move || quantity.get() != Quantity::Speedup;
    view! {
        <Chart id="measured" draw>
            <ul class="legend">
                <Show when=has_eager>
                    <li><span class="point-key key-eager" aria-hidden="true"></span>"eager"</li>
                </Show>
                <li><span class="point-key key-compiled" aria-hidden="true"></span>"compiled"</li>
                <li><span class="point-key key-tuned" aria-hidden="true"></span>"compiled, own matmuls"</li>
            </ul>
        </Chart>
    }
}

#[component]
fn MeasuredTable(
    predictions: Memo<Option<Arc<Predictions>>>,
    quantity: RwSignal<Quantity>,
) -> impl IntoView {
    let rows = move || {
        let rows = predictions.with(|predictions| {
            let rows = predictions.as_ref().map_or(&[][..], |all| &all.rows);
            table_rows(rows, quantity.get())
        });
        let rows = rows.into_iter().map(|row| {
            view! {
                <tr>
                    <th scope="row">{row.pattern}</th>
                    <td class="number">{row.error}</td>
                    <td>{row.variant}</td>
                    <td class="number">{row.predicted}</td>
                    <td class="number">{row.measured}</td>
                    <td class="number">{row.size}</td>
                    <td class="number">{row.kernels}</td>
                </tr>
            }
        });
        rows.collect_view()
    };
    view! {
        <div class="table-scroll measured-table" role="group" aria-label="Measured rows" tabindex="0">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"pattern"</th>
                        <th scope="col" class="number" title="predicted / measured − 1">"error"</th>
                        <th scope="col">"run"</th>
                        <th scope="col" class="number">"predicted"</th>
                        <th scope="col" class="number">"measured"</th>
                        <th scope="col" class="number">"size"</th>
                        <th scope="col" class="number" title="number of kernels">
                            "kernels: "<br />"predicted / "<br />"measured"
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
