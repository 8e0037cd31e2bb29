//! Names to dense ids.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Gives each distinct name the next number.
///
/// The table holds four bytes a name and finds the rest in `names`, so that it stays in a near cache when
/// a program has a hundred thousand of them; tables of names and values cost a memory access each.
pub(super) struct Names<'a> {
    names: Vec<&'a str>,
    ids: HashTable<u32>,
}

impl<'a> Names<'a> {
    pub(super) fn with_capacity(count: usize) -> Self {
        Self {
            names: Vec::with_capacity(count),
            ids: HashTable::with_capacity(count),
        }
    }

    /// The id of a name, and whether it is new.
    pub(super) fn id(&mut self, name: &'a str) -> (usize, bool) {
        let hash = FxBuildHasher.hash_one(name);
        let names = &self.names;
        let is_same = |&id: &u32| names.get(id as usize) == Some(&name);
        if let Some(&id) = self.ids.find(hash, is_same) {
            return (id as usize, false);
        }
        let id = self.names.len();
        self.names.push(name);
        let names = &self.names;
        let hash_of = |&id: &u32| {
            names
                .get(id as usize)
                .map_or(0, |name| FxBuildHasher.hash_one(name))
        };
        // A text with 2^32 names does not fit the memory that it is read into.
        self.ids
            .insert_unique(hash, u32::try_from(id).unwrap_or(u32::MAX), hash_of);
        (id, true)
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn each_name_has_one_id() {
        let texts: Vec<String> = (0..1000).map(|i| format!("t{}", i % 700)).collect();
        let mut names = Names::with_capacity(0);
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(names.id(text), (i % 700, i < 700));
        }
    }
}
