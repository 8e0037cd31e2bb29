//! What the page and its worker compute of a program.

use super::{analysed, assert_sums, choices_of, one, options, parsed};
use fuseline::app::analysed::AnalysisInput;
use fuseline::app::jobs::Job;
use fuseline::app::queries::{
    Advice, Edges, Effect, FusionLimit, Merges, Picture, PlanUnder, Report, Steps, Table, Task,
    WhySeparate,
};
use fuseline::app::runner::Runner;
use fuseline_codegen::kernel_code::CodeLanguage;
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::compare::compare;
use fuseline_core::analysis::limits::limits;
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::analysis::sweep::{Measure, sweep};
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::{Analysis, KernelId, Objective, OpId, Policy, TensorId, analyze_program};
use fuseline_learn::lesson;
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_learn::puzzle::{self, Posed};
use fuseline_view::picture::charts::{
    by_kernel_scene, roofline, roofline_compare, timeline, traffic_bars,
};
use fuseline_view::picture::dag::looks::Looks;
use fuseline_view::picture::dag::{Folding, layout_of};
use fuseline_view::present::advice::advice_rows;
use fuseline_view::present::figure::explanation;
use fuseline_view::present::headline::headline;
use fuseline_view::present::inspect::{inspect_edge, inspect_kernel, inspect_op, inspect_tensor};
use fuseline_view::present::kernel_code::kernel_code;
use fuseline_view::present::kernel_details::kernel_details;
use fuseline_view::present::limits::limit_rows;
use fuseline_view::present::manual::Change;
use fuseline_view::present::pytorch::script;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::search::found;
use fuseline_view::present::steps;
use fuseline_view::present::sweep::{crossing_rows, sweep_rows, swept_params};
use fuseline_view::present::tables::TableKind;
use fuseline_view::present::why::{EdgeOrder, WhyNot};
use proptest::prelude::RngExt;
use proptest::test_runner::TestRng;
use std::sync::Arc;
use strum::VariantArray;

pub(super) fn pictures(input: &[u8]) {
    const SIZES: [(f64, f64); 3] = [(900.0, 560.0), (360.0, 300.0), (1.0, 1.0)];
    let mut rng = choices_of(input);
    let outcome = analysed(&String::from_utf8_lossy(input), &mut rng).1;
    let Some(analysis) = outcome.analysis else {
        return;
    };
    let size = one(&mut rng, &SIZES);
    for scene in [
        roofline::scene(&analysis, size, None),
        traffic_bars::scene(&analysis, size, None),
        timeline::scene(&analysis, size, None),
        by_kernel_scene(&analysis, size.0, None),
    ] {
        let keys = scene.keys();
        assert_eq!(keys.len(), scene.marks.len());
    }
    let analysis = Arc::new(analysis);
    let folding = one(&mut rng, Folding::VARIANTS);
    let picture = layout_of(&analysis.graph, &analysis.partition, folding);
    assert!(picture.width.is_finite() && picture.height.is_finite());
    let looks = Looks::new(Arc::clone(&analysis), rng.random_bool(0.5));
    for (id, op) in picture.ops.iter_enumerated() {
        let inside = picture.inside(id);
        looks.op(id, &inside, op.rect.width);
        looks.op_name(id, &inside);
    }
    for edge in &picture.edges {
        looks.edge(edge);
    }
}

pub(super) fn policies(input: &[u8]) {
    let mut rng = choices_of(input);
    let program = parsed(&String::from_utf8_lossy(input)).program;
    for &policy in Policy::VARIANTS {
        let outcome = analyze_program(&program, &options(&mut rng, policy));
        if let Some(analysis) = &outcome.analysis {
            assert_sums(analysis);
            let ops: usize = analysis.partition.kernels.iter().map(<[_]>::len).sum();
            assert_eq!(ops, analysis.graph.ops.len());
            assert_certificate(analysis);
        }
    }
}

/// What the search has minimized is what the kernels cost, and no sum of ticks has gone beyond the
/// largest.
fn assert_certificate(analysis: &Analysis) {
    let Some(certificate) = &analysis.certificate else {
        return;
    };
    let (cost, bound) = (certificate.cost.value(), certificate.lower_bound.value());
    assert!(bound <= cost, "{certificate:?}");
    let shown = match certificate.objective {
        Objective::Bytes => analysis.fused.traffic.total as f64,
        // Measured times are above bounds.
        Objective::Measured => return,
        Objective::Time => analysis.fused.time_s,
    };
    let is_close = (cost - shown).abs() <= 1e-6 * shown;
    assert!(is_close, "{cost} for {shown}: {certificate:?}");
}

