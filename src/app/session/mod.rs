//! What outlives a visit: the documents in the browser's storage.
//!
//! A document that was only opened (an example, a link) is stored after its first picture, so that
//! one which never finishes is not what the next visit opens. The entries of the tab's history
//! carry the ids of their documents: a reload opens the same one, and *Back* returns to the one
//! before a link.

mod opening;

use crate::app::covers::Covers;
use crate::app::documents::{Document, OpenDocument, Stored, Storing, newest, outdated, own_texts};
use crate::app::history::History;
use crate::app::measured_devices::{read_devices, write_devices};
use crate::app::sharing::{Link, LinkedLesson, LinkedPuzzle, choices, choose};
use crate::app::starts::{self, Start, is_unfinished};
use crate::app::state::{Notice, NoticeAction, OpsView, Page, SetIfChanged, Theme};
use crate::app::storage_keys::{DEVICES, IS_OPS_OPEN, OPS_VIEW, THEME};
use crate::app::stored;
use fuseline_browser::{self as browser, Debounce};
use fuseline_core::examples::{START, example};
use fuseline_view::page::links::{SharedState, write_state};
use leptos::ev;
use leptos::prelude::*;
use std::time::Duration;

/// Changes are stored after a pause of this length, and without a pause after [`LONGEST_WAIT`].
const PAUSE: Duration = Duration::from_millis(300);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The theme that the visitor chose, here or in another tab.
pub fn stored_theme() -> Theme {
    let stored = browser::load(THEME).and_then(|name| name.parse().ok());
    stored.unwrap_or_default()
}

/// Shows the page in a theme.
pub fn show_theme(theme: Theme) {
    browser::set_root_attribute("data-theme", (theme != Theme::Auto).then(|| theme.into()));
}

/// The document of this tab, and its way to storage.
#[derive(Clone, Copy)]
pub struct Session {
    /// The page that shows it.
    pub page: Page,
    /// The lesson of the link that was followed last, until it is opened.
    pub linked_lesson: RwSignal<Option<LinkedLesson>>,
    /// The puzzle of the link that was followed last, until it is opened.
    pub linked_puzzle: RwSignal<Option<LinkedPuzzle>>,
    open: StoredValue<OpenDocument>,
    /// The steps of undo of the visitor's own program, while a lesson or a puzzle is open.
    aside: StoredValue<Option<History>>,
    /// Set until the picture of what was opened last is drawn.
    start: StoredValue<Option<Start>>,
    /// What was chosen beside the text when something changed last; `None` once that is stored.
    unstored: StoredValue<Option<DocumentChoices>>,
    later: Debounce,
}

/// What a document holds beside its text.
#[derive(Clone)]
struct DocumentChoices {
    example: Option<&'static str>,
    choices: String,
}

impl DocumentChoices {
    fn of(page: Page) -> Self {
        Self {
            example: page.origin.example.get_untracked(),
            choices: write_state(&SharedState {
                note: page.kept_note(),
                moves: page.choices().moves,
                ..choices(page)
            })
            .unwrap_or_default(),
        }
    }
}

