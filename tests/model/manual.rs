//! Manual kernels: marked in the text, checked, edited.

use crate::random_graph::fusable_ops;
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::why::Why;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::legality;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::model::diagnostic::{Code, Severity, Span};
use fuseline_core::notation::edit::{
    ShownKernels, cut_edge, merge_kernels, set_annotation, set_kernel,
};
use fuseline_core::notation::{TokenKind, highlight, parse};
use fuseline_core::{
    Analysis, Diagnostic, IdVec, KernelId, Op, OpId, Options, Outcome, Policy, analyze_program,
    build_graph, plan,
};
use fuseline_view::present::manual::{Change, propose};
use fuseline_view::present::reasons::refused_kernels;
use proptest::prelude::*;
use std::fmt::Write as _;

fn outcome(text: &str) -> Outcome {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let mut outcome = analyze_program(&parsed.program, &Options::of_policy(Policy::Manual));
    let refused = refused_kernels(&parsed.program, &outcome);
    outcome.diagnostics.extend(refused);
    outcome
}

/// Names of the ops of each kernel.
fn kernels(analysis: &Analysis) -> Vec<String> {
    let name = |&op: &OpId| analysis.graph.ops[op].name.as_str();
    let groups = analysis.partition.kernels.iter();
    groups
        .map(|ops| ops.iter().map(name).collect::<Vec<_>>().join(" "))
        .collect()
}

fn shown(text: &str) -> (Vec<String>, Vec<Diagnostic>) {
    let outcome = outcome(text);
    let refused = outcome.diagnostics.into_iter();
    (
        kernels(&outcome.analysis.unwrap()),
        refused.filter(|d| d.code == Code::IllegalKernel).collect(),
    )
}

const CHAIN: &str = "\
input x : f16[64, 64]   # as it comes
weight w : f16[64, 64]
a = relu(x)             # first
m = matmul(a, w) @kernel 7
b = relu(m) : f16[64, 64] @kernel 7  # its epilogue
c = exp(b)
";

#[test]
fn ops_of_one_number_are_one_kernel() {
    let (kernels, refused) = shown(CHAIN);
    assert_eq!(kernels, ["a", "m b", "c"]);
    assert_eq!(refused, []);
    // All other policies ignore the marks.
    let parsed = parse(CHAIN);
    let rules = analyze_program(&parsed.program, &Options::default());
    assert_eq!(rules.analysis.unwrap().partition.kernels.len(), 2);
}

#[test]
fn an_illegal_kernel_is_reported_and_split_into_legal_ones() {
    let text = CHAIN
        .replace("a = relu(x) ", "a = relu(x) @kernel 7")
        .replace("c = exp(b)", "c = exp(b) @kernel 7");
    let (kernels, refused) = shown(&text);
    assert_eq!(kernels, ["a", "m b c"]);
    let finding = &refused[0];
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(
        finding.message,
        "`@kernel 7` is not legal: a matmul starts its kernel, and `a` comes before `m`"
    );
    assert_eq!(finding.span.unwrap().slice(&text), "@kernel 7");
    assert_eq!(refused.len(), 1);
}

#[test]
fn kernels_in_a_cycle_are_refused_with_its_path() {
    let text = "\
input x : f16[8]
input y : f16[8]
a1 = relu(x) @kernel 1
b1 = relu(y) @kernel 2
b2 = relu(a1) @kernel 2
a2 = relu(b1) @kernel 1
x1 = add(a1, a2) @kernel 1
y1 = add(b1, b2) @kernel 2
";
    let (kernels, refused) = shown(text);
    assert_eq!(kernels.len(), 6);
    let messages: Vec<&str> = refused.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`@kernel 1` is not legal: the kernel would wait for itself: `a1` → `b2` → `b1` → `a2`",
            "`@kernel 2` is not legal: the kernel would wait for itself: `a1` → `b2` → `b1` → `a2`",
        ]
    );
}

