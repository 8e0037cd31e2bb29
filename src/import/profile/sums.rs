//! Tables that sum all launches of each kernel.

use super::{ContentError, MAX_KERNELS, MeasuredKernel, MeasuredRun};
use std::sync::Arc;

/// A kernel with all its launches.
pub(super) struct Sum {
    pub(super) name: Arc<str>,
    pub(super) launches: u64,
    pub(super) total_s: f64,
}

/// One call of the program, whose launches the table has counted over all calls: the greatest
/// common divisor of the counts is the number of calls. Times are averages. Kernels with less than
/// a tenth of the launches of the longest one prepare something, and are left out.
pub(super) fn launches_of_one_call(sums: &[Sum]) -> Result<MeasuredRun, ContentError> {
    let longest = sums.iter().max_by(|a, b| a.total_s.total_cmp(&b.total_s));
    let usual = longest.map_or(0, |sum| sum.launches);
    let is_usual = |sum: &Sum| sum.launches > 0 && sum.launches.saturating_mul(10) >= usual;
    let counts = sums.iter().filter(|sum| is_usual(sum));
    let calls = counts.map(|sum| sum.launches).fold(0, divisor).max(1);
    let mut kernels = Vec::new();
    for sum in sums.iter().filter(|sum| is_usual(sum)) {
        let kernel = MeasuredKernel::new(sum.name.clone(), sum.total_s / sum.launches as f64);
        let launches = usize::try_from(sum.launches / calls).unwrap_or(usize::MAX);
        if kernels.len().saturating_add(launches) > MAX_KERNELS {
            return Err(ContentError::TooManyKernels);
        }
        kernels.extend(std::iter::repeat_n(kernel, launches));
    }
    Ok(MeasuredRun {
        kernels,
        is_summed: true,
        ..MeasuredRun::default()
    })
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
