//! The puzzle that a visitor solves: its par, how far their kernels are from it, hints and the way
//! to the optimum.

use crate::app::history::{Choices, Origin, Step as PageStep};
use crate::app::seen::present_seen;
use crate::app::session::Session;
use crate::app::sharing::{LinkedPuzzle, shown};
use crate::app::state::{Page, Selection, SetIfChanged};
use crate::app::storage_keys::PUZZLES;
use crate::app::stored;
use crate::app::student_results::StudentResults;
use fuseline_browser as browser;
use fuseline_core::Policy;
use fuseline_learn::language::{Language, Tag};
use fuseline_learn::puzzle::progress::PuzzleProgress;
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_learn::puzzle::standing::{Graded, Maker, Standing};
use fuseline_learn::puzzle::{MakeError, Posed, PuzzleStep, Region, make, read};
use fuseline_view::page::links::{SharedState, read_state, write_state};
use leptos::prelude::*;
use std::sync::Arc;

/// Most hints for the same kernels: where to look, then the move.
pub const MAX_HINTS: usize = 2;

/// The way to the optimum, which the visitor goes step by step.
#[derive(Clone)]
pub struct Walk {
    /// The page before the walk.
    before: PageStep,
    pub steps: Arc<Vec<PuzzleStep>>,
    /// How many of them the page shows.
    pub at: usize,
}

impl Walk {
    /// The text that the page shows.
    fn text(&self) -> &str {
        let last = self.at.checked_sub(1).and_then(|at| self.steps.get(at));
        last.map_or(&*self.before.text, |step| step.text.as_str())
    }
}

/// The state of the puzzles. Made once at the root and given to all components as context.
#[derive(Clone, Copy)]
pub struct Puzzling {
    session: Session,
    student_results: StudentResults,
    /// The language of its author.
    pub lang: Memo<Tag>,
    /// The open puzzle with its par, or why it has none; `None` when no puzzle is open.
    pub posed: Memo<Option<Result<Arc<Posed>, String>>>,
    /// How far the kernels of the page are from par.
    pub standing: Memo<Option<Standing>>,
    /// Whether the last move has reached par.
    pub has_just_won: RwSignal<bool>,
    /// The hints to the present kernels, in their order.
    pub hints: RwSignal<Vec<String>>,
    /// The way to the optimum, once it was asked for.
    pub walk: RwSignal<Option<Walk>>,
    /// How far the visitor is.
    pub progress: RwSignal<PuzzleProgress>,
}

impl Puzzling {
    /// The puzzles, with the one of the document that is open.
    pub fn new(session: Session, student_results: StudentResults) -> Self {
        let page = session.page;
        let lang = Memo::new(move |_| {
            let puzzle = page.screen.puzzle.get().map(|source| read(source.text()).0);
            puzzle.map(|puzzle| puzzle.lang).unwrap_or_default()
        });
        let posed = Memo::new(move |_| {
            let source = page.screen.puzzle.get()?;
            let (puzzle, problems) = read(source.text());
            let problem = problems.first().map(|problem| problem.what.clone());
            Some(match problem {
                Some(what) => Err(puzzle.language().unreadable_puzzle(&what)),
                None => Posed::of(puzzle).map(Arc::new).map_err(str::to_owned),
            })
        });
        let standing = Memo::new(move |_| {
            let posed = posed.get()?.ok()?;
            let seen = present_seen(page)?;
            Some(posed.standing(&seen.analysis, seen.has_error))
        });
        let stored = browser::load(PUZZLES).map(|stored| PuzzleProgress::read(&stored));
        let puzzling = Self {
            session,
            student_results,
            lang,
            posed,
            standing,
            has_just_won: RwSignal::new(false),
            hints: RwSignal::new(Vec::new()),
            walk: RwSignal::new(None),
            progress: RwSignal::new(stored.unwrap_or_default()),
        };
        puzzling.keep();
        puzzling
    }

    /// The puzzles in the context; `None` for a component that is shown alone.
    pub fn of_context() -> Option<Self> {
        use_context()
    }

    fn page(self) -> Page {
        self.session.page
    }

