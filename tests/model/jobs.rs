//! What the worker answers is what the page would have computed itself.

use crate::families::{bipartite, chain, fan_out_and_back, ladder, reads_all, text_of};
use crate::partitions::choices;
use fuseline::STYLE_SHEETS;
use fuseline::app::analysed::{AnalysedText, AnalysisInput, PlacedPlan};
use fuseline::app::jobs::Job;
use fuseline::app::queries::{
    Advice, Answer, Asked, Edges, Effect, FusionLimit, Handout, Merges, Picture, PlanUnder, Report,
    Stage, Steps, Sweep, Task, WhySeparate,
};
use fuseline::app::runner::Runner;
use fuseline::app::text_limits::{
    MAX_ANALYSED_BYTES, QUICK_OPS_AND_READS, is_quick, parse_if_short,
};
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::compare::{Compared, compare};
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::analysis::sweep::sweep;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::edit::set_param;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Code, DEVICES, KernelId, OpId, Options, Plan, Policy, analyze_program,
    analyze_program_with, notation,
};
use fuseline_view::picture::dag::{Folding, layout_of};
use fuseline_view::picture::export::Pictured;
use fuseline_view::present::manual::{Change, Proposal, propose};
use fuseline_view::present::merges::merge_offers;
use fuseline_view::present::reasons::all_diagnostics;
use fuseline_view::present::report::{self, with_schema};
use fuseline_view::present::steps;
use fuseline_view::present::sweep::swept_params;
use fuseline_view::present::verdict::VerdictText;
use fuseline_view::present::why::{EdgeOrder, EdgeRows, WhyNot};
use proptest::prelude::*;
use std::sync::Arc;
use strum::VariantArray;

const PICTURE: Picture = Picture {
    folding: Folding::Iterations,
};

/// What the page gets from a worker: job and answer travel as bytes.
fn ask<Q: Asked>(
    runner: &mut Runner,
    text: &str,
    options: &Options,
    step: Option<usize>,
    query: Q,
) -> Arc<Q::Answer> {
    let job = Job {
        input: AnalysisInput {
            text: text.into(),
            options: options.clone(),
            step,
        },
        task: query.into(),
    };
    answered::<Q>(runner, &job)
}

fn answered<Q: Asked>(runner: &mut Runner, job: &Job) -> Arc<Q::Answer> {
    let arrived: Job = borsh::from_slice(&borsh::to_vec(job).unwrap()).unwrap();
    assert_eq!(arrived, *job);
    let mut stages = Vec::new();
    let answer = runner.run(&arrived, &mut |stage| stages.push(stage));
    assert_eq!(stages.first(), Some(&Stage::Reading));
    assert!(stages.is_sorted());
    let bytes = borsh::to_vec(&answer).unwrap();
    let read: Answer = borsh::from_slice(&bytes).unwrap();
    assert_eq!(read, answer);
    Q::of(&read).unwrap()
}

/// The analysis that follows from the worker's picture. `None` if the program has no graph.
fn pictured(runner: &mut Runner, text: &str, options: &Options) -> Option<Analysis> {
    let program = notation::parse(text).program;
    let expected = analyze_program(&program, options);
    let picture = ask(runner, text, options, None, PICTURE);
    let PlacedPlan { plan, layout } = &*picture;
    let outcome = analyze_program_with(&program, options, plan.clone());
    assert_eq!(outcome, expected);
    let analysis = outcome.analysis?;
    if let Some(placed) = layout {
        assert_eq!(
            **placed,
            layout_of(&analysis.graph, &analysis.partition, Folding::Iterations)
        );
    }
    Some(analysis)
}

fn texts() -> Vec<String> {
    let families = [chain, ladder, fan_out_and_back, bipartite, reads_all];
    let families = families.map(|reads_of| text_of(&reads_of(40)));
    let examples = EXAMPLES.iter().map(|example| example.text.to_owned());
    examples.chain(families).collect()
}

fn page_options(policy: Policy) -> Options {
    let mut options = Options::of_policy(policy);
    options.fusion.budget_states = PAGE_BUDGET_STATES;
    options
}

