//! The results of a class: who stands where, and what the first guesses were.

use super::check::{Cell, Question, Standing, TryVerdict};
use super::{Results, Solution, Try};
use crate::language::Language;
use crate::lesson::library::LESSONS;
use crate::lesson::open::OpenLesson;
use crate::lesson::progress::StepOutcome;
use crate::lesson::prose::Inline;
use crate::own::{digest, own_id};
use crate::puzzle::library::PUZZLES;
use crate::puzzle::source::PuzzleSource;
use crate::puzzle::standing::{Graded, Standing as Kernels};
use crate::puzzle::{Posed, Puzzle, read};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most students of a class; a lecture is a class, a script that writes files is none.
const MAX_STUDENTS: usize = 500;
/// Two students may have fewer tries than this in common by chance.
const MIN_COPIED_TRIES: usize = 4;

/// The results of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// The results of each student, in the order in which they came.
    #[serde(rename = "fuseline-class")]
    pub students: Vec<Results>,
    /// The files of the teacher's own lessons and puzzles, for which there are answers.
    #[serde(default)]
    pub exercises: Vec<String>,
}

/// The effect of results on a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// A student who was not there.
    New,
    /// A student who has done more since.
    Newer,
    /// A student who was there with as much or more.
    Known,
    /// The class is full.
    Full,
}

/// A question and how a class answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionColumn {
    /// Its step, from 0.
    pub step: usize,
    pub title: String,
    /// The question, with its figures as text.
    pub ask: Vec<Inline>,
    /// The right answer and its reason, with quoted parts as code; empty for a task to do.
    pub right: String,
    /// How each student stands, in the order of the class.
    pub cells: Vec<Cell>,
    /// First answers, the commonest first.
    pub guesses: Vec<Guess>,
}

/// A first answer of some students.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The answer as the page writes it, with quoted parts as code.
    pub words: String,
    /// Number of students.
    pub count: usize,
    pub is_right: bool,
    /// The nudge of the lesson for this mistake; may be empty.
    pub nudge: String,
}

/// A puzzle and how a class solved it.
#[derive(Clone, Debug, PartialEq)]
pub struct PuzzleColumn {
    pub id: String,
    pub title: String,
    /// The best solution of each student; `None` for one who has not tried.
    pub cells: Vec<Option<Solved>>,
}

/// Kernels of a student.
#[derive(Clone, Debug, PartialEq)]
pub enum Solved {
    /// They are legal.
    Graded {
        /// Their cost and rank.
        graded: Graded,
        /// Number of merges and cuts that the student's page counted.
        moves: usize,
    },
    /// They do not count, and why.
    Refused(String),
}

