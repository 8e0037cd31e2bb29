//! The graph for other programs: well-formed, with every kernel, op and byte.

use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, analyze_program};
use fuseline_view::present::export::OpList;
use fuseline_view::present::graph_file::{dot, model_explorer};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

const NAME: &str = "a \"name\" \\ of\ntwo lines";

fn of_text(text: &str) -> Analysis {
    analyze_program(&parse(text).program, &Options::default())
        .analysis
        .unwrap()
}

/// The words of a text in DOT: identifiers and numbers, strings without their quotes, and signs.
fn tokens(dot: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = dot.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            let mut is_escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                assert_ne!(c, '\n', "a string ends on its line");
                ends
            });
            end.unwrap() + 2
        } else if rest.starts_with("->") {
            2
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            end.unwrap_or(rest.len())
        } else {
            assert!("{}[]=,;".contains(first), "{rest}");
            1
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// What a text in DOT says.
#[derive(Default)]
struct Read {
    /// The cluster of each node, and its label.
    nodes: HashMap<String, (Option<String>, String)>,
    /// Ends of edges, and their attributes.
    edges: Vec<(String, String, HashMap<String, String>)>,
}

/// Reads statements of DOT: nodes, edges, clusters, and attributes.
fn read(dot: &str) -> Read {
    let tokens = tokens(dot);
    let mut read = Read::default();
    let mut tokens = tokens.iter().map(String::as_str).peekable();
    assert_eq!(tokens.next(), Some("digraph"));
    assert!(tokens.next().unwrap().starts_with('"'));
    assert_eq!(tokens.next(), Some("{"));
    let mut cluster = None;
    loop {
        let id = tokens.next().unwrap();
        if id == "}" {
            if cluster.take().is_none() {
                break;
            }
            continue;
        }
        if id == "subgraph" {
            assert!(cluster.is_none());
            cluster = tokens.next();
            assert!(cluster.unwrap().starts_with("cluster_"));
            assert_eq!(tokens.next(), Some("{"));
            continue;
        }
        if tokens.next_if_eq(&"=").is_some() {
            assert!(tokens.next().unwrap().starts_with('"'));
            assert_eq!(tokens.next(), Some(";"));
            continue;
        }
        let to = tokens.next_if_eq(&"->").map(|_| tokens.next().unwrap());
        let mut attributes = HashMap::new();
        assert_eq!(tokens.next(), Some("["));
        loop {
            let key = tokens.next().unwrap();
            assert_eq!(tokens.next(), Some("="));
            attributes.insert(key.to_owned(), tokens.next().unwrap().to_owned());
            match tokens.next() {
                Some(",") => {}
                Some("]") => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(tokens.next(), Some(";"));
        match to {
            Some(to) => read.edges.push((id.to_owned(), to.to_owned(), attributes)),
            None if matches!(id, "node" | "edge") => {}
            None => {
                let label = attributes.remove("label").unwrap();
                let before = read
                    .nodes
                    .insert(id.to_owned(), (cluster.map(str::to_owned), label));
                assert!(before.is_none(), "{id} twice");
            }
        }
    }
    assert_eq!(tokens.next(), None);
    read
}

#[test]
fn dot_has_a_cluster_for_each_kernel_and_the_bytes_on_the_edges() {
    for example in EXAMPLES {
        let analysis = of_text(example.text);
        let read = read(&dot(NAME, &analysis));
        for (op, &kernel) in analysis.partition.kernel_of.iter_enumerated() {
            let (cluster, label) = &read.nodes[&format!("op_{}", op.index())];
            assert_eq!(
                *cluster,
                Some(format!("cluster_kernel_{}", kernel.number())),
                "{}",
                example.id
            );
            assert!(label.contains(&analysis.graph.ops[op].name), "{label}");
        }
        let mut bytes = 0;
        for (from, to, attributes) in &read.edges {
            assert!(
                read.nodes.contains_key(from) && read.nodes.contains_key(to),
                "{from} -> {to}"
            );
            match attributes.get("bytes") {
                Some(read) => bytes += read.parse::<u64>().unwrap(),
                None => assert_eq!(attributes["style"], "dotted"),
            }
        }
        assert!(bytes > 0, "{}", example.id);
    }
}

#[test]
fn dot_of_a_small_program() {
    let analysis = of_text("input x : f16[1024, 1024]\ny = relu(x)\nz = gelu(y)\n");
    let expected = r#"digraph "a \"b\"\\" {
  node [shape=box, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
  subgraph cluster_kernel_1 {
    label="kernel 1: 4.19 MB";
    op_0 [label="relu y\n[1024, 1024]"];
    op_1 [label="gelu z\n[1024, 1024]"];
  }
  tensor_0 [shape=ellipse, label="x\n2.10 MB"];
  result_2 [shape=ellipse, label="z\n2.10 MB"];
  tensor_0 -> op_0 [label="2.10 MB", bytes=2097152];
  op_0 -> op_1 [style=dotted];
  op_1 -> result_2 [label="2.10 MB", bytes=2097152];
}
"#;
    assert_eq!(dot("a \"b\"\\", &analysis), expected);
}

#[test]
fn model_explorer_finds_every_end_of_an_edge_and_a_namespace_for_each_kernel() {
    for example in EXAMPLES {
        let analysis = of_text(example.text);
        let collection = serde_json::to_value(model_explorer(
            NAME,
            &analysis,
            &OpList::new(&analysis.graph),
        ))
        .unwrap();
        assert_eq!(collection["label"], NAME);
        let graph = &collection["graphs"][0];
        let nodes = graph["nodes"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let ids: HashSet<String> = nodes.iter().map(|node| text(&node["id"])).collect();
        assert_eq!(ids.len(), nodes.len(), "{}", example.id);
        let mut namespaces = HashSet::new();
        let mut reads = 0;
        for node in nodes {
            namespaces.insert(text(&node["namespace"]));
            for edge in node["incomingEdges"].as_array().unwrap() {
                assert!(ids.contains(&text(&edge["sourceNodeId"])), "{edge}");
                reads += usize::from(text(&node["id"]).starts_with("op "));
            }
        }
        let ops = analysis.graph.ops.ids();
        assert_eq!(
            reads,
            ops.map(|op| analysis.graph.distinct_inputs(op).count())
                .sum::<usize>()
        );
        let groups = graph["groupNodeAttributes"].as_object().unwrap();
        assert_eq!(
            groups.len(),
            analysis.partition.kernels.len(),
            "{}",
            example.id
        );
        assert!(
            groups.keys().all(|group| namespaces.contains(group)),
            "{}",
            example.id
        );
    }
}

#[test]
fn model_explorer_of_a_small_program() {
    let analysis = of_text("input x : f16[1024, 1024]\ny = relu(x)\n");
    let collection = serde_json::to_value(model_explorer(
        "small",
        &analysis,
        &OpList::new(&analysis.graph),
    ))
    .unwrap();
    let attribute = |key: &str, value: &str| json!({ "key": key, "value": value });
    let output = |name: &str| {
        let attributes = [
            attribute("__tensor_tag", name),
            attribute("shape", "f16[1024, 1024]"),
            attribute("bytes", "2097152"),
            attribute("kept in", "memory"),
        ];
        json!([{ "id": "0", "attrs": attributes }])
    };
    let edge = |from: &str| json!([{ "sourceNodeId": from, "sourceNodeOutputId": "0", "targetNodeInputId": "0" }]);
    let nodes = &collection["graphs"][0]["nodes"];
    assert_eq!(
        nodes[0],
        json!({
            "id": "input 0", "label": "x", "namespace": "", "attrs": [attribute("role", "input")],
            "incomingEdges": [], "outputsMetadata": output("x"),
        })
    );
    assert_eq!(nodes[1]["namespace"], "kernel 1");
    assert_eq!(nodes[1]["incomingEdges"], edge("input 0"));
    assert_eq!(nodes[1]["outputsMetadata"], output("y"));
    assert_eq!(nodes[2]["incomingEdges"], edge("op 0"));
    let bytes = &collection["graphs"][0]["groupNodeAttributes"]["kernel 1"]["bytes"];
    assert_eq!(*bytes, "4,194,304");
}
