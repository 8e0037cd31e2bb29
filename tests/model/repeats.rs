//! Folding: which equal kernels are found again and again.

use crate::families::{chain, ladder, text_of};
use crate::gpt2::{OPS_PER_BLOCK, gpt2};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, KernelId, Op, OpType, Options, Policy, analyze, analyze_program};
use fuseline_view::picture::dag::repeats::Repeats;
use fuseline_view::picture::dag::{DagLayout, folded_layout};
use std::fmt::Write as _;

pub(crate) const POLICIES: [Policy; 3] = [Policy::None, Policy::Rules, Policy::Inductor];

pub(crate) fn of_text(text: &str, policy: Policy) -> Analysis {
    let options = Options::of_policy(policy);
    let outcome = analyze_program(&parse(text).program, &options);
    outcome.analysis.unwrap()
}

pub(crate) fn repeats(analysis: &Analysis) -> Repeats {
    Repeats::find(&analysis.graph, &analysis.partition)
}

/// First op, kernels of a round and rounds of each repeat.
fn summary(analysis: &Analysis) -> Vec<(String, usize, usize)> {
    let name = |kernel: KernelId| {
        let op = analysis.partition.kernels[kernel][0];
        analysis.graph.ops[op].name.clone()
    };
    let repeats = repeats(analysis);
    (repeats.runs().iter())
        .map(|run| (name(run.first), run.kernels, run.iterations))
        .collect()
}

pub(crate) fn folded(analysis: &Analysis) -> DagLayout {
    folded_layout(&analysis.graph, &analysis.partition, repeats(analysis))
}

/// `head`, then `body` with `#` as the number of the round and `@` as that of the one before, then
/// `tail`.
pub(crate) fn program(head: &str, body: &str, tail: &str, rounds: usize) -> String {
    let mut text = format!("{head}\n");
    for round in 1..=rounds {
        let body = body.replace('#', &round.to_string());
        writeln!(text, "{}", body.replace('@', &(round - 1).to_string())).unwrap();
    }
    text + &tail.replace('#', &rounds.to_string())
}

pub(crate) const HEAD: &str = "input t : f16[64, 32]\nweight e : f16[32, 32]\nx0 = matmul(t, e)";
pub(crate) const BLOCK: &str = "weight w# : f16[32, 32]
n# = layer_norm(x@)
m# = matmul(n#, w#)
g# = gelu(m#)
x# = add(g#, x@)";
pub(crate) const TAIL: &str = "weight u : f16[32, 128]\nf = rms_norm(x#)\ny = matmul(f, u)";

/// The shown kernels, one a line, and how often those in brackets run.
fn text_picture(analysis: &Analysis) -> String {
    let picture = folded(analysis);
    let mut text = String::new();
    for (kernel, ops) in analysis.partition.kernels.iter_enumerated() {
        if !picture.repeats.shows_kernel(kernel) {
            continue;
        }
        let run = picture.repeats.iteration_of(kernel).map(|(run, _)| run);
        let names: Vec<_> = ops
            .iter()
            .map(|&op| &*analysis.graph.ops[op].name)
            .collect();
        let border = match run {
            Some(_) => "|",
            None => " ",
        };
        let last = run.filter(|run| run.shown().end == kernel.index() + 1);
        let count = last.map_or_else(String::new, |run| format!("  x {}", run.iterations));
        writeln!(text, "{border} {}{count}", names.join(" ")).unwrap();
    }
    text
}

#[test]
fn pictures_as_text() {
    let blocks = program(HEAD, BLOCK, TAIL, 6);
    let none = text_picture(&of_text(&blocks, Policy::None));
    assert_eq!(none, "  x0\n| n1\n| m1\n| g1\n| x1  x 6\n  f\n  y\n");
    let rules = text_picture(&of_text(&blocks, Policy::Rules));
    assert_eq!(rules, "  x0\n| n1\n| m1 g1 x1  x 6\n  f\n  y\n");
    let two = format!("{blocks}\np = matmul(y, r)\nweight r : f16[128, 32]\nz0 = tanh(p)\n");
    let two = program(&two, "k# = rms_norm(z@)\nz# = add(k#, z@)", "", 4);
    let two = text_picture(&of_text(&two, Policy::None));
    let expected = "  x0\n| n1\n| m1\n| g1\n| x1  x 6\n  f\n  y\n  p\n  z0\n| k1\n| z1  x 4\n";
    assert_eq!(two, expected);
}

