//! The common items of two ascending lists.

use std::cmp::Ordering;

/// From this ratio of lengths on, each item of the shorter list is looked up in the longer one.
const LOOKED_UP: usize = 8;

/// Calls `each` with the items of `a` that are in `b`, and their equals there. Both ascend; items
/// of `a` may repeat. `O(shorter log longer)` beside the calls, and no more than both lengths.
pub fn common<'l, A, B>(
    a: &'l [A],
    b: &'l [B],
    compare: impl Fn(&A, &B) -> Ordering,
    mut each: impl FnMut(&'l A, &'l B),
) {
    if a.len() > LOOKED_UP * b.len() {
        for item in b {
            let start = a.partition_point(|other| compare(other, item).is_lt());
            let equal = a.iter().skip(start);
            let equal = equal.take_while(|other| compare(other, item).is_eq());
            equal.for_each(|other| each(other, item));
        }
    } else if b.len() > LOOKED_UP * a.len() {
        for item in a {
            let place = b.binary_search_by(|other| compare(item, other).reverse());
            if let Some(other) = place.ok().and_then(|place| b.get(place)) {
                each(item, other);
            }
        }
    } else {
        let mut rest = b.iter().peekable();
        for item in a {
            while rest.next_if(|other| compare(item, other).is_gt()).is_some() {}
            if let Some(other) = rest.peek().filter(|other| compare(item, other).is_eq()) {
                each(item, other);
            }
        }
    }
}
