//! What a link brought, beside what the visitor has made of it.

use crate::app::history::Step;

/// What came with a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sent {
    /// The state that the link opened; `None` where no link was opened.
    pub link: Option<Step>,
    /// Whether the visitor has hidden the sender's note.
    pub is_note_hidden: bool,
}
