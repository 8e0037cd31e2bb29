//! Resources that kernels need of a multiprocessor, and warnings where fusing costs time.

use crate::measured;
use fuseline_core::analysis::limits::{KernelLimits, Warning, limits};
use fuseline_core::device;
use fuseline_core::model::device::DEVICES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, FusionOptions, KernelId, Options, Policy, analyze_program};
use fuseline_view::present::bottleneck_names::bound_name;
use fuseline_view::present::warnings::warning_text;
use serde_json::Value;

fn analysis_of(text: &str, policy: Policy, device_id: &str, fusion: FusionOptions) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let options = Options {
        device: device(device_id).unwrap().clone(),
        fusion,
        ..Options::of_policy(policy)
    };
    analyze_program(&parsed.program, &options).analysis.unwrap()
}

fn limits_of(text: &str, device_id: &str) -> Vec<KernelLimits> {
    let fusion = FusionOptions::default();
    let analysis = analysis_of(text, Policy::Rules, device_id, fusion);
    limits(&analysis).unwrap().into_iter().collect()
}

/// Two operands of 8 elements per thread and three addresses: 22 registers, as in the compiler's
/// kernel on an H200.
#[test]
fn registers_of_an_element_wise_kernel() {
    let text =
        "input a : bf16[8192, 8192]\ninput b : bf16[8192, 8192]\ns = add(a, b)\ny = relu(s)\n";
    let [kernel] = &limits_of(text, "h200")[..] else {
        panic!("one kernel");
    };
    assert_eq!((kernel.live_values, kernel.registers_per_thread), (2, 22));
    assert_eq!((kernel.threads_per_block, kernel.blocks), (128, 65_536));
    assert!((kernel.occupancy - 1.0).abs() < 1e-9);
    assert_eq!(kernel.warnings, []);
}

/// Registers per thread of the generated kernels of the measured patterns as the compiler reports
/// them, without matmuls.
#[test]
fn registers_are_near_those_of_a_compilers_kernels() {
    let text = include_str!("../measure/results/h100_registers.json");
    let file: Value = serde_json::from_str(text).unwrap();
    let mut errors = Vec::new();
    let mut rows = file["rows"].as_array().unwrap().iter().peekable();
    while let Some(row) = rows.peek() {
        let (pattern, size) = (row["pattern"].clone(), row["size"].clone());
        let mut of_one = Vec::new();
        while let Some(row) = rows.next_if(|row| row["pattern"] == pattern && row["size"] == size) {
            of_one.push(row["registers"].as_u64().unwrap());
        }
        let size: Vec<i64> = serde_json::from_value(size).unwrap();
        let options = Options {
            device: device("h100").unwrap().clone(),
            ..Options::of_policy(Policy::Inductor)
        };
        let analysis = measured::analysis(pattern.as_str().unwrap(), &size, &options);
        let kernels = limits(&analysis)
            .unwrap()
            .into_iter()
            .zip(&analysis.fused.kernels);
        let generated = kernels.filter(|(_, k)| k.work.matrix_dtype.is_none() && !k.is_free);
        let estimates: Vec<u64> = generated.map(|(l, _)| l.registers_per_thread).collect();
        assert_eq!(estimates.len(), of_one.len(), "{pattern} {size:?}");
        let pairs = estimates.into_iter().zip(of_one);
        errors.extend(pairs.map(|(ours, theirs)| (ours as f64 / theirs as f64 - 1.0).abs()));
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors.len() > 100, "{}", errors.len());
    let (median, ninth_decile) = (errors[errors.len() / 2], errors[errors.len() * 9 / 10]);
    assert!(
        median < 0.3 && ninth_decile < 0.57,
        "{median} {ninth_decile} {errors:?}"
    );
}

/// A decomposed softmax: the loaded values, the results and a running sum, 8 elements of each, and
/// two addresses. The compiler's kernels had 28 to 40 registers.
#[test]
fn registers_along_rows_hold_what_the_reductions_have_so_far() {
    let text = "input x : f32[4096, 4096]\nm = max(x)\ns = sub(x, m)\ne = exp(s)\nt = sum(e)\ny = div(e, t)\n";
    let fusion = FusionOptions::default();
    let of = |text: &str| {
        let analysis = analysis_of(text, Policy::Optimal, "h200", fusion);
        let limits = limits(&analysis).unwrap();
        let [kernel] = limits.as_slice() else {
            panic!("one kernel");
        };
        (kernel.live_values, kernel.registers_per_thread)
    };
    assert_eq!(of(text), (3, 28));
    assert_eq!(of(&text.replace("f32", "f16")), (3, 28));
    assert_eq!(of("input x : f32[4096, 4096]\ny = softmax(x)\n"), (3, 28));
}

