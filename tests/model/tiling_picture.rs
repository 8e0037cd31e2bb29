//! A matmul in tiles as a picture, and its words.

use crate::charts::check_golden;
use fuseline_core::analysis::tiling::{BlockTile, SIDES};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program, device};
use fuseline_view::picture::charts::scene::{Role, Scene, Shape};
use fuseline_view::picture::charts::tiling::scene;
use fuseline_view::present::tiling::{
    TileSide, TilingChoice, TilingReport, figure_groups, fit_rows, matmul_choices, no_tiles,
    suggestion,
};
use strum::IntoEnumIterator;

const WIDE: (f64, f64) = (600.0, 480.0);
const PHONE: (f64, f64) = (328.0, 300.0);

const LAYER: &str = "input x : f16[4096, 1024]\nweight w : f16[1024, 4096]\nweight b : f16[4096]\n\
    up = matmul(x, w)\nbias = add(up, b)\nact = gelu(bias)\nnorm = layer_norm(act)\n";

fn on(text: &str, device_id: &str) -> Analysis {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(Policy::Rules)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

fn choice(rows: u64, columns: u64, depth: u64) -> TilingChoice {
    TilingChoice {
        tile: Some(BlockTile {
            rows,
            columns,
            depth,
        }),
        ..TilingChoice::default()
    }
}

fn drawn(analysis: &Analysis, choice: &TilingChoice, size: (f64, f64)) -> Scene {
    scene(
        analysis,
        &TilingReport::new(analysis, choice, None).unwrap(),
        u64::MAX,
        size,
    )
}

#[test]
fn tiles_are_as_drawn_before() {
    let layer = on(LAYER, "h200");
    check_golden(
        "tiling_layer_wide",
        &drawn(&layer, &choice(128, 128, 64), WIDE),
    );
    check_golden(
        "tiling_layer_phone",
        &drawn(&layer, &choice(256, 128, 64), PHONE),
    );
    let edges = on(
        "input a : f16[1000, 700]\ninput b : f16[700, 1300]\ny = matmul(a, b)\n",
        "h200",
    );
    check_golden("tiling_edges", &drawn(&edges, &choice(256, 256, 128), WIDE));
}

/// However many tiles there are, few marks draw them, all inside the frame.
#[test]
fn a_picture_has_few_marks_and_stays_in_its_frame() {
    for [m, k, n] in [
        [1, 1, 1],
        [16, 4096, 128_256],
        [131_072, 64, 131_072],
        [4096, 4096, 4096],
        [100_000, 8192, 8],
    ] {
        let text = format!("input a : f16[{m}, {k}]\ninput b : f16[{k}, {n}]\ny = matmul(a, b)\n");
        let analysis = on(&text, "h200");
        for side in SIDES {
            for size in [WIDE, PHONE] {
                let scene = drawn(&analysis, &choice(side, side, 16), size);
                assert!(
                    scene.marks.len() < 1200,
                    "{m} {n} {side}: {}",
                    scene.marks.len()
                );
                for mark in &scene.marks {
                    if let Shape::Rect {
                        corner,
                        width,
                        height,
                    } = mark.shape
                    {
                        let end = (corner.0 + width, corner.1 + height);
                        assert!(corner.0 >= 0.0 && corner.1 >= 0.0, "{mark:?}");
                        assert!(
                            end.0 <= size.0 + 0.1 && end.1 <= scene.height.min(size.1) + 0.1,
                            "{m} {k} {n} {side} {size:?} {mark:?}"
                        );
                    }
                }
                assert!(
                    scene
                        .focus_order
                        .iter()
                        .all(|&mark| scene.marks[mark].label.is_some())
                );
            }
        }
    }
}

/// A tile of 128 of 4096 columns: the picture's shares are those of the sizes.
#[test]
fn the_picture_is_to_scale() {
    let scene = drawn(&on(LAYER, "h200"), &choice(128, 256, 64), WIDE);
    let size = |role| {
        let mark = scene.marks.iter().find(|mark| mark.role == role).unwrap();
        match mark.shape {
            Shape::Rect { width, height, .. } => (width, height),
            _ => panic!("{mark:?}"),
        }
    };
    // A is 4096 x 1024, a tile 128 x 256 of 4096 x 4096, a step 64 of 1024.
    let ((k, m), (tile_width, tile_height)) = (size(Role::Operand), size(Role::TileFrame));
    for (ours, theirs) in [
        (m / k, 4.0),
        (m / tile_height, 32.0),
        (m / tile_width, 16.0),
        (k / size(Role::TileStep).0, 16.0),
    ] {
        assert!((ours / theirs - 1.0).abs() < 0.05, "{ours} {theirs}");
    }
}

/// What the refused op needs is framed: a whole row of the output, as high as the tile.
#[test]
fn a_refused_op_is_drawn_with_what_it_needs() {
    let layer = on(LAYER, "h200");
    let needs = |scene: &Scene| {
        let mark = scene
            .marks
            .iter()
            .find(|mark| mark.role == Role::TileNeeds)?;
        Some(mark.label.as_ref().unwrap().name.clone())
    };
    assert_eq!(
        needs(&drawn(&layer, &choice(128, 128, 64), WIDE)).unwrap(),
        "norm does not fit, norm needs all 4,096 columns of a row, and this tile has 128."
    );
    let small = on(&LAYER.replace("4096]", "256]"), "h200");
    assert_eq!(needs(&drawn(&small, &choice(128, 256, 64), WIDE)), None);
}

#[test]
fn figures_and_followers_in_words() {
    let layer = on(&LAYER.replace("1024", "4096"), "h200");
    let report = TilingReport::new(&layer, &choice(128, 128, 64), None).unwrap();
    let groups = figure_groups(&layer, &report.tiled);
    let value = |what: &str| {
        let mut rows = groups.iter().flat_map(|group| &group.rows);
        let row = rows.find(|row| row.explanation.title == what).unwrap();
        format!("{}{}{}", row.before, row.explanation.value, row.after)
    };
    assert_eq!(value("tiles"), "32 × 32 = 1,024");
    assert_eq!(value("waves"), "8 (1,024 / 132 of H200 = 7.76)");
    assert_eq!(value("wave efficiency"), "97.0 %");
    assert_eq!(
        value("all tiles, no sharing"),
        "2.15 GB, 32.0× the compulsory traffic"
    );
    assert_eq!(value("compulsory traffic"), "67.1 MB");
    assert_eq!(value("arithmetic intensity of a tile"), "64.0 FLOP/B");
    assert_eq!(value("registers per thread"), "64 + 40 = 104 of 255");
    let fits: Vec<_> = fit_rows(&layer, &report)
        .into_iter()
        .map(|row| (row.op, row.verdict, row.is_refused))
        .collect();
    let expected = [
        ("bias", "can join", false),
        ("act", "can join", false),
        ("norm", "cannot join", true),
    ];
    assert_eq!(
        fits,
        expected.map(|(op, verdict, is)| (op.to_owned(), verdict, is))
    );
    assert!(suggestion(&report.best).starts_with("The model suggests 256 × 128 × 64: of 24 tiles"));
    let large = TilingReport::new(&layer, &choice(256, 256, 256), None).unwrap();
    let [.., block] = figure_groups(&layer, &large.tiled);
    assert!(
        block
            .rows
            .iter()
            .all(|row| row.is_excess && row.after.ends_with("too much"))
    );
}

/// The kernel that is refused though its tile holds whole rows says why in the words of legality.
#[test]
fn what_fits_and_stays_apart_says_why() {
    let text = "input x : f16[4096, 1024]\nweight w : f16[1024, 256]\nup = matmul(x, w)\nnorm = layer_norm(up)\n";
    let analysis = on(text, "h200");
    let report = TilingReport::new(&analysis, &choice(64, 256, 64), None).unwrap();
    let row = &fit_rows(&analysis, &report)[0];
    assert_eq!(row.verdict, "fits, but stays separate");
    assert_eq!(
        row.reason,
        "`norm` needs all 256 columns of a row, and this tile has 256. Still separate: the matmul `up` works in tiles and never holds the whole row that the reduction `norm` needs."
    );
}

/// The largest matmul is shown, or that of the selected kernel, or the one that was chosen by name.
#[test]
fn a_matmul_is_chosen_by_name_selection_or_size() {
    let text = "input x : f16[512, 512]\nweight w : f16[512, 2048]\nweight v : f16[2048, 512]\nweight u : f16[512, 64]\n\
        small = matmul(x, u)\nup = matmul(x, w)\ndown = matmul(up, v)\n";
    let analysis = on(text, "h200");
    let names: Vec<String> = matmul_choices(&analysis)
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["small", "up", "down"]);
    let shown = |choice: &TilingChoice, selected| {
        let report = TilingReport::new(&analysis, choice, selected).unwrap();
        analysis.graph.ops[report.tiled.matmul.op].name.clone()
    };
    let first = TilingChoice::default();
    assert_eq!(shown(&first, None), "up");
    let kernel = analysis.partition.kernel_of[analysis.graph.op_named("down").unwrap()];
    assert_eq!(shown(&first, Some(kernel)), "down");
    let by_name = TilingChoice {
        matmul: Some("small".to_owned()),
        ..first.clone()
    };
    assert_eq!(shown(&by_name, Some(kernel)), "small");
    // A name that is gone falls back.
    let gone = TilingChoice {
        matmul: Some("none".to_owned()),
        ..first
    };
    assert_eq!(shown(&gone, None), "up");
}

#[test]
fn where_there_are_no_tiles_it_says_why() {
    let none = on("input x : f16[64]\ny = relu(x)\n", "h200");
    assert!(TilingReport::new(&none, &TilingChoice::default(), None).is_none());
    assert!(no_tiles(&none).starts_with("This program has no matmul"));
    let scratchpad = on(LAYER, "tpu-v4");
    assert!(TilingReport::new(&scratchpad, &TilingChoice::default(), None).is_none());
    assert!(no_tiles(&scratchpad).contains("TPU v4"));
}

#[test]
fn sliders_go_over_powers_of_two() {
    let start = BlockTile {
        rows: 128,
        columns: 64,
        depth: 32,
    };
    for side in TileSide::iter() {
        assert_eq!(SIDES[side.place(start)], side.of(start));
        let moved = side.moved(start, "4").unwrap();
        assert_eq!(side.of(moved), 256);
        assert_eq!(side.moved(start, "5"), None);
        assert_eq!(side.moved(start, ""), None);
    }
}
