//! Matmuls in tiles: hand-calculated cases, and what holds for every tile.
#![allow(
    clippy::float_cmp,
    reason = "equal figures come out of the same arithmetic"
)]

use fuseline_core::analysis::limits::limits;
use fuseline_core::analysis::tiling::{
    BlockTile, Follower, GROUPS, Needs, SIDES, TileGrid, Tiled, TiledMatmul, TimeLimit, best,
    followers, matmuls,
};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Device, Options, Policy, analyze_program, device};
use proptest::prelude::*;

fn analysis_of(text: &str, policy: Policy) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let options = Options {
        device: h200().clone(),
        ..Options::of_policy(policy)
    };
    analyze_program(&parsed.program, &options).analysis.unwrap()
}

fn h200() -> &'static Device {
    device("h200").unwrap()
}

fn matmul_text(batch: Option<u64>, [m, k, n]: [u64; 3], dtype: &str) -> String {
    let lead = batch.map(|batch| format!("{batch}, ")).unwrap_or_default();
    format!(
        "input a : {dtype}[{lead}{m}, {k}]\ninput b : {dtype}[{lead}{k}, {n}]\ny = matmul(a, b)\n"
    )
}

fn matmul_of(text: &str) -> TiledMatmul {
    let analysis = analysis_of(text, Policy::Rules);
    matmuls(&analysis.graph).next().unwrap()
}

fn tile(rows: u64, columns: u64, depth: u64) -> BlockTile {
    BlockTile {
        rows,
        columns,
        depth,
    }
}

fn tiled(text: &str, tile: BlockTile, group_rows: u64) -> Tiled {
    Tiled::new(matmul_of(text), tile, group_rows, h200()).unwrap()
}

/// 4096 cubed in f16 on the 132 multiprocessors of an H200, tiles of 128 x 128: 32 x 32 = 1024
/// tiles are 7.76 waves. A tile reads (128 + 128) x 4096 x 2 B = 2.1 MB for 128 x 128 x 8192 FLOPs,
/// which is 64 FLOP/B. By themselves all read 1024 times that, 2.15 GB, where the operands have
/// 67.1 MB. The 132 tiles of the first wave are eight rows of 16 columns and four of the next
/// column: (8 + 17) x 128 x 8192 B = 26.2 MB.
#[test]
fn a_square_matmul_by_hand() {
    let square = tiled(&matmul_text(None, [4096; 3], "f16"), tile(128, 128, 64), 8);
    assert_eq!((square.grid.rows, square.grid.columns), (32, 32));
    assert_eq!(
        (square.grid.tiles(), square.waves(), square.steps()),
        (1024, 8, 64)
    );
    assert_eq!(square.tiles_of_wave(7), 924..1024);
    assert!((square.tiling.wave_efficiency - 1024.0 / 1056.0).abs() < 1e-12);
    assert!((square.tiling.tile_efficiency - 1.0).abs() < 1e-12);
    assert_eq!(square.bytes_of(square.tile_strips::<u64>()), 256 * 4096 * 2);
    assert!((square.tile_intensity() - 64.0).abs() < 1e-12);
    assert_eq!(
        square.bytes_of(square.separate_strips::<u64>()),
        1024 * 256 * 4096 * 2
    );
    assert_eq!(
        square.bytes_of(square.compulsory_strips::<u64>()),
        2 * 4096 * 4096 * 2
    );
    assert_eq!(
        square.bytes_of(square.shared_strips(square.tiles_of_wave(0))),
        25 * 128 * 4096 * 2
    );
    let resources = square.resources;
    // 64 deep, 256 wide, two bytes; four of them fit into 227 KiB, and no more are used.
    assert_eq!((resources.step_bytes, resources.stages), (32_768, 4));
    assert_eq!(
        (resources.sums_per_thread, resources.registers_per_thread),
        (64, 104)
    );
    assert!(resources.fits());
}

