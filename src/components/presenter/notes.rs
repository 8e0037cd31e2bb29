//! The window with the speaker's notes. It reads the lesson itself; the page says where it is in
//! it, and takes commands.

use super::plan::PlanTable;
use crate::app::session::{show_theme, stored_theme};
use crate::components::lesson::prose::{inlines, prose};
use crate::components::sentence::sentence;
use fuseline_browser::{self as browser, Channel};
use fuseline_learn::language::Language;
use fuseline_learn::lesson::LessonStep;
use fuseline_learn::lesson::library::listed;
use fuseline_learn::lesson::open::OpenLesson;
use fuseline_learn::presenter::command::{KEYS, Key, PresenterCommand};
use fuseline_learn::presenter::messages::{
    AudienceView, FromNotes, FromPage, NOTES, PresentedStep, channel_name,
};
use fuseline_learn::presenter::plan::{Length, Slide, Workshop, clock, standing};
use leptos::ev;
use leptos::prelude::*;
use std::time::Duration;

/// The commands that make sense away from the page.
fn keys() -> impl Iterator<Item = &'static Key> {
    let is_of_page = |command: PresenterCommand| {
        matches!(
            command,
            PresenterCommand::OpenNotes | PresenterCommand::TogglePointer
        )
    };
    KEYS.iter().filter(move |key| !is_of_page(key.command))
}

/// The notes to what a page presents. The address names the id of that page.
#[component]
pub fn SpeakerNotes() -> impl IntoView {
    let id = browser::query_value(NOTES).unwrap_or_default();
    show_theme(stored_theme());
    let shown = RwSignal::new(None::<AudienceView>);
    let has_ended = RwSignal::new(false);
    let channel = Channel::open(&channel_name(&id), move |message: FromPage| {
        has_ended.set(message == FromPage::Ended);
        if let FromPage::Shows(now) = message {
            shown.set(Some(*now));
        }
    });
    let channel = StoredValue::new_local(channel);
    let send = move |message: &FromNotes| {
        channel.with_value(|channel| channel.iter().for_each(|channel| channel.send(message)));
    };
    send(&FromNotes::Opened);
    browser::on_window(ev::keydown, move |event| {
        let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key());
        let command = PresenterCommand::of_key(&event.key()).filter(|_| is_plain);
        if let Some(command) = command.filter(|command| {
            keys().any(|key| key.command == *command)
                || matches!(command, PresenterCommand::Toggle(_))
        }) {
            event.prevent_default();
            send(&FromNotes::Does(command));
        }
    });
    let place = Memo::new(move |_| shown.with(|shown| shown.as_ref()?.place.clone()));
    let workshop = Memo::new(move |_| shown.with(|shown| shown.as_ref()?.workshop));
    let slide = move || workshop.get()?.present()?.slide().copied();
    let lesson_text = Memo::new(move |_| {
        place.with(|place| {
            place
                .as_ref()
                .map(|place| (place.id.clone(), place.text.clone()))
        })
    });
    let open = Memo::new_with_compare(
        move |_| {
            let (id, text) = lesson_text.get()?;
            let of_page = id.as_deref().and_then(listed);
            // A page of another version may have another text.
            let of_page = of_page.filter(|listed| listed.text == text);
            Some(of_page.map_or_else(|| OpenLesson::own(&text), OpenLesson::listed))
        },
        |_, _| true,
    );
    let state = move || match (has_ended.get(), shown.with(Option::is_some)) {
        (true, _) => "The presentation has ended.",
        (false, false) => "Waiting for the page…",
        (false, true) => "",
    };
    view! {
        <main class="speaker">
            <h1 class="sr-only">"Speaker's notes"</h1>
            <p class="speaker-state" role="status">{state}</p>
            <Times shown workshop restart=Callback::new(move |()| send(&FromNotes::RestartsClock)) />
            <div class="speaker-body">
                {move || {
                    let place = place.get();
                    let open = open.get();
                    match (place.zip(open), slide()) {
                        (Some((place, open)), _) if place.is_closing => {
                            end_view(&open, workshop.get()).into_any()
                        }
                        (Some((place, open)), _) => {
                            step_view(&open, &place, workshop.get()).into_any()
                        }
                        (None, Some(slide)) => slide_view(slide, workshop.get()).into_any(),
                        (None, None) => shown.get().map(program_view).into_any(),
                    }
                }}
            </div>
            <Commands shown send=Callback::new(move |command| send(&FromNotes::Does(command))) />
            <details class="speaker-plan">
                <summary>"Plan"</summary>
                {move || {
                    let open = move |id: &'static str| send(&FromNotes::GoTo(id.to_owned(), 0));
                    let is_presented = workshop.get().is_some();
                    let workshop = workshop.get().unwrap_or(Workshop::new(Length::default()));
                    view! { <PlanTable workshop is_presented open /> }
                }}
            </details>
        </main>
    }
}

