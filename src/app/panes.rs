//! How the window is divided between the panes of the workbench. Pure: the page stores it and
//! passes it to the style sheet.

use std::fmt;
use std::str::FromStr;

/// Least part of the width that a pane takes, in percent.
const MIN_PERCENT: f64 = 15.0;
/// Least height of the panes, in CSS pixels.
const MIN_HEIGHT_PX: f64 = 320.0;
/// Greatest height of the panes, in CSS pixels.
const MAX_HEIGHT_PX: f64 = 4000.0;
/// Positions are multiples of a power of two, whose sums and differences are exact: a pane that is
/// moved to its least width has exactly that width.
const STEPS_PER_UNIT: f64 = 64.0;

/// The sizes of the panes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panes {
    /// Where the ops end and the graph begins, in percent of the width.
    graph_start: f64,
    /// Where the graph ends and the charts begin, in percent of the width.
    graph_end: f64,
    /// Their height in CSS pixels; `None` is as much as the window has.
    height_px: Option<f64>,
}

/// A line between panes that can be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divider {
    /// Between the ops and the graph. Its position is in percent of the width.
    OpsGraph,
    /// Between the graph and the charts. Its position is in percent of the width.
    GraphCharts,
    /// Below all three. Its position is their height in CSS pixels.
    Below,
}

impl Default for Panes {
    fn default() -> Self {
        Self {
            graph_start: 26.0,
            graph_end: 67.0,
            height_px: None,
        }
    }
}

impl Panes {
    /// With a divider as near to a position as the least sizes of the panes allow.
    #[must_use]
    pub fn moved(self, divider: Divider, position: f64) -> Self {
        let [least, greatest] = self.range(divider);
        // What is not a number becomes the least.
        let position = if position > least {
            position.min(greatest)
        } else {
            least
        };
        let position = (position * STEPS_PER_UNIT).round() / STEPS_PER_UNIT;
        match divider {
            Divider::OpsGraph => Self {
                graph_start: position,
                ..self
            },
            Divider::GraphCharts => Self {
                graph_end: position,
                ..self
            },
            Divider::Below => Self {
                height_px: Some(position),
                ..self
            },
        }
    }

    /// With a divider where it is at first. The other one may have come near to that position, so
    /// both between columns return.
    #[must_use]
    pub fn reset(self, divider: Divider) -> Self {
        let first = Self::default();
        match divider {
            Divider::OpsGraph | Divider::GraphCharts => Self {
                height_px: self.height_px,
                ..first
            },
            Divider::Below => Self {
                height_px: None,
                ..self
            },
        }
    }

    /// The least and the greatest position of a divider.
    pub const fn range(self, divider: Divider) -> [f64; 2] {
        match divider {
            Divider::OpsGraph => [MIN_PERCENT, self.graph_end - MIN_PERCENT],
            Divider::GraphCharts => [self.graph_start + MIN_PERCENT, 100.0 - MIN_PERCENT],
            Divider::Below => [MIN_HEIGHT_PX, MAX_HEIGHT_PX],
        }
    }

    /// The position of a divider; `None` if the window decides it.
    pub const fn position(self, divider: Divider) -> Option<f64> {
        match divider {
            Divider::OpsGraph => Some(self.graph_start),
            Divider::GraphCharts => Some(self.graph_end),
            Divider::Below => self.height_px,
        }
    }

    /// The widths of ops, graph and charts in percent.
    pub fn widths(self) -> [f64; 3] {
        [
            self.graph_start,
            self.graph_end - self.graph_start,
            100.0 - self.graph_end,
        ]
    }
}

/// As it is stored: `30 70` or `30 70 640`.
impl fmt::Display for Panes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.graph_start, self.graph_end)?;
        match self.height_px {
            Some(height_px) => write!(f, " {height_px}"),
            None => Ok(()),
        }
    }
}

/// What was stored, with sizes that are possible. Another version of the page may have stored
/// something else.
impl FromStr for Panes {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let positions = text.split(' ').map(str::parse);
        let positions = positions.collect::<Result<Vec<f64>, _>>()?;
        let dividers = [Divider::OpsGraph, Divider::GraphCharts, Divider::Below];
        let panes = dividers.into_iter().zip(positions);
        // From the outermost positions, so that no divider stops at the default position of the
        // other.
        let open = Self {
            graph_start: MIN_PERCENT,
            graph_end: 100.0 - MIN_PERCENT,
            height_px: None,
        };
        Ok(panes.fold(open, |panes, (divider, position)| {
            panes.moved(divider, position)
        }))
    }
}
