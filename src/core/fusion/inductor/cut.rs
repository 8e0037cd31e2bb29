//! How the first half of a split reduction reads its input: by pieces of rows.

use super::node::SchedulerNode;
use super::view::{Dependency, View, loop_order};
use crate::fusion::loops::Loop;

/// Rows, each of which is cut into pieces.
pub(super) struct Pieces {
    pub(super) rows: u64,
    pub(super) width: u64,
    pub(super) count: u64,
    /// Equal pieces of contiguous rows keep the index of the whole rows. Others get an index that
    /// no reader of whole rows shares.
    pub(super) keeps_index: bool,
}

impl Pieces {
    /// Cuts what a node reads, whose loops run over a shape and reduce along these axes.
    pub(super) fn cut_reads(&self, node: &mut SchedulerNode, shape: &[u64], axes: u32) {
        let (pieces, width) = (self.count, self.width);
        let cuts = [pieces, width.div_ceil(pieces)];
        let is_kept = |&place: &usize| place >= 32 || axes >> place & 1 == 0;
        let (kept, reduced): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(is_kept);
        let sizes = kept.iter().filter_map(|&place| shape.get(place).copied());
        let cut: Vec<u64> = sizes.chain(cuts).collect();
        let is_loop = |at: &usize| cut.get(*at).is_some_and(|&size| size > 1);
        let is_equal = width.is_multiple_of(pieces);
        let last = u32::try_from(kept.len() + 1).unwrap_or(u32::MAX);
        let along_pieces = 1_u32.checked_shl(last).unwrap_or(0);
        let nested = [&kept[..], &reduced].concat();
        let seen = node.indices.take().unwrap_or_default().reads.into_iter();
        let seen = seen.map(|view| view.filter(|_| is_equal)?.nested(shape, &nested));
        let seen: Vec<Option<View>> = seen.collect();
        let steps = node.reads.iter().zip(&seen);
        let steps = steps.filter_map(|(read, seen)| Some((seen.as_ref()?.steps(&cut), read.loads)));
        let rows: Vec<usize> = (0..=kept.len()).filter(is_loop).collect();
        let mut order = loop_order(&rows, &steps.collect::<Vec<_>>());
        order.extend((kept.len() + 1..cut.len()).filter(is_loop));
        for (read, seen) in node.reads.iter_mut().zip(seen) {
            let is_divided = self.rows == 1 && !read.is_flat;
            if self.rows == 1 {
                read.loops = View::whole(width).loops(&cuts);
            } else if let Some(view) = seen.as_ref().filter(|_| self.keeps_index) {
                read.access = view.access(&cut).or_divided(view, &cut);
                read.loops = view.loops(&cut);
                read.step = view.step(&cut, along_pieces);
            }
            if !self.keeps_index {
                read.access = read.access.in_pieces(pieces);
            }
            if is_divided {
                // A piece of it begins at a quotient, which counts as another element at each
                // place.
                read.access = read.access.in_pieces(pieces);
                read.bytes = width.saturating_mul(read.width.into());
            }
            read.dependency = match seen {
                Some(view) if !is_divided => view.dependency(&cut, &order),
                _ => Dependency::opaque(read.access.number(), order.len()),
            };
        }
    }
}

/// The axes of a shape along which rows lie, bit by bit; 0 where no axis or last axes say it.
pub(super) fn axes_of(rows: Loop, shape: &[u64]) -> u32 {
    let Loop::Reduction { width, inner, .. } = rows else {
        return 0;
    };
    let mut reach = 1_u64;
    let mut axes = 0;
    for (place, &size) in shape.iter().enumerate().rev() {
        if place < 32 && size == width && reach == inner {
            return 1 << place;
        }
        reach = reach.saturating_mul(size);
        axes |= 1_u32
            .checked_shl(u32::try_from(place).unwrap_or(32))
            .unwrap_or(0);
        if inner == 1 && reach == width {
            return axes;
        }
    }
    0
}
