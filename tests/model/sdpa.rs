//! `sdpa`: attention as one op, beside attention written as its ops.

use crate::attention::with_attention;
use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::analysis::limits::limits;
use fuseline_core::cost::roofline::unit_works;
use fuseline_core::fusion::attention::{AttentionShape, first_attention};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, DType, KernelId, OpId, Options, Policy, analyze_program, device};
use fuseline_view::present::explain::flops_text;

const CALL: &str = "\
input q : bf16[2, 8, 512, 64]
input k : bf16[2, 2, 256, 64]
input v : bf16[2, 2, 256, 64]
o = sdpa(q, k, v, enable_gqa=true)
";

fn analysis(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&parse(text).program, options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

/// A kernel skips what a causal mask hides, so a bound does not count it: of as many keys as
/// queries nearly half. No bound is longer than the predicted time, which was measured.
#[test]
fn the_bound_of_a_causal_call_counts_the_scores_that_its_mask_shows() {
    for (queries, keys, shown) in [
        (8192_u128, 8192_u128, 8192 * 8193 / 2),
        (4, 8, 1 + 2 + 3 + 4),
        (8, 4, 1 + 2 + 3 + 4 + 4 * 4),
        (1, 16, 1),
    ] {
        let text = format!(
            "input q : bf16[2, 16, {queries}, 128]\ninput k : bf16[2, 16, {keys}, 128]\n\
             input v : bf16[2, 16, {keys}, 128]\ny = sdpa(q, k, v, causal=true)"
        );
        let options = Options {
            device: device("h200").unwrap().clone(),
            ..with_attention(Policy::None)
        };
        let analysis = analysis(&text, &options);
        let kernel = analysis.unfused.of_lone_op(OpId::new(0));
        let [_, matrix, vector, _] = unit_works(&options, kernel.work, 0);
        assert_eq!(matrix.amount(), 32 * shown * 4 * 128, "{queries} x {keys}");
        assert_eq!(vector.amount(), 32 * shown * 6, "{queries} x {keys}");
        // Short calls find their tensors in the cache, which the bound does not.
        let predicted = analysis.predicted.as_ref().unwrap();
        assert!(queries < 8192 || kernel.placement.time_s < predicted.unfused_s);
    }
}

#[test]
fn it_has_the_flops_of_both_products_and_of_the_softmax() {
    let of = |text: &str| {
        analysis(text, &with_attention(Policy::None))
            .unfused
            .of_lone_op(OpId::new(0))
            .clone()
    };
    let kernel = of(CALL);
    let scores = 2 * 8 * 512 * 256_u128;
    assert_eq!(kernel.work.matrix_flops, 4 * scores * 64);
    assert_eq!(kernel.work.vector_flops, 6 * scores);
    assert_eq!(
        kernel.bytes_read,
        2 * (2 * 8 * 512 * 64 + 2 * 2 * 2 * 256 * 64)
    );
    assert_eq!(kernel.bytes_written, 2 * 2 * 8 * 512 * 64);
    // A causal call counts all scores, as `torch.utils.flop_counter` does.
    let causal = of(&CALL.replace("enable_gqa", "causal=true, enable_gqa"));
    assert_eq!(causal.work.flops(), kernel.work.flops());
    let masked = of(&format!(
        "input m : bool[512, 256]\n{}",
        CALL.replace("v, ", "v, m, ")
    ));
    assert_eq!(masked.work.vector_flops, 7 * scores);
    assert_eq!(masked.bytes_read, kernel.bytes_read + 512 * 256);
    // Rows of V of another length.
    let wide = CALL.replace("v : bf16[2, 2, 256, 64]", "v : bf16[2, 2, 256, 32]");
    assert_eq!(of(&wide).work.matrix_flops, 2 * scores * (64 + 32));
    let text = flops_text(
        &analysis(CALL, &with_attention(Policy::None)).graph,
        OpId::new(0),
    );
    assert_eq!(text, "262 for each of 2,097,152 scores = 549 MFLOP");
}

#[test]
fn it_takes_as_long_as_attention_that_is_fused_of_its_ops() {
    let shared = "input q : bf16[2, 8, 512, 64]\ninput k : bf16[2, 8, 256, 64]\ninput v : bf16[2, 8, 256, 64]\n";
    let call = format!("{shared}o = sdpa(q, k, v)\n");
    let ops = format!(
        "{shared}s = matmul(q, k, transpose_b=true)\nt = scale(s, factor=1/8)\np = softmax(t)\no = matmul(p, v)\n"
    );
    let [call, ops] = [call, ops].map(|text| analysis(&text, &with_attention(Policy::Rules)));
    let only = KernelId::new(0);
    let time = |analysis: &Analysis| analysis.predicted.as_ref().unwrap().kernels[only].time_s;
    assert_eq!(call.fused.kernels.len(), 1);
    assert_eq!(ops.fused.kernels.len(), 1);
    assert!((time(&call) - time(&ops)).abs() < 1e-12);
    let shape = |analysis: &Analysis| {
        AttentionShape::of_kernel(&analysis.graph, &analysis.partition.kernels[only]).unwrap()
    };
    assert_eq!(shape(&call), shape(&ops));
    let blocks = |analysis: &Analysis| limits(analysis).unwrap()[only].blocks;
    assert_eq!(blocks(&call), blocks(&ops));
    let grouped = analysis(CALL, &with_attention(Policy::Rules));
    assert_eq!((shape(&grouped).heads, shape(&grouped).group), (16, 4));
    for analysis in [&call, &ops, &grouped] {
        let found = first_attention(&analysis.graph).unwrap();
        assert_eq!(found.shape, shape(analysis));
        assert_eq!(found.dtype, Some(DType::Bf16));
    }
}

/// Lists in which one kernel mark states the call of attention, with the call as one op instead.
#[test]
fn the_compiler_launches_as_much_around_it_as_around_the_stated_call() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/model/programs/");
    for name in [
        "attention_call_in_f32",
        "gated_cross_attention",
        "encoder_layer_norm_first",
    ] {
        let stated = std::fs::read_to_string(format!("{folder}{name}.fuse")).unwrap();
        let operand = |line: &str, place: usize| {
            let inside = line.split(['(', ')']).nth(1).unwrap();
            inside.split(", ").nth(place).unwrap().to_owned()
        };
        let mut called = String::new();
        let mut factors = Vec::new();
        for line in stated.lines() {
            if !line.ends_with("@kernel 1") {
                called.push_str(line);
                called.push('\n');
            } else if line.contains("_scores ") {
                factors = vec![operand(line, 0), operand(line, 1)];
            } else if line.contains("matmul(") {
                factors.push(operand(line, 1));
                let (output, _) = line.split_once('=').unwrap();
                called.extend([output, "= sdpa(", &factors.join(", "), ")\n"]);
            }
        }
        let launches = |text: &str| analysis(text, &options(DEFAULT)).fused.launches;
        assert!(called.contains("sdpa(") && called != stated);
        assert_eq!(launches(&called), launches(&stated), "{called}");
    }
}
