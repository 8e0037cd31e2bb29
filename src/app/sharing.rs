//! Share links: reads the one in the address, makes one of what the page shows.

use crate::app::state::{OpsView, Page, Tab};
use crate::app::stored;
use fuseline_browser as browser;
use fuseline_learn::lesson::open::OpenLesson;
use fuseline_learn::puzzle::library::listed as puzzle;
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_learn::results::Results;
use fuseline_view::page::links::{
    MAX_LINK_BYTES, MAX_STATE_BYTES, Payload, ShareError, SharedState, fragment_of,
    listed_lesson_fragment, listed_lesson_in, listed_puzzle_in, packed_in, read_state, write_state,
};
use fuseline_view::page::note::Note;
use leptos::prelude::*;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A link that the visitor has followed.
pub struct Link {
    /// What is in it, or why it cannot be read.
    pub carried: Result<Carried, ShareError>,
    /// A short name for it: the same link has the same name.
    pub name: String,
}

/// What a link carries.
pub enum Carried {
    /// A state of the page.
    State(Box<SharedState>),
    /// A puzzle of the page.
    Puzzle(PuzzleSource),
    Lesson(LinkedLesson),
    /// What a student hands in.
    Results(Box<Results>),
}

#[derive(Clone)]
pub enum LinkedLesson {
    /// A step, from 1, of a lesson of the page.
    Listed(String, usize),
    /// The file of somebody's own.
    Own(String),
}

/// A puzzle to which the address or the tab's history leads.
#[derive(Clone)]
pub enum LinkedPuzzle {
    /// A puzzle of the page, as in its list.
    Listed(PuzzleSource),
    /// The stored document of one.
    Stored(String),
    /// The kernels that somebody sent, and the name of their link.
    Sent(Box<SharedState>, String),
}

impl LinkedLesson {
    /// The step of a lesson of the page that a fragment names.
    pub fn listed_in(fragment: &str) -> Option<Self> {
        let (id, step) = listed_lesson_in(fragment)?;
        Some(Self::Listed(id.to_owned(), step))
    }
}

impl Link {
    /// The link in the fragment of the address (the part after `#`); `None` when there is no
    /// fragment, and when this entry of the tab's history has opened its link: a reload and *Back*
    /// show what the visitor has made of it.
    pub async fn in_address() -> Option<Self> {
        if browser::entry_name().is_some_and(|id| stored::document(&id).is_some()) {
            return None;
        }
        loop {
            // `#main` is the target of the skip link.
            let fragment = browser::fragment().filter(|f| f != "main")?;
            let carried = carried(&fragment).await;
            // The visitor may have followed another link while this one was unpacked.
            if browser::fragment().as_ref() == Some(&fragment) {
                let name = format!("link.{:x}", FxBuildHasher.hash_one(&fragment));
                return Some(Self { carried, name });
            }
        }
    }
}

async fn carried(fragment: &str) -> Result<Carried, ShareError> {
    if let Some(lesson) = LinkedLesson::listed_in(fragment) {
        return Ok(Carried::Lesson(lesson));
    }
    if let Some(id) = listed_puzzle_in(fragment) {
        let listed = puzzle(id).ok_or(ShareError::NotALink)?;
        return Ok(Carried::Puzzle(PuzzleSource::Listed(listed)));
    }
    let (payload, packed) = packed_in(fragment)?;
    let unpacked = browser::unpack(&packed, MAX_STATE_BYTES).await?;
    Ok(match payload {
        Payload::State => Carried::State(Box::new(SharedState {
            // The kernels are the sender's, whatever the link says about moves.
            moves: None,
            ..read_state(unpacked)?
        })),
        Payload::Lesson => {
            let text = String::from_utf8(unpacked).map_err(|_| ShareError::Damaged)?;
            Carried::Lesson(LinkedLesson::Own(text))
        }
        Payload::Results => {
            Carried::Results(Box::new(results_of(&unpacked).ok_or(ShareError::Damaged)?))
        }
    })
}

fn results_of(unpacked: &[u8]) -> Option<Results> {
    Results::read(str::from_utf8(unpacked).ok()?).ok()
}

/// The code of a student's results, for a message to the teacher.
///
/// # Errors
/// As [`fragment_of`], and where the browser cannot pack it.
pub async fn results_code(results: &Results) -> Result<String, ShareError> {
    let packed = browser::pack(results.write().into_bytes(), MAX_LINK_BYTES).await?;
    fragment_of(Payload::Results, &packed)
}