/// Registers are allocated in units of eight: of blocks with 512 threads and 42 registers two fit,
/// not three.
#[test]
fn registers_are_given_out_in_units() {
    let text = "input a : f16[8192, 8192]\ninput b : f16[8192, 8192]\nweight g : f16[8192]\nweight h : f16[8192]\n\
                s = add(a, b)\ny = layer_norm(s, g, h)\n";
    let [kernel] = &limits_of(text, "h200")[..] else {
        panic!("one kernel");
    };
    assert_eq!(kernel.registers_per_thread, 42);
    assert!(
        (kernel.occupancy - 0.5).abs() < 1e-9,
        "{}",
        kernel.occupancy
    );
}

/// A chain whose results are all needed at its end keeps all of them: 40 values of 8 elements.
#[test]
fn a_kernel_that_holds_too_much_spills() {
    use std::fmt::Write as _;
    let mut text = "input x : bf16[4096, 4096]\ny0 = relu(x)\n".to_owned();
    let mut sum = "y0".to_owned();
    for at in 1..40 {
        let _ = writeln!(text, "y{at} = scale(x, factor={at})");
    }
    for at in 1..40 {
        let _ = writeln!(text, "s{at} = add({sum}, y{at})");
        sum = format!("s{at}");
    }
    let kernels = limits_of(&text, "a100-80");
    assert_eq!(kernels.len(), 1);
    let spills =
        |w: &Warning| matches!(w, Warning::Spills { wanted, available: 255 } if *wanted > 320);
    assert!(kernels[0].warnings.iter().any(spills), "{:?}", kernels[0]);
}

/// 109 tiles of 256 x 128 on the 108 multiprocessors of an A100.
#[test]
fn a_matmul_in_two_waves_for_one_tile() {
    let text = "input a : f16[27904, 4096]\nweight w : f16[4096, 128]\ny = matmul(a, w)\n";
    let kernel = &limits_of(text, "a100-80")[0];
    let tiling = kernel.tiling.unwrap();
    assert!(
        tiling.waves >= 2.0 && tiling.wave_efficiency < 0.7,
        "{tiling:?}"
    );
    let fusion = FusionOptions::default();
    let graph = analysis_of(text, Policy::Rules, "a100-80", fusion).graph;
    let text = warning_text(&graph, &kernel.warnings[0]);
    assert!(text.contains("on 108 multiprocessors"), "{text}");
    // As many tiles as multiprocessors fill one wave.
    let full = "input a : f16[27648, 4096]\nweight w : f16[4096, 128]\ny = matmul(a, w)\n";
    let kernel = &limits_of(full, "a100-80")[0];
    assert!((kernel.tiling.unwrap().wave_efficiency - 1.0).abs() < 1e-9);
    assert_eq!(kernel.warnings, []);
}

/// A group of four warps loads for the others on Hopper; elsewhere each thread of a product
/// computes.
#[test]
fn threads_that_only_load_are_hoppers() {
    let product = "input a : f16[4096, 4096]\nweight w : f16[4096, 4096]\ny = matmul(a, w)\n";
    let attention = "input q : f16[16, 2048, 64]\ny = sdpa(q, q, q)\n";
    for device in DEVICES {
        let threads = |text: &str| {
            let fusion = FusionOptions::default();
            let analysis = analysis_of(text, Policy::Rules, &device.id, fusion);
            let kernels = limits(&analysis)?;
            kernels.iter().map(|kernel| kernel.threads_per_block).max()
        };
        let is_hopper = ["h100-pcie", "h100", "h20", "gh200", "h200"].contains(&&*device.id);
        let expected = if is_hopper { 384 } else { 256 };
        for text in [product, attention] {
            assert!(
                threads(text).is_none_or(|threads| threads == expected),
                "{}",
                device.id
            );
        }
    }
}

