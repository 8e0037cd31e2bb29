//! Numbers, sentences and table rows for people: what the page and the command line show alike.

pub mod badge;
pub mod conventions;
pub mod device_figures;
pub mod explain;
pub mod findings;
pub mod format;
pub mod headline;
pub mod kernels;
pub mod limits;
pub mod report;
pub mod sliders;
pub mod words;
