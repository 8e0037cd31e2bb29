//! Charts: scenes shown as SVG, with marks that can be pointed at, focused and pressed.
//!
//! [`Chart`] draws a scene for its width, [`SceneView`] shows a scene. A hidden chart draws
//! nothing.

pub mod chart;
pub mod chart_state;
pub mod enlarge;
pub mod enlarged_chart;
pub mod legend;
pub mod mark;
pub mod panel;
pub mod scene_view;
pub mod tip;

pub use chart::{Chart, KernelChart, LargeChart, height_of};
pub use panel::{Charts, RooflinePanel, TimelinePanel, TrafficPanel};
pub use scene_view::SceneView;
