//! Numbers, sentences and table rows for people: what the page and the command line show alike.

pub mod explain;
pub mod format;
pub mod report;
