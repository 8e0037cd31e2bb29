//! The device model: waves of tiles, repeated reads, and reads served by the cache.

use fuseline_core::analysis::device_model::{Product, Tile, device_count};
use fuseline_core::device;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::options::ReshapeCost;
use fuseline_core::notation::edit::{ShownKernels, state_kernels};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Conventions, Options, Policy, analyze_program};
use fuseline_view::present::headline::headline;

const TILE: Tile = Tile {
    rows: 256.0,
    columns: 128.0,
};

const H200_MULTIPROCESSORS: f64 = 132.0;
const H200_L2_BYTES: f64 = 62_914_560.0;

fn product(rows: f64, inner: f64, columns: f64) -> Product {
    Product {
        batch: 1.0,
        rows,
        inner,
        columns,
        operand_bytes: [2.0; 2],
        output_bytes: 2.0,
        is_convolution: false,
    }
}

fn read_bytes(product: Product) -> f64 {
    let tiling = product.tiling(H200_MULTIPROCESSORS);
    let once =
        product.batch * (product.rows + product.columns) * product.inner * product.output_bytes;
    once + product.read_again_bytes(tiling, H200_MULTIPROCESSORS, H200_L2_BYTES)
}

/// Rows, K and columns of matmuls in bf16, and the DRAM reads in MB measured with Nsight Compute on
/// an H200.
const MEASURED_READS: [(f64, f64, f64, f64); 11] = [
    (4096.0, 4096.0, 4096.0, 148.6),
    (4096.0, 4096.0, 12_288.0, 457.0),
    (4096.0, 16_384.0, 4096.0, 604.0),
    (8192.0, 8192.0, 8192.0, 1251.8),
    (2048.0, 2048.0, 8192.0, 61.3),
    (4096.0, 1024.0, 4096.0, 19.8),
    (2048.0, 2048.0, 2048.0, 16.8),
    (4096.0, 4096.0, 1024.0, 42.0),
    (2048.0, 8192.0, 2048.0, 67.1),
    (1024.0, 4096.0, 4096.0, 42.0),
    (8192.0, 1024.0, 4096.0, 37.2),
];

#[test]
fn a_matmul_reads_its_operands_again_wave_after_wave() {
    for (rows, inner, columns, measured_mb) in MEASURED_READS {
        let ratio = read_bytes(product(rows, inner, columns)) / (measured_mb * 1e6);
        assert!(
            (0.85..1.15).contains(&ratio),
            "{rows} {inner} {columns}: {ratio}"
        );
    }
}

