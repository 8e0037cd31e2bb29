//! The columns of tables that are lists of quantities.

use crate::components::number::Number;
use fuseline_view::present::quantity::{Figure, Quantity, Run, Subject};
use fuseline_view::present::table::{Cells, Column, Layout};
use leptos::prelude::*;

/// The head of a column.
#[component]
pub fn ColumnHead(
    column: Column,
    /// The title, where it depends on the analysis.
    #[prop(optional, into)]
    title: Option<Signal<String>>,
    /// The explanation, where it depends on the analysis.
    #[prop(optional, into)]
    explanation: Option<Signal<String>>,
) -> impl IntoView {
    let title = move || title.map_or_else(|| column.title.to_owned(), |title| title.get());
    let explanation = move || match explanation {
        Some(explanation) => Some(explanation.get()),
        None => (!column.explanation.is_empty()).then(|| column.explanation.to_owned()),
    };
    view! {
        <th
            scope="col"
            class:number=is_number(column)
            class:is-unlined=!column.label.is_empty()
            data-quantity=column.quantity().map(Quantity::id)
            title=explanation
        >
            {title}
        </th>
    }
}

/// The numbers of a column in a row.
#[component]
pub fn FigureCell(
    /// What the row is of.
    of: Subject,
    column: Column,
    #[prop(into)] cells: Signal<Cells>,
    /// Follows the numbers.
    #[prop(optional, into)]
    note: Option<ViewFn>,
) -> impl IntoView {
    let has = move |(quantity, run)| cells.with(|cells| cells.number(quantity, run).is_some());
    let tooltip = move || {
        let quantity = column.quantity()?;
        cells.with(|cells| cells.tooltip(quantity).map(str::to_owned))
    };
    // The sum of all rows leaves the cells of some columns empty, whatever the program is.
    let is_sum = of == Subject::Program;
    let is_filled = || {
        column
            .quantities
            .first()
            .is_some_and(|&first| untrack(|| has(first)))
    };
    let label = Some(column.label).filter(|label| !label.is_empty() && (!is_sum || is_filled()));
    let number = move |(position, &(quantity, run)): (usize, &'static (Quantity, Run))| {
        let text = move || cells.with(|cells| cells.number(quantity, run).map(str::to_owned));
        view! {
            <Show
                when=move || has((quantity, run))
                fallback=move || (position == 0 && !is_sum).then_some("–")
            >
                <LaidOut layout=column.layout position figure=Figure { quantity, run, of } text />
            </Show>
        }
    };
    view! {
        <td
            class:number=is_number(column)
            data-quantity=column.quantity().map(Quantity::id)
            data-label=label
            title=tooltip
        >
            {column.quantities.iter().enumerate().map(number).collect_view()}
            {note.map(|note| move || note.run())}
        </td>
    }
}

/// A number at its position in a cell.
#[component]
fn LaidOut(
    layout: Layout,
    position: usize,
    figure: Figure,
    /// The number as it is shown.
    #[prop(into)]
    text: Signal<Option<String>>,
) -> impl IntoView {
    let number = move || view! { <Number explanation=figure>{text}</Number> };
    match (layout, position) {
        (Layout::Change, 0) => view! { <span class="before">{number()}</span> }.into_any(),
        (Layout::Change, _) => view! { " → "<strong>{number()}</strong> }.into_any(),
        (Layout::Line(_) | Layout::Stacked, 0) => number().into_any(),
        (Layout::Line(separator), _) => view! { {separator}{number()} }.into_any(),
        // A word has no explanation of its own: that of the figure above covers it.
        (Layout::Stacked, _) if figure.quantity.unit().is_none() => {
            view! { <small class="bound">{text}</small> }.into_any()
        }
        (Layout::Stacked, _) => view! { <small class="bound">{number()}</small> }.into_any(),
    }
}

/// Whether a column has numbers, which are aligned right.
fn is_number(column: Column) -> bool {
    column
        .quantity()
        .is_some_and(|quantity| quantity.unit().is_some())
}
