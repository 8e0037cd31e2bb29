//! Tensors in memory as bars: which columns each of them covers, and how many share one.

use super::columns::TimelineColumn;
use crate::picture::charts::Charted;
use fuseline_core::analysis::memory::Lifetime;
use fuseline_core::{KernelId, TensorId, TensorRole};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::ops::Range;

/// Bars of tensors that kernels write, and of the others, at most. Further tensors, the smallest
/// ones, are summed. Each kind has a number of its own, so that the bars of weights and inputs are
/// the same in both views.
const MAX_BARS: usize = 50;

/// Tensors that lie in memory as one bar, mostly one.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// The tensor that is shown for all.
    pub(super) shown: TensorId,
    pub(super) first: Lifetime,
    /// How many there are.
    pub(super) count: usize,
    /// Bytes of all.
    pub(super) bytes: u64,
    /// The columns in which they are live.
    pub(super) columns: Range<usize>,
    pub(super) kind: BarKind,
}

/// Where a tensor comes from. Bars lie in this order, the first at the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BarKind {
    /// A weight, which is always there.
    Weight,
    /// An input, which is always there, too.
    Input,
    /// A kernel writes it. With the fused kernel that the op belongs to.
    Written(KernelId),
}

/// The contents of memory as bars.
pub(super) struct Bars {
    /// In the order in which they come into memory.
    pub(super) list: Vec<Bar>,
    pub(super) of_tensor: HashMap<TensorId, usize, FxBuildHasher>,
    /// For each column the tensors that are too small for a bar, and their bytes.
    pub(super) small: Vec<Small>,
    /// All tensors, with and without bars, of iterations that are not drawn, too.
    pub(super) tensor_count: usize,
}

/// Tensors without bars of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Small {
    pub(super) count: usize,
    pub(super) bytes: u64,
}

/// Bars of the tensors that are live in any column. Below `min_bytes` a tensor has none.
/// `O(n log n)` in tensors.
pub(super) fn bars(
    charted: Charted<'_>,
    lifetimes: &[Lifetime],
    columns: &[TimelineColumn],
    min_bytes: f64,
) -> Bars {
    type Group = (TensorId, Range<usize>);
    let mut places: HashMap<Group, usize, FxBuildHasher> = HashMap::default();
    let mut groups: Vec<Bar> = Vec::new();
    let mut group_of: Vec<(TensorId, usize)> = Vec::new();
    for lifetime in lifetimes {
        let start = columns.partition_point(|column| column.fullest < lifetime.first);
        let end = columns.partition_point(|column| column.fullest <= lifetime.last);
        if start >= end || lifetime.bytes == 0 {
            continue;
        }
        let graph = &charted.analysis.graph;
        let shown = charted.repeats.equal_tensor(graph, lifetime.tensor);
        let place = *places.entry((shown, start..end)).or_insert(groups.len());
        group_of.push((lifetime.tensor, place));
        match groups.get_mut(place) {
            Some(bar) => {
                bar.count += 1;
                bar.bytes += lifetime.bytes;
            }
            None => groups.push(Bar {
                shown,
                first: *lifetime,
                count: 1,
                bytes: lifetime.bytes,
                columns: start..end,
                kind: kind(charted, shown),
            }),
        }
    }
    let tensor_count = lifetimes.iter().filter(|of| of.bytes > 0).count();
    let mut by_size: Vec<usize> = (0..groups.len()).collect();
    by_size.sort_by_key(|&place| groups.get(place).map(|bar| Reverse(bar.bytes)));
    let mut has_bar = vec![false; groups.len()];
    let mut counts = [0; 2];
    for place in by_size {
        let Some((bar, has_bar)) = groups.get(place).zip(has_bar.get_mut(place)) else {
            continue;
        };
        let [written, held] = &mut counts;
        let count = match bar.kind {
            BarKind::Written(_) => written,
            BarKind::Weight | BarKind::Input => held,
        };
        *count += 1;
        *has_bar = *count <= MAX_BARS && bar.bytes as f64 >= min_bytes;
    }
    let mut small = vec![Small::default(); columns.len()];
    let mut bars = Vec::new();
    let mut bar_of = vec![None; groups.len()];
    for ((bar, has_bar), bar_of) in groups.into_iter().zip(has_bar).zip(&mut bar_of) {
        if has_bar {
            *bar_of = Some(bars.len());
            bars.push(bar);
        } else {
            for column in small.get_mut(bar.columns).into_iter().flatten() {
                column.count += bar.count;
                column.bytes += bar.bytes;
            }
        }
    }
    let of_tensor =
        (group_of.into_iter()).filter_map(|(tensor, place)| Some((tensor, (*bar_of.get(place)?)?)));
    Bars {
        of_tensor: of_tensor.collect(),
        list: bars,
        small,
        tensor_count,
    }
}

fn kind(charted: Charted<'_>, tensor: TensorId) -> BarKind {
    let analysis = charted.analysis;
    let Some(of) = analysis.graph.tensors.get(tensor) else {
        return BarKind::Input;
    };
    match of.producer {
        Some(op) => {
            let kernel = analysis.partition.kernel_of.get(op);
            BarKind::Written(kernel.copied().unwrap_or_default())
        }
        None if of.role == TensorRole::Weight => BarKind::Weight,
        None => BarKind::Input,
    }
}
