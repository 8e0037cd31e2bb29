//! What an example tells to watch for: each number in it is the engine's.

use fuseline_core::analysis::limits::{Warning, limits};
use fuseline_core::analysis::measured::{Measurements, Variant};
use fuseline_core::examples::{EXAMPLES, Example, example};
use fuseline_core::fusion::siblings::joins_siblings;
use fuseline_core::model::op_type::OpType;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Execution, KernelId, Options, Policy, TensorId, analyze_program};
use fuseline_view::present::format::{format_bytes, format_seconds};
use std::path::Path;

/// An example under a policy with its default options.
struct Found(Analysis);

fn found(id: &str, policy: Policy) -> Found {
    let text = example(id).unwrap().text;
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    assert_eq!(outcome.diagnostics, [], "{id}");
    Found(outcome.analysis.unwrap())
}

impl Found {
    fn ops(&self) -> usize {
        self.0.graph.ops.len()
    }

    fn kernels(&self) -> usize {
        self.0.fused.kernels.len()
    }

    fn tensor(&self, name: &str) -> TensorId {
        let mut ids = self.0.graph.tensors.ids();
        ids.find(|&id| self.0.graph.tensor_name(id) == name)
            .unwrap()
    }

    /// Kernels that read, and kernels that write these tensors.
    fn accesses(&self, run: fn(&Analysis) -> &Execution, names: &[&str]) -> (usize, usize) {
        let is_one = |tensor: TensorId| names.contains(&self.0.graph.tensor_name(tensor));
        let kernels = || run(&self.0).kernels.iter();
        let reads = kernels().flat_map(|kernel| &kernel.traffic.reads);
        let writes = kernels().flat_map(|kernel| &kernel.traffic.writes);
        (
            reads.filter(|access| is_one(access.tensor)).count(),
            writes.filter(|access| is_one(access.tensor)).count(),
        )
    }

    /// Times that these tensors move.
    fn moves(&self, run: fn(&Analysis) -> &Execution, names: &[&str]) -> usize {
        let (reads, writes) = self.accesses(run, names);
        reads + writes
    }

    fn all_moves(&self, run: fn(&Analysis) -> &Execution) -> usize {
        let kernels = run(&self.0).kernels.iter();
        kernels
            .map(|kernel| kernel.traffic.reads.len() + kernel.traffic.writes.len())
            .sum()
    }

    /// The names of the ops that share a kernel with this one.
    fn kernel_of(&self, op: &str) -> Vec<&str> {
        let op = self.0.graph.op_named(op).unwrap();
        let kernel = self.0.partition.kernel_of[op];
        let ops = self.0.partition.kernels[kernel].iter();
        ops.map(|&op| self.0.graph.ops[op].name.as_str()).collect()
    }

    /// The largest number of matmuls in a kernel.
    fn matmuls_of_a_kernel(&self) -> usize {
        let is_matmul = |op| self.0.graph.ops[op].op_type == OpType::Matmul;
        let kernels = self.0.partition.kernels.iter();
        let counts = kernels.map(|ops| ops.iter().filter(|&&op| is_matmul(op)).count());
        counts.max().unwrap()
    }
}

fn unfused(analysis: &Analysis) -> &Execution {
    &analysis.unfused
}

fn fused(analysis: &Analysis) -> &Execution {
    &analysis.fused
}

fn word(count: usize) -> String {
    const WORDS: [&str; 11] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    WORDS
        .get(count)
        .map_or_else(|| count.to_string(), |&word| word.to_owned())
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", word(count)),
    }
}

