//! The tab on why edges are not fused: sorted by price, with names and figures.

use fuseline_core::analysis::why::{Price, PricedEdge, Verdict, Why};
use fuseline_core::examples::example;
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::{
    Analysis, IdVec, Objective, OpId, Options, Policy, analyze_program, device, notation,
};
use fuseline_view::present::saved::Saved;
use fuseline_view::present::why::{Asked, EdgeOrder, EdgeRow, WhyNot};
use std::cmp::Reverse;
use std::sync::Arc;
use strum::VariantArray;

const TEXT: &str = "\
input x : f16[256, 256]
weight w : f16[256, 256]
small: s = softmax(x)
up: y = matmul(s, w)
act: a = relu(y)
out: z = add(a, x)
back: b = add(a, z)
";

fn analysis(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

#[test]
fn every_edge_between_kernels_has_a_row_in_each_order() {
    let analysis = Arc::new(analysis(TEXT, Policy::None));
    let edges = Why::new(&analysis).edges();
    let crossing = (edges.iter())
        .filter(|edge| edge.verdict != Verdict::Fused)
        .count();
    let why_not = WhyNot::new(analysis.clone(), &IdVec::default(), None);
    for order in [EdgeOrder::Bytes, EdgeOrder::Time, EdgeOrder::Name] {
        let all = why_not.edges(order);
        assert_eq!(all.len(), crossing);
        let listed = why_not.rows(order, usize::MAX, None);
        let ops = all.iter().map(|edge| (edge.producer, edge.consumer));
        assert!(listed.rows.iter().map(|row| row.ops).eq(ops));
        assert_eq!(listed.total, crossing);
        // `act → back` is last by bytes and time: `out` must run between them.
        let impossible = (listed.rows.iter()).filter(|row| !row.is_possible);
        let impossible: Vec<&str> = impossible.map(|row| &*row.names).collect();
        assert_eq!(impossible, ["act → back"]);
        let (last, possible) = all.split_last().unwrap();
        assert!(match order {
            EdgeOrder::Name => true,
            _ => analysis.graph.ops[last.consumer].name == "back",
        });
        assert!(match order {
            EdgeOrder::Bytes => possible.is_sorted_by_key(|edge| Reverse(edge.price.saved_bytes())),
            EdgeOrder::Time => possible.is_sorted_by(|a, b| a.price.time_s() >= b.price.time_s()),
            EdgeOrder::Name => listed.rows.is_sorted_by(|a, b| a.names <= b.names),
        });
        let row = (listed.rows.iter())
            .find(|row| row.names == "up → act")
            .unwrap();
        // Fused into one kernel, `y` is neither written nor read.
        assert_eq!(row.saved(Saved::Bytes), "262 kB");
        assert_eq!(
            row.reason,
            "this kernel is legal, but the policy does not try it"
        );
    }
}

#[test]
fn what_counts_most_under_the_objective_comes_first() {
    let orders = (Objective::VARIANTS.iter()).map(|&objective| EdgeOrder::of(objective));
    assert!(orders.eq([EdgeOrder::Bytes, EdgeOrder::Time, EdgeOrder::Time]));
}

#[test]
fn what_fusing_would_cost_is_said_to_be_a_cost() {
    let analysis = analysis(TEXT, Policy::Rules);
    let mut edge = Why::new(&analysis).priced_edges()[0];
    edge.price.after.bytes = edge.price.before.bytes + 1024;
    edge.price.after.bound_s = edge.price.before.bound_s.map(|bound_s| bound_s + 1e-6);
    let row = EdgeRow::new(&analysis.graph, &edge, &Why::new(&analysis).reason(&edge));
    assert_eq!(
        [Saved::Bytes, Saved::Time].map(|saved| row.saved(saved)),
        ["costs 1.02 kB", "costs 1.00 µs"]
    );
}

#[test]
fn what_runs_in_one_kernel_has_no_row() {
    let text = "input x : f16[256]\na: y = relu(x)\nb: z = gelu(y)\n";
    assert_eq!(Why::new(&analysis(text, Policy::Rules)).priced_edges(), []);
}

#[test]
fn any_two_ops_have_an_answer() {
    let analysis = Arc::new(analysis(TEXT, Policy::Rules));
    let op = |name| analysis.graph.op_named(name).unwrap();
    let why_not = WhyNot::new(analysis.clone(), &IdVec::default(), None);
    let said = |a, b| why_not.answer(op(a), op(b)).text();
    assert_eq!(said("up", "up"), "It is one op. Choose another.");
    assert_eq!(said("up", "act"), "They run in one kernel.");
    assert!(
        said("small", "up").contains("a matmul starts its kernel"),
        "{}",
        said("small", "up")
    );
    assert_eq!(said("small", "up"), said("up", "small"));
    let lost = why_not.answer(op("up"), OpId::new(5)).text();
    assert_eq!(lost, "The program no longer has both ops. Choose others.");
}

/// A row of the transformer block on an H200.
fn row_of_block(names: &str, id: &str, change: impl Fn(&mut Options)) -> (EdgeRow, String) {
    let mut options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::default()
    };
    change(&mut options);
    let program = notation::parse(example(id).unwrap().text).program;
    let outcome = analyze_program(&program, &options);
    let analysis = Arc::new(outcome.analysis.unwrap());
    let why_not = WhyNot::new(analysis, &outcome.statement_of_op, None);
    let rows = why_not.rows(EdgeOrder::Bytes, usize::MAX, None).rows;
    let listed: Vec<&str> = rows.iter().map(|row| &*row.names).collect();
    let row = rows.iter().find(|row| row.names == names);
    let row = row.unwrap_or_else(|| panic!("{listed:?}")).clone();
    let answer = why_not.answer(row.ops.0, row.ops.1).text();
    (row, answer)
}

