//! What a teacher can do with the page.

use super::prose::prose;
use fuseline_learn::teaching::teaching;
use leptos::prelude::*;

/// One page for teachers, folded until a visitor opens it.
#[component]
pub fn ForTeachers() -> impl IntoView {
    let is_open = RwSignal::new(false);
    let sections = || {
        let (lesson, _) = teaching();
        let sections = lesson
            .steps
            .iter()
            .map(|step| view! { <h3>{step.title.clone()}</h3> {prose(&step.before, None)} });
        view! { <p>{lesson.about.clone()}</p> {sections.collect_view()} }
    };
    view! {
        <details class="lesson-plan teachers" on:toggle:target=move |event| is_open.set(event.target().open())>
            <summary>"For teachers: all that you can do"</summary>
            <Show when=move || is_open.get()>{sections}</Show>
        </details>
    }
}