/// Each kernel depends on an op that depends on the kernel. After 64 such kernels every marked
/// kernel is split, including one that could run, with a diagnostic.
#[test]
fn too_many_cycles_are_reported() {
    let mut text =
        "input x : f32[8]\nu = relu(x) @kernel 1000\nv = exp(u) @kernel 1000\n".to_owned();
    for of in 0..70 {
        writeln!(text, "a{of} = relu(x) @kernel {of}").unwrap();
        writeln!(text, "b{of} = exp(a{of})").unwrap();
        writeln!(text, "c{of} = add(a{of}, b{of}) @kernel {of}").unwrap();
    }
    let (kernels, refused) = shown(&text);
    assert_eq!(kernels.len(), 2 + 3 * 70);
    assert_eq!(refused.len(), 1 + 70);
    let gave_up = "the marked kernels still form cycles after 64 rounds of splitting, so every kernel is split";
    let of_last_round = refused.iter().filter(|d| d.message.ends_with(gave_up));
    assert_eq!(of_last_round.count(), 1 + 70 - 63);
    assert!(
        refused
            .iter()
            .any(|d| d.message.starts_with("`@kernel 1000` is not legal"))
    );
}

#[test]
fn an_invalid_mark_says_how_to_correct_it() {
    for (line, message) in [
        ("y = relu(x) @", "the line ends before `kernel`"),
        (
            "y = relu(x) @kernel",
            "the line ends before the number of a kernel",
        ),
        (
            "y = relu(x) @kernel x",
            "expected the number of a kernel, found `x`",
        ),
        (
            "y = relu(x) @kernel 5000000000",
            "the number of the kernel is too large",
        ),
    ] {
        let problem = &parse(line).diagnostics[0];
        assert_eq!(problem.message, message);
        assert!(problem.hint.as_ref().unwrap().contains("@kernel 3"));
    }
}

#[test]
fn the_editor_colours_a_mark() {
    let text = "y = relu(x) @kernel 12";
    let pieces: Vec<(&str, TokenKind)> = highlight(text, Span::new(0, text.len()))
        .into_iter()
        .map(|(span, kind)| (span.slice(text), kind))
        .filter(|(_, kind)| *kind != TokenKind::Space)
        .collect();
    assert_eq!(
        pieces[pieces.len() - 3..],
        [
            ("@", TokenKind::Keyword),
            ("kernel", TokenKind::Keyword),
            ("12", TokenKind::Number),
        ]
    );
}

#[test]
fn edits_of_a_mark_keep_all_else() {
    let program = parse(CHAIN).program;
    assert_eq!(
        set_kernel(CHAIN, &program, 0, Some(2)),
        CHAIN.replace("a = relu(x) ", "a = relu(x) @kernel 2 ")
    );
    assert_eq!(
        set_kernel(CHAIN, &program, 2, None),
        CHAIN.replace("[64, 64] @kernel 7  #", "[64, 64]  #")
    );
    assert_eq!(
        set_kernel(CHAIN, &program, 1, Some(8)),
        CHAIN.replace("w) @kernel 7", "w) @kernel 8")
    );
    // A type goes before the mark.
    assert_eq!(
        set_annotation(CHAIN, &program, 1, Some("f16[64, 64]")),
        CHAIN.replace("w) @kernel 7", "w) : f16[64, 64] @kernel 7")
    );
    assert_eq!(
        set_annotation(CHAIN, &program, 2, None),
        CHAIN.replace(
            "b = relu(m) : f16[64, 64] @kernel 7",
            "b = relu(m) @kernel 7"
        )
    );
}

