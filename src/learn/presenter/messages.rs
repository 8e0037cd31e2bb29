//! Messages between the page and the window with the speaker's notes.

use super::command::PresenterCommand;
use super::plan::Workshop;
use crate::stage::Stage;
use serde::{Deserialize, Serialize};

/// The address of the window with the notes has this name with the id of the page: `?notes=ID`.
pub const NOTES: &str = "notes";

/// The name of the channel between a page and its window with notes; `id` is of the page.
pub fn channel_name(id: &str) -> String {
    format!("fuseline.presenter.{id}")
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromPage {
    Shows(Box<AudienceView>),
    /// Nothing is presented any longer.
    Ended,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromNotes {
    /// It is open and wants to know what is shown.
    Opened,
    /// A command of the speaker.
    Does(PresenterCommand),
    /// The clock begins again, for the class comes later than the page.
    RestartsClock,
    /// Goes to a lesson of the page, and to a step of it, from 0.
    GoTo(String, usize),
}

/// The screen that the class sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AudienceView {
    /// The workshop, if one is presented.
    pub workshop: Option<Workshop>,
    /// The step of a lesson, if one is open and no slide is over it.
    pub place: Option<PresentedStep>,
    pub program: String,
    /// Its result, in a sentence.
    pub result: String,
    /// The parts of the page on the screen.
    pub stage: Stage,
    pub is_fused: bool,
    pub is_blank: bool,
    /// When presenting began, in milliseconds since 1970.
    pub began_ms: u64,
}

/// What the class sees of a lesson: a step, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentedStep {
    /// The lesson of the page; `None` for one of somebody's own.
    pub id: Option<String>,
    /// The file of the lesson.
    pub text: String,
    /// The step, from 0.
    pub step: usize,
    /// Whether its task is answered.
    pub is_answered: bool,
    /// Whether the class sees the end of the lesson, after its last step.
    pub is_closing: bool,
}