/// The feed-forward network lies between the two, whoever fuses.
#[test]
fn that_another_kernel_must_run_between_is_the_reason_under_every_policy() {
    for &policy in Policy::VARIANTS {
        let (row, answer) = row_of_block("norm1 → resid2", "transformer_block", |options| {
            options.policy = policy;
        });
        assert!(row.reason.starts_with("`up`"), "{policy:?}: {row:?}");
        assert!(row.reason.ends_with(" must run between them"), "{row:?}");
        assert_eq!(answer, format!("Separate: {}.", row.reason));
        assert_eq!(
            [Saved::Bytes, Saved::Time].map(|saved| row.saved(saved)),
            ["–"; 2]
        );
        assert!(row.notes.is_empty());
    }
}

#[test]
fn many_ops_between_two_are_not_all_named() {
    let text = "input x : f16[64]\na = relu(x)\nb = exp(a)\nc = exp(b)\nd = exp(c)\ne = exp(d)\nf = add(e, a)\n";
    let analysis = Arc::new(analysis(text, Policy::None));
    let why_not = WhyNot::new(analysis, &IdVec::default(), None);
    let said = why_not.answer(OpId::new(0), OpId::new(5)).text();
    assert_eq!(
        said,
        "Separate: `b`, `c`, `d` and 1 more must run between them."
    );
}

#[test]
fn a_time_that_nobody_knows_is_not_known() {
    let text =
        "input x : f16[256, 256]\nweight w : f16[256, 256]\na = matmul(x, w)\nb = matmul(a, w)\n";
    let analysis = Arc::new(analysis(text, Policy::Rules));
    let why_not = WhyNot::new(analysis, &IdVec::default(), None);
    let row = &why_not.rows(EdgeOrder::Bytes, 1, None).rows[0];
    assert_eq!(
        [Saved::Bytes, Saved::Time].map(|saved| row.saved(saved)),
        ["393 kB", "not known"]
    );
}

#[test]
fn a_row_names_all_that_would_merge_beyond_its_two_ops() {
    let compiled = |options: &mut Options| options.policy = Policy::Inductor;
    let (row, _) = row_of_block("out_proj → residual_add1", "transformer", compiled);
    assert_eq!(
        row.notes,
        ["With the rest of their kernels: out_proj + residual_add1 + layer_norm1."]
    );
    let unfused = |options: &mut Options| options.policy = Policy::None;
    let (row, _) = row_of_block("residual_add1 → layer_norm1", "transformer", unfused);
    assert!(row.notes.is_empty(), "{row:?}");
}

#[test]
fn inside_an_attention_the_row_says_that_flash_attention_is_one_kernel() {
    let says = |(row, answer): &(EdgeRow, String)| {
        let is_note = |note: &String| {
            note.starts_with(
                "FlashAttention runs both in one kernel, with a running softmax, tile by tile",
            ) && note.contains("“fused attention” under Options")
        };
        let is_said = row.notes.iter().any(is_note);
        assert_eq!(
            answer.contains("FlashAttention runs both in one kernel"),
            is_said
        );
        is_said
    };
    let rules = |options: &mut Options| options.policy = Policy::Rules;
    let inside = row_of_block("scaled → probs", "transformer_block", rules);
    assert!(inside.0.reason.contains("works in tiles") && says(&inside));
    assert!(says(&row_of_block(
        "probs → mixed",
        "transformer_block",
        rules
    )));
    assert!(!says(&row_of_block(
        "up → act",
        "transformer_block",
        |options| {
            options.policy = Policy::None;
        }
    )));
    assert!(!says(&row_of_block(
        "q → scores",
        "transformer_block",
        rules
    )));
}

