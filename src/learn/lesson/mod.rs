//! Lessons: a file of prose, states of the page, and tasks whose answers the engine works out.
//!
//! [`read`] makes a [`Lesson`] of a Markdown file and never fails: what cannot be shown is a
//! [`Problem`] with its line and how to mend it. [`check::check`] runs the engine on each step and
//! tells what does not hold there.

pub mod answer;
mod answer_reason;
pub mod arithmetic;
pub mod check;
pub mod condition;
mod entries;
pub mod error;
pub mod library;
mod markdown;
pub mod mistake;
pub mod named_figure;
pub mod open;
pub mod options;
pub mod progress;
pub mod prose;
mod reason;
mod resources;
pub mod setting;
pub mod solve;
pub mod state;
pub mod task;
mod tensor_reason;
mod time_reason;
pub mod to_do;
pub mod value;
mod way_words;
mod wording;

pub use entries::Problem;

use crate::language::{Language, Tag};
use entries::{FencedBlock, entry_of, unknown};
use markdown::{Piece, pieces, pieces_after};
use prose::ProsePart;
use setting::Setting;
use state::PageState;
use task::Task;

/// Most words of prose in a step.
pub const MAX_WORDS: usize = 80;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// The language of its author.
    pub lang: Tag,
    pub title: String,
    /// Its subject, in a sentence.
    pub about: String,
    /// How long it takes, in minutes; 0 if the file does not say.
    pub minutes: u32,
    /// What a student can say afterwards, with quoted parts as code.
    pub says: Vec<String>,
    /// What to try with a program of one's own, in a sentence; may be empty.
    pub try_next: String,
    pub steps: Vec<LessonStep>,
}

/// A step of a lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonStep {
    pub line: usize,
    pub title: String,
    /// How the page changes when the step begins.
    pub page: Setting,
    /// Prose before the task.
    pub before: Vec<ProsePart>,
    pub task: Option<Task>,
    /// How the page changes when the task is answered.
    pub then: Setting,
    /// Prose after the answer.
    pub after: Vec<ProsePart>,
    /// Notes for the speaker.
    pub notes: Vec<ProsePart>,
}

impl LessonStep {
    /// Number of words of prose, without the task; a figure counts as one.
    pub fn word_count(&self) -> usize {
        prose::word_count(&self.before) + prose::word_count(&self.after)
    }
}

/// The states of the page at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepStates {
    /// When it begins.
    pub asked: PageState,
    /// When its task is answered.
    pub answered: PageState,
}

/// Reads a lesson, and says what in its file is wrong. `O(text)`.
pub fn read(text: &str) -> (Lesson, Vec<Problem>) {
    let (pieces, mut problems) = pieces(text);
    let mut lesson = Lesson::default();
    for piece in pieces {
        match piece {
            Piece::Front(block) => lesson.read_front(&block, &mut problems),
            Piece::Title { line, text } => lesson.steps.push(LessonStep {
                line,
                title: text,
                ..LessonStep::default()
            }),
            Piece::Prose(part) => match lesson.steps.last_mut() {
                Some(step) if step.task.is_some() => step.after.push(part),
                Some(step) => step.before.push(part),
                None => problems.push(Problem::new(
                    1,
                    "there is text before the first step",
                    "begin the step with a line `## Title`",
                )),
            },
            Piece::Block(block) => match lesson.steps.last_mut() {
                Some(step) => step.read_block(&block, lesson.lang.language(), &mut problems),
                None => problems.push(Problem::new(
                    block.line,
                    format!("the block `{}` is before the first step", block.kind),
                    "begin a step with a line `## Title` above it",
                )),
            },
        }
    }
    if lesson.title.is_empty() {
        problems.push(Problem::new(
            1,
            "the lesson has no title",
            "begin the file with three lines `---`, `title: …` and `---`",
        ));
    }
    if lesson.steps.is_empty() {
        problems.push(Problem::new(
            1,
            "the lesson has no steps",
            "begin each step with a line `## Title`",
        ));
    }
    problems.sort_by_key(|problem| problem.line);
    (lesson, problems)
}

impl Lesson {
    fn read_front(&mut self, block: &FencedBlock, problems: &mut Vec<Problem>) {
        for (line, text) in (block.line + 1..).zip(block.text.lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let Some(entry) = entry_of(text, line) else {
                problems.push(Problem::new(
                    line,
                    format!("`{text}` is not of the form `key: value`"),
                    "write, for example, `title: From ops to kernels`",
                ));
                continue;
            };
            match entry.key.as_str() {
                "title" => self.title = entry.value,
                "about" => self.about = entry.value,
                "say" => self.says.push(entry.value),
                "try" => self.try_next = entry.value,
                "lang" => match Tag::new(&entry.value) {
                    Some(lang) => self.lang = lang,
                    None => problems.push(Problem::new(
                        line,
                        format!("`{}` is not a language", entry.value),
                        Tag::MEND,
                    )),
                },
                "minutes" => match entry.value.parse() {
                    Ok(minutes) => self.minutes = minutes,
                    Err(_) => problems.push(Problem::new(
                        line,
                        format!("`{}` is not a number of minutes", entry.value),
                        "write, for example, `minutes: 8`",
                    )),
                },
                key => problems.push(unknown(
                    line,
                    "key",
                    key,
                    &["title", "lang", "about", "minutes", "say", "try"],
                )),
            }
        }
    }

    /// The states of the page at each step. A change that is not possible is left out and becomes a
    /// problem.
    pub fn states(&self, problems: &mut Vec<Problem>) -> Vec<StepStates> {
        let mut before = PageState::default();
        let steps = self.steps.iter().map(|step| {
            // What a step points at or has marked is no part of the next.
            before.look.clear();
            before.mark = None;
            let asked = step.page.applied(&before, problems);
            let answered = step.then.applied(&asked, problems);
            before = answered.clone();
            StepStates { asked, answered }
        });
        steps.collect()
    }
}

impl LessonStep {
    /// `language` is that of the lesson.
    fn read_block(&mut self, block: &FencedBlock, language: Language, problems: &mut Vec<Problem>) {
        match block.kind.as_str() {
            "fuse" => self.page.add_program(block),
            "page" => self.page.add(block, problems),
            "then" => self.then.add(block, problems),
            "notes" => self.notes.extend(notes(block, problems)),
            "predict" | "choose" | "do" => {
                if self.task.is_some() {
                    problems.push(Problem::new(
                        block.line,
                        "this step already has a task",
                        "begin another step with a line `## Title`",
                    ));
                } else {
                    self.task = Task::read(block, language, problems);
                }
            }
            kind => problems.push(unknown(
                block.line,
                "block",
                kind,
                &["fuse", "page", "then", "predict", "choose", "do", "notes"],
            )),
        }
    }
}

/// Notes for the speaker: Markdown in a block.
fn notes(block: &FencedBlock, problems: &mut Vec<Problem>) -> Vec<ProsePart> {
    let (pieces, found) = pieces_after(block.line, &block.text);
    problems.extend(found);
    let parts = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Prose(part) => Some(part),
        _ => None,
    });
    parts.collect()
}