#[test]
fn kernels_are_merged_and_cut_in_the_text() {
    let before = outcome(CHAIN);
    let analysis = before.analysis.unwrap();
    let program = parse(CHAIN).program;
    let kernels_shown = ShownKernels {
        options: &analysis.options,
        graph: &analysis.graph,
        partition: &analysis.partition,
        statement_of_op: &before.statement_of_op,
    };
    // The gain is shown before the merge.
    let gain = Why::new(&analysis)
        .merge(KernelId::new(1), KernelId::new(2))
        .unwrap();
    let text = merge_kernels(
        CHAIN,
        &program,
        kernels_shown,
        KernelId::new(1),
        KernelId::new(2),
    )
    .unwrap()
    .text;
    assert_eq!(
        text,
        CHAIN
            .replace("@kernel 7", "@kernel 2")
            .replace("c = exp(b)", "c = exp(b) @kernel 2")
    );
    let after = outcome(&text);
    let merged = after.analysis.unwrap();
    assert_eq!(kernels(&merged), ["a", "m b c"]);
    let saved = analysis.fused.traffic.total - merged.fused.traffic.total;
    assert_eq!(gain.saved_bytes(), i64::try_from(saved).unwrap());
    assert!(
        (gain.bound_saved_s().unwrap() - (analysis.fused.time_s - merged.fused.time_s)).abs()
            < 1e-15
    );
    // A refused merge shows its reason before it is tried.
    assert_eq!(
        Why::new(&merged).merge(KernelId::new(0), KernelId::new(1)),
        Err(Reason::MatmulStarts {
            matmul: OpId::new(1),
            before: OpId::new(0)
        })
    );

    let program = parse(&text).program;
    let kernels_shown = ShownKernels {
        options: &merged.options,
        graph: &merged.graph,
        partition: &merged.partition,
        statement_of_op: &after.statement_of_op,
    };
    let cut = cut_edge(&text, &program, kernels_shown, OpId::new(1), OpId::new(2)).unwrap();
    let cut = cut.text;
    assert_eq!(shown(&cut).0, ["a", "m", "b c"]);
    assert!(cut.contains("# its epilogue") && cut.contains("m = matmul(a, w)\n"));
}

/// Two ops that only a third one holds together are a kernel each when it leaves.
#[test]
fn a_cut_takes_apart_what_is_no_longer_connected() {
    let text = "\
input x : f16[64, 64]
input y : f16[64, 64]
a = relu(x) @kernel 1
b = relu(y) @kernel 1
c = add(a, b) @kernel 1
";
    let before = outcome(text);
    let analysis = before.analysis.unwrap();
    let [producer, consumer] = ["a", "c"].map(|op| analysis.graph.op_named(op).unwrap());
    let change = Change::Cut { producer, consumer };
    let program = parse(text).program;
    let proposal = propose(
        change,
        KernelsInText {
            text,
            program: &program,
            analysis: &analysis,
            statement_of_op: &before.statement_of_op,
        },
    );
    assert!(
        proposal
            .words
            .starts_with("Cutting before c into 3 kernels costs"),
        "{}",
        proposal.words
    );
    let (kernels, refused) = shown(&proposal.text.unwrap());
    assert_eq!(
        (kernels, refused),
        (["a", "b", "c"].map(str::to_owned).to_vec(), vec![])
    );
}

