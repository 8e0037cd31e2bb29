//! The visitor's own measurement in the *Measured* tab: each kernel that ran beside the predicted
//! one.

use super::kernel_rows::SelectedKernel;
use crate::app::state::{ExplanationOf, OpenProfile, Page, Selection};
use crate::components::by_pointer::ByPointer;
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::open_file::open_file;
use crate::components::picker::Picker;
use crate::components::show_more::ShowMore;
use fuseline_browser as browser;
use fuseline_core::analysis::why::RoundsPrice;
use fuseline_core::{Analysis, KernelId};
use fuseline_import::matching::{Counted, Matching, SHORT_LAUNCHES, short_neighbours};
use fuseline_view::present::figure::merge_explanation;
use fuseline_view::present::format::format_seconds;
use fuseline_view::present::profile::{
    NeighbourRow, Note, ProfileFigure, ProfileRow, RowOf, bytes_title, found_sentence,
    neighbour_rows, notes, profile_explanation, profile_rows, profile_totals, run_title,
};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::saved::Saved;
use fuseline_view::present::times::TimeKind;
use leptos::either::Either;
use leptos::prelude::*;
use std::sync::Arc;

/// Rows that are listed at first, and by how many a button adds more.
const PAGE_ROWS: usize = 100;

/// The measurement, or how to make one.
#[component]
pub fn YourMeasurement() -> impl IntoView {
    let page = Page::of_context();
    let is_open = move || page.against.profile.with(Option::is_some);
    view! {
        <section class="your-measurement" aria-labelledby="your-measurement-title">
            <h3 id="your-measurement-title">"Your measurement"</h3>
            <Show when=is_open fallback=|| view! { <HowTo /> }>
                <Shown />
            </Show>
        </section>
        <h3 class="patterns-title">"Patterns measured on an H200 and an H100"</h3>
    }
}

/// Which files can be opened, and a button for them.
#[component]
fn HowTo() -> impl IntoView {
    view! {
        <p class="quiet">
            <ByPointer mouse="Drop a file on the page" touch="Open a file" />
            " to compare it with this program: a measurement that its PyTorch script saved (Export, PyTorch script), a table of "
            <code>"ncu --csv"</code>
            " or nsys stats, or a trace of torch.profiler, gzipped or not. Nothing leaves this machine."
        </p>
        <FileButton />
    }
}

#[component]
fn FileButton() -> impl IntoView {
    let page = Page::of_context();
    let choose = move |event| {
        if let Some(file) = browser::chosen_file(&event) {
            open_file(page, file);
        }
    };
    view! {
        <label class="button measurement-file">
            <input type="file" class="sr-only" accept=".json,.csv,.log,.txt,.gz,text/csv,application/json" on:change=choose />
            "Open a measurement…"
        </label>
    }
}

/// What the parts of an open measurement read.
#[derive(Clone, Copy)]
struct Seen {
    page: Page,
    analysis: Memo<Arc<Analysis>>,
    matching: Memo<Option<Arc<Matching>>>,
}

impl Seen {
    /// What `read` says about both; `None` once the measurement is closed. Tracked.
    fn with<T>(self, read: impl FnOnce(&Analysis, &Matching) -> T) -> Option<T> {
        self.matching.with(|matching| {
            let matching = matching.as_ref()?;
            // Of another analysis, until both are computed again.
            self.analysis.with(|analysis| {
                let is_of = matching.of_kernel.len() == analysis.fused.kernels.len();
                is_of.then(|| read(analysis, matching))
            })
        })
    }

    fn notes(self) -> Vec<Note> {
        self.page.against.profile.with(|opened| {
            let Some(opened) = opened else {
                return Vec::new();
            };
            let noted = self.with(|analysis, matching| {
                notes(analysis, &opened.profile, &opened.digest, matching)
            });
            noted.unwrap_or_default()
        })
    }

    /// The explanation of a measured number.
    fn explain(
        self,
        of: impl Fn() -> RowOf + Send + Sync + 'static,
        figure: ProfileFigure,
    ) -> ExplanationOf {
        ExplanationOf::own(move || {
            let source = self.notes().into_iter().next().map(|note| note.text);
            let explanation = self.with(|analysis, matching| {
                profile_explanation(
                    analysis,
                    matching,
                    of(),
                    figure,
                    &source.unwrap_or_default(),
                )
            });
            explanation.flatten()
        })
    }
}