/// The time since the beginning, and how that stands to the plan.
#[component]
fn Times(
    /// What the class sees.
    shown: RwSignal<Option<AudienceView>>,
    /// The workshop, if one is presented.
    workshop: Memo<Option<Workshop>>,
    /// Lets the clock begin again.
    restart: Callback<()>,
) -> impl IntoView {
    let now_ms = RwSignal::new(browser::clock_ms());
    let ticking = set_interval(
        move || now_ms.set(browser::clock_ms()),
        Duration::from_secs(1),
    );
    on_cleanup(move || {
        if let Ok(ticking) = ticking {
            ticking.clear();
        }
    });
    let elapsed_s = Memo::new(move |_| {
        let began_ms = shown.with(|shown| shown.as_ref().map(|shown| shown.began_ms))?;
        Some(now_ms.get().saturating_sub(began_ms) / 1000)
    });
    let elapsed = move || {
        let elapsed = clock(elapsed_s.get()?);
        Some(match workshop.get() {
            Some(workshop) => {
                let all = clock(u64::from(workshop.length.minutes()) * 60);
                format!("{elapsed} of {all} h")
            }
            None => format!("{elapsed} h"),
        })
    };
    let step = Memo::new(move |_| {
        let of = |shown: &AudienceView| shown.place.as_ref().map_or(0, |place| place.step);
        shown.with(|shown| shown.as_ref().map_or(0, of))
    });
    // The plan reads the lessons: once for each step, not each second.
    let minutes = Memo::new(move |_| workshop.get()?.minutes(step.get()));
    let standing =
        move || minutes.with(|minutes| Some(standing(minutes.as_ref()?, elapsed_s.get()?)));
    view! {
        <p class="speaker-times">
            <span class="speaker-clock">{elapsed}</span>
            <span>{standing}</span>
            <button type="button" on:click=move |_| restart.run(())>"Restart the clock"</button>
        </p>
    }
}

/// A step: its notes, the task with its answer, and what comes next.
fn step_view(
    open: &OpenLesson,
    place: &PresentedStep,
    workshop: Option<Workshop>,
) -> impl IntoView + use<> {
    let PresentedStep {
        step: at,
        is_answered,
        ..
    } = *place;
    let steps = &open.lesson.steps;
    let words = open.lesson.lang.language();
    let lang = open.lesson.lang.as_str();
    let step = steps.get(at).cloned().unwrap_or_default();
    let seen = open.analyzed(at);
    let answered = seen.as_ref().map(|seen| &*seen.answered);
    let LessonStep {
        title,
        before,
        task,
        notes,
        after,
        ..
    } = step;
    let has_notes = !notes.is_empty();
    let next = match steps.get(at + 1) {
        Some(next) => Some(next.title.clone()),
        None => title_after_lesson(open, workshop),
    };
    let answer = task.as_ref().zip(open.states.get(at));
    let answer = answer.and_then(|(task, states)| task.right_answer(states));
    let task = task.map(|task| {
        let others = open.states.get(at).and_then(|states| task.other_ways(states));
        view! {
            <section class="speaker-task" lang=lang.to_owned()>
                <p><strong>{inlines(&task.ask, seen.as_ref().map(|seen| &*seen.asked))}</strong></p>
                {answer.map(|answer| view! { <p><span lang="en">{sentence(&answer)}</span>{others.map(|others| sentence(&others))}</p> })}
                <p class="quiet" lang=words.tag()>{if is_answered { words.class_sees_answer() } else { words.next_shows_answer() }}</p>
            </section>
        }
    });
    view! {
        <p class="quiet" lang=lang.to_owned()>{format!("{}, {}", open.lesson.title, words.step_of(at + 1, steps.len()))}</p>
        <h2 lang=lang.to_owned()>{title}</h2>
        <div class="speaker-words" lang=lang.to_owned()>
            {if has_notes { prose(&notes, answered).into_any() } else { view! { <p class="quiet" lang=words.tag()>{words.no_notes()}</p> }.into_any() }}
        </div>
        <div class="speaker-read" class:quiet=has_notes lang=lang.to_owned()>{prose(&before, seen.as_ref().map(|seen| &*seen.asked))}</div>
        {task}
        <div class="quiet" lang=lang.to_owned()>{prose(&after, answered)}</div>
        <p class="speaker-next" lang=lang.to_owned()>
            {next.map_or_else(|| words.last_step().to_owned(), |next| words.comes_next(&next))}
        </p>
    }
}