#[test]
fn every_answer_is_what_the_page_computes_itself() {
    for text in texts() {
        for &policy in Policy::VARIANTS {
            let options = page_options(policy);
            let runner = &mut Runner::default();
            let analysis = pictured(runner, &text, &options).unwrap();

            let told = ask(runner, &text, &options, None, Steps);
            let decided = trace_decisions(&analysis.graph, &options);
            assert_eq!(*told, steps::Steps::new(&analysis.graph, &decided));

            let step = decided.decisions.len() / 2;
            let partition = decided.partition_after(&analysis.graph, step);
            let halfway = analysis_with(&analysis, partition);
            let picture = ask(runner, &text, &options, Some(step), PICTURE);
            assert_eq!(picture.plan.partition, halfway.partition);
            if let Some(placed) = &picture.layout {
                assert_eq!(
                    **placed,
                    layout_of(&halfway.graph, &halfway.partition, Folding::Iterations)
                );
            }
        }
    }
}

fn analysed(text: &str, options: &Options) -> AnalysedText {
    AnalysedText::new(text.into(), Arc::new(parse(text)), options.clone())
}

/// The analysis of a text after a number of decisions.
fn after(analysis: Analysis, step: Option<usize>) -> Analysis {
    match step {
        Some(step) => {
            let record = trace_decisions(&analysis.graph, &analysis.options);
            let partition = record.partition_after(&analysis.graph, step);
            analysis_with(&analysis, partition)
        }
        None => analysis,
    }
}

#[test]
fn every_question_is_answered_as_the_page_answers_it() {
    // One runner: it keeps what the last question was about.
    let runner = &mut Runner::default();
    // Each text with each policy, and each of the steps with every third of these.
    let mut steps = [None, Some(0), Some(3)].into_iter().cycle();
    for text in texts() {
        let parsed = notation::parse(&text);
        for &policy in Policy::VARIANTS {
            let options = page_options(policy);
            for step in steps.by_ref().take(1) {
                let outcome = analyze_program(&parsed.program, &options);
                let diagnostics = all_diagnostics(&parsed, &outcome);
                let analysis = Arc::new(after(outcome.analysis.unwrap(), step));
                let statement_of_op = outcome.statement_of_op;
                let why_not = WhyNot::new(analysis.clone(), &statement_of_op, None);
                let last = analysis.graph.ops.ids().next_back().unwrap();
                let edge = analysis.graph.predecessors[last].first();
                let selected = edge.map(|&producer| (producer, last));
                for (order, max_rows) in [
                    (EdgeOrder::Bytes, 2),
                    (EdgeOrder::Time, 1000),
                    (EdgeOrder::Name, 2),
                ] {
                    let edges = Edges {
                        order,
                        max_rows,
                        selected,
                    };
                    let rows = why_not.rows(order, max_rows, selected);
                    assert_eq!(*ask(runner, &text, &options, step, edges), rows);
                }

                let first = OpId::new(0);
                let said = why_not.answer(first, last);
                let why = WhySeparate(first, last);
                assert_eq!(*ask(runner, &text, &options, step, why), said);

                let kernel = |op| analysis.partition.kernel_of[op];
                let change = Change::Merge(kernel(first), kernel(last));
                let proposal = propose(
                    change,
                    KernelsInText {
                        text: &text,
                        program: &parsed.program,
                        analysis: &analysis,
                        statement_of_op: &statement_of_op,
                    },
                );
                let effect = Effect(change);
                assert_eq!(*ask(runner, &text, &options, step, effect), proposal);

                let offers = merge_offers(
                    kernel(last),
                    KernelsInText {
                        text: &text,
                        program: &parsed.program,
                        analysis: &analysis,
                        statement_of_op: &statement_of_op,
                    },
                );
                let merges = Merges(kernel(last));
                assert_eq!(*ask(runner, &text, &options, step, merges), offers);

                let report = report::Report::new(&analysis, &diagnostics, &text)
                    .with_attributes(&parsed.program, &statement_of_op);
                let json = with_schema(&report).unwrap();
                assert_eq!(*ask(runner, &text, &options, step, Report), json);
            }
        }
    }
}

/// The page asks about what it has analysed; the worker begins anew.
#[test]
fn an_answer_does_not_depend_on_what_was_asked_before() {
    let options = page_options(Policy::Inductor);
    for example in EXAMPLES.iter().take(5) {
        let whole = Arc::new(analysed(example.text, &options));
        whole.analysis();
        let earlier = AnalysedText::after(&whole, 2);
        for shown in [&*whole, &earlier] {
            let edges = Edges {
                order: EdgeOrder::Bytes,
                max_rows: 9,
                selected: None,
            };
            let folding = Folding::Iterations;
            let is_fused = true;
            let tasks: [Task; 7] = [
                Picture { folding }.into(),
                Steps.into(),
                edges.into(),
                Advice.into(),
                FusionLimit.into(),
                Report.into(),
                Handout { is_fused, folding }.into(),
            ];
            for task in tasks {
                let job = Job {
                    input: shown.input(),
                    task,
                };
                let by_worker = Runner::default().run(&job, &mut |_| {});
                let by_page = task.run(shown, &mut |_| {});
                assert_eq!(by_page, by_worker, "{} {task:?}", example.id);
            }
        }
    }
}

