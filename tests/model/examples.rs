//! The examples: folder and table agree, none has diagnostics, and their numbers equal those
//! computed by hand.

use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::examples::{EMBEDDED, EXAMPLES, Example, Opening, START, example, example_of};
use fuseline_core::model::program::Program;
use fuseline_core::notation::edit::set_param;
use fuseline_core::notation::parse;
use fuseline_core::resolve::resolve;
use fuseline_core::{Analysis, Code, Options, Policy, analyze_program};
use fuseline_view::present::sliders::slider_rows;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeSet;
use std::path::Path;

fn program(example: &Example) -> Program {
    let parsed = parse(example.text);
    assert_eq!(parsed.diagnostics, [], "{}", example.id);
    parsed.program
}

fn analysis(id: &str) -> Analysis {
    let options = Options {
        policy: Policy::Rules,
        ..Options::default()
    };
    let outcome = analyze_program(&program(example(id).unwrap()), &options);
    assert_eq!(outcome.diagnostics, [], "{id}");
    outcome.analysis.unwrap()
}

fn set(program: &mut Program, name: &str, value: i64) {
    let param = program
        .params
        .iter_mut()
        .find(|p| p.name.text == name)
        .unwrap();
    param.value = value;
}

#[test]
fn the_folder_and_the_table_agree() {
    let public = Path::new(env!("CARGO_MANIFEST_DIR")).join("public");
    let files: BTreeSet<String> = std::fs::read_dir(public.join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let is_measured = |name: &String| !files.contains(name);
    let table = EXAMPLES.iter().map(|e| format!("{}.fuse", e.id));
    let (measured, own): (Vec<String>, Vec<String>) = table.partition(is_measured);
    assert_eq!(own.len(), files.len());
    assert!(
        measured
            .iter()
            .all(|name| public.join("measured").join(name).exists())
    );
    let ids: BTreeSet<&str> = EXAMPLES.iter().map(|e| e.id).collect();
    assert_eq!(ids.len(), EXAMPLES.len());
}

/// A slider may set other params, too, to what divides the new value.
#[test]
fn an_example_is_known_with_other_values_of_its_params_and_not_with_another_line() {
    for example in EXAMPLES {
        let id = |text: &str| example_of(text).map(|found| found.id);
        assert_eq!(id(example.text), Some(example.id));
        let program = program(example);
        let mut all_set = example.text.to_owned();
        for (index, param) in program.params.iter().enumerate() {
            let Some(range) = &param.range else {
                continue;
            };
            for value in [range.min, range.max] {
                let text = set_param(example.text, &program, index, value);
                assert_eq!(id(&text), Some(example.id), "{text}");
            }
            all_set = set_param(&all_set, &parse(&all_set).program, index, range.max);
        }
        assert_eq!(id(&all_set), Some(example.id), "{all_set}");
        assert_eq!(id(&format!("{}\n", example.text)), None);
        assert_eq!(id(&all_set.replacen('#', "##", 1)), None);
    }
    assert_eq!(example_of(""), None);
}

#[test]
fn the_rows_of_a_group_stand_together() {
    let mut groups: Vec<&str> = EXAMPLES.iter().map(|e| e.group).collect();
    groups.dedup();
    let distinct: BTreeSet<&str> = groups.iter().copied().collect();
    assert_eq!(distinct.len(), groups.len());
    assert_eq!(groups[0], "Start here");
}

#[test]
fn every_example_says_what_to_watch_for_and_has_sliders() {
    for example in EXAMPLES {
        assert!(
            example.watch.ends_with('.') && example.watch.len() < 160,
            "{}",
            example.id
        );
        assert!(example.text.starts_with("# "), "{}", example.id);
        assert!(
            example.text.lines().all(|line| line.len() <= 100),
            "{}",
            example.id
        );
        let program = program(example);
        assert!(!program.params.is_empty() && program.params.iter().all(|p| p.range.is_some()));
    }
}

/// Bytes computed by hand, from the tensors that each kernel reads and writes.
#[test]
fn the_numbers_are_those_by_hand() {
    const MB: u64 = 1 << 20;
    // Exercise: x, w1, w2, y4 of 2, 8, 8 and 2 MiB, the bias of 8 KiB. y1, y2, y3 of 8 MiB are
    // written and read; fused, only y3 is.
    let exercise = |moved: u64| (2 + 8 + 8 + 2) * MB + 8192 + moved * 2 * 8 * MB;
    // A row of LayerNorm+GELU is 4096 * 1024 * 2 bytes; both weights are 2 KiB.
    let rows = |times: u64| times * 8 * MB + 2 * 2048;
    // L2 norm: x is 64 MiB, the column of row results 16 KiB.
    let l2 = |full: u64, column: u64| full * 64 * MB + column * 16384;
    // Attention: scores of 16 * 2048 * 2048 * 2 bytes; Q, K, V and the result of 4 MiB.
    let attention = |scores: u64| scores * 128 * MB + 4 * 4 * MB;
    // ResNet: images of 32 * 64 * 56 * 56 * 2 bytes, weights of 64 * 64 * 9 * 2, four vectors
    // of 128.
    let resnet = |images: u64| images * 12_845_056 + 2 * 73_728 + 4 * 128;
    // MLP: x and y of 8 MiB, two weights of 8 MiB, biases of 8 and 2 KiB, a hidden tensor of 32
    // MiB.
    let mlp = |hidden: u64| 4 * 8 * MB + 8192 + 2048 + hidden * 32 * MB;
    // SwiGLU: x (twice) and y of 32 MiB, three weights and the hidden tensors of 86 MiB; silu and
    // the product fuse into the gate.
    let swiglu = |hidden: u64| 3 * 32 * MB + (3 + hidden) * 86 * MB;
    // Multi-head: like attention without mask and dropout, with w_out of 2 MiB and its bias.
    let heads = |scores: u64, rows: u64| scores * 128 * MB + rows * 4 * MB + 2 * MB + 2048;
    // Bottleneck: narrow images like those of the block, wide ones four times as large.
    let weights = 2 * (64 * 256 + 64 * 64 * 9 + 256 * 64) + 2 * 2 * (64 + 64 + 256);
    let bottleneck = |narrow: u64, wide: u64| (narrow + 4 * wide) * 12_845_056 + weights;
    // Residual layer: x of 32 MiB, which the matmul and the add read, a weight of 2 MiB and a bias
    // of 2 KiB. Unfused, three tensors as large as x are written and read.
    let layer = |between: u64, reads: u64| (reads + between + 1) * 32 * MB + 2 * MB + 2048;
    // Transformer block: a row is S * H * 2 bytes, 16 MiB, a weight of H * H 32 MiB, and the scores
    // of all heads 256 MiB. Unfused, so many rows are read and written: 2 by each of the 4
    // projections and of the 6 ops that only move elements, 4 by the two matmuls of attention, 3 by
    // each add, 2 by each norm, and 1 + 4, 4 + 4 and 4 + 1 by up, GELU and down. Fused, each kernel
    // reads and writes its own: 3 projections, the two of attention, output projection, norm, up,
    // down, norm.
    let block = |rows: u64, scores: u64| rows * 16 * MB + 12 * 32 * MB + scores * 256 * MB;
    let expected: [(&str, usize, &[usize], u64, u64); 14] = [
        ("residual_layer", 4, &[4], layer(6, 2), layer(0, 1)),
        (
            "transformer_block",
            21,
            &[2, 3, 2, 2, 1, 3, 2, 1, 2, 2, 1],
            block(4 * 2 + 6 * 2 + 4 + 3 * 2 + 2 * 2 + 18, 6),
            block(3 * 2 + 4 + 3 + 2 + 5 + 6 + 2, 4),
        ),
        ("exercise", 4, &[3, 1], exercise(3), exercise(1)),
        (
            "transformer",
            14,
            &[2, 1, 1, 2, 2, 1, 2, 2, 1],
            2_298_478_592,
            1_962_934_272,
        ),
        ("layernorm_gelu", 3, &[2, 1], rows(3 + 2 + 2), rows(3 + 2)),
        ("l2_norm", 4, &[2, 2], l2(5, 4), l2(3, 2)),
        ("attention", 6, &[3, 1, 1, 1], attention(10), attention(6)),
        ("diamond", 4, &[1, 3], 10 * 2 * MB, 5 * 2 * MB),
        ("resnet_block", 7, &[3, 4], resnet(15), resnet(5)),
        ("mlp", 4, &[3, 1], mlp(6), mlp(2)),
        // Decomposed softmax: 8MN + 4M elements; exp fuses with the subtraction, which saves 2MN.
        (
            "softmax",
            5,
            &[1, 2, 1, 1],
            8 * 64 * MB + 4 * 16384,
            6 * 64 * MB + 4 * 16384,
        ),
        ("swiglu", 5, &[1, 3, 1], swiglu(8), swiglu(4)),
        ("multi_head", 7, &[2, 1, 2, 2], heads(6, 10), heads(4, 6)),
        (
            "resnet_bottleneck",
            10,
            &[3, 3, 4],
            bottleneck(12, 9),
            bottleneck(4, 3),
        ),
    ];
    for (id, ops, kernels, unfused, fused) in expected {
        let analysis = analysis(id);
        assert_eq!(analysis.graph.ops.len(), ops, "{id}");
        let sizes: Vec<usize> = analysis.fused.kernels.iter().map(|k| k.ops.len()).collect();
        assert_eq!(sizes, kernels, "{id}");
        assert_eq!(analysis.unfused.traffic.total, unfused, "{id}, unfused");
        assert_eq!(analysis.fused.traffic.total, fused, "{id}, fused");
    }
}

/// FLOPs computed by hand: 2 * output elements * K for ops on matrix units.
#[test]
fn the_flops_are_those_by_hand() {
    let flops = |id: &str| {
        let total = |f: fn(&fuseline_core::Kernel) -> u128| {
            analysis(id).fused.kernels.iter().map(f).sum::<u128>()
        };
        (
            total(|k| k.work.matrix_flops),
            total(|k| k.work.vector_flops),
        )
    };
    let tokens = 1024 * 4096_u128;
    assert_eq!(flops("exercise"), (2 * 2 * tokens * 1024, (1 + 1) * tokens));
    assert_eq!(flops("l2_norm"), (0, 4096 * 4096 * 3 + 4096));
    let pixels = 32 * 64 * 56 * 56_u128;
    assert_eq!(
        flops("resnet_block"),
        (2 * 2 * pixels * 64 * 9, pixels * (2 + 1 + 2 + 1 + 1))
    );
    let scores = 16 * 2048 * 2048_u128;
    assert_eq!(
        flops("attention"),
        (2 * 2 * scores * 64, scores * (1 + 1 + 5 + 2))
    );
}

#[test]
fn the_transformer_is_the_published_block() {
    for (s, h, heads) in [(2048, 4096, 32), (128, 256, 64), (16384, 12288, 96)] {
        let mut program = program(example("transformer").unwrap());
        for (name, value) in [("S", s), ("H", h), ("heads", heads)] {
            set(&mut program, name, value);
        }
        let resolved = resolve(&program);
        assert_eq!(resolved.diagnostics, []);
        let size = |n: i64| u64::try_from(n).unwrap();
        let (ops, externals) = transformer_block(size(s), size(h), size(heads), 2).unwrap();
        assert_eq!(resolved.ops, ops);
        assert_eq!(resolved.externals, externals);
    }
}

#[test]
fn heads_that_do_not_divide_are_named_with_their_figures() {
    let mut program = program(example("transformer").unwrap());
    set(&mut program, "heads", 96);
    let diagnostics = resolve(&program).diagnostics;
    let said: Vec<_> = (diagnostics.iter())
        .map(|diagnostic| (diagnostic.code, diagnostic.message.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (
                Code::ParamOutOfRange,
                "`heads` is 96, which is not one of the divisors of `H` = 4096 in its range"
            ),
            (
                Code::InexactDivision,
                "`H/heads` is 4096 / 96, which leaves a remainder of 64"
            ),
        ]
    );
    assert_eq!(diagnostics[0].hint.as_deref(), Some("64 is"));
}

/// Every value of the slider of this param.
pub(crate) fn positions(text: &str, param: usize) -> Vec<i64> {
    let rows = slider_rows(text, &parse(text).program, usize::MAX);
    let track = rows[param].track().unwrap();
    let step = usize::try_from(track.step).unwrap();
    let places = (track.min..=track.max).step_by(step);
    places.map(|at| rows[param].value_at(at)).collect()
}

/// The text with another value of this param.
pub(crate) fn at(text: &str, param: usize, value: i64) -> String {
    set_param(text, &parse(text).program, param, value)
}

/// The same for a param of this name.
pub(crate) fn set_by_name(text: &str, name: &str, value: i64) -> String {
    let params = parse(text).program.params;
    let param = params.iter().position(|param| param.name.text == name);
    at(text, param.unwrap(), value)
}

fn assert_no_finding(text: &str, what: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{what}");
    let outcome = analyze_program(&parsed.program, &Options::default());
    assert_eq!(outcome.diagnostics, [], "{what}");
}

/// Each slider over its whole range, the others at their initial values.
#[test]
fn no_slider_position_of_an_example_has_a_finding() {
    for example in EXAMPLES {
        let start = program(example);
        for (place, param) in start.params.iter().enumerate() {
            for value in positions(example.text, place) {
                assert_no_finding(
                    &at(example.text, place, value),
                    &format!("{} {} = {value}", example.id, param.name.text),
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// One slider after the other, each to any place.
    #[test]
    fn no_walk_over_the_sliders_of_an_example_has_a_finding(
        example in prop::sample::select(EXAMPLES),
        moves in vec((any::<Index>(), any::<Index>()), 1..6),
    ) {
        let mut text = example.text.to_owned();
        for (param, place) in moves {
            let program = parse(&text).program;
            let param = param.index(program.params.len());
            let value = *place.get(&positions(&text, param));
            text = set_param(&text, &program, param, value);
            prop_assert_eq!(parse(&text).program.params[param].value, value);
            assert_no_finding(&text, &text);
        }
    }
}

/// A first visit has something to fuse: the first example, which nothing has fused yet.
#[test]
fn a_first_visit_opens_the_first_example_unfused() {
    let start = example(START).unwrap();
    assert_eq!(start.id, EXAMPLES[0].id);
    assert!(!start.opening.is_fused);
    assert_eq!(start.opening.policy, Policy::Rules);
    assert!(analysis(START).savings_pct > 70.0);
    assert_eq!(example("no such example"), None);
}

#[test]
fn pages_that_embed_no_link_still_show_the_block_of_14_ops() {
    let embedded = example(EMBEDDED).unwrap();
    assert_eq!(analysis(EMBEDDED).graph.ops.len(), 14);
    assert_eq!(embedded.opening, Opening::default());
}
