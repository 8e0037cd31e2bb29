//! Every example under every policy: kernels, and bytes through memory at the sizes of its text.
//!
//! `examples.rs` computes a few by hand. Here the figures are listed side by side, so that the
//! effect of a changed policy on all of them is visible.

use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::attention::find;
use fuseline_core::fusion::certificate::CertificateScope;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Objective, OpId, Options, Policy, analyze_program};

/// Example, then kernels and bytes of each of [`POLICIES`].
#[rustfmt::skip]
const FIGURES: &[(&str, [(usize, u64); 4])] = &[
    ("residual_layer", [(4, 304_089_088), (1, 69_208_064), (2, 169_871_360), (1, 69_208_064)]),
    ("transformer_block", [(21, 2_885_681_152), (11, 1_946_157_056), (10, 1_006_632_960), (11, 1_946_157_056)]),
    ("exercise", [(4, 71_311_360), (2, 37_756_928), (3, 54_534_144), (2, 37_756_928)]),
    ("transformer", [(14, 2_298_478_592), (9, 1_962_934_272), (8, 973_078_528), (9, 1_962_934_272)]),
    ("diamond", [(4, 20_971_520), (2, 10_485_760), (2, 10_485_760), (1, 6_291_456)]),
    ("blank", [(2, 10_485_760), (1, 6_291_456), (2, 10_485_760), (1, 6_291_456)]),
    ("linear_bias", [(2, 167_780_352), (1, 100_671_488), (1, 100_671_488), (1, 100_671_488)]),
    ("linear_bias_relu", [(3, 234_889_216), (1, 100_671_488), (2, 167_780_352), (1, 100_671_488)]),
    ("linear_bias_relu_dropout", [(4, 335_552_512), (1, 134_225_920), (2, 201_334_784), (1, 134_225_920)]),
    ("linear_bias_gelu", [(3, 234_889_216), (1, 100_671_488), (2, 167_780_352), (1, 100_671_488)]),
    ("mlp2", [(5, 251_668_480), (2, 100_673_536), (3, 167_782_400), (2, 100_673_536)]),
    ("mlp", [(4, 234_891_264), (2, 100_673_536), (3, 167_782_400), (2, 100_673_536)]),
    ("swiglu", [(5, 1_092_616_192), (3, 731_906_048), (4, 912_261_120), (3, 731_906_048)]),
    ("conv_bias", [(2, 51_454_080), (1, 25_763_968), (2, 51_454_080), (1, 25_763_968)]),
    ("conv_bn", [(2, 51_454_208), (1, 25_764_096), (2, 51_454_208), (1, 25_764_096)]),
    ("conv_bn_relu", [(4, 102_834_432), (1, 25_764_096), (2, 51_454_208), (1, 25_764_096)]),
    ("conv_relu", [(2, 51_453_952), (1, 25_763_840), (2, 51_453_952), (1, 25_763_840)]),
    ("conv_bn_relu_maxpool", [(5, 118_890_752), (2, 41_820_416), (3, 67_510_528), (2, 41_820_416)]),
    ("resnet_block", [(7, 192_823_808), (2, 64_373_248), (4, 115_753_472), (2, 64_373_248)]),
    ("attn_scores", [(3, 679_477_248), (2, 411_041_792), (2, 411_041_792), (2, 411_041_792)]),
    ("attn_values", [(2, 411_041_792), (2, 411_041_792), (2, 411_041_792), (2, 411_041_792)]),
    ("sdpa_flash", [(4, 822_083_584), (3, 553_648_128), (1, 16_777_216), (3, 553_648_128)]),
    ("attention", [(6, 1_358_954_496), (4, 822_083_584), (3, 553_648_128), (3, 553_648_128)]),
    ("multi_head", [(7, 849_348_608), (4, 564_135_936), (5, 572_524_544), (4, 564_135_936)]),
    ("add_relu", [(2, 671_088_640), (1, 402_653_184), (1, 402_653_184), (1, 402_653_184)]),
    ("add_layernorm", [(2, 671_121_408), (1, 402_685_952), (1, 402_685_952), (1, 402_685_952)]),
    ("mul_add_relu", [(3, 1_073_741_824), (1, 536_870_912), (1, 536_870_912), (1, 536_870_912)]),
    ("sigmoid_mul", [(2, 671_088_640), (1, 402_653_184), (1, 402_653_184), (1, 402_653_184)]),
    ("layernorm_gelu", [(3, 58_724_352), (2, 41_947_136), (1, 25_169_920), (1, 25_169_920)]),
    ("rmsnorm_decomposed", [(6, 939_638_784), (2, 402_702_336), (1, 268_451_840), (1, 268_451_840)]),
    ("l2_norm", [(4, 335_609_856), (2, 201_359_360), (1, 134_217_728), (1, 134_217_728)]),
    ("softmax", [(5, 536_936_448), (4, 402_718_720), (1, 134_217_728), (1, 134_217_728)]),
    ("siblings", [(3, 402_702_336), (3, 402_702_336), (1, 134_266_880), (3, 402_702_336)]),
    ("few_rows", [(2, 4_194_304), (1, 2_097_152), (2, 3_145_728), (1, 2_097_152)]),
    ("long_rows", [(2, 671_350_784), (1, 402_915_328), (1, 402_915_328), (1, 402_915_328)]),
    ("recompute", [(7, 805_322_752), (3, 268_451_840), (2, 134_234_112), (2, 201_342_976)]),
    ("gpt2", [(51, 692_119_552), (20, 327_198_720), (12, 241_201_152), (9, 213_936_128)]),
    ("gpt2_layers", [(253, 3_570_439_680), (145, 1_984_992_768), (133, 2_124_977_664), (109, 1_871_746_560)]),
    ("llama", [(46, 3_995_140_096), (16, 2_124_447_744), (16, 2_308_980_736), (12, 2_048_933_888)]),
    ("resnet_bottleneck", [(10, 616_703_488), (3, 205_661_696), (6, 359_802_368), (3, 205_661_696)]),
];

