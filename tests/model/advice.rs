//! What would save time: each line is priced as following it turns out.

use crate::random_graph::fusable_ops;
use crate::why::under;
use fuseline_core::analysis::advice::{Advice, advise};
use fuseline_core::analysis::by_hand::{self, KernelsInText};
use fuseline_core::analysis::launches::{Launcher, launch_timeline};
use fuseline_core::analysis::why::Why;
use fuseline_core::examples::{EXAMPLES, NEXT, example};
use fuseline_core::notation::import::program_of_ops;
use fuseline_core::notation::{parse, print};
use fuseline_core::{
    Analysis, F32Matmul, KernelId, Objective, Options, Policy, analyze_program, device,
};
use fuseline_view::present::advice::{AdviceRow, advice_rows};
use fuseline_view::present::format::format_bytes;
use fuseline_view::present::manual::{Change, propose};
use proptest::prelude::*;
use strum::VariantArray;

pub(crate) fn analysis(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&parse(text).program, options);
    outcome.analysis.unwrap()
}

pub(crate) fn told(text: &str, options: &Options) -> Vec<AdviceRow> {
    with_shown(text, options, advice_rows)
}

/// What `f` makes of a text that is shown under these options.
pub(crate) fn with_shown<T>(
    text: &str,
    options: &Options,
    f: impl FnOnce(KernelsInText<'_>) -> T,
) -> T {
    let program = parse(text).program;
    let outcome = analyze_program(&program, options);
    f(KernelsInText {
        text,
        program: &program,
        analysis: outcome.analysis.as_ref().unwrap(),
        statement_of_op: &outcome.statement_of_op,
    })
}

pub(crate) fn on(id: &str, policy: Policy) -> Options {
    Options {
        device: device(id).unwrap().clone(),
        ..under(policy)
    }
}

/// The analysis after an advice is followed, as *Try it* does.
fn followed(advice: Advice, shown: KernelsInText<'_>, options: &Options) -> Analysis {
    let mut then = options.clone();
    let mut text = shown.text.to_owned();
    match advice {
        Advice::Compile => then.policy = Policy::Inductor,
        Advice::Attention => then.fusion.attention = true,
        Advice::MaxAutotune => then.fusion.max_autotune = true,
        Advice::Tf32 => then.conventions.f32_matmul = F32Matmul::Tf32,
        Advice::Merge(a, b) => {
            let change = Change::MergeOnTop(a, b);
            text = propose(change, shown).text.unwrap();
            then = change.options_after(options);
        }
        Advice::CudaGraph => {}
        Advice::JoinProducts(_)
        | Advice::F8Products
        | Advice::Int8Weights
        | Advice::LargerBatch { .. } => text = advice.text(&text, shown.program).unwrap(),
    }
    analysis(&text, &then)
}

/// A merge on top of a policy leaves its other kernels as they are, in a block those of other
/// statements.
fn assert_others_stay(
    [before, after]: [&Analysis; 2],
    merged: [KernelId; 2],
    is_without_blocks: bool,
) {
    if !is_without_blocks {
        assert!(after.partition.kernels.len() < before.partition.kernels.len());
        return;
    }
    assert_eq!(
        after.partition.kernels.len() + 1,
        before.partition.kernels.len()
    );
    for kernel in before.partition.kernels.ids() {
        let ops = &before.partition.kernels[kernel];
        let is_kept = after.partition.kernels.iter().any(|other| other == ops);
        assert!(is_kept || merged.contains(&kernel), "{ops:?}");
    }
}

/// Follows each advice and compares what came of it with what was promised. Returns the advice.
pub(crate) fn assert_promises_are_kept(text: &str, options: &Options) -> Vec<Advice> {
    with_shown(text, options, |shown| {
        let before = shown.analysis;
        let advised = advise(shown);
        assert!(advised.is_sorted_by(|a, b| a.share() >= b.share()));
        for advised in &advised {
            let after = followed(advised.advice, shown, options);
            let runs = match advised.advice {
                Advice::LargerBatch { factor, .. } => factor,
                _ => 1,
            };
            let time_s = |analysis: &Analysis, by| match advised.advice {
                Advice::CudaGraph => launch_timeline(analysis, by).span_s,
                _ => analysis.time_s(),
            };
            let now_s = f64::from(runs) * time_s(before, Launcher::Python);
            let saved_s = now_s - time_s(&after, Launcher::CudaGraph);
            let saved_bound_s = f64::from(runs) * before.fused.time_s - after.fused.time_s;
            let saved_bytes = i64::from(runs) * before.fused.traffic.total.cast_signed()
                - after.fused.traffic.total.cast_signed();
            if let Advice::Merge(a, b) = advised.advice
                && Change::MergeOnTop(a, b).keeps_policy(options.policy)
            {
                assert_eq!(after.options.policy, options.policy);
                assert_others_stay([before, &after], [a, b], shown.program.blocks.is_empty());
            }
            let price = advised.price;
            assert_eq!(price.saved_bytes(), saved_bytes, "{advised:?}\n{text}");
            for (promised_s, delivered_s) in [
                (price.time_s(), saved_s),
                (price.bound_saved_s(), saved_bound_s),
            ] {
                let error_s = (promised_s.unwrap() - delivered_s).abs();
                assert!(error_s <= 1e-9 * now_s, "{advised:?}\n{text}");
            }
            assert!(price.time_s() > Some(0.0));
            let share = price.time_s().unwrap() / now_s;
            assert!((advised.share().unwrap() - share).abs() < 1e-9);
        }
        advised.iter().map(|advised| advised.advice).collect()
    })
}

/// A matmul template of torch.compile takes a prologue, so a hand-written one is nothing new.
#[test]
fn a_prologue_is_not_told_where_a_template_takes_it() {
    let text = "input x : f16[4096, 4096]
weight w : f16[4096, 4096]
a = relu(x)
y = matmul(a, w)
";
    let rows = |max_autotune: bool| {
        let mut options = on("h100", Policy::Inductor);
        options.fusion.prologue = true;
        options.fusion.max_autotune = max_autotune;
        let mut rows = told(text, &options);
        rows.retain(|row| matches!(row.advice, Advice::Merge(..)));
        rows
    };
    assert_eq!(rows(true), []);
    let rows = rows(false);
    assert_eq!(rows.len(), 1);
    assert!(
        rows[0].caveat.contains("templates of torch.compile"),
        "{rows:?}"
    );
}

#[test]
fn each_advice_saves_what_it_says() {
    for example in EXAMPLES {
        for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
            for id in ["a100-80", "h200"] {
                assert_promises_are_kept(example.text, &on(id, policy));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_advice_for_a_random_program_saves_what_it_says((ops, externals) in fusable_ops(3..=12)) {
        let text = print(&program_of_ops(&ops, &externals).0);
        for &policy in Policy::VARIANTS {
            for id in ["a100-80", "h100"] {
                assert_promises_are_kept(&text, &on(id, policy));
            }
        }
    }
}

#[test]
fn the_transformer_is_told_to_call_attention_by_name() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let rows = told(text, &on("h200", Policy::Rules));
    let mut of_kernels = rows.iter().filter(|row| row.advice.is_of_kernels());
    let first = &of_kernels.next().unwrap().action;
    assert!(
        first.contains("scaled_dot_product_attention") || first.contains("torch.compile"),
        "{first}"
    );
    assert!(
        rows.iter().any(|row| row.advice == Advice::Attention),
        "{rows:?}"
    );
    // Once that is done it is no longer told.
    let mut options = on("h200", Policy::Rules);
    options.fusion.attention = true;
    let rows = told(text, &options);
    assert!(
        rows.iter().all(|row| row.advice != Advice::Attention),
        "{rows:?}"
    );
}

#[test]
fn a_matmul_in_f32_is_told_of_tf32_with_its_price() {
    let text = "input a : f32[4096, 4096]\ninput b : f32[4096, 4096]\ny = matmul(a, b)\n";
    let rows = told(text, &on("a100-80", Policy::Inductor));
    assert_eq!(rows[0].advice, Advice::Tf32);
    assert!(rows[0].action.contains("set_float32_matmul_precision"));
    assert!(!rows[0].caveat.is_empty());
    assert_eq!(rows.len(), 1);
}

#[test]
fn nothing_is_told_where_nothing_can_be_saved() {
    for text in ["", "input a : f16[1024, 1024]\ny = relu(a)\n"] {
        let rows = told(text, &on("h200", Policy::Inductor));
        assert_eq!(rows, [], "{text}");
    }
}

#[test]
fn a_merge_in_a_block_is_told_once_and_priced_in_every_round() {
    let layers = EXAMPLES.iter().find(|e| e.id == "gpt2_layers").unwrap();
    let rows = told(layers.text, &on("h200", Policy::Rules));
    let merges = rows
        .iter()
        .filter(|row| matches!(row.advice, Advice::Merge(..)));
    let merges: Vec<_> = merges.map(|row| (&*row.action, &*row.caveat)).collect();
    let kernels = [
        "kernel 3 (`q_rows.1 + q.1`)",
        "kernel 4 (`k_rows.1 + k.1`)",
        "kernel 5 (`v_rows.1 + v.1`)",
    ];
    let merge = |kernel| {
        format!("Write kernel 2 (`qkv.1`) and {kernel} as one kernel, for example in Triton.")
    };
    let actions: Vec<_> = merges.iter().map(|(action, _)| *action).collect();
    assert_eq!(actions, kernels.map(merge));
    for (_, caveat) in merges {
        // `qkv.1` is a matmul, which the merged kernel would compute itself.
        assert_eq!(
            caveat,
            "The figures are for all 12 iterations. The time saved assumes generated matmuls at 90 % of the library's speed."
        );
    }
}

#[test]
fn a_choice_that_follows_an_advice_is_called_as_the_page_calls_it() {
    use fuseline_core::model::options::Switch;
    use fuseline_view::present::advice::done_words;
    use fuseline_view::present::options::{policy_title, switch_name};
    for (advice, name) in [
        (
            Advice::Compile,
            policy_title(Policy::Inductor, Objective::Bytes),
        ),
        (Advice::Attention, switch_name(Switch::Attention)),
        (Advice::MaxAutotune, switch_name(Switch::MaxAutotune)),
        (Advice::Tf32, "TF32"),
    ] {
        assert!(done_words(advice).unwrap().contains(name));
    }
    assert_eq!(
        done_words(Advice::Merge(KernelId::new(0), KernelId::new(1))),
        None
    );
}

/// *Why not* prices a merge alone. Without fusion it comes with a change of the policy here, and
/// where both figures differ the sentence has both. On top of a policy nothing else changes.
#[test]
fn a_merge_that_saves_another_amount_than_why_not_says_how_much_it_saves_alone() {
    let mut differing = 0;
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            let mut options = under(policy);
            // By hand each attention is then one kernel, which without fusion it is not.
            options.fusion.attention = policy == Policy::None;
            with_shown(example.text, &options, |shown| {
                let why = Why::new(shown.analysis);
                for row in advice_rows(shown) {
                    let Advice::Merge(a, b) = row.advice else {
                        continue;
                    };
                    let change = Change::MergeOnTop(a, b);
                    let is_on_top = change.keeps_policy(policy);
                    let proposal = propose(change, shown);
                    let said = [
                        &row.caveat,
                        &proposal.words,
                        &proposal.done,
                        &proposal.effect,
                    ];
                    let alone = why.merge(a, b).unwrap();
                    let has_rounds = !shown.program.blocks.is_empty();
                    if has_rounds {
                        continue;
                    }
                    if is_on_top
                        || alone.saved_bytes() == row.price.saved_bytes()
                        || policy == Policy::Manual
                    {
                        assert!(said.iter().all(|said| !said.contains("alone")), "{said:?}");
                        continue;
                    }
                    let words = format!(
                        "the merge alone {} {}, ",
                        if alone.saved_bytes() < 0 {
                            "costs"
                        } else {
                            "saves"
                        },
                        format_bytes(alone.saved_bytes().unsigned_abs())
                    );
                    for said in said {
                        assert!(said.contains(&words), "{}: {words}{said}", example.id);
                    }
                    differing += 1;
                }
            });
        }
    }
    assert!(differing > 0);
}

