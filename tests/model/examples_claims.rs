//! The parts of the sentence of an example that can be computed, made from what the engine finds.

use crate::examples::set_by_name;
use crate::examples_watch::{Found, found, fused, times, unfused, word};
use fuseline_core::analysis::limits::{Warning, limits};
use fuseline_core::analysis::measured::{Measurements, Variant};
use fuseline_core::fusion::horizontal::fuses_horizontally;
use fuseline_core::model::bound::Bound;
use fuseline_core::model::functions::Function;
use fuseline_core::{KernelId, Policy};
use fuseline_view::present::format::{format_bytes, format_seconds};
use std::path::Path;

/// Parts of the sentence of an example, for the sizes of `text`.
pub(crate) fn claims(id: &str, text: &str) -> Vec<String> {
    let rules = || found(text, Policy::Rules);
    match id {
        "residual_layer" => {
            let rules = rules();
            assert_eq!(
                rules.kernel_of("linear"),
                ["linear", "bias", "act", "output"]
            );
            assert_eq!(rules.on_chip(&["linear", "bias", "act"]), 3);
            vec!["between ops of one kernel, tensors stay on chip".into()]
        }
        // `the_saving_of_the_transformer_block_grows_with_its_length` computes both.
        "transformer_block" => vec!["saves 2.8 % to 95.2 %".into()],
        "exercise" => {
            let rules = rules();
            let counts = [rules.on_chip(&["y1", "y2", "y3"]), rules.ops() - 1].map(word);
            vec![format!("{} of the {} tensors", counts[0], counts[1])]
        }
        // `scores_become_two_thirds_of_the_fused_traffic_of_the_transformer` finds the size.
        "transformer" => {
            vec!["for S ≥ 2944 they are more than two thirds of the fused traffic".into()]
        }
        "diamond" => {
            let rules = rules();
            let (reads, writes) = rules.accesses(fused, &["y1"]);
            let readers = rules.0.graph.consumers[rules.tensor("y1")].len();
            let share = [word(readers), times(writes), times(reads)];
            assert_eq!(rules.kernel_of("relu"), ["relu", "gelu", "add"]);
            vec![format!(
                "A tensor with {} readers is written {} and read {}",
                share[0], share[1], share[2]
            )]
        }
        _ => claims_of_linear_layers(id, text),
    }
}

fn claims_of_linear_layers(id: &str, text: &str) -> Vec<String> {
    let rules = || found(text, Policy::Rules);
    match id {
        "linear_bias" => {
            let rules = rules();
            assert_eq!(rules.accesses(unfused, &["h"]), (1, 1));
            assert_eq!(rules.accesses(fused, &["h"]), (0, 0));
            Vec::new()
        }
        "linear_bias_relu" => {
            let (rules, compiler) = (rules(), found(text, Policy::Inductor));
            assert_eq!(compiler.kernel_of("a"), ["a", "y"]);
            vec![format!(
                "{} kernel under the textbook rules, {} under torch.compile",
                word(rules.kernels()),
                word(compiler.kernels())
            )]
        }
        "linear_bias_relu_dropout" => {
            let rules = rules();
            assert_eq!(rules.accesses(fused, &["mask"]).0, 1);
            assert_eq!(rules.accesses(unfused, &["mask"]).0, 1);
            Vec::new()
        }
        "linear_bias_gelu" => {
            let rules = rules();
            let only = &rules.0.fused.kernels[KernelId::new(0)];
            assert_eq!(only.placement.bound, Bound::Matrix);
            vec![format!(
                "{:.0} % of the memory traffic",
                rules.0.savings_pct
            )]
        }
        "mlp2" => {
            for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
                assert_eq!(found(text, policy).matmuls_of_a_kernel(), 1, "{policy:?}");
            }
            let (reads, writes) = rules().accesses(fused, &["r1"]);
            vec![
                "Two matmuls never share a kernel".into(),
                format!("written {} and read {}", times(writes), times(reads)),
            ]
        }
        "mlp" => {
            let rules = rules();
            let wide = ["h1", "h2", "h3"];
            vec![format!(
                "through memory {} instead of {}",
                times(rules.moves(fused, &wide)),
                times(rules.moves(unfused, &wide))
            )]
        }
        "swiglu" => {
            let rules = rules();
            assert_ne!(rules.kernel_of("gate"), rules.kernel_of("up"));
            assert!(rules.kernel_of("gate").contains(&"product"));
            vec!["Two matmuls meet in the product".into()]
        }
        _ => claims_of_hurting(id, text),
    }
}

/// Warnings of all kernels.
fn warnings(found: &Found) -> Vec<Warning> {
    let limits = limits(&found.0).unwrap();
    limits
        .into_iter()
        .flat_map(|kernel| kernel.warnings)
        .collect()
}

