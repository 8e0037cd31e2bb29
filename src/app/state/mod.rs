//! The state of the page: the text, what the visitor chose beside it, and what is computed from both.
//!
//! The text is the single source of truth: every edit, wherever it is made, is a new text through [`Page::edit`] or
//! [`Page::replace`]. [`Page`] is made once at the root and given to all components as context.

mod actions;
mod by_hand;
mod choices;
mod derived;
mod drawn;
mod explained;
mod hold;
mod measured_devices;
mod memos;
mod page;
mod pin;
mod profile;
mod questions;
mod selection;
mod sent;
mod steps;
mod sweeping;
mod switching;
mod tabs;
mod taking;

pub use choices::{FocusRequest, Notice, NoticeAction, OpsView, Theme};
pub use drawn::{Drawing, Drawn};
pub use explained::{Explained, Told};
pub use fuseline_view::page::tab::Tab;
pub use hold::Turn;
pub use measured_devices::today;
pub use memos::{settled, shared_memo, unhurried};
pub use page::{Page, SetIfChanged};
pub use pin::Pinned;
pub use profile::OpenProfile;
pub use selection::Selection;
pub use sent::Sent;
pub use sweeping::{Sweeping, Swept};
pub use taking::PictureForm;
