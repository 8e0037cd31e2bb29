//! Operators of exported programs that give several results, of which a program needs some.

use crate::pt2::{analysed, converted};
use crate::pt2_files::{file, named, node_of, program, tensor};
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
    /// Its statements in the program, where an op of no result reads each of its results.
    fn ops(&self) -> Vec<String> {
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
        let text = converted(&file(&saved)).text;
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
