//! Manual changes: their predicted effect equals the actual one.

use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, KernelId, OpId, Options, Outcome, Policy, analyze_program};
use fuseline_view::present::manual::{Change, Proposal, propose};

const CHAIN: &str = "\
input x : f16[1024, 1024]
a = relu(x)
b = exp(a)
s = softmax(b)
m = matmul(s, x)
c = add(m, b)  # comes back
";

fn outcome(text: &str, policy: Policy) -> Outcome {
    analyze_program(&parse(text).program, &Options::of_policy(policy))
}

fn proposal(text: &str, policy: Policy, change: Change) -> Proposal {
    let Outcome {
        analysis,
        statement_of_op,
        ..
    } = outcome(text, policy);
    let program = parse(text).program;
    propose(
        change,
        KernelsInText {
            text,
            program: &program,
            analysis: &analysis.unwrap(),
            statement_of_op: &statement_of_op,
        },
    )
}

fn manual(text: &str) -> Analysis {
    outcome(text, Policy::Manual).analysis.unwrap()
}

#[test]
fn a_merge_says_its_gain_and_keeps_it() {
    let merged = proposal(
        CHAIN,
        Policy::None,
        Change::Merge(KernelId::new(1), KernelId::new(0)),
    );
    let text = merged.text.unwrap();
    // a is neither written nor read: twice 1024 * 1024 * 2 bytes.
    assert!(
        merged
            .words
            .starts_with("Merging kernels 1 and 2 saves 4.19 MB and "),
        "{}",
        merged.words
    );
    assert!(
        merged
            .done
            .starts_with("Merged kernels 1 and 2: saves 4.19 MB and "),
        "{}",
        merged.done
    );
    let before = outcome(CHAIN, Policy::None).analysis.unwrap();
    let after = manual(&text);
    assert_eq!(
        before.fused.traffic.total - after.fused.traffic.total,
        4 << 20
    );
    assert!(text.contains("# comes back"));
}

#[test]
fn a_cycle_is_refused_with_its_path() {
    // b reaches c through s and m as well.
    let refused = proposal(
        CHAIN,
        Policy::None,
        Change::Merge(KernelId::new(1), KernelId::new(4)),
    );
    assert_eq!(refused.text, None);
    assert!(
        refused
            .words
            .starts_with("Merging kernels 2 and 5 is not possible: "),
        "{}",
        refused.words
    );
    assert!(
        refused.words.contains("b → s") && refused.words.contains("m → c"),
        "{}",
        refused.words
    );
}

#[test]
fn a_cut_says_what_it_costs_and_a_cut_between_kernels_that_there_is_none() {
    let stated = CHAIN
        .replace("relu(x)", "relu(x) @kernel 1")
        .replace("exp(a)", "exp(a) @kernel 1");
    let change = Change::Cut {
        producer: OpId::new(0),
        consumer: OpId::new(1),
    };
    let cut = proposal(&stated, Policy::Manual, change);
    assert!(
        cut.words.starts_with("Cutting before b costs 4.19 MB and "),
        "{}",
        cut.words
    );
    assert_eq!(cut.text.as_deref(), Some(CHAIN));
    let none = proposal(CHAIN, Policy::Manual, change);
    assert_eq!(none.text, None);
    assert!(cut.done.starts_with("Cut before b: costs 4.19 MB and "));
    assert!(none.words.contains("two kernels already"), "{}", none.words);
}

#[test]
fn the_kernels_of_another_policy_are_stated_with_the_change() {
    let shown = outcome(CHAIN, Policy::Optimal).analysis.unwrap();
    let mut kernels = shown.partition.kernels.iter();
    let ops = kernels.find(|ops| ops.len() > 1).unwrap();
    let change = Change::Cut {
        producer: ops[0],
        consumer: ops[1],
    };
    let cut = proposal(CHAIN, Policy::Optimal, change);
    let after = manual(&cut.text.unwrap());
    assert_eq!(
        after.partition.kernels.len(),
        shown.partition.kernels.len() + 1
    );
    assert_eq!(after.refused, []);
}

#[test]
fn an_attention_that_the_options_make_one_kernel_cannot_be_cut() {
    const ATTENTION: &str = "\
input q : f16[512, 64]
input k : f16[512, 64]
input v : f16[512, 64]
s = matmul(q, k, transpose_b=true)
p = softmax(s)
o = matmul(p, v)
";
    let mut options = Options::of_policy(Policy::Manual);
    options.fusion.attention = true;
    let program = parse(ATTENTION).program;
    let outcome = analyze_program(&program, &options);
    let analysis = outcome.analysis.unwrap();
    assert_eq!(analysis.partition.kernels.len(), 1);
    let change = Change::Cut {
        producer: OpId::new(1),
        consumer: OpId::new(2),
    };
    let statements = &outcome.statement_of_op;
    let cut = propose(
        change,
        KernelsInText {
            text: ATTENTION,
            program: &program,
            analysis: &analysis,
            statement_of_op: statements,
        },
    );
    assert_eq!(cut.text, None);
    assert!(cut.words.contains("fused attention"), "{}", cut.words);
}

#[test]
fn a_refusal_within_an_attention_says_what_does_it() {
    let text = fuseline_core::examples::example("attention").unwrap().text;
    let kernels = outcome(text, Policy::Rules)
        .analysis
        .unwrap()
        .fused
        .kernels
        .len();
    let last = [kernels - 2, kernels - 1].map(KernelId::new);
    let refused = proposal(text, Policy::Rules, Change::Merge(last[0], last[1])).words;
    assert!(refused.contains("is not possible"), "{refused}");
    assert!(
        refused.ends_with("that is the option fused attention."),
        "{refused}"
    );
}
