//! The height of each bar over the columns.
//!
//! The stack has no gaps, so that in each column its height is the live memory. Where a tensor is
//! freed, a new one takes its place if it fits, as an allocator would have it; whatever is left of
//! the place closes up, and the bars above it come down.

use super::bars::{Bar, BarKind};
use std::cmp::Reverse;
use std::ops::Range;

/// A part of a bar that lies at one height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The columns that it covers.
    pub(super) columns: Range<usize>,
    /// Bytes below it.
    pub(super) bottom: u64,
}

/// A layer of the stack in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Bar(usize),
    /// Bytes that were freed.
    Freed(u64),
}

/// All bars, stacked.
pub(super) struct BarStack {
    /// The segments of each bar, from left to right.
    pub(super) segments: Vec<Vec<Segment>>,
    /// Bytes of all bars in each column.
    pub(super) tops: Vec<u64>,
}

/// Stacks `bars` over so many columns. `O(columns * bars)`.
pub(super) fn stack(bars: &[Bar], columns: usize) -> BarStack {
    let mut segments: Vec<Vec<Segment>> = vec![Vec::new(); bars.len()];
    let mut tops = Vec::with_capacity(columns);
    let mut layers: Vec<Layer> = Vec::new();
    let mut coming: Vec<usize> = (0..bars.len()).collect();
    // Where several come at once, what stays longest lies lowest, so that little moves later.
    coming.sort_by_key(|&bar| {
        let of = bars.get(bar);
        of.map(|bar| (bar.columns.start, class(bar.kind), Reverse(bar.columns.end)))
    });
    let mut coming = coming.into_iter().peekable();
    let bytes_of = |bar: usize| bars.get(bar).map_or(0, |bar| bar.bytes);
    for column in 0..columns {
        free(&mut layers, |bar| {
            let end = bars.get(bar).map_or(0, |bar| bar.columns.end);
            (end <= column).then(|| bytes_of(bar))
        });
        let starts_here = |bar: &usize| {
            bars.get(*bar)
                .is_some_and(|bar| bar.columns.start == column)
        };
        while let Some(bar) = coming.next_if(starts_here) {
            insert(&mut layers, bar, bytes_of(bar));
        }
        layers.retain(|layer| matches!(layer, Layer::Bar(_)));
        let mut bottom = 0;
        for layer in &layers {
            let Layer::Bar(bar) = *layer else { continue };
            if let Some(segments) = segments.get_mut(bar) {
                extend(segments, column, bottom);
            }
            bottom += bytes_of(bar);
        }
        tops.push(bottom);
    }
    BarStack { segments, tops }
}

fn class(kind: BarKind) -> u8 {
    match kind {
        BarKind::Weight => 0,
        BarKind::Input => 1,
        BarKind::Written(_) => 2,
    }
}

/// Turns bars into free places, neighbouring ones into one.
fn free(layers: &mut Vec<Layer>, freed_bytes: impl Fn(usize) -> Option<u64>) {
    let before = std::mem::take(layers);
    for layer in before {
        let freed = match layer {
            Layer::Bar(bar) => freed_bytes(bar),
            Layer::Freed(bytes) => Some(bytes),
        };
        match (freed, layers.last_mut()) {
            (None, _) => layers.push(layer),
            (Some(bytes), Some(Layer::Freed(sum))) => *sum += bytes,
            (Some(bytes), _) => layers.push(Layer::Freed(bytes)),
        }
    }
}

/// Puts a bar into the lowest free place that holds it, else on top.
fn insert(layers: &mut Vec<Layer>, bar: usize, bytes: u64) {
    let mut free = layers.iter_mut().enumerate();
    let place = free.find_map(|(place, layer)| match layer {
        Layer::Freed(free) if *free >= bytes => {
            *free -= bytes;
            Some(place)
        }
        _ => None,
    });
    layers.insert(place.unwrap_or(layers.len()), Layer::Bar(bar));
}

fn extend(segments: &mut Vec<Segment>, column: usize, bottom: u64) {
    match segments.last_mut() {
        Some(last) if last.bottom == bottom => last.columns.end = column + 1,
        _ => segments.push(Segment {
            columns: column..column + 1,
            bottom,
        }),
    }
}