/// 1000 x 1000 in tiles of 256 x 128: 4 x 8 tiles, of which those at the edges are partly empty.
#[test]
fn tiles_at_the_edge_read_what_there_is() {
    let edge = tiled(
        &matmul_text(None, [1000, 512, 1000], "f16"),
        tile(256, 128, 64),
        1,
    );
    assert_eq!((edge.grid.rows, edge.grid.columns, edge.waves()), (4, 8, 1));
    assert!((edge.tiling.tile_efficiency - 1e6 / (1024.0 * 1024.0)).abs() < 1e-12);
    // One wave reads every operand once, for its tiles share the strips.
    assert_eq!(
        edge.strips_of_waves(),
        Some(edge.compulsory_strips::<u64>())
    );
    assert_eq!(
        edge.bytes_of(edge.separate_strips::<u64>()),
        (8 + 4) * 1000 * 512 * 2
    );
    // The last tile has 232 rows and 104 columns.
    assert_eq!(
        edge.bytes_of(edge.shared_strips(31..32)),
        (232 + 104) * 512 * 2
    );
}

/// The figure of Triton's tutorial on matmuls: operands of 9 x 9 blocks, of which the first nine
/// tiles of the output need 90 in row-major order and 54 in groups of three rows.
#[test]
fn the_order_of_tiles_decides_how_many_strips_a_wave_needs() {
    let text = matmul_text(None, [9 * 16; 3], "f16");
    let blocks = |group_rows| {
        let tiled = tiled(&text, tile(16, 16, 16), group_rows);
        tiled.bytes_of(tiled.shared_strips(0..9)) / (16 * 16 * 2)
    };
    assert_eq!([1, 3].map(blocks), [90, 54]);
}

#[test]
fn each_product_of_a_batch_reads_its_own_operands() {
    let tiled = tiled(
        &matmul_text(Some(12), [512, 64, 512], "f16"),
        tile(128, 128, 64),
        8,
    );
    assert_eq!((tiled.grid.tiles(), tiled.waves()), (192, 2));
    assert_eq!(
        tiled.bytes_of(tiled.compulsory_strips::<u64>()),
        12 * 2 * 512 * 64 * 2
    );
    // Eight products and a quarter: one column of tiles, which needs all rows.
    assert_eq!(
        tiled.bytes_of(tiled.shared_strips(tiled.tiles_of_wave(0))),
        8 * 2 * 512 * 64 * 2 + (512 + 128) * 64 * 2
    );
}

/// 256 x 256 sums on 256 threads are 256 registers, and a thread has 255. In f32 a step of 256 deep
/// rows and columns has half a megabyte.
#[test]
fn a_tile_that_exceeds_the_device_says_by_what() {
    let text = matmul_text(None, [4096; 3], "f32");
    let large = tiled(&text, tile(256, 256, 256), 8).resources;
    assert_eq!(
        (large.registers_per_thread, large.registers_available),
        (296, 255)
    );
    assert!(!large.fits_registers() && !large.fits_shared());
    assert_eq!(large.shared_bytes, 2 * 512 * 256 * 4);
    let small = tiled(&text, tile(64, 64, 32), 8).resources;
    assert!(small.fits());
}

fn followers_of(analysis: &Analysis, op: &str, tile: BlockTile) -> Vec<Follower> {
    let op = analysis.graph.op_named(op).unwrap();
    let matmul = TiledMatmul::of_op(&analysis.graph, op).unwrap();
    followers(analysis, &matmul, tile)
}

const EPILOGUE: &str = "input x : f16[4096, 1024]\nweight w : f16[1024, 4096]\nweight b : f16[4096]\nweight v : f16[4096, 512]\n\
    up = matmul(x, w)\nadd1 = add(up, b)\nact = gelu(add1)\nnorm = layer_norm(act)\ndown = matmul(act, v)\n";

#[test]
fn an_epilogue_runs_on_any_tile_and_a_norm_needs_whole_rows() {
    let analysis = analysis_of(EPILOGUE, Policy::Rules);
    let at = |tile| followers_of(&analysis, "up", tile);
    let of = |found: &[Follower]| -> Vec<(String, Needs, bool)> {
        let name = |op| analysis.graph.ops[op].name.clone();
        let rows = found.iter();
        rows.map(|f| (name(f.op), f.needs, f.fits)).collect()
    };
    let rows = Needs::Block {
        rows: 1,
        columns: 4096,
    };
    let expected = [
        ("add1", Needs::Element, true),
        ("act", Needs::Element, true),
        ("norm", rows, false),
        ("down", rows, false),
    ]
    .map(|(name, needs, fits)| (name.to_owned(), needs, fits));
    let small = at(tile(128, 128, 64));
    assert_eq!(of(&small), expected);
    assert!(small[0].is_in_kernel && small[1].is_in_kernel && !small[2].is_in_kernel);
    assert!(matches!(
        small[2].refusal,
        Some(Reason::MatmulAndReduction { .. })
    ));
    assert!(matches!(small[3].refusal, Some(Reason::TwoMatmuls { .. })));
}