/// Parts of the sentence of an example, made from what the engine finds.
fn claims(id: &str) -> Vec<String> {
    let rules = || found(id, Policy::Rules);
    let compiler = || found(id, Policy::Inductor);
    match id {
        "exercise" => {
            let rules = rules();
            let between = ["y1", "y2", "y3"].map(|name| rules.tensor(name));
            let on_chip = between.iter().filter(|&&t| rules.0.tensors[t].is_on_chip);
            let counts = [on_chip.count(), rules.ops() - 1].map(word);
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
        "linear_bias" => {
            let rules = rules();
            assert_eq!(rules.kernels(), 1);
            Vec::new()
        }
        "linear_bias_relu" => vec![format!(
            "{} kernel by the rules, {} by the compiler",
            word(rules().kernels()),
            word(compiler().kernels())
        )],
        "linear_bias_relu_dropout" => {
            let rules = rules();
            assert_eq!(rules.accesses(fused, &["mask"]).0, 1);
            assert_eq!(rules.accesses(unfused, &["mask"]).0, 1);
            Vec::new()
        }
        "linear_bias_gelu" => vec![format!("{:.0} % fewer bytes", rules().0.savings_pct)],
        "mlp2" => {
            for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
                assert_eq!(found(id, policy).matmuls_of_a_kernel(), 1, "{policy:?}");
            }
            let (reads, writes) = rules().accesses(fused, &["r1"]);
            assert_eq!(reads, writes);
            vec![
                "Two matmuls never share a kernel".into(),
                format!("written and read {}", times(reads)),
            ]
        }
        "mlp" => {
            let rules = rules();
            let elements = |name: &str| rules.0.graph.tensors[rules.tensor(name)].elements();
            let wider = elements("h1").unwrap() / elements("x").unwrap();
            let wide = ["h1", "h2", "h3"];
            vec![
                format!("{} times as wide", word(usize::try_from(wider).unwrap())),
                format!(
                    "moves {} instead of {}",
                    times(rules.moves(fused, &wide)),
                    times(rules.moves(unfused, &wide))
                ),
            ]
        }
        "swiglu" => {
            let rules = rules();
            assert_ne!(rules.kernel_of("gate"), rules.kernel_of("up"));
            assert!(rules.kernel_of("gate").contains(&"product"));
            vec!["Only one of the two matmuls".into()]
        }
        _ => claims_of_hurting(id),
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

fn claims_of_hurting(id: &str) -> Vec<String> {
    let rules = || found(id, Policy::Rules);
    let compiler = || found(id, Policy::Inductor);
    match id {
        "siblings" => {
            let compiler = compiler();
            assert!(joins_siblings(
                &compiler.0.graph,
                &compiler.0.partition.kernels[KernelId::new(0)]
            ));
            vec![format!(
                "{} kernels by the rules, {} by the compiler",
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
                },
            ] = warnings(&rules)[..]
            else {
                panic!("{:?}", warnings(&rules));
            };
            vec![format!(
                "{} kernel of {blocks} blocks for {multiprocessors} multiprocessors",
                word(rules.kernels())
            )]
        }
        "long_rows" => {
            let rules = rules();
            assert_eq!(rules.kernels(), 1);
            assert_eq!(found(id, Policy::Optimal).kernels(), rules.ops());
            let [
                Warning::RowTooLong {
                    wanted_bytes,
                    available_bytes,
                },
            ] = warnings(&rules)[..]
            else {
                panic!("{:?}", warnings(&rules));
            };
            vec![format!(
                "needs {} on chip where a block has {}",
                format_bytes(wanted_bytes),
                format_bytes(available_bytes)
            )]
        }
        "recompute" => {
            let (compiler, optimum) = (compiler(), found(id, Policy::Optimal));
            let warned = warnings(&compiler);
            assert!(
                matches!(warned[..], [Warning::Recompute { added_s, saved_s }] if added_s > saved_s)
            );
            // Fewer bytes, and more time.
            assert!(compiler.0.fused.time_s > optimum.0.fused.time_s);
            let figures = |found: &Found| {
                let fused = &found.0.fused;
                [
                    format_bytes(fused.traffic.total),
                    format_seconds(fused.time_s),
                ]
            };
            let ([bytes, time], [stored_bytes, stored_time]) =
                (figures(&compiler), figures(&optimum));
            vec![
                format!("{bytes} in {time} at least"),
                format!("{stored_bytes} in {stored_time}"),
            ]
        }
        _ => claims_of_images(id),
    }
}

fn claims_of_images(id: &str) -> Vec<String> {
    let rules = || found(id, Policy::Rules);
    let compiler = || found(id, Policy::Inductor);
    match id {
        "conv_bn_relu" => {
            let rules = rules();
            vec![
                format!(
                    "{} kernels become {} by the rules",
                    word(rules.ops()),
                    word(rules.kernels())
                ),
                format!("needs {}", word(compiler().kernels())),
            ]
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
        _ => claims_of_attention_and_blocks(id),
    }
}

fn claims_of_attention_and_blocks(id: &str) -> Vec<String> {
    let rules = || found(id, Policy::Rules);
    let compiler = || found(id, Policy::Inductor);
    match id {
        "sdpa_flash" => {
            let compiler = compiler();
            let bytes = |names: &[&str]| -> String {
                let ids = names.iter().map(|name| compiler.tensor(name));
                let bytes = ids.map(|id| compiler.0.graph.tensors[id].bytes().unwrap());
                let mega = bytes.sum::<u64>() as f64 / 1e6;
                format!("{mega:.0} MB")
            };
            vec![
                format!(
                    "Q, K and V are {} and the scores {}",
                    bytes(&["q", "k", "v"]),
                    bytes(&["scores"])
                ),
                format!(
                    "{} flash kernel in the place of all {} ops",
                    word(compiler.kernels()),
                    word(compiler.ops())
                ),
            ]
        }
        "attention" => {
            let rules = rules();
            let first = rules.kernel_of("qk");
            assert!(first.contains(&"scale") && first.contains(&"mask"));
            let square = rules.0.graph.tensors.ids().filter(|&id| {
                let shape = rules.0.graph.tensor_shape(id).unwrap();
                shape[shape.len() - 1] == shape[shape.len() - 2]
            });
            let names: Vec<&str> = square.map(|id| rules.0.graph.tensor_name(id)).collect();
            let moves = rules.moves(fused, &names);
            vec![format!("go through memory {}", times(moves))]
        }
        "add_relu" => {
            let rules = rules();
            let accesses = [fused, unfused].map(|run| rules.all_moves(run));
            vec![
                format!(
                    "{} accesses instead of {}",
                    word(accesses[0]),
                    word(accesses[1])
                ),
                format!("{:.1} times as fast, as measured", measured_speedup(id)),
            ]
        }
        "mul_add_relu" => {
            let rules = rules();
            let [before, after] = [unfused, fused].map(|run| word(rules.all_moves(run)));
            vec![format!("{before} accesses become {after}")]
        }
        "sigmoid_mul" => {
            let flops = fuseline_core::model::functions::find("sigmoid").unwrap();
            let flops = usize::try_from(flops.flops_per_element).unwrap();
            vec![format!("costs {} operations an element", word(flops))]
        }
        "rmsnorm_decomposed" => vec![format!(
            "The rules need {} kernels, the compiler {}",
            word(rules().kernels()),
            word(compiler().kernels())
        )],
        "gpt2" => {
            let optimum = found(id, Policy::Optimal);
            let attention = optimum.kernel_of("scores");
            assert!(attention.contains(&"probs") && attention.contains(&"mixed"));
            vec![
                format!("{} ops as a trace shows them", optimum.ops()),
                format!(
                    "the optimum in bytes has {} kernels",
                    word(optimum.kernels())
                ),
            ]
        }
        "llama" => {
            let (rules, optimum) = (rules(), found(id, Policy::Optimal));
            let side = |side: &str| {
                let ops = rules.kernel_of(&format!("{side}_rope"));
                let own = ["1", "2", "_minus", "_turned", "_cos", "_sin", "_rope"];
                let own = own.iter().map(|part| format!("{side}{part}"));
                own.filter(|op| ops.contains(&op.as_str())).count()
            };
            assert_eq!(side("q"), side("k"));
            assert!(optimum.kernel_of("q_rope").contains(&"q_rows"));
            let last = |name: &str| {
                *rules
                    .0
                    .graph
                    .tensor_shape(rules.tensor(name))
                    .unwrap()
                    .last()
                    .unwrap()
            };
            vec![
                format!("is {} ops a side, one kernel by the rules", word(side("q"))),
                format!("columns d/{} apart", last("q") / last("q1")),
            ]
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

/// The words of a text that count something, beside `one`.
fn counts(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '%');
    let is_count = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            || (2..=10).any(|count| self::word(count).eq_ignore_ascii_case(word))
            || ["once", "twice", "half", "third", "thirds", "quarter"].contains(word)
    };
    words.filter(is_count).collect()
}

#[test]
fn every_number_that_an_example_tells_is_the_engines() {
    for Example { id, watch, .. } in EXAMPLES {
        let mut rest = watch.to_lowercase();
        for claim in claims(id) {
            let claim = claim.to_lowercase();
            assert!(
                rest.contains(&claim),
                "{id}: {watch:?} does not say {claim:?}"
            );
            rest = rest.replacen(&claim, "", 1);
        }
        assert_eq!(
            counts(&rest),
            [""; 0],
            "{id}: no claim has these of {watch:?}"
        );
    }
}
