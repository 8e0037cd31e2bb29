//! Names for lessons and puzzles of somebody's own, which have no id of the page.

use fuseline_core::model::digest::fnv1a;

/// What links and stored progress call what they carry or keep themselves.
pub const OWN: &str = "own";

/// A short name for a text.
pub fn digest(text: &str) -> String {
    format!("{:016x}", fnv1a(text))
}

/// The id of a file of somebody's own: another text is another lesson or puzzle.
pub fn own_id(text: &str) -> String {
    format!("{OWN}.{}", digest(text))
}
