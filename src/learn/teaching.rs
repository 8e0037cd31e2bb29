//! What a teacher can do, in one text for the page and for readers of the repository.

use crate::lesson::{Lesson, Problem, read};

const TEXT: &str = include_str!("../../docs/teaching.md");

/// The text as a lesson without tasks, whose `about` is what stands above the first section; and
/// what in it cannot be shown.
pub fn teaching() -> (Lesson, Vec<Problem>) {
    let (title, rest) = TEXT.split_once('\n').unwrap_or((TEXT, ""));
    let (about, sections) = rest.split_once("\n## ").unwrap_or((rest, ""));
    // A document has a heading where a lesson has front matter.
    read(&format!(
        "---\ntitle: {}\nabout: {}\n---\n\n## {sections}",
        title.trim_start_matches("# "),
        about.trim()
    ))
}
