//! The page as a whole.

use crate::app::classroom::Classroom;
use crate::app::covers::{Covers, closes_on_back};
use crate::app::learning::Learning;
use crate::app::learning::is_asking;
use crate::app::presenting::Presenting;
use crate::app::puzzling::Puzzling;
use crate::app::session::{Session, show_theme};
use crate::app::sharing::Link;
use crate::app::stage::PageStage;
use crate::app::state::{Page, Selection};
use crate::app::student_results::StudentResults;
use crate::app::title;
use crate::components::bar::top_bar::TopBar;
use crate::components::charts::enlarged_chart::EnlargedChart;
use crate::components::explanation::ExplanationCard;
use crate::components::handout::Handout;
use crate::components::headline::Headline;
use crate::components::lesson::Learn;
use crate::components::lesson::editor::LessonEditor;
use crate::components::lesson::worksheet::WorksheetDialog;
use crate::components::open_file::open_dropped_files;
use crate::components::policies::Policies;
use crate::components::presenter::Presenter;
use crate::components::print_head::PrintHead;
use crate::components::results::Results;
use crate::components::sliders::Sliders;
use crate::components::strip::Strip;
use crate::components::workbench::Workbench;
use fuseline_browser::{has_focus_in_text_field, on_window};
use leptos::context::Provider;
use leptos::ev;
use leptos::prelude::*;

/// Everything on the page.
#[component]
pub fn App(
    /// The share link in the address, if there is one.
    link: Option<Link>,
) -> impl IntoView {
    Covers::provide();
    let session = Session::open(link);
    let page = session.page;
    provide_context(session);
    provide_context(page);
    EnlargedChart::provide();
    session.keep();
    let student_results = StudentResults::load();
    provide_context(student_results);
    let learning = Learning::new(session, student_results);
    provide_context(learning);
    let puzzling = Puzzling::new(session, student_results);
    provide_context(puzzling);
    closes_on_back(
        move || page.screen.is_learning.get(),
        move || {
            if page.screen.puzzle.with_untracked(Option::is_some) {
                puzzling.close();
            }
            learning.leave();
        },
    );
    let presenting = Presenting::new(learning);
    provide_context(presenting);
    provide_context(Classroom::new(page.origin, page.screen, learning));
    let stage = PageStage::new(page.screen, learning, presenting);
    provide_context(stage);
    open_dropped_files(page);
    Effect::new(move || show_theme(page.screen.theme.get()));
    title::follow(page);
    fuseline_browser::keep_place_when_turned();
    on_window(ev::keydown, move |event| {
        if !presenting.press(&event) {
            press(page, stage, &event);
        }
    });
    view! {
        <a class="skip-link" href="#main">"Skip to the result"</a>
        <TopBar />
        <main
            id="main"
            class="page"
            class:is-presenting=presenting.is_on
            class:has-stage=move || stage.is_set()
            class:has-lesson=move || stage.has_lesson()
            class:has-puzzle=move || stage.has_lesson() && page.screen.puzzle.with(Option::is_some)
            class:has-no-picture=move || stage.has_pictures(0)
            class:has-two-pictures=move || stage.has_pictures(2)
            class:is-asking=is_asking(page.screen)
            tabindex="-1"
            on:keydown:capture=move |event| presenting.press_first(&event)
        >
            <PrintHead />
            <Learn />
            <div class="intro">
                <Headline />
                <Policies />
                <Strip />
                <Sliders />
            </div>
            <Workbench />
            <Show when=move || learning.is_edited.get()>
                <LessonEditor learning />
            </Show>
            <Provider value=page.unhurried()>
                <Results />
            </Provider>
        </main>
        <Handout />
        <WorksheetDialog learning />
        <Presenter presenting />
        <ExplanationCard />
    }
}

/// The keys that work everywhere. A field that handles Escape or undo itself stops the event.
fn press(page: Page, stage: PageStage, event: &ev::KeyboardEvent) {
    if event.key() == "Escape" {
        // An explanation closes alone.
        let is_explaining = page.screen.explained.with_untracked(Option::is_some);
        if !is_explaining && !has_focus_in_text_field() {
            page.select(Selection::Nothing);
        }
        return;
    }
    if !(event.ctrl_key() || event.meta_key()) || event.alt_key() {
        return;
    }
    // The lists hide the pictures, so the visitor would not see the change.
    if untrack(|| stage.has_pictures(0)) {
        return;
    }
    match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
        ("z", false) => page.undo(),
        ("z", true) | ("y", false) => page.redo(),
        ("enter", false) => {
            if untrack(|| page.shows_fused()) {
                page.show_unfused();
            } else {
                page.show_fused();
            }
            true
        }
        _ => return,
    };
    event.prevent_default();
}