/// Everything that is computed on demand.
pub(super) fn answers(input: &[u8]) {
    let mut rng = choices_of(input);
    let outcome = analysed(&String::from_utf8_lossy(input), &mut rng).1;
    let Some(analysis) = outcome.analysis else {
        return;
    };
    let why = Why::new(&analysis);
    why.edges();
    let why_not = WhyNot::new(Arc::new(analysis.clone()), &outcome.statement_of_op, None);
    why_not.rows(EdgeOrder::Name, 50, None);
    let kernels: Vec<_> = analysis.partition.kernels.ids().collect();
    for _ in 0..kernels.len().min(20) {
        let _ = why.merge(one(&mut rng, &kernels), one(&mut rng, &kernels));
        kernel_details(&analysis, one(&mut rng, &kernels));
    }
    limits(&analysis);
    limit_rows(&analysis, 200);
    let trace = trace_decisions(&analysis.graph, &analysis.options);
    let steps = steps::Steps::new(&analysis.graph, &trace);
    steps.lines(&analysis.graph, 1..steps.count() + 1);
    let step = rng.random_range(0..=trace.decisions.len());
    let earlier = trace.partition_after(&analysis.graph, step);
    assert_sums(&analysis_with(&analysis, earlier));
    let all = compare(&analysis);
    roofline_compare::scene(&analysis, &all, (600.0, 400.0), None);
}

/// An id of something that there is, that there was, or that never was.
fn any_index(rng: &mut TestRng, count: usize) -> usize {
    match rng.random_range(0..4_u32) {
        0 => rng.random_range(0..=usize::try_from(u32::MAX).unwrap_or(usize::MAX)),
        1 => count + rng.random_range(0..3_usize),
        _ => rng.random_range(0..count.max(1)),
    }
}

/// Questions to a worker whose text has changed since they were asked.
pub(super) fn worker(input: &[u8]) {
    let mut rng = choices_of(input);
    let text = String::from_utf8_lossy(input);
    let (parsed, outcome) = analysed(&text, &mut rng);
    let text: Arc<str> = fuseline_core::notation::print(&parsed.program).into();
    let half = text.len() / 2;
    let half = (half..text.len()).find(|&at| text.is_char_boundary(at));
    let shorter: Arc<str> = text[..half.unwrap_or(0)].into();
    let ops = outcome
        .analysis
        .map_or(0, |analysis| analysis.graph.ops.len());
    let mut runner = Runner::default();
    let policies = [(); 2].map(|()| one(&mut rng, Policy::VARIANTS));
    let choices = policies.map(|policy| options(&mut rng, policy));
    for _ in 0..12 {
        let [op, other] = [(); 2].map(|()| OpId::new(any_index(&mut rng, ops)));
        let [kernel, second] = [(); 2].map(|()| KernelId::new(any_index(&mut rng, ops)));
        let edges = Edges {
            order: one(
                &mut rng,
                &[EdgeOrder::Bytes, EdgeOrder::Time, EdgeOrder::Name],
            ),
            max_rows: any_index(&mut rng, ops),
            selected: rng.random_bool(0.5).then_some((op, other)),
        };
        let cut = Change::Cut {
            producer: op,
            consumer: other,
        };
        let tasks: [Task; 12] = [
            edges.into(),
            WhySeparate(op, other).into(),
            Advice.into(),
            FusionLimit.into(),
            Effect(Change::Merge(kernel, second)).into(),
            Effect(cut).into(),
            Merges(kernel).into(),
            Report.into(),
            Table(one(&mut rng, TableKind::VARIANTS)).into(),
            Picture {
                folding: one(&mut rng, Folding::VARIANTS),
            }
            .into(),
            PlanUnder {
                policy: one(&mut rng, Policy::VARIANTS),
            }
            .into(),
            Steps.into(),
        ];
        let job = Job {
            input: AnalysisInput {
                text: one(&mut rng, &[&text, &text, &shorter]).clone(),
                options: one(&mut rng, &[&choices[0], &choices[0], &choices[1]]).clone(),
                step: rng.random_bool(0.5).then(|| any_index(&mut rng, ops)),
            },
            task: one(&mut rng, &tasks),
        };
        runner.run(&job, &mut |_| {});
    }
}

/// A param at many values.
pub(super) fn sweeps(input: &[u8]) {
    let mut rng = choices_of(input);
    let program = parsed(&String::from_utf8_lossy(input)).program;
    if program.ops.len() > 40 {
        return;
    }
    let policy = one(&mut rng, Policy::VARIANTS);
    let options = options(&mut rng, policy);
    let params = swept_params(&program);
    let param = match params.get(any_index(&mut rng, params.len())) {
        Some(param) => param.index,
        None => any_index(&mut rng, program.params.len()),
    };
    let Some(swept) = sweep(&program, param, &options) else {
        return;
    };
    for &measure in Measure::VARIANTS {
        sweep_rows(&swept, measure);
    }
    crossing_rows(&swept, &options.device);
}