/// Triton's template at 4096 cubed reads 190 MB, the library 149.
#[test]
fn generated_tiles_read_more() {
    let product = product(4096.0, 4096.0, 4096.0);
    let tiling = product.generated_tiling(H200_MULTIPROCESSORS);
    let again = product.read_again_bytes(tiling, H200_MULTIPROCESSORS, H200_L2_BYTES);
    let ratio = (67.1e6 + again) / 189.8e6;
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

/// 109 tiles of 256 x 128 on 108 multiprocessors take two waves: 50.5 % of the slots are used.
#[test]
fn one_tile_too_many_costs_a_wave() {
    let tiling = product(109.0 * 256.0, 64.0, 128.0).cut(TILE, 108.0);
    assert_eq!((tiling.tiles, tiling.waves), (109.0, 2.0));
    assert!((tiling.wave_efficiency - 0.505).abs() < 5e-4);
    assert!((tiling.tile_efficiency - 1.0).abs() < 1e-12);
    let ragged = product(257.0, 64.0, 128.0).cut(TILE, 108.0);
    assert!((ragged.tile_efficiency - 257.0 / 512.0).abs() < 1e-12);
}

/// Batched matmuls that each fit one wave read nothing twice, whatever their number.
#[test]
fn small_products_of_a_batch_read_once() {
    let scores = Product {
        batch: 16.0,
        ..product(2048.0, 64.0, 2048.0)
    };
    let tiling = scores.tiling(H200_MULTIPROCESSORS);
    let again = scores.read_again_bytes(tiling, H200_MULTIPROCESSORS, H200_L2_BYTES);
    assert!(again.abs() < 1e-9);
}

fn analysis_of(text: &str, policy: Policy, device_id: &str) -> Analysis {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(policy)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

fn time_s(text: &str, policy: Policy, device_id: &str) -> Option<f64> {
    let predicted = analysis_of(text, policy, device_id).predicted;
    predicted.map(|predicted| predicted.fused_s)
}

/// The cache keeps the data of a small program from one run to the next, but not that of a large
/// one.
#[test]
fn a_small_program_runs_from_the_cache() {
    let text = |rows: u64| {
        format!("input a : bf16[{rows}, 4096]\nx = relu(a)\ny = relu(x)\nz = relu(y)\n")
    };
    let small = time_s(&text(256), Policy::None, "h200").unwrap();
    let large = time_s(&text(256 * 64), Policy::None, "h200").unwrap();
    // Without a cache: 6 accesses of 2 MiB and three launches.
    let uncached_s = 6.0 * 2_097_152.0 / 4.3e12 + 3.0 * 1.7e-6;
    assert!(small < uncached_s && uncached_s < small * 1.2);
    assert!((large / (64.0 * 6.0 * 2_097_152.0 / 4.3e12 + 3.0 * 1.7e-6) - 1.0).abs() < 1e-9);
}

/// Without matmuls and second passes over rows, the model's reads equal the compulsory traffic.
#[test]
fn element_wise_kernels_read_the_compulsory_traffic() {
    let text = "input a : f16[8192, 8192]\ninput b : f16[8192, 8192]\nx = add(a, b)\ny = sum(x)\n";
    for device_id in ["h200", "a100-80", "mi300x"] {
        let analysis = analysis_of(text, Policy::Rules, device_id);
        let count = device_count(&analysis).unwrap();
        let compulsory = analysis.fused.traffic.bytes_read as f64;
        assert!(
            (count.dram_read_bytes - compulsory).abs() < 1.0,
            "{device_id}"
        );
        assert_eq!(analysis.predicted.is_some(), device_id == "h200");
    }
    assert_eq!(
        device_count(&analysis_of(text, Policy::Rules, "tpu-v4")),
        None
    );
}

/// A head of 2^17 keys in f16 has 33.5 MB of K and V at 64 columns, which fit the H200's cache of
/// 60 MiB, and 67.1 MB at 128.
#[test]
fn attention_reads_its_keys_again_where_the_cache_cannot_hold_a_head() {
    let analysis = |columns: u64| {
        let text = format!(
            "input q : f16[4, 131072, {columns}]\ninput k : f16[4, 131072, {columns}]\ninput v : f16[4, 131072, {columns}]\n\
             s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)"
        );
        analysis_of(&text, Policy::Inductor, "h200")
    };
    let reads = |analysis: &Analysis| {
        assert_eq!(analysis.fused.launches, 1);
        let again = device_count(analysis).unwrap().dram_read_bytes;
        (again, analysis.fused.traffic.bytes_read as f64)
    };
    let (fits, once) = reads(&analysis(64));
    assert!((fits - once).abs() < 1.0, "{fits} {once}");
    // Tiles of 128 queries: K and V of each head 1024 times, and one sum per row.
    let (beyond, once) = reads(&analysis(128));
    let head = 131_072.0 * 128.0 * 2.0;
    let again = 4.0 * (1023.0 * 2.0 * head + 131_072.0 * 2.0);
    assert!((beyond - once - again).abs() < 1.0, "{beyond} {once}");
}

/// Latent attention: the products with K and with V take the time of their own head sizes. Measured
/// on an H200 in bf16, torch 2.11, in µs.
#[test]
fn attention_whose_v_has_another_width_takes_the_time_of_both_widths() {
    for (heads, tokens, width, of_v, is_causal, measured_us) in [
        (16, 8192, 192, 128, true, 599.3),
        (16, 8192, 192, 128, false, 1013.5),
        (128, 4096, 192, 128, true, 1134.4),
        (128, 4096, 192, 128, false, 2038.5),
        (16, 8192, 96, 64, true, 400.2),
        (16, 8192, 96, 64, false, 678.8),
        (16, 8192, 256, 128, true, 700.7),
        (16, 8192, 256, 128, false, 1165.7),
    ] {
        let text = format!(
            "input q : bf16[{heads}, {tokens}, {width}]\ninput k : bf16[{heads}, {tokens}, {width}]\n\
             input v : bf16[{heads}, {tokens}, {of_v}]\na = sdpa(q, k, v, causal={is_causal})"
        );
        let ratio = time_s(&text, Policy::None, "h200").unwrap() * 1e6 / measured_us;
        assert!((0.95..1.13).contains(&ratio), "{text}: {ratio}");
    }
}

/// Without a peak or without K there is no time, nor for what nobody measured: the rate of another
/// type is not used instead.
#[test]
fn a_time_without_a_rate_is_not_known() {
    let matmul = |dtype: &str| {
        format!("input a : {dtype}[4096, 4096]\ninput b : {dtype}[4096, 4096]\ny = matmul(a, b)\n")
    };
    let time_s = |text: &str| time_s(text, Policy::None, "h200");
    assert!(time_s(&matmul("f16")) == time_s(&matmul("bf16")) && time_s(&matmul("f16")).is_some());
    assert!(time_s(&matmul("f8")).is_some());
    for dtype in ["i8", "i64", "f32", "f64"] {
        assert_eq!(time_s(&matmul(dtype)), None, "{dtype}");
        let options = Options {
            device: device("h200").unwrap().clone(),
            ..Options::default()
        };
        let outcome = analyze_program(&parse(&matmul(dtype)).program, &options);
        let note = headline(&outcome.analysis.unwrap()).time_note;
        // Without a peak that is the reason.
        let says_why = note.contains("has no predicted times");
        assert_eq!(says_why, dtype != "i64", "{dtype}: {note}");
    }
    // The vector units were not measured in f64.
    assert_eq!(time_s("input a : f64[4096, 4096]\ny = exp(a)\n"), None);
    assert_eq!(time_s("y = matmul(a, b) : f16[4096, 4096]\n"), None);
    // A transpose computes nothing.
    assert!(time_s("input a : f64[4096, 4096]\ny = transpose(a)\n").is_some());
}

/// An H100 has the multiprocessors of an H200 and 3.35 of 4.8 TB/s: large copies scale, a product
/// of matrices does not.
#[test]
fn an_h100_is_estimated_from_the_h200() {
    let of = |text: &str, id: &str| analysis_of(text, Policy::None, id).predicted.unwrap();
    let copy = "input a : bf16[65536, 8192]\ny = relu(a)\n";
    let [h200, h100] = ["h200", "h100"].map(|id| of(copy, id));
    assert_eq!(h200.rates_from.scaled_from(), None);
    assert_eq!(h100.rates_from.scaled_from(), Some("H200"));
    let fixed_s = 1.7e-6;
    let ratio = (h100.fused_s - fixed_s) / (h200.fused_s - fixed_s);
    assert!((ratio - 4800.0 / 3352.3).abs() < 1e-9, "{ratio}");
    let product = "input a : bf16[8192, 8192]\ninput b : bf16[8192, 8192]\ny = matmul(a, b)\n";
    let [h200, h100] = ["h200", "h100"].map(|id| of(product, id).fused_s);
    assert!((h100 / h200 - 1.0).abs() < 1e-9, "{h100} {h200}");
}

/// Eager PyTorch sees one operand with a stride of 0, whichever way the list broadcasts it.
#[test]
fn a_broadcast_takes_as_long_as_an_expanded_view() {
    let declared = "input x : bf16[64, 128, 1024]\ninput v : bf16[64, 1, 1024]\n";
    let expanded = "e = expand(v) : bf16[64, 128, 1024]\ny = add(x, e)\n";
    let [broadcast, view] = ["y = add(x, v)\n", expanded].map(|more| {
        let options = Options {
            conventions: Conventions {
                reshape: ReshapeCost::View,
                ..Conventions::default()
            },
            device: device("h200").unwrap().clone(),
            ..Options::of_policy(Policy::None)
        };
        let text = [declared, more].concat();
        let outcome = analyze_program(&parse(&text).program, &options);
        outcome.analysis.unwrap().predicted.unwrap().fused_s
    });
    assert!((view / broadcast - 1.0).abs() < 1e-9, "{view} {broadcast}");
}

/// Rows, columns, and the times of `var` and `argmax` along rows of f16 in µs: eager PyTorch 2.11
/// on an H200, the best of 6 CUDA graphs of 50 calls, 2026-11-29.
const MEASURED_PAIRS: [(u64, u64, f64, f64); 9] = [
    (8, 4096, 10.47, 8.67),
    (64, 1024, 6.57, 5.49),
    (64, 16_384, 7.30, 6.02),
    (512, 1024, 6.79, 5.60),
    (2048, 1024, 6.83, 5.74),
    (4096, 4096, 21.34, 21.44),
    (2048, 32_000, 85.91, 77.40),
    (16_384, 64, 9.00, 8.98),
    (16_384, 768, 19.52, 19.47),
];

#[test]
fn a_variance_and_the_place_of_an_extreme_take_longer_than_a_sum() {
    for (rows, columns, var_us, argmax_us) in MEASURED_PAIRS {
        for (function, measured_us) in [("var", var_us), ("argmax", argmax_us)] {
            let text = format!("input x : f16[{rows}, {columns}]\ny = {function}(x)\n");
            let predicted_us = time_s(&text, Policy::None, "h200").unwrap() * 1e6;
            let ratio = predicted_us / measured_us;
            assert!((0.6..1.3).contains(&ratio), "{text}{predicted_us}");
        }
    }
}

/// The maximum of all elements is taken from the rows of the norm before it: one pass over them.
#[test]
fn a_reduction_of_what_rows_leave_takes_as_long_as_its_bytes() {
    for norm in ["rms_norm(x)", "softmax(x)"] {
        let text = format!("input x : bf16[4096, 4096]\nh = {norm}\nm = max(h, axis=[0, 1])\n");
        let predicted_us = time_s(&text, Policy::Inductor, "h200").unwrap() * 1e6;
        assert!((9.0..35.0).contains(&predicted_us), "{text}{predicted_us}");
    }
}

/// Every kernel has a fixed time, of which the launch is a part.
#[test]
fn a_launch_time_of_ones_own_moves_the_predicted_time() {
    let program = parse("input a : bf16[64]\nx = relu(a)\ny = exp(x)\n").program;
    let fused_s = |launch_s: f64| {
        let options = Options {
            device: device("h200").unwrap().clone().with_launch_s(launch_s),
            ..Options::of_policy(Policy::None)
        };
        let analysis = analyze_program(&program, &options).analysis.unwrap();
        analysis.predicted.unwrap().fused_s
    };
    assert!((fused_s(12e-6) - fused_s(2e-6) - 2.0 * 10e-6).abs() < 1e-12);
}

/// The compiler cuts one long row into pieces for all blocks, whether a launch of its own joins
/// them or a later kernel does, as with a scale that is computed from a maximum.
#[test]
fn a_cut_row_takes_the_same_time_whoever_joins_it() {
    let rows = "input m : bf16[2048, 14336]\na = abs(m)\nr = max(a, axis=[0, 1], keepdim=false)\n";
    let first_kernel = |rest: &str| {
        let mut options = Options::of_policy(Policy::Inductor);
        options.device = device("h200").unwrap().clone();
        let program = parse(&format!("{rows}{rest}")).program;
        let analysis = analyze_program(&program, &options).analysis.unwrap();
        let first = analysis.partition.kernels.ids().next().unwrap();
        let launches = 1 + analysis.partition.further_launches_of(first);
        let times = analysis.predicted.unwrap().kernels;
        (launches, times[first].time_s)
    };
    let (two, own_s) = first_kernel("output r\n");
    let (one, with_s) = first_kernel("c = cast(r, dtype=f32)\ns = div(c, 448)\noutput s\n");
    assert_eq!((two, one), (2, 1));
    // Its own launch takes less than one more kernel would.
    assert!(with_s < own_s && own_s < 2.0 * with_s, "{own_s} {with_s}");
}

/// Whoever fuses: the same kernel takes the same time, and a matmul with an epilogue that no
/// library call has is generated.
#[test]
fn the_same_kernels_take_the_same_time_under_each_policy() {
    let mut compared = 0;
    for example in EXAMPLES {
        let program = parse(example.text).program;
        let of = |policy, max_autotune| {
            let mut options = Options::of_policy(policy);
            options.device = device("h200").unwrap().clone();
            options.fusion.max_autotune = max_autotune;
            analyze_program(&program, &options).analysis.unwrap()
        };
        let tuned = of(Policy::Inductor, true);
        for policy in [Policy::Optimal, Policy::Rules] {
            let own = of(policy, false);
            let has_extras = !tuned.partition.recomputed.iter().all(<[_]>::is_empty)
                || tuned
                    .partition
                    .further_launches
                    .iter()
                    .any(|&more| more > 0);
            // Accesses hit the cache by what ran before, so whole programs are compared.
            if own.partition.kernels != tuned.partition.kernels || has_extras {
                continue;
            }
            let [own_s, tuned_s] = [&own, &tuned].map(|a| a.predicted.as_ref().map(|e| e.fused_s));
            assert_eq!(own_s, tuned_s, "{} {policy:?}", example.id);
            compared += 1;
        }
    }
    assert!(compared > 2, "{compared}");
}

/// By hand, an op without a mark stays the library's, so that nothing changes before the first
/// merge; and marks keep the kernels of another policy as they are.
#[test]
fn by_hand_kernels_take_what_they_took_before() {
    let mut compared = [0; 2];
    for example in EXAMPLES {
        let program = parse(example.text).program;
        let analyzed = |text: &str, policy| {
            let mut options = Options::of_policy(policy);
            options.device = device("h100").unwrap().clone();
            options.conventions.reshape = example.opening.reshape;
            let outcome = analyze_program(&parse(text).program, &options);
            (outcome.analysis.unwrap(), outcome.statement_of_op)
        };
        let fused_s = |analysis: &Analysis| analysis.predicted.as_ref().map(|p| p.fused_s);
        for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
            let (before, statement_of_op) = analyzed(example.text, policy);
            let shown = ShownKernels {
                graph: &before.graph,
                partition: &before.partition,
                statement_of_op: &statement_of_op,
                options: &before.options,
            };
            let Ok(marked) = state_kernels(example.text, &program, shown) else {
                continue;
            };
            if policy == Policy::None {
                assert!(!marked.text.contains("@kernel"), "{}", example.id);
            }
            let (by_hand, _) = analyzed(&marked.text, Policy::Manual);
            let has_extras = before
                .partition
                .further_launches
                .iter()
                .any(|&more| more > 0)
                || before
                    .partition
                    .recomputed
                    .iter()
                    .any(|ops| !ops.is_empty());
            if by_hand.partition.kernels == before.partition.kernels && !has_extras {
                assert_eq!(
                    fused_s(&by_hand),
                    fused_s(&before),
                    "{} {policy:?}",
                    example.id
                );
                compared[usize::from(policy == Policy::None)] += 1;
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 20), "{compared:?}");
}

/// `addmm` takes a bias or a residual; a GELU needs a template, which is slower.
#[test]
fn only_an_epilogue_that_the_library_has_runs_at_its_rate() {
    let predicted_s = |ops: &str| {
        let text = format!(
            "input x : f16[4096, 4096]\ninput r : f16[4096, 4096]\nweight w : f16[4096, 4096]\nweight b : f16[4096]\n\
             h = matmul(x, w)\n{ops}"
        );
        let analysis = analysis_of(&text, Policy::Rules, "h200");
        assert_eq!(analysis.fused.launches, 1, "{ops}");
        analysis.predicted.unwrap().fused_s
    };
    let alone_s = predicted_s("");
    assert!((predicted_s("y = add(h, b)\n") / alone_s - 1.0).abs() < 1e-9);
    assert!((predicted_s("y = add(h, r)\n") / alone_s - 1.0).abs() < 1e-9);
    for ops in [
        "y = gelu(h)\n",
        "y = mul(h, r)\n",
        "a = add(h, b)\ny = relu(a)\n",
    ] {
        assert!(predicted_s(ops) > 1.05 * alone_s, "{ops}");
    }
}

/// A reduction alone takes no longer in a kernel of its own than by the library, which also cuts
/// few long rows.
#[test]
fn a_lone_reduction_of_few_long_rows_fills_the_device() {
    for call in ["sum(x)", "mean(x)", "max(x)"] {
        let text = format!("input x : bf16[1, 16777216]\ny = {call}\n");
        let [library, own] =
            [Policy::None, Policy::Rules].map(|policy| time_s(&text, policy, "h200").unwrap());
        assert!(own < 2.0 * library, "{call}: {own} {library}");
    }
}
