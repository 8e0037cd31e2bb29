//! Left and right of a kernel's panel: the lanes and pills beside it, and the order in which they
//! are there.

use super::dag_layout::PillId;
use super::kernel_layout::RowId;
use super::layered::LinkId;
use super::metrics::{LANE_GAP, LANE_PITCH, OP_HEIGHT, PILL_GAP, PILL_HEIGHT, PILL_STACK_GAP};
use super::side::{BySide, Side};
use fuseline_core::OpId;
use std::collections::BTreeMap;

/// Lanes of one side that a new one is compared with.
const MAX_COMPARED_LANES: usize = 64;

/// A net that comes down beside the panel and turns into ops of it.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) link: LinkId,
    /// Rows and ops that it enters, from the top.
    pub(super) enters: Vec<(RowId, OpId)>,
    /// The only side from which its ops can be reached; `None` when both will do.
    pub(super) required: Option<Side>,
    /// The side to take where both will do.
    pub(super) preferred: Side,
}

impl Lane {
    fn first_row(&self) -> Option<RowId> {
        self.enters.first().map(|&(row, _)| row)
    }

    fn last_row(&self) -> Option<RowId> {
        self.enters.last().map(|&(row, _)| row)
    }

    /// Whether it can run between the panel and `outer` without a crossing.
    fn fits_inside(&self, outer: &Self) -> bool {
        self.last_row() <= outer.first_row()
    }
}

/// A pill beside an op that reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SidePill {
    pub(super) pill: PillId,
    pub(super) op: OpId,
    pub(super) width: f64,
    /// The only side from which the op can be reached; `None` when both will do.
    pub(super) required: Option<Side>,
}

/// The lanes that turn into one op from one side, and below them the pills beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct SideStack {
    /// Indices into [`PanelSides::lanes`] of this side.
    pub(super) lanes: Vec<usize>,
    pub(super) pills: Vec<PillId>,
}

impl SideStack {
    pub(super) fn height(&self) -> f64 {
        let lanes = self.lanes.len() as f64 * LANE_PITCH;
        let pills = self.pills.len() as f64 * PILL_HEIGHT;
        let gaps = self.pills.len().saturating_sub(1) as f64 * PILL_STACK_GAP;
        lanes + pills + gaps
    }

    /// Heights of the centres of lanes and of pills, from the centre of the op.
    pub(super) fn centers(&self) -> (Vec<f64>, Vec<f64>) {
        let top = -self.height() / 2.0;
        let lane = |index: usize| top + LANE_PITCH * (index as f64 + 0.5);
        let first_pill = top + LANE_PITCH * self.lanes.len() as f64 + PILL_HEIGHT / 2.0;
        let pill = |index: usize| first_pill + (PILL_HEIGHT + PILL_STACK_GAP) * index as f64;
        (
            (0..self.lanes.len()).map(lane).collect(),
            (0..self.pills.len()).map(pill).collect(),
        )
    }

    /// Height of an op's box whose side all of these can reach.
    pub(super) fn op_height(&self) -> f64 {
        let (lanes, pills) = self.centers();
        let offsets = lanes.iter().chain(&pills).map(|y| y.abs());
        OP_HEIGHT.max(2.0 * (offsets.fold(0.0, f64::max) + 6.0))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct PanelSides {
    /// The nearest to the panel first.
    pub(super) lanes: BySide<Vec<Lane>>,
    pills: BySide<Vec<SidePill>>,
    /// By op, where there is any lane or pill.
    stacks: BTreeMap<OpId, BySide<SideStack>>,
}

impl PanelSides {
    /// Gives every lane and pill its side: lanes the preferred one unless they would cross others
    /// there, pills the one with fewer lanes.
    pub(super) fn new(mut lanes: Vec<Lane>, pills: &[SidePill]) -> Self {
        let mut sides = Self::default();
        // Lanes without a choice come first, so that the others can avoid them.
        lanes.sort_by_key(|lane| (lane.required.is_none(), lane.last_row(), lane.first_row()));
        for lane in lanes {
            let (preferred, other) = (lane.preferred, lane.preferred.other());
            let side = lane.required.unwrap_or_else(|| {
                if !sides.is_free(&lane, preferred) && sides.is_free(&lane, other) {
                    other
                } else {
                    preferred
                }
            });
            let lanes = &mut sides.lanes[side];
            let at = lanes.partition_point(|other| other.fits_inside(&lane));
            lanes.insert(at, lane);
        }
        let usual = if sides.lanes.left.len() > sides.lanes.right.len() {
            Side::Right
        } else {
            Side::Left
        };
        let mut last: Option<(OpId, Side)> = None;
        for &pill in pills {
            let side = pill.required.unwrap_or(match last {
                // Pills of one op alternate.
                Some((op, side)) if op == pill.op => side.other(),
                _ => usual,
            });
            last = Some((pill.op, side));
            sides.pills[side].push(pill);
        }
        for side in Side::BOTH {
            for (index, lane) in sides.lanes[side].iter().enumerate() {
                for &(_, op) in &lane.enters {
                    sides.stacks.entry(op).or_default()[side].lanes.push(index);
                }
            }
            for pill in &sides.pills[side] {
                let stack = &mut sides.stacks.entry(pill.op).or_default()[side];
                stack.pills.push(pill.pill);
            }
        }
        sides
    }

    /// Whether a lane would cross no other one on this side.
    fn is_free(&self, lane: &Lane, side: Side) -> bool {
        self.lanes[side]
            .iter()
            // Quadratic without a limit. Beyond it a crossing is possible.
            .take(MAX_COMPARED_LANES)
            .all(|other| other.fits_inside(lane) || lane.fits_inside(other))
    }

    /// The lanes and pills beside `op`.
    pub(super) fn stacks(&self, op: OpId) -> Option<&BySide<SideStack>> {
        self.stacks.get(&op)
    }

    /// Distance from the panel to a lane of this side.
    pub(super) fn lane_distance(&self, side: Side, index: usize) -> f64 {
        self.pills_width(side) + LANE_GAP * (index + 1) as f64
    }

    fn pills_width(&self, side: Side) -> f64 {
        let widths = self.pills[side].iter().map(|pill| PILL_GAP + pill.width);
        widths.fold(0.0, f64::max)
    }

    /// Width of all that is on this side.
    pub(super) fn width(&self, side: Side) -> f64 {
        self.pills_width(side) + LANE_GAP * self.lanes[side].len() as f64
    }
}
