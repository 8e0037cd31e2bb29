//! The page's components: they show an analysis and hold no arithmetic.

pub mod announcer;
pub mod app;
pub mod attention_view;
mod bar_choices;
pub mod chart;
mod chart_markup;
mod chart_tip;
pub mod charts;
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
pub mod measured_view;
mod op_edit;
mod op_row;
pub mod open_file;
pub mod ops;
pub mod ops_table;
mod quoted;
pub mod results;
mod share_button;
pub mod sliders;
pub mod strip;
pub mod top_bar;

pub use crate::present::badge;