const POLICIES: [Policy; 4] = [
    Policy::None,
    Policy::Rules,
    Policy::Inductor,
    Policy::Optimal,
];

/// Kernels and bytes of the optimum where attention may run as one kernel and that changes them.
const WITH_ATTENTION: &[(&str, (usize, u64))] = &[
    ("transformer_block", (9, 872_415_232)),
    ("transformer", (7, 838_860_800)),
    ("sdpa_flash", (1, 16_777_216)),
    ("attention", (1, 16_777_216)),
    ("multi_head", (2, 27_265_024)),
    ("gpt2", (7, 79_718_400)),
    ("gpt2_layers", (85, 663_787_008)),
    ("llama", (10, 975_192_064)),
];

/// Where the compiler moves fewer bytes than any legal kernels: it joins siblings, or computes ops
/// twice.
const BELOW_THE_OPTIMUM: &[&str] = &["siblings", "recompute"];

/// Without attention as one kernel, except where the compiler recognizes it.
fn analysis(text: &str, policy: Policy) -> Analysis {
    let mut options = Options::of_policy(policy);
    options.fusion.attention_search = false;
    analysis_under(text, &options)
}

fn analysis_under(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&parse(text).program, options);
    assert_eq!(outcome.diagnostics, []);
    outcome.analysis.unwrap()
}

#[test]
fn kernels_and_bytes_of_every_example() {
    let figures = |text: &str| {
        POLICIES.map(|policy| {
            let fused = analysis(text, policy).fused;
            (fused.kernels.len(), fused.traffic.total)
        })
    };
    let found: Vec<_> = EXAMPLES.iter().map(|e| (e.id, figures(e.text))).collect();
    assert_eq!(found, FIGURES);
}

/// The optimum is proven, and the rules never need less.
#[test]
fn the_optimum_of_every_example_is_proven() {
    for (example, (id, figures)) in EXAMPLES.iter().zip(FIGURES) {
        let certificate = analysis(example.text, Policy::Optimal).certificate.unwrap();
        assert!(certificate.is_optimal, "{}", example.id);
        let [none, rules, _, optimal] = *figures;
        assert!(optimal.1 <= rules.1 && rules.1 <= none.1, "{id}");
    }
}

