//! The frame around the shown iteration of a repeat: its border, its tag, and the marks where
//! tensors come from the iteration before and lead to the next one.
//!
//! ```text
//!              |
//!      +------(o)-----+      from the iteration before
//!      | [x 48]|      |
//!      |    kernel    |
//!      |       |      |
//!      +------(o)-----+      to the next iteration
//!              |
//! ```

use super::geometry::{Point, Rect};
use super::layered::LayerId;
use crate::picture::path_data::push_command;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::{IdVec, KernelId, OpId, TensorId};
use serde::Serialize;
use std::ops::Range;

/// The path of an arrow that goes round, around the origin: from and to the iterations beside the
/// shown one.
pub const ROUND: &str = "M4.6 -2.2A5 5 0 1 0 4.9 1.2M5.2 -5.2V-1.8H1.8";
/// Radius of the corners of a frame.
const CORNER: f64 = 16.0;

/// The frame around the shown iteration of a repeat.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Frame {
    /// Its parts from top to bottom: one in each column that it reaches into.
    pub parts: Vec<Rect>,
    /// Where its border is crossed by what the iteration reads from the one before.
    pub entries: Vec<Point>,
    /// Where it is crossed by what the iteration writes for the next one.
    pub exits: Vec<Point>,
    pub tag: Rect,
}

impl Frame {
    /// The border as path data. It is open where it goes on in another column.
    pub fn path(&self) -> String {
        let mut path = String::new();
        let mut push = |command, numbers: &[f64]| push_command(&mut path, command, numbers);
        for (index, part) in self.parts.iter().enumerate() {
            let (left, top, right, bottom) = (part.x, part.y, part.right(), part.bottom());
            let corner = |x: f64, y: f64| [CORNER, CORNER, 0.0, 0.0, 1.0, x, y];
            let (is_first, is_last) = (index == 0, index + 1 == self.parts.len());
            if is_last {
                push("M", &[right, bottom - CORNER]);
                push("A", &corner(right - CORNER, bottom));
                push("H", &[left + CORNER]);
                push("A", &corner(left, bottom - CORNER));
            } else {
                push("M", &[left, bottom]);
            }
            if is_first {
                push("V", &[top + CORNER]);
                push("A", &corner(left + CORNER, top));
                push("H", &[right - CORNER]);
                push("A", &corner(right, top + CORNER));
            } else {
                push("V", &[top]);
                push("M", &[right, top]);
            }
            push("V", &[if is_last { bottom - CORNER } else { bottom }]);
        }
        path
    }

    pub fn rect(&self) -> Rect {
        let all = self
            .parts
            .iter()
            .copied()
            .reduce(|all, part| all.with(&part));
        all.unwrap_or_default()
    }
}

/// Kernels to be framed, by the ids of the drawn graph.
pub(super) struct Body {
    /// The kernels, which follow each other.
    pub(super) kernels: Range<usize>,
    /// The tensors that it reads in place of what the iteration before writes.
    pub(super) enters: Vec<TensorId>,
    /// The ops that write for the next iteration.
    pub(super) producers: Vec<OpId>,
    /// Its first layer, which may be for pills alone, and its last one.
    pub(super) layers: Range<LayerId>,
}

impl Body {
    pub(super) fn new(kernels: Range<usize>, enters: Vec<TensorId>, producers: Vec<OpId>) -> Self {
        Self {
            kernels,
            enters,
            producers,
            layers: LayerId::new(0)..LayerId::new(0),
        }
    }

    pub(super) fn find_layers(&mut self, layers: &IdVec<KernelId, LayerId>, has_pills: bool) {
        let own = || {
            self.kernels
                .clone()
                .map(|kernel| layers[KernelId::new(kernel)])
        };
        let first = own().min();
        let above = first.and_then(LayerId::above).filter(|_| has_pills);
        let first = above.or(first);
        let last = own().max();
        self.layers = first.unwrap_or_default()..last.unwrap_or_default();
    }
}
