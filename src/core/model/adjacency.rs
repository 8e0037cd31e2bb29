//! Lists by id in two flat arrays: edges of a graph and ops of kernels, without an allocation for
//! each list.

use crate::model::ids::Id;
use borsh::{BorshDeserialize, BorshSerialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

/// For each key a list of items, in compressed sparse rows, read as `lists[key]`.
///
/// Measured: a `Vec` for each list makes `cargo bench --bench core` slower from ops to analysis, by
/// 18 % at 14 ops, 16 % at 10,000 and 11 % at 100,000.
#[derive(Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Adjacency<K, T> {
    /// The end of each list in `items`, after a leading 0.
    ends: Vec<usize>,
    items: Vec<T>,
    keys: PhantomData<K>,
}

impl<K: Id, T> Adjacency<K, T> {
    /// No lists, with capacity for this many lists and this many items in all of them.
    pub fn with_capacity(lists: usize, items: usize) -> Self {
        let mut ends = Vec::with_capacity(lists + 1);
        ends.push(0);
        Self {
            ends,
            items: Vec::with_capacity(items),
            keys: PhantomData,
        }
    }

    /// Appends the list of the next key.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    /// The key of the next pushed list.
    pub fn next_id(&self) -> K {
        K::from_index(self.len())
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// There are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The list of this key; `None` past the last.
    pub fn get(&self, key: K) -> Option<&[T]> {
        let at = key.index();
        let (&start, &end) = self.ends.get(at).zip(self.ends.get(at + 1))?;
        self.items.get(start..end)
    }

    /// All keys, ascending.
    pub fn ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + Clone + use<K, T> {
        (0..self.len()).map(K::from_index)
    }

    /// The lists by ascending keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator + Clone {
        self.ids().map(|key| &self[key])
    }

    /// The lists with their keys, ascending.
    pub fn iter_enumerated(
        &self,
    ) -> impl DoubleEndedIterator<Item = (K, &[T])> + ExactSizeIterator + Clone {
        self.ids().map(|key| (key, &self[key]))
    }

    /// Lists for `count` keys: for each key the items that are paired with it, in the order of the
    /// pairs. Keys past the last are left out. A counting sort in `O(pairs + count)`.
    pub fn from_pairs(count: usize, pairs: impl Iterator<Item = (K, T)> + Clone) -> Self
    where
        T: Copy,
    {
        // `ends` holds sizes first, then the start of each list. Writing an item advances the start
        // of its list, so at last each start is the list's end, where the next list starts.
        let mut ends = vec![0; count + 2];
        pairs.clone().for_each(|(key, _)| {
            if let Some(size) = ends.get_mut(key.index() + 2) {
                *size += 1;
            }
        });
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        ends.truncate(count + 1);
        // `T` has no default, so the first item fills all slots until each gets its own.
        let filler = pairs.clone().next();
        let mut items = filler.map_or_else(Vec::new, |(_, item)| vec![item; sum]);
        pairs.for_each(|(key, item)| {
            if let Some(place) = ends.get_mut(key.index() + 1) {
                if let Some(slot) = items.get_mut(*place) {
                    *slot = item;
                }
                *place += 1;
            }
        });
        Self {
            ends,
            items,
            keys: PhantomData,
        }
    }
}

impl<K: Id, V: Id> Adjacency<K, V> {
    /// For each of `count` items the keys whose lists name it, ascending and each once.
    /// `O(items + count)`.
    #[must_use]
    pub fn inverted(&self, count: usize) -> Adjacency<V, K> {
        let pairs = (self.iter_enumerated())
            .flat_map(|(key, list)| list.iter().map(move |&item| (item, key)));
        Adjacency::from_pairs(count, pairs).without_repeats()
    }

    /// Merges each run of equal items into one, in place.
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

impl<K: Id, T> Default for Adjacency<K, T> {
    fn default() -> Self {
        Self::with_capacity(0, 0)
    }
}

impl<K: Id, T: fmt::Debug> fmt::Debug for Adjacency<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<K: Id, T> Index<K> for Adjacency<K, T> {
    type Output = [T];

    /// The list of a key; empty past the last.
    fn index(&self, key: K) -> &[T] {
        self.get(key).unwrap_or(&[])
    }
}
