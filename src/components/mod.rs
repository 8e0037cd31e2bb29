//! The page's components: they show an analysis and hold no arithmetic.

pub mod announcer;
pub mod app;
mod bar_choices;
pub mod charts;
pub mod compare_view;
mod dag_merge;
mod dag_moves;
mod dag_parts;
mod dag_updates;
pub mod dag_view;
mod device_figures;
pub mod diagnostics;
pub mod editor;
mod export_menu;
mod fusion_options;
pub mod graph;
pub mod headline;
pub mod kernel_details;
pub mod kernel_rows;
pub mod kernels;
pub mod limits_view;
mod manual;
mod op_edit;
mod op_row;
pub mod open_file;
pub mod ops;
pub mod ops_table;
pub mod results;
mod share_button;
pub mod sliders;
pub mod steps_view;
pub mod strip;
pub mod tabs;
pub mod top_bar;
pub mod why_view;

pub use crate::present::badge;
