//! Attention as one kernel: detection, planning as one op, and both counts of its bytes.

use crate::measured;
use fuseline_core::device;
use fuseline_core::fusion::attention::{AttentionShape, Growth, LoopOrder, Tiles, find};
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, FusionOptions, KernelId, OpId, Options, Policy, analyze_program, build_graph,
};

/// On an H200, where every policy runs attention as one kernel.
pub(crate) fn with_attention(policy: Policy) -> Options {
    Options {
        fusion: FusionOptions {
            attention: true,
            eager_attention: true,
            ..FusionOptions::default()
        },
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(policy)
    }
}

fn analysis_of(text: &str, options: &Options) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    analyze_program(&parsed.program, options).analysis.unwrap()
}

/// The counts of self-attention at a length, with the memory on chip of an H200.
fn growth_at(length: u64, shape: &AttentionShape) -> Growth {
    let shape = AttentionShape {
        queries: length,
        keys: length,
        ..*shape
    };
    Growth::of(&shape, 232_448, LoopOrder::Queries)
}

fn kernels(analysis: &Analysis) -> Vec<Vec<&str>> {
    let ops = &analysis.graph.ops;
    let names = |group: &[OpId]| group.iter().map(|&op| ops[op].name.as_str()).collect();
    analysis.partition.kernels.iter().map(names).collect()
}

const TAKEN_APART: &str = "
    input q : f16[8, 512, 64]
    input k : f16[8, 512, 64]
    input v : f16[8, 512, 64]
    input bias : f16[8, 512, 512]
    scores = matmul(q, k, transpose_b=true)
    scaled = scale(scores, factor=0.125)
    biased = add(scaled, bias)
    top    = max(biased)
    shift  = sub(biased, top)
    power  = exp(shift)
    total  = sum(power)
    probs  = div(power, total)
    kept   = dropout(probs)
    out    = matmul(kept, v)
    y      = relu(out)
";

/// A result of the program goes to memory, so a kernel that keeps it on chip is not one of
/// attention.
#[test]
fn what_is_a_result_is_not_within_attention() {
    for result in [
        "scores", "biased", "top", "shift", "power", "total", "probs", "kept",
    ] {
        let text = format!("{TAKEN_APART}    output {result}\n");
        let analysis = analysis_of(&text, &with_attention(Policy::Rules));
        assert!(find(&analysis.graph).is_empty(), "{result}");
        let optimum = analysis_of(&text, &with_attention(Policy::Optimal));
        let certificate = optimum.certificate.unwrap();
        let bytes = optimum.fused.traffic.total as f64;
        assert!((certificate.cost.value() - bytes).abs() < 0.5, "{result}");
    }
    let text = format!("{TAKEN_APART}    output out\n");
    let analysis = analysis_of(&text, &with_attention(Policy::Rules));
    assert_eq!(find(&analysis.graph).len(), 1);
}

#[test]
fn one_kernel_from_the_scores_to_the_values() {
    for policy in [Policy::None, Policy::Rules] {
        let analysis = analysis_of(TAKEN_APART, &with_attention(policy));
        let groups = kernels(&analysis);
        let attention = groups
            .iter()
            .find(|group| group.contains(&"power"))
            .unwrap();
        assert_eq!(attention[..2], ["scores", "scaled"]);
        assert!(attention.contains(&"out"));
        assert_eq!(groups.len(), if policy == Policy::None { 2 } else { 1 });
    }
}

/// It reads Q, K, V and the bias and writes the result, in 8 heads of 512 x 64 and 512 x 512.
#[test]
fn compulsory_traffic_counts_each_tensor_once() {
    let analysis = analysis_of(TAKEN_APART, &with_attention(Policy::None));
    let kernel = &analysis.fused.kernels[KernelId::new(0)];
    assert_eq!(kernel.bytes_read, 2 * (3 * 8 * 512 * 64 + 8 * 512 * 512));
    assert_eq!(kernel.bytes_written, 2 * 8 * 512 * 64);
}

#[test]
fn without_the_option_nothing_changes() {
    let analysis = analysis_of(TAKEN_APART, &Options::of_policy(Policy::None));
    assert_eq!(analysis.partition.kernels.len(), 11);
}

