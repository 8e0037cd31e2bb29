//! The kernels that ran beside the predicted ones, and those that could run as one.

use super::OpenMeasurement;
use crate::app::state::{ExplanationOf, Selection};
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::results::kernel_rows::SelectedKernel;
use fuseline_core::KernelId;
use fuseline_core::analysis::why::RepeatedPrice;
use fuseline_import::matching::{Counted, SHORT_LAUNCHES, short_neighbours};
use fuseline_view::present::figure::merge_explanation;
use fuseline_view::present::format::format_seconds;
use fuseline_view::present::profile::{
    NeighbourRow, ProfileFigure, ProfileRow, RowOf, bytes_title, neighbour_rows, profile_totals,
};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::saved::Saved;
use fuseline_view::present::times::TimeKind;
use leptos::either::Either;
use leptos::prelude::*;

/// A row for each kernel that ran or is predicted.
#[component]
pub fn Table(open: OpenMeasurement, rows: Memo<Vec<ProfileRow>>) -> impl IntoView {
    let selected = SelectedKernel::of(open.page);
    let totals = Memo::new(move |_| open.with(profile_totals).unwrap_or_default());
    let kind = move || open.analysis.with(|analysis| TimeKind::of(analysis).name());
    let bytes = move || open.with(|_, matching| bytes_title(matching));
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
                        children=move |index, row| view! { <Row open row=row_at(rows, index, row) selected /> }
                    />
                </tbody>
                <tfoot>
                    <ForEnumerate
                        each=move || totals.get()
                        key=|row| (row.of, row.counted)
                        children=move |index, row| {
                            let title = row.of.sum_title();
                            view! {
                                <tr>
                                    <td></td>
                                    <th scope="row">{title}</th>
                                    <td></td>
                                    {cells(&open, row_at(totals, index, row))}
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
    open: OpenMeasurement,
    /// The text of the row.
    row: Memo<ProfileRow>,
    selected: SelectedKernel,
) -> impl IntoView {
    let page = open.page;
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
            {cells(&open, row)}
        </tr>
    }
}

/// The cells behind the names.
fn cells(&open: &OpenMeasurement, row: Memo<ProfileRow>) -> impl IntoView + use<> {
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
        let explanation = open.explain(move || of, figure);
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
pub fn Candidates(open: OpenMeasurement) -> impl IntoView {
    let page = open.page;
    // Costly: while a slider is held, the last ones stay.
    let found = Memo::new(
        move |last: Option<&Vec<(NeighbourRow, Option<RepeatedPrice>)>>| {
            if let Some(last) = last.filter(|_| page.slider.is_held()) {
                return last.clone();
            }
            let found = open.with(|analysis, matching| {
                let all = short_neighbours(analysis, matching);
                let prices = all
                    .iter()
                    .map(|of| of.merge.as_ref().ok().copied().map(RepeatedPrice::once));
                neighbour_rows(analysis, &all)
                    .into_iter()
                    .zip(prices)
                    .collect::<Vec<_>>()
            });
            found.unwrap_or_default()
        },
    );
    let short = move || {
        open.analysis.with(|analysis| {
            format_seconds(analysis.options.device.launch_s.value * SHORT_LAUNCHES)
        })
    };
    let row = move |(row, price): (NeighbourRow, Option<RepeatedPrice>)| {
        let kernels: [KernelId; 2] = row.kernels;
        let saved = move |saved: Saved, text: String| {
            let explanation = ExplanationOf::own(move || {
                open.with(|analysis, _| merge_explanation(analysis, kernels, price?, saved))
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
