//! A list of lists in two flat arrays: a graph's edges without an allocation for each node.

use std::ops::Index;

/// Lists of indices, ragged, read as `lists[node]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    /// One past the end of each list in `items`, behind a leading 0.
    ends: Vec<usize>,
    items: Vec<usize>,
}

impl Lists {
    /// No lists yet, with room for `lists` of them and `items` in all.
    pub fn with_capacity(lists: usize, items: usize) -> Self {
        let mut ends = Vec::with_capacity(lists + 1);
        ends.push(0);
        Self {
            ends,
            items: Vec::with_capacity(items),
        }
    }

    /// Appends a list.
    pub fn push(&mut self, list: impl IntoIterator<Item = usize>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// There are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lists in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[usize]> + ExactSizeIterator + Clone {
        (0..self.len()).map(|list| &self[list])
    }

    /// One list; `None` past the last.
    pub fn get(&self, list: usize) -> Option<&[usize]> {
        let (&start, &end) = self.ends.get(list).zip(self.ends.get(list + 1))?;
        self.items.get(start..end)
    }

    /// For each of `targets` nodes the lists that name it, ascending and each once. `O(items + targets)`.
    #[must_use]
    pub fn inverted(&self, targets: usize) -> Self {
        let mut all = Self {
            ends: vec![0; targets + 2],
            items: Vec::new(),
        };
        // Counting sort: sizes, then places, then the lists in order. Each place moves on to the end of its
        // list, which is where the next one begins, so that one array serves as both.
        for &item in &self.items {
            if let Some(count) = all.ends.get_mut(item + 2) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for end in &mut all.ends {
            sum += *end;
            *end = sum;
        }
        all.ends.truncate(targets + 1);
        all.items = vec![0; sum];
        for (list, members) in self.iter().enumerate() {
            for &item in members {
                if let Some(place) = all.ends.get_mut(item + 1) {
                    if let Some(slot) = all.items.get_mut(*place) {
                        *slot = list;
                    }
                    *place += 1;
                }
            }
        }
        all.without_repeats()
    }

    /// Each run of equal items as one, in place.
    fn without_repeats(mut self) -> Self {
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            let mut last = None;
            for place in start..*end {
                let item = self.items.get(place).copied();
                if item != last
                    && let (Some(item), Some(slot)) = (item, self.items.get_mut(kept))
                {
                    *slot = item;
                    kept += 1;
                }
                last = item;
            }
            start = *end;
            *end = kept;
        }
        self.items.truncate(kept);
        self
    }
}

impl Default for Lists {
    fn default() -> Self {
        Self::with_capacity(0, 0)
    }
}

impl Index<usize> for Lists {
    type Output = [usize];

    /// The list of a node; empty for a node that has none.
    fn index(&self, list: usize) -> &[usize] {
        self.get(list).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::lists::Lists;

    #[test]
    fn reads_back_and_inverts() {
        let mut lists = Lists::default();
        lists.push([2, 0, 2]);
        lists.push([]);
        lists.push([0]);
        assert_eq!(
            lists.iter().collect::<Vec<_>>(),
            [&[2, 0, 2][..], &[], &[0]]
        );
        let back = lists.inverted(3);
        assert_eq!(back.iter().collect::<Vec<_>>(), [&[0, 2][..], &[], &[0]]);
        assert_eq!(&lists[7], &[] as &[usize]);
    }
}
