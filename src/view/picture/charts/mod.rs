//! Charts as scenes: marks with roles instead of colours. Plotters draws their axes.

pub mod attention_growth;
pub mod attention_walk;
mod axis;
pub mod bounds;
mod bytes_axis;
mod frame;
pub mod gpu_times;
mod kernel_bytes;
mod labels;
pub mod launches;
mod marks;
pub mod measured_scatter;
pub mod occupancy;
mod recording;
mod role;
pub mod roofline;
mod roofline_arcs;
pub mod roofline_compare;
mod roofline_frame;
mod roofline_kernel_points;
mod roofline_measured;
mod roofline_names;
mod roofline_numbers;
mod roofline_points;
mod roofs;
pub mod scene;
pub mod sweep;
pub mod tiling;
mod tiling_places;
mod tiling_waves;
pub mod timeline;
pub mod traffic_bars;
mod traffic_bars_by_kernel;
mod two_panels;

pub use traffic_bars_by_kernel::{by_kernel_scene, by_kernel_scene_of};

use crate::picture::dag::repeats::Repeats;
use fuseline_core::Analysis;
use fuseline_import::matching::Matching;
use std::sync::LazyLock;

/// The content of a chart of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Charted<'a> {
    /// The kernels.
    pub analysis: &'a Analysis,
    /// Of these iterations one stands for all.
    pub repeats: &'a Repeats,
    /// Whether they run fused, or op by op.
    pub is_fused: bool,
    /// The pinned kernels to compare with.
    pub pinned: Option<&'a Analysis>,
    /// The kernels that ran on a GPU for them.
    pub measured: Option<&'a Matching>,
}

impl<'a> Charted<'a> {
    /// All kernels, fused.
    pub fn fused(analysis: &'a Analysis) -> Self {
        static NONE: LazyLock<Repeats> = LazyLock::new(Repeats::default);
        Self {
            analysis,
            repeats: &NONE,
            is_fused: true,
            pinned: None,
            measured: None,
        }
    }
}