/// Under *no fusion* an attention is as many kernels as ops. A merge changes the policy to *by
/// hand*, which fuses attention as the textbook rules do, and the sentence says that this is not
/// the merge's own saving.
#[test]
fn a_merge_without_fusion_says_what_fused_attention_saves_beside_it() {
    for (attention, kernels) in [(false, 20), (true, 17)] {
        let mut options = under(Policy::None);
        options.fusion.attention = attention;
        with_shown(example(NEXT).unwrap().text, &options, |shown| {
            let kernel = |name: &str| {
                let op = shown.analysis.graph.op_named(name).unwrap();
                shown.analysis.partition.kernel_of[op]
            };
            let change = Change::Merge(kernel("up"), kernel("act"));
            let changed = by_hand::change(change, shown).unwrap();
            assert_eq!(changed.analysis.partition.kernels.len(), kernels);
            let rules = with_shown(
                example(NEXT).unwrap().text,
                &options.under(Policy::Rules),
                |shown| {
                    let graph = &shown.analysis.graph;
                    ["scores", "mixed"]
                        .map(|name| graph.op_named(name).unwrap())
                        .map(|op| shown.analysis.partition.kernel_of[op])
                },
            );
            assert_eq!(rules[0] == rules[1], attention);
            let words = propose(change, shown).words;
            // `up` is neither written nor read: 2 * 2 * 2048 * 16384 bytes.
            assert_eq!(
                words.contains("(the merge alone saves 134 MB, "),
                attention,
                "{words}"
            );
        });
    }
}

/// There is no flash kernel for f64 and f8, so no call of it is advised, and torch.compile finds
/// none.
#[test]
fn attention_is_a_call_only_in_types_that_have_one() {
    let block = fuseline_core::examples::example("transformer_block")
        .unwrap()
        .text;
    for (dtype, is_advised, is_found) in [
        ("f16", true, true),
        ("f32", true, false),
        ("f64", false, false),
        ("f8", false, false),
    ] {
        let text = block.replace("f16", dtype);
        let advised = told(&text, &on("a100-80", Policy::Rules));
        let has_call = advised.iter().any(|row| row.advice == Advice::Attention);
        assert_eq!(has_call, is_advised, "{dtype}");
        let mut options = on("a100-80", Policy::Inductor);
        options.conventions.reshape = fuseline_core::ReshapeCost::View;
        let program = fuseline_core::notation::parse(&text).program;
        let compiled = fuseline_core::analyze_program(&program, &options)
            .analysis
            .unwrap();
        let of = |name| compiled.partition.kernel_of[compiled.graph.op_named(name).unwrap()];
        assert_eq!(of("scores") == of("mixed"), is_found, "{dtype}");
    }
}
