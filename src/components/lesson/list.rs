//! The lessons to choose from, and how far the visitor is in each.

use super::teachers::ForTeachers;
use crate::app::learning::{Learning, Room};
use crate::app::presenting::Presenting;
use crate::app::state::Page;
use crate::components::presenter::plan::PlanTable;
use crate::components::radio_button::RadioButton;
use fuseline_browser as browser;
use fuseline_learn::lesson::library::{LESSONS, ListedLesson};
use fuseline_learn::lesson::read;
use fuseline_learn::presenter::plan::{Length, Workshop as Plan};
use leptos::ev;
use leptos::prelude::*;
use strum::IntoEnumIterator;

/// All lessons of the page, and a way to open a visitor's own.
#[component]
pub fn LessonList() -> impl IntoView {
    let leave = Learning::of_context().map(|learning| {
        view! {
            <button type="button" class="link-button" on:click=move |_| learning.leave()>"Back to your program"</button>
        }
    });
    view! {
        <div class="lesson-list">
            <p class="quiet">
                "Each lesson takes some ten minutes. It sets the page up, asks, and lets the page answer. Progress stays in this browser. "
                {leave}
            </p>
            <Rooms />
            <ForTeachers />
            <Workshop />
            <ol>{LESSONS.iter().map(|listed| view! { <LessonRow listed /> }).collect_view()}</ol>
            <OwnLesson />
        </div>
    }
}

/// The ways to the results, of a student and of a class.
#[component]
fn Rooms() -> impl IntoView {
    let learning = Learning::of_context();
    let go = move |room: Room| {
        if let Some(learning) = learning {
            learning.room.set(room);
        }
    };
    view! {
        <div class="lesson-own">
            <button type="button" on:click=move |_| go(Room::HandIn)>"Hand in your results"</button>
            <button type="button" on:click=move |_| go(Room::Class)>"Results of your class"</button>
        </div>
    }
}

/// A lesson of the page.
#[component]
fn LessonRow(listed: &'static ListedLesson) -> impl IntoView {
    let learning = Learning::of_context();
    let (lesson, _) = read(listed.text);
    let (steps, minutes) = (lesson.steps.len(), lesson.minutes);
    let (title, about) = (lesson.title.clone(), lesson.about.clone());
    let done = move || {
        learning.map_or(0, |learning| {
            learning.progress.with(|p| p.done_count(listed.id))
        })
    };
    let state = move || match done() {
        0 => format!("{minutes} min, {steps} steps"),
        done if done >= steps => "done".to_owned(),
        done => format!("{done} of {steps} steps done"),
    };
    let open = move |_| {
        if let Some(learning) = learning {
            let first_open = untrack(|| learning.first_open_step(listed.id, &lesson));
            learning.open_listed(listed.id, first_open.unwrap_or(0));
        }
    };
    view! {
        <li class:is-done=move || { done() >= steps }>
            <button type="button" on:click=open>
                <span class="lesson-title">{title}</span>
                <span class="lesson-about">{about}</span>
                <small>{state}</small>
            </button>
        </li>
    }
}

/// Opens a lesson from a file, or begins one.
#[component]
fn OwnLesson() -> impl IntoView {
    let learning = Learning::of_context();
    let page = Page::of_context();
    let choose = move |event: ev::Event| {
        let (Some(file), Some(learning)) = (browser::chosen_file(&event), learning) else {
            return;
        };
        browser::spawn(async move {
            match browser::read_file(&file).await {
                Some(text) => learning.open_own(&text),
                None => page.tell_failure("The browser could not read this file."),
            }
        });
    };
    let begin = move |_| {
        if let Some(learning) = learning {
            learning.open_own(NEW_LESSON);
            learning.is_edited.set(true);
        }
    };
    view! {
        <h3>"Your own"</h3>
        <p class="quiet">"A lesson is a Markdown file: prose, states of the page, and tasks that the page answers."</p>
        <div class="lesson-own">
            <label class="button open-button">
                <input type="file" class="sr-only" accept=".md,.txt,text/markdown,text/plain" on:change=choose />
                <span>"Open a file…"</span>
            </label>
            <button type="button" on:click=begin>"Write one"</button>
        </div>
    }
}

/// The way from the lessons to a class.
#[component]
fn Workshop() -> impl IntoView {
    let presenting = Presenting::of_context();
    let learning = Learning::of_context();
    let is_open = RwSignal::new(false);
    let length = RwSignal::new(Length::default());
    let begin = move |_| {
        if let Some(presenting) = presenting {
            presenting.begin_workshop(length.get_untracked());
        }
    };
    let go_on = move || {
        let presenting = presenting?;
        let left = presenting.left.get()?;
        let title = left.workshop.present()?.title();
        Some(view! {
            <button type="button" on:click=move |_| presenting.go_on_with_workshop()>{format!("Go on at “{title}”")}</button>
        })
    };
    let open = move |id: &'static str| {
        if let Some(learning) = learning {
            learning.open_listed(id, 0);
        }
    };
    view! {
        // The table reads every lesson, so it is mounted only when a visitor opens it.
        <details class="lesson-plan" on:toggle:target=move |event| is_open.set(event.target().open())>
            <summary>"For a class: a workshop of 45, 90 or 180 minutes"</summary>
            <p class="quiet">
                "Each step fills the screen. Keys or a remote control go to the next step, and your notes open in a second window. The times have a discussion of each question in them. Give the class the link of a lesson (“Copy a link” below each step) or its QR code."
            </p>
            <fieldset class="workshop-lengths">
                <legend>"Time"</legend>
                {Length::iter()
                    .map(|of| {
                        view! {
                            <RadioButton
                                set="workshop-length"
                                is_chosen=move || length.get() == of
                                choose=move || length.set(of)
                            >
                                {format!("{} minutes", of.minutes())}
                            </RadioButton>
                        }
                    })
                    .collect_view()}
            </fieldset>
            <div class="lesson-own">
                <button type="button" class="is-primary" on:click=begin>"Present the workshop"</button>
                {go_on}
            </div>
            <Show when=move || is_open.get()>
                {move || view! { <PlanTable workshop=Plan::new(length.get()) open /> }}
            </Show>
        </details>
    }
}

/// What a new lesson begins as: each kind of block once.
const NEW_LESSON: &str = include_str!("../../../public/lessons/new.md");
