//! What the browser's storage holds, by key. Visitors have data under these names: a new form of
//! one gets a key of its own.

/// A document; its id follows.
pub(super) const DOCUMENT: &str = "fuseline.document.";
/// A program that was opened and is not drawn yet; the id of a document or the name of a link
/// follows.
pub(super) const STARTING: &str = "fuseline.starting.";
/// GPUs that the visitor measured, or that came with a link.
pub(super) const DEVICES: &str = "fuseline.devices";
pub(super) const THEME: &str = "fuseline.theme";
pub(super) const OPS_VIEW: &str = "fuseline.ops-view";
pub(super) const IS_OPS_OPEN: &str = "fuseline.ops-open";
/// How the window is divided.
pub(crate) const PANES: &str = "fuseline.panes";
/// How far the visitor is in lessons.
pub(super) const LESSONS: &str = "fuseline.lessons";
/// The last lesson of somebody's own that was opened.
pub(super) const OWN_LESSON: &str = "fuseline.own-lesson";
/// How far the visitor is in puzzles.
pub(super) const PUZZLES: &str = "fuseline.puzzles";
/// What the visitor hands in.
pub(super) const RESULTS: &str = "fuseline.results";
/// What a class has handed in.
pub(super) const CLASS: &str = "fuseline.class";
/// How far a workshop is that the visitor presents.
pub(super) const WORKSHOP: &str = "fuseline.workshop";
