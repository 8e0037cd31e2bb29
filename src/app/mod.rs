//! What the page knows beside the program: undo and links. Pure, and native as well, so that tests reach it.

pub mod history;
pub mod links;
