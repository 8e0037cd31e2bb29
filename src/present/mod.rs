//! What is shown, as plain data: table rows with their figures as text, and words for people. No markup, so that tests
//! read natively what a visitor sees.

pub mod badge;
pub mod kernels;
pub mod limits;
