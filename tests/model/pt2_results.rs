//! Operators of exported programs that give several results, of which a program needs some.

use crate::pt2::{analysed, converted};
use crate::pt2_files::{file, named, node_of, program, tensor};
use fuseline_core::notation::parse;
use fuseline_core::{KernelId, Options, Policy, analyze_program};
use serde_json::{Value, json};

/// An operator over `x : f32[4, 8]`.
struct Case {
    operator: &'static str,
    arguments: Vec<(&'static str, Value)>,
    /// The sizes of both of its results, values and in most cases indices.
    sizes: &'static [i64],
    /// Which of them the results of the program need.
    needed: &'static [usize],
}

impl Case {
    /// Its program, in which `neg` reads each result.
    fn text(&self) -> String {
        let reads = |name: &str| json!({ "as_tensor": { "name": name } });
        let x = named("self", &reads("x"));
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|(name, value)| named(name, value));
        let arguments: Vec<Value> = std::iter::once(x).chain(arguments).collect();
        let mut own = node_of(self.operator, &arguments, "");
        own["outputs"] = json!(["values", "indices"].map(reads));
        let mut indices = tensor(self.sizes);
        if !self.operator.starts_with("var_mean") {
            indices["dtype"] = json!(5);
        }
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

    /// Its own statements in the program.
    fn ops(&self) -> Vec<String> {
        let text = self.text();
        analysed(&text);
        let lines = text.lines().filter(|line| line.contains(" = "));
        let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.contains("= neg(")).collect()
    }
}

fn top(needed: &'static [usize]) -> Case {
    Case {
        operator: "topk.default",
        arguments: vec![("k", json!({ "as_int": 2 }))],
        sizes: &[4, 2],
        needed,
    }
}

fn sorted(needed: &'static [usize]) -> Case {
    Case {
        operator: "sort.default",
        arguments: vec![("dim", json!({ "as_int": 0 }))],
        sizes: &[4, 8],
        needed,
    }
}

#[test]
fn a_result_that_only_unneeded_ops_read_is_left_out() {
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
fn values_and_their_indices_are_one_kernel_of_a_library() {
    let mut smallest = top(&[0, 1]);
    (smallest.arguments).push(("largest", json!({ "as_bool": false })));
    let top_ops = [
        "topk = opaque(x, name=aten.topk, flops=32, units=vector) : i8[96]",
        "part = part(topk) : f32[4, 2]",
        "part_2 = part(topk) : i64[4, 2]",
    ];
    let sorted_ops = [
        "sort = opaque(x, name=aten.sort, flops=0) : i8[384]",
        "part = part(sort) : f32[4, 8]",
        "part_2 = part(sort) : i64[4, 8]",
    ];
    for (case, expected) in [
        (top(&[0, 1]), top_ops),
        (smallest, top_ops),
        (sorted(&[0, 1]), sorted_ops),
    ] {
        assert_eq!(case.ops(), expected);
        // Both `neg` are kernels, too.
        let analysis = analysed(&case.text());
        assert_eq!(analysis.unfused.launches, 3, "{}", case.operator);
        let kernel = &analysis.unfused.kernels[KernelId::new(0)];
        let written = 12 * u64::try_from(case.sizes.iter().product::<i64>()).unwrap();
        assert_eq!((kernel.bytes_read, kernel.bytes_written), (128, written));
    }
    // No function gives the smallest values alone.
    let mut smallest = top(&[0]);
    (smallest.arguments).push(("largest", json!({ "as_bool": false })));
    assert_eq!(
        smallest.ops(),
        ["topk = opaque(x, name=aten.topk, flops=32, units=vector) : f32[4, 2]"]
    );
}

#[test]
fn results_that_a_compiler_computes_in_one_loop_are_an_op_each() {
    let along = |axis: &Value, operator| Case {
        operator,
        arguments: vec![("dim", axis.clone())],
        sizes: &[4],
        needed: &[0, 1],
    };
    for (axis, operator, expected) in [
        (json!({ "as_int": 1 }), "max.dim", ["max", "argmax"]),
        (json!({ "as_int": 1 }), "min.dim", ["min", "argmin"]),
        (
            json!({ "as_ints": [1] }),
            "var_mean.correction",
            ["var", "mean"],
        ),
    ] {
        let text = along(&axis, operator).text();
        let kernels = |policy| {
            let outcome = analyze_program(&parse(&text).program, &Options::of_policy(policy));
            outcome.analysis.unwrap().fused.launches
        };
        let ops = along(&axis, operator).ops();
        let functions: Vec<&str> = ops
            .iter()
            .map(|op| op.split(['=', '(']).nth(1).unwrap().trim())
            .collect();
        assert_eq!(functions, expected);
        assert_eq!(
            (kernels(Policy::None), kernels(Policy::Inductor)),
            (4, 1),
            "{text}"
        );
    }
}
