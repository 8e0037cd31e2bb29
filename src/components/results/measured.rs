//! The *Measured* tab: predictions against measurements. Its files are fetched when it is first
//! opened.

use crate::app::state::{ExplanationOf, Page};
use crate::components::charts::Chart;
use crate::components::number::{Number, NumberTable};
use crate::components::picker::Picker;
use crate::components::radio_button::RadioButton;
use fuseline_browser::fetch_text;
use fuseline_core::analysis::measured::Measurements;
use fuseline_core::json::read_json;
use fuseline_core::notation::parse;
use fuseline_view::picture::charts::measured_scatter;
use fuseline_view::present::figure::{MeasuredFigure, measured_explanation};
use fuseline_view::present::measured::{
    MeasuredQuantity, PredictedRow, comparisons, error_summary, errors_by_length, pattern_note,
    patterns, predicted_rows, source_notes, table_rows,
};
use leptos::prelude::*;
use std::sync::Arc;
use strum::IntoEnumIterator;

/// The measured files, each with the id of its device and its label.
const FILES: [(&str, &str, &str); 8] = [
    ("h200", "h200", "H200, one size of each"),
    (
        "h200_sizes",
        "h200",
        "H200, further sizes, used to build the model",
    ),
    (
        "h200_fresh",
        "h200",
        "H200, further sizes, not used to build it",
    ),
    (
        "h200_decode",
        "h200",
        "H200, few rows and queries, used to build the model",
    ),
    (
        "h200_decode_fresh",
        "h200",
        "H200, few rows and queries, not used to build it",
    ),
    (
        "h200_rows",
        "h200",
        "H200, losses, long rows and other axes, used to build the model",
    ),
    (
        "h200_rows_fresh",
        "h200",
        "H200, losses, long rows and other axes, not used to build it",
    ),
    ("h100", "h100", "H100, with rates scaled from the H200"),
];

/// The file to open with: the first of this device, else the first of all.
fn file_of_device(id: &str) -> usize {
    let of_device = FILES.iter().position(|&(_, device, _)| device == id);
    of_device.unwrap_or_default()
}

/// What the tab shows. It is kept while the tab is closed, so that nothing is fetched twice.
#[derive(Clone, Copy)]
pub struct MeasuredState {
    quantity: RwSignal<MeasuredQuantity>,
    /// `None` until the tab is opened for the first time.
    request: RwSignal<Option<Request>>,
    answer: LocalResource<Option<Answer>>,
}

/// An index in [`FILES`], and how often it was tried before.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Request {
    file: usize,
    attempt: usize,
    /// Whether the visitor chose the file. Else it follows the device.
    is_chosen: bool,
}

/// The result of a request: rows with their predictions, or a sentence that says what failed.
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
            quantity: RwSignal::new(MeasuredQuantity::default()),
            answer: LocalResource::new(move || {
                let request = request.get();
                async move { Some(answer(request?).await) }
            }),
        }
    }

    /// Fetches the file of this device, unless the visitor has chosen one or it is there already.
    fn open(self, device: &str) {
        let file = file_of_device(device);
        let last = self.request.get_untracked();
        if last.is_none_or(|last| !last.is_chosen && last.file != file) {
            self.ask(file, false);
        }
    }

    fn choose(self, file: usize) {
        self.ask(file, true);
    }

    fn ask(self, file: usize, is_chosen: bool) {
        self.request.set(Some(Request {
            file,
            attempt: 0,
            is_chosen,
        }));
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

    /// The result of the latest request; `None` until it is answered.
    fn result(self) -> Option<Result<Arc<Predictions>, String>> {
        let answer = self.answer.get().flatten()?;
        (Some(answer.request) == self.request.get()).then_some(answer.result)
    }
}

async fn answer(request: Request) -> Answer {
    let file = FILES.get(request.file).map_or("", |(name, ..)| name);
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
    // All requests are sent before the first answer is awaited.
    let names = patterns(&file.rows).into_iter();
    let requests: Vec<_> = names
        .map(|name| (fetch_text(&format!("measured/{name}.fuse")), name))
        .collect();
    let mut programs = Vec::new();
    for (text, name) in requests {
        let Some(text) = text.await else {
            return Err(format!("The pattern {name} could not be loaded."));
        };
        programs.push((name, parse(&text).program));
    }
    let device = file
        .listed_device()
        .ok_or("The table of devices lacks the GPU of this file.")?;
    let rows = predicted_rows(file.rows.clone(), &programs, device);
    Ok(Predictions { file, rows })
}

async fn file_of(name: &str) -> Result<Measurements, String> {
    let text = fetch_text(&format!("measured/{name}.json")).await;
    read_json(&text.ok_or("the file could not be loaded")?).map_err(|problem| problem.to_string())
}

