//! The results of a class: how they come in, tables of who stands where, and the first guesses.

use super::RoomHead;
use super::tables::{lesson_table, puzzle_table};
use crate::app::classroom::Classroom;
use crate::app::learning::Learning;
use fuseline_browser as browser;
use fuseline_learn::results::class::Class;
use fuseline_view::present::names::counted;
use leptos::prelude::*;

#[component]
pub fn ClassPane(learning: Learning, classroom: Classroom) -> impl IntoView {
    let class = classroom.class;
    let has_students = Memo::new(move |_| class.with(|class| !class.students.is_empty()));
    let standing = move || {
        let count = class.with(|class| class.students.len());
        let checking = if classroom.is_checking.get() {
            ", checking their answers"
        } else {
            ""
        };
        format!("{}{checking}.", counted(count, "student"))
    };
    let taken = move || {
        let taken = classroom.taken.get();
        (!taken.is_empty()).then(|| format!(" {taken}."))
    };
    let problems = move || {
        let problems = classroom.problems.get().into_iter();
        problems
            .map(|problem| view! { <li>{problem}</li> })
            .collect_view()
    };
    let missing = move || {
        let missing = class.with(Class::missing_exercises);
        (missing > 0).then(|| {
            let what = counted(missing, "exercise");
            view! { <p class="quiet">{format!("{what} that this page does not have. If you wrote them, open their files here, too: then the answers to them are checked.")}</p> }
        })
    };
    // The results of the engine may be about an older class, so the names are read with them, once
    // for all tables.
    let tables = move || {
        let (lessons, puzzles) = (classroom.lessons.get(), classroom.puzzles.get());
        let named = class.with_untracked(|class| {
            let names = class.names().into_iter();
            names.zip(class.copies()).collect::<Vec<_>>()
        });
        let count = lessons.len();
        let lessons = (0..count).map(|at| lesson_table(classroom, &learning, &lessons, at, &named));
        let puzzles = (!puzzles.is_empty()).then(|| puzzle_table(&puzzles, &named));
        view! {
            {lessons.collect_view()}
            {puzzles}
        }
    };
    let drop = move |event: leptos::ev::DragEvent| {
        let files = browser::dropped_files(&event);
        if !files.is_empty() {
            event.prevent_default();
            event.stop_propagation();
            browser::spawn(classroom.take_files(files));
        }
    };
    view! {
        <div class="room class-room" on:drop=drop>
            <RoomHead learning title="Results of your class" />
            <p>
                "Your students choose "<q>"Hand in your results"</q>" and send you a code, a link or a file. This page checks each answer anew, and keeps the class in this browser alone."
            </p>
            <TakeIn classroom />
            <div>
                <p role="status" class="class-standing">{standing}{taken}</p>
                <div role="alert">
                    <ul class="class-problems">{problems}</ul>
                </div>
            </div>
            {missing}
            <div class="class-ways">
                <Show when=move || has_students.get()>
                    <button type="button" disabled=classroom.is_checking on:click=move |_| classroom.save_table()>"Save as CSV"</button>
                    <button type="button" on:click=move |_| classroom.save()>"Save the class"</button>
                    <button type="button" on:click=move |_| classroom.clear()>"Remove all students"</button>
                </Show>
                <Show when=move || classroom.can_bring_back()>
                    <button type="button" on:click=move |_| classroom.bring_back()>"Bring back"</button>
                </Show>
            </div>
            <Show when=move || has_students.get()>
                <p class="quiet">"✓ on green: right at once. ✓: right on a later try. →: the page showed the answer. –: skipped. …: one wrong answer so far. !: not counted. The small number counts the tries."</p>
            </Show>
            {tables}
        </div>
    }
}

/// Files, codes and links of students.
#[component]
fn TakeIn(classroom: Classroom) -> impl IntoView {
    let codes = RwSignal::new(String::new());
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let text = codes.get_untracked();
        codes.set(String::new());
        browser::spawn(async move { classroom.take_text(&text).await });
    };
    let choose = move |event: leptos::ev::Event| {
        browser::spawn(classroom.take_files(browser::chosen_files(&event)));
    };
    view! {
        <form class="class-in" on:submit=add>
            <label class="button open-button">
                <input type="file" class="sr-only" multiple accept=".json,.txt,.md,.fuse,application/json,text/*" on:change=choose />
                <span>"Open files…"</span>
            </label>
            <label class="class-codes">
                "Codes or links"
                <textarea rows="2" spellcheck="false" bind:value=codes></textarea>
            </label>
            <button type="submit" disabled=move || codes.with(|codes| codes.trim().is_empty())>"Add"</button>
        </form>
    }
}
