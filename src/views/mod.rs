//! Views as functions from data to [`crate::markup::Markup`]: what a component shows, without a browser.

pub mod words;
