//! What is exported and can be opened comes back the same.

use fuseline_core::examples::EXAMPLES;
use fuseline_core::json::read_json;
use fuseline_core::notation::import::{self, program_of_op_list};
use fuseline_core::notation::{parse, print};
use fuseline_core::{Options, Outcome, Policy, analyze_program};
use fuseline_view::present::export::OpList;
use fuseline_view::present::report::Report;
use strum::VariantArray;

fn outcome(text: &str, options: &Options) -> Outcome {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome
}

/// The text that opening an exported list of ops gives.
fn opened(json: &str) -> String {
    let list: import::OpList = read_json(json).unwrap();
    let parsed = program_of_op_list(&list);
    assert_eq!(parsed.diagnostics, []);
    print(&parsed.program)
}

#[test]
fn every_export_of_every_example_has_the_same_kernels_and_bytes() {
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            let options = Options::of_policy(policy);
            let program = parse(example.text).program;
            let Outcome {
                analysis,
                statement_of_op,
                ..
            } = outcome(example.text, &options);
            let before = analysis.unwrap();
            let list = OpList::new(&before.graph).with_attributes(&program, &statement_of_op);
            let report =
                Report::new(&before, &[], example.text).with_attributes(&program, &statement_of_op);
            for json in [serde_json::to_string(&list), serde_json::to_string(&report)] {
                let text = opened(&json.unwrap());
                let after = outcome(&text, &options).analysis.unwrap();
                let what = format!("{} under {policy:?}\n{text}", example.id);
                assert_eq!(after.graph.ops, before.graph.ops, "{what}");
                assert_eq!(after.partition, before.partition, "{what}");
                assert_eq!(after.unfused, before.unfused, "{what}");
                assert_eq!(after.fused, before.fused, "{what}");
            }
        }
    }
}

#[test]
fn a_list_keeps_what_repeats_elements() {
    let text = "\
input x : f16[4, 6]
a = repeat_interleave(x, times=3, axis=0) : f16[12, 6]
b = repeat_interleave(x, times=2) : f16[4, 12]
c = repeat(x, times=[2, 2]) : f16[8, 12]
";
    let Outcome {
        analysis,
        statement_of_op,
        ..
    } = outcome(text, &Options::default());
    let list = OpList::new(&analysis.unwrap().graph)
        .with_attributes(&parse(text).program, &statement_of_op);
    assert_eq!(opened(&serde_json::to_string(&list).unwrap()), text);
}

/// A list with one sum of a matrix, `f16[4, 8]`.
fn sum_with(attributes: &str, dtype: &str) -> String {
    format!(
        r#"{{"tensors": [{{"name": "x", "shape": [4, 8], "dtype": "f16"}}], "ops": [{{
            "op_type": "reduction", "function": "sum", "inputs": ["x"], "output": "y", "shape": [1, 8],
            "dtype": "{dtype}", "attributes": {attributes}}}]}}"#
    )
}

