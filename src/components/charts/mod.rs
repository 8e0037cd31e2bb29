//! Charts: scenes shown as SVG, whose marks can be pointed at, focused, named and selected.
//!
//! [`Chart`] draws a scene for the width that it is given, [`SceneView`] shows one. Nothing is drawn while a chart has no
//! width, because what holds it is closed or hidden.

pub mod chart;
pub mod chart_state;
pub mod mark;
pub mod panel;
pub mod scene_view;
pub mod tip;

pub use chart::{Chart, KernelChart};
pub use panel::Charts;
pub use scene_view::SceneView;
