//! The *Limits* tab: what each kernel needs of the device.

use super::kernel_rows::{KernelTableRow, SelectedKernel};
use crate::app::state::Page;
use crate::components::keyed_rows::row_at;
use crate::components::number::{NumberTable, Parts};
use crate::components::results::figure_cells::{ColumnHead, FigureCell};
use fuseline_view::present::limits::{COLUMNS, LimitRow, limit_rows, unknown_device};
use fuseline_view::present::memory::memory_sentence;
use fuseline_view::present::names::counted;
use fuseline_view::present::quantity::Subject;
use leptos::prelude::*;

/// Number of rows that are listed.
const MAX_ROWS: usize = 100;

/// A row for each fused kernel. A click selects the kernel in all views.
#[component]
pub fn LimitsView() -> impl IntoView {
    let page = Page::of_context();
    // `None` if the hardware of the device is unknown.
    let rows = Memo::new(move |_| page.analysis.with(|a| limit_rows(a, MAX_ROWS)));
    let hidden_count = Memo::new(move |_| {
        page.analysis
            .with(|a| a.fused.kernels.len().saturating_sub(MAX_ROWS))
    });
    let unknown =
        move || view! { <p class="quiet">{page.analysis.with(|a| unknown_device(a))}</p> };
    let memory = Memo::new(move |_| page.analysis.with(|analysis| memory_sentence(analysis)));
    view! {
        <p class="quiet panel-note"><Parts parts=memory /></p>
        <div class="table-scroll" role="group" aria-label="Limits of the kernels" tabindex="0">
            <Show when=move || rows.with(Option::is_some) fallback=unknown>
                <Table rows=Memo::new(move |_| rows.get().unwrap_or_default()) />
                <Show when=move || { hidden_count.get() > 0 }>
                    <p class="quiet">{move || format!("and {}", counted(hidden_count.get(), "more kernel"))}</p>
                </Show>
            </Show>
        </div>
    }
}

/// The table. The arrow keys go between its numbers.
#[component]
fn Table(rows: Memo<Vec<LimitRow>>) -> impl IntoView {
    let selected = SelectedKernel::of(Page::of_context());
    view! {
        <NumberTable class="limits">
            <thead>
                <tr>
                    <th scope="col">"#"</th>
                    <th scope="col">"ops"</th>
                    {COLUMNS.iter().map(|&column| view! { <ColumnHead column /> }).collect_view()}
                    <th scope="col">"worth knowing"</th>
                </tr>
            </thead>
            <tbody>
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.first_op
                    children=move |index, row| {
                        let is_selected = selected.is(Subject::Kernel(row.first_op));
                        view! { <Row row=row_at(rows, index, row) is_selected /> }
                    }
                />
            </tbody>
        </NumberTable>
    }
}

#[component]
fn Row(
    /// The text of the row.
    row: Memo<LimitRow>,
    /// Whether its kernel is selected.
    is_selected: Signal<bool>,
) -> impl IntoView {
    let kernel = Memo::new(move |_| row.with(|row| row.kernel));
    let of = row.with_untracked(|row| Subject::Kernel(row.first_op));
    let cells = Memo::new(move |_| row.with(|row| row.cells.clone()));
    let label =
        move || row.with(|row| format!("limits of kernel {}: {}", row.kernel.number(), row.ops));
    let text = move |part: fn(&LimitRow) -> &String| move || row.with(|row| part(row).clone());
    view! {
        <KernelTableRow kernel is_selected label=Signal::derive(label)>
            <td class="op-names">{text(|row| &row.ops)}</td>
            {COLUMNS.iter().map(|&column| view! { <FigureCell of column cells /> }).collect_view()}
            <td class="limit-warnings">{text(|row| &row.warnings)}</td>
        </KernelTableRow>
    }
}
