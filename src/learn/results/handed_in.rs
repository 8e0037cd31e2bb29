//! Results in files and pasted text: the file of a student, that of a whole class, codes, and links
//! with codes.

use super::Results;
use super::class::{Class, is_lesson};
use crate::lesson;
use crate::puzzle;
use fuseline_view::page::links::Payload;
use serde_json::error::Category;

/// How the file of a student begins.
const STUDENT: &str = r#"{"fuseline-results""#;
/// How the file of a class begins.
const CLASS: &str = r#"{"fuseline-class""#;
/// Most lines of a code that was broken: a code is as long as a link at most, and mail has 60
/// characters a line or more.
const MAX_BROKEN_LINES: usize = 200;

/// Something that was handed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedIn {
    Results(Box<Results>),
    Class(Class),
    /// The file of a lesson or a puzzle, to check answers to it.
    Exercise(String),
    /// A code, which the browser unpacks: the shortest reading first, then with each line more that
    /// a mail program may have broken it into.
    Code(Vec<String>),
}

/// Why nothing was handed in, as sentences for the teacher.
#[derive(Debug, thiserror::Error)]
pub enum HandInError {
    /// Neither results nor a code.
    #[error("There are no results in it. A code begins with “{}”.", Payload::Results.version())]
    Nothing,
    /// Results that are cut off or changed.
    #[error("The results cannot be read: {}. Ask for them again.", breakage(.0))]
    Broken(#[from] serde_json::Error),
}

/// Whether a file holds results, by how it begins.
pub fn begins_results(start: &str) -> bool {
    let start = start.trim_start();
    start.starts_with(STUDENT) || start.starts_with(CLASS)
}

/// Everything that was handed in by a file or by pasted text, with any text between the codes.
/// `O(text)`.
///
/// # Errors
/// There is nothing of the kind, or a file is broken.
pub fn handed_in(text: &str) -> Result<Vec<HandedIn>, HandInError> {
    if begins_results(text) {
        let one = if text.trim_start().starts_with(CLASS) {
            read_class(text).map(HandedIn::Class)
        } else {
            Results::read(text).map(|results| HandedIn::Results(Box::new(results)))
        };
        return Ok(vec![one?]);
    }
    if is_exercise(text) {
        return Ok(vec![HandedIn::Exercise(text.to_owned())]);
    }
    let codes: Vec<_> = codes_in(text).map(HandedIn::Code).collect();
    if codes.is_empty() {
        return Err(HandInError::Nothing);
    }
    Ok(codes)
}

fn read_class(text: &str) -> Result<Class, serde_json::Error> {
    let class: Class = serde_json::from_str(text)?;
    // What a student could have made longer than a page does is cut.
    let students = class.students.iter();
    let students = students.map(|results| Results::read(&results.write()));
    Ok(Class {
        students: students.collect::<Result<_, _>>()?,
        exercises: class.exercises,
    })
}

fn is_exercise(text: &str) -> bool {
    if is_lesson(text) {
        return lesson::read(text).1.is_empty();
    }
    text.trim_start().starts_with('#') && puzzle::read(text).1.is_empty()
}

/// Why results cannot be read, as a clause.
fn breakage(problem: &serde_json::Error) -> &'static str {
    match problem.classify() {
        Category::Eof => "they end in the middle",
        Category::Data => "they come from another version of the page, or were changed",
        Category::Syntax | Category::Io => "something in them is damaged",
    }
}

/// The readings of each code in a text, in its order.
fn codes_in(text: &str) -> impl Iterator<Item = Vec<String>> {
    let version = Payload::Results.version();
    let is_of_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(version).filter_map(move |(at, _)| {
        let (before, from) = text.split_at(at);
        let packed = from.strip_prefix(version)?;
        let end = packed.find(|c| !is_of_code(c)).unwrap_or(packed.len());
        let (packed, after) = packed.split_at(end);
        if packed.is_empty() || before.ends_with(is_of_code) {
            return None;
        }
        let mut lines = after.lines();
        // What stands after the code in its line ends it.
        let is_broken = lines.next().is_none_or(|rest| rest.trim_end().is_empty());
        let lines = lines.map(|line| line.trim_start_matches(['>', ' ']).trim_end());
        let lines = lines.take_while(|line| !line.is_empty() && line.chars().all(is_of_code));
        let mut readings = vec![format!("{version}{packed}")];
        if is_broken {
            for line in lines.take(MAX_BROKEN_LINES) {
                let longest = readings.last().map_or("", String::as_str);
                readings.push(format!("{longest}{line}"));
            }
        }
        Some(readings)
    })
}