/// The open measurement.
#[component]
fn Shown() -> impl IntoView {
    let page = Page::of_context();
    let seen = Seen {
        page,
        analysis: page.analysis,
        matching: page.against.matching,
    };
    let max_rows = RwSignal::new(PAGE_ROWS);
    let all = Memo::new(move |_| seen.with(profile_rows).unwrap_or_default());
    let rows = Memo::new(move |_| {
        all.with(|all| all.iter().take(max_rows.get()).cloned().collect::<Vec<_>>())
    });
    let found = move || seen.with(found_sentence);
    view! {
        <div class="measured-choices">
            <RunPicker />
            <FileButton />
            <button type="button" on:click=move |_| page.close_profile()>"Close"</button>
        </div>
        <Notes seen />
        <p class="measured-found">{found}</p>
        <Table seen rows />
        <ShowMore max_rows step=PAGE_ROWS listed=move || rows.with(Vec::len) total=move || all.with(Vec::len) />
        <Candidates seen />
        <p class="quiet">
            "The page keeps the measurement until you close it or leave the page. Links do not contain it."
        </p>
    }
}

/// Chooses the run.
#[component]
fn RunPicker() -> impl IntoView {
    let page = Page::of_context();
    let titles = Memo::new(move |_| {
        page.against.profile.with(|opened| {
            let runs = opened
                .as_ref()
                .map_or(&[][..], |opened| &opened.profile.runs);
            runs.iter().map(run_title).collect::<Vec<_>>()
        })
    });
    let value = Signal::derive(move || {
        let run = page
            .against
            .profile
            .with(|opened| opened.as_ref().map(|opened| opened.run));
        run.unwrap_or_default().to_string()
    });
    let choose = move |run: String| {
        if let Ok(run) = run.parse() {
            page.show_run(run);
        }
    };
    let options = move || {
        let titles = titles.get().into_iter().enumerate();
        let option = |(run, title): (usize, String)| view! { <option value=run.to_string() selected=value.get_untracked() == run.to_string()>{title}</option> };
        titles.map(option).collect_view()
    };
    view! { <Picker label="Run" value choose>{options}</Picker> }
}

/// Where it comes from, in what it differs from the program, and what would mend that.
#[component]
fn Notes(
    /// What is shown.
    seen: Seen,
) -> impl IntoView {
    let page = seen.page;
    let notes = Memo::new(move |_| seen.notes());
    let names = move || {
        page.against.profile.with(|opened| {
            opened
                .as_ref()
                .map(|opened: &Arc<OpenProfile>| opened.names.join(", "))
        })
    };
    let note = move |note: Note| {
        let button = note.offer.map(|offer| {
            let words = offer.words();
            view! {
                " "
                <button type="button" on:click=move |_| page.follow_offer(&offer)>{words}</button>
            }
        });
        view! { <p class:is-warning=note.is_warning>{note.text} {button}</p> }
    };
    view! {
        <div class="measured-notes" role="status" aria-live="polite">
            <p class="quiet">{names}</p>
            {move || notes.get().into_iter().map(note).collect_view()}
        </div>
    }
}

