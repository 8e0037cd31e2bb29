//! The puzzle that a visitor solves: its par, how far their kernels are from it, hints and the way to the optimum.

use crate::app::history::{Choices, Origin};
use crate::app::learning::answering::present_seen;
use crate::app::session::Session;
use crate::app::sharing::choose;
use crate::app::state::{Page, Selection, SetIfChanged};
use crate::app::stored;
use fuseline_browser as browser;
use fuseline_core::Policy;
use fuseline_learn::puzzle::library::{Listed, listed};
use fuseline_learn::puzzle::progress::Progress;
use fuseline_learn::puzzle::standing::{Graded, Standing};
use fuseline_learn::puzzle::{Posed, Step, read};
use fuseline_view::page::links::SharedState;
use leptos::prelude::*;
use std::sync::Arc;

const PROGRESS: &str = "fuseline.puzzles";

/// The way to the optimum, which the visitor goes step by step.
#[derive(Clone)]
pub struct Walk {
    /// The text in front of it.
    pub before: Arc<str>,
    /// Its steps.
    pub steps: Arc<Vec<Step>>,
    /// How many of them the page shows.
    pub at: usize,
}

impl Walk {
    /// The text that the page shows.
    fn text(&self) -> &str {
        let last = self.at.checked_sub(1).and_then(|at| self.steps.get(at));
        last.map_or(&*self.before, |step| step.text.as_str())
    }
}

/// The state of the puzzles. Made once at the root and given to all components as context.
#[derive(Clone, Copy)]
pub struct Puzzling {
    page: Page,
    session: Session,
    /// The open puzzle with its par; `None` when none is open.
    pub posed: Memo<Option<Arc<Posed>>>,
    /// How far the kernels of the page are from par.
    pub standing: Memo<Option<Standing>>,
    /// The hints to the present kernels, in their order.
    pub hints: RwSignal<Vec<String>>,
    /// The way to the optimum, once it was asked for.
    pub walk: RwSignal<Option<Walk>>,
    /// How far the visitor is.
    pub progress: RwSignal<Progress>,
    /// The text that the puzzle was opened with, which may be somebody else's solution.
    given: StoredValue<String>,
}

impl Puzzling {
    /// The puzzles, with the one of the document that is open.
    pub fn new(session: Session) -> Self {
        let page = session.page;
        let posed = Memo::new(move |_| {
            let listed = listed(page.puzzle.get()?)?;
            Posed::of(read(listed.text).0).map(Arc::new)
        });
        let standing = Memo::new(move |_| {
            let posed = posed.get()?;
            let seen = present_seen(page)?;
            Some(posed.standing(&seen.analysis, seen.has_error))
        });
        let stored = browser::load(PROGRESS).map(|stored| Progress::read(&stored));
        let puzzling = Self {
            page,
            session,
            posed,
            standing,
            hints: RwSignal::new(Vec::new()),
            walk: RwSignal::new(None),
            progress: RwSignal::new(stored.unwrap_or_default()),
            given: StoredValue::new(page.text.get_untracked()),
        };
        puzzling.keep();
        puzzling
    }

    /// The puzzles in the context; `None` for a component that is shown alone.
    pub fn of_context() -> Option<Self> {
        use_context()
    }

    /// Notes what the visitor reaches, and forgets hints that are about other kernels.
    fn keep(self) {
        let page = self.page;
        Effect::new(move |before: Option<Option<&str>>| {
            let puzzle = page.puzzle.get();
            if puzzle.is_some() && before != Some(puzzle) {
                // A link and the tab's history open puzzles, too.
                page.is_learning.set_if_changed(true);
                self.given.set_value(page.text.get_untracked());
            }
            puzzle
        });
        Effect::watch(
            move || page.text.get(),
            move |text, _, _| {
                self.hints.set_if_changed(Vec::new());
                let is_left = (self.walk)
                    .with_untracked(|walk| walk.as_ref().is_some_and(|walk| walk.text() != text));
                if is_left {
                    self.walk.set(None);
                }
            },
            false,
        );
        Effect::watch(
            move || self.standing.get(),
            move |standing, _, _| {
                if let Some(Standing::Graded(graded)) = standing {
                    self.note(graded);
                }
            },
            false,
        );
        stored::follow(PROGRESS, self.progress, Progress::write);
    }

