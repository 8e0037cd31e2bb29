//! The code of kernels computes what the interpreter computes: function by function, and every kernel of every example.

use crate::interpret_functions::{Case, cases};
use crate::kernel_run::{Memory, run};
use fuseline::core::examples::EXAMPLES;
use fuseline::core::interpret::{Interpretation, Setup, interpret, rounded};
use fuseline::core::kernel_code::{Kernel, of_program};
use fuseline::core::notation::parse;
use fuseline::core::{
    DType, Graph, KernelId, Options, Policy, Program, ReshapeCost, TensorId, analyze_program,
};
use strum::VariantArray;

/// A program with numbers, and the kernels of a policy.
struct Ran {
    graph: Graph,
    interpretation: Interpretation,
    memory: Memory,
    kernels: Vec<(KernelId, Result<Option<Kernel>, String>)>,
    /// The names of the ops of each kernel.
    names: Vec<Vec<String>>,
}

fn ran(program: &Program, options: &Options, given: &[(&str, &[f64])]) -> Ran {
    let outcome = analyze_program(program, options);
    let analysis = outcome.analysis.unwrap();
    let graph = analysis.graph.clone();
    let mut memory = Memory::new();
    let mut setup = Setup::default();
    for (tensor, own) in graph.tensors.iter_enumerated() {
        if !own.is_external() {
            continue;
        }
        let name = graph.tensor_name(tensor);
        let stated = given.iter().find(|(other, _)| *other == name);
        let values = match stated {
            Some((_, values)) => values.to_vec(),
            None => drawn(&graph, tensor),
        };
        setup.given.insert(name.to_owned(), values.clone());
        memory.insert(tensor, values);
    }
    setup.sizes = (program.params.iter())
        .map(|param| (param.name.text.clone(), param.value))
        .collect();
    let views_are_free = options.conventions.reshape == ReshapeCost::View;
    let kernels = of_program(
        program,
        &graph,
        &outcome.statement_of_op,
        &analysis.partition,
        views_are_free,
    );
    let interpretation = interpret(program, &analysis.partition, &setup).unwrap();
    Ran {
        kernels: kernels.ids().zip(kernels.iter().cloned()).collect(),
        names: (analysis.partition.kernels.iter())
            .map(|ops| ops.iter().map(|&op| graph.ops[op].name.clone()).collect())
            .collect(),
        graph,
        interpretation,
        memory,
    }
}

/// Numbers around 1, rounded to the type, so that every function has a value; whole ones are 0 or 1.
fn drawn(graph: &Graph, tensor: TensorId) -> Vec<f64> {
    let own = &graph.tensors[tensor];
    let elements = own.elements().unwrap();
    let dtype = own.dtype.unwrap();
    let is_whole = matches!(dtype, DType::I64 | DType::I32 | DType::I8 | DType::Bool);
    let start = tensor.index() as f64;
    (0..elements)
        .map(|place| match is_whole {
            true => (place % 2) as f64,
            false => rounded(1.0 + 0.7 * (place as f64 * 1.7 + start).sin(), dtype),
        })
        .collect()
}

/// Runs the kernels and compares the first elements of all that they store.
fn check(mut ran: Ran, about: &str) {
    for (kernel, code) in &ran.kernels {
        let Some(code) = code.as_ref().unwrap_or_else(|reason| {
            panic!(
                "{about}, kernel {:?} {:?}: {reason} ",
                ran.names[kernel.index()],
                ran.interpretation.sizes
            )
        }) else {
            continue;
        };
        run(code, &mut ran.memory);
        for argument in code.arguments.iter().filter(|argument| argument.is_written) {
            let runs = ran.interpretation.tensors[argument.tensor]
                .as_ref()
                .unwrap();
            let own = &ran.memory[&argument.tensor];
            let name = ran.graph.tensor_name(argument.tensor);
            assert_eq!(own.len(), runs.elements, "{about}, {name}");
            for (place, (value, expected)) in own.iter().zip(&runs.exact).enumerate() {
                let is_near = value == expected
                    || value.is_nan() && expected.is_nan()
                    || (value - expected).abs() <= 1e-6 * expected.abs().max(1.0);
                assert!(
                    is_near,
                    "{about}, element {place} of {name} is {value}, not {expected}: {code:#?}"
                );
            }
        }
    }
}

fn text_of(case: &Case) -> String {
    let mut text = String::new();
    for (name, dtype, _) in case.inputs {
        text.extend(["input ", name, " : ", dtype, "\n"]);
    }
    text.extend(["result = ", case.call]);
    text
}

#[test]
fn each_function_computes_its_value_or_says_that_it_is_not_generated() {
    let copies = Options {
        conventions: fuseline::core::Conventions {
            reshape: ReshapeCost::Copy,
            ..Default::default()
        },
        ..Options::default()
    };
    let mut without = Vec::new();
    for case in cases() {
        let text = text_of(&case);
        let given: Vec<(&str, &[f64])> =
            case.inputs.iter().map(|input| (input.0, input.2)).collect();
        let program = parse(&text).program;
        let ran = ran(&program, &copies, &given);
        match &ran.kernels[..] {
            [(_, Err(reason))] => without.push((case.call, reason.clone())),
            _ => check(ran, case.call),
        }
    }
    let expected = [
        "topk",
        "topk_indices",
        "sort",
        "argsort",
        "scatter",
        "scatter_add",
        "index_copy",
        "index_add",
    ];
    for (call, reason) in without {
        let name = call.split('(').next().unwrap();
        assert!(expected.contains(&name), "{call}: {reason}");
        assert_eq!(reason, format!("no kernel is generated for `{name}`"));
    }
}

/// The example with sizes as small as its shapes allow.
fn small(text: &str) -> Program {
    let mut program = parse(text).program;
    let ops = |program: &Program| {
        let outcome = analyze_program(program, &Options::default());
        let is_well = outcome
            .diagnostics
            .iter()
            .all(|d| d.severity != fuseline::core::Severity::Error);
        outcome
            .analysis
            .filter(|_| is_well)
            .map(|analysis| analysis.graph.ops.len())
    };
    let all = ops(&program);
    for _ in 0..40 {
        let mut has_changed = false;
        for place in 0..program.params.len() {
            let before = program.params[place].value;
            for divisor in [2, 3] {
                let smaller = before / divisor;
                if before % divisor == 0 && smaller >= 4 {
                    program.params[place].value = smaller;
                    if ops(&program) == all {
                        has_changed = true;
                        break;
                    }
                    program.params[place].value = before;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    program
}

#[test]
fn every_kernel_of_every_example_computes_its_tensors() {
    for example in EXAMPLES {
        let program = small(example.text);
        for &policy in Policy::VARIANTS {
            let options = Options {
                policy,
                ..Options::default()
            };
            let about = format!("{}, {policy:?}", example.id);
            let ran = ran(&program, &options, &[]);
            check(ran, &about);
        }
    }
}
