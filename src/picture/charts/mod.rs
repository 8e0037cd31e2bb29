//! Charts: drawn by plotters into scenes of marks that carry roles instead of colours.

pub mod attention_growth;
mod axes;
mod bounds;
mod labels;
pub mod measured_scatter;
mod occupancy;
mod recording;
pub mod roofline;
mod roofline_arcs;
pub mod roofline_compare;
mod roofline_names;
mod roofline_numbers;
mod roofline_points;
pub mod scene;
pub mod traffic_bars;
mod traffic_bars_by_kernel;

pub use traffic_bars_by_kernel::by_kernel_scene;
