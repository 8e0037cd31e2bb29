//! The page's components: they show an analysis and hold no arithmetic.

pub mod announcer;
pub mod app;
pub mod bar;
pub mod charts;
pub mod diagnostics;
pub mod fixes;
pub mod graph;
pub mod headline;
pub mod inspector;
mod keyed_rows;
pub mod memory_warning;
pub mod open_file;
pub mod ops;
pub mod picker;
pub mod print_head;
pub mod radio_button;
pub mod results;
pub mod sentence;
pub mod show_more;
pub mod sliders;
pub mod sort_header;
pub mod strip;
pub mod tabs;
pub mod work_line;
pub mod workbench;