/// Marks written by a merge or a cut use the numbers in pictures, where kernels are in execution
/// order. This holds if the first op of a kernel depends on another kernel, and if attention is one
/// kernel.
#[test]
fn written_numbers_are_those_of_the_pictures() {
    let mut seen = 0;
    for (example, attention) in EXAMPLES.iter().flat_map(|e| [(e, false), (e, true)]) {
        let options = |policy| {
            let mut options = Options::of_policy(policy);
            options.fusion.attention = attention;
            options.fusion.eager_attention = attention;
            options
        };
        let program = parse(example.text).program;
        for policy in [Policy::None, Policy::Rules, Policy::Optimal] {
            let before = analyze_program(&program, &options(policy));
            let analysis = before.analysis.unwrap();
            let kernels_shown = ShownKernels {
                options: &analysis.options,
                graph: &analysis.graph,
                partition: &analysis.partition,
                statement_of_op: &before.statement_of_op,
            };
            let graph = &analysis.graph;
            let edges = (graph.ops.ids())
                .flat_map(|to| graph.predecessors[to].iter().map(move |&from| (from, to)));
            let why = Why::new(&analysis);
            let mut changed = Vec::new();
            for (from, to) in edges {
                let (a, b) = (
                    analysis.partition.kernel_of[from],
                    analysis.partition.kernel_of[to],
                );
                if a == b {
                    changed.extend(cut_edge(example.text, &program, kernels_shown, from, to));
                } else if why.merge(a, b).is_ok() {
                    changed.extend(merge_kernels(example.text, &program, kernels_shown, a, b));
                }
            }
            for text in changed.iter().map(|marked| &marked.text).step_by(5) {
                let after = analyze_program(&parse(text).program, &options(Policy::Manual));
                let after = after.analysis.unwrap();
                // If an option makes attention one kernel, it cannot be cut.
                let is_as_stated = |(op, kernel): (&Op, &KernelId)| {
                    let (ops, kernels) = (&after.graph.ops, &after.partition.kernel_of);
                    let same = ops.iter().zip(kernels).filter(|(_, k)| *k == kernel);
                    same.into_iter().all(|(other, _)| other.mark() == op.mark())
                };
                let stated = after.graph.ops.iter().zip(&after.partition.kernel_of);
                if !after.refused.is_empty() || !stated.clone().all(is_as_stated) {
                    continue;
                }
                for (op, kernel) in stated {
                    // A statement of a block has the number of the first round.
                    if let Some(number) = op.kernel.filter(|_| op.mark_iteration <= 1) {
                        assert_eq!(number as usize, kernel.number(), "{}: {text}", example.id);
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 500, "only {seen} numbers");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_give_legal_kernels_in_order((ops, externals) in fusable_ops(1..=90), marks in prop::collection::vec(prop::option::of(0_u32..12), 90)) {
        let mut ops = ops;
        for (op, mark) in ops.iter_mut().zip(marks) {
            op.kernel = mark;
        }
        let graph = build_graph(&ops, &externals).unwrap();
        let options = Options::of_policy(Policy::Manual);
        let plan = plan(&graph, &options);
        let mut ran = IdVec::from_elem(false, ops.len());
        for members in plan.partition.kernels.iter() {
            prop_assert_eq!(legality::check(&graph, &options, members), Ok(()));
            for &op in members {
                ran[op] = true;
                prop_assert_eq!(graph.ops[op].kernel, graph.ops[members[0]].kernel);
            }
            let is_ready = members.iter().all(|&op| graph.predecessors[op].iter().all(|&p| ran[p]));
            prop_assert!(is_ready);
        }
        if plan.refused.is_empty() {
            for op in graph.ops.ids() {
                for other in graph.ops.ids().take_while(|&other| other < op) {
                    let kernel = graph.ops[op].kernel;
                    let same = kernel.is_some() && kernel == graph.ops[other].kernel;
                    prop_assert_eq!(same, plan.partition.kernel_of[op] == plan.partition.kernel_of[other]);
                }
            }
        }
    }
}

/// The compiler runs the attention of the block as one kernel. A merge elsewhere keeps it.
#[test]
fn a_change_by_hand_keeps_an_attention_that_runs_as_one_kernel() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let options = Options::of_policy(Policy::Inductor);
    let program = parse(text).program;
    let outcome = analyze_program(&program, &options);
    let before = outcome.analysis.unwrap();
    let of = |name: &str| before.partition.kernel_of[before.graph.op_named(name).unwrap()];
    assert_eq!(of("attn_scores"), of("attn_output"));
    let change = Change::Merge(of("ffn_up"), of("gelu"));
    let proposal = propose(
        change,
        KernelsInText {
            text,
            program: &program,
            analysis: &before,
            statement_of_op: &outcome.statement_of_op,
        },
    );
    let changed = parse(&proposal.text.unwrap()).program;
    let after = analyze_program(&changed, &Options::of_policy(Policy::Manual))
        .analysis
        .unwrap();
    assert_eq!(after.refused, []);
    let kernel_of = |name: &str| after.partition.kernel_of[after.graph.op_named(name).unwrap()];
    assert_eq!(kernel_of("attn_scores"), kernel_of("attn_output"));
    assert_eq!(
        before.fused.traffic.total - after.fused.traffic.total,
        134_217_728
    );
}
