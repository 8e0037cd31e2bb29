//! Views as functions from data to [`crate::markup::Markup`]: what a component shows, without a browser.

pub mod attention;
pub mod compare;
pub mod fusion_options;
pub mod manual;
pub mod measured;
pub mod steps;
pub mod why;
pub mod words;
