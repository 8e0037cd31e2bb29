//! Numbers, sentences and table rows for people, as plain data: what the page and the command line show alike. No
//! markup, so that tests read natively what a visitor sees.

pub mod advice;
pub mod attention;
pub mod badge;
pub mod certificates;
pub mod compare;
pub mod custom_device;
pub mod decisions;
pub mod devices;
pub mod explain;
pub mod export;
pub mod findings;
pub mod format;
pub mod functions;
pub mod headline;
pub mod inspect;
pub mod kernel_details;
pub mod kernels;
pub mod limits;
pub mod manual;
pub mod measured;
pub mod memory;
pub mod names;
pub mod op_rows;
pub mod options;
pub mod reasons;
pub mod report;
pub mod search;
pub mod setup;
pub mod sliders;
pub mod steps;
pub mod tensor_rows;
pub mod times;
pub mod warnings;
pub mod why;
pub mod words;
