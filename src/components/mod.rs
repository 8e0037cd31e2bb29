//! The page's components: they show an analysis and hold no arithmetic.

pub mod announcer;
pub mod app;
pub mod attention_view;
pub mod bar;
pub mod chart;
mod chart_markup;
mod chart_tip;
pub mod charts;
mod dag_merge;
mod dag_moves;
mod dag_parts;
mod dag_updates;
pub mod dag_view;
pub mod diagnostics;
pub mod graph;
pub mod headline;
pub mod measured_view;
pub mod open_file;
pub mod ops;
mod quoted;
pub mod results;
pub mod sentence;
pub mod sliders;
pub mod strip;

pub use crate::present::badge;
