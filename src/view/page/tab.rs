//! The tabs of the panel below the pictures. Links and lessons name them.

use strum::{EnumIter, EnumString, IntoStaticStr};

/// The tabs of the panel below the pictures, in their order. The names are stored in links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumIter, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Tab {
    /// The kernels with their figures.
    #[default]
    Kernels,
    /// Why edges are not fused.
    Why,
    /// The decisions of the policy, one by one.
    Steps,
    /// Changes that would save time.
    Advice,
    /// All policies side by side.
    Compare,
    /// A param along an axis.
    Sweep,
    /// Resources that each kernel needs of the device.
    Limits,
    /// A matmul in tiles.
    Tiling,
    /// Attention as one kernel.
    Attention,
    /// Where values are rounded, on numbers.
    Precision,
    /// The kernels as profilers would show them.
    Profiler,
    /// The model against a real GPU.
    Measured,
    /// The program on the GPU of the visitor.
    Gpu,
}

impl Tab {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kernels => "Kernels",
            Self::Why => "Why not",
            Self::Steps => "Steps",
            Self::Advice => "What to do",
            Self::Compare => "Compare",
            Self::Sweep => "Sweep",
            Self::Limits => "Limits",
            Self::Tiling => "Tiling",
            Self::Attention => "Attention",
            Self::Precision => "Precision",
            Self::Profiler => "Profiler",
            Self::Measured => "Measured",
            Self::Gpu => "Your GPU",
        }
    }

    /// Whether it tells of the fused kernels, whatever the pictures show.
    pub const fn is_of_fused_kernels(self) -> bool {
        match self {
            Self::Kernels
            | Self::Why
            | Self::Steps
            | Self::Advice
            | Self::Limits
            | Self::Tiling
            | Self::Profiler => true,
            Self::Compare
            | Self::Sweep
            | Self::Attention
            | Self::Precision
            | Self::Measured
            | Self::Gpu => false,
        }
    }

    /// The title above the tabs that answer the same kind of question. Tabs of a group stand side
    /// by side.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Kernels | Self::Why | Self::Steps => "Why",
            Self::Advice | Self::Compare | Self::Sweep => "What if",
            Self::Limits | Self::Tiling | Self::Attention | Self::Precision => "Deeper",
            Self::Profiler | Self::Measured | Self::Gpu => "Real GPUs",
        }
    }
}
