//! What the page and the command line show, as data: no markup and no web type, so that tests read
//! natively what a visitor sees.
//!
//! [`present`] has the numbers, sentences and rows, [`picture`] the graph and the charts.
//! [`opened`] tells what a file is and what becomes of it, and [`page`] names what the page can
//! show.

pub mod opened;
pub mod page;
pub mod picture;
pub mod present;
