//! Which dimensions a reshape joins and splits.

use std::ops::Range;

/// The shortest runs of sizes that have as many indices before and after a reshape, in order.
/// `None` where the sizes are not those of one tensor.
pub(super) fn runs(from: &[u64], to: &[u64]) -> Option<Vec<[Range<usize>; 2]>> {
    let (mut runs, mut old, mut new) = (Vec::new(), 0..0, 0..0);
    while old.end < from.len() || new.end < to.len() {
        (old, new) = (old.end..old.end, new.end..new.end);
        let next = |range: &mut Range<usize>, sizes: &[u64]| {
            let size = sizes.get(range.end).copied();
            range.end += usize::from(size.is_some());
            size
        };
        let mut count = [next(&mut old, from), next(&mut new, to)].map(|size| size.unwrap_or(1));
        while count[0] != count[1] {
            let further = if count[0] < count[1] {
                (0, next(&mut old, from)?)
            } else {
                (1, next(&mut new, to)?)
            };
            let own = count.get_mut(further.0)?;
            *own = own.checked_mul(further.1)?;
        }
        runs.push([old.clone(), new.clone()]);
    }
    Some(runs)
}
