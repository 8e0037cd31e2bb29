//! The views of the page, which lessons point at and a presenter fills the screen with.

use serde::{Deserialize, Serialize};
use strum::{EnumIter, EnumString, IntoStaticStr, VariantArray, VariantNames};

/// A part of the page.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    EnumIter,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "lowercase")]
pub enum View {
    /// The figures of the whole program.
    Headline,
    /// The sliders.
    Sizes,
    /// The op list.
    Operations,
    /// The graph of ops and kernels.
    Graph,
    Roofline,
    /// The bars of memory traffic.
    Traffic,
    /// The tabs below the pictures.
    Details,
    /// The memory timeline.
    Timeline,
    /// Who fuses, with the options of fusion.
    Policies,
    /// GPU, element type and counting conventions. New views come last: a presenter shows each by
    /// the digit of its position.
    Model,
}

impl View {
    /// The name in lessons and addresses.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Headline => "Headline",
            Self::Sizes => "Sizes",
            Self::Operations => "Operations",
            Self::Graph => "Graph",
            Self::Roofline => "Roofline",
            Self::Traffic => "Memory traffic",
            Self::Details => "Details",
            Self::Timeline => "Memory timeline",
            Self::Policies => "Fusion policy",
            Self::Model => "GPU and model",
        }
    }

    /// Whether it is a line or two of any width, and no picture that fills the screen.
    pub const fn is_band(self) -> bool {
        matches!(
            self,
            Self::Headline | Self::Sizes | Self::Policies | Self::Model
        )
    }
}
