//! Whether a set of ops may be one kernel, and if not, why.
//!
//! Legality depends only on the set, the options and the on-chip memory of the device. Whether the
//! kernels of a program have an order in which they can run is checked separately, by
//! `model::acyclic`.

use super::on_chip::{BYTES_PER_ELEMENT, KeptRows, READ_AGAIN_VALUES};
use super::reason::Reason;
use super::region::{Bits, LocalOp, Region, RegionContext, RegionValue, Set};
use super::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::options::{FusionOptions, MAX_OPS, Options};

/// Most tensors that a kernel may read and write.
pub const MAX_OPERANDS: usize = 96;
/// Most reductions in a kernel.
pub const MAX_REDUCTIONS: usize = 8;

/// Checks whether these ops, ascending and each once, may be one kernel. A single op always may.
///
/// `O(ops^2 + reads)` with at most [`MAX_OPS`] ops.
///
/// # Errors
/// The first reason against it.
pub fn check(graph: &Graph, options: &Options, ops: &[OpId]) -> Result<(), Reason> {
    check_in(&RegionContext::new(graph, options), ops)
}

/// Checks a set of ops as [`check`] does, for callers that check many sets of one graph.
pub(crate) fn check_in(context: &RegionContext<'_>, ops: &[OpId]) -> Result<(), Reason> {
    check_counted(context, ops, None)
}

/// Checks a set of ops as [`check_in`] does, given the number of tensors that they read from
/// outside, if it is known. Without a reduction it then visits at most [`MAX_OPERANDS`] reads.
pub(crate) fn check_counted(
    context: &RegionContext<'_>,
    ops: &[OpId],
    reads: Option<usize>,
) -> Result<(), Reason> {
    let limit = most_ops(&context.options.fusion);
    // Free views at the edges do not count, but only a region, of at most MAX_OPS ops, finds them.
    let has_views = ops.iter().any(|&op| context.is_view(op));
    if ops.len() > if has_views { MAX_OPS } else { limit } && ops.len() > 1 {
        return Err(Reason::TooManyOps {
            ops: ops.len(),
            limit,
        });
    }
    if let Some(reads) = reads.filter(|&reads| reads > MAX_OPERANDS && ops.len() > 1) {
        // The same reasons in the same order as `check_whole_set`, without visiting every read. A
        // reduction needs the values for its own reasons, so it takes the long way.
        let region = Region::related(context, ops);
        if region.reductions == 0 {
            check_opaque(&region, region.all())?;
            check_overwrites(&region, region.all())?;
            check_matmul(&region, region.all())?;
            return Err(Reason::TooManyOperands {
                operands: reads + region.leaving.count_ones() as usize,
                limit: MAX_OPERANDS,
            });
        }
    }
    let region = Region::of(context, ops);
    check_set(&region, region.all())
}

/// The limit of ops in one kernel.
pub(crate) fn most_ops(options: &FusionOptions) -> usize {
    options.max_ops.clamp(1, MAX_OPS)
}

/// Whether this set of a region may be one kernel, with or without the free views at its edges:
/// nothing runs for them.
pub(super) fn check_set(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    let checked = check_whole_set(region, set);
    if checked.is_ok() || region.views & set == 0 {
        return checked;
    }
    // First with the first views: one of them may be all that connects the ops that read it.
    let launched = region.without_last_views(set);
    check_whole_set(region, launched)
        .or_else(|_| check_whole_set(region, region.without_first_views(launched)))
}

fn check_whole_set(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    // Both results of an operator are one call, whatever else the kernel holds.
    let set = region.without_results(set);
    let ops = set.count_ones() as usize;
    if ops <= 1 {
        return Ok(());
    }
    let limit = most_ops(&region.context.options.fusion);
    if ops > limit {
        return Err(Reason::TooManyOps { ops, limit });
    }
    check_opaque(region, set)?;
    check_overwrites(region, set)?;
    check_matmul(region, set)?;
    check_reductions(region, set)?;
    check_operands(region, set)?;
    check_connected(region, set)
}

fn check_opaque(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    match Bits(region.opaques & set).next() {
        Some(place) => Err(Reason::Opaque {
            opaque: region.ops[place],
        }),
        None => Ok(()),
    }
}

fn check_overwrites(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    let clash = |write: LocalOp| Some((write, Bits(region.clashes[write] & set).next()?));
    match Bits(set).find_map(clash) {
        Some((write, reader)) => Err(Reason::Overwrites {
            write: region.ops[write],
            reader: region.ops[reader],
        }),
        None => Ok(()),
    }
}