/// A matmul with tiles of 256 x 128: 128 accumulators and 40 further registers, four stages of 384
/// x 64 in f16 on chip.
#[test]
fn a_matmul_fills_its_block() {
    let text = "input a : f16[4096, 4096]\nweight w : f16[4096, 4096]\ny = matmul(a, w)\n";
    let kernel = &limits_of(text, "h200")[0];
    assert_eq!(kernel.registers_per_thread, 168);
    assert_eq!(kernel.on_chip_bytes, 4 * 384 * 64 * 2);
    assert!(kernel.on_chip_bytes <= kernel.on_chip_available_bytes);
    assert_eq!((kernel.blocks, kernel.waves), (512, 4));
    // If four stages do not fit there are three; if two do not fit, each is less deep.
    let a100 = &limits_of(text, "a100-80")[0];
    assert_eq!(a100.on_chip_bytes, 3 * 384 * 64 * 2);
    let wide = text.replace("f16", "f32");
    for device in DEVICES {
        let fusion = FusionOptions::default();
        if let Some(kernels) = limits(&analysis_of(&wide, Policy::Rules, &device.id, fusion)) {
            let kernel = &kernels[KernelId::new(0)];
            assert!(
                kernel.on_chip_bytes <= kernel.on_chip_available_bytes,
                "{}",
                device.id
            );
        }
    }
}

/// Few long rows: fused with its reduction, the elementwise part runs in 16 blocks and not in
/// thousands.
#[test]
fn fusing_along_few_rows_idles_the_device() {
    let text = "input x : f16[16, 1048576]\ny = exp(x)\nz = sum(y)\n";
    let [kernel] = &limits_of(text, "a100-80")[..] else {
        panic!("one kernel");
    };
    let analysis = analysis_of(text, Policy::Rules, "a100-80", FusionOptions::default());
    let lost = Warning::LostParallelism {
        blocks: 16,
        multiprocessors: 108,
        slowest: analysis.graph.op_named("y").unwrap(),
        slowest_blocks: 16_384,
    };
    assert!(kernel.warnings.contains(&lost), "{:?}", kernel.warnings);
    assert_eq!(
        warning_text(&analysis.graph, &lost),
        "16 blocks for 108 multiprocessors; y alone has 16,384"
    );
    let many = limits_of(&text.replace("[16, ", "[1024, "), "a100-80");
    assert!(
        !many[0]
            .warnings
            .iter()
            .any(|w| matches!(w, Warning::LostParallelism { .. }))
    );
}

/// A norm of 128 rows has 128 blocks alone, too: fused with the add before it, it loses none.
#[test]
fn blocks_that_the_slowest_op_lacks_alone_are_not_lost_by_fusing() {
    let text =
        "input x : f16[128, 4096]\ninput r : f16[128, 4096]\ny = add(x, r)\nz = layer_norm(y)\n";
    let [kernel] = &limits_of(text, "h100")[..] else {
        panic!("one kernel");
    };
    assert_eq!((kernel.blocks, &kernel.warnings[..]), (128, &[][..]));
}

/// A bias after a matmul of 8192 cubed saves bytes and hardly any time.
#[test]
fn an_epilogue_behind_a_large_matmul_hardly_pays() {
    let text = "input x : f16[8192, 8192]\nweight w : f16[8192, 8192]\nweight b : f16[8192]\n\
                h = matmul(x, w)\na = add(h, b)\n";
    let analysis = analysis_of(text, Policy::Rules, "a100-80", FusionOptions::default());
    let kernel = &limits(&analysis).unwrap()[KernelId::new(0)];
    let pays = |w: &&Warning| matches!(w, Warning::HardlyPays { .. });
    let warning = kernel.warnings.iter().find(pays).unwrap();
    let said = warning_text(&analysis.graph, warning);
    assert!(
        said.starts_with("compute-bound: fusion saves 268"),
        "{said}"
    );
}

