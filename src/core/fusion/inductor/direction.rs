//! Whether what a reduction reads lies along its rows or across, which decides how the rows are
//! cut.

use super::value::LoweredValue;

/// How many of the accesses in a loop over a shape that depend on all of it lie along its reduced
/// axes, and how many across. Source: `Reduction.num_splits` in `torch/_inductor/ir.py`.
pub(super) fn directions(value: &LoweredValue, shape: &[u64], axes: u32) -> (usize, usize) {
    counted(value, shape, axes, false)
}

/// The same in pieces of a single row, where elements are found by dividing the place in the row.
pub(super) fn directions_of_pieces(value: &LoweredValue, pieces: [u64; 2]) -> (usize, usize) {
    counted(value, &pieces, 0b10, true)
}

fn counted(value: &LoweredValue, shape: &[u64], axes: u32, is_divided: bool) -> (usize, usize) {
    let (mut inner, mut outer) = (0, 0);
    for view in value.reads.iter().filter_map(|read| read.view.as_ref()) {
        if !view.covers(shape, is_divided) {
            continue;
        }
        let steps = view.steps_along(shape, axes);
        let is_outer = steps.iter().all(|&step| step != 1);
        *(if is_outer { &mut outer } else { &mut inner }) += 1;
    }
    (inner, outer)
}