/// Predicted against measured, as a chart and as a table.
#[component]
pub fn MeasuredView(state: MeasuredState) -> impl IntoView {
    let page = Page::of_context();
    Effect::new(move || page.chosen.device.with(|device| state.open(&device.id)));
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

/// Chooses the measured file.
#[component]
fn FilePicker(state: MeasuredState) -> impl IntoView {
    let options = (FILES.iter().enumerate())
        .map(|(index, (.., label))| view! { <option value=index.to_string()>{*label}</option> });
    let choose = move |index: String| {
        if let Ok(file) = index.parse() {
            state.choose(file);
        }
    };
    view! {
        <Picker label="Measured" value=Signal::derive(move || state.file().to_string()) choose>
            {options.collect_view()}
        </Picker>
    }
}

/// Chooses the compared quantity.
#[component]
fn QuantitySwitch(quantity: RwSignal<MeasuredQuantity>) -> impl IntoView {
    let options = MeasuredQuantity::iter().map(|option| {
        view! {
            <RadioButton
                set="measured-quantity"
                is_chosen=move || quantity.get() == option
                choose=move || quantity.set(option)
            >
                {option.name()}
            </RadioButton>
        }
    });
    view! {
        <fieldset class="switch">
            <legend class="sr-only">"Compare"</legend>
            {options.collect_view()}
        </fieldset>
    }
}

fn summary(predictions: &Predictions, quantity: MeasuredQuantity) -> impl IntoView + use<> {
    let comparisons = comparisons(&predictions.rows, quantity);
    let errors = error_summary(&comparisons);
    // What stands beside a predicted time on the page.
    let by_length = (quantity == MeasuredQuantity::Time).then(|| {
        let sentence = errors_by_length(&comparisons);
        view! { <p class="quiet">{sentence}</p> }
    });
    let notes = source_notes(&predictions.file).map(|note| view! { <p class="quiet">{note}</p> });
    view! {
        <p class="measured-errors">{errors}</p>
        {by_length}
        {notes.collect_view()}
        {pattern_note(&predictions.file).map(|note| view! { <p class="quiet">{note}</p> })}
    }
}

/// A point for each row, predicted against measured.
#[component]
fn Scatter(
    predictions: Memo<Option<Arc<Predictions>>>,
    quantity: RwSignal<MeasuredQuantity>,
) -> impl IntoView {
    let draw = move |(width, _): (f64, _)| {
        let size = (width, (width * 0.8).clamp(260.0, 520.0));
        let quantity = quantity.get();
        let points = predictions.with(|predictions| {
            let rows = predictions.as_ref().map_or(&[][..], |all| &all.rows);
            comparisons(rows, quantity)
        });
        measured_scatter::scene(&points, quantity, size)
    };
    // The speedup is over eager, so eager itself has no point.
    let has_eager = move || quantity.get() != MeasuredQuantity::Speedup;
    view! {
        <Chart id="measured" draw>
            <ul class="legend">
                <Show when=has_eager>
                    <li><span class="point-key key-eager" aria-hidden="true"></span>"eager"</li>
                </Show>
                <li><span class="point-key key-compiled" aria-hidden="true"></span>"compiled"</li>
                <li><span class="point-key key-tuned" aria-hidden="true"></span>"compiled, generated matmuls"</li>
            </ul>
        </Chart>
    }
}

#[component]
fn MeasuredTable(
    predictions: Memo<Option<Arc<Predictions>>>,
    quantity: RwSignal<MeasuredQuantity>,
) -> impl IntoView {
    let rows = move || {
        let rows = predictions.with(|predictions| {
            let rows = predictions.as_ref().map_or(&[][..], |all| &all.rows);
            table_rows(rows, quantity.get())
        });
        let rows = rows.into_iter().map(|row| {
            let number = |figure: MeasuredFigure, text: String| {
                let explanation = ExplanationOf::own(move || {
                    let of = predictions.get()?;
                    let predicted = of.rows.get(row.place)?;
                    measured_explanation(&of.file, predicted, quantity.get(), figure)
                });
                view! { <Number explanation>{text}</Number> }
            };
            let [expected, ran] = row.kernels;
            view! {
                <tr>
                    <th scope="row">{row.pattern}</th>
                    <td class="number">{number(MeasuredFigure::Error, row.error)}</td>
                    <td>{row.variant}</td>
                    <td class="number">{number(MeasuredFigure::Predicted, row.predicted)}</td>
                    <td class="number">{number(MeasuredFigure::Measured, row.measured)}</td>
                    <td class="number">{row.size}</td>
                    <td class="number">
                        {number(MeasuredFigure::PredictedKernels, expected)} " / "
                        {number(MeasuredFigure::MeasuredKernels, ran)}
                    </td>
                </tr>
            }
        });
        rows.collect_view()
    };
    view! {
        <div class="table-scroll measured-table" role="group" aria-label="Measured rows" tabindex="0">
            <NumberTable>
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
            </NumberTable>
        </div>
    }
}