/// Each case replaces one property that attention requires.
#[test]
fn what_is_not_attention() {
    for (from, to) in [
        ("matmul(kept, v)", "matmul(kept, kept)"),
        ("matmul(kept, v)", "matmul(v, kept, transpose_a=true)"),
        ("div(power, total)", "div(power, top)"),
        ("sub(biased, top)", "sub(top, biased)"),
        ("relu(out)", "matmul(probs, v)"),
        ("relu(out)", "relu(scores)"),
        ("exp(shift)", "sigmoid(shift)"),
        // Along the queries, and along the heads.
        ("max(biased)", "max(biased, axis=-2)"),
        ("sum(power)", "sum(power, axis=-2)"),
        ("sum(power)", "sum(power, axis=0)"),
        ("matmul(kept, v)", "matmul(kept, v, transpose_a=true)"),
        // An op after the softmax must commute with the scaling of sums.
        ("dropout(probs)", "exp(probs)"),
        ("dropout(probs)", "relu(probs)"),
        ("dropout(probs)", "mul(probs, probs)"),
        ("dropout(probs)", "div(bias, probs)"),
        ("dropout(probs)", "where(probs, bias, bias)"),
    ] {
        assert!(TAKEN_APART.contains(from));
        let text = TAKEN_APART.replace(from, to);
        let program = parse(&text).program;
        let analysis = analyze_program(&program, &with_attention(Policy::None)).analysis;
        let Some(analysis) = analysis else { continue };
        assert!(find(&analysis.graph).is_empty(), "{to}");
    }
    let analysis = analysis_of(TAKEN_APART, &Options::default());
    assert_eq!(find(&analysis.graph).len(), 1);
}

#[test]
fn what_may_follow_the_softmax() {
    for kept in [
        "scale(probs, factor=1.1)",
        "mul(bias, probs)",
        "div(probs, bias)",
        "mask(probs)",
        "where(bias, probs, bias)",
        "where(bias, bias, probs)",
        "cast(probs, dtype=f16)",
    ] {
        let text = TAKEN_APART.replace("dropout(probs)", kept);
        assert_ne!(text, TAKEN_APART);
        let analysis = analysis_of(&text, &Options::default());
        assert_eq!(find(&analysis.graph).len(), 1, "{kept}");
    }
}

/// All sizes are equal, so that shapes do not distinguish axes.
#[test]
fn the_softmax_runs_over_the_keys_and_so_does_the_product_with_v() {
    let found = |softmax: &str, product: &str| {
        let text = format!(
            "input q : f16[64, 64]\ninput k : f16[64, 64]\ninput v : f16[64, 64]\n\
             s = matmul(q, k, transpose_b=true)\np = {softmax}\no = {product}"
        );
        !find(&analysis_of(&text, &Options::default()).graph).is_empty()
    };
    for softmax in [
        "softmax(s)",
        "softmax(s, axis=-1)",
        "softmax(s, axis=1)",
        "softmax(s, axis=[-1])",
    ] {
        assert!(found(softmax, "matmul(p, v)"), "{softmax}");
    }
    for softmax in [
        "softmax(s, axis=-2)",
        "softmax(s, axis=0)",
        "log_softmax(s)",
    ] {
        assert!(!found(softmax, "matmul(p, v)"), "{softmax}");
    }
    // V may be stored with its keys last.
    assert!(found("softmax(s)", "matmul(p, v, transpose_b=true)"));
    for product in [
        "matmul(p, v, transpose_a=true)",
        "matmul(v, p)",
        "matmul(v, p, transpose_b=true)",
    ] {
        assert!(!found("softmax(s)", product), "{product}");
    }
}

/// One V for each of 8 heads, but a single row of scores: the heads of the result are not those of
/// the scores.
#[test]
fn scores_that_several_heads_share_are_not_counted() {
    let text = "input q : f16[64, 64]\ninput v : f16[8, 64, 64]\n\
                s = matmul(q, q, transpose_b=true)\np = softmax(s)\no = matmul(p, v)";
    assert!(find(&analysis_of(text, &Options::default()).graph).is_empty());
}

/// FLOPs of the ops, and for each tile of keys 64 + 3 for each row: 232,448 bytes hold tiles of 454
/// keys.
#[test]
fn flops_are_those_of_the_ops_and_the_rescaling() {
    let one = analysis_of(TAKEN_APART, &with_attention(Policy::None));
    let apart = analysis_of(TAKEN_APART, &Options::of_policy(Policy::None));
    let sum = |analysis: &Analysis| -> u128 {
        let kernels = analysis.fused.kernels.iter();
        kernels.map(|kernel| kernel.work.flops()).sum()
    };
    assert_eq!(sum(&one) - sum(&apart), 8 * 512 * (64 + 3) * 2);
}

