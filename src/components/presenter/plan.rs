//! The plan of a workshop as a table.

use fuseline_learn::presenter::plan::{Planned, Workshop, WorkshopPart, clock, plan};
use leptos::prelude::*;

/// When each part begins, and what it is. `open` goes to a lesson.
#[component]
pub fn PlanTable(
    /// The workshop. Its present part is marked while it is presented.
    workshop: Workshop,
    #[prop(optional)] is_presented: bool,
    /// Goes to the lesson of this id.
    #[prop(into)]
    open: Callback<&'static str>,
) -> impl IntoView {
    let row = move |(index, Planned { part, minutes }): (usize, Planned)| {
        let is_present = is_presented && index == workshop.part;
        let what = match part.lesson() {
            Some(listed) => view! {
                <button type="button" class="link-button" on:click=move |_| open.run(listed.id)>
                    {part.title()}
                </button>
            }
            .into_any(),
            None => part.title().into_any(),
        };
        let kind = match part {
            WorkshopPart::Lesson(_) => "lesson",
            WorkshopPart::Slide(slide) => slide.kind.name(),
        };
        view! {
            <tr aria-current=is_present.then_some("step")>
                <td class="number">{clock(u64::from(minutes.start) * 60)}</td>
                <td class="number">{format!("{} min", minutes.end - minutes.start)}</td>
                <td>{kind}</td>
                <td>{what}</td>
            </tr>
        }
    };
    let rows = plan(workshop.length).into_iter().enumerate().map(row);
    view! {
        <table class="plan">
            <caption class="sr-only">{format!("A workshop of {} minutes", workshop.length.minutes())}</caption>
            <thead>
                <tr>
                    <th scope="col" class="number">"at"</th>
                    <th scope="col" class="number">"for"</th>
                    <th scope="col">"what"</th>
                    <th scope="col"></th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}
