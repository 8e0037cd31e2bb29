//! The left and the right side of a panel or box.

use std::ops::{Index, IndexMut};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];

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

/// From which sides of its panel a box can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenSides {
    Neither,
    One(Side),
    Both,
}

impl OpenSides {
    /// The side, when there is no choice.
    pub(super) fn only(self) -> Option<Side> {
        match self {
            Self::One(side) => Some(side),
            Self::Neither | Self::Both => None,
        }
    }
}

/// A value for each side.
#[derive(Clone, Debug, Default)]
pub(super) struct BySide<T> {
    pub(super) left: T,
    pub(super) right: T,
}

impl<T> Index<Side> for BySide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}

impl<T> IndexMut<Side> for BySide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        }
    }
}
