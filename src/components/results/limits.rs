//! The *Limits* tab: what each kernel needs of the device.

use super::kernel_rows::{KernelTableRow, SelectedKernel};
use crate::app::state::Page;
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable, Parts};
use fuseline_view::present::figure::{Figure, Of, Quantity, Resource};
use fuseline_view::present::limits::{LimitRow, limit_rows, unknown_device};
use fuseline_view::present::memory::memory_sentence;
use fuseline_view::present::names::counted;
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
fn Table(
    /// Its rows.
    rows: Memo<Vec<LimitRow>>,
) -> impl IntoView {
    let selected = SelectedKernel::of(Page::of_context());
    view! {
        <NumberTable class="limits">
            <thead>
                <tr>
                    <th scope="col">"#"</th>
                    <th scope="col">"ops"</th>
                    <th scope="col" class="number" title="what one block needs / what it may use">"on chip"</th>
                    <th scope="col" class="number" title="estimate per thread, before spills">"registers"</th>
                    <th scope="col" class="number" title="resident threads / threads that a multiprocessor can hold">"occupancy"</th>
                    <th scope="col" class="number">"blocks"</th>
                    <th scope="col" class="number" title="how many times the blocks fill the device">"waves"</th>
                    <th
                        scope="col"
                        class="number"
                        title="wave efficiency: the share of the slots of all waves that compute; tile efficiency: the share of the tiles that lies inside the output"
                    >
                        "wave · tile efficiency"
                    </th>
                    <th scope="col">"worth knowing"</th>
                </tr>
            </thead>
            <tbody>
                <ForEnumerate
                    each=move || rows.get()
                    key=|row| row.first_op
                    children=move |place, row| {
                        let is_selected = selected.is(Of::Kernel(row.first_op));
                        view! { <Row row=row_at(rows, place, row) is_selected /> }
                    }
                />
            </tbody>
        </NumberTable>
    }
}

/// A kernel with its limits.
#[component]
fn Row(
    /// The text of the row.
    row: Memo<LimitRow>,
    /// Whether its kernel is selected.
    is_selected: Signal<bool>,
) -> impl IntoView {
    let kernel = Memo::new(move |_| row.with(|row| row.kernel));
    let label =
        move || row.with(|row| format!("limits of kernel {}: {}", row.kernel.number(), row.ops));
    let text =
        move |part: fn(&LimitRow) -> Option<&String>| move || row.with(|row| part(row).cloned());
    let has = move |part: fn(&LimitRow) -> bool| row.with(part);
    let of = Of::Kernel(row.with_untracked(|row| row.first_op));
    let number = move |resource, part: fn(&LimitRow) -> Option<&String>| {
        let figure = Figure::fused(of, Quantity::Resource(resource));
        view! { <Number told=figure>{text(part)}</Number> }
    };
    view! {
        <KernelTableRow kernel is_selected label=Signal::derive(label)>
            <td class="op-names">{text(|row| Some(&row.ops))}</td>
            <td class="number" data-label="on chip">
                {number(Resource::OnChip, |row| Some(&row.on_chip))}
                <Show when=move || has(|row| row.on_chip_available.is_some())>
                    " / "
                    {number(Resource::OnChipAvailable, |row| row.on_chip_available.as_ref())}
                </Show>
            </td>
            <td class="number" data-label="registers" title=move || row.with(|row| row.live_values.clone())>
                {number(Resource::Registers, |row| Some(&row.registers))}
            </td>
            <td class="number" data-label="occupancy">{number(Resource::Occupancy, |row| Some(&row.occupancy))}</td>
            <td class="number" data-label="blocks">{number(Resource::Blocks, |row| Some(&row.blocks))}</td>
            <td class="number" data-label="waves">{number(Resource::Waves, |row| Some(&row.waves))}</td>
            <td class="number" data-label="wave · tile efficiency">
                <Show when=move || has(|row| row.efficiency.is_some()) fallback=|| "–">
                    {number(Resource::WaveEfficiency, |row| row.efficiency.as_ref().map(|[wave, _]| wave))}
                    " · "
                    {number(Resource::TileEfficiency, |row| row.efficiency.as_ref().map(|[_, tile]| tile))}
                </Show>
            </td>
            <td class="limit-warnings">{text(|row| Some(&row.warnings))}</td>
        </KernelTableRow>
    }
}
