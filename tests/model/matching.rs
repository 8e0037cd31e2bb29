//! Kernels that ran on an H200 beside those that are predicted.

use crate::inductor_measured::{DEFAULT, EAGER, options};
use crate::profiles::{file, profile};
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, analyze_program};
use fuseline_import::matching::operations::of_function;
use fuseline_import::matching::{Matching, match_kernels, short_neighbours};
use fuseline_import::profile::{MeasuredKernel, MeasuredRun};
use fuseline_view::present::profile::{
    found_sentence, neighbour_rows, notes, profile_rows, profile_totals,
};
use serde_json::Value;
use std::path::Path;
use strum::VariantArray;

fn analysis_of(text: &str, variant: &str) -> Analysis {
    analyze_program(&parse(text).program, &options(variant))
        .analysis
        .unwrap()
}

fn mlp(variant: &str) -> Analysis {
    analysis_of(&String::from_utf8(file("mlp.fuse")).unwrap(), variant)
}

/// Ops, what ran, and bytes: predicted, measured and the error.
fn told(analysis: &Analysis, matching: &Matching) -> Vec<String> {
    let rows = profile_rows(analysis, matching).into_iter();
    rows.map(|row| format!("{}: {} {}", row.ops, row.name, row.bytes.join(" ")))
        .collect()
}

#[test]
fn the_kernels_of_one_program() {
    let ncu = profile("ncu_raw.csv");
    let cases: [(usize, &str, &str, &[&str]); 2] = [
        (
            0,
            EAGER,
            "trace_eager.json",
            &[
                "h: nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_N… 16.8 MB 19.7 MB −14.7 %",
                "a: elementwise_kernel 33.6 MB 33.6 MB −0.1 %",
                "g: vectorized_elementwise_kernel 33.6 MB 33.6 MB −0.1 %",
                "y: nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_N… 41.9 MB 42.0 MB −0.1 %",
                "z: elementwise_kernel 8.39 MB 8.42 MB −0.3 %",
                "r: vectorized_elementwise_kernel 16.8 MB 16.8 MB −0.0 %",
                "n: vectorized_layer_norm_kernel 8.39 MB 8.40 MB −0.2 %",
            ],
        ),
        (
            1,
            DEFAULT,
            "trace_compiled.json",
            &[
                "h: nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_N… 16.8 MB 19.8 MB −15.3 %",
                "a + g: triton_poi_fused_add_gelu_0 33.6 MB 33.6 MB −0.0 %",
                "y: nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_N… 41.9 MB 42.0 MB −0.1 %",
                "z + r + n: triton_per_fused_add_native_layer_norm_1 16.8 MB 16.8 MB −0.1 %",
            ],
        ),
    ];
    for (at, variant, trace, expected) in cases {
        let analysis = mlp(variant);
        let mut run = profile(trace).runs.remove(0);
        // Both profilers spell names of kernels in their own way.
        assert!(run.complete_from(&ncu.runs[at]), "{variant}");
        let matching = match_kernels(&analysis, &run);
        assert_eq!(told(&analysis, &matching), expected);
        assert_eq!(matching.missing(&analysis).count(), 0);
        let [total] = &profile_totals(&analysis, &matching)[..] else {
            panic!("all are found");
        };
        let [predicted, measured, _] = &total.times;
        assert_eq!(
            [predicted, measured],
            if variant == EAGER {
                ["189 µs", "187 µs"]
            } else {
                ["127 µs", "124 µs"]
            }
        );
    }
}

