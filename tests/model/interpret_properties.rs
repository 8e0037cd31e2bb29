//! Runs of random programs, and of all examples.
#![allow(clippy::float_cmp, reason = "every bit of a rounded number is meant")]

use crate::random_graph;
use fuseline_codegen::interpret::{Interpretation, Setup, interpret, interpret_graph};
use fuseline_core::examples::{EXAMPLES, Example};
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{
    DType, Op, OpType, Options, Partition, Policy, TensorDecl, analyze_program, build_graph, plan,
};
use proptest::prelude::*;
use std::sync::LazyLock;
use strum::VariantArray;

/// Gives each op a function that takes its inputs, picked by its place.
pub(crate) fn with_functions(ops: Vec<Op>) -> Vec<Op> {
    let functions = |op: &Op, place: usize| {
        let choices: &[Function] = match (op.op_type, op.inputs.len()) {
            (OpType::Elementwise, 1) => &[
                Function::Tanh,
                Function::Exp,
                Function::Square,
                Function::Silu,
                Function::Relu,
            ],
            (OpType::Elementwise, 2) => &[
                Function::Add,
                Function::Mul,
                Function::Div,
                Function::Maximum,
            ],
            (OpType::Elementwise, _) => &[Function::Where],
            (OpType::Reduction, _) if op.shape.last() == Some(&1) => {
                &[Function::Mean, Function::Sum, Function::Max]
            }
            (OpType::Reduction, _) => &[Function::Softmax, Function::LayerNorm, Function::RmsNorm],
            (OpType::Matmul, _) => &[Function::Matmul],
            (OpType::Reshape, _) => &[Function::Reshape],
            (OpType::Opaque, _) => &[Function::Opaque],
        };
        choices[place % choices.len()]
    };
    let of_functions = ops.into_iter().enumerate().map(|(place, op)| {
        let function = functions(&op, place);
        op.with_function(function)
    });
    of_functions.collect()
}

/// The same, all in f64.
fn in_f64(ops: &[Op], externals: &[TensorDecl]) -> (Vec<Op>, Vec<TensorDecl>) {
    let ops = ops.iter().map(|op| Op {
        bytes_per_element: DType::F64.size(),
        ..op.clone()
    });
    let externals = externals.iter().map(|tensor| TensorDecl {
        bytes_per_element: DType::F64.size(),
        ..tensor.clone()
    });
    (ops.collect(), externals.collect())
}

/// Bit for bit, also where a value is not a number.
fn bits(ran: &Interpretation) -> Vec<String> {
    ran.tensors.iter().map(|runs| format!("{runs:?}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_f64_there_is_no_error((ops, externals) in random_graph::fusable_ops(1..=12), seed in any::<u64>()) {
        let (ops, externals) = in_f64(&with_functions(ops), &externals);
        let graph = build_graph(&ops, &externals).unwrap();
        for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
            let kernels = plan(&graph, &Options::of_policy(policy)).partition;
            let ran = interpret_graph(&graph, &kernels, &Setup { seed, ..Setup::default() }).unwrap();
            for runs in ran.tensors.iter().flatten() {
                for stored in [&runs.unfused, &runs.fused] {
                    prop_assert_eq!((stored.error.max_abs, stored.error.relative), (0.0, 0.0));
                    prop_assert_eq!(format!("{:?}", &stored.first), format!("{:?}", &runs.exact));
                }
            }
        }
    }

    #[test]
    fn without_fusion_both_runs_are_one_and_a_repeated_run_is_the_same((ops, externals) in random_graph::fusable_ops(1..=12), seed in any::<u64>()) {
        let graph = build_graph(with_functions(ops), &externals).unwrap();
        let setup = Setup { seed, ..Setup::default() };
        let alone = plan(&graph, &Options::of_policy(Policy::None)).partition;
        let ran = interpret_graph(&graph, &alone, &setup).unwrap();
        for runs in ran.tensors.iter().flatten() {
            prop_assert_eq!(format!("{:?}", &runs.unfused), format!("{:?}", &runs.fused));
            prop_assert!(runs.unfused.is_stored);
        }
        let fused = plan(&graph, &Options::of_policy(Policy::Optimal)).partition;
        let first = interpret_graph(&graph, &fused, &setup).unwrap();
        let again = interpret_graph(&graph, &fused, &setup).unwrap();
        prop_assert_eq!(bits(&first), bits(&again));
        // What is not fused differently is not computed differently.
        for (one, other) in ran.tensors.iter().zip(&first.tensors) {
            let unfused = |runs: &Option<fuseline_codegen::interpret::TensorRuns>| runs.as_ref().map(|runs| format!("{:?}", runs.unfused));
            prop_assert_eq!(unfused(one), unfused(other));
        }
    }

    /// Whatever the function and the shapes, an op has a value or a reason.
    #[test]
    fn nothing_panics((ops, externals) in random_graph::ops(16), picks in prop::collection::vec(any::<prop::sample::Index>(), 16)) {
        let ops: Vec<Op> = (ops.into_iter().zip(picks)).map(|(op, pick)| op.with_function(*pick.get(Function::VARIANTS))).collect();
        let graph = build_graph(&ops, &externals).unwrap();
        for &policy in Policy::VARIANTS {
            let kernels = plan(&graph, &Options::of_policy(policy)).partition;
            let ran = interpret_graph(&graph, &kernels, &Setup::default()).unwrap();
            prop_assert!(ran.refused.iter().all(|refused| !refused.reason.to_string().is_empty()));
        }
    }
}

/// An example that ran with the kernels of the rules, as the page runs it first.
pub(crate) struct RanExample {
    pub(crate) example: &'static Example,
    pub(crate) kernels: Partition,
    pub(crate) ran: Interpretation,
}

/// All examples with ops.
pub(crate) static RAN_EXAMPLES: LazyLock<Vec<RanExample>> = LazyLock::new(|| {
    let programs = EXAMPLES.iter().map(|e| (e, parse(e.text).program));
    let with_ops = programs.filter(|(_, program)| !program.ops.is_empty());
    let ran = with_ops.map(|(example, program)| {
        let options = Options::of_policy(Policy::Rules);
        let analysis = analyze_program(&program, &options).analysis.unwrap();
        let ran = interpret(&program, &analysis.partition, &Setup::default());
        RanExample {
            example,
            kernels: analysis.partition,
            ran: ran.unwrap_or_else(|refused| panic!("{}: {refused:?}", example.id)),
        }
    });
    ran.collect()
});

/// Every op of every example has a value, and fusion makes no result much worse.
#[test]
fn every_example_runs() {
    for RanExample { example, ran, .. } in RAN_EXAMPLES.iter() {
        assert_eq!(ran.refused, [], "{}", example.id);
        let result = ran.tensors[ran.result().unwrap()].as_ref().unwrap();
        let [unfused, fused] = [&result.unfused, &result.fused].map(|run| run.error.relative);
        assert!(unfused < 0.05, "{}: {unfused}", example.id);
        assert!(
            fused < 1.2 * unfused + 1e-9,
            "{}: {unfused} {fused}",
            example.id
        );
    }
}