/// Rows of 256 fit a tile of 256 columns. The kernel is refused all the same, as compilers refuse
/// it.
#[test]
fn a_tile_with_whole_rows_is_still_no_kernel() {
    let analysis = analysis_of(
        &EPILOGUE
            .replace("4096]", "256]")
            .replace("[4096, 512]", "[256, 512]"),
        Policy::Rules,
    );
    for (columns, fits) in [(128, false), (256, true)] {
        let found = followers_of(&analysis, "up", tile(64, columns, 64));
        let norm = &found[2];
        assert_eq!((norm.fits, norm.joins()), (fits, false), "{columns}");
    }
}

/// Heads of 128 columns each: a tile of 128 or 256 columns has whole ones, a tile of 64 has halves.
#[test]
fn a_norm_of_each_head_needs_the_columns_of_a_head() {
    let text = "input x : f16[2048, 1024]\nweight w : f16[1024, 2048]\nq = matmul(x, w)\nheads = reshape(q, shape=[2048, 16, 128])\n\
        qk_norm = rms_norm(heads)\n";
    let analysis = analysis_of(text, Policy::Rules);
    for (columns, fits) in [(64, false), (128, true), (256, true)] {
        let found = followers_of(&analysis, "q", tile(128, columns, 64));
        let norm = found.last().unwrap();
        assert_eq!(
            norm.needs,
            Needs::Block {
                rows: 1,
                columns: 128
            }
        );
        assert_eq!(norm.fits, fits, "{columns}");
    }
}

/// Behind a transpose of the one token and the heads a row is still a row of the tile.
#[test]
fn a_move_of_a_dimension_of_size_1_keeps_the_rows_of_a_tile() {
    let text = "input x : f16[2048, 1024]\nweight w : f16[1024, 2048]\nq = matmul(x, w)\nheads = reshape(q, shape=[2048, 1, 16, 128])\n\
        turned = transpose(heads, perm=[0, 2, 1, 3])\nqk_norm = rms_norm(turned)\n";
    let found = followers_of(&analysis_of(text, Policy::Rules), "q", tile(128, 128, 64));
    let needs: Vec<Needs> = found.iter().map(|found| found.needs).collect();
    let row = Needs::Block {
        rows: 1,
        columns: 128,
    };
    assert_eq!(needs, [Needs::Element, Needs::Element, row]);
}

#[test]
fn a_sum_over_the_rows_needs_a_whole_column() {
    let text = "input x : f16[512, 1024]\nweight w : f16[1024, 2048]\ny = matmul(x, w)\nt = sum(y, axis=0)\n";
    let analysis = analysis_of(text, Policy::Rules);
    let found = followers_of(&analysis, "y", tile(256, 256, 64));
    assert_eq!(
        found[0].needs,
        Needs::Block {
            rows: 512,
            columns: 1
        }
    );
    assert!(!found[0].fits);
}