#[test]
fn a_question_is_dropped_when_its_ops_are_fused_or_gone_and_not_when_they_were_fused_before() {
    let apart = analysis(TEXT, Policy::None);
    let fused = analysis(TEXT, Policy::Rules);
    let op = |name| apart.graph.op_named(name).unwrap();
    let pair = (op("up"), op("act"));
    let asked = Asked::about(&apart, pair);
    assert_eq!(asked.ops(&apart), Some(pair));
    assert_eq!(asked.ops(&fused), None);
    // The visitor asks about what is fused.
    assert_eq!(Asked::about(&fused, pair).ops(&fused), Some(pair));
    // Another op in front of them.
    let edited = TEXT.replace("small: s", "first: r = relu(x)\nsmall: s");
    let edited = analysis(&edited, Policy::None);
    let shifted = asked.ops(&edited).unwrap();
    assert_eq!(edited.graph.ops[shifted.0].name, "up");
    assert_ne!(shifted, pair);
    let gone = analysis(&TEXT.replace("act:", "other:"), Policy::None);
    assert_eq!(asked.ops(&gone), None);
}

#[test]
fn the_selected_edge_is_listed_wherever_it_is() {
    let analysis = Arc::new(analysis(TEXT, Policy::None));
    let record = Arc::new(trace_decisions(&analysis.graph, &analysis.options));
    let why_not = WhyNot::new(analysis, &IdVec::default(), Some(record));
    let edges = why_not.edges(EdgeOrder::Bytes);
    let ops = |place: usize| (edges[place].producer, edges[place].consumer);
    let listed = |selected| {
        let listed = why_not.rows(EdgeOrder::Bytes, 2, selected);
        assert_eq!(listed.total, edges.len());
        listed.rows.iter().map(|row| row.ops).collect::<Vec<_>>()
    };
    assert_eq!(listed(None), [ops(0), ops(1)]);
    assert_eq!(listed(Some(ops(1))), [ops(0), ops(1)]);
    assert_eq!(listed(Some(ops(3))), [ops(0), ops(1), ops(3)]);
    // No tensor goes between these two.
    assert_eq!(listed(Some((OpId::new(0), OpId::new(4)))), [ops(0), ops(1)]);
}

#[test]
fn what_every_round_of_a_block_repeats_is_one_row() {
    let program = notation::parse(example("gpt2_layers").unwrap().text).program;
    let outcome = analyze_program(&program, &Options::of_policy(Policy::Rules));
    let (analysis, statement_of_op) = (outcome.analysis.unwrap(), outcome.statement_of_op);
    let analysis = Arc::new(analysis);
    let why_not = WhyNot::new(analysis.clone(), &statement_of_op, None);
    let edges = why_not.edges(EdgeOrder::Bytes);
    let listed = why_not.rows(EdgeOrder::Bytes, usize::MAX, None);
    assert_eq!(listed.total, listed.rows.len());
    assert!(
        listed.total * 8 < edges.len(),
        "{} of {}",
        listed.total,
        edges.len()
    );
    let in_rounds = |row: &&EdgeRow| {
        row.reason
            .ends_with("the figures are sums over all 12 iterations")
    };
    let mut folded = listed.rows.iter().filter(in_rounds);
    let first = folded.next().unwrap();
    let alike = edges.iter().filter(|edge| {
        let statements = |(a, b): (OpId, OpId)| [statement_of_op[a], statement_of_op[b]];
        statements((edge.producer, edge.consumer)) == statements(first.ops)
    });
    let alike: Vec<_> = alike.collect();
    assert_eq!(alike.len(), 12);
    // The row has the figures of all.
    let price = alike.iter().map(|edge| edge.price).reduce(Price::and);
    let all = PricedEdge {
        price: price.unwrap(),
        ..*alike[0]
    };
    let row = EdgeRow::new(&analysis.graph, &all, &Why::new(&analysis).reason(&all));
    for saved in [Saved::Bytes, Saved::Time] {
        assert_eq!(first.saved(saved), row.saved(saved));
    }
    assert_eq!(first.price.iterations, 12);
    // An edge of another round that is selected stands for all of them.
    let selected = (alike[5].producer, alike[5].consumer);
    let with_selected = why_not.rows(EdgeOrder::Bytes, 1, Some(selected));
    let told: Vec<_> = with_selected
        .rows
        .iter()
        .filter(|row| row.ops == selected)
        .collect();
    assert_eq!(told.len(), 1);
    assert!(in_rounds(&told[0]), "{}", told[0].reason);
}