/// A row for each kernel that ran or is predicted.
#[component]
fn Table(
    /// What is shown.
    seen: Seen,
    rows: Memo<Vec<ProfileRow>>,
) -> impl IntoView {
    let selected = SelectedKernel::of(seen.page);
    let totals = Memo::new(move |_| seen.with(profile_totals).unwrap_or_default());
    let kind = move || seen.analysis.with(|analysis| TimeKind::of(analysis).name());
    let bytes = move || seen.with(|_, matching| bytes_title(matching));
    view! {
        <div class="table-scroll" role="group" aria-label="Your measured kernels" tabindex="0">
            <NumberTable class="kernels row-lines your-kernels">
                <thead>
                    <tr>
                        <th scope="col">"#"</th>
                        <th scope="col">"ops"</th>
                        <th scope="col">"ran"</th>
                        <th scope="col" class="number">{kind} " time"</th>
                        <th scope="col" class="number">"measured"</th>
                        <th scope="col" class="number" title="predicted / measured − 1">"error"</th>
                        <th scope="col" class="number">{bytes}</th>
                        <th scope="col" class="number">"measured"</th>
                        <th scope="col" class="number" title="predicted / measured − 1">"error"</th>
                        <th scope="col" class="number" title="how long the GPU waited before it">"gap before"</th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| (row.of, row.first_op, row.counted)
                        children=move |place, row| view! { <Row seen row=row_at(rows, place, row) selected /> }
                    />
                </tbody>
                <tfoot>
                    <ForEnumerate
                        each=move || totals.get()
                        key=|row| (row.of, row.counted)
                        children=move |place, row| {
                            let title = row.of.sum_title();
                            view! {
                                <tr>
                                    <td></td>
                                    <th scope="row">{title}</th>
                                    <td></td>
                                    {cells(&seen, row_at(totals, place, row))}
                                </tr>
                            }
                        }
                    />
                </tfoot>
            </NumberTable>
        </div>
    }
}

#[component]
fn Row(
    /// What is shown.
    seen: Seen,
    /// The text of the row.
    row: Memo<ProfileRow>,
    selected: SelectedKernel,
) -> impl IntoView {
    let page = seen.page;
    let (of, first_op) = row.with_untracked(|row| (row.of, row.first_op));
    let is_selected = first_op.map(|first_op| selected.is(Subject::Kernel(first_op)));
    let is_selected =
        Signal::derive(move || is_selected.is_some_and(|is_selected| is_selected.get()));
    let toggle = move || {
        if let RowOf::Kernel(kernel) = of {
            page.toggle(Selection::Kernel(kernel));
        }
    };
    let class = move || match of {
        RowOf::Kernel(kernel) => format!("kernel-row {}", page.kernel_class(kernel)),
        _ => String::new(),
    };
    let label = move || match of {
        RowOf::Kernel(kernel) => {
            row.with(|row| format!("measured kernel {}: {}", kernel.number(), row.ops))
        }
        _ => String::new(),
    };
    let number = match of {
        RowOf::Kernel(kernel) => Either::Left(view! {
            <button type="button" class="badge" aria-pressed=move || is_selected.get().to_string() aria-label=label>
                {kernel.number()}
            </button>
        }),
        _ => Either::Right("–"),
    };
    view! {
        <tr class=class class:is-selected=is_selected on:click=move |_| toggle()>
            <td>{number}</td>
            <td class="op-names">{move || row.with(|row| row.ops.clone())}</td>
            <td class="ran" title=move || row.with(|row| row.full_names.clone())>
                {move || row.with(|row| row.name.clone())}
                " "
                <em>{move || row.with(|row| row.remark)}</em>
            </td>
            {cells(&seen, row)}
        </tr>
    }
}

/// The cells behind the names.
fn cells(&seen: &Seen, row: Memo<ProfileRow>) -> impl IntoView + use<> {
    let of = row.with_untracked(|row| row.of);
    let first_op = row.with_untracked(|row| row.first_op);
    let figure_of = match of {
        RowOf::Kernel(_) => first_op.map(Subject::Kernel),
        RowOf::Total => Some(Subject::Program),
        RowOf::Unmatched(_) | RowOf::Found => None,
    };
    let text = move |part: fn(&ProfileRow) -> &String| move || row.with(|row| part(row).clone());
    // A number of the measurement, or a sum over a part of the kernels.
    let own = move |figure, part: fn(&ProfileRow) -> &String| {
        let has = move || row.with(|row| part(row) != "–");
        let explanation = seen.explain(move || of, figure);
        view! {
            <Show when=has fallback=|| "–">
                <Number explanation>{text(part)}</Number>
            </Show>
        }
    };
    let is_cold = row.with_untracked(|row| row.is_cold);
    let predicted = move |quantity, figure, part: fn(&ProfileRow) -> &String| match figure_of {
        // The page's own time is warm.
        Some(of) if !(is_cold && quantity == Quantity::Time) => Either::Left(
            view! { <Number explanation=Figure::fused(of, quantity)>{text(part)}</Number> },
        ),
        _ => Either::Right(own(figure, part)),
    };
    let bytes = match row.with_untracked(|row| row.counted) {
        Counted::Read => Quantity::BytesRead,
        Counted::Moved => Quantity::Bytes,
    };
    view! {
        <td class="number">{predicted(Quantity::Time, ProfileFigure::PredictedTime, |row| &row.times[0])}</td>
        <td class="number">{own(ProfileFigure::Time, |row| &row.times[1])}</td>
        <td class="number">{own(ProfileFigure::TimeError, |row| &row.times[2])}</td>
        <td class="number">{predicted(bytes, ProfileFigure::PredictedBytes, |row| &row.bytes[0])}</td>
        <td class="number">{own(ProfileFigure::Bytes, |row| &row.bytes[1])}</td>
        <td class="number">{own(ProfileFigure::BytesError, |row| &row.bytes[2])}</td>
        <td class="number">{own(ProfileFigure::Gap, |row| &row.gap)}</td>
    }
}

