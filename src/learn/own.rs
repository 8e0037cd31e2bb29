//! Names for lessons and puzzles of somebody's own, which have no id of the page.

use fuseline_core::model::digest::fnv1a;

/// The id, in links and stored progress, of a text that they contain themselves.
pub const OWN: &str = "own";

/// A short name for a text.
pub fn digest(text: &str) -> String {
    format!("{:016x}", fnv1a(text))
}

/// The id of a file of somebody's own: another text is another lesson or puzzle.
pub fn own_id(text: &str) -> String {
    format!("{OWN}.{}", digest(text))
}
