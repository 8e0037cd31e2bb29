//! What the inspector tells about whatever can be clicked.

use crate::kernel_details::{TEXT, analysis};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::{OpId, Policy};
use fuseline_view::present::inspect::{
    Inspected, inspect_edge, inspect_kernel, inspect_op, inspect_tensor,
};
use fuseline_view::present::manual::Change;
use strum::VariantArray;

fn fact(of: &Inspected, what: &str) -> String {
    let fact = of.facts.iter().find(|fact| fact.what == what);
    fact.unwrap_or_else(|| panic!("no {what} in {of:?}")).text()
}

#[test]
fn an_op_has_its_arithmetic_and_its_bytes_alone() {
    let analysis = analysis(TEXT, Policy::Rules);
    let op = inspect_op(&analysis, OpId::new(0)).unwrap();
    assert_eq!(op.heading, "up: matmul");
    assert_eq!(fact(&op, "result"), "y : f16[256, 256]");
    assert_eq!(fact(&op, "runs in"), "kernel 1 with 1 other op");
    assert_eq!(fact(&op, "traffic as a separate kernel"), "393 kB");
    assert_eq!(
        op.derivation,
        [
            "FLOPs: 2 × 256 × 256 × 256 (K) = 33.6 MFLOP",
            "reads x: 256 × 256 × 2 B = 131 kB",
            "reads w: 256 × 256 × 2 B = 131 kB",
            "writes y: 256 × 256 × 2 B = 131 kB",
        ]
    );
    assert_eq!(op.change, None, "no op of its kernel comes before it");
    let (producer, consumer) = (OpId::new(0), OpId::new(1));
    let relu = inspect_op(&analysis, consumer).unwrap();
    assert_eq!(relu.change, Some(Change::Cut { producer, consumer }));
    assert_eq!(inspect_op(&analysis, OpId::new(3)), None);
}

#[test]
fn an_op_says_what_its_kernel_computes_again() {
    let text = "input x : f16[4096, 4096]\ne = exp(x)\nr = sum(e)\nc = sum(e, axis=0)";
    let analysis = analysis(text, Policy::Inductor);
    let runs_in = |op: usize| fact(&inspect_op(&analysis, OpId::new(op)).unwrap(), "runs in");
    assert_eq!(runs_in(1), "kernel 1 with 1 other op");
    assert_eq!(runs_in(2), "kernel 2, which computes e again");
}

#[test]
fn an_edge_says_where_its_tensor_goes_and_what_can_be_done() {
    let analysis = analysis(TEXT, Policy::Rules);
    let [up, act, norm] = [0, 1, 2].map(OpId::new);
    let inside = inspect_edge(&analysis, up, act).unwrap();
    assert_eq!(inside.heading, "up → act");
    assert_eq!(fact(&inside, "runs"), "inside kernel 1");
    assert_eq!(
        [
            fact(&inside, "traffic unfused"),
            fact(&inside, "traffic fused")
        ],
        ["262 kB", "0 B"]
    );
    assert!(
        inside.notes[0].starts_with("The tensor stays on chip"),
        "{inside:?}"
    );
    assert_eq!(inside.asked, None);
    let between = inspect_edge(&analysis, act, norm).unwrap();
    assert_eq!(fact(&between, "runs"), "from kernel 1 to kernel 2");
    assert_eq!(between.derivation, ["256 × 256 × 2 B = 131 kB per access"]);
    assert_eq!(between.asked, Some((act, norm)));
    assert!(matches!(between.change, Some(Change::Merge(..))));
}

#[test]
fn a_kernel_has_its_bytes_before_and_after_and_its_time() {
    let analysis = analysis(TEXT, Policy::Rules);
    let kernel = analysis.partition.kernel_of[OpId::new(0)];
    let of = inspect_kernel(&analysis, kernel).unwrap();
    assert_eq!(of.heading, "kernel 1: up + act");
    assert_eq!(fact(&of, "bytes"), "655 kB → 393 kB, −40.0 %");
    assert_eq!(fact(&of, "bottleneck"), "launch");
    assert!(
        of.derivation[0].starts_with("memory: 393 kB / 2.04 TB/s = "),
        "{of:?}"
    );
    assert!(fact(&of, "lower bound").ends_with("µs"));
}

#[test]
fn a_tensor_from_outside_says_where_its_size_comes_from() {
    let analysis = analysis(
        "y = relu(x) : f16[256, 256]\nz = exp(x) : f16[256, 256]\n",
        Policy::Rules,
    );
    let external = analysis
        .graph
        .tensors
        .ids()
        .find(|&t| analysis.graph.tensors[t].is_external());
    let of = inspect_tensor(&analysis, external.unwrap()).unwrap();
    assert_eq!(of.heading, "x");
    assert_eq!(fact(&of, "size"), "assumed");
    assert_eq!(fact(&of, "read by"), "y, z");
    assert!(
        of.notes[0]
            .contains("assumed size, because there is no declaration: as large as the output of y"),
        "{of:?}"
    );
}

