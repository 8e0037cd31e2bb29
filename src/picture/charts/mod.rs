//! Charts as scenes: marks with roles instead of colours. Plotters draws their axes.

pub mod attention_growth;
mod axis;
mod bounds;
mod bytes_axis;
mod frame;
mod kernel_bytes;
mod labels;
mod marks;
pub mod measured_scatter;
mod occupancy;
mod recording;
mod role;
pub mod roofline;
mod roofline_arcs;
pub mod roofline_compare;
mod roofline_frame;
mod roofline_names;
mod roofline_numbers;
mod roofline_points;
mod roofs;
pub mod scene;
pub mod traffic_bars;
mod traffic_bars_by_kernel;

pub use traffic_bars_by_kernel::{by_kernel_scene, folded_by_kernel_scene};
