//! The results of a teacher's class: what was handed in, and what the engine says of it.

use crate::app::learning::{Learning, Room};
use crate::app::sharing::results_in;
use crate::app::state::{ProgramOrigin, Screen, SetIfChanged};
use crate::app::storage_keys::CLASS;
use crate::app::stored;
use fuseline_browser::{self as browser, File};
use fuseline_learn::puzzle::Posed;
use fuseline_learn::results::Results;
use fuseline_learn::results::class::{Added, Class, PuzzleColumn};
use fuseline_learn::results::handed_in::{HandedIn, handed_in};
use fuseline_learn::results::table::{LessonColumns, table};
use fuseline_view::present::names::counted;
use leptos::prelude::*;
use std::sync::Arc;

/// The class. Made once at the root and given to all components as context.
#[derive(Clone, Copy)]
pub struct Classroom {
    /// What was handed in.
    pub class: RwSignal<Class>,
    /// The class before the last removal, which can be undone.
    removed: RwSignal<Option<Class>>,
    /// What the engine says of the lessons.
    pub lessons: RwSignal<Arc<Vec<LessonColumns>>>,
    /// What it says of the puzzles.
    pub puzzles: RwSignal<Arc<Vec<PuzzleColumn>>>,
    /// What the engine says of the puzzles.
    pub is_checking: RwSignal<bool>,
    /// The outcome of the last hand-in, in words.
    pub taken: RwSignal<String>,
    /// A sentence for each part of the last hand-in that could not be read.
    pub problems: RwSignal<Vec<String>>,
    /// The number of the running check, which a newer check ends.
    check: StoredValue<u32>,
}

impl Classroom {
    /// The class of the last visit.
    pub fn new(origin: ProgramOrigin, screen: Screen, learning: Learning) -> Self {
        let stored = browser::load(CLASS).map(|stored| Class::read(&stored));
        let classroom = Self {
            class: RwSignal::new(stored.unwrap_or_default()),
            removed: RwSignal::new(None),
            lessons: RwSignal::default(),
            puzzles: RwSignal::default(),
            is_checking: RwSignal::new(false),
            taken: RwSignal::new(String::new()),
            problems: RwSignal::new(Vec::new()),
            check: StoredValue::new(0),
        };
        stored::follow(CLASS, classroom.class, Class::write);
        // A link and a dropped file hand in, too.
        Effect::new(move || {
            let handed_in = origin.handed_in.get();
            if !handed_in.is_empty() {
                origin.handed_in.set(Vec::new());
                screen.is_learning.set_if_changed(true);
                learning.room.set(Room::Class);
                browser::spawn(async move { classroom.take(handed_in, Vec::new()).await });
            }
        });
        Effect::new(move || {
            let is_open = learning.room.get() == Room::Class && screen.is_learning.get();
            classroom.class.track();
            if is_open {
                browser::spawn(classroom.check_all());
            }
        });
        classroom
    }

    /// The class in the context; `None` for a component that is shown alone.
    pub fn of_context() -> Option<Self> {
        use_context()
    }

    /// Takes files: those of students, of a class, of own lessons and puzzles.
    pub async fn take_files(self, files: Vec<File>) {
        let (mut taken, mut problems) = (Vec::new(), Vec::new());
        for file in files {
            let read = match browser::read_file(&file).await {
                Some(text) => handed_in(&text).map_err(|problem| problem.to_string()),
                None => Err("The browser could not read it.".to_owned()),
            };
            match read {
                Ok(mut read) => taken.append(&mut read),
                Err(problem) => problems.push(format!("{}: {problem}", file.name())),
            }
        }
        self.take(taken, problems).await;
    }

    /// Takes pasted codes and links.
    pub async fn take_text(self, text: &str) {
        match handed_in(text) {
            Ok(taken) => self.take(taken, Vec::new()).await,
            Err(problem) => self.take(Vec::new(), vec![problem.to_string()]).await,
        }
    }

