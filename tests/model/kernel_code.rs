//! The code of kernels computes what the interpreter computes: function by function, and every
//! kernel of every example.

use crate::interpret_functions::{Case, cases};
use crate::interpret_properties::with_functions;
use crate::kernel_run::{Memory, run};
use crate::random_graph;
use fuseline_codegen::interpret::{Interpretation, Setup, interpret, interpret_graph, rounded};
use fuseline_codegen::kernel_code::{
    Argument, Coded, Kernel, Naming, of_graph, of_program, triton, wgsl,
};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{
    DType, Graph, KernelId, Op, OpType, Options, Policy, Program, ReshapeCost, Tensor, TensorId,
    analyze_program, build_graph, plan,
};
use proptest::prelude::*;
use strum::VariantArray;

/// A program with numbers, and the kernels of a policy.
pub(crate) struct Ran {
    pub(crate) graph: Graph,
    interpretation: Interpretation,
    memory: Memory,
    pub(crate) kernels: Vec<(KernelId, Coded)>,
    /// The names of the ops of each kernel.
    names: Vec<Vec<String>>,
}

pub(crate) fn ran(program: &Program, options: &Options, given: &[(&str, &[f64])]) -> Ran {
    let outcome = analyze_program(program, options);
    let analysis = outcome.analysis.unwrap();
    let graph = analysis.graph.clone();
    let mut memory = Memory::default();
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

/// Numbers around 1, rounded to the type, so that every function has a value; whole ones are 0
/// or 1.
fn drawn(graph: &Graph, tensor: TensorId) -> Vec<f64> {
    let own = &graph.tensors[tensor];
    let elements = own.elements().unwrap();
    let dtype = own.dtype.unwrap();
    let is_whole = matches!(dtype, DType::I64 | DType::I32 | DType::I8 | DType::Bool);
    let start = tensor.index() as f64;
    (0..elements)
        .map(|place| {
            if is_whole {
                (place % 2) as f64
            } else {
                rounded(1.0 + 0.7 * (place as f64 * 1.7 + start).sin(), dtype)
            }
        })
        .collect()
}

/// Runs the kernels and compares the first elements of all that they store.
pub(crate) fn check(mut ran: Ran, about: &str) {
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
        // The interpreter keeps no row values; the kernels that read them do not work without.
        let is_tensor = |own: &&Argument| own.is_written && own.row_value.is_none();
        for argument in code.arguments.iter().filter(is_tensor) {
            let runs = ran.interpretation.tensors[argument.tensor]
                .as_ref()
                .unwrap();
            let own = ran.memory.of(argument.tensor);
            let name = ran.graph.tensor_name(argument.tensor);
            assert_eq!(own.len(), runs.elements, "{about}, {name}");
            for (place, (value, expected)) in own.iter().zip(&runs.exact).enumerate() {
                let is_near = value.to_bits() == expected.to_bits()
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
        conventions: fuseline_core::Conventions {
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
        "index_put",
        "slice_scatter",
    ];
    for (call, reason) in without {
        let name = call.split('(').next().unwrap().trim_end_matches('_');
        assert!(expected.contains(&name), "{call}: {reason}");
        assert_eq!(
            reason.to_string(),
            format!("no kernel is generated for `{name}`")
        );
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
            .all(|d| d.severity != fuseline_core::Severity::Error);
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
        let analysed = analyze_program(&program, &Options::default())
            .analysis
            .unwrap();
        let elements = |tensor: &Tensor| tensor.elements().unwrap();
        if analysed.graph.tensors.iter().map(elements).sum::<u64>() > 200_000 {
            // Its sizes are fixed, and too large for a test.
            continue;
        }
        // Many policies give the same kernels.
        let mut checked = Vec::new();
        for &policy in Policy::VARIANTS {
            let options = Options::of_policy(policy);
            let kernels = analyze_program(&program, &options)
                .analysis
                .unwrap()
                .partition;
            if !checked.contains(&kernels) {
                let about = format!("{}, {policy:?}", example.id);
                check(ran(&program, &options, &[]), &about);
                checked.push(kernels);
            }
        }
    }
}

/// Reads a shader as a browser does.
pub(crate) fn validate(graph: &Graph, kernel: &Kernel, about: &str) -> bool {
    let shader = match wgsl(graph, kernel, Naming::Program) {
        Ok(shader) => shader,
        Err(reason) => {
            assert!(reason.to_string().contains("WebGPU"), "{about}: {reason}");
            return false;
        }
    };
    let text = shader.code.text();
    let module = naga::front::wgsl::parse_str(&text);
    let module =
        module.unwrap_or_else(|error| panic!("{about}: {}\n{text}", error.emit_to_string(&text)));
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::empty(),
    );
    if let Err(error) = validator.validate(&module) {
        panic!("{about}: {}\n{text}", error.emit_to_string(&text));
    }
    true
}

#[test]
fn the_shader_of_every_kernel_is_valid() {
    let mut shaders = 0;
    for example in EXAMPLES {
        let program = parse(example.text).program;
        // Many policies give the same kernels.
        let mut checked = Vec::new();
        for &policy in Policy::VARIANTS {
            let outcome = analyze_program(&program, &Options::of_policy(policy));
            let analysis = outcome.analysis.unwrap();
            if checked.contains(&analysis.partition) {
                continue;
            }
            checked.push(analysis.partition.clone());
            let kernels = of_program(
                &program,
                &analysis.graph,
                &outcome.statement_of_op,
                &analysis.partition,
                true,
            );
            for (kernel, code) in kernels.iter_enumerated() {
                if let Some(code) = code.as_ref().unwrap() {
                    let about = format!("{}, {policy:?}, kernel {kernel}", example.id);
                    shaders += usize::from(validate(&analysis.graph, code, &about));
                }
            }
        }
    }
    assert!(shaders > 300, "{shaders}");
    for case in cases() {
        let program = parse(&text_of(&case)).program;
        let ran = ran(
            &program,
            &Options::default(),
            &case
                .inputs
                .iter()
                .map(|input| (input.0, input.2))
                .collect::<Vec<_>>(),
        );
        for (_, code) in &ran.kernels {
            if let Ok(Some(code)) = code {
                validate(&ran.graph, code, case.call);
            }
        }
    }
}

/// A list of ops without the notation's shape rules may look up rows of a table that has none.
#[test]
fn an_index_of_another_rank_is_a_reason() {
    let op = |name: &str, op_type, inputs: &[&str], shape: &[u64], function| {
        Op::new(name, op_type, inputs, name, shape, 4).with_function(function)
    };
    let ops = [
        op("table", OpType::Elementwise, &["x"], &[5], Function::Relu),
        op("rows", OpType::Elementwise, &["table"], &[5], Function::Exp),
        op(
            "y",
            OpType::Reshape,
            &["rows", "table"],
            &[5, 2],
            Function::Embedding,
        ),
    ];
    let graph = build_graph(&ops, &[]).unwrap();
    let kernels = plan(&graph, &Options::of_policy(Policy::Optimal)).partition;
    let codes = of_graph(&graph, &kernels, true);
    let reasons: Vec<_> = codes
        .iter()
        .filter_map(|code| Some(code.as_ref().err()?.to_string()))
        .collect();
    assert_eq!(
        reasons,
        ["the input shapes of `embedding` do not give [5, 2]"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_of_random_graphs_compute_their_tensors((ops, externals) in random_graph::fusable_ops(1..=12)) {
        let graph = build_graph(with_functions(ops), &externals).unwrap();
        let mut memory = Memory::default();
        let mut setup = Setup::default();
        for (tensor, _) in graph.tensors.iter_enumerated().filter(|(_, own)| own.is_external()) {
            let values = drawn(&graph, tensor);
            setup.given.insert(graph.tensor_name(tensor).to_owned(), values.clone());
            memory.insert(tensor, values);
        }
        for policy in [Policy::None, Policy::Rules, Policy::Inductor, Policy::Optimal] {
            let partition = plan(&graph, &Options::of_policy(policy)).partition;
            let interpretation = interpret_graph(&graph, &partition, &setup).unwrap();
            // A kernel behind an op without a value has none either.
            if !interpretation.refused.is_empty() {
                continue;
            }
            let kernels = of_graph(&graph, &partition, true);
            let names = partition.kernels.iter().map(|ops| ops.iter().map(|&op| graph.ops[op].name.clone()).collect());
            let ran = Ran {
                names: names.collect(),
                kernels: kernels.ids().zip(kernels.iter().cloned()).collect(),
                graph: graph.clone(),
                interpretation,
                memory: memory.clone(),
            };
            for (kernel, code) in &ran.kernels {
                if let Ok(Some(code)) = code {
                    validate(&graph, code, &format!("kernel {kernel}"));
                }
            }
            check(ran, &format!("{policy:?}"));
        }
    }

    /// Whatever the function and the shapes, a kernel has code or a reason.
    #[test]
    fn nothing_panics((ops, externals) in random_graph::ops(16), picks in prop::collection::vec(any::<prop::sample::Index>(), 16)) {
        let ops: Vec<Op> = (ops.into_iter().zip(picks)).map(|(op, pick)| op.with_function(*pick.get(Function::VARIANTS))).collect();
        let graph = build_graph(&ops, &externals).unwrap();
        for &policy in Policy::VARIANTS {
            let kernels = plan(&graph, &Options::of_policy(policy)).partition;
            for code in &of_graph(&graph, &kernels, true) {
                match code {
                    Ok(Some(code)) => {
                        validate(&graph, code, "a random kernel");
                        drop(triton(&graph, code));
                    }
                    Ok(None) => {}
                    Err(reason) => prop_assert!(!reason.to_string().is_empty()),
                }
            }
        }
    }
}
