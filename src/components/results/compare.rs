//! The *Compare* tab: all policies in a table and, on request, on one roofline; and the program on
//! every device.

use super::devices::DeviceTable;
use super::policy_legend::PolicyLegend;
use crate::app::state::Page;
use crate::components::charts::{LargeChart, height_of};
use crate::components::check::Check;
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::results::figure_cells::{ColumnHead, FigureCell};
use crate::components::sort_header::{Direction, SortHeader};
use crate::components::work_line::WorkLine;
use fuseline_core::analysis::compare::compared_policies;
use fuseline_core::{Objective, Policy};
use fuseline_view::picture::charts::roofline_compare::scene;
use fuseline_view::picture::charts::scene::{Mark, Role};
use fuseline_view::present::compare::{COLUMNS, PolicyRow, policy_rows};
use fuseline_view::present::options::{policy_summary, policy_title};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::table::Column;
use fuseline_view::present::times::TimeKind;
use leptos::either::Either;
use leptos::prelude::*;

/// The content of the tab.
#[component]
pub fn ComparePanel(
    /// Whether the roofline of all policies is shown.
    is_drawn: RwSignal<bool>,
    /// Whether the table of devices is shown.
    are_devices_shown: RwSignal<bool>,
    /// What the policies are ranked by.
    ranked_by: RwSignal<Objective>,
) -> impl IntoView {
    let page = Page::of_context();
    let chosen = Memo::new(move |_| page.analysis.with(|analysis| analysis.options.policy));
    let time_title =
        Signal::derive(move || page.analysis.with(|a| TimeKind::of(a).title().to_owned()));
    let rows = Memo::new(move |_| {
        page.questions
            .compared
            .with(|compared| policy_rows(compared, chosen.get(), ranked_by.get()))
    });
    let is_incomplete = move || {
        let expected = page
            .analysis
            .with(|analysis| compared_policies(analysis).count());
        rows.with(Vec::len) < expected
    };
    let sort_header = move |quantity: Quantity, objective, title: Signal<String>| {
        view! {
            <SortHeader
                direction=Direction::Ascending
                is_sorted=Signal::derive(move || ranked_by.get() == objective)
                sort=move || ranked_by.set(objective)
                is_number=true
                attr:data-quantity=quantity.id()
            >
                {title}
            </SortHeader>
        }
    };
    let head = move |&column: &Column| match column.quantity() {
        Some(Quantity::Bytes) => Either::Left(sort_header(
            Quantity::Bytes,
            Objective::Bytes,
            Signal::stored(column.title.to_owned()),
        )),
        Some(Quantity::Time) => {
            Either::Left(sort_header(Quantity::Time, Objective::Time, time_title))
        }
        _ => Either::Right(view! { <ColumnHead column /> }),
    };
    view! {
        <div>
            <div class="table-scroll" role="group" aria-label="Table of policies" tabindex="0">
                <NumberTable class="kernels compared row-lines">
                    <thead>
                        <tr>
                            <th scope="col" class="is-unlined">"policy"</th>
                            {COLUMNS.iter().map(head).collect_view()}
                            <th
                                scope="col"
                                class="number is-unlined"
                                data-quantity=Quantity::Differing.id()
                                title="tensors that stay inside a kernel under this policy but not under the chosen one, or the reverse"
                            >
                                "number of differing edges"
                            </th>
                            <th scope="col" class="is-unlined" data-quantity="differing-edges">"differing edges"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <ForEnumerate
                            each=move || rows.get()
                            key=|row| row.policy
                            children=move |index, row| {
                                let policy = row.policy;
                                let is_chosen = Signal::derive(move || chosen.get() == policy);
                                view! { <Row policy row=row_at(rows, index, row) is_chosen /> }
                            }
                        />
                    </tbody>
                </NumberTable>
            </div>
            <Show when=is_incomplete>
                <WorkLine />
            </Show>
            <Check is_set=is_drawn words="All policies on one roofline" />
            <Show when=move || is_drawn.get()>
                <Roofline />
            </Show>
            <Check is_set=are_devices_shown words="This policy on every GPU" />
            <Show when=move || are_devices_shown.get()>
                <DeviceTable />
            </Show>
        </div>
    }
}

/// A policy with its figures. A click chooses the policy for the page.
#[component]
fn Row(
    policy: Policy,
    /// The text of the row.
    row: Memo<PolicyRow>,
    /// Whether the page shows this policy.
    is_chosen: Signal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let text = move |part: fn(&PolicyRow) -> &String| move || row.with(|row| part(row).clone());
    let of = Subject::Policy(policy);
    let cells = Memo::new(move |_| row.with(|row| row.cells.clone()));
    let is_too_large = move || row.with(|row| row.is_too_large);
    let verdict =
        move || is_too_large().then(|| view! { <small class="is-warning">" does not fit"</small> });
    let cell = move |&column: &Column| match column.quantity() {
        Some(Quantity::PeakMemory) => {
            Either::Left(view! { <FigureCell of column cells note=verdict /> })
        }
        _ => Either::Right(view! { <FigureCell of column cells /> }),
    };
    view! {
        <tr
            class="policy-row"
            class:is-selected=is_chosen
            on:click=move |_| page.choose_policy(policy)
        >
            <td>
                // Its click bubbles to the row. The button makes the row reachable by keyboard.
                <button
                    type="button"
                    aria-pressed=move || is_chosen.get().to_string()
                    title=policy_summary(policy)
                >
                    {move || policy_title(policy, page.chosen.fusion.with(|fusion| fusion.objective))}
                </button>
                " "
                <small class="quiet">{text(|row| &row.note)}</small>
            </td>
            {COLUMNS.iter().map(cell).collect_view()}
            <td class="number" data-quantity=Quantity::Differing.id() data-label="number of differing edges">
                // The chosen policy has no difference to explain.
                <Show when=move || !is_chosen.get() fallback=text(|row| &row.differing)>
                    <Number explanation=Figure::fused(of, Quantity::Differing)>
                        {text(|row| &row.differing)}
                    </Number>
                </Show>
            </td>
            <td class="op-names" data-quantity="differing-edges" title=text(|row| &row.more_differing_edges)>
                {text(|row| &row.differing_edges)}
            </td>
        </tr>
    }
}

/// The kernels of all policies over one roofline, with a legend.
#[component]
fn Roofline() -> impl IntoView {
    let page = Page::of_context();
    let draw = move |(width, held): (f64, _)| {
        let size = (width, height_of(width, 0.5, 260.0..=560.0));
        page.analysis.with(|analysis| {
            page.questions
                .compared
                .with(|compared| scene(analysis, compared, size, held))
        })
    };
    let choose = move |mark: Mark| {
        if let Role::Policy(policy) = mark.role {
            page.choose_policy(policy);
        }
    };
    view! {
        <div class="policies-roofline">
            <Legend />
            <p class="quiet">
                "Markers at the same point are stacked downwards. The topmost marker is at the true position."
            </p>
            <LargeChart
                id="compare"
                title="All policies on one roofline"
                legend=Legend
                draw
                on_press=Callback::new(choose)
            />
        </div>
    }
}

#[component]
fn Legend() -> impl IntoView {
    let page = Page::of_context();
    let policies = Signal::derive(move || {
        page.questions
            .compared
            .with(|all| all.iter().map(|compared| compared.policy).collect())
    });
    view! { <PolicyLegend policies /> }
}
