//! The published cases of the data model, the textbook rules and compulsory traffic.

use crate::ids::ops as ops_of;
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::model::functions::Function;
use fuseline_core::{
    Conventions, Externals, Op, OpId, OpType, Options, Policy, ReshapeCost, TensorDecl, Traffic,
    analyze_transformer_block, build_graph, estimate_memory_traffic, find_fusion_groups, plan,
};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    tensors: BTreeMap<String, Size>,
    ops: Vec<Op>,
    expected: BTreeMap<String, Expected>,
}

#[derive(Deserialize)]
struct Size {
    shape: Vec<u64>,
    bytes_per_element: u32,
}

#[derive(Deserialize)]
struct Expected {
    groups: Option<Vec<Vec<String>>>,
    n_groups: Option<usize>,
    unfused: Bytes,
    fused: Bytes,
    savings_pct: f64,
}

#[derive(Deserialize, Debug, PartialEq)]
#[allow(
    clippy::struct_field_names,
    reason = "the names of the published cases"
)]
struct Bytes {
    bytes_read: u64,
    bytes_written: u64,
    total: u64,
    saved_by_fusion: i64,
}

impl From<Traffic> for Bytes {
    fn from(t: Traffic) -> Self {
        Self {
            bytes_read: t.bytes_read,
            bytes_written: t.bytes_written,
            total: t.total,
            saved_by_fusion: t.saved_by_fusion,
        }
    }
}

fn cases() -> Vec<Case> {
    let text = include_str!("baseline_cases.json");
    serde_json::from_str::<Cases>(text).unwrap().cases
}

fn group_names(ops: &[Op]) -> Vec<Vec<String>> {
    let groups = find_fusion_groups(ops).unwrap();
    groups
        .into_iter()
        .map(|group| group.into_iter().map(|op| op.name).collect())
        .collect()
}

