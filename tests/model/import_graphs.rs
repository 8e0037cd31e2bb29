//! Graphs of Model Explorer, opened again.

use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Outcome, analyze_program};
use fuseline_view::opened::converted;
use fuseline_view::present::export::OpList;
use fuseline_view::present::graph_file::model_explorer;
use serde_json::{Value, json};

fn analysed(text: &str) -> Outcome {
    analyze_program(&parse(text).program, &Options::default())
}

/// Names of the ops of each kernel, bytes and FLOPs.
fn figures(analysis: &Analysis) -> (Vec<Vec<String>>, u64, Vec<u128>) {
    let name = |&op: &fuseline_core::OpId| analysis.graph.ops[op].name.clone();
    let kernels = analysis.fused.kernels.iter();
    let names = kernels.map(|kernel| kernel.ops.iter().map(name).collect());
    let kernels = analysis.fused.kernels.iter();
    let flops = kernels.map(|kernel| kernel.work.flops());
    (
        names.collect(),
        analysis.fused.traffic.total,
        flops.collect(),
    )
}

#[test]
fn a_graph_that_was_saved_opens_as_the_same_program() {
    for example in EXAMPLES {
        let program = parse(example.text).program;
        let before = analysed(example.text);
        let analysis = before.analysis.unwrap();
        let list = OpList::new(&analysis.graph).with_attributes(&program, &before.statement_of_op);
        let graph = model_explorer(example.id, &analysis, &list);
        let text = serde_json::to_string(&graph).unwrap();
        let opened = converted(&text).unwrap().unwrap();
        assert!(!opened.is_incomplete, "{}: {}", example.id, opened.summary);
        let again = analysed(&opened.text).analysis.unwrap();
        assert_eq!(figures(&again), figures(&analysis), "{}", example.id);
    }
}

/// A graph as other programs write it.
fn foreign(nodes: &Value) -> String {
    json!([{ "label": "net", "graphs": [{ "id": "small", "nodes": [] }, { "id": "net", "nodes": nodes }] }]).to_string()
}

fn node(id: &str, label: &str, from: &[(&str, &str)], shape: &str) -> Value {
    let edges = from.iter().enumerate().map(|(place, (source, output))| {
        json!({ "sourceNodeId": source, "sourceNodeOutputId": output, "targetNodeInputId": place.to_string() })
    });
    let shape = json!([{ "key": "tensor_shape", "value": shape }]);
    json!({
        "id": id, "label": label, "namespace": "a/b", "incomingEdges": edges.collect::<Vec<_>>(),
        "outputsMetadata": [{ "id": "0", "attrs": shape }],
    })
}

#[test]
fn graphs_by_others_are_read_as_far_as_they_tell() {
    let mut back_to_front = node(
        "3",
        "aten.mm.default",
        &[("1", "0"), ("2", "0")],
        "float32[8,16]",
    );
    back_to_front["incomingEdges"]
        .as_array_mut()
        .unwrap()
        .reverse();
    let text = foreign(&json!([
        node("1", "GraphInputs", &[], "float32[8,4]"),
        node("2", "pseudo_const", &[], "tensor<4x16xf32>"),
        back_to_front,
        node("4", "stablehlo.custom_call", &[("3", "0")], "float32[8,16]"),
        node("5", "RELU", &[("4", "0")], "float32[8,16]"),
    ]));
    let opened = converted(&text).unwrap().unwrap();
    assert_eq!(opened.summary, "Imported 3 ops from JSON.");
    let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = opened.text.lines().map(tidy).collect();
    assert_eq!(
        lines,
        [
            "input GraphInputs_1 : f32[8, 4]",
            "weight pseudo_const_2 : f32[4, 16]",
            "aten.mm.default_3 = matmul(GraphInputs_1, pseudo_const_2) : f32[8, 16]",
            "stablehlo.custom_call_4 = opaque(aten.mm.default_3, name=stablehlo.custom_call) : f32[8, 16]",
            "RELU_5 = relu(stablehlo.custom_call_4) : f32[8, 16]",
        ]
    );
    assert!(analysed(&opened.text).analysis.is_some());
}

#[test]
fn a_node_of_several_outputs_is_one_op_with_its_label() {
    let text = foreign(&json!([
        node("1", "x", &[], "float32[8,4]"),
        node("2", "my split/2", &[("1", "0")], "float32[8,2]"),
        node("3", "exp", &[("2", "1")], "float32[8,2]"),
    ]));
    let mut collection: Value = serde_json::from_str(&text).unwrap();
    let outputs = &mut collection[0]["graphs"][1]["nodes"][1]["outputsMetadata"];
    outputs.as_array_mut().unwrap().push(json!({ "id": "1" }));
    let opened = converted(&collection.to_string()).unwrap().unwrap();
    let lines: Vec<&str> = opened.text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "`my split/2_2` = opaque(x_1, name=`my split/2`) : f32[8, 2]",
            "exp_3          = exp(`my split/2_2`) : f32[8, 2]",
        ]
    );
    assert!(analysed(&opened.text).analysis.is_some());
}

#[test]
fn a_graph_without_shapes_says_what_is_missing() {
    let text = foreign(&json!([
        node("1", "x", &[], "float32[8]"),
        node("2", "relu", &[("1", "0")], "unknown"),
        node("3", "exp", &[("1", "0")], "float32[8]"),
    ]));
    let opened = converted(&text).unwrap().unwrap();
    assert!(opened.is_incomplete);
    assert!(
        opened.summary.contains("op 1 (`relu_2`)"),
        "{}",
        opened.summary
    );
    let nothing = converted(r#"{"graphs": []}"#).unwrap().unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "The JSON could not be read: it contains no ops."
    );
}