/// The count is the same whether the option or the compiler forms the kernel.
#[test]
fn the_compilers_attention_rescales_too() {
    let text = "input q : f16[8, 512, 64]\ninput k : f16[8, 512, 64]\ninput v : f16[8, 512, 64]\n\
                s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)";
    let compiled = Options {
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(Policy::Inductor)
    };
    let found = analysis_of(text, &compiled);
    let chosen = analysis_of(text, &with_attention(Policy::None));
    assert_eq!(found.fused.kernels, chosen.fused.kernels);
    let apart: u128 = found.unfused.kernels.iter().map(|k| k.work.flops()).sum();
    let more = 8 * 512 * (64 + 3) * 2;
    assert_eq!(
        found.fused.kernels[KernelId::new(0)].work.flops() - apart,
        more
    );
}

/// The example of the first flash attention paper: 1024 heads of 1024 x 64 in f16 and 192 KiB on
/// chip; it gives 4.4 GB.
#[test]
fn bytes_of_the_first_paper() {
    let shape = AttentionShape {
        heads: 1024,
        group: 1,
        queries: 1024,
        keys: 1024,
        head_size: 64,
        bytes_per_element: 2,
        key_bytes_per_element: 2,
    };
    let tiles: Tiles = Tiles::new(&shape, 192 << 10);
    assert_eq!(
        (tiles.key_rows, tiles.query_rows, tiles.key_tiles),
        (384, 64, 3)
    );
    let forward = shape.forward_bytes(&tiles, LoopOrder::Keys);
    let backward = shape.backward_bytes(tiles);
    assert_eq!(forward, 2 * 1024 * 800_768);
    assert_eq!(forward + backward, 4_336_910_336);
}

/// The formula of the second flash attention paper, which loops over Q: `2Nd + T_r * 2Nd + N` with
/// `T_r = 1024 / 64`.
#[test]
fn bytes_of_the_second_paper() {
    let shape = AttentionShape {
        heads: 1,
        group: 1,
        queries: 1024,
        keys: 1024,
        head_size: 64,
        bytes_per_element: 2,
        key_bytes_per_element: 2,
    };
    let tiles: Tiles = Tiles::new(&shape, 192 << 10);
    let elements = 2 * 65_536 + 16 * 2 * 65_536 + 1024;
    assert_eq!(
        shape.forward_bytes(&tiles, LoopOrder::default()),
        2 * elements
    );
}

/// 16 heads of 2048 x 64 in bf16: K and V of one head fit the cache, so DRAM reads Q, K and V once,
/// 12.6 MB.
#[test]
fn reads_of_a_measured_flash_kernel() {
    let measured = measured::rows()
        .into_iter()
        .find(|row| row.pattern == "sdpa_flash")
        .unwrap();
    let analysis = measured::analysis("sdpa_flash", &measured.size, &with_attention(Policy::None));
    let read = analysis.fused.traffic.bytes_read;
    assert_eq!(read, 12_582_912);
    assert!(read.abs_diff(measured.dram_read_bytes.unwrap()) * 200 < read);
}

/// Views that join the call change none of its FLOPs: the rescaling of tiles is not counted for a
/// call, with two views behind it as without.
#[test]
fn views_behind_a_call_add_no_flops() {
    let call = "\
input q : f16[8, 16, 128, 64]
input k : f16[8, 16, 128, 64]
input v : f16[8, 16, 128, 64]
a = sdpa(q, k, v)
";
    // The result lies as Q does, so heads behind tokens would be a copy.
    let viewed =
        format!("{call}t = transpose(a, perm=[0, 2, 1, 3])\nr = transpose(t, perm=[1, 0, 2, 3])");
    let [alone, with_views] = [call, &viewed].map(|text| {
        let analysis = analysis_of(text, &with_attention(Policy::Inductor));
        let [kernel] = analysis.fused.kernels.as_slice() else {
            panic!("one kernel");
        };
        kernel.work.flops()
    });
    // 2 * (64 + 64) and 6 for each of 8 * 16 * 128 * 128 scores
    assert_eq!(alone, 262 * 8 * 16 * 128 * 128);
    assert_eq!(with_views, alone);
}