fn claims_of_hurting(id: &str, text: &str) -> Vec<String> {
    let rules = || found(text, Policy::Rules);
    let compiler = || found(text, Policy::Inductor);
    match id {
        "siblings" => {
            let compiler = compiler();
            assert!(fuses_horizontally(
                &compiler.0.graph,
                &compiler.0.partition.kernels[KernelId::new(0)]
            ));
            vec![format!(
                "{} kernels under the textbook rules, {} under torch.compile",
                word(rules().kernels()),
                word(compiler.kernels())
            )]
        }
        "few_rows" => {
            let rules = rules();
            let [
                Warning::LostParallelism {
                    blocks,
                    multiprocessors,
                    ..
                },
            ] = warnings(&rules)[..]
            else {
                panic!("{:?}", warnings(&rules));
            };
            vec![format!(
                "{} kernel of {blocks} blocks for the {multiprocessors} multiprocessors",
                word(rules.kernels())
            )]
        }
        "long_rows" => {
            let rules = rules();
            assert_eq!(rules.kernels(), 1);
            assert_eq!(found(text, Policy::Optimal).kernels(), 1);
            let [
                Warning::RowTooLong {
                    wanted_bytes,
                    available_bytes,
                },
            ] = warnings(&rules)[..]
            else {
                panic!("{:?}", warnings(&rules));
            };
            let [wanted, available] = [wanted_bytes, available_bytes].map(format_bytes);
            // For its mean and variance, and to be normalized.
            let reads = times(2);
            vec![
                format!("needs {wanted} on chip and a block of an A100 has {available}"),
                format!("reads each row {reads}"),
            ]
        }
        "recompute" => {
            let (compiler, rules) = (compiler(), rules());
            let warned = warnings(&compiler);
            assert!(
                matches!(warned[..], [Warning::Recompute { added_s, saved_s }] if added_s > saved_s)
            );
            // Fewer bytes, and more time.
            assert!(compiler.0.fused.traffic.total < rules.0.fused.traffic.total);
            assert!(compiler.0.fused.time_s > rules.0.fused.time_s);
            let figures = |found: &Found| {
                let fused = &found.0.fused;
                let bytes = format_bytes(fused.traffic.total);
                format!("{bytes} and at least {}", format_seconds(fused.time_s))
            };
            let chain = compiler.0.graph.op_named("first").unwrap();
            let partition = &compiler.0.partition;
            let kernels = partition.kernels.ids();
            let computed = kernels.filter(|&kernel| partition.computes(kernel, chain));
            vec![
                format!("computes the chain {}", times(computed.count())),
                "on an A100".into(),
                figures(&compiler),
                figures(&rules),
            ]
        }
        _ => claims_of_images(id, text),
    }
}

fn claims_of_images(id: &str, text: &str) -> Vec<String> {
    let rules = || found(text, Policy::Rules);
    let compiler = || found(text, Policy::Inductor);
    match id {
        "conv_bias" => {
            let rules = rules();
            // Written by the convolution, read by the add.
            assert_eq!(rules.accesses(unfused, &["c"]), (1, 1));
            assert_eq!(rules.on_chip(&["c"]), 1);
            Vec::new()
        }
        "conv_bn" => {
            assert_eq!(rules().kernels(), 1);
            Vec::new()
        }
        "conv_bn_relu" => {
            let rules = rules();
            vec![
                format!(
                    "{} kernels become {} under the textbook rules",
                    word(rules.ops()),
                    word(rules.kernels())
                ),
                format!("needs {}", word(compiler().kernels())),
            ]
        }
        "conv_bn_relu_maxpool" => {
            assert_eq!(rules().kernels(), 2);
            Vec::new()
        }
        "conv_relu" => {
            let rules = rules();
            let images = ["x", "c", "y"];
            let (reads, writes) = rules.accesses(fused, &images);
            let (reads_before, writes_before) = rules.accesses(unfused, &images);
            vec![format!(
                "written {} instead of {} and read {} less",
                times(writes),
                times(writes_before),
                times(reads_before - reads)
            )]
        }
        "resnet_block" | "l2_norm" | "resnet_bottleneck" => {
            let rules = rules();
            let mut said = vec![format!(
                "{} ops become {} kernels",
                word(rules.ops()),
                word(rules.kernels())
            )];
            if id == "resnet_bottleneck" {
                let (reads, writes) = rules.accesses(fused, &["x", "y"]);
                said.push(format!(
                    "read {} and written {}",
                    times(reads),
                    times(writes)
                ));
            }
            said
        }
        _ => claims_of_rows(id, text),
    }
}

