//! Dense ids of ops, tensors and kernels, each kind with a type of its own, and the vectors that
//! they index.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The index of an item in an [`IdVec`], as a type that fits no other vector.
pub trait Id: Copy + Ord + Hash + fmt::Debug {
    /// The id of the item at this index.
    fn from_index(index: usize) -> Self;

    /// The index of its item.
    fn index(self) -> usize;
}

/// Defines types of ids. `Display` and `FromStr` are those of the number. The calling crate needs
/// serde and borsh.
#[macro_export]
macro_rules! define_ids {
    ($($(#[$doc:meta])* $visibility:vis struct $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[derive(borsh::BorshSerialize, borsh::BorshDeserialize)]
        $visibility struct $name(u32);

        #[allow(dead_code, reason = "each kind of id has the same methods, used or not")]
        impl $name {
            /// The id of the item at this index, which is below `2^32`: more items do not fit into
            /// memory.
            #[allow(clippy::cast_possible_truncation, reason = "more items do not fit into memory")]
            $visibility const fn new(index: usize) -> Self {
                Self(index as u32)
            }

            /// The index of its item.
            $visibility const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::model::ids::Id for $name {
            fn from_index(index: usize) -> Self {
                Self::new(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}
pub use define_ids;

define_ids! {
    /// An op of a [`Graph`](crate::Graph), in execution order.
    pub struct OpId;
    /// A tensor of a [`Graph`](crate::Graph).
    pub struct TensorId;
    /// A kernel of a [`Partition`](crate::Partition), in the order in which kernels run.
    pub struct KernelId;
}

impl KernelId {
    /// The kernel of this op in a partition where each op is a separate kernel.
    pub const fn of_lone_op(op: OpId) -> Self {
        Self(op.0)
    }

    /// The number that users see, from 1 on.
    pub const fn number(self) -> usize {
        self.index() + 1
    }
}

/// A vector that is indexed by one kind of id.
#[derive(Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// No items.
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            ids: PhantomData,
        }
    }

    /// No items, with room for this many.
    pub fn with_capacity(count: usize) -> Self {
        Vec::with_capacity(count).into()
    }

    /// The same item this many times.
    pub fn from_elem(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        vec![item; count].into()
    }

    /// Appends an item and gives its id.
    pub fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// The id that the next pushed item gets.
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    /// Number of items.
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// There are no items.
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item of this id, for ids that may be out of range.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The item of this id, to be changed.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// All ids, ascending.
    pub fn ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// The items by ascending ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items by ascending ids, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items with their ids, ascending.
    pub fn iter_enumerated(
        &self,
    ) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator + Clone {
        self.ids().zip(&self.items)
    }

    /// The items without their ids.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I, T: Serialize> Serialize for IdVec<I, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

/// Indexes with an id of this vector, or of one of the same length. For ids from outside, such as
/// from a link, use [`IdVec::get`].
impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self {
            items,
            ids: PhantomData,
        }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IdVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}