impl Class {
    /// Reads a stored class; empty where it cannot be read.
    pub fn read(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    /// As it is stored, and as a file.
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Takes what a student hands in. Of two results of one student that with more tries stays.
    pub fn add(&mut self, results: Results) -> Added {
        // A browser that two students share has a name for each.
        let is_same = |known: &&mut Results| {
            known.id == results.id && (known.name == results.name || known.name.is_empty())
        };
        let is_full = self.students.len() >= MAX_STUDENTS;
        match self.students.iter_mut().find(is_same) {
            Some(known) if known.act_count() >= results.act_count() => Added::Known,
            Some(known) => {
                *known = results;
                Added::Newer
            }
            None if is_full => Added::Full,
            None => {
                self.students.push(results);
                Added::New
            }
        }
    }

    /// Takes the file of a lesson or a puzzle of the teacher's own, so that answers to it can be
    /// checked.
    pub fn teach(&mut self, text: String) {
        if !self.exercises.contains(&text) {
            self.exercises.push(text);
        }
    }

    /// The display name of each student: the name, with a number where others have it, too.
    pub fn names(&self) -> Vec<String> {
        let mut count_of_name: BTreeMap<String, usize> = BTreeMap::new();
        let names = self.students.iter().map(|student| {
            let name = student.called();
            let count = count_of_name.entry(name.clone()).or_default();
            *count += 1;
            match *count {
                1 => name,
                count => format!("{name} ({count})"),
            }
        });
        names.collect()
    }

    /// For each student the first one before with the same answers at the same seconds, if there is
    /// one: one of the two is a copy. `O(students²)` comparisons.
    pub fn copies(&self) -> Vec<Option<usize>> {
        let is_copy = |a: &Results, b: &Results| {
            a.act_count() >= MIN_COPIED_TRIES && a.lessons == b.lessons && a.puzzles == b.puzzles
        };
        let students = self.students.iter().enumerate();
        let copies = students.map(|(at, student)| {
            let mut before = self.students.iter().take(at);
            before.position(|other| is_copy(other, student))
        });
        copies.collect()
    }

    /// The lessons with answers, by their ids in results: those of the page, then the teacher's
    /// own. Takes no analysis.
    pub fn lessons(&self) -> Vec<(String, OpenLesson)> {
        let tried = self.tried();
        let listed = LESSONS.iter().filter(|listed| tried.contains(listed.id));
        let own = self.exercises.iter();
        let own = own.filter(|text| is_lesson(text) && tried.contains(&*own_id(text)));
        let all = listed.map(OpenLesson::listed);
        let all = all.chain(own.map(|text| OpenLesson::own(text)));
        all.map(|open| (open.results_id(), open)).collect()
    }

    /// The puzzles that somebody tried, by their ids in results.
    pub fn puzzles(&self) -> Vec<(String, Puzzle)> {
        let tried = self.tried();
        let listed = PUZZLES.iter().map(PuzzleSource::Listed);
        let own = self.exercises.iter().filter(|text| !is_lesson(text));
        let all = listed.chain(own.map(|text| PuzzleSource::own(text)));
        let all = all.map(|source| (source.progress_id(), source));
        all.filter(|(id, _)| tried.contains(&**id))
            .map(|(id, source)| (id, read(source.text()).0))
            .collect()
    }

    /// Number of lessons and puzzles that somebody did and this page does not know: their files are
    /// missing.
    pub fn missing_exercises(&self) -> usize {
        let lessons = LESSONS.iter().map(|listed| listed.id.to_owned());
        let puzzles = PUZZLES.iter().map(|listed| listed.id.to_owned());
        let own = self.exercises.iter().map(|text| {
            if is_lesson(text) {
                own_id(text)
            } else {
                PuzzleSource::own(text).progress_id()
            }
        });
        let known: BTreeSet<_> = lessons.chain(puzzles).chain(own).collect();
        let tried = self.tried();
        tried.iter().filter(|id| !known.contains(**id)).count()
    }

    /// The ids of all that somebody tried.
    fn tried(&self) -> BTreeSet<&str> {
        let students = self.students.iter();
        let ids = students.flat_map(|student| student.lessons.keys().chain(student.puzzles.keys()));
        ids.map(String::as_str).collect()
    }

    /// How the class answered the question of a step, from 0, of a lesson with this id; `None` for
    /// a step without one. An analysis or a search for each different answer.
    pub fn column(&self, id: &str, lesson: &OpenLesson, step: usize) -> Option<QuestionColumn> {
        let question = Question::of(lesson, step)?;
        let digest = digest(&lesson.text);
        let mut guesses: BTreeMap<String, Guess> = BTreeMap::new();
        let cells = self.students.iter().map(|student| {
            let Some(answers) = student.lessons.get(id) else {
                return question.cell(&[]);
            };
            let tries: &[Try] = answers.steps.get(&step).map_or(&[], Vec::as_slice);
            if answers.digest != digest && !tries.is_empty() {
                return refused("it answers another version of this lesson");
            }
            let mut cell = question.cell(tries);
            let went_on = answers.steps.range(step + 1..).next().is_some();
            if cell.standing == Standing::Untouched && went_on {
                cell.standing = Standing::Ended(StepOutcome::Skipped);
            }
            if let Some(guess) = first_guess(&question, tries) {
                let of_all = guesses.entry(guess.words.clone()).or_insert(guess);
                of_all.count += 1;
            }
            cell
        });
        let cells = cells.collect();
        let mut guesses: Vec<_> = guesses.into_values().collect();
        guesses.sort_by_key(|guess| std::cmp::Reverse(guess.count));
        Some(QuestionColumn {
            step,
            ask: question.ask(),
            right: question.right_answer(),
            title: question.title,
            cells,
            guesses,
        })
    }

    /// How the class solved a puzzle: a search for its par, and an analysis for each student.
    pub fn puzzle_column(&self, id: &str, posed: &Posed) -> PuzzleColumn {
        let cells = self.students.iter().map(|student| {
            let solution = student.puzzles.get(id)?;
            Some(solved(posed, solution))
        });
        PuzzleColumn {
            id: id.to_owned(),
            title: posed.puzzle.title.clone(),
            cells: cells.collect(),
        }
    }
}

impl QuestionColumn {
    /// The number of its step, from 1, and the title.
    pub fn full_title(&self) -> String {
        Language::English.step(self.step + 1, &self.title)
    }

    /// Number of students who stand so.
    pub fn count(&self, is_so: impl Fn(&Standing) -> bool) -> usize {
        let cells = self.cells.iter();
        cells.filter(|cell| is_so(&cell.standing)).count()
    }
}

/// Whether the file of an exercise is a lesson, and not a puzzle.
pub(super) fn is_lesson(text: &str) -> bool {
    text.trim_start().starts_with("---")
}

fn refused(why: &str) -> Cell {
    Cell {
        standing: Standing::Refused(why.to_owned()),
        tries: 0,
        took_s: 0,
        first: String::new(),
    }
}

/// The first answer that can be read, as a guess of nobody.
fn first_guess(question: &Question, tries: &[Try]) -> Option<Guess> {
    tries.iter().find_map(|tried| {
        let (is_right, nudge) = match question.verdict(&tried.act) {
            TryVerdict::Right => (true, String::new()),
            TryVerdict::Wrong(nudge) => (false, nudge),
            TryVerdict::Asked => (false, String::new()),
            TryVerdict::Unreadable(_) => return None,
        };
        Some(Guess {
            words: question.words(&tried.act),
            count: 0,
            is_right,
            nudge,
        })
    })
}

fn solved(posed: &Posed, solution: &Solution) -> Solved {
    let analyzed = match solution.made.analyzed(&posed.puzzle.page) {
        Ok(analyzed) => analyzed,
        Err(why) => return Solved::Refused(why.to_owned()),
    };
    // Each move makes one kernel less.
    let kernel_count = analyzed.analysis.partition.kernels.len();
    if solution.moves + kernel_count < analyzed.analysis.graph.ops.len() {
        return Solved::Refused("its kernels take more moves".to_owned());
    }
    match posed.standing(&analyzed.analysis, analyzed.has_error) {
        Kernels::Graded(graded) => Solved::Graded {
            graded,
            moves: solution.moves,
        },
        Kernels::Ungraded(why) => Solved::Refused(why),
    }
}
