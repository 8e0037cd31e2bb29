//! Pictures as files: SVG with a light ground, a caption and all colours inside.

mod chart;
mod drawing;
mod element;
mod graph;
mod overview;
mod styles;

pub use chart::chart;
pub use drawing::Drawing;
pub use graph::graph;
pub use styles::StyleSheets;

use super::charts::{Charted, by_kernel_scene_of, roofline, timeline, traffic_bars};
use super::dag::DagLayout;
use super::dag::sight::{Sight, is_overview};
use super::dag::viewport::{Size, whole_scale};
use super::dag::wrap::largest_whole;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::Analysis;
use overview::overview;
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Where a picture goes. Charts are drawn for their width, so that their texts have the size of the
/// page's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// The frame in which a graph is as large as can be, in CSS pixels.
    pub frame: Size,
    /// Whether nobody can enlarge the picture, so that a graph whose words are too small to read is
    /// drawn without them.
    pub is_paper: bool,
    /// Width of a chart, in CSS pixels.
    pub chart_width: f64,
    /// Height of the roofline over its width.
    pub roofline_ratio: f64,
    /// Height of the memory timeline over its width.
    pub timeline_ratio: f64,
    /// Height of the bars of traffic over their width.
    pub traffic_ratio: f64,
}

/// For screens and slides.
pub const SCREEN: Format = Format {
    frame: (960.0, 720.0),
    is_paper: false,
    chart_width: 960.0,
    roofline_ratio: 0.62,
    timeline_ratio: 0.45,
    traffic_ratio: 0.25,
};
/// For a sheet of A4 or Letter: a page for the graph, a page for the charts and tables below them.
pub const PAPER: Format = Format {
    frame: (680.0, 718.0),
    is_paper: true,
    chart_width: 680.0,
    roofline_ratio: 0.34,
    timeline_ratio: 0.3,
    traffic_ratio: 0.21,
};

/// Columns of a graph, at most.
const MAX_COLUMNS: usize = 8;

/// The pictures of a program. Names are those of the command line, of files, and of the views of an
/// embedded page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum PictureKind {
    /// Ops, kernels and tensors.
    Graph,
    Roofline,
    /// Tensors in memory, kernel by kernel.
    Timeline,
    /// Memory traffic, all kernels in one bar.
    Traffic,
    /// Memory traffic, a row for each kernel.
    ByKernel,
}

impl PictureKind {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Graph => "Graph",
            Self::Roofline => "Roofline",
            Self::Timeline => "Memory timeline",
            Self::Traffic => "Memory traffic",
            Self::ByKernel => "Traffic by kernel",
        }
    }

    /// The key of its marks, for the caption.
    pub const fn key(self, is_fused: bool) -> &'static str {
        match (self, is_fused) {
            (Self::Graph, true) => {
                "Numbered boxes: kernels. Solid lines: tensors that go through memory, wider when larger. Dotted lines: tensors that stay on chip. Thin lines inside a kernel: views, which copy nothing."
            }
            (Self::Graph, false) => {
                "Each op is a kernel of its own. Lines: tensors that go through memory, wider when larger."
            }
            (Self::Roofline, true) => {
                "Hollow: the ops of a kernel, unfused. Solid: the fused kernel. Small: one op."
            }
            (Self::Roofline, false) => "Hollow: the ops of a kernel, unfused. Small: one op.",
            (Self::Timeline, _) => {
                "Boxes: kernels in launch order. Bars: tensors in DRAM, as high as their bytes. Arrows: reads and hatched writes, as wide as their bytes."
            }
            (Self::Traffic | Self::ByKernel, _) => "Solid: reads. Hatched: writes.",
        }
    }
}

/// A program and its look on the page.
#[derive(Clone, Copy)]
pub struct Pictured<'a> {
    pub analysis: &'a Arc<Analysis>,
    /// Where it is drawn, in one column.
    pub layout: &'a DagLayout,
    /// Whether the kernels are shown, or every op by itself.
    pub is_fused: bool,
}

impl Pictured<'_> {
    /// A picture. A graph has as many columns as are largest in the frame.
    pub fn drawing(self, kind: PictureKind, format: Format) -> Drawing {
        let Self {
            analysis,
            layout,
            is_fused,
        } = self;
        let charted = Charted {
            analysis,
            repeats: &layout.repeats,
            is_fused,
            // A file shows one state.
            pinned: None,
            measured: None,
        };
        let width = format.chart_width;
        let sized = |ratio: f64| (width, width * ratio);
        match kind {
            PictureKind::Graph => {
                let wrapped = largest_whole(layout, format.frame, MAX_COLUMNS);
                let layout = wrapped.as_ref().unwrap_or(layout);
                let sight = Sight::of(layout, None);
                let scale = whole_scale(layout.size(), format.frame);
                if format.is_paper && is_overview(sight.ops.len(), scale) {
                    overview(analysis, layout, &sight, is_fused, scale)
                } else {
                    graph(analysis, layout, is_fused)
                }
            }
            PictureKind::Roofline => chart(
                &roofline::scene_of(charted, sized(format.roofline_ratio), None),
                is_fused,
            ),
            PictureKind::Timeline => chart(
                &timeline::scene_of(charted, sized(format.timeline_ratio), None),
                is_fused,
            ),
            PictureKind::Traffic => chart(
                &traffic_bars::scene_of(charted, sized(format.traffic_ratio), None),
                is_fused,
            ),
            PictureKind::ByKernel => chart(&by_kernel_scene_of(charted, width, None), is_fused),
        }
    }
}

/// The pictures of a handout, as SVG.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct HandoutPictures {
    /// Ops, kernels and tensors.
    pub graph: String,
    pub roofline: String,
    /// Tensors in memory.
    pub timeline: String,
    /// Memory traffic.
    pub traffic: String,
}

impl Pictured<'_> {
    pub fn handout(self, sheets: StyleSheets) -> HandoutPictures {
        let svg = |kind| self.drawing(kind, PAPER).bare_svg(sheets);
        HandoutPictures {
            graph: svg(PictureKind::Graph),
            roofline: svg(PictureKind::Roofline),
            timeline: svg(PictureKind::Timeline),
            traffic: svg(PictureKind::Traffic),
        }
    }
}
