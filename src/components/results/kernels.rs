//! The table of fused kernels.

use super::kernel_rows::{KernelTableRow, SelectedKernel};
use crate::app::state::{FocusRequest, Page, settled};
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::results::figure_cells::{ColumnHead, FigureCell};
use crate::components::show_more::ShowMore;
use fuseline_browser as browser;
use fuseline_core::KernelId;
use fuseline_view::present::kernels::{COLUMNS, KernelRow, kernel_rows, kernel_total};
use fuseline_view::present::pinned::{KernelAgainst, gone_kernels};
use fuseline_view::present::quantity::{Figure, Quantity, Run, Subject, Values};
use fuseline_view::present::table::Column;
use fuseline_view::present::times::{TimeKind, time_note};
use leptos::either::Either;
use leptos::html;
use leptos::prelude::*;

/// Rows that are listed at first, and by how many a button adds more.
const PAGE_ROWS: usize = 32;

/// A row for each fused kernel, and one for their sum.
#[component]
pub fn KernelsTable(
    /// The explanation of the selected kernel, which a click on a row brings into view.
    #[prop(optional)]
    details: NodeRef<html::Div>,
) -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let rows = Memo::new(move |_| page.analysis.with(|a| kernel_rows(a, max_rows.get())));
    let rows = settled(rows);
    let total = Memo::new(move |_| page.analysis.with(|a| kernel_total(a)));
    let kernel_count = move || page.analysis.with(|a| a.fused.kernels.len());
    let row_count = move || rows.with(Vec::len);
    let hurts = move || rows.with(|rows| rows.iter().any(|row| !row.harm.is_empty()));
    let is_assumed =
        move || (page.analysis).with(|a| Values::new(a).program_has_assumed_size(Run::Unfused));
    let note = Signal::derive(move || page.analysis.with(|analysis| time_note(analysis)));
    let time_title =
        Signal::derive(move || page.analysis.with(|a| TimeKind::of(a).title().to_owned()));
    let head = move |&column: &Column| match column.quantity() {
        Some(Quantity::Time) => {
            Either::Left(view! { <ColumnHead column title=time_title explanation=note /> })
        }
        _ => Either::Right(view! { <ColumnHead column /> }),
    };
    let is_pinned = move || page.against.pinned.with(Option::is_some);
    let total_against = move || Some(page.against_pinned()?.bytes.change);
    let gone = move || {
        page.against.pinned.with(|pinned| {
            let pinned = pinned.as_ref()?;
            (page.analysis).with(|now| gone_kernels(&pinned.analysis, now))
        })
    };
    let selected = SelectedKernel::of(page);
    Effect::new(move || {
        // A kernel that is not listed has no button. If its request stayed, it would take the focus
        // when more are listed.
        if let Some(FocusRequest::KernelButton(kernel)) = page.screen.focus_request.get()
            && kernel.index() >= row_count()
        {
            page.screen.focus_request.set(None);
        }
    });
    let reveal_details = move |_| {
        // On a phone the card shows what a row is pressed for, and leads to the tensors.
        if browser::shows_sheets() {
            return;
        }
        // The row has selected its kernel or nothing, which the next frame shows.
        browser::next_frame(move || {
            if untrack(|| page.selected_kernel()).is_some() {
                browser::reveal_node(details);
            }
        });
    };
    view! {
        <div class="table-scroll" role="group" aria-label="Table of kernels" tabindex="0">
            <NumberTable class="kernels fused-kernels row-lines">
                <thead>
                    <tr>
                        <th scope="col" class="is-unlined">"#"</th>
                        <th scope="col" class="is-unlined">"ops"</th>
                        {COLUMNS.iter().map(head).collect_view()}
                        <Show when=is_pinned>
                            <th scope="col" class="number is-unlined" data-quantity="pinned" title="change from the kernel of the same ops in the pinned state">"change from pinned"</th>
                        </Show>
                    </tr>
                </thead>
                <tbody on:click=reveal_details>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.of
                        children=move |index, row| {
                            let is_selected = selected.is(row.of);
                            view! { <Row row=row_at(rows, index, row) is_selected /> }
                        }
                    />
                </tbody>
                <tfoot>
                    <tr>
                        <td></td>
                        <th scope="row">"total"</th>
                        // Made after the rows, so that the first row has the tab stop.
                        {move || COLUMNS.iter().map(|&column| view! { <FigureCell of=Subject::Program column cells=total /> }).collect_view()}
                        <Show when=is_pinned>
                            <td class="number" data-quantity="pinned" data-label="change from pinned">{total_against}</td>
                        </Show>
                    </tr>
                </tfoot>
            </NumberTable>
        </div>
        <ShowMore max_rows step=PAGE_ROWS listed=row_count total=kernel_count />
        {move || gone().map(|gone| view! { <p class="quiet gone-kernels">{gone}</p> })}
        <p class="quiet">
            <Show when=hurts>
                <span class="limit-sign" aria-hidden="true">"▲"</span>
                " marks a kernel where fusion may cost time: "<em>"Limits"</em>" says why. "
            </Show>
            <Show when=is_assumed>"~ marks a figure with an assumed size. "</Show>
        </p>
        <p class="quiet">{note}</p>
    }
}