#[test]
fn blocks_of_gpt2_are_one_block_as_often_as_it_has_blocks() {
    for policy in [Policy::None, Policy::Rules] {
        let (ops, externals) = gpt2(48, true);
        let analysis = analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
        let repeats = repeats(&analysis);
        let [run] = repeats.runs() else {
            panic!("{policy:?}: {:?}", repeats.runs());
        };
        assert_eq!(run.iterations, 48, "{policy:?}");
        assert_eq!(run.carried.len(), 1, "{policy:?}");
        assert_eq!(
            folded(&analysis).shown_op_count(),
            OPS_PER_BLOCK,
            "{policy:?}"
        );
    }
}

#[test]
fn what_is_written_often_is_drawn_as_what_is_written_once() {
    for policy in [Policy::None, Policy::Rules] {
        for rounds in [4, 5, 17] {
            let many = of_text(&program(HEAD, BLOCK, TAIL, rounds), policy);
            let found = repeats(&many);
            let [run] = found.runs() else {
                panic!("{policy:?}, {rounds}: {:?}", found.runs());
            };
            assert_eq!(run.iterations, rounds, "{policy:?}");
            let picture = folded(&many);
            let few = folded(&of_text(&program(HEAD, BLOCK, TAIL, 4), policy));
            assert_eq!(picture.size(), few.size());
            assert_eq!(picture.edges.len(), few.edges.len());
            let places = |picture: &DagLayout| -> Vec<_> {
                let shown = picture.ops.iter_enumerated();
                let shown = shown.filter(|(op, _)| picture.repeats.shows_op(*op));
                shown.map(|(_, place)| place.clone()).collect()
            };
            assert_eq!(places(&picture), places(&few));
        }
    }
}

#[test]
fn kernels_across_the_border_of_blocks_are_folded_too() {
    let (ops, externals) = gpt2(48, true);
    let analysis = analyze(&ops, &externals, &Options::of_policy(Policy::Inductor)).unwrap();
    let block = |op| {
        analysis.graph.ops[op]
            .name
            .split_once('.')
            .map(|(block, _)| block.to_owned())
    };
    let is_across = |kernel: KernelId| {
        let ops = &analysis.partition.kernels[kernel];
        ops.iter().any(|&op| block(op) != block(ops[0]))
    };
    let found = repeats(&analysis);
    let [run] = found.runs() else {
        panic!("{:?}", found.runs());
    };
    // The last sum has no norm behind it, so its kernel differs from those of the other blocks.
    assert_eq!(run.iterations, 47);
    assert!(run.shown().map(KernelId::new).any(is_across));
}

#[test]
fn names_and_the_order_of_weights_play_no_part() {
    let mut text = program(HEAD, BLOCK, TAIL, 6);
    for (old, new) in [
        ("g3 ", "zulu "),
        ("g3,", "zulu,"),
        ("w2 ", "w_b "),
        ("w2)", "w_b)"),
    ] {
        text = text.replace(old, new);
    }
    let [(_, _, rounds)] = summary(&of_text(&text, Policy::Rules))[..] else {
        panic!("not one repeat");
    };
    assert_eq!(rounds, 6);
}

#[test]
fn rounds_that_differ_are_not_folded() {
    let rounds = |text: &str| -> Vec<usize> {
        let found = summary(&of_text(text, Policy::Rules));
        found.into_iter().map(|(_, _, rounds)| rounds).collect()
    };
    let text = program(HEAD, BLOCK, TAIL, 8);
    assert_eq!(rounds(&text), [8]);
    // Another function in the fourth block.
    assert_eq!(rounds(&text.replace("gelu(m4)", "silu(m4)")), [3, 4]);
    // The sixth block reads what the fourth wrote, so only the last round may be the fourth.
    assert_eq!(rounds(&text.replace("add(g6, x5)", "add(g6, x4)")), [4]);
    // Two blocks share a weight.
    assert_eq!(
        rounds(&text.replace("matmul(n5, w5)", "matmul(n5, w4)")),
        [3, 3]
    );
    // What the second block computes is read behind all blocks.
    assert_eq!(
        rounds(&text.replace("f = rms_norm(x8)", "k = rms_norm(g2)\nf = rms_norm(x8)")),
        [6]
    );
    assert!(rounds(&program(HEAD, BLOCK, TAIL, 2)).is_empty());
}

