//! Numbers that the tabs tell themselves: their terms come to what is shown.

use crate::derivations::assert_told;
use crate::interpret_functions::run;
use crate::interpret_properties::{RAN_EXAMPLES, RanExample};
use fuseline_codegen::interpret::{Interpretation, Setup, interpret};
use fuseline_core::analysis::tiling::{BlockTile, GROUPS, SIDES, matmuls};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::attention::{AttentionShape, LoopOrder};
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, DEVICES, Device, Options, Partition, Policy, analyze_program, device,
};
use fuseline_view::present::attention::{AttentionSize, AttentionSizes, byte_rows, tile_rows};
use fuseline_view::present::derivation::Term;
use fuseline_view::present::figure::Explanation;
use fuseline_view::present::precision::{number_rows, precision_rows};
use fuseline_view::present::tiling::{FigureRow, TilingChoice, TilingReport, figure_groups};
use proptest::prelude::*;

fn analysis(text: &str, device_id: &str) -> Analysis {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(Policy::Rules)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

fn tiling_rows(analysis: &Analysis, choice: &TilingChoice) -> Vec<FigureRow> {
    let report = TilingReport::new(analysis, choice, None).unwrap();
    let groups = figure_groups(analysis, &report.tiled);
    groups.into_iter().flat_map(|group| group.rows).collect()
}

fn told<'a>(rows: &'a [FigureRow], title: &str) -> &'a Explanation {
    let mut told = rows.iter().map(|row| &row.explanation);
    told.find(|told| told.title == title).unwrap()
}

#[test]
fn figures_of_each_matmul_come_out_in_any_tile() {
    let tiles = SIDES.into_iter().flat_map(|rows| {
        [16, 64, 256].map(|columns| BlockTile {
            rows,
            columns,
            depth: rows.midpoint(columns),
        })
    });
    let tiles: Vec<_> = tiles.map(Some).chain([None]).collect();
    for example in EXAMPLES.iter().filter(|example| example.id != "gpt2") {
        for device_id in ["a100-80", "h200", "mi300x"] {
            let analysis = analysis(example.text, device_id);
            for matmul in matmuls(&analysis.graph).take(4) {
                for (&tile, group_rows) in tiles.iter().zip(GROUPS.into_iter().cycle()) {
                    let choice = TilingChoice {
                        matmul: Some(analysis.graph.ops[matmul.op].name.clone()),
                        tile,
                        group_rows,
                    };
                    for row in tiling_rows(&analysis, &choice) {
                        assert_told(&row.explanation);
                    }
                }
            }
        }
    }
}