/// Products and attention that are split along K are kernels of their own; what adds their parts
/// helps them.
#[test]
fn kernels_that_are_split_along_k() {
    let kernel = |name: &str| MeasuredKernel::new(name, 1e-5);
    let ran = |text: &str, names: &[&str]| {
        let analysis = analysis_of(text, EAGER);
        let run = MeasuredRun {
            variant: Some("eager".to_owned()),
            kernels: names.iter().map(|name| kernel(name)).collect(),
            ..MeasuredRun::default()
        };
        let rows = profile_rows(&analysis, &match_kernels(&analysis, &run));
        let rows = rows.into_iter();
        rows.map(|row| format!("{}: {}", row.ops, row.name))
            .collect::<Vec<_>>()
    };
    let product = "input x : bf16[16, 8192]\nweight w : bf16[8192, 4096]\ny = matmul(x, w)\n";
    for name in [
        "nvjet_tst_64x8_64x16_1x4_h_bz_splitK_TNT",
        "nvjet_hsh_64x32_64x16_2x1_v_bz_splitK_bias_TNN",
        "gemv2T_kernel_val_splitK",
        "void gemvNSP_kernel<float, float, float, float, 1, 32, 4, 1024>()",
        "void gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16>()",
        "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_splitK_tn",
    ] {
        let base = ran(product, &[name]);
        assert!(base[0].starts_with("y: ") && base.len() == 1, "{base:?}");
        for helper in [
            "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)",
            "void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<int>>(int)",
        ] {
            let both = ran(product, &[name, helper]);
            assert_eq!(both, [format!("{} and 1 more", base[0])]);
        }
    }
    let attention = "input q : bf16[8, 1, 64]\ninput k : bf16[8, 4096, 64]\ny = sdpa(q, k, k)\n";
    let split = "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)";
    let combine = "void pytorch_flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)";
    assert_eq!(ran(attention, &[split]), ["y: flash_fwd_splitkv_kernel"]);
    assert_eq!(
        ran(attention, &[split, combine]),
        ["y: flash_fwd_splitkv_kernel and 1 more"]
    );
    // Alone it is the attention of no op.
    assert_eq!(
        ran(attention, &[combine]),
        [": flash_fwd_splitkv_combine_kernel", "y: "]
    );
}

