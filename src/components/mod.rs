//! The page's components: they show an analysis and hold no arithmetic.

pub mod badge;
pub mod charts;
mod dag_parts;
mod dag_updates;
pub mod dag_view;
pub mod device_picker;
pub mod diagnostics;
pub mod editor;
pub mod export_menu;
pub mod graph;
pub mod headline;
pub mod kernel_details;
pub mod kernels;
pub mod op_cells;
pub mod op_row;
pub mod open_file;
pub mod ops;
pub mod ops_table;
pub mod picker;
pub mod scene_view;
pub mod share_button;
pub mod sliders;
pub mod strip;
pub mod text_cell;
pub mod top_bar;
mod words;