/// What would save time.
pub(super) fn advice(input: &[u8]) {
    let mut rng = choices_of(input);
    let text = String::from_utf8_lossy(input);
    let (parsed, outcome) = analysed(&text, &mut rng);
    if let Some(analysis) = &outcome.analysis {
        advice_rows(KernelsInText {
            text: &text,
            program: &parsed.program,
            analysis,
            statement_of_op: &outcome.statement_of_op,
        });
    }
}

/// Numbers that explain themselves, of what there is and of what there is not.
pub(super) fn figures(input: &[u8]) {
    const QUANTITIES: &[Quantity] = &[
        Quantity::Bytes,
        Quantity::BytesRead,
        Quantity::BytesWritten,
        Quantity::Saving,
        Quantity::Launches,
        Quantity::Flops,
        Quantity::Intensity,
        Quantity::Bottleneck,
        Quantity::Ridge,
        Quantity::Time,
        Quantity::LowerBound,
        Quantity::Speedup,
        Quantity::BoundSpeedup,
        Quantity::PeakMemory,
        Quantity::Differing,
        Quantity::DeviceMemory,
        Quantity::BytesVanished,
        Quantity::OnChip,
        Quantity::OnChipAvailable,
        Quantity::Registers,
        Quantity::Occupancy,
        Quantity::Blocks,
        Quantity::Waves,
        Quantity::WaveEfficiency,
        Quantity::TileEfficiency,
    ];
    let mut rng = choices_of(input);
    let Some(analysis) = analysed(&String::from_utf8_lossy(input), &mut rng)
        .1
        .analysis
    else {
        return;
    };
    headline(&analysis).sentence();
    let graph = &analysis.graph;
    for _ in 0..20 {
        let op = OpId::new(any_index(&mut rng, graph.ops.len()));
        let tensor = TensorId::new(any_index(&mut rng, graph.tensors.len()));
        for of in [
            Subject::Program,
            Subject::Kernel(op),
            Subject::Op(op),
            Subject::Tensor(tensor),
            Subject::TensorAt(op, tensor),
        ] {
            let quantity = one(&mut rng, QUANTITIES);
            for figure in [Figure::fused(of, quantity), Figure::unfused(of, quantity)] {
                explanation(figure, &analysis);
            }
        }
    }
}

/// Kernels as code, and the program as a script.
pub(super) fn code(input: &[u8]) {
    let mut rng = choices_of(input);
    let (parsed, outcome) = analysed(&String::from_utf8_lossy(input), &mut rng);
    let Some(analysis) = outcome.analysis else {
        return;
    };
    let statements = &outcome.statement_of_op;
    for _ in 0..6 {
        let kernel = KernelId::new(any_index(&mut rng, analysis.fused.kernels.len()));
        for &language in CodeLanguage::VARIANTS {
            kernel_code(&analysis, &parsed.program, statements, kernel, language);
        }
    }
    let _ = script("a program", &parsed.program, &analysis, statements);
}

/// The card of whatever is clicked, there or not.
pub(super) fn inspection(input: &[u8]) {
    let mut rng = choices_of(input);
    let Some(analysis) = analysed(&String::from_utf8_lossy(input), &mut rng)
        .1
        .analysis
    else {
        return;
    };
    let graph = &analysis.graph;
    for _ in 0..20 {
        let [op, other] = [(); 2].map(|()| OpId::new(any_index(&mut rng, graph.ops.len())));
        let kernel = KernelId::new(any_index(&mut rng, analysis.fused.kernels.len()));
        let tensor = TensorId::new(any_index(&mut rng, graph.tensors.len()));
        for inspected in [
            inspect_op(&analysis, op),
            inspect_edge(&analysis, op, other),
            inspect_kernel(&analysis, kernel),
            inspect_tensor(&analysis, tensor),
        ] {
            for fact in inspected.iter().flat_map(|inspected| &inspected.facts) {
                fact.text();
            }
        }
    }
    for query in ["", "a", "matmul", "é"] {
        found(graph, query);
    }
}

/// Files of teachers.
pub(super) fn lessons(input: &[u8]) {
    let (read, _) = lesson::read(&String::from_utf8_lossy(input));
    lesson::check::check(&read);
}

/// Puzzles of links and files, as the page opens them and as a teacher makes one of them.
pub(super) fn puzzles(input: &[u8]) {
    let source = PuzzleSource::own(&String::from_utf8_lossy(input));
    let (read, _) = puzzle::read(source.text());
    // Its program alone, without what its comment says.
    let made = puzzle::make(
        &read.page.shared,
        "title",
        &puzzle::proposed_goal(source.text()),
    );
    for posed in [Posed::of(read).ok(), made.ok()].into_iter().flatten() {
        let steps = posed.analyzed().and_then(|seen| posed.way(&seen));
        let last = steps.and_then(|mut steps| steps.pop());
        if let Some(last) = last {
            // What a solver sends is the puzzle again.
            assert_eq!(
                PuzzleSource::own(&last.text).text(),
                posed.puzzle.page.shared.text
            );
        }
        posed.ranks();
        posed.summary();
    }
}
