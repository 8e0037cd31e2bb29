//! Makes a puzzle of a program.

use super::file::{Puzzle, read};
use super::source::without_kernels;
use super::standing::Posed;
use crate::language::Tag;
use fuseline_core::model::options::Switch;
use fuseline_core::{FusionOptions, Objective, device};
use fuseline_view::page::links::SharedState;
use fuseline_view::present::names::own_title;
use std::fmt::Write;
use strum::VariantArray;

/// Longest line of the comment that states the puzzle.
const LINE_CHARS: usize = 100;

/// Why a program becomes no puzzle, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MakeError {
    /// The maker has not said what it is about.
    #[error("A puzzle needs a title and a goal.")]
    NoTitleOrGoal,
    /// A device that others do not have.
    #[error("A puzzle runs on a device of the list, as it stands there: choose one.")]
    OwnDevice,
    /// A text that does not read as a puzzle; what is wrong with it, as a clause.
    #[error("The puzzle cannot be written: {0}.")]
    Unwritable(String),
    /// A program that sets no puzzle; why, as a sentence in its language.
    #[error("{0}")]
    Unposed(&'static str),
}

/// The puzzle of the program and the choices of `shared`, with its par. Its kernels are left out.
///
/// # Errors
/// Why there is no such puzzle.
pub fn make(shared: &SharedState, title: &str, goal: &str) -> Result<Posed, MakeError> {
    let [title, goal] = [title, goal].map(|words| words.split_whitespace().collect::<Vec<_>>());
    if title.is_empty() || goal.is_empty() {
        return Err(MakeError::NoTitleOrGoal);
    }
    if device(&shared.device.id).is_none_or(|known| *known != shared.device) {
        return Err(MakeError::OwnDevice);
    }
    let objective = match shared.fusion.objective {
        Objective::Measured => Objective::Time,
        objective => objective,
    };
    let mut text = format!(
        "# title: {}\n# objective: {}\n# device: {}\n",
        title.join(" "),
        objective.name(),
        shared.device.id
    );
    let lang = read(&shared.text).0.lang;
    if lang != Tag::default() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "# lang: {}", lang.as_str());
    }
    let allowed: Vec<&str> = allowed(shared.fusion).collect();
    if !allowed.is_empty() {
        let _ = writeln!(text, "# allow: {}", allowed.join(", "));
    }
    for line in lines(&goal) {
        let _ = writeln!(text, "# {line}");
    }
    let program = without_kernels(&shared.text);
    let _ = write!(text, "\n{}", program_after_comment(&program));
    let (puzzle, problems) = read(&text);
    if let Some(problem) = problems.first() {
        return Err(MakeError::Unwritable(problem.what.clone()));
    }
    Posed::of(puzzle).map_err(MakeError::Unposed)
}

/// The goal that the first comment of a text proposes: all of it but a title.
pub fn proposed_goal(text: &str) -> String {
    let (Puzzle { about, .. }, _) = read(text);
    let title = own_title(text).unwrap_or_default();
    let rest = about.strip_prefix(title).and_then(|rest| match rest {
        "" => Some(rest),
        rest => rest.strip_prefix('.'),
    });
    rest.unwrap_or(&about).trim().to_owned()
}

/// The switches of which a puzzle allows more than usual.
fn allowed(fusion: FusionOptions) -> impl Iterator<Item = &'static str> {
    let (mut fusion, mut usual) = (fusion, FusionOptions::default());
    let more = Switch::VARIANTS
        .iter()
        .filter(move |switch| *switch.flag(&mut fusion) && !*switch.flag(&mut usual));
    more.map(|switch| switch.name())
}

/// The program without the comment at its beginning, which is the puzzle's.
fn program_after_comment(text: &str) -> &str {
    let mut rest = text;
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest.trim_start_matches(['\n', '\r'])
}

/// Words in lines of a comment.
fn lines(words: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < LINE_CHARS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push((*word).to_owned()),
        }
    }
    lines
}
