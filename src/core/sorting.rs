//! One sort for the whole program.
//!
//! Each type and key that std's sort meets costs a visitor two to four kilobytes of download, so lists are
//! sorted by ranks of one type and then put in order.

/// What decides a place: compared from the first to the last.
pub(crate) type Rank = (i64, i64, i64);

/// Sorts by rank, smallest first; equals keep their order. `O(n log n)`.
pub(crate) fn sort_by_rank<T>(items: &mut [T], mut rank: impl FnMut(&T) -> Rank) {
    if items.len() < 2 {
        return;
    }
    let mut order: Vec<(Rank, usize)> = Vec::with_capacity(items.len());
    order.extend(
        items
            .iter()
            .enumerate()
            .map(|(place, item)| (rank(item), place)),
    );
    sort_ranks(&mut order);
    let mut from: Vec<usize> = order.into_iter().map(|(_, place)| place).collect();
    // Walks each cycle of the permutation; a place that is done points at itself.
    for start in 0..from.len() {
        let mut place = start;
        while let Some(next) = from.get_mut(place) {
            let source = std::mem::replace(next, place);
            if source == start {
                break;
            }
            items.swap(place, source);
            place = source;
        }
    }
}

#[inline(never)]
fn sort_ranks(order: &mut [(Rank, usize)]) {
    order.sort_unstable();
}

/// The rank of an index or a count; what passes `i64` comes last.
pub(crate) fn rank_of(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// The rank of a float in the order of `f64::total_cmp`.
pub(crate) fn rank_of_float(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_std_does(items in proptest::collection::vec((any::<u8>(), any::<f64>(), any::<u16>()), 0..60)) {
            let mut ours = items.clone();
            sort_by_rank(&mut ours, |&(a, b, _)| (rank_of(a), rank_of_float(b), 0));
            let mut theirs = items;
            theirs.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
            let bits = |list: &[(u8, f64, u16)]| -> Vec<(u8, u64, u16)> {
                list.iter().map(|&(a, b, c)| (a, b.to_bits(), c)).collect()
            };
            prop_assert_eq!(bits(&ours), bits(&theirs));
        }
    }
}