/// The results in a code.
///
/// # Errors
/// The code is not complete, or from another version.
pub async fn results_in(code: &str) -> Result<Results, ShareError> {
    match carried(code).await? {
        Carried::Results(results) => Ok(*results),
        Carried::State(_) | Carried::Puzzle(_) | Carried::Lesson(_) => Err(ShareError::NotALink),
    }
}

/// A link to a step, from 0, of a lesson of the page; of one of somebody's own it carries the
/// lesson.
///
/// # Errors
/// A sentence for the visitor when the lesson is too long for a link, or the browser cannot pack
/// it.
pub async fn lesson_link(open: &OpenLesson, step: usize) -> Result<String, &'static str> {
    let fragment = match open.id {
        Some(id) => listed_lesson_fragment(id, step + 1),
        None if open.text.len() > MAX_STATE_BYTES => return Err(TOO_LONG),
        None => {
            let packed = browser::pack(open.text.as_bytes().to_vec(), MAX_LINK_BYTES).await;
            let fragment = packed.and_then(|packed| fragment_of(Payload::Lesson, &packed));
            fragment.map_err(refused)?
        }
    };
    Ok(format!("{}#{fragment}", browser::address()))
}

/// Copies a link that is being made, and says `copied`; where the browser copies nothing, it shows
/// the link.
pub fn copy(
    page: Page,
    link: impl Future<Output = Result<String, &'static str>> + 'static,
    copied: &'static str,
) {
    browser::spawn(async move {
        match link.await {
            Ok(link) if browser::copy(&link).await => page.tell(copied),
            Ok(link) => page.tell(format!("Copy this link: {link}")),
            Err(problem) => page.tell_failure(problem),
        }
    });
}

const TOO_LONG: &str = "The text is too long for a link. Export it as a file instead.";

const fn refused(problem: ShareError) -> &'static str {
    match problem {
        ShareError::Unsupported => {
            "This browser is too old to make links. Export the text as a file instead."
        }
        _ => TOO_LONG,
    }
}

/// A link to what the page shows.
///
/// # Errors
/// A sentence for the visitor when the text is too long for a link, or the browser cannot pack it.
pub async fn link(page: Page) -> Result<String, &'static str> {
    link_with_note(page, None).await
}

/// A link to what the page shows, with a note to its reader.
///
/// # Errors
/// As [`link`].
pub async fn link_with_note(page: Page, note: Option<Note>) -> Result<String, &'static str> {
    link_to(&SharedState {
        note,
        ..shown(page)
    })
    .await
}

/// A link to a state of the page.
///
/// # Errors
/// As [`link`].
pub async fn link_to(state: &SharedState) -> Result<String, &'static str> {
    let fragment = packed(state).await.map_err(refused)?;
    Ok(format!("{}#{fragment}", browser::page_address()))
}

async fn packed(state: &SharedState) -> Result<String, ShareError> {
    let written = write_state(state)?.into_bytes();
    fragment_of(
        Payload::State,
        &browser::pack(written, MAX_LINK_BYTES).await?,
    )
}

/// The state that a link stores, without a note: one that came with a link is not the visitor's to
/// send.
pub(super) fn shown(page: Page) -> SharedState {
    let mut state = choices(page);
    state.text = page.text.get_untracked();
    let selection = page.selection.get_untracked();
    state.selected_op =
        (page.analysis).with_untracked(|analysis| selection.op_name(analysis).map(str::to_owned));
    state
}

/// The state that a link stores, without text and selection.
pub(super) fn choices(page: Page) -> SharedState {
    SharedState {
        text: String::new(),
        policy: page.chosen.policy.get_untracked(),
        fusion: page.chosen.fusion.get_untracked(),
        conventions: page.chosen.conventions.get_untracked(),
        device: page.chosen.device.get_untracked(),
        is_unfused_view: !page.chosen.is_fused.get_untracked(),
        selected_op: None,
        open_tab: Some(page.screen.tab.get_untracked())
            .filter(|&tab| tab != Tab::default())
            .map(|tab| <&str>::from(tab).to_owned()),
        puzzle: (page.screen.puzzle)
            .with_untracked(|puzzle| Some(puzzle.as_ref()?.link_name().to_owned())),
        moves: None,
        note: None,
    }
}

/// Chooses what the state says, all but its text, without a step of undo.
pub(crate) fn choose(page: Page, state: SharedState) {
    page.set_choices((&state).into());
    choose_views(page, state);
}

/// Opens the tab that the state names.
pub(super) fn choose_views(page: Page, state: SharedState) {
    // Once a tab; links still name it.
    if state.open_tab.as_deref() == Some("functions") {
        page.show_ops(OpsView::Functions);
    }
    let tab = state.open_tab.and_then(|name| name.parse().ok());
    page.screen.tab.set(tab.unwrap_or_default());
}
