//! Greedy colouring of intervals: those that do not overlap share a line.

use std::collections::BTreeSet;

/// The line of each interval: the lowest that no overlapping interval before it uses. Intervals
/// come sorted by their starts; two overlap when one ends where the other starts. `O(n log n)`.
pub fn assign_lines<T: Copy + Ord>(intervals: impl IntoIterator<Item = (T, T)>) -> Vec<usize> {
    let mut free: BTreeSet<usize> = BTreeSet::new();
    let mut busy: BTreeSet<(T, usize)> = BTreeSet::new();
    (intervals.into_iter())
        .map(|(start, end)| {
            while let Some(&(_, line)) = busy.first().filter(|first| first.0 < start) {
                busy.pop_first();
                free.insert(line);
            }
            // Each line is busy or free, so with none free the next one has this number.
            let line = free.pop_first().unwrap_or(busy.len());
            busy.insert((end, line));
            line
        })
        .collect()
}