/// Short kernels in a row that wait for memory, and what fusing them would bring.
#[component]
fn Candidates(
    /// What is shown.
    seen: Seen,
) -> impl IntoView {
    let page = seen.page;
    // Costly: while a slider is held, the last ones stay.
    let found = Memo::new(
        move |last: Option<&Vec<(NeighbourRow, Option<RoundsPrice>)>>| {
            if let Some(last) = last.filter(|_| page.slider.is_held()) {
                return last.clone();
            }
            let found = seen.with(|analysis, matching| {
                let all = short_neighbours(analysis, matching);
                let prices = all
                    .iter()
                    .map(|of| of.merge.as_ref().ok().copied().map(RoundsPrice::once));
                neighbour_rows(analysis, &all)
                    .into_iter()
                    .zip(prices)
                    .collect::<Vec<_>>()
            });
            found.unwrap_or_default()
        },
    );
    let short = move || {
        seen.analysis.with(|analysis| {
            format_seconds(analysis.options.device.launch_s.value * SHORT_LAUNCHES)
        })
    };
    let row = move |(row, price): (NeighbourRow, Option<RoundsPrice>)| {
        let kernels: [KernelId; 2] = row.kernels;
        let saved = move |saved: Saved, text: String| {
            let explanation = ExplanationOf::own(move || {
                seen.with(|analysis, _| merge_explanation(analysis, kernels, price?, saved))
                    .flatten()
            });
            view! { <Number explanation>{text}</Number> }
        };
        let merge = match row.merge {
            Ok([bytes, time]) => Either::Left(view! {
                <td class="number">{saved(Saved::Bytes, bytes)}</td>
                <td class="number">{saved(Saved::Time, time)}</td>
            }),
            Err(reason) => Either::Right(view! { <td colspan="2">{reason}</td> }),
        };
        view! {
            <tr>
                <th scope="row">{row.names}</th>
                <td class="number">{row.time}</td>
                <td class="number">{row.gap}</td>
                {merge}
            </tr>
        }
    };
    view! {
        <Show when=move || found.with(|found| !found.is_empty())>
            <h4>"Short kernels worth fusing"</h4>
            <p class="quiet">
                "Consecutive memory-bound kernels that take at most " {short}
                " each, the time of ten launches. "<i>"Why not"</i>" prices longer ones, too. The savings are computed, not measured."
            </p>
            <div class="table-scroll" role="group" aria-label="Kernels worth fusing" tabindex="0">
                <NumberTable class="worth-fusing row-lines">
                    <thead>
                        <tr>
                            <th scope="col" class="is-unlined">"kernels"</th>
                            <th scope="col" class="number">"measured, both"</th>
                            <th scope="col" class="number">"gap"</th>
                            <th scope="col" class="number">"bytes saved"</th>
                            <th scope="col" class="number">"time saved"</th>
                        </tr>
                    </thead>
                    <tbody>{move || found.get().into_iter().map(row).collect_view()}</tbody>
                </NumberTable>
            </div>
        </Show>
    }
}
