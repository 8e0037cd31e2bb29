//! Whether what a reduction reads lies along its rows or across, which decides how the rows are
//! cut.

use super::reduced::Reduced;
use super::value::LoweredValue;
use crate::model::op::element_count;

/// How many of the accesses in a loop over a shape that depend on all of it lie along its reduced
/// axes, and how many across. Source: `Reduction.num_splits` in `torch/_inductor/ir.py`.
pub(super) fn directions(value: &LoweredValue, shape: &[u64], axes: u32) -> (usize, usize) {
    let views = value.reads.iter().filter_map(|read| read.view.as_ref());
    let views = views.filter(|view| view.covers(shape, None));
    counted(views.map(|view| view.steps_along(shape, axes)))
}

/// The same in pieces of rows of so many elements, which are found by dividing the place in the
/// row.
pub(super) fn directions_of_pieces(
    value: &LoweredValue,
    reduced: &Reduced,
    width: u64,
    piece: u64,
) -> (usize, usize) {
    let Reduced { shape, axes } = reduced;
    let is_kept = |&place: &usize| place >= 32 || axes >> place & 1 == 0;
    let (kept, of_row): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(is_kept);
    let nested = [&kept[..], &of_row].concat();
    let sizes = kept.iter().filter_map(|&place| shape.get(place).copied());
    let rows: Vec<u64> = sizes.chain([width]).collect();
    let is_lone = element_count(&rows) == Some(width);
    let views = value.reads.iter().filter_map(|read| read.view.as_ref());
    let views = views.filter_map(|view| {
        if is_lone {
            Some(view.clone())
        } else {
            view.nested(shape, &nested)
        }
    });
    let views = views.filter(|view| view.covers(&rows, Some(piece)));
    counted(views.map(|view| view.steps_along(&[piece], 1)))
}

fn counted(steps: impl Iterator<Item = Vec<u64>>) -> (usize, usize) {
    let (mut inner, mut outer) = (0, 0);
    for steps in steps {
        let is_outer = steps.iter().all(|&step| step != 1);
        *(if is_outer { &mut outer } else { &mut inner }) += 1;
    }
    (inner, outer)
}
