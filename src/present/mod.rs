//! Numbers, sentences and table rows for people: what the page and the command line show alike.

pub mod certificates;
pub mod decisions;
pub mod devices;
pub mod explain;
pub mod format;
pub mod limits;
pub mod names;
pub mod options;
pub mod reasons;
pub mod report;
pub mod times;