/// Rows run along the reduced axes: 64 columns of 1048576 elements, two in a block, none of which
/// is kept on chip.
#[test]
fn rows_of_a_reduction_lie_along_its_axes() {
    let x = "input x : f16[1048576, 64]\n";
    let kernel = &limits_of(&[x, "m = max(x, axis=0)\n"].concat(), "a100-80")[0];
    assert_eq!((kernel.blocks, kernel.on_chip_bytes), (32, 0));
    let all = "m = max(x, axis=[0, 1], keepdim=false)\n";
    assert_eq!(limits_of(&[x, all].concat(), "a100-80")[0].blocks, 1);
    let kernel = &limits_of(&[x, "m = softmax(x, axis=0)\n"].concat(), "a100-80")[0];
    assert_eq!((kernel.blocks, kernel.on_chip_bytes), (32, 8 << 20));
    let kernel = &limits_of(&[x, "m = softmax(x)\n"].concat(), "a100-80")[0];
    assert_eq!((kernel.blocks, kernel.on_chip_bytes), (1 << 20, 256));
    // Squares, whose shapes do not distinguish axes.
    let square = "input x : f16[64, 64, 64]\nm = max(x, axis=[0, 1], keepdim=false)\n";
    assert_eq!(limits_of(square, "a100-80")[0].blocks, 32);
}

/// Columns and their length, and the columns of a block and its warps that the heuristics of torch
/// 2.11 choose (`_reduction_configs` and `_persistent_reduction_configs` of
/// `torch/_inductor/runtime/triton_heuristics.py`, called for a sum along the first axis).
#[test]
fn a_block_has_as_many_columns_as_a_compilers() {
    for (columns, length, own, warps) in [
        (16, 8, 8, 2),
        (16, 64, 8, 4),
        (16, 100, 2, 2),
        (64, 32, 32, 8),
        (64, 4096, 2, 2),
        (128, 8, 128, 8),
        (128, 64, 32, 8),
        (128, 100, 2, 2),
        (512, 256, 4, 2),
        (1024, 100, 8, 4),
        (2048, 32, 128, 8),
        (2048, 256, 16, 4),
        (16_384, 4096, 16, 4),
        (32_768, 100, 16, 4),
        (65_536, 100, 64, 4),
        (131_072, 256, 64, 4),
        (1 << 20, 64, 32, 8),
        (1 << 20, 4096, 256, 4),
        (1 << 22, 100, 256, 4),
    ] {
        let text = format!("input x : f16[{length}, {columns}]\ny = sum(x, axis=0)\n");
        let [kernel] = &limits_of(&text, "h200")[..] else {
            panic!("one kernel");
        };
        let expected = (u64::div_ceil(columns, own), warps * 32);
        assert_eq!(
            (kernel.blocks, kernel.threads_per_block),
            expected,
            "{text}"
        );
    }
    // The columns of each matrix of a batch.
    let batch = "input x : f32[64, 4096, 512]\ny = softmax(x, axis=1)\n";
    let kernel = &limits_of(batch, "h200")[0];
    assert_eq!(
        (kernel.blocks, kernel.on_chip_bytes),
        (64 * 512 / 16, 16 * 4096 * 4)
    );
}

/// Fusing an op with one value per row saves little, but the kernel is bound by memory.
#[test]
fn a_kernel_that_waits_for_memory_is_not_bound_by_arithmetic() {
    let text = "input x : f16[8192, 8192]\ns = sum(x)\nr = relu(s)\n";
    let fusion = FusionOptions::default();
    let analysis = analysis_of(text, Policy::Optimal, "a100-80", fusion);
    let limits = limits(&analysis).unwrap();
    let [kernel] = limits.as_slice() else {
        panic!("one kernel");
    };
    assert_eq!(
        bound_name(analysis.fused.kernels[KernelId::new(0)].placement.bound),
        "memory"
    );
    assert_eq!(kernel.warnings, []);
}

/// Attention uses its own tiles: 16 heads of 2048 queries in tiles of 64.
#[test]
fn an_attention_kernel_has_the_tiles_of_its_paper() {
    let text = "input q : f16[16, 2048, 64]\ninput k : f16[16, 2048, 64]\ninput v : f16[16, 2048, 64]\n\
                s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)\n";
    let fusion = FusionOptions {
        attention: true,
        eager_attention: true,
        ..FusionOptions::default()
    };
    let kernel =
        &limits(&analysis_of(text, Policy::None, "h200", fusion)).unwrap()[KernelId::new(0)];
    assert_eq!(kernel.blocks, 16 * 32);
    assert!(kernel.on_chip_bytes <= kernel.on_chip_available_bytes);
}

#[test]
fn nothing_is_said_about_a_device_without_multiprocessors() {
    let text = "input x : f16[16, 16]\ny = relu(x)\n";
    let analysis = analysis_of(text, Policy::Rules, "tpu-v4", FusionOptions::default());
    assert_eq!(limits(&analysis), None);
}