#[test]
fn attributes_that_do_not_fit_are_left_out() {
    let call = |attributes| {
        let text = opened(&sum_with(attributes, "f16"));
        text.lines().last().unwrap().to_owned()
    };
    assert_eq!(call(r#"{"axis": 0}"#), "y = sum(x, axis=0) : f16[1, 8]");
    assert_eq!(
        call(r#"{"axis": [0], "keepdim": true}"#),
        "y = sum(x, axis=[0], keepdim=true) : f16[1, 8]"
    );
    for (attributes, problem) in [
        ("[]", "`attributes` is not an object"),
        (
            r#"{"axis": {}}"#,
            "the notation has no such value for the attribute `axis`",
        ),
        (
            r#"{"axis": [0.5]}"#,
            "the notation has no such value for the attribute `axis`",
        ),
        (
            r#"{"axis": "0)\\nz = relu(x"}"#,
            "its function takes no attribute `axis` with this value",
        ),
    ] {
        let list: import::OpList = read_json(&sum_with(attributes, "f16")).unwrap();
        let said = program_of_op_list(&list).diagnostics;
        assert!(said[0].message.contains(problem), "{said:?}");
    }
}

#[test]
fn attributes_are_kept_where_inputs_are_not_declared() {
    let text =
        "param n = 4\ny = softmax(x, axis=0) : f16[n, 8]\nz = matmul(y, w, k=n) : f16[4, 6]\n";
    let options = Options::default();
    let program = parse(text).program;
    let before = analyze_program(&program, &options);
    let graph = before.analysis.unwrap().graph;
    let list = OpList::new(&graph).with_attributes(&program, &before.statement_of_op);
    let text = opened(&serde_json::to_string(&list).unwrap());
    assert_eq!(
        text,
        "y = softmax(x, axis=0) : f16[4, 8]\nz = matmul(y, w, k=4) : f16[4, 6]\n"
    );
}

#[test]
fn an_attribute_that_the_function_does_not_take_is_left_out_alone() {
    for attributes in [
        r#"{"axis": 0, "keepdim": 1}"#,
        r#"{"axis": 0, "stable": true}"#,
        r#"{"axis": 0, "keepdim": "maybe"}"#,
    ] {
        let list: import::OpList = read_json(&sum_with(attributes, "f16")).unwrap();
        let parsed = program_of_op_list(&list);
        assert_eq!(parsed.diagnostics.len(), 1, "{attributes}");
        assert!(parsed.diagnostics[0].message.contains("takes no attribute"));
        let text = print(&parsed.program);
        assert!(text.contains("y = sum(x, axis=0) : f16[1, 8]"), "{text}");
    }
}

#[test]
fn packed_operands_and_params_named_like_words_come_back() {
    let text = "\
param f32 = 8
input q : f16[64, 192]
a = matmul(q, q, k=64, transpose_a=true) : f16[64, 64]
b = matmul(q, q, k=unknown) : f16[7, 5]
c = cast(a, dtype=f32)
d = softmax(c, axis=0)
";
    let options = Options::default();
    let program = parse(text).program;
    let before = analyze_program(&program, &options);
    let graph = before.analysis.unwrap().graph;
    let list = OpList::new(&graph).with_attributes(&program, &before.statement_of_op);
    let text = opened(&serde_json::to_string(&list).unwrap());
    let after = analyze_program(&parse(&text).program, &options)
        .analysis
        .unwrap();
    assert_eq!(after.graph.ops, graph.ops, "{text}");
}

#[test]
fn attributes_do_not_keep_a_function_that_cannot_be_called_so() {
    let cast = |dtype: &str| {
        format!(
            r#"{{"tensors": [{{"name": "x", "shape": [4], "dtype": "f16"}}], "ops": [{{
                "op_type": "elementwise", "function": "cast", "inputs": ["x"], "output": "y", "shape": [4],
                "dtype": "bf16", "attributes": {{"dtype": "{dtype}"}}}}]}}"#
        )
    };
    let two_inputs = r#"[{"op_type": "reduction", "function": "sum", "inputs": ["a", "b"], "output": "y",
        "shape": [1, 8], "dtype": "f16", "attributes": {"axis": 0}}]"#;
    for (json, call) in [
        // A sum has the element type of its input, and one input; a cast has the type of its
        // attribute.
        (
            sum_with(r#"{"axis": 0}"#, "f32"),
            "y = reduction(x) : f32[1, 8]",
        ),
        (two_inputs.to_owned(), "y = reduction(a, b) : f16[1, 8]"),
        (cast("f32"), "y = cast(x, dtype=bf16) : bf16[4]"),
        (cast("bf16"), "y = cast(x, dtype=bf16) : bf16[4]"),
    ] {
        let list: import::OpList = read_json(&json).unwrap();
        let text = print(&program_of_op_list(&list).program);
        assert_eq!(text.lines().last(), Some(call));
        let outcome = analyze_program(&parse(&text).program, &Options::default());
        assert_eq!(outcome.analysis.unwrap().graph.ops.len(), 1, "{text}");
    }
}
