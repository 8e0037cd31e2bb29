//! The sides of a kernel's panel, with the lanes and pills beside it.
//!
//! A *lane* is a vertical line beside a panel: on it a net comes down and turns into one or more ops.

use super::layered::LinkId;
use super::metrics::{ENTRY_SLOT, LANE_GAP, OP_HEIGHT, PILL_GAP, PILL_HEIGHT, PILL_STACK_GAP};
use crate::core::OpId;
use crate::core::sorting::{rank_of, sort_by_rank};
use std::collections::BTreeMap;

/// Largest number of lanes of one side that a new lane is compared with.
const COMPARED: usize = 64;

/// Left or right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// -1 on the left, 1 on the right.
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Left => -1.0,
            Self::Right => 1.0,
        }
    }
}

/// The sides from which a box can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenSides {
    Neither,
    One(Side),
    Both,
}

impl OpenSides {
    /// The side, if there is only one.
    pub(super) fn only(self) -> Option<Side> {
        match self {
            Self::One(side) => Some(side),
            Self::Neither | Self::Both => None,
        }
    }
}

/// A net that comes down beside the panel and turns into ops of it.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) link: LinkId,
    /// The rows and ops that it enters, from the top.
    pub(super) enters: Vec<(usize, OpId)>,
    /// The side on which it must be; `None` if both are possible.
    pub(super) fixed_side: Option<Side>,
    /// The preferred side, if both are possible.
    pub(super) preferred_side: Side,
}

impl Lane {
    fn first_row(&self) -> usize {
        self.enters.first().map_or(0, |e| e.0)
    }

    fn last_row(&self) -> usize {
        self.enters.last().map_or(0, |e| e.0)
    }

    /// Whether `self` can be between the panel and `outer` without a crossing.
    fn fits_inside(&self, outer: &Self) -> bool {
        self.last_row() <= outer.first_row()
    }
}

/// A pill beside a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct SidePill {
    /// Its index in the layout.
    pub(super) pill: usize,
    pub(super) op: OpId,
    pub(super) width: f64,
    pub(super) fixed_side: Option<Side>,
}

/// Lanes and pills beside one op on one side, from top to bottom.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    /// Lanes that enter here, by index in [`Sides::lanes`] of this side.
    pub(super) lanes: Vec<usize>,
    /// Pills, by index in the layout.
    pub(super) pills: Vec<usize>,
}

impl Stack {
    pub(super) fn height(&self) -> f64 {
        let entries = self.lanes.len() as f64 * ENTRY_SLOT;
        let pills = self.pills.len() as f64 * (PILL_HEIGHT + PILL_STACK_GAP);
        (entries + pills
            - if self.pills.is_empty() {
                0.0
            } else {
                PILL_STACK_GAP
            })
        .max(0.0)
    }

    /// Vertical offsets of the lanes' ports and of the pills, from the middle of the op.
    pub(super) fn middles(&self) -> (Vec<f64>, Vec<f64>) {
        let mut y = -self.height() / 2.0;
        let mut step = |height: f64, gap: f64| {
            let middle = y + height / 2.0;
            y += height + gap;
            middle
        };
        let lanes = self.lanes.iter().map(|_| step(ENTRY_SLOT, 0.0)).collect();
        let pills = self
            .pills
            .iter()
            .map(|_| step(PILL_HEIGHT, PILL_STACK_GAP))
            .collect();
        (lanes, pills)
    }

    /// Height of an op's box that all of its ports fit.
    pub(super) fn op_height(&self) -> f64 {
        let (lanes, pills) = self.middles();
        let reach = lanes
            .iter()
            .chain(&pills)
            .fold(0.0_f64, |r, y| r.max(y.abs()));
        OP_HEIGHT.max(2.0 * (reach + 6.0))
    }
}

/// The lanes and pills on both sides of one panel.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    /// Lanes on the left and on the right, from the panel outwards.
    pub(super) lanes: [Vec<Lane>; 2],
    /// Pills on the left and on the right.
    pub(super) pills: [Vec<SidePill>; 2],
    /// For each op with lanes or pills beside it the stacks on the left and on the right.
    stacks: BTreeMap<OpId, [Stack; 2]>,
}

impl Sides {
    /// Assigns sides: lanes to the side nearest to their source if they cross no other lane, pills to the
    /// emptier side.
    pub(super) fn new(mut lanes: Vec<Lane>, pills: &[SidePill]) -> Self {
        let mut sides = Self::default();
        sort_by_rank(&mut lanes, |lane| {
            let is_free = i64::from(lane.fixed_side.is_none());
            (is_free, rank_of(lane.last_row()), rank_of(lane.first_row()))
        });
        for lane in lanes {
            let side = match lane.fixed_side {
                Some(side) => side,
                None if sides.is_free(&lane, lane.preferred_side) => lane.preferred_side,
                None if sides.is_free(&lane, lane.preferred_side.other()) => {
                    lane.preferred_side.other()
                }
                None => lane.preferred_side,
            };
            let place = &mut sides.lanes[side as usize];
            let at = place.partition_point(|other| other.fits_inside(&lane));
            place.insert(at, lane);
        }
        let crowd = |side: Side| sides.lanes[side as usize].len();
        let usual = if crowd(Side::Left) > crowd(Side::Right) {
            Side::Right
        } else {
            Side::Left
        };
        let mut last: Option<(OpId, Side)> = None;
        for &pill in pills {
            let side = pill.fixed_side.unwrap_or(match last {
                // Several pills of one op alternate between the sides.
                Some((op, side)) if op == pill.op => side.other(),
                _ => usual,
            });
            last = Some((pill.op, side));
            sides.pills[side as usize].push(pill);
        }
        for side in 0..2 {
            for (index, lane) in sides.lanes[side].iter().enumerate() {
                for &(_, op) in &lane.enters {
                    sides.stacks.entry(op).or_default()[side].lanes.push(index);
                }
            }
            for pill in &sides.pills[side] {
                sides.stacks.entry(pill.op).or_default()[side]
                    .pills
                    .push(pill.pill);
            }
        }
        sides
    }

    fn is_free(&self, lane: &Lane, side: Side) -> bool {
        self.lanes[side as usize]
            .iter()
            .take(COMPARED)
            .all(|other| other.fits_inside(lane) || lane.fits_inside(other))
    }

    /// The stacks of `op` on the left and on the right.
    pub(super) fn stacks(&self, op: OpId) -> Option<&[Stack; 2]> {
        self.stacks.get(&op)
    }

    /// Distance from the panel to a lane of this side.
    pub(super) fn lane_distance(&self, side: Side, index: usize) -> f64 {
        self.pill_room(side) + LANE_GAP * (index + 1) as f64
    }

    /// Width that the pills of this side take.
    fn pill_room(&self, side: Side) -> f64 {
        self.pills[side as usize]
            .iter()
            .fold(0.0_f64, |room, pill| room.max(PILL_GAP + pill.width))
    }

    /// Width that this side takes in all.
    pub(super) fn room(&self, side: Side) -> f64 {
        self.pill_room(side) + LANE_GAP * self.lanes[side as usize].len() as f64
    }
}
