//! What the page can show, by name: for links, lessons and embedded pages.

pub mod links;
pub mod note;
pub mod tab;
pub mod view;
