//! Attention tile by tile: what has been loaded at each step, one row's corrections, and the
//! picture.

use crate::charts::check_golden;
use fuseline_core::default_device;
use fuseline_core::fusion::attention::{AttentionShape, LoopOrder, Tiles};
use fuseline_view::picture::charts::attention_walk::scene;
use fuseline_view::picture::charts::scene::Role;
use fuseline_view::present::attention::{
    AttentionSize, AttentionSizes, AttentionWalk, bytes_so_far, row_updates, walk_words,
};
use proptest::prelude::*;

fn shape(queries: u64, keys: u64, head_size: u64) -> AttentionShape {
    AttentionShape {
        heads: 1,
        group: 1,
        queries,
        keys,
        head_size,
        bytes_per_element: 2,
        key_bytes_per_element: 2,
    }
}

fn at(sizes: AttentionSizes, at: u64) -> AttentionWalk {
    AttentionWalk::new(sizes, default_device(), at)
}

#[test]
fn the_loop_over_q_keeps_a_tile_of_q() {
    let sizes = AttentionSizes::default();
    let keys = at(sizes, 0).tiles.key_tiles;
    let first: Vec<_> = (0..=keys)
        .map(|step| at(sizes, step).step)
        .map(|step| (step.query_tile, step.key_tile))
        .collect();
    assert_eq!(first[..2], [(0, 0), (0, 1)]);
    assert_eq!(first.last(), Some(&(1, 0)));
    let over_keys = AttentionSizes {
        order: LoopOrder::Keys,
        ..sizes
    };
    assert_eq!(at(over_keys, 1).step.query_tile, 1);
    assert_eq!(at(over_keys, 1).bytes, None);
    assert_eq!(
        walk_words(&at(sizes, u64::MAX)),
        "Tile 32 of 32 of Q, tile 7 of 7 of K and V"
    );
}

/// One row of 2,048 made-up scores: the same result as from all of them at once.
#[test]
fn the_corrections_lead_to_the_softmax_of_the_row() {
    let sizes = AttentionSizes::default();
    let updates = row_updates(&sizes, default_device(), 3);
    assert_eq!(updates.len() as u64, at(sizes, 0).tiles.key_tiles);
    let whole = sizes
        .with_typed(AttentionSize::OnChip, "1024")
        .and_then(|sizes| sizes.with_typed(AttentionSize::HeadSize, "16"))
        .unwrap();
    let [at_once] = row_updates(&whole, default_device(), 3)[..] else {
        unreachable!("one tile of keys");
    };
    let last = updates.last().unwrap().after;
    assert!((last.maximum - at_once.after.maximum).abs() < 1e-12);
    assert!((last.sum / at_once.after.sum - 1.0).abs() < 1e-12);
    assert!(
        updates
            .windows(2)
            .all(|pair| pair[0].after == pair[1].before)
    );
    // Some tile raises the maximum, or the picture would show no correction.
    let corrected = |tile| {
        let updates = row_updates(&sizes, default_device(), tile);
        updates.iter().skip(1).any(|update| update.rescale < 1.0)
    };
    assert!((0..8).any(corrected));
}

#[test]
fn the_walk_is_as_drawn_before() {
    let sizes = AttentionSizes::default();
    let walk = at(sizes, 40);
    let updates = row_updates(&sizes, default_device(), walk.step.query_tile);
    let update = updates.get(usize::try_from(walk.step.key_tile).unwrap());
    check_golden("attention_walk_wide", &scene(&walk, update, (760.0, 320.0)));
    check_golden(
        "attention_walk_phone",
        &scene(&walk, update, (328.0, 320.0)),
    );
}

/// A query against a long cache: one row of Q, and still all in the frame.
#[test]
fn one_query_is_drawn() {
    let decode = AttentionSizes::default()
        .with_typed(AttentionSize::Queries, "1")
        .unwrap();
    let scene = scene(&at(decode, 2), None, (760.0, 320.0));
    let frames = scene
        .marks
        .iter()
        .filter(|mark| mark.role == Role::TileFrame);
    assert_eq!(frames.count(), 2);
}

proptest! {
    /// At the end everything was loaded and stored that the formula of the kernel counts, but for
    /// the row sums; on the way nothing is ever taken back, and three kernels have always more
    /// traffic.
    #[test]
    fn the_bytes_of_the_walk_are_those_of_the_kernel(
        queries in 1..3000_u64, keys in 1..3000_u64, head_size in 1..200_u64, on_chip in 1000..200_000_u64,
    ) {
        let shape = shape(queries, keys, head_size);
        let tiles: Tiles = Tiles::new(&shape, on_chip);
        let end = tiles.walked_bytes(&shape, u64::MAX);
        let row_sums = queries * 2;
        prop_assert_eq!(end.first + end.again + row_sums, shape.forward_bytes(&tiles, LoopOrder::Queries));
        prop_assert_eq!(end.first, shape.compulsory_bytes::<u64>());
        prop_assert_eq!(end.first + 4 * end.scores, shape.standard_bytes::<u64>());
        let mut before = tiles.walked_bytes(&shape, 0);
        for step in 1..tiles.steps().min(200) {
            let after = tiles.walked_bytes(&shape, step);
            prop_assert!(after.first >= before.first && after.again >= before.again);
            prop_assert!(after.scores > before.scores);
            before = after;
        }
    }
}

#[test]
fn the_bars_name_the_cache() {
    let [(kernel, first, words), (_, standard, _)] =
        bytes_so_far(&at(AttentionSizes::default(), 20)).unwrap();
    assert_eq!(kernel, "this kernel");
    assert!(words.contains(", cache ") && standard > first, "{words}");
}
