//! The page's components: they show an analysis and hold no arithmetic.

pub mod announcer;
pub mod attention_view;
mod bar_choices;
pub mod chart;
mod chart_markup;
mod chart_tip;
pub mod charts;
pub mod compare_view;
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
pub mod kernels;
pub mod limits_view;
pub mod measured_view;
mod op_edit;
mod op_row;
pub mod open_file;
pub mod ops;
pub mod ops_table;
pub mod results;
mod share_button;
pub mod sliders;
pub mod strip;
mod tabs;
pub mod top_bar;
mod words;

pub use crate::views::badge;
