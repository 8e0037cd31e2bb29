//! Views as functions from data to [`crate::markup::Markup`]: what a component shows, without a browser.

pub mod compare;
pub mod fusion_options;
pub mod manual;
pub mod steps;
pub mod why;
pub mod words;
