//! Results in files and pasted text: the file of a student, that of a whole class, codes, and links with codes.

use super::Results;
use super::class::{Class, is_lesson};
use crate::lesson;
use crate::puzzle;
use fuseline_view::page::links::Payload;

/// How the file of a student begins.
const STUDENT: &str = r#"{"fuseline-results""#;
/// How the file of a class begins.
const CLASS: &str = r#"{"fuseline-class""#;

/// Something that was handed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedIn {
    /// The results of a student.
    Results(Box<Results>),
    /// Those of a class.
    Class(Class),
    /// The file of a lesson or a puzzle, to check answers to it.
    Exercise(String),
    /// A code, which the browser unpacks.
    Code(String),
}

/// Whether a file holds results, by how it begins.
pub fn begins_results(start: &str) -> bool {
    let start = start.trim_start();
    start.starts_with(STUDENT) || start.starts_with(CLASS)
}

/// What was handed in by a file or by pasted text, with any text between the codes. `O(text)`.
///
/// # Errors
/// There is nothing of the kind, or a file is broken; a sentence.
pub fn handed_in(text: &str) -> Result<Vec<HandedIn>, String> {
    if begins_results(text) {
        let broken = |problem| format!("The results are broken: {problem}.");
        let one = if text.trim_start().starts_with(CLASS) {
            HandedIn::Class(read_class(text).map_err(broken)?)
        } else {
            HandedIn::Results(Box::new(Results::read(text).map_err(broken)?))
        };
        return Ok(vec![one]);
    }
    if is_exercise(text) {
        return Ok(vec![HandedIn::Exercise(text.to_owned())]);
    }
    let codes: Vec<_> = codes_in(text).map(HandedIn::Code).collect();
    if codes.is_empty() {
        return Err(format!(
            "There are no results in it. A code begins with “{}”.",
            Payload::Results.version()
        ));
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

/// The codes in a text, each in its order.
fn codes_in(text: &str) -> impl Iterator<Item = String> {
    let version = Payload::Results.version();
    let is_of_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(version).filter_map(move |(at, _)| {
        let (before, from) = text.split_at(at);
        let packed = from.strip_prefix(version)?;
        let end = packed.find(|c| !is_of_code(c)).unwrap_or(packed.len());
        let packed = packed.get(..end)?;
        let begins = !before.ends_with(is_of_code);
        (begins && !packed.is_empty()).then(|| format!("{version}{packed}"))
    })
}