/// Where the compiler may use a flash kernel, the optimum may, too.
#[test]
fn attention_as_one_kernel_is_part_of_the_optimum() {
    for (example, (id, figures)) in EXAMPLES.iter().zip(FIGURES) {
        let optimum = analysis_under(example.text, &Options::of_policy(Policy::Optimal));
        let certificate = optimum.certificate.unwrap();
        assert!(certificate.is_optimal, "{id}");
        let [_, _, inductor, plain] = *figures;
        let expected = WITH_ATTENTION.iter().find(|(named, _)| named == id);
        let expected = expected.map_or(plain, |&(_, figures)| figures);
        let found = (optimum.fused.kernels.len(), optimum.fused.traffic.total);
        assert_eq!(found, expected, "{id}");
        let is_below = BELOW_THE_OPTIMUM.contains(id);
        assert_eq!(inductor.1 < found.1, is_below, "{id}");
        let has_attention = !find(&optimum.graph).is_empty();
        let scope = if has_attention {
            CertificateScope::AttentionAllowed
        } else {
            CertificateScope::LegalKernels
        };
        assert_eq!(certificate.scope, scope, "{id}");
    }
}

/// The known result: layer norm, QKV, scores, softmax, values, projection, layer norm, and two
/// kernels of the MLP.
#[test]
fn a_gpt2_block_has_nine_kernels_at_the_optimum() {
    let gpt2 = EXAMPLES.iter().find(|e| e.id == "gpt2").unwrap();
    let analysis = analysis(gpt2.text, Policy::Optimal);
    assert_eq!(analysis.graph.ops.len(), 51);
    let name = |&op: &OpId| analysis.graph.ops[op].name.as_str();
    let groups = analysis.partition.kernels.iter();
    let kernels: Vec<String> = groups
        .map(|ops| ops.iter().map(name).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        kernels,
        [
            "mean1 center1 square1 var1 eps1 rsqrt1 norm1 scaled1 ln1",
            "qkv qkv_bias q_rows q k_rows k v_rows v",
            "scores",
            "scaled masked probs kept",
            "mixed merged",
            "proj proj_bias proj_drop resid1",
            "mean2 center2 square2 var2 eps2 rsqrt2 norm2 scaled2 ln2",
            "fc1 fc1_bias cube small inner outer tanh plus_one gate gelu",
            "fc2 fc2_bias fc2_drop y",
        ]
    );
}

/// Bytes of those nine kernels, tensor by tensor.
#[test]
fn the_bytes_of_the_gpt2_block_by_hand() {
    let (s, h, heads) = (1024_u64, 1024_u64, 16_u64);
    let (row, scores) = (2 * s * h, 2 * heads * s * s);
    let weight = 2 * h * h;
    let expected = [
        2 * row + 2 * 2 * h,                    // x; gamma, beta
        row + 3 * weight + 2 * 3 * h + 3 * row, // ln1; w, b; q, k, v
        2 * row + scores,                       // q, k
        2 * scores,
        scores + row + row,               // v; merged
        row + weight + 2 * h + row + row, // merged; w, b; x; resid1
        2 * row + 2 * 2 * h,
        row + 4 * weight + 2 * 4 * h + 4 * row,   // ln2; w, b
        4 * row + 4 * weight + 2 * h + row + row, // gelu; w, b; resid1
    ];
    let gpt2 = EXAMPLES.iter().find(|e| e.id == "gpt2").unwrap();
    let kernels = analysis(gpt2.text, Policy::Optimal).fused.kernels;
    let moved: Vec<u64> = kernels.iter().map(fuseline_core::Kernel::bytes).collect();
    assert_eq!(moved, expected);
}

#[test]
fn the_pages_budget_proves_every_example_under_all_options() {
    for example in EXAMPLES {
        let program = parse(example.text).program;
        for bits in 0..24 {
            let mut options = Options::of_policy(Policy::Optimal);
            options.fusion.horizontal = bits & 1 != 0;
            options.fusion.prologue = bits & 2 != 0;
            options.fusion.attention = bits & 4 != 0;
            options.fusion.attention_search = bits < 16;
            // A search with and without attention visits the states of two.
            let share = if bits < 16 && bits & 4 == 0 { 1 } else { 2 };
            options.fusion.budget_states = PAGE_BUDGET_STATES / share;
            if bits & 8 != 0 {
                options.fusion.objective = Objective::Time;
            }
            let analysis = analyze_program(&program, &options).analysis.unwrap();
            let certificate = analysis.certificate.unwrap();
            assert!(certificate.is_optimal, "{}: {certificate:?}", example.id);
        }
    }
}
