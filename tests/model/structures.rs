//! Data structures below the model and the pictures.

use fuseline_core::disjoint_sets::DisjointSets;
use fuseline_core::model::adjacency::Adjacency;
use fuseline_core::model::names::Names;
use fuseline_core::model::order::{runnable, topological_order};
use fuseline_core::sorted::common;
use fuseline_core::{IdVec, OpId, TensorId};
use fuseline_view::picture::charts::bounds::Bounds;
use fuseline_view::picture::charts::occupancy::OccupancyGrid;
use fuseline_view::picture::dag::intervals::assign_lines;
use proptest::prelude::*;

/// The roots of all members, as plain numbers.
fn roots(sets: &mut DisjointSets<OpId>) -> Vec<usize> {
    sets.roots().iter().map(|root| root.index()).collect()
}

#[test]
fn the_kept_root_stays() {
    let [a, b, c] = [0, 2, 3].map(OpId::new);
    let mut sets = DisjointSets::new(4);
    assert!(sets.unite(b, a));
    assert!(sets.unite(c, a));
    assert!(!sets.unite(a, b));
    assert_eq!(sets.push(), OpId::new(4));
    assert_eq!(roots(&mut sets), [3, 1, 3, 3, 4]);
}

proptest! {
    /// Against a list in which every member knows its set.
    #[test]
    fn sets_are_those_of_a_plain_list(pairs in proptest::collection::vec((0..20_usize, 0..20_usize), 0..40)) {
        let mut sets = DisjointSets::new(20);
        let mut plain: Vec<usize> = (0..20).collect();
        for (kept, other) in pairs {
            let (stays, goes) = (plain[kept], plain[other]);
            prop_assert_eq!(sets.unite(OpId::new(kept), OpId::new(other)), stays != goes);
            for set in plain.iter_mut().filter(|set| **set == goes) {
                *set = stays;
            }
        }
        prop_assert_eq!(roots(&mut sets), plain);
    }
}

fn op_ids(ids: &[usize]) -> Vec<OpId> {
    ids.iter().map(|&id| OpId::new(id)).collect()
}

fn predecessors(lists: &[&[usize]]) -> IdVec<OpId, Vec<OpId>> {
    lists.iter().map(|list| op_ids(list)).collect()
}

#[test]
fn keeps_a_sorted_list_and_sorts_another_stably() {
    let sorted = predecessors(&[&[], &[0], &[]]);
    assert_eq!(topological_order(&sorted), Ok(op_ids(&[0, 1, 2])));
    let unsorted = predecessors(&[&[2], &[], &[]]);
    assert_eq!(topological_order(&unsorted), Ok(op_ids(&[1, 2, 0])));
}

#[test]
fn names_the_cycle_and_not_what_depends_on_it() {
    // Edges 0 <- 1 <- 2 <- 1; node 3 is free.
    let cyclic = predecessors(&[&[1], &[2], &[1], &[]]);
    assert_eq!(topological_order(&cyclic), Err(op_ids(&[1, 2])));
    let itself = predecessors(&[&[0]]);
    assert_eq!(topological_order(&itself), Err(op_ids(&[0])));
}

#[test]
fn runs_what_depends_on_no_cycle() {
    // 0 is free, 1 <-> 2 is a cycle, 3 depends on it, 4 depends on 0.
    let some = predecessors(&[&[], &[2], &[1], &[2], &[0]]);
    assert_eq!(runnable(&some), op_ids(&[0, 4]));
}

#[test]
fn reads_back_and_inverts() {
    let tensors =
        |ids: &[usize]| -> Vec<TensorId> { ids.iter().map(|&t| TensorId::new(t)).collect() };
    let mut reads: Adjacency<OpId, TensorId> = Adjacency::default();
    for list in [&[2, 0, 2][..], &[], &[0]] {
        reads.push(tensors(list));
    }
    assert_eq!(
        reads.iter().collect::<Vec<_>>(),
        [tensors(&[2, 0, 2]), vec![], tensors(&[0])]
    );
    let readers = reads.inverted(3);
    assert_eq!(
        readers.iter().collect::<Vec<_>>(),
        [&[OpId::new(0), OpId::new(2)][..], &[], &[OpId::new(0)]]
    );
    assert_eq!(&reads[OpId::new(7)], []);
}

#[test]
fn each_name_has_one_place() {
    let texts: Vec<String> = (0..1000).map(|i| format!("t{}", i % 700)).collect();
    let mut names = Names::with_capacity(0);
    let name_of = |place: usize| texts[place].as_str();
    for (i, text) in texts.iter().enumerate() {
        assert_eq!(names.place(text, i, &name_of), (i % 700, i < 700));
    }
    assert_eq!(names.find("t699", &name_of), Some(699));
    assert_eq!(names.find("t700", &name_of), None);
}

#[test]
fn finds_common_items_whichever_list_is_longer() {
    let long: Vec<u32> = (0..100).map(|item| item * 3).collect();
    let both = |a: &[u32], b: &[u32]| {
        let mut both = Vec::new();
        common(a, b, u32::cmp, |&x, _| both.push(x));
        both
    };
    assert_eq!(both(&[1, 3, 6, 200, 297], &long), [3, 6, 297]);
    assert_eq!(both(&long, &[1, 3, 6, 200, 297]), [3, 6, 297]);
    assert_eq!(both(&[1, 2, 4], &[2, 3, 4, 5]), [2, 4]);
    assert!(both(&[], &long).is_empty());
    assert_eq!(both(&[2, 3, 3, 3, 4], &[3]), [3, 3, 3]);
    assert_eq!(both(&[3, 3, 4], &[3, 4]), [3, 3, 4]);
    assert_eq!(both(&[3, 3], &long), [3, 3]);
}

#[test]
fn overlapping_intervals_have_lines_of_their_own() {
    let lines = assign_lines([(0, 4), (1, 2), (2, 3), (3, 9), (5, 6)]);
    assert_eq!(lines, [0, 1, 2, 1, 0]);
}

fn bounds([left, top, right, bottom]: [f64; 4]) -> Bounds {
    Bounds {
        left,
        top,
        right,
        bottom,
    }
}

#[test]
fn what_is_occupied_is_not_free() {
    let mut grid = OccupancyGrid::new(bounds([10.0, 10.0, 110.0, 60.0]));
    let wanted = bounds([20.0, 20.0, 40.0, 30.0]);
    assert!(grid.is_free(&wanted));
    grid.occupy(&bounds([39.0, 29.0, 200.0, 31.0]));
    assert!(!grid.is_free(&wanted));
    assert!(grid.is_free(&bounds([20.0, 20.0, 35.0, 26.0])));
    for beyond in [[5.0, 20.0, 15.0, 26.0], [100.0, 20.0, 111.0, 26.0]] {
        assert!(!grid.is_free(&bounds(beyond)), "{beyond:?}");
    }
}
