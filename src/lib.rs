//! The page of Fuseline: a Leptos single-page app over the layers below it.
//!
//! [`app`] holds what a visitor has chosen and written, the components show it.

use fuseline_view::picture::export::StyleSheets;

pub mod app;

#[cfg(target_arch = "wasm32")]
pub mod components;
#[cfg(target_arch = "wasm32")]
pub mod exports;
#[cfg(target_arch = "wasm32")]
pub mod worker;

/// The look of the page, which pictures in files have, too.
pub const STYLE_SHEETS: StyleSheets = StyleSheets {
    tokens: include_str!("../style/tokens.css"),
    charts: include_str!("../style/charts.css"),
    graph: include_str!("../style/dag.css"),
};