fn attention_numbers(sizes: &AttentionSizes, device: &Device) -> Vec<Explanation> {
    let tiles = tile_rows(sizes, device).into_iter();
    let tiles = tiles.flat_map(|row| [row.rows, row.count]);
    let bytes = byte_rows(sizes, device).into_iter();
    tiles
        .chain(bytes.flat_map(|row| [row.bytes, row.factor]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn figures_of_any_matmul_come_out(
        sizes in prop::array::uniform4(1_u64..5000),
        tile in prop::array::uniform3(prop::sample::select(SIDES.to_vec())),
        dtype in prop::sample::select(vec!["f16", "f32", "f8"]),
    ) {
        let [batch, m, k, n] = sizes;
        let batch = batch.div_ceil(500);
        let text = format!("input a : {dtype}[{batch}, {m}, {k}]\ninput b : f16[{batch}, {k}, {n}]\ny = matmul(a, b)\n");
        let analysis = analysis(&text, "h200");
        let [rows, columns, depth] = tile;
        let choice = TilingChoice { tile: Some(BlockTile { rows, columns, depth }), ..TilingChoice::default() };
        for row in tiling_rows(&analysis, &choice) {
            assert_told(&row.explanation);
        }
    }
}

proptest! {
    #[test]
    fn figures_of_any_attention_come_out(
        length in 1_u64..(1 << 20), own_queries in prop::option::of(1_u64..(1 << 20)), head_size in 1_u64..1024, heads in 1_u64..(1 << 16), group in 1_u64..9,
        bytes_per_element in prop::sample::select(vec![1, 2, 4]),
        own_kib in prop::option::of(1_u64..1024),
        order in prop::sample::select(vec![LoopOrder::Queries, LoopOrder::Keys]),
        device in prop::sample::select(DEVICES.iter().collect::<Vec<_>>()),
    ) {
        let sizes = AttentionSizes {
            shape: AttentionShape {
                heads, group, queries: own_queries.unwrap_or(length), keys: length, head_size, bytes_per_element,
                key_bytes_per_element: bytes_per_element.div_ceil(2),
            },
            dtype: None,
            is_self: own_queries.is_none(),
            own_on_chip_bytes: own_kib.map(|kib| kib * 1024),
            order,
        };
        attention_numbers(&sizes, device).iter().for_each(assert_told);
    }
}

/// The sizes of the first paper, by hand: 196,608 bytes are 98,304 elements of f16, a tile of four
/// has 64 columns.
#[test]
fn what_is_told_of_the_tiles_of_attention() {
    let sizes = AttentionSizes::default()
        .with_typed(AttentionSize::OnChip, "192")
        .unwrap();
    let numbers = attention_numbers(&sizes, device("h200").unwrap());
    let lines: Vec<String> = numbers.iter().filter_map(Explanation::line).collect();
    assert_eq!(
        lines,
        [
            "⌈98,304 elements (M) / 256 (4d)⌉ = 384",
            "⌈2,048 (N) / 384 rows (B_c)⌉ = 6",
            "min(384 rows (B_c), 64 (d)) = 64",
            "⌈2,048 (N) / 64 rows (B_r)⌉ = 32",
            "554 MB three kernels / 554 MB these = 1.00×",
            "554 MB three kernels / 277 MB these = 2.00×",
            "554 MB three kernels / 16.8 MB these = 33.0×",
        ]
    );
    let tiled = &numbers[6];
    assert_eq!(tiled.conventions[0].choice, "Outer loop over Q");
    let terms = tiled.term.as_ref().unwrap().terms();
    let line = terms[1].derivation.as_ref().unwrap().line().unwrap();
    assert_eq!(
        line,
        "32 tiles (T_r) × 2 × 2,048 (N) × 64 (d) × 16 heads × 2 B"
    );
}

/// The matmul of the README of Triton's order: 4096 x 4096 x 4096 in tiles of 128 x 128 x 64 on an
/// H200, by hand.
#[test]
fn what_is_told_of_a_square_matmul() {
    let text = "input x : f16[4096, 4096]\nweight w : f16[4096, 4096]\nup = matmul(x, w)\n";
    let analysis = analysis(text, "h200");
    let tile = BlockTile {
        rows: 128,
        columns: 128,
        depth: 64,
    };
    let choice = TilingChoice {
        tile: Some(tile),
        ..TilingChoice::default()
    };
    let rows = tiling_rows(&analysis, &choice);
    let lines = |title: &str| {
        let told = told(&rows, title);
        let mut lines: Vec<String> = told.line().into_iter().collect();
        let term = told.term.as_ref().unwrap();
        let below = term.terms().iter().filter_map(|term| {
            Some(format!(
                "{} {} = {}",
                term.name,
                term.text(),
                term.derivation.as_ref()?.line()?
            ))
        });
        lines.extend(below);
        lines
    };
    assert_eq!(
        lines("tiles"),
        [
            "32 from top to bottom × 32 from left to right = 1,024",
            "from top to bottom 32 = ⌈4,096 (M) / 128 (BM)⌉",
            "from left to right 32 = ⌈4,096 (N) / 128 (BN)⌉",
        ]
    );
    assert_eq!(lines("waves")[0], "⌈1,024 tiles / 132 multiprocessors⌉ = 8");
    assert_eq!(
        lines("wave efficiency")[0],
        "1,024 tiles / 1,056 slots = 97.0 %"
    );
    // 13 rows of tiles meet 16 columns: eight rows at a time, 132 tiles are 16 columns of eight and
    // four more.
    assert_eq!(
        lines("first wave, strips shared"),
        [
            "A 8.39 MB = 1,024 rows × 4,096 (K) × 2 B",
            "B 17.8 MB = 2,176 columns × 4,096 (K) × 2 B",
        ]
    );
    assert_eq!(
        lines("shared memory of the stages")[0],
        "4 stages × 32.8 kB per step = 131 kB"
    );
    assert_eq!(
        lines("shared memory of the stages")[1],
        "stages 4 = 7 fit, 2 at least, 4 at most"
    );
    assert_eq!(
        lines("registers per thread"),
        ["sums 64 = ⌈16,384 of the tile / 256 computing threads⌉"]
    );
    let intensity = told(&rows, "arithmetic intensity with shared strips");
    assert!(
        intensity
            .notes
            .iter()
            .any(|note| note.contains("ridge point of 206 FLOP/B")),
        "{intensity:#?}"
    );
}

/// Every number of the two tables of a run.
fn precision_numbers(ran: &Interpretation, partition: &Partition) -> Vec<Explanation> {
    let tensors = precision_rows(ran, partition, usize::MAX);
    let elements = tensors.iter().flat_map(|row| number_rows(ran, row.tensor));
    let elements = elements.flat_map(|row| [row.exact, row.unfused, row.fused]);
    let elements: Vec<_> = elements.collect();
    let errors = tensors
        .into_iter()
        .flat_map(|row| [row.unfused_error, row.fused_error, row.ratio]);
    errors.chain(elements).collect()
}

#[test]
fn errors_and_elements_of_each_example_come_out() {
    let examples = RAN_EXAMPLES.iter().filter(|ran| ran.example.id != "gpt2");
    for (
        place,
        RanExample {
            example,
            kernels,
            ran,
        },
    ) in examples.enumerate()
    {
        precision_numbers(ran, kernels).iter().for_each(assert_told);
        // Other numbers in every fourth.
        if place % 4 == 0 {
            let setup = Setup {
                seed: 1,
                ..Setup::default()
            };
            let ran = interpret(&parse(example.text).program, kernels, &setup).unwrap();
            precision_numbers(&ran, kernels)
                .iter()
                .for_each(assert_told);
        }
    }
}

/// 2048 + 1 is no f16: stored, it becomes 2048.
#[test]
fn what_is_told_of_an_error_and_an_element() {
    let text = "input x : f16[1, 2]\nweight w : f16[2, 1]\ny = matmul(x, w)\nout = relu(y)";
    let given: &[(&str, &[f64])] = &[("x", &[2048.0, 1.0]), ("w", &[1.0, 1.0])];
    let ran = run(text, given, &Options::of_policy(Policy::Rules));
    let partition = analysis(text, "h200").partition;
    let row = &precision_rows(&ran, &partition, 1)[0];
    assert_eq!(
        row.unfused_error.line().unwrap(),
        "1 (difference) / 2,049 (exact) = 4.88e−4"
    );
    assert_eq!(row.unfused_error.exact().unwrap(), "0.0004880429477794046");
    assert_eq!(row.unfused_error.subject, "y: 1 element in f16");
    assert_eq!(
        row.unfused_error.notes[0],
        "Stored in f16. The largest difference of an element is 1."
    );
    assert_eq!(
        (&*row.ratio.value, &row.ratio.term),
        ("exact when fused", &None)
    );
    let [element] = &number_rows(&ran, row.tensor)[..] else {
        panic!("one element");
    };
    assert_eq!(element.unfused.value, "2,048");
    let terms = element.unfused.term.as_ref().unwrap().terms();
    assert_eq!(
        terms.iter().map(Term::text).collect::<Vec<_>>(),
        ["2,049", "−1"]
    );
    // In f16 neighbours of 2048 are 2 apart; what the kernel keeps is in f32.
    assert!(
        element.unfused.notes[1].contains("in f16 are 2 apart")
            && element.unfused.notes[1].ends_with("differs by 0.5 times that distance.")
    );
    assert!(
        element.fused.notes[1].contains("in f32 are 0.0002441 apart"),
        "{:?}",
        element.fused.notes
    );
}

#[test]
fn overflow_tells_the_largest_value() {
    let text = "input x : f16[1, 2]\npower = exp(x)\ntotal = sum(power)\ny = div(power, total)";
    let options = Options::of_policy(Policy::Inductor);
    let ran = run(text, &[("x", &[12.0, 0.0])], &options);
    let partition = analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
        .partition;
    let numbers = precision_numbers(&ran, &partition);
    numbers.iter().for_each(assert_told);
    let told = &numbers[0];
    assert_eq!(
        (&*told.title, &*told.value),
        ("error unfused", "1 of 2 overflow")
    );
    assert_eq!(
        told.notes.last().unwrap(),
        "The largest finite f16 is 65,504."
    );
}
