//! What is open on the screen, and messages to the visitor.

use super::choices::{FocusRequest, Notice, OpsView, Theme};
use super::explained::Explained;
use fuseline_browser as browser;
use fuseline_core::analysis::launches::Launcher;
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_view::page::tab::Tab;
use leptos::prelude::*;

/// What is open on the screen, and messages to the visitor.
#[derive(Clone, Copy)]
pub struct Screen {
    /// The page's colours.
    pub theme: RwSignal<Theme>,
    /// Whether the op list is shown as text or as a table.
    pub ops_view: RwSignal<OpsView>,
    /// Whether the pane of the op list is open, and not folded to its tab.
    pub is_ops_open: RwSignal<bool>,
    /// Whether the lessons have the page: the open lesson or puzzle, else their lists.
    pub is_learning: RwSignal<bool>,
    /// The puzzle whose kernels the visitor makes.
    pub puzzle: RwSignal<Option<PuzzleSource>>,
    /// As in [`Choices`](crate::app::history::Choices); [`Page::moves`](super::Page::moves) knows
    /// the start, too.
    pub(super) moves: RwSignal<Option<usize>>,
    /// The open tab of the panel below the pictures.
    pub tab: RwSignal<Tab>,
    /// Who launches the kernels on the timeline of *Profiler*.
    pub launcher: RwSignal<Launcher>,
    /// The number that explains itself.
    pub explained: RwSignal<Option<Explained>, LocalStorage>,
    /// The latest message.
    pub notice: RwSignal<Option<Notice>>,
    /// Whether the browser has refused to store the visitor's text.
    pub is_unsaved: RwSignal<bool>,
    /// The element that shall get the focus, until its component has taken the request.
    pub focus_request: RwSignal<Option<FocusRequest>>,
    /// Whether the handout is shown.
    pub is_handout_open: RwSignal<bool>,
    /// Whether the page shows how a PyTorch model comes in.
    pub is_from_pytorch_open: RwSignal<bool>,
    /// Whether the page is being printed.
    pub is_printing: ReadSignal<bool>,
}

impl Screen {
    pub(super) fn new() -> Self {
        Self {
            theme: RwSignal::default(),
            ops_view: RwSignal::default(),
            is_ops_open: RwSignal::new(true),
            is_learning: RwSignal::new(false),
            puzzle: RwSignal::new(None),
            moves: RwSignal::new(None),
            tab: RwSignal::default(),
            launcher: RwSignal::default(),
            explained: RwSignal::new_local(None),
            notice: RwSignal::new(None),
            is_unsaved: RwSignal::new(false),
            focus_request: RwSignal::new(None),
            is_handout_open: RwSignal::new(false),
            is_from_pytorch_open: RwSignal::new(false),
            is_printing: browser::is_printing(),
        }
    }

    /// Whether the graph has the page for a puzzle, whose kernels the visitor moves. Tracked.
    pub fn plays_puzzle(self) -> bool {
        self.is_learning.get() && self.puzzle.with(Option::is_some)
    }
}
