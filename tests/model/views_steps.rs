//! The steps panel: numbers after each decision, and texts.

use crate::random_graph::fusable_ops;
use crate::views::words;
use fuseline::core::analysis::replay::analysis_with;
use fuseline::core::fusion::record::{Record, record};
use fuseline::core::{
    Analysis, FusionOptions, Options, Policy, analyze, analyze_program, notation,
};
use fuseline::views::steps::{LISTED, line_id, list, present};
use proptest::prelude::*;
use std::fmt::Write as _;

fn analysis(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, options);
    outcome.analysis.unwrap()
}

fn analysis_after(whole: &Analysis, record: &Record, step: usize) -> Analysis {
    analysis_with(whole, record.partition_after(&whole.graph, step))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_numbers_begin_unfused_and_end_as_the_policy_has_them((ops, externals) in fusable_ops(1..=16)) {
        for policy in Policy::ALL {
            let whole = analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
            let record = record(&whole.graph, &whole.options);
            let count = record.decisions.len();
            let first = analysis_after(&whole, &record, 0);
            prop_assert_eq!(&first.fused.traffic.total, &first.unfused.traffic.total);
            let mut last = analysis_after(&whole, &record, count);
            // Results of the search exist only after its last step.
            last.certificate.clone_from(&whole.certificate);
            last.refused.clone_from(&whole.refused);
            prop_assert_eq!(&last, &whole);
            for step in 0..count {
                let on_the_way = analysis_after(&whole, &record, step);
                prop_assert_eq!(&on_the_way.unfused, &whole.unfused);
                let placed: usize = on_the_way.partition.groups.iter().map(<[_]>::len).sum();
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
    let record = record(&whole.graph, &options);
    let before = analysis_after(&whole, &record, 0);
    assert_eq!(before.fused.traffic.total, before.unfused.traffic.total);
    assert_eq!(before.fused.launches, 3);
    assert_eq!(whole.fused.launches, 1);
    // Tiling adds FLOPs to those of the ops that it replaces.
    assert!(whole.fused.kernels[0].work.vector_flops > before.fused.kernels[1].work.vector_flops);
    assert!(words(&present(&whole.graph, &record, 1)).contains("one attention kernel"));
}

#[test]
fn steps_are_counted_listed_and_marked() {
    let text = "input x : f16[64, 64]\n`<b>`: y = relu(x)\nz = gelu(y)\nn = softmax(z)\n";
    let whole = analysis(text, &Options::default());
    let record = record(&whole.graph, &whole.options);
    let count = record.decisions.len();
    assert!(count >= 3);
    assert!(
        words(&present(&whole.graph, &record, 0))
            .starts_with(&format!("Step 0 of {count}: nothing"))
    );
    let html = list(&whole.graph, &record, 2).html().text;
    assert_eq!(html.matches("<li ").count(), count);
    assert_eq!(html.matches(r#"aria-current="step""#).count(), 1);
    assert_eq!(html.matches("is-done").count(), 2);
    assert!(html.contains("&lt;b&gt;") && !html.contains("<b>"));
}

#[test]
fn a_line_says_to_how_many_kernels_its_step_leads_where_that_changes() {
    let whole = analysis(
        "input x : f16[64, 64]\ny = relu(x)\nz = gelu(y)\n",
        &Options::default(),
    );
    let record = record(&whole.graph, &whole.options);
    assert_eq!(
        words(&list(&whole.graph, &record, 0)),
        "1 y starts a kernel 2 z joins the kernel of y 1 kernel"
    );
}

#[test]
fn a_long_record_is_listed_page_by_page() {
    let mut text = "input x0 : f16[64]\n".to_owned();
    for at in 1..=300 {
        let _ = writeln!(text, "x{at} = relu(x{})", at - 1);
    }
    let whole = analysis(&text, &Options::default());
    let record = record(&whole.graph, &whole.options);
    assert_eq!(record.decisions.len(), 300);
    let page = |step| list(&whole.graph, &record, step).html().text;
    for (step, lines) in [
        (0, LISTED),
        (1, LISTED),
        (LISTED, LISTED),
        (LISTED + 1, 100),
        (300, 100),
    ] {
        let html = page(step);
        assert_eq!(html.matches(r#"id="step-"#).count(), lines, "at {step}");
        assert_eq!(
            html.matches(r#"aria-current="step""#).count(),
            usize::from(step > 0)
        );
        // The tab key reaches the present line.
        assert_eq!(html.matches(r#"tabindex="0""#).count(), 1);
        let present = format!(
            r#"id="{}" data-step="{}" tabindex="0""#,
            line_id(step),
            step.max(1)
        );
        assert!(html.contains(&present));
    }
    assert!(page(LISTED).contains("To step 201") && !page(LISTED).contains("steps-earlier"));
    assert!(page(201).contains("To step 200") && !page(201).contains("steps-later"));
}

#[test]
fn a_policy_that_decides_nothing_says_so() {
    let whole = analysis("y = relu(x) : f16[8]\n", &Options::of_policy(Policy::None));
    let record = record(&whole.graph, &whole.options);
    assert!(words(&present(&whole.graph, &record, 0)).contains("decides nothing"));
}