#[test]
fn a_result_is_told_who_writes_it() {
    let analysis = analysis(
        "input x : f16[256]\ny = relu(x)\nz = exp(y)\n",
        Policy::Rules,
    );
    let of = inspect_tensor(&analysis, analysis.graph.output[OpId::new(1)]).unwrap();
    assert_eq!(of.heading, "z");
    assert_eq!(fact(&of, "written by"), "z");
    assert!(
        of.facts
            .iter()
            .all(|fact| fact.what != "read by" && !fact.text().is_empty())
    );
    assert_eq!(of.derivation, ["256 × 2 B = 512 B per access"]);
    assert_eq!(of.notes[1], "The program returns this tensor.");
}

/// A card says why its kernel ends where it does, and what can be done about it.
#[test]
fn an_op_and_a_kernel_say_why_their_kernel_ends() {
    let analysis = analysis(TEXT, Policy::Rules);
    let [up, act, norm] = [0, 1, 2].map(OpId::new);
    let kernel_of = |op| analysis.partition.kernel_of[op];
    let (first, last) = (kernel_of(up), kernel_of(norm));
    let kernel = inspect_kernel(&analysis, first).unwrap();
    assert_eq!(kernel.asked, Some((act, norm)));
    assert_eq!(kernel.asked_names, "`act` → `norm`. ");
    assert_eq!(kernel.change, None, "its merges are offers");
    // The last kernel begins where the first ends.
    let kernel = inspect_kernel(&analysis, last).unwrap();
    assert_eq!(kernel.asked, Some((act, norm)));
    assert_eq!(inspect_op(&analysis, act).unwrap().asked, Some((act, norm)));
    // All of what `up` gives stays in its kernel.
    assert_eq!(inspect_op(&analysis, up).unwrap().asked, None);
}

#[test]
fn what_attention_would_bring_together_is_known() {
    let example = EXAMPLES.iter().find(|example| example.id == "transformer");
    let analysis = analysis(example.unwrap().text, Policy::Rules);
    let named = |name| (analysis.graph.ops.iter_enumerated()).find(|(_, op)| op.name == name);
    let op = |name| named(name).unwrap().0;
    let (scores, softmax) = (op("attn_scores"), op("softmax"));
    let is_attention = |of: Option<Inspected>| of.unwrap().is_attention;
    assert!(is_attention(inspect_edge(&analysis, scores, softmax)));
    assert!(is_attention(inspect_op(&analysis, scores)));
    assert!(is_attention(inspect_kernel(
        &analysis,
        analysis.partition.kernel_of[softmax]
    )));
    let (split, gelu, down) = (op("split_heads"), op("gelu"), op("ffn_down"));
    assert!(!is_attention(inspect_edge(&analysis, split, scores)));
    assert!(!is_attention(inspect_edge(&analysis, gelu, down)));
}

/// No click is without an answer, in any example under any policy.
#[test]
fn everything_that_can_be_clicked_is_told_about() {
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            let analysis = analysis(example.text, policy);
            let graph = &analysis.graph;
            for op in graph.ops.ids() {
                let of = inspect_op(&analysis, op).unwrap();
                assert!(!of.derivation.is_empty(), "{}: {of:?}", example.id);
                for &producer in &graph.predecessors[op] {
                    let of = inspect_edge(&analysis, producer, op).unwrap();
                    assert!(
                        of.asked.is_some() || !of.notes.is_empty(),
                        "{}: {of:?}",
                        example.id
                    );
                }
            }
            for kernel in analysis.fused.kernels.ids() {
                let of = inspect_kernel(&analysis, kernel).unwrap();
                assert!(
                    !of.derivation.is_empty() && of.facts.len() >= 2,
                    "{}: {of:?}",
                    example.id
                );
            }
            for tensor in graph.tensors.ids() {
                let of = inspect_tensor(&analysis, tensor).unwrap();
                assert!(!of.notes.is_empty(), "{}: {of:?}", example.id);
            }
        }
    }
}

/// A tensor of which an op needs a part counts whole, and each card with its bytes says so.
#[test]
fn cards_say_why_a_tensor_counts_whole() {
    let transformer = EXAMPLES.iter().find(|e| e.id == "transformer").unwrap();
    let analysis = analysis(transformer.text, Policy::Rules);
    let [split, scores] =
        ["split_heads", "attn_scores"].map(|name| analysis.graph.op_named(name).unwrap());
    let kernel = analysis.partition.kernel_of[scores];
    for card in [
        inspect_op(&analysis, scores),
        inspect_edge(&analysis, split, scores),
        inspect_kernel(&analysis, kernel),
    ] {
        let notes = card.unwrap().notes;
        let whole = "qkv_split: counts in full although attn_scores needs only 33.6 MB of it: a kernel reads each tensor once in full.";
        assert!(notes.iter().any(|note| note == whole), "{notes:?}");
    }
    // Its other reads are needed whole.
    let softmax = analysis.graph.op_named("softmax").unwrap();
    assert_eq!(inspect_op(&analysis, softmax).unwrap().notes, [""; 0]);
}
