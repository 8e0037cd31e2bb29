//! The tab on why edges are not fused: sorted by price, with names and figures.

use fuseline_core::analysis::why::{Price, PricedEdge, Verdict, Why};
use fuseline_core::examples::example;
use fuseline_core::fusion::record::record;
use fuseline_core::{Analysis, IdVec, Objective, OpId, Options, Policy, analyze_program, notation};
use fuseline_view::present::figure::Saved;
use fuseline_view::present::why::{EdgeOrder, EdgeRow, WhyNot};
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
        assert!(match order {
            EdgeOrder::Bytes => all.is_sorted_by_key(|edge| Reverse(edge.price.saved_bytes())),
            EdgeOrder::Time => all.is_sorted_by(|a, b| a.price.time_s() >= b.price.time_s()),
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

#[test]
fn the_selected_edge_is_listed_wherever_it_is() {
    let analysis = Arc::new(analysis(TEXT, Policy::None));
    let record = Arc::new(record(&analysis.graph, &analysis.options));
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
    assert_eq!(first.price.rounds, 12);
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