/// What comes after a lesson: a workshop goes on otherwise than the list.
fn title_after_lesson(open: &OpenLesson, workshop: Option<Workshop>) -> Option<String> {
    match workshop {
        Some(workshop) => title_after_part(workshop),
        None => open.title_after(),
    }
}

fn title_after_part(workshop: Workshop) -> Option<String> {
    Some(workshop.moved(1)?.present()?.title())
}

/// The end of a lesson: what the class can now say.
fn end_view(open: &OpenLesson, workshop: Option<Workshop>) -> impl IntoView + use<> {
    let lesson = &open.lesson;
    let words = lesson.lang.language();
    let says = lesson.says.iter();
    let says = says.map(|say| view! { <li>{sentence(say)}</li> });
    let next = title_after_lesson(open, workshop);
    view! {
        <section lang=lesson.lang.as_str().to_owned()>
            <h2>{words.end_of(&lesson.title)}</h2>
            <div class="speaker-words"><p>{words.ask_the_class()}</p></div>
            <ul>{says.collect_view()}</ul>
            {next.map(|next| view! { <p class="speaker-next">{words.comes_next(&next)}</p> })}
        </section>
    }
}

/// A slide: what the class reads, and its notes.
fn slide_view(slide: Slide, workshop: Option<Workshop>) -> impl IntoView {
    let lines = slide.lines.iter().map(|&line| view! { <li>{line}</li> });
    let next = workshop.and_then(title_after_part);
    view! {
        <h2>{slide.title}</h2>
        <div class="speaker-words"><p>{slide.notes}</p></div>
        <ul class="quiet">{lines.collect_view()}</ul>
        <p class="quiet">{format!("{} minutes", slide.minutes)}</p>
        {next.map(|next| view! { <p class="speaker-next">{Language::English.comes_next(&next)}</p> })}
    }
}

/// Without a lesson: the program and its result.
fn program_view(shown: AudienceView) -> impl IntoView {
    view! {
        <h2>{shown.program}</h2>
        <p>{shown.result}</p>
        <p class="quiet">
            {if shown.is_fused { "The class sees the fused program. Back shows it unfused." } else { "The class sees the unfused program. Next shows it fused." }}
        </p>
        <p class="quiet">"Notes come with a lesson: open one on the page, or from the plan below."</p>
    }
}

/// Buttons for all commands.
#[component]
fn Commands(
    /// What the class sees.
    shown: RwSignal<Option<AudienceView>>,
    /// Sends a command to the page.
    send: Callback<PresenterCommand>,
) -> impl IntoView {
    let is_on = move |command: PresenterCommand| {
        shown.with(|shown| {
            let shown = shown.as_ref()?;
            match command {
                PresenterCommand::Toggle(view) => Some(shown.stage.shows(view)),
                PresenterCommand::ToggleLesson => Some(shown.stage.has_lesson()),
                PresenterCommand::ToggleBlank => Some(shown.is_blank),
                _ => None,
            }
        })
    };
    let button = move |command: PresenterCommand, label: &'static str, key: &'static str| {
        view! {
            <button
                type="button"
                aria-pressed=move || is_on(command).map(|is_on| is_on.to_string())
                on:click=move |_| send.run(command)
            >
                {label}
                <kbd aria-hidden="true">{key}</kbd>
            </button>
        }
    };
    view! {
        <div class="speaker-commands">
            {keys().map(|key| button(key.command, key.label, key.printed)).collect_view()}
        </div>
        <div class="speaker-commands" role="group" aria-label="Views">
            {PresenterCommand::views().map(|(view, digit)| button(PresenterCommand::Toggle(view), view.label(), digit)).collect_view()}
        </div>
    }
}
