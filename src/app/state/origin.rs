//! Where the program comes from.

use crate::app::history::Step;
use fuseline_learn::results::handed_in::HandedIn;
use fuseline_view::page::note::Note;
use leptos::prelude::*;

/// Where the program comes from.
#[derive(Clone, Copy, Default)]
pub struct ProgramOrigin {
    /// The example that the text started from.
    pub example: RwSignal<Option<&'static str>>,
    /// The note that came with the link, until another program is opened.
    pub sender_note: RwSignal<Option<Note>>,
    /// The link that was opened.
    pub sent: RwSignal<Sent>,
    /// Results of students that a link or a file brought, until the class takes them.
    pub handed_in: RwSignal<Vec<HandedIn>>,
}

/// What came with a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sent {
    /// The state that the link opened; `None` where no link was opened.
    pub link: Option<Step>,
    /// Whether the visitor has hidden the sender's note.
    pub is_note_hidden: bool,
}
