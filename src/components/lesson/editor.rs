//! The file of a lesson, edited beside its preview.

use crate::app::learning::Learning;
use fuseline_browser as browser;
use fuseline_learn::lesson::Problem;
use leptos::html;
use leptos::prelude::*;

/// The file as text, and what in it is wrong. The lesson above follows each change.
#[component]
pub fn LessonEditor(learning: Learning) -> impl IntoView {
    let close = move |_| learning.is_edited.set(false);
    let save = move |_| {
        let open = learning.open.with_untracked(|open| {
            let open = open.as_ref()?;
            Some((open.id.unwrap_or("lesson"), open.text.clone()))
        });
        if let Some((name, text)) = open {
            browser::download(&format!("{name}.md"), "text/markdown", &text);
        }
    };
    let area = NodeRef::<html::Textarea>::new();
    let text = learning
        .open
        .with_untracked(|open| open.as_ref().map(|open| open.text.to_string()));
    let problems = move || {
        let problems = learning
            .open
            .with(|open| open.as_ref().map(|open| open.problems.clone()));
        let rows = problems
            .iter()
            .flat_map(|problems| problems.iter().cloned());
        rows.map(|problem| view! { <ProblemRow problem area /> })
            .collect_view()
    };
    view! {
        <section class="panel lesson-editor" aria-labelledby="lesson-editor-title">
            <header class="panel-head">
                <h2 id="lesson-editor-title">"The lesson's file"</h2>
                <button type="button" on:click=save>"Save as a file"</button>
                <button type="button" on:click=close>"Close"</button>
            </header>
            <textarea
                node_ref=area
                spellcheck="false"
                aria-labelledby="lesson-editor-title"
                prop:value=text.unwrap_or_default()
                on:input:target=move |event| learning.edit(&event.target().value())
            ></textarea>
            <ul class="lesson-problems" aria-label="What is wrong in the file">{problems}</ul>
        </section>
    }
}

/// A problem and its line; a press leads to the line.
#[component]
fn ProblemRow(
    problem: Problem,
    /// The file.
    area: NodeRef<html::Textarea>,
) -> impl IntoView {
    let Problem { line, what, mend } = problem;
    let go = move |_| {
        if let Some(area) = area.get_untracked() {
            browser::select_line(&area, line);
        }
    };
    view! {
        <li>
            <button type="button" class="link-button" on:click=go>{format!("Line {line}")}</button>
            ": " {what} ". " <span class="quiet">{mend} "."</span>
        </li>
    }
}