#[test]
fn every_case_gives_the_expected_groups_and_bytes() {
    let cases = cases();
    assert_eq!(cases.len(), 12);
    let mut checked = 0;
    for case in &cases {
        let declared: Vec<TensorDecl> = case
            .tensors
            .iter()
            .map(|(name, size)| TensorDecl::new(name, &size.shape, size.bytes_per_element))
            .collect();
        for (convention, expected) in &case.expected {
            let externals = convention.replace('_', "-").parse().unwrap();
            let conventions = Conventions {
                externals,
                ..Conventions::default()
            };
            let traffic = |fused| {
                Bytes::from(
                    estimate_memory_traffic(&case.ops, &declared, conventions, fused).unwrap(),
                )
            };
            let at = format!("{} {convention}", case.id);
            assert_eq!(traffic(false), expected.unfused, "{at}");
            assert_eq!(traffic(true), expected.fused, "{at}");
            let savings = expected.fused.saved_by_fusion as f64 / expected.unfused.total as f64;
            assert!(
                (savings * 100.0 - expected.savings_pct).abs() < 1e-6,
                "{at}"
            );
            let groups = group_names(&case.ops);
            if let Some(expected) = &expected.groups {
                assert_eq!(&groups, expected, "{at}");
            }
            assert_eq!(
                groups.len(),
                expected.n_groups.unwrap_or(groups.len()),
                "{at}"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 27);
}

#[test]
fn the_transformer_block_is_the_published_one() {
    for (s, h, n) in [(512, 768, 12), (1024, 1024, 16), (2048, 4096, 32)] {
        let case = cases()
            .into_iter()
            .find(|c| c.id == format!("transformer_block_{s}_{h}_{n}"))
            .unwrap();
        let block = analyze_transformer_block(s, h, n, 2).unwrap();
        let required_fields = |op: &Op| Op {
            function: None,
            dtype: None,
            k: None,
            ..op.clone()
        };
        let ops: Vec<Op> = block.ops.iter().map(required_fields).collect();
        assert_eq!(ops, case.ops);
        let declared = &case.expected["declared"];
        assert_eq!(Bytes::from(block.unfused_traffic), declared.unfused);
        assert_eq!(Bytes::from(block.fused_traffic), declared.fused);
        assert_eq!(Some(&block.fusion_groups), declared.groups.as_ref());
        assert!((block.savings_pct - declared.savings_pct).abs() < 1e-6);
    }
}

#[test]
fn the_transformer_block_refuses_what_no_block_has() {
    use fuseline_core::Code;
    for (arguments, code) in [
        ((2048, 4096, 33, 2), Code::HeadsDoNotDivide),
        ((0, 4096, 32, 2), Code::NonPositiveSize),
        ((2048, 0, 32, 2), Code::NonPositiveSize),
        ((2048, 4096, 0, 2), Code::NonPositiveSize),
        ((2048, 4096, 32, 3), Code::UnknownDtype),
        ((2048, 4096, 32, 0), Code::UnknownDtype),
        ((1 << 40, 4096, 32, 2), Code::Overflow),
        ((2048, u64::MAX, 1, 2), Code::Overflow),
    ] {
        let (s, h, n, width) = arguments;
        let problems = analyze_transformer_block(s, h, n, width).unwrap_err();
        assert_eq!(problems[0].code, code, "{arguments:?}");
    }
}

/// `(op type, inputs, output)` with equal shapes.
fn chain(ops: &[(OpType, &[&str], &str)]) -> Vec<Op> {
    ops.iter()
        .map(|&(op_type, inputs, output)| Op::new(output, op_type, inputs, output, &[8, 8], 2))
        .collect()
}

#[test]
fn the_rules_join_what_the_published_cases_join() {
    use OpType::{Elementwise as E, Matmul as M, Reduction as R, Reshape as V};
    type Case<'a> = (&'a str, Vec<Op>, &'a [&'a [&'a str]]);
    let cases: Vec<Case<'_>> = vec![
        (
            "an epilogue takes elementwise and reshape, never a reduction",
            chain(&[
                (M, &["x", "w"], "a"),
                (E, &["a"], "b"),
                (V, &["b"], "c"),
                (E, &["c"], "d"),
                (R, &["d"], "e"),
            ]),
            &[&["a", "b", "c", "d"], &["e"]],
        ),
        (
            "a reduction closes its group, even for a reshape",
            chain(&[
                (E, &["x"], "a"),
                (R, &["a"], "b"),
                (V, &["b"], "c"),
                (E, &["c"], "d"),
            ]),
            &[&["a", "b"], &["c", "d"]],
        ),
        (
            "a matmul starts a group",
            chain(&[
                (E, &["x"], "a"),
                (M, &["a", "w"], "b"),
                (M, &["b", "w"], "c"),
            ]),
            &[&["a"], &["b"], &["c"]],
        ),
        (
            "all light producers merge",
            chain(&[
                (E, &["x"], "a"),
                (E, &["y"], "b"),
                (E, &["a", "b"], "c"),
                (R, &["c"], "d"),
            ]),
            &[&["a", "b", "c", "d"]],
        ),
        (
            "a reduction takes a light group and not an epilogue beside it",
            chain(&[
                (E, &["x"], "a"),
                (M, &["x", "w"], "b"),
                (R, &["a", "b"], "c"),
            ]),
            &[&["b"], &["a", "c"]],
        ),
        (
            "of two matmuls the one with the latest tail is the base",
            chain(&[
                (M, &["x", "w"], "a"),
                (M, &["x", "v"], "b"),
                (E, &["a"], "c"),
                (E, &["y"], "d"),
                (E, &["b", "c", "d"], "e"),
            ]),
            &[&["b"], &["a", "c", "d", "e"]],
        ),
        (
            "an output with two consumers ends its group",
            chain(&[
                (M, &["x", "w"], "a"),
                (E, &["a"], "b"),
                (E, &["a", "b"], "c"),
            ]),
            &[&["a"], &["b", "c"]],
        ),
        (
            "one consumer that reads twice is one consumer",
            chain(&[(E, &["x"], "a"), (E, &["a", "a"], "b")]),
            &[&["a", "b"]],
        ),
        (
            "an unsorted list is sorted stably",
            chain(&[(E, &["b"], "c"), (E, &["x"], "a"), (E, &["a"], "b")]),
            &[&["a", "b", "c"]],
        ),
        ("nothing gives nothing", chain(&[]), &[]),
    ];
    for (what, ops, expected) in cases {
        assert_eq!(group_names(&ops), expected, "{what}");
    }
}

#[test]
fn a_tensor_written_for_others_is_not_read_in_its_own_kernel() {
    use OpType::Elementwise as E;
    let ops = chain(&[(E, &["x"], "a"), (E, &["a"], "b"), (E, &["a"], "c")]);
    let graph = build_graph(&ops, &[TensorDecl::new("x", &[8, 8], 2)]).unwrap();
    let groups = fuseline_core::Partition::new(&[ops_of(&[0, 1]), ops_of(&[2])], 3);
    let kernels: Vec<_> = kernel_traffic(&graph, &groups, Conventions::default()).collect();
    // The first kernel reads x and writes a and b; the second reads a and writes c.
    let moved: Vec<(u64, u64)> = kernels
        .iter()
        .map(|k| (k.bytes_read(), k.bytes_written()))
        .collect();
    assert_eq!(moved, [(128, 256), (128, 128)]);
}

#[test]
fn a_view_costs_nothing_and_its_readers_read_what_it_names() {
    use OpType::{Elementwise as E, Reshape as V};
    let ops = [
        Op::new("half", V, &["x"], "half", &[4, 8], 2).with_function(Function::Slice),
        Op::new("relu", E, &["half"], "relu", &[4, 8], 2),
    ];
    let x = [TensorDecl::new("x", &[8, 8], 2)];
    let total = |reshape, fused| {
        let conventions = Conventions {
            reshape,
            ..Conventions::default()
        };
        estimate_memory_traffic(&ops, &x, conventions, fused)
            .unwrap()
            .total
    };
    assert_eq!(total(ReshapeCost::Copy, false), 64 + 64 + 64 + 64);
    assert_eq!(total(ReshapeCost::Copy, true), 64 + 64);
    assert_eq!(total(ReshapeCost::View, false), 64 + 64);
    assert_eq!(total(ReshapeCost::View, true), 64 + 64);
}

#[test]
fn parts_of_a_tensor_are_read_once_in_a_kernel_and_never_more_than_the_whole() {
    let names = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("p{i}")).collect();
        names.join(", ")
    };
    let read = |ops: &[&str]| {
        let text = format!("input x : f16[8, 8]\n{}", ops.join("\n"));
        let text = format!("{text}\ny = concat({}, axis=0)", names(ops.len()));
        let parsed = fuseline_core::notation::parse(&text);
        // The compiler reads each part where the parts are joined.
        let options = Options::of_policy(Policy::Inductor);
        let analysis = fuseline_core::analyze_program(&parsed.program, &options);
        let analysis = analysis.analysis.unwrap();
        assert_eq!(analysis.fused.kernels.len(), 1, "{text}");
        analysis.fused.traffic.bytes_read
    };
    let quarter = "p0 = slice(x, start=0, end=2, axis=0)";
    assert_eq!(read(&[quarter]), 32);
    assert_eq!(
        read(&[quarter, "p1 = slice(x, start=4, end=6, axis=0)"]),
        64
    );
    let half =
        |name: &str, index: u64| format!("{name} = split(x, parts=2, index={index}, axis=0)");
    assert_eq!(read(&[&half("p0", 0), &half("p1", 1)]), 128);
    // Both have six of eight rows, so one kernel reads all.
    let most = "p0 = slice(x, start=0, end=6, axis=0)";
    assert_eq!(read(&[most, "p1 = slice(x, start=2, end=8, axis=0)"]), 128);
    assert_eq!(read(&[most, "p1 = relu(x)"]), 128);
}

