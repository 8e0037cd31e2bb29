//! The steps panel: numbers after each decision, and texts.

use crate::random_graph::fusable_ops;
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::fusion::decision_trace::{DecisionTrace, trace_decisions};
use fuseline_core::{
    Analysis, FusionOptions, KernelId, Options, Policy, analyze, analyze_program, notation,
};
use fuseline_view::present::steps::{PAGE_STEPS, Steps, page_of_step};
use proptest::prelude::*;
use std::fmt::Write as _;
use strum::VariantArray;

fn analysis(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, options);
    outcome.analysis.unwrap()
}

fn analysis_after(whole: &Analysis, trace: &DecisionTrace, step: usize) -> Analysis {
    analysis_with(whole, trace.partition_after(&whole.graph, step))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_numbers_begin_unfused_and_end_as_the_policy_has_them((ops, externals) in fusable_ops(1..=16)) {
        for &policy in Policy::VARIANTS {
            let whole = analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
            let trace = trace_decisions(&whole.graph, &whole.options);
            let count = trace.decisions.len();
            let first = analysis_after(&whole, &trace, 0);
            prop_assert_eq!(&first.fused.traffic.total, &first.unfused.traffic.total);
            let mut last = analysis_after(&whole, &trace, count);
            // Results of the search exist only after its last step.
            last.certificate.clone_from(&whole.certificate);
            last.refused.clone_from(&whole.refused);
            prop_assert_eq!(&last, &whole);
            let steps = Steps::new(&whole.graph, &trace);
            prop_assert_eq!(steps.count(), count);
            prop_assert_eq!(steps.last_decision(0), None);
            prop_assert_eq!(steps.last_decision(count + 1), trace.decisions.last().cloned());
            for step in 0..count {
                prop_assert_eq!(steps.last_decision(step + 1), trace.decisions.get(step).cloned());
                let on_the_way = analysis_after(&whole, &trace, step);
                prop_assert_eq!(&on_the_way.unfused, &whole.unfused);
                let placed: usize = on_the_way.partition.kernels.iter().map(<[_]>::len).sum();
                prop_assert_eq!(placed, whole.graph.ops.len());
            }
        }
    }
}

#[test]
fn attention_runs_op_by_op_until_it_is_rewritten() {
    let text = "\
input q : f16[8, 128, 64]
input k : f16[8, 128, 64]
input v : f16[8, 128, 64]
s = matmul(q, k, transpose_b=true)
p = softmax(s)
o = matmul(p, v)
";
    let options = Options {
        fusion: FusionOptions {
            attention: true,
            ..FusionOptions::default()
        },
        ..Options::default()
    };
    let whole = analysis(text, &options);
    let trace = trace_decisions(&whole.graph, &options);
    let before = analysis_after(&whole, &trace, 0);
    assert_eq!(before.fused.traffic.total, before.unfused.traffic.total);
    assert_eq!(before.fused.launches, 3);
    assert_eq!(whole.fused.launches, 1);
    // Tiling adds FLOPs to those of the ops that it replaces.
    assert!(
        whole.fused.kernels[KernelId::new(0)].work.vector_flops
            > before.fused.kernels[KernelId::new(1)].work.vector_flops
    );
    assert!(
        Steps::new(&whole.graph, &trace)
            .sentence(&whole.graph, 1)
            .contains("one fused attention kernel")
    );
}

#[test]
fn steps_are_counted_and_listed() {
    let text = "input x : f16[64, 64]\n`<b>`: y = relu(x)\nz = gelu(y)\nn = softmax(z)\n";
    let whole = analysis(text, &Options::default());
    let trace = trace_decisions(&whole.graph, &whole.options);
    let count = trace.decisions.len();
    assert!(count >= 3);
    let steps = Steps::new(&whole.graph, &trace);
    let sentence = |step| steps.sentence(&whole.graph, step);
    assert_eq!(
        sentence(0),
        format!("Step 0 of {count}: no decisions yet: each op is a kernel of its own.")
    );
    let lines = steps.lines(&whole.graph, page_of_step(2, count));
    let numbers: Vec<_> = lines.iter().map(|line| line.step).collect();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
    assert_eq!(lines[0].decision, "`<b>` starts a kernel");
    for line in &lines {
        let said = format!("Step {} of {count}: {}.", line.step, line.decision);
        assert_eq!(sentence(line.step), said);
    }
}

#[test]
fn a_line_says_to_how_many_kernels_its_step_leads_where_that_changes() {
    let text = "input x : f16[64, 64]\ny = relu(x)\nz = gelu(y)\n";
    let kernels = |text: &str| -> Vec<_> {
        let whole = analysis(text, &Options::default());
        let trace = trace_decisions(&whole.graph, &whole.options);
        let steps = Steps::new(&whole.graph, &trace);
        let lines = steps.lines(&whole.graph, 1..steps.count() + 1);
        lines.into_iter().map(|line| line.kernels).collect()
    };
    assert_eq!(kernels(text), ["", "1 kernel"]);
    let twice = format!("{text}input a : f16[64]\nb = relu(a)\nc = gelu(b)\n");
    assert_eq!(kernels(&twice), ["", "3 kernels", "", "2 kernels"]);
}

#[test]
fn a_long_record_is_listed_page_by_page() {
    let mut text = "input x0 : f16[64]\n".to_owned();
    for at in 1..=300 {
        let _ = writeln!(text, "x{at} = relu(x{})", at - 1);
    }
    let whole = analysis(&text, &Options::default());
    let trace = trace_decisions(&whole.graph, &whole.options);
    let count = trace.decisions.len();
    assert_eq!(count, 300);
    let steps = Steps::new(&whole.graph, &trace);
    for (step, listed) in [
        (0, 1..PAGE_STEPS + 1),
        (1, 1..PAGE_STEPS + 1),
        (PAGE_STEPS, 1..PAGE_STEPS + 1),
        (PAGE_STEPS + 1, PAGE_STEPS + 1..301),
        (300, PAGE_STEPS + 1..301),
    ] {
        assert_eq!(page_of_step(step, count), listed, "at {step}");
        let lines = steps.lines(&whole.graph, listed.clone());
        let decision = trace.decisions.get(step.wrapping_sub(1));
        assert_eq!(steps.last_decision(step).as_ref(), decision, "at {step}");
        assert!(lines.iter().map(|line| line.step).eq(listed));
    }
}

#[test]
fn a_policy_that_decides_nothing_says_so() {
    let whole = analysis("y = relu(x) : f16[8]\n", &Options::of_policy(Policy::None));
    let trace = trace_decisions(&whole.graph, &whole.options);
    let steps = Steps::new(&whole.graph, &trace);
    assert!(
        steps
            .sentence(&whole.graph, 0)
            .contains("makes no decisions")
    );
    assert!(steps.lines(&whole.graph, page_of_step(0, 0)).is_empty());
}