    async fn take(self, handed_in: Vec<HandedIn>, mut problems: Vec<String>) {
        let (mut results, mut exercises): (Vec<Results>, Vec<String>) = (Vec::new(), Vec::new());
        for (at, one) in (1..).zip(handed_in) {
            match one {
                HandedIn::Class(class) => {
                    results.extend(class.students);
                    exercises.extend(class.exercises);
                }
                HandedIn::Results(one) => results.push(*one),
                HandedIn::Exercise(text) => exercises.push(text),
                HandedIn::Code(readings) => match first_results_in(&readings).await {
                    Some(one) => results.push(one),
                    None => problems.push(format!(
                        "Code {at} is not complete, or from another version of the page."
                    )),
                },
            }
        }
        let (mut new, mut newer, mut known, mut full) = (0, 0, 0, 0);
        if !results.is_empty() || !exercises.is_empty() {
            self.removed.set(None);
            self.class.update(|class| {
                for one in results {
                    match class.add(one) {
                        Added::New => new += 1,
                        Added::Newer => newer += 1,
                        Added::Known => known += 1,
                        Added::Full => full += 1,
                    }
                }
                for text in exercises {
                    class.teach(text);
                }
            });
        }
        if full > 0 {
            problems.push(format!(
                "{} found no room in the class.",
                counted(full, "student")
            ));
        }
        let explanation = [(new, "added"), (newer, "updated"), (known, "already there")];
        let explanation = explanation.iter().filter(|(count, _)| *count > 0);
        let explanation: Vec<_> = explanation
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        self.taken.set(explanation.join(", "));
        self.problems.set(problems);
    }

    /// Takes a student out of the class.
    pub fn remove(self, student: usize) {
        self.removed.set(Some(self.class.get_untracked()));
        self.taken.set(String::new());
        self.class.update(|class| {
            if student < class.students.len() {
                class.students.remove(student);
            }
        });
    }

    /// Empties the class.
    pub fn clear(self) {
        self.removed.set(Some(self.class.get_untracked()));
        self.taken.set(String::new());
        self.problems.set(Vec::new());
        self.class.set(Class::default());
    }

    /// Whether there is a removal to undo. Tracked.
    pub fn can_bring_back(self) -> bool {
        self.removed.with(Option::is_some)
    }

    /// Undoes the last removal.
    pub fn bring_back(self) {
        if let Some(class) = self.removed.try_update(Option::take).flatten() {
            self.class.set(class);
        }
    }

    /// Asks the engine for every answer, question by question, with the page alive in between.
    async fn check_all(self) {
        let number = self.check.get_value().wrapping_add(1);
        self.check.set_value(number);
        let goes_on = move || self.check.get_value() == number;
        let class = self.class.get_untracked();
        self.is_checking.set_if_changed(true);
        let mut lessons = Vec::new();
        for (id, open) in class.lessons() {
            let mut columns = Vec::new();
            for step in 0..open.lesson.steps.len() {
                browser::painted().await;
                if !goes_on() {
                    return;
                }
                columns.extend(class.column(&id, &open, step));
            }
            let title = open.lesson.title.clone();
            lessons.push(LessonColumns { id, title, columns });
        }
        let mut puzzles = Vec::new();
        for (id, puzzle) in class.puzzles() {
            browser::painted().await;
            if !goes_on() {
                return;
            }
            if let Ok(posed) = Posed::of(puzzle) {
                puzzles.push(class.puzzle_column(&id, &posed));
            }
        }
        self.lessons.set(Arc::new(lessons));
        self.puzzles.set(Arc::new(puzzles));
        self.is_checking.set(false);
    }

    /// Saves what the engine says as a table.
    pub fn save_table(self) {
        let table = self.class.with_untracked(|class| {
            let (lessons, puzzles) = (self.lessons.get_untracked(), self.puzzles.get_untracked());
            table(class, &lessons, &puzzles)
        });
        browser::download("class.csv", "text/csv", &table.csv());
    }

    /// Saves what was handed in, for another machine.
    pub fn save(self) {
        let written = self.class.with_untracked(Class::write);
        browser::download("class.json", "application/json", &written);
    }
}

/// The results of the first reading of a code that is one.
async fn first_results_in(readings: &[String]) -> Option<Results> {
    for reading in readings {
        if let Ok(results) = results_in(reading).await {
            return Some(results);
        }
    }
    None
}