impl Session {
    /// The session in the context, which the root provides.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// Opens the document of this entry of the tab's history, else the one that was changed last,
    /// else the example of a first visit; then the link. Instead of a document whose last start did
    /// not finish it opens another own text, and says so.
    pub fn open(link: Option<Link>) -> Self {
        starts::forget_old();
        let documents = stored::documents();
        let here = browser::entry_name();
        let here = documents.iter().find(|(id, _)| Some(id) == here.as_ref());
        let wanted = here.or_else(|| newest(&documents));
        let suspect = wanted.filter(|(id, _)| link.is_none() && is_unfinished(id));
        let shown = if suspect.is_some() {
            let mut own = own_texts(&documents).into_iter();
            own.find(|(id, _)| !is_unfinished(id))
        } else {
            wanted
        };
        let start = example(START);
        let first = start.map_or("", |example| example.text);
        let page = Page::new(
            shown
                .map_or(first, |(_, document)| &document.text)
                .to_owned(),
        );
        page.text
            .with_untracked(|text| browser::remember_text(text));
        let open = if let Some((id, document)) = shown {
            page.origin.example.set(document.example());
            choose(page, document.state());
            page.resume_sent();
            OpenDocument::stored(id, document)
        } else {
            page.origin.example.set(Some(START));
            page.set_choices(page.choices().of_first_visit());
            OpenDocument::new(browser::new_id(), first, false)
        };
        if let Some(devices) = browser::load(DEVICES) {
            page.chosen.measured_devices.set(read_devices(&devices));
        }
        page.screen.theme.set(stored_theme());
        if let Some(view) = browser::load(OPS_VIEW).and_then(|name| name.parse().ok()) {
            page.screen.ops_view.set(view);
        }
        let is_ops_open = browser::load(IS_OPS_OPEN).and_then(|is_open| is_open.parse().ok());
        page.screen.is_ops_open.set(is_ops_open.unwrap_or_default());
        let session = Self {
            page,
            linked_lesson: RwSignal::new(None),
            linked_puzzle: RwSignal::new(None),
            open: StoredValue::new(open),
            aside: StoredValue::new(None),
            start: StoredValue::new(None),
            unstored: StoredValue::new(Some(DocumentChoices::of(page))),
            later: Debounce::after(PAUSE).at_most(LONGEST_WAIT),
        };
        if let Some((id, _)) = suspect {
            page.screen.notice.set(Some(Notice {
                text: "Your last text did not finish opening, so the page shows another."
                    .to_owned(),
                is_failure: true,
                action: Some(NoticeAction::OpenDocument {
                    id: id.clone(),
                    label: "Open it anyway",
                }),
            }));
        }
        match link {
            Some(link) => {
                session.open_link(link);
                // The program of the link is where this page begins.
                page.forget_history();
            }
            None => session.await_picture(&session.id()),
        }
        session.name_entry();
        session
    }

    /// Stores changes when they pause and when the page is left; follows links and the tab's
    /// history.
    pub fn keep(self) {
        let page = self.page;
        Effect::watch(
            move || page.text.track(),
            move |(), _, _| self.follow_text(),
            false,
        );
        Effect::watch(
            move || {
                page.chosen.policy.track();
                page.chosen.fusion.track();
                page.chosen.conventions.track();
                page.chosen.device.track();
                page.chosen.is_fused.track();
                page.screen.tab.track();
                page.origin.example.track();
                page.screen.puzzle.track();
                page.origin.sent.track();
            },
            move |(), _, _| self.follow_choices(),
            false,
        );
        // The link opens another program than the page shows, or by other options.
        let is_changed = Memo::new(move |_| page.differs_from_sent());
        Effect::watch(
            move || is_changed.get(),
            move |_, _, _| self.name_entry(),
            false,
        );
        Effect::watch(
            move || (page.checked.is_computing.get(), page.worker.is_running()),
            move |_, _, _| browser::after_picture(move || self.end_drawn_start()),
            false,
        );
        // A GPU that came with a link or a document stays in the picker when another is chosen.
        Effect::watch(
            move || page.chosen.device.with(|device| device.probe.clone()),
            move |probe, _, _| {
                if let Some(probe) = probe {
                    page.keep_device(probe.clone());
                }
            },
            true,
        );
        stored::follow(DEVICES, page.chosen.measured_devices, write_devices);
        stored::follow(THEME, page.screen.theme, Theme::to_string);
        stored::follow(IS_OPS_OPEN, page.screen.is_ops_open, bool::to_string);
        stored::follow(OPS_VIEW, page.screen.ops_view, OpsView::to_string);
        browser::on_window(ev::pagehide, move |_| {
            self.store();
            // A page that answers has not been stopped by its program.
            self.start
                .with_value(|start| start.iter().for_each(Start::end));
        });
        let covers = Covers::of_context();
        browser::on_window(ev::popstate, move |_| {
            // Who follows a link makes an entry without a name. The link is read before what it
            // closes changes the address.
            let Some(id) = browser::entry_name() else {
                return;
            };
            if covers.follow_entry() {
                // The document may have changed in what covered the page.
                self.name_entry();
            } else if self.id() != id {
                self.go_to_document(&id);
            }
        });
        browser::on_window(ev::hashchange, move |_| {
            browser::spawn(async move {
                let link = Link::in_address().await;
                match link {
                    Some(link) => {
                        covers.follow_entry();
                        self.open_link(link);
                    }
                    None => covers.stay_over_entry(),
                }
                // Also the entry that the skip link made.
                self.name_entry();
            });
        });
    }

    /// The visitor's own texts except the open one, the latest first.
    pub fn other_texts(self) -> Vec<Stored> {
        self.store();
        let open = self.id();
        let documents = stored::documents();
        let texts = own_texts(&documents).into_iter();
        texts.filter(|(id, _)| *id != open).cloned().collect()
    }

