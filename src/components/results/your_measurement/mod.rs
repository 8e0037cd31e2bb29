//! The visitor's own measurement in the *Measured* tab: each kernel that ran beside the predicted
//! one.

pub mod table;

use self::table::{Candidates, Table};
use crate::app::state::{ExplanationOf, OpenProfile, Page};
use crate::components::by_pointer::ByPointer;
use crate::components::open_file::open_file;
use crate::components::picker::Picker;
use crate::components::show_more::ShowMore;
use fuseline_browser as browser;
use fuseline_core::Analysis;
use fuseline_import::matching::Matching;
use fuseline_view::present::profile::{
    Note, ProfileFigure, RowOf, found_sentence, notes, profile_explanation, profile_rows, run_title,
};
use leptos::prelude::*;
use std::sync::Arc;

/// Rows that are listed at first, and by how many a button adds more.
const PAGE_ROWS: usize = 100;

/// The measurement, or how to make one.
#[component]
pub fn YourMeasurement() -> impl IntoView {
    let page = Page::of_context();
    let is_open = move || page.against.profile.with(Option::is_some);
    view! {
        <section class="your-measurement" aria-labelledby="your-measurement-title">
            <h3 id="your-measurement-title">"Your measurement"</h3>
            <Show when=is_open fallback=|| view! { <HowTo /> }>
                <Shown />
            </Show>
        </section>
        <h3 class="patterns-title">"Patterns measured on an H200 and an H100"</h3>
    }
}

/// Which files can be opened, and a button for them.
#[component]
fn HowTo() -> impl IntoView {
    view! {
        <p class="quiet">
            <ByPointer mouse="Drop a file on the page" touch="Open a file" />
            " to compare it with this program: a measurement that its PyTorch script saved (Export, PyTorch script), a table of "
            <code>"ncu --csv"</code>
            " or nsys stats, or a trace or a printed table of torch.profiler, gzipped or not. Nothing leaves this machine."
        </p>
        <FileButton />
    }
}

#[component]
fn FileButton() -> impl IntoView {
    let page = Page::of_context();
    let choose = move |event| {
        if let Some(file) = browser::chosen_file(&event) {
            open_file(page, file);
        }
    };
    view! {
        <label class="button measurement-file">
            <input type="file" class="sr-only" accept=".json,.csv,.log,.txt,.gz,text/csv,application/json" on:change=choose />
            "Open a measurement…"
        </label>
    }
}

/// What the parts of an open measurement read.
#[derive(Clone, Copy)]
pub struct OpenMeasurement {
    page: Page,
    analysis: Memo<Arc<Analysis>>,
    matching: Memo<Option<Arc<Matching>>>,
}

impl OpenMeasurement {
    /// What `read` says about both; `None` once the measurement is closed. Tracked.
    fn with<T>(self, read: impl FnOnce(&Analysis, &Matching) -> T) -> Option<T> {
        self.matching.with(|matching| {
            let matching = matching.as_ref()?;
            // The matching is of another analysis until both are computed again.
            self.analysis.with(|analysis| {
                let is_of = matching.of_kernel.len() == analysis.fused.kernels.len();
                is_of.then(|| read(analysis, matching))
            })
        })
    }

    fn notes(self) -> Vec<Note> {
        self.page.against.profile.with(|opened| {
            let Some(opened) = opened else {
                return Vec::new();
            };
            let noted = self.with(|analysis, matching| {
                notes(analysis, &opened.profile, &opened.digest, matching)
            });
            noted.unwrap_or_default()
        })
    }

    /// The explanation of a measured number.
    fn explain(
        self,
        of: impl Fn() -> RowOf + Send + Sync + 'static,
        figure: ProfileFigure,
    ) -> ExplanationOf {
        ExplanationOf::own(move || {
            let source = self.notes().into_iter().next().map(|note| note.text);
            let explanation = self.with(|analysis, matching| {
                profile_explanation(
                    analysis,
                    matching,
                    of(),
                    figure,
                    &source.unwrap_or_default(),
                )
            });
            explanation.flatten()
        })
    }
}

/// The open measurement.
#[component]
fn Shown() -> impl IntoView {
    let page = Page::of_context();
    let open = OpenMeasurement {
        page,
        analysis: page.analysis,
        matching: page.against.matching,
    };
    let max_rows = RwSignal::new(PAGE_ROWS);
    let all = Memo::new(move |_| open.with(profile_rows).unwrap_or_default());
    let rows = Memo::new(move |_| {
        all.with(|all| all.iter().take(max_rows.get()).cloned().collect::<Vec<_>>())
    });
    let found = move || open.with(found_sentence);
    view! {
        <div class="measured-choices">
            <RunPicker />
            <FileButton />
            <button type="button" on:click=move |_| page.close_profile()>"Close"</button>
        </div>
        <Notes open />
        <p class="measured-found">{found}</p>
        <Table open rows />
        <ShowMore max_rows step=PAGE_ROWS listed=move || rows.with(Vec::len) total=move || all.with(Vec::len) />
        <Candidates open />
        <p class="quiet">
            "The page keeps the measurement until you close it or leave the page. Links do not contain it."
        </p>
    }
}

/// Chooses the run.
#[component]
fn RunPicker() -> impl IntoView {
    let page = Page::of_context();
    let titles = Memo::new(move |_| {
        page.against.profile.with(|opened| {
            let runs = opened
                .as_ref()
                .map_or(&[][..], |opened| &opened.profile.runs);
            runs.iter().map(run_title).collect::<Vec<_>>()
        })
    });
    let value = Signal::derive(move || {
        let run = page
            .against
            .profile
            .with(|opened| opened.as_ref().map(|opened| opened.run));
        run.unwrap_or_default().to_string()
    });
    let choose = move |run: String| {
        if let Ok(run) = run.parse() {
            page.show_run(run);
        }
    };
    let options = move || {
        let titles = titles.get().into_iter().enumerate();
        let option = |(run, title): (usize, String)| view! { <option value=run.to_string() selected=value.get_untracked() == run.to_string()>{title}</option> };
        titles.map(option).collect_view()
    };
    view! { <Picker label="Run" value choose>{options}</Picker> }
}

/// The source of the measurement, its differences from the program, and offers to mend them.
#[component]
fn Notes(open: OpenMeasurement) -> impl IntoView {
    let page = open.page;
    let notes = Memo::new(move |_| open.notes());
    let names = move || {
        page.against.profile.with(|opened| {
            opened
                .as_ref()
                .map(|opened: &Arc<OpenProfile>| opened.names.join(", "))
        })
    };
    let note = move |note: Note| {
        let button = note.offer.map(|offer| {
            let words = offer.words();
            view! {
                " "
                <button type="button" on:click=move |_| page.follow_offer(&offer)>{words}</button>
            }
        });
        view! { <p class:is-warning=note.is_warning>{note.text} {button}</p> }
    };
    view! {
        <div class="measured-notes" role="status" aria-live="polite">
            <p class="quiet">{names}</p>
            {move || notes.get().into_iter().map(note).collect_view()}
        </div>
    }
}
