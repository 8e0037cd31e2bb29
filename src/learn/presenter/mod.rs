//! Presenting to a class: the keys that step, what the window with the speaker's notes shows,
//! and a plan of 90 minutes.

pub mod command;
pub mod messages;
pub mod plan;
pub mod qr;