/// What runs in another order, is not predicted or is not found is told.
#[test]
fn kernels_without_a_partner() {
    let analysis = mlp(DEFAULT);
    let kernel = |name: &str| MeasuredKernel::new(name, 1e-5);
    let mut run = MeasuredRun {
        variant: Some("compiled".to_owned()),
        kernels: vec![
            kernel("nvjet_sm90_tst_256x128"),
            kernel("triton_per_fused_add_native_layer_norm_1"),
            kernel("triton_poi_fused_add_gelu_0"),
            kernel("my_own_kernel"),
            kernel("nvjet_sm90_tst_256x128"),
            kernel("void cublasLt::splitKreduce_kernel<32, 16, int>(int)"),
        ],
        ..MeasuredRun::default()
    };
    let rows = |run: &MeasuredRun| {
        let matching = match_kernels(&analysis, run);
        let rows = profile_rows(&analysis, &matching).into_iter();
        rows.map(|row| {
            format!("{}: {} {}", row.ops, row.name, row.remark)
                .trim_end()
                .to_owned()
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(
        rows(&run),
        [
            "h: nvjet_sm90_tst_256x128",
            "z + r + n: triton_per_fused_add_native_layer_norm_1 in another order",
            "a + g: triton_poi_fused_add_gelu_0",
            ": my_own_kernel not predicted",
            "y: nvjet_sm90_tst_256x128 and 1 more",
        ]
    );
    run.kernels.truncate(1);
    assert_eq!(
        rows(&run),
        [
            "h: nvjet_sm90_tst_256x128",
            "a + g:  not found",
            "y:  not found",
            "z + r + n:  not found",
        ]
    );
    assert_eq!(
        found_sentence(&analysis, &match_kernels(&analysis, &run)),
        "1 kernel ran, and 1 of them match a predicted kernel. 3 predicted kernels match no measured kernel."
    );
    run.kernels.clear();
    assert_eq!(match_kernels(&analysis, &run).missing(&analysis).count(), 4);
}

/// Where not all kernels have a partner, the sums are of different kernels, so only those of the
/// pairs have an error.
#[test]
fn sums_are_compared_where_they_are_of_the_same_kernels() {
    let analysis = mlp(DEFAULT);
    let totals = |run: &MeasuredRun| {
        let totals = profile_totals(&analysis, &match_kernels(&analysis, run)).into_iter();
        totals
            .map(|row| format!("{}: {}", row.of.sum_title(), row.times.join(" ")))
            .collect::<Vec<_>>()
    };
    let mut run = profile("ncu_raw.csv").runs.remove(1);
    assert_eq!(totals(&run), ["total: 127 µs 130 µs −1.8 %"]);
    let pair = run.kernels.remove(1);
    assert_eq!(
        totals(&run),
        [
            "matched kernels: 103 µs 103 µs +0.5 %",
            "total: 127 µs 103 µs –"
        ]
    );
    run.kernels.insert(1, pair);
    let own = MeasuredKernel::new("my_own_kernel", 1e-5);
    run.kernels.push(own);
    assert_eq!(
        totals(&run),
        [
            "matched kernels: 127 µs 130 µs −1.8 %",
            "total: 127 µs 140 µs –"
        ]
    );
}

/// The base page of Nsight Compute has bytes read and written together, and those written may be
/// missing.
#[test]
fn bytes_that_may_leave_later_are_told() {
    let analysis = mlp(DEFAULT);
    for (file, is_told) in [
        ("ncu_base.csv", true),
        ("ncu_raw.csv", false),
        ("trace_compiled.json", false),
    ] {
        let profile = profile(file);
        let run = profile.runs.last().unwrap();
        let notes = notes(&analysis, &profile, "", &match_kernels(&analysis, run));
        let note = notes.iter().find(|note| {
            note.text
                .contains("leave the cache only after the kernel ends")
        });
        assert_eq!(note.is_some(), is_told, "{file}");
        assert!(note.is_none_or(|note| note.text.contains("--metrics dram__bytes_read.sum")));
    }
}

/// A file that does not tell calls apart has the last of those whose names repeat.
#[test]
fn calls_that_follow_each_other() {
    let analysis = mlp(DEFAULT);
    let once = profile("trace_compiled.json").runs.remove(0);
    let mut thrice = once.clone();
    thrice.kernels = [&once.kernels[..], &once.kernels, &once.kernels].concat();
    let matching = match_kernels(&analysis, &thrice);
    assert_eq!((matching.calls, matching.run.kernels.len()), (3, 4));
    assert_eq!(
        told(&analysis, &matching),
        told(&analysis, &match_kernels(&analysis, &once))
    );
    thrice.kernels.pop();
    assert_eq!(match_kernels(&analysis, &thrice).calls, 1);
}

/// Names of kernels that 307 programs launched, cut after 60 characters, without times: how many
/// find a predicted kernel.
#[test]
fn programs_that_were_measured() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/programs");
    let measured = std::fs::read_to_string(folder.join("h200.json")).unwrap();
    let measured: Value = serde_json::from_str(&measured).unwrap();
    for (variant, expected) in [
        (EAGER, [2852, 2721, 1769, 1742]),
        (DEFAULT, [1062, 1033, 1045, 1016]),
    ] {
        // Kernels that ran, those found, and the same of programs for which as many are predicted
        // as ran.
        let mut counts = [0; 4];
        for (name, row) in measured["programs"].as_object().unwrap() {
            let names = row[variant].as_array().unwrap();
            let text = std::fs::read_to_string(folder.join(format!("{name}.fuse"))).unwrap();
            let analysis = analysis_of(&text, variant);
            let kernel = |name: &Value| MeasuredKernel::new(name.as_str().unwrap(), 1e-6);
            let run = MeasuredRun {
                variant: Some(variant.to_owned()),
                kernels: names.iter().map(kernel).collect(),
                ..MeasuredRun::default()
            };
            let matching = match_kernels(&analysis, &run);
            let found = matching.of_measured.iter().flatten().count();
            let is_as_many = usize::from(analysis.fused.launches == names.len());
            let counted = [
                names.len(),
                found,
                is_as_many * names.len(),
                is_as_many * found,
            ];
            counts = std::array::from_fn(|at| counts[at] + counted[at]);
        }
        assert_eq!(counts, expected, "{variant}");
    }
}

/// Short kernels in a row that wait for memory, with what one kernel for both would save.
#[test]
fn neighbours_worth_fusing() {
    let analysis = mlp(EAGER);
    let matching = match_kernels(&analysis, &profile("trace_eager.json").runs[0]);
    let rows = neighbour_rows(&analysis, &short_neighbours(&analysis, &matching));
    let rows = rows
        .into_iter()
        .map(|row| format!("{}: {}, {}, {:?}", row.names, row.time, row.gap, row.merge));
    let expected = [
        "5 (z) and 6 (r): 17.0 µs, 992 ns, Ok([\"16.8 MB\", \"12.4 µs\"])",
        "6 (r) and 7 (n): 16.8 µs, 42.3 µs, Ok([\"16.8 MB\", \"8.69 µs\"])",
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

/// What it computes is not known.
const UNKNOWN: &[Function] = &[Function::Opaque, Function::Part];

#[test]
fn every_function_computes_something() {
    for function in Function::VARIANTS {
        let is_known = !of_function(*function).is_empty();
        assert_eq!(is_known, !UNKNOWN.contains(function), "{function}");
    }
}