#[test]
fn the_pictures_of_a_handout_are_those_of_the_shown_kernels() {
    // One runner: what it has drawn last may be what the handout shows.
    let runner = &mut Runner::default();
    for id in ["softmax", "gpt2_layers"] {
        let text = EXAMPLES.iter().find(|e| e.id == id).unwrap().text;
        let options = page_options(Policy::Rules);
        let whole = pictured(runner, text, &options).unwrap();
        for (step, is_fused, folding) in [
            (None, true, Folding::Iterations),
            (Some(2), true, Folding::Iterations),
            (None, false, Folding::Nothing),
            (None, true, Folding::Kernels),
        ] {
            let analysis = Arc::new(after(whole.clone(), step));
            let layout = layout_of(&analysis.graph, &analysis.partition, folding);
            let pictured = Pictured {
                analysis: &analysis,
                layout: &layout,
                is_fused,
            };
            let expected = pictured.handout(STYLE_SHEETS);
            let handout = Handout { is_fused, folding };
            let answer = ask(runner, text, &options, step, handout);
            assert_eq!(*answer, expected, "{id} {step:?}");
        }
    }
}

#[test]
fn questions_about_no_kernels_are_answered() {
    let runner = &mut Runner::default();
    let op = OpId::new(0);
    let no_rows = EdgeRows::default();
    for text in ["", "a = relu(b)\nb = relu(a)\n"] {
        let options = Options::default();
        let edges = Edges {
            order: EdgeOrder::Bytes,
            max_rows: 9,
            selected: Some((op, op)),
        };
        assert_eq!(*ask(runner, text, &options, None, edges), no_rows);
        ask(runner, text, &options, None, WhySeparate(op, op));
        let kernel = KernelId::new(0);
        let merge = Effect(Change::Merge(kernel, kernel));
        ask(runner, text, &options, None, merge);
        let merges = ask(runner, text, &options, None, Merges(kernel));
        assert_eq!(*merges, Vec::new());
        let handout = Handout {
            is_fused: true,
            folding: Folding::Iterations,
        };
        ask(runner, text, &options, None, handout);
    }
}

/// A visitor asks about a kernel, and a shorter text comes before the worker has the question.
#[test]
fn questions_about_what_the_text_has_lost_are_answered() {
    let text = "input x : f16[8]\na = relu(x)\nb = exp(a)\n";
    let (op, lost_op) = (OpId::new(0), OpId::new(2));
    let (kernel, lost_kernel) = (KernelId::new(0), KernelId::new(7));
    let runner = &mut Runner::default();
    let options = Options::default();
    for step in [None, Some(0), Some(1_000)] {
        for (a, b) in [(kernel, lost_kernel), (lost_kernel, kernel)] {
            let gone = "The program no longer has both kernels.".to_owned();
            let merge = Effect(Change::Merge(a, b));
            let answer = ask(runner, text, &options, step, merge);
            assert_eq!(*answer, Proposal::refused(gone));
        }
        for (producer, consumer) in [(op, lost_op), (lost_op, op), (lost_op, lost_op)] {
            let gone = "The program no longer has both ops.".to_owned();
            let cut = Effect(Change::Cut { producer, consumer });
            let answer = ask(runner, text, &options, step, cut);
            assert_eq!(*answer, Proposal::refused(gone));
            let gone = "The program no longer has both ops. Choose others.";
            let why = WhySeparate(producer, consumer);
            let answer = ask(runner, text, &options, step, why);
            assert_eq!(*answer, VerdictText::words(gone));
            let edges = Edges {
                order: EdgeOrder::Bytes,
                max_rows: usize::MAX,
                selected: Some((producer, consumer)),
            };
            ask(runner, text, &options, step, edges);
        }
        let merges = ask(runner, text, &options, step, Merges(lost_kernel));
        assert_eq!(*merges, Vec::new());
    }
    let sweep = Sweep { param: usize::MAX };
    assert_eq!(*ask(runner, text, &options, None, sweep), None);
}