    fn id(self) -> String {
        self.open.with_value(|open| open.id.clone())
    }

    /// Names this entry of the tab's history by its document. Its address keeps a link that opens
    /// what the page shows.
    fn name_entry(self) {
        let page = self.page;
        let is_link = page.origin.sent.with_untracked(|sent| sent.link.is_some());
        let keeps_link = is_link && !untrack(|| page.differs_from_sent());
        (self.open).with_value(|open| browser::name_entry(&open.id, keeps_link));
    }

    /// Marks the start of what is about to be shown until its picture is drawn, and then stores it.
    fn await_picture(self, name: &str) {
        self.end_start();
        self.start.set_value(Some(Start::begin(name)));
        browser::after_picture(move || {
            self.start
                .try_update_value(|start| start.iter_mut().for_each(Start::answer));
            self.end_drawn_start();
        });
    }

    /// Ends the start unless the worker still computes its picture.
    fn end_drawn_start(self) {
        let is_computing = self.page.checked.is_computing.try_get_untracked() == Some(true);
        let is_running = untrack(|| self.page.worker.is_running());
        if !(is_computing && is_running) && self.end_start() {
            self.store_later();
        }
    }

    /// Whether a start was waiting for its picture.
    fn end_start(self) -> bool {
        // After an unmount there is no value.
        let start = self.start.try_update_value(Option::take).flatten();
        start.inspect(Start::end).is_some()
    }

    /// The text has changed: in this document, or to another program.
    fn follow_text(self) {
        self.page.text.with_untracked(|text| {
            if self.open.with_value(|open| open.is_replaced_by(text)) {
                self.store_now();
                let documents = stored::documents();
                let same = documents.iter().find(|(_, stored)| stored.text == *text);
                self.open.set_value(match same {
                    Some((id, stored)) => OpenDocument::stored(id, stored).opened_again(),
                    None => OpenDocument::new(browser::new_id(), text, false),
                });
                self.name_entry();
            } else {
                self.open.update_value(|open| open.follow(text));
            }
        });
        self.store_later();
    }

    /// The choices have changed: of this document, or with the text of another one, which
    /// [`Session::follow_text`] opens.
    fn follow_choices(self) {
        let is_of_another = (self.page.text)
            .with_untracked(|text| self.open.with_value(|open| open.is_replaced_by(text)));
        if !is_of_another {
            self.store_later();
        }
    }

    fn store_later(self) {
        self.unstored
            .set_value(Some(DocumentChoices::of(self.page)));
        self.later.call(move || self.store());
    }

    /// Stores the document if something has changed. One that was only opened waits for its first
    /// picture.
    fn store(self) {
        let is_drawn = self.start.with_value(Option::is_none);
        if is_drawn || self.open.with_value(OpenDocument::is_own) {
            self.store_now();
        }
    }

    /// Stores the document if something has changed, drawn or not. For a document that is about to
    /// be replaced: its program has not stopped the page, and an entry of the tab's history leads
    /// back to it.
    fn store_now(self) {
        let is_own = self.open.with_value(OpenDocument::is_own);
        let Some(beside) = self.unstored.try_update_value(Option::take).flatten() else {
            return;
        };
        let is_stored = self.open.try_update_value(|open| {
            let in_storage = stored::document(&open.id).map(|d| d.changed_ms);
            match open.storing(in_storage) {
                Storing::Leave => return true,
                Storing::Fork => {
                    open.id = browser::new_id();
                    browser::name_entry(&open.id, false);
                }
                Storing::Write => {}
            }
            let document = Document {
                changed_ms: open.time_ms(browser::clock_ms()),
                example: beside.example.map(str::to_owned),
                is_own,
                is_exercise: open.is_exercise(),
                lesson: open.lesson.clone(),
                choices: beside.choices,
                text: open.text().to_owned(),
            };
            let is_stored = stored::store(&open.id, &document);
            if is_stored {
                open.was_stored(document.changed_ms);
                if in_storage.is_none() {
                    for id in outdated(&stored::documents()) {
                        stored::forget(&id);
                    }
                }
            }
            is_stored
        });
        let is_stored = is_stored.unwrap_or(true);
        self.page
            .screen
            .is_unsaved
            .set_if_changed(!is_stored && is_own);
    }
}
