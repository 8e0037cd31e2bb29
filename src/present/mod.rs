//! Numbers, sentences and table rows for people: what the page and the command line show alike.

pub mod attention;
pub mod badge;
pub mod explain;
pub mod format;
pub mod kernels;
pub mod limits;
pub mod measured;
pub mod report;