#[test]
fn undeclared_sizes_are_inferred_where_exact_and_assumed_elsewhere() {
    use fuseline_core::SizeSource;
    use fuseline_core::model::sizes::read_size;
    let size = |op: Op, known: &[TensorDecl], name: &str| {
        let graph = build_graph(&[op], known).unwrap();
        let mut tensors = graph.tensors.ids();
        let tensor = tensors.find(|&t| graph.tensor_name(t) == name).unwrap();
        let read = read_size(&graph, OpId::new(0), tensor, Externals::Declared);
        (read.bytes, read.source)
    };
    let matmul = || Op::new("y", OpType::Matmul, &["x", "w"], "y", &[8, 5], 2);
    let x = TensorDecl::new("x", &[8, 3], 2);
    let w = TensorDecl::new("w", &[3, 5], 2);
    assert_eq!(
        size(matmul(), std::slice::from_ref(&x), "w"),
        (2 * 3 * 5, SizeSource::Inferred)
    );
    assert_eq!(size(matmul(), &[w], "x"), (2 * 8 * 3, SizeSource::Inferred));
    assert_eq!(size(matmul(), &[x], "x"), (2 * 8 * 3, SizeSource::Declared));
    assert_eq!(size(matmul(), &[], "x"), (2 * 8 * 5, SizeSource::Assumed));
    let reshape = Op::new("y", OpType::Reshape, &["x"], "y", &[40], 4);
    assert_eq!(size(reshape, &[], "x"), (160, SizeSource::Inferred));
    let slice = Op::new("y", OpType::Reshape, &["x"], "y", &[40], 4).with_function(Function::Slice);
    assert_eq!(size(slice, &[], "x"), (160, SizeSource::Assumed));
    let add = Op::new("y", OpType::Elementwise, &["x", "b"], "y", &[8, 5], 2);
    assert_eq!(size(add, &[], "b"), (80, SizeSource::Assumed));
    let batched = Op::new("y", OpType::Matmul, &["x", "w"], "y", &[2, 8, 5], 2);
    let x = TensorDecl::new("x", &[2, 8, 3], 2);
    assert_eq!(
        size(batched, &[x], "w"),
        (160, SizeSource::Assumed),
        "shared or batched: a choice"
    );
}

