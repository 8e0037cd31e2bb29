//! The state of the page: the text, what the visitor chose beside it, and what is computed from
//! both.
//!
//! The text is the single source of truth: every edit, wherever it is made, is a new text through
//! [`Page::edit`] or [`Page::replace`]. [`Page`] is made once at the root and given to all
//! components as context.

mod actions;
mod against;
mod checked;
mod choices;
mod chosen;
mod derived;
mod drawn;
mod explained;
mod memos;
mod origin;
mod page;
mod pictures;
mod pinned;
mod profile;
mod questions;
mod screen;
mod selection;
mod set_if_changed;
mod slider;
mod stepping;
mod switching;
mod understanding;

pub use actions::{PictureForm, today};
pub use choices::{FocusRequest, Notice, NoticeAction, OpsView, Theme};
pub use drawn::{Drawing, Drawn};
pub use explained::{Explained, ExplanationOf};
pub use fuseline_view::page::tab::Tab;
pub use memos::{settled, shared_memo, unhurried};
pub use origin::{ProgramOrigin, Sent};
pub use page::Page;
pub use pinned::Pinned;
pub use profile::OpenProfile;
pub use screen::Screen;
pub use selection::Selection;
pub use set_if_changed::SetIfChanged;
pub use slider::Turn;