/// What a tile refuses no policy may fuse, but attention, which is another algorithm.
#[test]
fn legality_never_allows_what_a_tile_refuses() {
    let mut refused = 0;
    for example in EXAMPLES {
        let analysis = analysis_of(example.text, Policy::Optimal);
        for matmul in matmuls(&analysis.graph) {
            for side in SIDES {
                for follower in followers(&analysis, &matmul, tile(side, side, 32)) {
                    refused += usize::from(!follower.fits);
                    assert!(
                        follower.fits || follower.refusal.is_some(),
                        "{} {follower:?}",
                        example.id
                    );
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

/// 4096 cubed: eight waves of 128 x 128 hold 1056 tiles, four of 256 x 128 hold 528 of twice the
/// size; both are the same arithmetic, and the larger tiles load less.
#[test]
fn the_suggested_tile_wastes_least_and_loads_least() {
    let found = best(matmul_of(&matmul_text(None, [4096; 3], "f16")), h200()).unwrap();
    assert_eq!(found.tile, tile(256, 128, 64));
    assert_eq!(found.limit, TimeLimit::Arithmetic);
    // All but 256 x 256.
    assert_eq!(found.compared, 24);
    // 16 rows are no work for a tile of 256.
    let flat = best(
        matmul_of(&matmul_text(None, [16, 4096, 4096], "f16")),
        h200(),
    )
    .unwrap();
    assert_eq!(flat.tile.rows, 16);
}

/// The tab of limits and this one are of one model.
#[test]
fn limits_count_the_same_registers_and_stages() {
    let analysis = analysis_of(&matmul_text(None, [4096; 3], "f16"), Policy::Rules);
    let kernel = limits(&analysis).unwrap().into_iter().next().unwrap();
    let chosen = kernel.tiling.unwrap().tile;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rows and columns of a tile are whole"
    )]
    let [rows, columns] = [chosen.rows, chosen.columns].map(|length| length as u64);
    let same = tiled(
        &matmul_text(None, [4096; 3], "f16"),
        tile(rows, columns, 64),
        8,
    );
    assert_eq!(
        kernel.registers_per_thread,
        same.resources.registers_per_thread
    );
    assert_eq!(kernel.on_chip_bytes, same.resources.shared_bytes);
}

#[test]
fn a_device_without_multiprocessors_has_no_waves() {
    let matmul = matmul_of(&matmul_text(None, [4096; 3], "f16"));
    let custom = Device::custom(1e12, 1e14, 1e13, 0.0);
    assert!(Tiled::new(matmul, tile(128, 128, 64), 8, &custom).is_none());
    assert!(best(matmul, &custom).is_none());
}

fn sides() -> impl Strategy<Value = u64> {
    prop::sample::select(SIDES.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every tile is in exactly one block of its range, and where `place` says.
    #[test]
    fn blocks_hold_each_tile_once(rows in 1_u64..20, columns in 1_u64..20, group_rows in 1_u64..9, from in 0_u64..400, count in 1_u64..400) {
        let grid = TileGrid { rows, columns, batch: 1, group_rows };
        let (start, end) = (from.min(rows * columns), (from + count).min(rows * columns));
        let blocks = grid.blocks(start..end);
        prop_assert!(blocks.len() <= 7);
        let mut held: Vec<(u64, u64)> = blocks.iter().flat_map(|block| {
            let columns = block.columns.clone();
            block.rows.clone().flat_map(move |row| columns.clone().map(move |column| (row, column)))
        }).collect();
        let mut placed: Vec<(u64, u64)> = (start..end).map(|tile| grid.place(tile)).collect();
        held.sort_unstable();
        placed.sort_unstable();
        prop_assert_eq!(&held, &placed);
        held.dedup();
        prop_assert_eq!(held.len() as u64, end - start);
    }

    /// Sharing strips never reads more, every wave reads at least what is compulsory for it, and
    /// all is between.
    #[test]
    fn reads_are_ordered(m in 1_u64..3000, k in 1_u64..600, n in 1_u64..3000, batch in 1_u64..4, rows in sides(), columns in sides(), group in prop::sample::select(GROUPS.to_vec())) {
        let text = matmul_text(Some(batch), [m, k, n], "f16");
        let tiled = tiled(&text, tile(rows, columns, 32), group);
        let waves = tiled.bytes_of(tiled.strips_of_waves().unwrap());
        prop_assert!(tiled.bytes_of(tiled.compulsory_strips::<u64>()) <= waves);
        prop_assert!(waves <= tiled.bytes_of(tiled.separate_strips::<u64>()));
        for share in [tiled.tiling.tile_efficiency, tiled.tiling.wave_efficiency] {
            prop_assert!(share > 0.0 && share <= 1.0);
        }
        prop_assert_eq!(tiled.waves() as f64, tiled.tiling.waves);
        prop_assert_eq!(tiled.grid.tiles() as f64, tiled.tiling.tiles);
    }

    /// Larger tiles never read more; one that holds the whole output reads each operand once.
    #[test]
    fn reads_fall_as_tiles_grow(m in 1_u64..256, k in 1_u64..600, n in 1_u64..256) {
        let text = matmul_text(None, [m, k, n], "f16");
        let read = |side| {
            let tiled = tiled(&text, tile(side, side, 32), 8);
            tiled.bytes_of(tiled.separate_strips::<u64>())
        };
        for pair in SIDES.windows(2) {
            prop_assert!(read(pair[1]) <= read(pair[0]));
        }
        let whole = tiled(&text, tile(256, 256, 32), 8);
        prop_assert_eq!(whole.separate_strips::<u64>(), whole.compulsory_strips());
        prop_assert_eq!(whole.strips_of_waves(), Some(whole.compulsory_strips::<u64>()));
    }
}