fn check_matmul(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    let op = |place: LocalOp| region.ops[place];
    let mut matmuls = Bits(region.matmuls & set);
    let Some(matmul) = matmuls.next() else {
        return Ok(());
    };
    if let Some(second) = matmuls.next() {
        return Err(Reason::TwoMatmuls {
            first: op(matmul),
            second: op(second),
        });
    }
    if let Some(reduction) = Bits(region.reductions & set).next() {
        return Err(Reason::MatmulAndReduction {
            matmul: op(matmul),
            reduction: op(reduction),
        });
    }
    if region.context.options.fusion.prologue {
        return Ok(());
    }
    let graph = region.context.graph;
    // Kernels that multiply short weights make their operands wider as they load them, so that
    // needs no option.
    let is_widening = |place: LocalOp| graph.ops[op(place)].function == Some(Function::Dequantize);
    let before = Bits(region.before[matmul] & set);
    match before.filter(|&place| !is_widening(place)).last() {
        Some(before) => Err(Reason::MatmulStarts {
            matmul: op(matmul),
            before: op(before),
        }),
        None => Ok(()),
    }
}

fn check_reductions(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    let reductions = region.reductions & set;
    let Some(first) = Bits(reductions).next() else {
        return Ok(());
    };
    let count = reductions.count_ones() as usize;
    if count > MAX_REDUCTIONS {
        return Err(Reason::TooManyReductions {
            reductions: count,
            limit: MAX_REDUCTIONS,
        });
    }
    let rows = region.rows[first];
    if !feeds_one_reduction(region, set) {
        check_rows(region, set, first)?;
    }
    if !region.context.options.fusion.after_reductions {
        for reduction in Bits(reductions) {
            if let Some(after) = Bits(region.after[reduction] & set).next() {
                return Err(Reason::ReductionEnds {
                    reduction: region.ops[reduction],
                    after: region.ops[after],
                });
            }
        }
    }
    check_on_chip(region, set, rows)
}

/// Whether the other ops of a kernel only compute what its one reduction reads, each element where
/// it is read. Such a kernel may read a tensor in two orders and compute an element in several
/// blocks, as kernels without reductions may. The textbook rules make no other reductions.
fn feeds_one_reduction(region: &Region<'_>, set: Set) -> bool {
    let reductions = region.reductions & set;
    let others = set & !reductions;
    let before = Bits(reductions).fold(Set::MAX, |all, place| all & region.before[place]);
    reductions.is_power_of_two() && others & !before == 0 && are_read_once(region, set, others)
}

/// Whether each of these ops of a kernel that is not a free view is read by one op, of the kernel.
fn are_read_once(region: &Region<'_>, set: Set, ops: Set) -> bool {
    Bits(ops & !region.views).all(|place| {
        // Also what is read through views, in and outside the kernel.
        let needed_by = region.needed_by[place];
        region.leaving & place.bit() == 0
            && needed_by & !set == 0
            && (needed_by & !region.views).is_power_of_two()
    })
}

/// Checks that the reductions of a kernel put the same elements into the same rows as all its other
/// ops that do not only load.
fn check_rows(region: &Region<'_>, set: Set, first: LocalOp) -> Result<(), Reason> {
    let rows = region.rows[first];
    let reductions = region.reductions & set;
    let full = rows.full_elements();
    let (loading, moving) = loading(region, set);
    // Sizes are enough here: `spread` and `reordering` below tell apart ops of equal size that put
    // other elements into a row.
    let is_other = |&place: &LocalOp| {
        if reductions & place.bit() != 0 {
            region.rows[place] != rows
        } else {
            region.elements[place] != full && region.elements[place] != rows.rows
        }
    };
    if let Some(other) = Bits(set & !loading).find(is_other) {
        return Err(Reason::RowDomains {
            reduction: region.ops[first],
            rows,
            other: region.ops[other],
            other_rows: region.rows[other],
        });
    }
    // Row values must be broadcast along the rows that they belong to.
    let misread = |&&(both, met): &&(Set, RowDomain)| both & !set == 0 && met != rows;
    if let Some(&(both, met)) = region.spread.iter().find(misread)
        && let Some(reader) = Bits(both).last()
    {
        return Err(Reason::RowDomains {
            reduction: region.ops[first],
            rows,
            other: region.ops[reader],
            other_rows: met,
        });
    }
    // With a single row, every order leaves the elements in their row.
    if let Some(place) = moving.filter(|_| rows.rows > 1) {
        return Err(Reason::MixesRows {
            reduction: region.ops[first],
            reshape: region.ops[place],
        });
    }
    Ok(())
}