    /// Notes what the visitor reaches, and forgets hints that are about other kernels.
    fn keep(self) {
        let page = self.page();
        Effect::new(move |before: Option<Option<PuzzleSource>>| {
            let puzzle = page.screen.puzzle.get();
            if puzzle.is_some() && before.as_ref() != Some(&puzzle) {
                // A reload and undo open puzzles, too.
                page.screen.is_learning.set_if_changed(true);
            }
            puzzle
        });
        Effect::new(move || {
            if let Some(linked) = self.session.linked_puzzle.get() {
                self.session.linked_puzzle.set(None);
                untrack(|| self.open_linked(linked));
            }
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
            move || (self.graded(), page.moves(), page.screen.puzzle.get()),
            move |(graded, moves, puzzle), before, _| {
                let id = puzzle.as_ref().map(PuzzleSource::progress_id);
                if let (Some(id), &Some(moves)) = (&id, moves) {
                    let written = || untrack(|| write_state(&own_kernels(page, moves))).ok();
                    let kernels = (moves > 0).then(written).flatten();
                    (self.progress).update(|progress| progress.keep_kernels(id, kernels));
                }
                // Only what the visitor did counts, and not what they were given or shown.
                let own = moves.filter(|&moves| moves > 0);
                let (Some(graded), Some(moves), Some(id)) = (graded, own, id) else {
                    self.has_just_won.set_if_changed(false);
                    return;
                };
                let is_best =
                    (self.progress).with_untracked(|progress| progress.is_best(&id, graded, moves));
                // What was solved before there were results is handed in once it is solved again.
                let is_unrecorded = (self.student_results.results)
                    .with_untracked(|results| !results.puzzles.contains_key(&id));
                if (is_best || is_unrecorded)
                    && let Some(Ok(posed)) = self.posed.get_untracked()
                {
                    let shown = untrack(|| shown(page));
                    self.student_results.solve(&id, &posed, &shown, moves);
                }
                (self.progress).update(|progress| progress.note(&id, graded, moves));
                let was_open = before.is_some_and(|(before, _, of)| {
                    of == puzzle && before.is_some_and(|before| !before.is_solved())
                });
                if was_open || !graded.is_solved() {
                    self.has_just_won.set_if_changed(graded.is_solved());
                }
            },
            false,
        );
        stored::follow(PUZZLES, self.progress, PuzzleProgress::write);
    }

    /// The fixed strings around the open puzzle. Tracked.
    pub fn language(self) -> Language {
        self.lang.with(Tag::language)
    }

    /// Whether hints are shown. Tracked.
    pub fn has_hints(self) -> bool {
        self.hints.with(|hints| !hints.is_empty())
    }

    /// How far the kernels of the page are, if they are graded. Tracked.
    pub fn graded(self) -> Option<Graded> {
        match self.standing.get() {
            Some(Standing::Graded(graded)) => Some(graded),
            _ => None,
        }
    }

    /// Whether the kernels of the page are at par. Tracked.
    pub fn is_at_par(self) -> bool {
        self.graded().is_some_and(|graded| graded.is_solved())
    }

    /// Who made the kernels of the page. Tracked.
    pub fn maker(self) -> Maker {
        let page = self.page();
        let is_sent =
            || page.origin.sent.with(|sent| sent.link.is_some()) && !page.differs_from_sent();
        match page.moves() {
            Some(moves) => Maker::Visitor(moves),
            None if self.walk.with(Option::is_some) => Maker::Search,
            None if is_sent() => Maker::Sender,
            None => Maker::Other,
        }
    }

    /// Opens a puzzle with the kernels that the visitor left in it, else at its start. Undo ends
    /// there until it is closed.
    pub fn open(self, source: &PuzzleSource) {
        let id = source.progress_id();
        let left =
            (self.progress).with_untracked(|progress| progress.kernels(&id).map(String::from));
        let left = left.and_then(|kernels| read_state(kernels.into()).ok());
        self.enter(|| self.open_at(&left.unwrap_or_else(|| source.start())));
    }

    /// Opens what an address or the tab's history leads to.
    fn open_linked(self, linked: LinkedPuzzle) {
        match linked {
            LinkedPuzzle::Listed(source) => self.open(&source),
            LinkedPuzzle::Stored(id) => self.enter(|| self.session.open_document(&id)),
            LinkedPuzzle::Sent(state, name) => {
                self.enter(|| self.session.open_state(&state, &name));
            }
        }
    }

    /// Shows a puzzle in place of the visitor's own program. Undo ends there until it is closed.
    fn enter(self, open: impl FnOnce()) {
        let is_first = self.page().screen.puzzle.with_untracked(Option::is_none);
        if is_first && let Some(document) = self.session.set_own_aside() {
            (self.progress).update(|progress| progress.before = Some(document));
        }
        open();
        self.page().forget_history();
    }

    /// Opens the present puzzle at its start, as one step of undo.
    pub fn start_again(self) {
        if let Some(source) = self.page().screen.puzzle.get_untracked() {
            self.open_at(&source.start());
        }
    }

    fn open_at(self, state: &SharedState) {
        self.forget_help();
        self.session.open_exercise(state, None);
        self.page().stepping.step.set_if_changed(None);
        self.page().select(Selection::Nothing);
    }

    /// The puzzle of the program on the page, with its choices.
    ///
    /// # Errors
    /// Why there is none.
    pub fn make(self, title: &str, goal: &str) -> Result<Posed, MakeError> {
        make(&shown(self.page()), title, goal)
    }

    /// Sets policy, options and device as the puzzle has them, and keeps the kernels.
    pub fn restore_choices(self) {
        if let Some(Ok(posed)) = self.posed.get_untracked() {
            self.page().choose(|choices| {
                *choices = Choices {
                    note: choices.note.take(),
                    puzzle: choices.puzzle.take(),
                    moves: choices.moves,
                    ..Choices::from(&posed.puzzle.page.shared)
                };
            });
        }
    }

    /// Closes the puzzle, brings back the program from before it with its steps of undo, and shows
    /// the lists.
    pub fn close(self) {
        self.forget_help();
        let before = (self.progress).with_untracked(|progress| progress.before.clone());
        if self.session.document_to_return_to().is_none() {
            self.session.return_to(before.as_deref());
        } else {
            // Undo may bring a puzzle back with a document that is the visitor's own.
            self.page().choose(|choices| choices.puzzle = None);
            self.session.resume_steps();
        }
        self.page().screen.is_learning.set_if_changed(true);
    }

    fn forget_help(self) {
        self.walk.set(None);
        self.hints.set_if_changed(Vec::new());
    }

    /// The steps from the present kernels to par.
    fn way(self) -> Option<Vec<PuzzleStep>> {
        let posed = self.posed.get_untracked()?.ok()?;
        posed.way(&untrack(|| present_seen(self.page()))?)
    }

    /// Gives one more hint: first where to look and why, then the move. Selects what it is about.
    pub fn hint(self) {
        let Some(step) = self.way().and_then(|way| way.into_iter().next()) else {
            return;
        };
        match self.hints.with_untracked(Vec::len) {
            0 => {
                self.hints.update(|hints| hints.push(step.nudge.words));
                self.page().select(match step.nudge.region {
                    Region::Op(op) => Selection::Op(op),
                    Region::Tensor(tensor) => Selection::Tensor(tensor),
                    Region::Kernel(kernel) => Selection::Kernel(kernel),
                });
            }
            given if given < MAX_HINTS => {
                self.hints.update(|hints| hints.push(step.hint));
                let [producer, consumer] = step.edge;
                let is_edge = (self.page().analysis).with_untracked(|analysis| {
                    let readers = analysis.graph.successors.get(producer);
                    readers.is_some_and(|readers| readers.contains(&consumer))
                });
                self.page().select(if is_edge {
                    Selection::Edge { producer, consumer }
                } else {
                    Selection::Op(consumer)
                });
            }
            _ => {}
        }
    }

    /// Shows the way to the optimum, from the present kernels if they are legal, else from the
    /// start.
    pub fn show_optimum(self) {
        if self.way().is_none() {
            self.start_again();
        }
        if let Some(steps) = self.way() {
            let before = self.page().present_step();
            let steps = Arc::new(steps);
            let at = 0;
            self.walk.set(Some(Walk { before, steps, at }));
        }
    }

    /// Shows the kernels after this many steps of the way.
    pub fn walk_to(self, at: usize) {
        let shown = self.walk.try_update(|walk| {
            let walk = walk.as_mut()?;
            walk.at = at.min(walk.steps.len());
            Some((walk.text().to_owned(), walk.before.clone()))
        });
        let Some((text, before)) = shown.flatten() else {
            return;
        };
        if text == before.text {
            self.restore(before);
            return;
        }
        let manual = Choices {
            policy: Policy::Manual,
            ..self.page().choices_with(&text)
        };
        self.page()
            .replace(text, Origin::Single, before.example, manual);
    }

    /// Ends the walk and restores the kernels from before it.
    pub fn end_walk(self) {
        if let Some(walk) = self.walk.get_untracked() {
            self.restore(walk.before);
            self.walk.set(None);
        }
    }

    /// Shows the visitor's own kernels again, which still count.
    fn restore(self, before: PageStep) {
        let PageStep {
            text,
            example,
            choices,
        } = before;
        self.page().replace(text, Origin::Single, example, choices);
    }
}

/// The kernels of the page, which so many moves of the visitor made, as a link carries them.
fn own_kernels(page: Page, moves: usize) -> SharedState {
    SharedState {
        selected_op: None,
        moves: Some(moves),
        ..shown(page)
    }
}
