//! The plan of a workshop as a table.

use fuseline_learn::lesson::read;
use fuseline_learn::presenter::plan::{Activity, Planned, clock, plan};
use leptos::prelude::*;

/// When each part begins, and what it is. `open` goes to a lesson.
#[component]
pub fn PlanTable(
    /// The id of the lesson that is presented.
    #[prop(optional, into)]
    present: Signal<Option<String>>,
    /// Goes to the lesson of this id.
    #[prop(into)]
    open: Callback<&'static str>,
) -> impl IntoView {
    let row = move |Planned { part, minutes }: Planned| {
        let id = part.lesson().map(|listed| listed.id);
        let is_present = move || id.is_some() && present.with(|present| present.as_deref() == id);
        let what = match part.lesson() {
            Some(listed) => view! {
                <button type="button" class="link-button" on:click=move |_| open.run(listed.id)>
                    {read(listed.text).0.title}
                </button>
            }
            .into_any(),
            None => part.what.into_any(),
        };
        let kind = match part.activity {
            Activity::Talk => "talk",
            Activity::Lesson(_) => "lesson",
            Activity::OnTheirOwn => "puzzles",
            Activity::Break => "break",
        };
        view! {
            <tr aria-current=move || is_present().then_some("step")>
                <td class="number">{clock(u64::from(minutes.start) * 60)}</td>
                <td class="number">{format!("{} min", part.minutes)}</td>
                <td>{kind}</td>
                <td>{what}</td>
            </tr>
        }
    };
    view! {
        <table class="plan">
            <caption class="sr-only">"A 90-minute workshop"</caption>
            <thead>
                <tr>
                    <th scope="col" class="number">"at"</th>
                    <th scope="col" class="number">"for"</th>
                    <th scope="col">"what"</th>
                    <th scope="col"></th>
                </tr>
            </thead>
            <tbody>{plan().into_iter().map(row).collect_view()}</tbody>
        </table>
    }
}