#[test]
fn a_sweep_is_the_same_at_all_values_of_its_slider() {
    let few = ["transformer", "swiglu", "softmax"];
    for example in EXAMPLES.iter().filter(|e| few.contains(&e.id)) {
        let program = parse(example.text).program;
        for param in swept_params(&program) {
            let options = page_options(Policy::Rules);
            let query = Sweep { param: param.index };
            let job = Job::new(query, &analysed(example.text, &options));
            let answer = answered::<Sweep>(&mut Runner::default(), &job);
            let swept = answer.as_deref().unwrap();
            assert_eq!(Some(swept), sweep(&program, param.index, &options).as_ref());
            let text = set_param(example.text, &program, param.index, swept.points[0].value);
            let other = Job::new(query, &analysed(&text, &options));
            let follow = program.params.iter().filter_map(|p| p.range.as_ref());
            assert!(other == job || follow.clone().any(|range| range.dividing.is_some()));
        }
    }
}

#[test]
fn policies_are_compared_one_by_one_as_all_at_once() {
    for text in texts() {
        let options = page_options(Policy::Rules);
        let runner = &mut Runner::default();
        let chosen = pictured(runner, &text, &options).unwrap();
        for expected in compare(&chosen) {
            let query = PlanUnder {
                policy: expected.policy,
            };
            let job = Job::new(query, &analysed(&text, &chosen.options));
            let plan = answered::<PlanUnder>(runner, &job);
            let compared = Compared::new(&chosen, &job.input.options, Plan::clone(&plan));
            assert_eq!(compared.analysis, expected.analysis);
            assert_eq!(compared.differing, expected.differing);
        }
    }
}

#[test]
fn a_layout_is_sent_once_as_long_as_only_sizes_change() {
    let mut runner = Runner::default();
    let options = Options::default();
    let mut layout_of = |text: &str| {
        let picture = ask(&mut runner, text, &options, None, PICTURE);
        picture.layout.clone()
    };
    let text = "param n = 64\ninput x : f16[n]\ny = relu(x)\nz = gelu(y)\n";
    assert!(layout_of(text).is_some());
    assert!(layout_of(&text.replace("64", "128")).is_none());
    assert!(layout_of(&text.replace("gelu", "silu")).is_some());
}

#[test]
fn a_text_with_errors_is_understood_as_far_as_the_page_understands_it() {
    for text in [
        "",
        "y = ",
        "a = relu(b)\nb = relu(a)\n",
        "y = gellu(x)\nz = relu(w) : f16[4]\n",
    ] {
        pictured(&mut Runner::default(), text, &Options::default());
    }
}

#[test]
fn a_program_is_quick_up_to_the_limit_of_ops_and_reads() {
    let half = QUICK_OPS_AND_READS / 2;
    let is_quick_chain = |ops| is_quick(&notation::parse(&text_of(&chain(ops))).program);
    assert!(is_quick_chain(half));
    assert!(!is_quick_chain(half + 1));
    // Reads count, too.
    assert!(!is_quick(
        &notation::parse(&text_of(&reads_all(100))).program
    ));
    assert!(
        EXAMPLES
            .iter()
            .all(|example| is_quick(&notation::parse(example.text).program))
    );
}

#[test]
fn a_text_beyond_the_limit_is_not_parsed_and_says_so() {
    let line = "y = relu(x) : f16[4]\n";
    let mut text = line.to_owned() + &"#".repeat(MAX_ANALYSED_BYTES - line.len());
    assert_eq!(parse_if_short(&text).program.ops.len(), 1);
    text.push('#');
    let parsed = parse_if_short(&text);
    assert!(parsed.program.ops.is_empty());
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].code, Code::TooLong);
}

#[test]
fn every_device_reaches_the_worker() {
    for device in DEVICES {
        let options = Options {
            device: device.clone(),
            ..Options::default()
        };
        let arrived: Options = borsh::from_slice(&borsh::to_vec(&options).unwrap()).unwrap();
        assert_eq!(arrived, options);
    }
}

#[test]
fn a_job_of_another_version_is_refused() {
    assert!(borsh::from_slice::<Job>(b"not a job").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_choice_reaches_the_worker(options in choices(), example in 0..EXAMPLES.len()) {
        pictured(&mut Runner::default(), EXAMPLES[example].text, &options);
    }
}