fn claims_of_rows(id: &str, text: &str) -> Vec<String> {
    let rules = || found(text, Policy::Rules);
    match id {
        "add_relu" => {
            let rules = rules();
            let accesses = [fused, unfused].map(|run| rules.all_moves(run));
            vec![
                format!(
                    "{} accesses instead of {}",
                    word(accesses[0]),
                    word(accesses[1])
                ),
                format!("{:.1}× faster", measured_speedup(id)),
                "measured on an H200".into(),
            ]
        }
        "mul_add_relu" => {
            let rules = rules();
            let [before, after] = [unfused, fused].map(|run| word(rules.all_moves(run)));
            vec![format!("{before} accesses become {after}")]
        }
        "add_layernorm" => {
            assert_eq!(rules().on_chip(&["s"]), 1);
            Vec::new()
        }
        "layernorm_gelu" => {
            assert_eq!(rules().kernel_of("residual"), ["residual", "norm"]);
            Vec::new()
        }
        "softmax" => {
            let rules = rules();
            assert_eq!(rules.kernel_of("sub"), ["sub", "exp"]);
            assert_eq!(rules.kernels(), rules.ops() - 1);
            Vec::new()
        }
        "sigmoid_mul" => {
            let flops = Function::Sigmoid.row();
            let flops = usize::try_from(flops.flops_per_element).unwrap();
            vec![format!("takes {} FLOPs per element", word(flops))]
        }
        "rmsnorm_decomposed" => vec![format!(
            "The textbook rules need {} kernels, torch.compile {}",
            word(rules().kernels()),
            word(found(text, Policy::Inductor).kernels())
        )],
        _ => claims_of_attention_and_blocks(id, text),
    }
}

fn claims_of_attention_and_blocks(id: &str, text: &str) -> Vec<String> {
    let rules = || found(text, Policy::Rules);
    match id {
        "attn_scores" => {
            assert_eq!(rules().kernel_of("scores"), ["scores", "scaled"]);
            Vec::new()
        }
        "attn_values" => {
            let rules = rules();
            assert_eq!(rules.kernels(), rules.ops());
            Vec::new()
        }
        "sdpa_flash" => {
            let compiler = found(text, Policy::Inductor);
            assert_eq!(compiler.on_chip(&["scores", "scaled", "probs"]), 3);
            vec![format!(
                "all {} ops as {} kernel",
                word(compiler.ops()),
                word(compiler.kernels())
            )]
        }
        "attention" => {
            let rules = rules();
            let first = rules.kernel_of("qk");
            assert!(first.contains(&"scale") && first.contains(&"mask"));
            let scores = ["scores_raw", "scaled", "masked", "probs", "dropped"];
            let moves = rules.moves(fused, &scores);
            vec![format!("go through memory {}", times(moves))]
        }
        "multi_head" => {
            assert_eq!(rules().kernel_of("mixed"), ["mixed", "merged"]);
            Vec::new()
        }
        "gpt2" => {
            let optimum = found(text, Policy::Optimal);
            let attention = optimum.kernel_of("scores");
            assert!(attention.contains(&"probs") && attention.contains(&"mixed"));
            vec![
                format!("{} ops as a trace shows them", optimum.ops()),
                format!("needs {} kernels", word(optimum.kernels())),
            ]
        }
        "gpt2_layers" => {
            let [two, three, four] = [2, 3, 4].map(|layers| {
                let rules = found(&set_by_name(text, "L", layers), Policy::Rules);
                let kernels = u64::try_from(rules.kernels()).unwrap();
                [kernels, rules.0.fused.traffic.total]
            });
            for figure in 0..2 {
                assert_eq!(three[figure] - two[figure], four[figure] - three[figure]);
            }
            Vec::new()
        }
        "llama" => {
            let (rules, optimum) = (rules(), found(text, Policy::Optimal));
            let side = |side: &str| {
                let ops = rules.kernel_of(&format!("{side}_rope"));
                let own = ["1", "2", "_minus", "_turned", "_cos", "_sin", "_rope"];
                let own = own.iter().map(|part| format!("{side}{part}"));
                own.filter(|op| ops.contains(&op.as_str())).count()
            };
            assert_ne!(rules.kernel_of("q_rope"), rules.kernel_of("k_rope"));
            for side in ["q", "k"] {
                let fused = optimum.kernel_of(&format!("{side}_rope"));
                assert!(fused.contains(&format!("{side}_rows").as_str()));
            }
            vec![format!(
                "is {} ops for Q and {} for K, a kernel each under the textbook rules",
                word(side("q")),
                word(side("k"))
            )]
        }
        _ => Vec::new(),
    }
}

/// Time without fusion over time with it, as a GPU needed them.
fn measured_speedup(pattern: &str) -> f64 {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/measured/h200.json");
    let text = std::fs::read_to_string(file).unwrap();
    let measured: Measurements = serde_json::from_str(&text).unwrap();
    let time_us = |variant: Variant| {
        let mut rows = measured.rows.iter();
        let row = rows.find(|row| row.pattern == pattern && row.variant == variant);
        row.unwrap().time_us
    };
    time_us(Variant::Eager) / time_us(Variant::Inductor)
}
