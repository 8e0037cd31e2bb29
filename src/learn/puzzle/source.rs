//! Where an open puzzle comes from: the page, or a link or a file of somebody's own.

use super::file::read;
use super::library::{ListedPuzzle, listed};
use crate::own::{OWN, own_id};
use fuseline_core::notation::edit::set_kernel;
use fuseline_core::notation::parse;
use fuseline_view::page::links::SharedState;
use std::sync::Arc;

/// An open puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PuzzleSource {
    /// One of the page.
    Listed(&'static ListedPuzzle),
    /// Somebody's own: its file, in which no kernels are marked.
    Own(Arc<str>),
}

impl PuzzleSource {
    /// The puzzle of a program whose first comment says what is asked.
    pub fn own(text: &str) -> Self {
        Self::Own(without_kernels(text).into())
    }

    /// The puzzle that a link calls `name`, and of which its text is a solution; `None` if this
    /// page does not have it.
    pub fn of_link(name: &str, text: &str) -> Option<Self> {
        if name == OWN {
            return Some(Self::own(text));
        }
        listed(name).map(Self::Listed)
    }

    /// The name of the puzzle in links.
    pub const fn link_name(&self) -> &'static str {
        match self {
            Self::Listed(listed) => listed.id,
            Self::Own(_) => OWN,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Listed(listed) => listed.text,
            Self::Own(text) => text,
        }
    }

    /// The page at its start, before any move.
    pub fn start(&self) -> SharedState {
        SharedState {
            puzzle: Some(self.link_name().to_owned()),
            ..read(self.text()).0.page.shared
        }
    }

    /// The name of the puzzle in stored progress: another text is another puzzle.
    pub fn progress_id(&self) -> String {
        match self {
            Self::Listed(listed) => listed.id.to_owned(),
            Self::Own(text) => own_id(text),
        }
    }
}

/// The text without kernel marks. `O(marks · text)`.
pub fn without_kernels(text: &str) -> String {
    let program = parse(text).program;
    let marked = (program.ops.iter().enumerate()).filter(|(_, op)| op.kernel.is_some());
    // From the end, so that what is before keeps its place.
    let marked = marked.rev();
    marked.fold(text.to_owned(), |text, (at, _)| {
        set_kernel(&text, &program, at, None)
    })
}