#[test]
fn bad_lists_name_the_op() {
    use OpType::Elementwise as E;
    use fuseline_core::Code;
    let op = |name: &str, input: &str, output: &str, shape: &[u64]| {
        Op::new(name, E, &[input], output, shape, 4)
    };
    let cases = [
        (
            vec![op("a", "x", "y", &[4]), op("b", "x", "y", &[4])],
            Code::DuplicateOutput,
            1,
        ),
        (
            vec![op("a", "x", "y", &[4]), op("a", "y", "z", &[4])],
            Code::DuplicateOpName,
            1,
        ),
        (vec![op("a", "y", "y", &[4])], Code::Cycle, 0),
        (
            vec![
                op("c", "x", "w", &[4]),
                op("a", "z", "y", &[4]),
                op("b", "y", "z", &[4]),
            ],
            Code::Cycle,
            1,
        ),
        (vec![op("a", "x", "y", &[4, 0])], Code::NonPositiveSize, 0),
        (vec![op("a", "x", "y", &[1 << 61])], Code::Overflow, 0),
        (
            vec![op("a", "x", "y", &[1 << 32, 1 << 32])],
            Code::Overflow,
            0,
        ),
        (
            vec![op("a", "x", "y", &[1 << 59]), op("b", "y", "z", &[1 << 59])],
            Code::Overflow,
            1,
        ),
    ];
    for (ops, code, index) in cases {
        let problems = build_graph(&ops, &[]).unwrap_err();
        assert_eq!(
            (problems[0].code, problems[0].op),
            (code, Some(index)),
            "{ops:?}"
        );
    }
}

#[test]
fn twenty_thousand_ops_are_one_kernel() {
    let name = |i: usize| {
        if i == 0 {
            "x".to_owned()
        } else {
            format!("t{i}")
        }
    };
    let ops: Vec<Op> = (0..20_000)
        .map(|i| {
            Op::new(
                &name(i + 1),
                OpType::Elementwise,
                &[&name(i)],
                &name(i + 1),
                &[16],
                4,
            )
        })
        .collect();
    let graph = build_graph(&ops, &[]).unwrap();
    assert_eq!(
        plan(&graph, &Options::of_policy(Policy::Rules))
            .partition
            .kernels
            .len(),
        1
    );
    let reversed: Vec<Op> = ops.into_iter().rev().collect();
    let graph = build_graph(&reversed, &[]).unwrap();
    assert_eq!(
        plan(&graph, &Options::of_policy(Policy::Rules))
            .partition
            .kernels
            .len(),
        1
    );
}