/// The ops that only run as the kernel loads its rows, and the last op that moves elements of rows
/// inside the kernel. Elements may also move as the kernel stores them.
fn loading(region: &Region<'_>, set: Set) -> (Set, Option<LocalOp>) {
    let (mut loading, mut moving) = (0, None);
    let mut left = region.reordering & set;
    while left != 0 {
        // Backwards, because what an op loads may have moved before.
        let place = LocalOp::last_of(left);
        left &= !place.bit();
        if region.next[place] & set == 0 {
            continue;
        }
        if is_load(region, set, place) && !shares_reads(region, set, place) {
            loading |= region.before[place] & set;
            left &= !loading;
        } else {
            moving = moving.or(Some(place));
        }
    }
    (loading, moving)
}

/// Whether an op that moves elements, and the ops before it, only decide what the kernel loads and
/// compute each element at most once, for the element that the kernel loads.
fn is_load(region: &Region<'_>, set: Set, place: LocalOp) -> bool {
    let before = region.before[place] & set;
    let computes = |place: LocalOp| region.before[place] & before & region.elementwise != 0;
    before & region.reductions == 0
        && are_read_once(region, set, before)
        && !Bits((before | place.bit()) & region.repeating).any(computes)
        && region.spread.iter().all(|&(both, _)| both & !before != 0)
}

/// Whether another op of the kernel reads what this op, or an op before it, loads.
fn shares_reads(region: &Region<'_>, set: Set, place: LocalOp) -> bool {
    let own = region.before[place] & set | place.bit();
    let others = set & !own;
    let mut values = region.values.iter();
    values.any(|value| value.readers & own != 0 && value.readers & others != 0)
}

/// Checks that the rows which the kernel keeps while its reductions run fit on chip, or that it can
/// read them again as an op alone does.
fn check_on_chip(region: &Region<'_>, set: Set, rows: RowDomain) -> Result<(), Reason> {
    let available_bytes = region.context.options.device.on_chip_bytes();
    let full = rows.full_elements();
    let is_full = |value: &&RegionValue| {
        value.readers & set != 0 && value.elements.is_none_or(|elements| elements == full)
    };
    let values = region.values.iter().filter(is_full).count() as u64;
    // An upper bound: all of them are kept at once. Most kernels need no exact count.
    if (values * BYTES_PER_ELEMENT).saturating_mul(rows.width) <= available_bytes {
        return Ok(());
    }
    let ops: Vec<OpId> = Bits(set).map(|place| region.ops[place]).collect();
    match KeptRows::of(region.context.graph, &ops) {
        Some(kept) if kept.values > READ_AGAIN_VALUES && kept.bytes() > available_bytes => {
            Err(Reason::OnChip {
                reduction: kept.reduction,
                values: kept.values,
                needed_bytes: kept.bytes(),
                available_bytes,
            })
        }
        _ => Ok(()),
    }
}

fn check_operands(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    let is_read = |value: &&RegionValue| value.readers & set != 0 && value.producer & set == 0;
    let read = region.values.iter().filter(is_read).count();
    let written = Bits(set).filter(|&place| region.is_written(place, set));
    let operands = read + written.count();
    if operands > MAX_OPERANDS {
        return Err(Reason::TooManyOperands {
            operands,
            limit: MAX_OPERANDS,
        });
    }
    Ok(())
}

fn check_connected(region: &Region<'_>, set: Set) -> Result<(), Reason> {
    let Some(first) = Bits(set).next() else {
        return Ok(());
    };
    let mut reached = first.bit();
    let mut frontier = reached;
    while frontier != 0 {
        frontier = neighbours(region, frontier) & set & !reached;
        reached |= frontier;
    }
    match Bits(set & !reached).next() {
        Some(second) => Err(Reason::NotConnected {
            first: region.ops[first],
            second: region.ops[second],
        }),
        None => Ok(()),
    }
}

/// Ops outside the set that share a tensor with an op of it, as in [`Region::ties`].
pub(super) fn neighbours(region: &Region<'_>, set: Set) -> Set {
    Bits(set).fold(0, |around, place| around | region.ties[place]) & !set
}