/// A kernel with its figures.
#[component]
fn Row(
    /// The text of the row.
    row: Memo<KernelRow>,
    /// Whether its kernel is selected.
    is_selected: Signal<bool>,
) -> impl IntoView {
    let kernel = Memo::new(move |_| row.with(|row| row.kernel));
    let of = row.with_untracked(|row| row.of);
    let cells = Memo::new(move |_| row.with(|row| row.cells.clone()));
    let label = move || row.with(|row| format!("kernel {}: {}", row.kernel.number(), row.ops));
    let sign = move || row.with(|row| harm_sign(&row.harm));
    let page = Page::of_context();
    let button = NodeRef::<html::Button>::new();
    Effect::new(move || {
        // A kernel that gets the focus is also selected, so only the selected row subscribes to
        // requests.
        if is_selected.get()
            && page.screen.focus_request.get() == Some(FocusRequest::KernelButton(kernel.get()))
            && button.get().is_some()
        {
            browser::focus(button);
            page.screen.focus_request.set(None);
        }
    });
    view! {
        <KernelTableRow
            kernel
            is_selected
            button
            label=Signal::derive(label)
            sign
        >
            <td class="op-names">
                {move || row.with(|row| row.ops.clone())}
                <Show when=move || row.with(|row| row.launches.is_some())>
                    <span class="quiet">" · "{move || row.with(|row| row.launches.clone())}</span>
                </Show>
            </td>
            {COLUMNS.iter().map(|&column| view! { <FigureCell of column cells /> }).collect_view()}
            <Show when=move || page.against.kernels.with(Option::is_some)>
                <td class="number" data-quantity="pinned" data-label="change from pinned"><AgainstPinned kernel of /></td>
            </Show>
        </KernelTableRow>
    }
}

/// How a kernel has changed since the pinned state.
#[component]
fn AgainstPinned(
    kernel: Memo<KernelId>,
    /// The kernel, by its first op.
    of: Subject,
) -> impl IntoView {
    let page = Page::of_context();
    let against = Memo::new(move |_| {
        page.against
            .kernels
            .with(|all| all.as_ref()?.get(kernel.get()).cloned())
    });
    let words = move || against.with(|against| against.as_ref()?.words());
    let first_op = Memo::new(move |_| match against.get()? {
        KernelAgainst::Known { first_op, .. } => Some(first_op),
        KernelAgainst::New => None,
    });
    let bytes = Memo::new(move |_| match against.get()? {
        KernelAgainst::Known { bytes, .. } => bytes,
        KernelAgainst::New => None,
    });
    let time = Memo::new(move |_| match against.get()? {
        KernelAgainst::Known { time, .. } => time,
        KernelAgainst::New => None,
    });
    let number = move |quantity: Quantity, change: Memo<Option<String>>, what: &'static str| {
        let figures = Memo::new(move |_| {
            let pinned = Subject::Kernel(first_op.get()?);
            Some([pinned, of].map(|of| Figure::fused(of, quantity)))
        });
        view! {
            <Show when=move || change.with(Option::is_some)>
                <Number explanation=page.explain_change(figures, move || change.get())>{change}{what}</Number>
            </Show>
        }
    };
    let has_both = move || bytes.with(Option::is_some) && time.with(Option::is_some);
    view! {
        {words}
        {number(Quantity::Bytes, bytes, " bytes")}
        {move || has_both().then_some(", ")}
        {number(Quantity::Time, time, " time")}
    }
}

fn harm_sign(harm: &str) -> Option<impl IntoView + use<>> {
    (!harm.is_empty()).then(|| {
        view! {
            <span class="limit-sign" role="img" aria-label=format!("warning: {harm}") title=harm.to_owned()>
                "▲"
            </span>
        }
    })
}
