//! The kernels of a policy as marks, from which a visitor starts by hand.

use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::edit::{Marked, ShownKernels, state_kernels};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Outcome, Policy, analyze_program};

/// The text with the kernels of a policy as marks, and the analysis of that policy.
fn stated(text: &str, policy: Policy) -> Option<(Marked, Analysis)> {
    let program = parse(text).program;
    let Outcome {
        analysis,
        statement_of_op,
        ..
    } = analyze_program(&program, &Options::of_policy(policy));
    let analysis = analysis.unwrap();
    let shown = ShownKernels {
        options: &analysis.options,
        graph: &analysis.graph,
        partition: &analysis.partition,
        statement_of_op: &statement_of_op,
    };
    let marked = state_kernels(text, &program, shown).ok()?;
    Some((marked, analysis))
}

fn by_hand(text: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let mut options = Options::of_policy(Policy::Manual);
    // The compiler fuses horizontally of itself.
    options.fusion.horizontal = true;
    analyze_program(&parsed.program, &options).analysis.unwrap()
}

#[test]
fn the_kernels_of_every_policy_are_stated_in_every_example() {
    let mut cut = Vec::new();
    for example in EXAMPLES {
        for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
            let at = format!("{} under {}", example.id, policy.name());
            let (marked, analysis) = stated(example.text, policy).unwrap();
            if marked.cuts_iterations {
                cut.push(at);
                continue;
            }
            let manual = by_hand(&marked.text);
            assert!(manual.refused.is_empty(), "{at}");
            let [before, after] = [&analysis, &manual].map(|a| &a.partition.kernel_of);
            assert_eq!(before, after, "{at}");
        }
    }
    // The compiler fuses the last add of a layer with the first norm of the next.
    assert_eq!(cut, ["gpt2_layers under inductor"]);
}

#[test]
fn ops_alone_need_no_marks() {
    for example in EXAMPLES {
        let (marked, _) = stated(example.text, Policy::None).unwrap();
        assert_eq!(marked.text, example.text);
    }
}

#[test]
fn in_a_block_the_marks_of_one_round_stand_for_all() {
    let text = "input x : f16[64, 64]\nrepeat 3 with x = b {\n  a = relu(x)\n  b = exp(a)\n}\n";
    let (marked, _) = stated(text, Policy::Rules).unwrap();
    assert!(marked.cuts_iterations);
    assert_eq!(by_hand(&marked.text).partition.kernels.len(), 3);
}
