//! The calls of a program that a run holds.

use crate::profile::MeasuredRun;

/// The kernels of the last call, and the number of calls. A run without a name may hold several
/// calls, so that kernel names repeat. Of the lengths at which they repeat, the nearest to
/// `expected` counts. `O(kernels)`.
pub(super) fn one_call(run: &MeasuredRun, expected: usize) -> (MeasuredRun, usize) {
    let kernels = &run.kernels;
    let count = kernels.len();
    let period = period(run);
    let distance = |length: usize| (length as f64 / expected.max(1) as f64).ln().abs();
    // One call may span several periods: layers of a model repeat the same kernels.
    let lengths = (1..=count / period.max(1))
        .map(|calls| calls * period)
        .filter(|length| run.is_cut || count.is_multiple_of(*length));
    let nearest = lengths.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let length = nearest.filter(|_| run.variant.is_none()).unwrap_or(count);
    let mut call = run.clone();
    call.kernels.drain(..count - length);
    call.start_at_zero();
    (call, count.checked_div(length).unwrap_or(1))
}

/// The shortest period of the kernel names; the number of kernels if they do not repeat. A run that
/// is cut may start in the middle of a call.
fn period(run: &MeasuredRun) -> usize {
    let kernels = &run.kernels;
    // The longest border of each prefix, by the failure function of Knuth, Morris and Pratt.
    let mut borders = vec![0_usize; kernels.len()];
    for at in 1..kernels.len() {
        let mut border = borders[at - 1];
        while border > 0 && kernels[border].name != kernels[at].name {
            border = borders[border - 1];
        }
        borders[at] = border + usize::from(kernels[border].name == kernels[at].name);
    }
    let count = kernels.len();
    let period = count - borders.last().copied().unwrap_or(0);
    let repeats = if run.is_cut {
        period * 2 <= count
    } else {
        period > 0 && count.is_multiple_of(period)
    };
    if repeats { period } else { count }
}
