//! Operators of exported programs that give several results, of which a program needs some.

use crate::pt2::{analysed, converted};
use crate::pt2_files::{file, named, node_of, program, tensor};
use fuseline_core::analysis::Kernel;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, OpId, Options, Policy, analyze_program};
use serde_json::{Value, json};

/// An operator over `x : f32[4, 8]`.
struct Case {
    operator: &'static str,
    arguments: Vec<(&'static str, Value)>,
    /// The sizes of both of its results, values and indices.
    sizes: &'static [i64],
    /// Which of them the results of the program need.
    needed: &'static [usize],
}

impl Case {
    /// Its program, where an op reads each of its results.
    fn text(&self) -> String {
        let reads = |name: &str| json!({ "as_tensor": { "name": name } });
        let x = named("self", &reads("x"));
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|(name, value)| named(name, value));
        let arguments: Vec<Value> = std::iter::once(x).chain(arguments).collect();
        let mut own = node_of(self.operator, &arguments, "");
        own["outputs"] = json!(["values", "indices"].map(reads));
        let mut indices = tensor(self.sizes);
        indices["dtype"] = json!(5);
        let results = [
            ("values", "a", tensor(self.sizes)),
            ("indices", "b", indices),
        ];
        let mut tensors = vec![("x", tensor(&[4, 8]))];
        let mut nodes = vec![own];
        for (result, output, meta) in &results {
            nodes.push(node_of(
                "neg.default",
                &[named("self", &reads(result))],
                output,
            ));
            tensors.extend([(*result, meta.clone()), (*output, meta.clone())]);
        }
        let mut saved = program(&tensors, &nodes, "");
        let outputs = self.needed.iter().map(|&at| reads(results[at].1));
        saved["graph_module"]["graph"]["outputs"] = outputs.collect();
        converted(&file(&saved)).text
    }

    fn analysis(&self, policy: Policy) -> Analysis {
        let program = parse(&self.text()).program;
        let outcome = analyze_program(&program, &Options::of_policy(policy));
        outcome.analysis.unwrap()
    }

    /// Its statements in the program.
    fn ops(&self) -> Vec<String> {
        let text = self.text();
        analysed(&text);
        let lines = text.lines().filter(|line| line.contains(" = "));
        let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.contains("= neg(")).collect()
    }
}

#[test]
fn a_result_that_only_unneeded_ops_read_is_left_out() {
    let top = |needed| Case {
        operator: "topk.default",
        arguments: vec![("k", json!({ "as_int": 2 }))],
        sizes: &[4, 2],
        needed,
    };
    let sorted = |needed| Case {
        operator: "sort.default",
        arguments: vec![("dim", json!({ "as_int": 0 }))],
        sizes: &[4, 8],
        needed,
    };
    let cases = [
        (top(&[0]), "topk = topk(x, count=2, axis=-1) : f32[4, 2]"),
        (
            top(&[1]),
            "topk_indices = topk_indices(x, count=2, axis=-1) : i64[4, 2]",
        ),
        (sorted(&[0]), "sort = sort(x, axis=0) : f32[4, 8]"),
        (sorted(&[1]), "argsort = argsort(x, axis=0) : i64[4, 8]"),
    ];
    for (case, expected) in cases {
        assert_eq!(case.ops(), [expected]);
    }
}

#[test]
fn both_results_are_one_kernel() {
    let of = |operator, arguments, sizes| Case {
        operator,
        arguments,
        sizes,
        needed: &[0, 1],
    };
    let int = |value: i64| json!({ "as_int": value });
    let cases = [
        (of("topk.default", vec![("k", int(2))], &[4, 2]), 32),
        (
            of(
                "topk.default",
                vec![("k", int(2)), ("largest", json!({ "as_bool": false }))],
                &[4, 2],
            ),
            32,
        ),
        (of("sort.default", vec![("dim", int(0))], &[4, 8]), 0),
        (of("max.dim", vec![("dim", int(1))], &[4]), 32),
        (of("min.dim", vec![("dim", int(0))], &[8]), 32),
        (of("median.dim", vec![("dim", int(1))], &[4]), 32),
        (
            of(
                "kthvalue.default",
                vec![("k", int(2)), ("dim", int(1))],
                &[4],
            ),
            32,
        ),
        (of("mode.default", vec![("dim", int(1))], &[4]), 32),
        (of("cummax.default", vec![("dim", int(1))], &[4, 8]), 32),
        (of("cummin.default", vec![("dim", int(0))], &[4, 8]), 32),
    ];
    for (case, flops) in cases {
        let elements: i64 = case.sizes.iter().product();
        let elements = u64::try_from(elements).unwrap();
        for policy in [
            Policy::None,
            Policy::Rules,
            Policy::Inductor,
            Policy::Optimal,
        ] {
            let analysis = case.analysis(policy);
            for run in [&analysis.unfused, &analysis.fused] {
                let beside = [Some(Function::Neg), Some(Function::Part)];
                let is_operator = |op: &OpId| !beside.contains(&analysis.graph.ops[*op].function);
                let of_operator = |kernel: &&Kernel| kernel.ops.iter().any(is_operator);
                let mut kernels = run
                    .kernels
                    .iter()
                    .filter(of_operator)
                    .filter(|k| !k.is_free);
                let only = kernels.next().unwrap();
                let case = format!("{} {}", case.operator, policy.name());
                assert_eq!(kernels.count(), 0, "{case}");
                // 32 elements of f32 are read, values of f32 and indices of i64 are written.
                assert_eq!(
                    (only.bytes_read, only.bytes_written),
                    (128, elements * 12),
                    "{case}"
                );
                let negs = only.ops.iter().filter(|op| !is_operator(op));
                let negs = negs.map(|&op| analysis.unfused.of_lone_op(op).work.flops());
                assert_eq!(only.work.flops() - negs.sum::<u128>(), flops, "{case}");
            }
        }
    }
}
