//! Presenting to a class: the views that fill the screen, the keys that step, what the window with the speaker's notes shows,
//! and a plan of 90 minutes.

pub mod command;
pub mod messages;
pub mod plan;
pub mod qr;
pub mod views;
