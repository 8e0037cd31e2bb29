//! Memory that a program needs at once, held against a simulation that asks for every kernel which
//! tensors are live.

use crate::random_graph::{fusable_ops, ops};
use fuseline_core::analysis::PeakMemory;
use fuseline_core::analysis::compare::compare;
use fuseline_core::analysis::memory::lifetimes;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Conventions, Device, Execution, Externals, KernelId, Objective, Op, Options, Policy,
    ReshapeCost, TensorDecl, TensorId, analyze, analyze_program,
};
use fuseline_view::present::compare::policy_rows;
use fuseline_view::present::figure::Part;
use fuseline_view::present::memory::{memory_sentence, memory_warning};
use fuseline_view::present::quantity::Quantity;
use fuseline_view::present::report::Report;
use proptest::prelude::*;
use std::collections::BTreeSet;
use strum::VariantArray;

fn of_text(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

/// The tensor whose bytes a tensor is, where reshapes are views, or kernels index a part of a
/// buffer.
fn base(analysis: &Analysis, execution: &Execution, tensor: TensorId) -> TensorId {
    let graph = &analysis.graph;
    let is_fused = std::ptr::eq(execution, &raw const analysis.fused);
    let is_indexed = |op| is_fused && analysis.partition.views.contains(&op);
    let is_free = analysis.options.conventions.reshape == ReshapeCost::View;
    if let Some(op) = graph.tensors[tensor].producer
        && (is_free && graph.ops[op].is_view() || is_indexed(op))
        && let Some(&input) = graph.inputs[op].first()
    {
        return base(analysis, execution, input);
    }
    tensor
}

/// `O(kernels^2)`: the tensors that are live while a kernel runs.
fn live_at(analysis: &Analysis, execution: &Execution, now: KernelId) -> BTreeSet<TensorId> {
    let graph = &analysis.graph;
    let finals = (graph.output.iter().copied()).filter(|&output| graph.is_final(output));
    let finals: BTreeSet<TensorId> = finals
        .map(|output| base(analysis, execution, output))
        .collect();
    let mut live: BTreeSet<TensorId> = (graph.inputs.iter().flatten().copied())
        .filter(|&tensor| graph.tensors[tensor].is_external())
        .collect();
    let kernels = || execution.kernels.iter_enumerated();
    for (_, kernel) in kernels().filter(|&(id, _)| id <= now) {
        for write in &kernel.traffic.writes {
            let is_written_now = execution.kernels[now].traffic.writes.contains(write);
            let is_read_later = kernels().any(|(id, reader)| {
                let mut reads = reader.traffic.reads.iter();
                id >= now
                    && reads.any(|read| base(analysis, execution, read.tensor) == write.tensor)
            });
            if is_written_now || is_read_later || finals.contains(&write.tensor) {
                live.insert(write.tensor);
            }
        }
    }
    live
}

/// Bytes that all these tensors have; externals are declared.
fn bytes(analysis: &Analysis, tensors: &BTreeSet<TensorId>) -> u64 {
    let tensors = tensors.iter();
    tensors
        .map(|&tensor| analysis.graph.tensors[tensor].bytes().unwrap())
        .sum()
}

fn check(ops: &[Op], externals: &[TensorDecl]) -> Result<(), TestCaseError> {
    for (&policy, &reshape) in (Policy::VARIANTS.iter()).flat_map(|policy| {
        ReshapeCost::VARIANTS
            .iter()
            .map(move |reshape| (policy, reshape))
    }) {
        let options = Options {
            conventions: Conventions {
                reshape,
                // What inputs count as traffic changes nothing about the memory that they need.
                externals: Externals::KnownOnly,
                ..Conventions::default()
            },
            ..Options::of_policy(policy)
        };
        let analysis = analyze(ops, externals, &options).unwrap();
        for execution in [&analysis.unfused, &analysis.fused] {
            let ids = || execution.kernels.ids();
            let naive = |id: KernelId| bytes(&analysis, &live_at(&analysis, execution, id));
            let lifetimes = lifetimes(&analysis, execution);
            for id in ids() {
                let live: BTreeSet<TensorId> = (lifetimes.iter())
                    .filter(|lifetime| lifetime.holds(id))
                    .map(|lifetime| lifetime.tensor)
                    .collect();
                prop_assert_eq!(live, live_at(&analysis, execution, id));
            }
            let peak = ids().map(naive).max().unwrap_or(0);
            let first = ids().find(|&id| naive(id) == peak);
            prop_assert_eq!(
                execution.peak_memory,
                PeakMemory {
                    bytes: peak,
                    kernel: first
                }
            );
            for kernel in &execution.kernels {
                let moved = kernel.traffic.reads.iter().chain(&kernel.traffic.writes);
                let own: BTreeSet<TensorId> = moved
                    .map(|access| base(&analysis, execution, access.tensor))
                    .collect();
                prop_assert!(bytes(&analysis, &own) <= peak);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_peak_is_that_of_a_simulation((ops, externals) in ops(14)) {
        check(&ops, &externals)?;
    }

    #[test]
    fn the_peak_of_fused_programs_is_that_of_a_simulation((ops, externals) in fusable_ops(1..=14)) {
        check(&ops, &externals)?;
    }

    #[test]
    fn results_that_ops_read_stay_to_the_end((mut ops, externals) in fusable_ops(1..=14), outputs in any::<u16>()) {
        for (place, op) in ops.iter_mut().enumerate() {
            op.is_output = outputs >> place & 1 == 1;
        }
        check(&ops, &externals)?;
    }
}

#[test]
fn inputs_stay_outputs_stay_and_what_a_kernel_keeps_needs_no_memory() {
    // 1 kB each. Unfused: x, a and b; then x, b, and c; then x, b, c and d.
    let text = "input x : f16[512]\na = relu(x)\nb = relu(a)\nc = softmax(b)\nd = add(b, c)\n";
    let none = of_text(text, Policy::None);
    assert_eq!(
        none.unfused.peak_memory,
        PeakMemory {
            bytes: 4096,
            kernel: Some(KernelId::new(3))
        }
    );
    let rules = of_text(text, Policy::Rules);
    assert_eq!(rules.unfused, none.unfused);
    // Two outputs of which the first is written long before the end.
    let outputs = "input x : f16[512]\na = softmax(x)\nb = relu(x)\nc = softmax(b)\nd = relu(c)\n";
    assert_eq!(
        of_text(outputs, Policy::None).unfused.peak_memory.bytes,
        4 * 1024
    );
    // `a` is read early, and the program returns it all the same.
    let read =
        "input x : f16[512]\na = relu(x)\nb = relu(a)\nc = softmax(b)\nd = softmax(c)\noutput a\n";
    assert_eq!(
        of_text(read, Policy::None).unfused.peak_memory.bytes,
        4 * 1024
    );
}

/// The scores of one attention over 16,384 tokens with 128 heads have 68.7 GB, and the softmax
/// reads and writes them.
#[test]
fn the_scores_of_a_long_sequence_do_not_fit() {
    let text = include_str!("../../public/examples/transformer.fuse");
    let mut program = parse(text).program;
    for (name, value) in [("S", 16_384), ("heads", 128)] {
        let param = program
            .params
            .iter_mut()
            .find(|param| param.name.text == name);
        param.unwrap().value = value;
    }
    let fused = |attention: bool| {
        let mut options = Options::default();
        options.fusion.attention = attention;
        analyze_program(&program, &options).analysis.unwrap()
    };
    let scores = fused(false);
    let peak = scores.fused.peak_memory;
    assert!(peak.bytes > 2 * 68_719_476_736, "{peak:?}");
    let warning = Part::text_of(&memory_warning(&scores).unwrap());
    assert_eq!(
        warning,
        "Does not fit in memory: while kernel 3 (softmax) runs, 138 GB of tensors are live, and A100 SXM 80GB has 85.1 GB."
    );
    assert_eq!(Part::text_of(&memory_sentence(&scores)), warning);
    let row = |analysis: &Analysis| {
        let rows = policy_rows(&compare(analysis), Policy::Rules, Objective::Bytes);
        rows.into_iter()
            .find(|row| row.policy == Policy::Rules)
            .unwrap()
    };
    assert!(row(&scores).is_too_large);
    assert_eq!(
        row(&scores).cells.fused(Quantity::PeakMemory),
        Some("138 GB")
    );
    assert_eq!(Report::new(&scores, &[], "").peak_memory.fits, Some(false));

    let flash = fused(true);
    assert!(flash.fused.peak_memory.bytes < 3_000_000_000);
    assert_eq!(memory_warning(&flash), None);
    assert!(Part::text_of(&memory_sentence(&flash)).contains(" of 85.1 GB "));
    assert!(!row(&flash).is_too_large);
    let report = Report::new(&flash, &[], "").peak_memory;
    assert_eq!(report.fits, Some(true));
    assert_eq!(report.unfused_bytes, scores.unfused.peak_memory.bytes);
}

#[test]
fn a_device_of_unknown_memory_gets_no_warning() {
    let options = Options {
        device: Device::custom(1e12, 1e14, 1e13, 0.0),
        ..Options::default()
    };
    let text = "input x : f16[1048576, 1048576]\ny = relu(x)\n";
    let analysis = analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap();
    assert_eq!(memory_warning(&analysis), None);
    assert!(Part::text_of(&memory_sentence(&analysis)).starts_with("Memory: 4.40 TB where"));
    assert_eq!(Report::new(&analysis, &[], "").peak_memory.fits, None);
}