/// Four heads of Q share one head of K and V: 32 heads of 2048 x 128 for Q and the result, 8 for K
/// and V.
#[test]
fn grouped_queries_read_their_keys_once() {
    let text = fuseline_core::examples::EXAMPLES
        .iter()
        .find(|e| e.id == "llama");
    let analysis = analysis_of(text.unwrap().text, &with_attention(Policy::None));
    let [attention] = &find(&analysis.graph)[..] else {
        panic!("one attention");
    };
    assert_eq!((attention.shape.heads, attention.shape.group), (32, 4));
    let kernel = analysis.partition.kernel_of[attention.ops[0]];
    let bytes = 2 * (2 * 32 + 2 * 8) * 2048 * 128;
    assert_eq!(analysis.fused.kernels[kernel].bytes(), bytes);
    assert_eq!(attention.shape.compulsory_bytes::<u64>(), bytes);
    let at_its_length = growth_at(2048, &attention.shape);
    assert_eq!(at_its_length.compulsory_bytes, bytes);
    assert!(at_its_length.tiled_bytes > bytes);
}

#[test]
fn standard_attention_grows_with_the_square() {
    let shape = AttentionShape {
        heads: 1,
        group: 1,
        queries: 1,
        keys: 1,
        head_size: 64,
        bytes_per_element: 2,
        key_bytes_per_element: 2,
    };
    let points = [4096, 65_536].map(|length| growth_at(length, &shape));
    let ratio = |bytes: [u64; 2]| bytes[1] as f64 / bytes[0] as f64;
    let of = |bytes: fn(&Growth) -> u64| ratio([bytes(&points[0]), bytes(&points[1])]);
    assert!(of(|p| p.standard_bytes) > 250.0);
    assert!((of(|p| p.compulsory_bytes) - 16.0).abs() < 1e-9);
    assert!(points.iter().all(|p| p.compulsory_bytes < p.tiled_bytes));
    assert!(points.iter().all(|p| p.tiled_bytes < p.standard_bytes));
}

/// Sizes at the edge of what fits 64 bits neither overflow nor divide by zero.
#[test]
fn extreme_sizes_saturate() {
    let shape = AttentionShape {
        heads: u64::MAX,
        group: 1,
        queries: u64::MAX,
        keys: u64::MAX,
        head_size: u64::MAX,
        bytes_per_element: 0,
        key_bytes_per_element: 0,
    };
    let tiles: Tiles = Tiles::new(&shape, 0);
    assert_eq!(shape.standard_bytes::<u64>(), 0);
    let forward = shape.forward_bytes(&tiles, LoopOrder::Keys);
    assert_eq!((forward, shape.backward_bytes(tiles)), (0, 0));
    assert_eq!(shape.rescaling(tiles).vector_flops, u128::MAX);
}

/// The attention of a block whose heads are views is found, and runs in the order of the block.
#[test]
fn a_block_plans_it_as_one_op() {
    let size = [1024, 1024, 16];
    let options = with_attention(Policy::Rules);
    let analysis = measured::analysis("transformer_block", &size, &options);
    let groups = kernels(&analysis);
    let attention = groups
        .iter()
        .find(|group| group.contains(&"probs"))
        .unwrap();
    assert_eq!(attention[..3], ["scores", "probs", "mixed"]);
    let graph = build_graph(analysis.graph.ops.as_slice(), &[]).unwrap();
    assert_eq!(find(&graph).len(), 1);
    let place = |name: &str| {
        groups
            .iter()
            .position(|group| group.contains(&name))
            .unwrap()
    };
    assert!(place("qkv") < place("scores") && place("mixed") < place("proj"));
}

/// A cache of keys and values may have a narrower type than the queries.
#[test]
fn keys_and_values_count_in_their_own_type() {
    let text = "input q : bf16[8, 32, 1, 128]\ninput k : f8[8, 8, 4096, 128]\n\
                input v : f8[8, 8, 4096, 128]\no = sdpa(q, k, v, enable_gqa=true)\n";
    let analysis = analysis_of(text, &Options::of_policy(Policy::Inductor));
    let kernel = analysis.partition.kernels.iter().next().unwrap();
    let shape = AttentionShape::of_kernel(&analysis.graph, kernel).unwrap();
    assert_eq!(
        shape.compulsory_bytes::<u64>(),
        analysis.fused.traffic.total
    );
    assert_eq!(shape.head_bytes(), 2 * 4096 * 128);
}