    /// Only what the visitor did counts, and not what they were given or shown.
    fn note(self, graded: &Graded) {
        let is_given =
            (self.given).with_value(|given| self.page.text.with_untracked(|text| text == given));
        let Some(id) = self.page.puzzle.get_untracked() else {
            return;
        };
        if !is_given && self.walk.with_untracked(Option::is_none) {
            let above_pct = graded.above_pct;
            self.progress
                .update(|progress| progress.note(id, above_pct));
        }
    }

    /// Opens a puzzle at its start, as one step of undo.
    pub fn open(self, listed: &'static Listed) {
        let state = SharedState {
            puzzle: Some(listed.id.to_owned()),
            ..read(listed.text).0.page.shared
        };
        self.walk.set(None);
        self.hints.set_if_changed(Vec::new());
        self.given.set_value(state.text.clone());
        self.session.open_exercise(&state);
        self.page.step.set_if_changed(None);
        self.page.select(Selection::Nothing);
    }

    /// Opens the present puzzle at its start.
    pub fn start_again(self) {
        if let Some(listed) = self.page.puzzle.get_untracked().and_then(listed) {
            self.open(listed);
        }
    }

    /// Sets policy, options and device as the puzzle has them, and keeps the kernels.
    pub fn restore_choices(self) {
        let id = self.page.puzzle.get_untracked();
        if let Some(posed) = self.posed.get_untracked() {
            let shared = posed.puzzle.page.shared.clone();
            let puzzle = id.map(str::to_owned);
            choose(self.page, SharedState { puzzle, ..shared });
        }
    }

    /// Closes the puzzle. The page stays as it is.
    pub fn close(self) {
        self.walk.set(None);
        self.hints.set_if_changed(Vec::new());
        self.page.puzzle.set(None);
    }

    /// The steps from the present kernels to par.
    fn way(self) -> Option<Vec<Step>> {
        let posed = self.posed.get_untracked()?;
        posed.way(&untrack(|| present_seen(self.page))?)
    }

    /// Gives one more hint, and selects the edge that it is about.
    pub fn hint(self) {
        let Some(way) = self.way() else {
            return;
        };
        let given = self.hints.with_untracked(Vec::len);
        let Some(step) = way.get(given) else {
            return;
        };
        self.hints.update(|hints| hints.push(step.hint.clone()));
        let [producer, consumer] = step.edge;
        let is_edge = (self.page.analysis).with_untracked(|analysis| {
            let readers = analysis.graph.successors.get(producer);
            readers.is_some_and(|readers| readers.contains(&consumer))
        });
        self.page.select(if is_edge {
            Selection::Edge { producer, consumer }
        } else {
            Selection::Op(consumer)
        });
    }

    /// Shows the way to the optimum, from the present kernels if they are legal, else from the start.
    pub fn show_optimum(self) {
        if self.way().is_none() {
            self.start_again();
        }
        if let Some(steps) = self.way() {
            let before = self.page.text.get_untracked().into();
            let steps = Arc::new(steps);
            let at = 0;
            self.walk.set(Some(Walk { before, steps, at }));
        }
    }

    /// Shows the kernels after this many steps of the way.
    pub fn walk_to(self, at: usize) {
        let text = self.walk.try_update(|walk| {
            let walk = walk.as_mut()?;
            walk.at = at.min(walk.steps.len());
            Some(walk.text().to_owned())
        });
        if let Some(text) = text.flatten() {
            self.put(text);
        }
    }

    /// Leaves the way, and brings the kernels back that were there in front of it.
    pub fn end_walk(self) {
        if let Some(walk) = self.walk.get_untracked() {
            self.put(walk.before.to_string());
            self.walk.set(None);
        }
    }

    fn put(self, text: String) {
        let example = self.page.example.get_untracked();
        let manual = Choices {
            policy: Policy::Manual,
            ..self.page.choices_with(&text)
        };
        (self.page).replace(text, Origin::Single, example, manual);
    }
}
