//! The results of a student in lessons and puzzles, to hand in without a server.
//!
//! [`Results`] hold answers and no verdicts, so nobody can hand in a verdict: [`check`] asks the
//! engine for each answer anew. [`handed_in`] finds results in files and pasted text, and a
//! [`Class`](class::Class) puts those of many students together.

pub mod check;
pub mod class;
pub mod handed_in;
pub mod page_diff;
pub mod table;

use crate::lesson::answer::Answer;
use crate::own::digest;
use page_diff::PageDiff;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most answers to a question that are kept; the first ones are those of interest.
const MAX_TRIES: usize = 12;
/// Longest answer, and longest name, in characters.
const MAX_CHARS: usize = 80;

/// Tells the unnamed students of a class apart.
const SHORT_ID_CHARS: usize = 4;

/// The results of a student.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// Version of this form, under a key by which a file is known.
    #[serde(rename = "fuseline-results")]
    version: Version,
    /// A random name of the student's browser, so that handing in twice counts as one student.
    #[serde(default)]
    pub id: String,
    /// The name that the student chose; may be empty.
    #[serde(default)]
    pub name: String,
    /// Answers by the id of the lesson.
    #[serde(default)]
    pub lessons: BTreeMap<String, Answers>,
    /// The best own kernels by the id of the puzzle.
    #[serde(default)]
    pub puzzles: BTreeMap<String, Solution>,
}

/// The only version so far. Another one is an error, so that a page never reads half of newer
/// results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct Version;

impl TryFrom<u32> for Version {
    type Error = &'static str;

    fn try_from(version: u32) -> Result<Self, Self::Error> {
        (version == 1)
            .then_some(Self)
            .ok_or("the results come from another version of the page")
    }
}

impl From<Version> for u32 {
    fn from(Version: Version) -> Self {
        1
    }
}

/// The answers to the questions of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Which text of the lesson asked: another text asks other questions.
    pub digest: String,
    /// The tries at each step, from 0, in order.
    pub steps: BTreeMap<usize, Vec<Try>>,
}

/// An answer, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// The act.
    pub act: Act,
    /// How long after the step was opened, in seconds.
    pub after_s: u32,
}

/// An act of a student at a question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Answer(Answer),
    /// Changes the page, as a task to do wants it.
    Make(PageDiff),
    /// Asks the page for the answer.
    ShowMe,
}

/// Own kernels of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Solution {
    /// The page with these kernels, as its difference from the start.
    pub made: PageDiff,
    /// Number of merges and cuts from the start.
    pub moves: usize,
}

impl Results {
    /// Empty results of a browser with this random name.
    pub fn new(id: String) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }

    /// Reads stored or handed-in results. Longer text than a page writes is cut.
    ///
    /// # Errors
    /// It is something else, or from another version of the page.
    pub fn read(json: &str) -> Result<Self, serde_json::Error> {
        let mut read: Self = serde_json::from_str(json)?;
        read.limit();
        Ok(read)
    }

    /// As it is stored and handed in.
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Takes what a student does at a step, from 0, of a lesson with this text.
    pub fn take(&mut self, lesson: &str, text: &str, step: usize, tried: Try) {
        let digest = digest(text);
        let answers = self.lessons.entry(lesson.to_owned()).or_default();
        if answers.digest != digest {
            *answers = Answers {
                digest,
                steps: BTreeMap::new(),
            };
        }
        answers.steps.entry(step).or_default().push(tried);
        self.limit();
    }

    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        self.limit();
    }

    /// The name of the student, else the beginning of the browser's random name, which the file
    /// has, too.
    pub fn called(&self) -> String {
        match self.name.trim() {
            "" => {
                let plain = self.id.chars().filter(|c| c.is_alphanumeric());
                let short: String = plain.take(SHORT_ID_CHARS).collect();
                format!("Student {short}")
            }
            name => name.to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty() && self.puzzles.is_empty()
    }

    /// Number of tries and moves in all: of two results of a student the one with more is the later
    /// one.
    pub fn act_count(&self) -> usize {
        let steps = (self.lessons.values()).flat_map(|answers| answers.steps.values());
        let moves = self.puzzles.values().map(|solution| solution.moves);
        steps.map(Vec::len).sum::<usize>() + moves.sum::<usize>()
    }

    fn limit(&mut self) {
        for text in [&mut self.name, &mut self.id] {
            cut(text);
            // A name is a line of a table.
            text.retain(|c| !c.is_control());
        }
        for answers in self.lessons.values_mut() {
            for tries in answers.steps.values_mut() {
                tries.truncate(MAX_TRIES);
                for tried in tries {
                    if let Act::Answer(Answer::Text(text)) = &mut tried.act {
                        cut(text);
                    }
                }
            }
        }
    }
}

fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
    }
}
