//! Numbers, sentences and table rows for people: what the page and the command line show alike.

pub mod badge;
pub mod compare;
pub mod explain;
pub mod format;
pub mod kernel_details;
pub mod kernels;
pub mod limits;
pub mod manual;
pub mod quoted;
pub mod report;
pub mod steps;
pub mod why;
