//! A hash table from sets of ops to what is known of each: the one look-up of the search.

use crate::core::fusion::region::Set;

/// Open addressing with linear probing, at most half full.
///
/// The key 0, the empty set, marks a free slot and is never kept.
pub(super) struct Table<V> {
    slots: Vec<(Set, V)>,
    len: usize,
}

impl<V: Copy> Table<V> {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            len: 0,
        }
    }

    /// The value of this set.
    pub(super) fn get(&self, set: Set) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let (key, value) = self.slots[self.slot(set)];
        (key == set).then_some(value)
    }

    /// Sets the value of a set.
    pub(super) fn insert(&mut self, set: Set, value: V) {
        if self.slots.len() <= self.len * 2 {
            let slots = vec![(0, value); (self.slots.len() * 2).max(64)];
            for (key, value) in std::mem::replace(&mut self.slots, slots) {
                if key != 0 {
                    let slot = self.slot(key);
                    self.slots[slot] = (key, value);
                }
            }
        }
        let slot = self.slot(set);
        self.len += usize::from(self.slots[slot].0 == 0);
        self.slots[slot] = (set, value);
    }

    /// The slot of the set, or the free slot where it goes.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "no more bits are left than a slot's number has"
    )]
    fn slot(&self, set: Set) -> usize {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mask = self.slots.len() - 1;
        // The highest bits of the product depend on every op of the set, those in its middle on the lower ones only.
        let bits = self.slots.len().trailing_zeros();
        let mut slot = (set.wrapping_mul(SPREAD) >> (Set::BITS - bits)) as usize;
        while self.slots[slot].0 != 0 && self.slots[slot].0 != set {
            slot = (slot + 1) & mask;
        }
        slot
    }
}