#[test]
fn branches_beside_each_other_are_no_rounds() {
    let branch = "weight w# : f16[32, 32]\nm# = matmul(x0, w#)\ng# = gelu(m#)\nr# = layer_norm(g#)";
    let text = program(HEAD, branch, "y = add(r1, r2)", 6);
    assert_eq!(summary(&of_text(&text, Policy::None)), []);
}

#[test]
fn a_chain_of_one_op_is_not_folded_and_one_of_two_is() {
    assert_eq!(summary(&of_text(&text_of(&chain(100)), Policy::None)), []);
    let [(_, kernels, rounds)] = summary(&of_text(&text_of(&ladder(100)), Policy::None))[..] else {
        panic!("a ladder is a repeat");
    };
    assert_eq!((kernels, rounds), (2, 49));
}

#[test]
fn an_encoder_and_a_decoder_are_two_repeats() {
    let encoder = program(HEAD, BLOCK, "", 6);
    let block = "n6_# = rms_norm(z@)\nc# = add(n6_#, x6)\nz# = relu(c#)\n";
    let text = program(
        &format!("{encoder}z0 = tanh(t)"),
        block,
        "y = sigmoid(z#)",
        5,
    );
    let found = summary(&of_text(&text, Policy::None));
    let rounds: Vec<usize> = found.iter().map(|(_, _, rounds)| *rounds).collect();
    assert_eq!(rounds, [6, 5]);
}

#[test]
fn sizes_that_differ_end_a_fold() {
    let text = program(HEAD, BLOCK, TAIL, 6);
    let analysis = of_text(&text, Policy::Rules);
    assert!(repeats(&analysis).still_hold(&analysis.graph));
    let larger = of_text(&text.replace("64", "128"), Policy::Rules);
    assert!(repeats(&analysis).still_hold(&larger.graph));
    let mut graph = analysis.graph.clone();
    let hidden = graph.op_named("g4").unwrap();
    graph.ops[hidden].shape = vec![64, 33];
    assert!(!repeats(&analysis).still_hold(&graph));
    // The weight of a round is compared with those of the others, and what stands before all rounds
    // is not.
    for (weight, holds) in [("w4", false), ("e", true)] {
        let declared = format!("weight {weight} : f16");
        let narrow = text.replace(&declared, &declared.replace("f16", "f8"));
        let narrow = of_text(&narrow, Policy::Rules).graph;
        assert_eq!(repeats(&analysis).still_hold(&narrow), holds, "{weight}");
    }
}

#[test]
fn small_programs_are_drawn_in_full() {
    for example in EXAMPLES {
        let analysis = of_text(example.text, Policy::Rules);
        let found = Repeats::of_large(&analysis.graph, &analysis.partition);
        assert_eq!(
            found.is_empty(),
            example.id != "gpt2_layers",
            "{}",
            example.id
        );
    }
}

#[test]
fn matmuls_of_different_lengths_are_not_equal() {
    let ops: Vec<Op> = (0..9)
        .flat_map(|at| {
            let name = |what: &str, at: usize| format!("{what}{at}");
            let before = name("r", at).replace("r0", "x");
            let product = Op::new(
                &name("m", at),
                OpType::Matmul,
                &[&before, &name("w", at)],
                &name("m", at),
                &[8, 8],
                2,
            );
            let relu = Op::new(
                &name("e", at),
                OpType::Elementwise,
                &[&name("m", at)],
                &name("r", at + 1),
                &[8, 8],
                2,
            );
            [product.with_k(if at == 4 { 16 } else { 8 }), relu]
        })
        .collect();
    let analysis = analyze(&ops, &[], &Options::of_policy(Policy::Rules)).unwrap();
    let rounds: Vec<usize> = summary(&analysis)
        .into_iter()
        .map(|(_, _, rounds)| rounds)
        .collect();
    assert_eq!(rounds, [4, 4]);
}
