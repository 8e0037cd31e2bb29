//! Reductions that the compiler splits into two kernels, because too few rows would leave
//! multiprocessors idle.
//!
//! Source: `Reduction.num_splits` in `torch/_inductor/ir.py` and
//! `InductorChoices.reduction_split_factor` in `torch/_inductor/choices.py`.

/// A reduction before it is split.
#[derive(Clone, Copy)]
pub(crate) struct UnsplitReduction {
    pub(crate) rows: u64,
    pub(crate) width: u64,
    /// Neighbours of a row are neighbours in memory, in most inputs that are read whole.
    pub(crate) is_inner: bool,
}

/// Threads of a multiprocessor and of a warp, as all NVIDIA data-centre GPUs have them.
const THREADS: u64 = 2048;
const WARP: u64 = 32;
/// Bounds of the elements that one thread adds up.
const FEWEST: u64 = 32;
const MOST: u64 = 512;
/// Warps of a block of an inner reduction.
const WARPS: u64 = 8;
/// A reduction along rows of at most so many elements is never split, nor one to at least so many
/// rows for each multiprocessor.
const SHORT_ROW: u64 = 8192;
const INNER_ROWS: u64 = 2;
const OUTER_ROWS: u64 = 64;

/// Elements that a thread of an outer reduction has at once, and rows of its blocks.
const AT_ONCE: u64 = 4;
const BLOCK_ROWS: u64 = 128;

/// Into how many pieces each row is cut; 1 if it is not.
pub(crate) fn pieces(shape: UnsplitReduction, multiprocessors: u64) -> u64 {
    let UnsplitReduction {
        rows,
        width,
        is_inner,
    } = shape;
    let is_lone = rows == 1;
    if !is_lone && (width <= FEWEST || rows >= multiprocessors * OUTER_ROWS) {
        return 1;
    }
    let elements = rows.saturating_mul(width);
    let of_device = |elements: u64| elements * multiprocessors * THREADS;
    let threads = WARP * WARPS;
    if is_inner || is_lone {
        if rows >= INNER_ROWS * multiprocessors || width <= SHORT_ROW {
            return 1;
        }
        let each = if elements <= of_device(FEWEST) {
            FEWEST
        } else if elements < of_device(MOST) {
            // Blocks for half of the threads that the device can hold, as in the source.
            let blocks = multiprocessors * THREADS / (2 * threads);
            let sought = width.div_ceil(threads * blocks.div_ceil(rows));
            // A size nearby that divides the row is preferred, so that all pieces are equal.
            even(width, sought, 30).map_or(sought, |each| each.max(FEWEST))
        } else {
            even(width, MOST, 50).unwrap_or(MOST)
        };
        return width.div_ceil(each.max(1) * threads);
    }
    let each = if elements < of_device(FEWEST) {
        FEWEST
    } else if elements < of_device(MOST) {
        let blocks = (multiprocessors * THREADS / threads).div_ceil(rows.div_ceil(BLOCK_ROWS));
        let sought = width.div_ceil(AT_ONCE * blocks.max(1));
        even(width, sought, 20).map_or(sought, |each| each.max(FEWEST))
    } else {
        even(width, MOST, 50).unwrap_or(MOST)
    };
    width.div_ceil(AT_ONCE * each.max(1))
}

/// The divisor of a width that is nearest to a number, of two the smaller, if it is less than
/// `within` away.
fn even(width: u64, sought: u64, within: u64) -> Option<u64> {
    let near = sought.saturating_sub(within - 1).max(1)..sought.saturating_add(within);
    near.filter(|&divisor| width.is_multiple_of(divisor))
        .min_by_key(|divisor| divisor.abs_diff(sought))
}
