//! Reads and writes as arrows between bars and boxes, as wide as their bytes.

use super::bars::Bars;
use super::columns::{ColumnKind, TimelineColumn};
use crate::picture::charts::marks::polygon;
use crate::picture::charts::scene::{Mark, Point, Role};
use fuseline_core::cost::traffic::Access;
use fuseline_core::cost::views::Views;
use fuseline_core::{Execution, Kernel, KernelId};

/// The part of a column that its arrows take, at most.
const SHARE: f64 = 0.6;
/// Width of all arrows of a column, at most.
const MAX_WIDTH: f64 = 44.0;
/// Width of an arrow, at least, so that it is seen.
const MIN_WIDTH: f64 = 1.0;
/// Between neighbouring arrows.
const BETWEEN: f64 = 2.0;
/// How far a head reaches beyond the shaft, on each side.
const HEAD_MARGIN: f64 = 2.0;

/// Reads or writes between a column and a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// The index of the bar.
    pub(super) bar: usize,
    pub(super) is_write: bool,
    pub(super) bytes: u64,
}

/// The flows of one column, reads first. `O(reads and writes)` of its kernels.
pub(super) fn flows(
    execution: &Execution,
    column: &TimelineColumn,
    place: usize,
    bars: &Bars,
    views: &Views,
) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    if matches!(column.kind, ColumnKind::Iterations(_)) {
        return flows;
    }
    let mut add = |access: &Access, is_write: bool| {
        let base = views.base.get(access.tensor).copied();
        let bar = base.and_then(|base| bars.of_tensor.get(&base).copied());
        let is_here = |&bar: &usize| {
            let covered = bars.list.get(bar).map(|bar| &bar.columns);
            covered.is_some_and(|columns| columns.contains(&place))
        };
        let Some(bar) = bar.filter(is_here).filter(|_| access.bytes > 0) else {
            return;
        };
        let same = |flow: &&mut Flow| flow.bar == bar && flow.is_write == is_write;
        match flows.iter_mut().find(same) {
            Some(flow) => flow.bytes += access.bytes,
            None => flows.push(Flow {
                bar,
                is_write,
                bytes: access.bytes,
            }),
        }
    };
    let kernels =
        || (column.kernels.clone()).filter_map(|k| execution.kernels.get(KernelId::new(k)));
    for kernel in kernels() {
        kernel
            .traffic
            .reads
            .iter()
            .for_each(|read| add(read, false));
    }
    for kernel in kernels() {
        kernel
            .traffic
            .writes
            .iter()
            .for_each(|write| add(write, true));
    }
    flows
}

/// The widest scale at which the arrows of all these columns have room, in units for each byte.
pub(super) fn scale<'a>(
    executions: impl IntoIterator<Item = (&'a Execution, &'a [TimelineColumn])>,
) -> f64 {
    let mut scale = f64::INFINITY;
    for (execution, columns) in executions {
        for column in columns {
            if matches!(column.kind, ColumnKind::Iterations(_)) {
                continue;
            }
            let kernels = execution.kernels.as_slice().get(column.kernels.clone());
            let bytes: u64 = kernels.unwrap_or_default().iter().map(Kernel::bytes).sum();
            let room = (column.width() * SHARE).min(MAX_WIDTH);
            scale = scale.min(room / bytes.max(1) as f64);
        }
    }
    scale
}

/// The middle and the width of each arrow of a column.
pub(super) fn places(flows: &[Flow], column: &TimelineColumn, scale: f64) -> Vec<(f64, f64)> {
    let width = |flow: &Flow| (flow.bytes as f64 * scale).max(MIN_WIDTH);
    let all: f64 = flows.iter().map(width).sum();
    let gaps = flows.len().saturating_sub(1) as f64;
    let between = ((column.width() * 0.94 - all) / gaps.max(1.0)).clamp(0.0, BETWEEN);
    let mut at = column.middle() - f64::midpoint(all, gaps * between);
    let place = |flow: &Flow| {
        let width = width(flow);
        let middle = at + width / 2.0;
        at += width + between;
        (middle, width)
    };
    flows.iter().map(place).collect()
}

/// An arrow from one height to another one.
pub(super) fn arrow(role: Role, x: f64, width: f64, from_y: f64, to_y: f64) -> Mark {
    let length = (to_y - from_y).abs();
    let head = (3.0 + width * 0.4).min(10.0).min(length);
    let (half, wide) = (width / 2.0, width / 2.0 + HEAD_MARGIN);
    let neck = if to_y < from_y {
        to_y + head
    } else {
        to_y - head
    };
    let corners: [Point; 7] = [
        (x - half, from_y),
        (x - half, neck),
        (x - wide, neck),
        (x, to_y),
        (x + wide, neck),
        (x + half, neck),
        (x + half, from_y),
    ];
    polygon(role, &corners)
}
